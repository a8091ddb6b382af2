"""What mailers write in many ways: flowed lines, wrong charsets, versions of a text, mailboxes that escape nothing."""

from email.message import EmailMessage

import pytest

from graph.errors import UnreadableDocument
from tests.contract.hanging_blocks import hanging
from tools.parsers import Parsed, parse


def read(text: str | bytes, name: str = "x.eml") -> Parsed:
    return parse(text if isinstance(text, bytes) else text.encode(), name=name)


def words(parsed: Parsed) -> list[tuple[str, str]]:
    return [(kind, text) for kind, text, _ in hanging(parsed)]


@pytest.mark.parametrize(
    ("delsp", "joined"), [("", "The lamps are off at ten."), ("; delsp=yes", "The lampsare off at ten.")]
)
def test_lines_that_flow_are_joined(delsp: str, joined: str) -> None:
    head = f"Subject: s\nContent-Type: text/plain; format=flowed{delsp}\n\n"
    parsed = read(f"{head}The lamps \nare off at ten.\n> Quoted words \n> go on.\n-- \nAda\n")
    quoted = "Quoted wordsgo on." if delsp else "Quoted words go on."
    assert words(parsed)[1:] == [("paragraph", joined), ("quote", quoted), ("quote", "-- \nAda")]


def test_a_wrong_charset_is_not_believed() -> None:
    head = b"Subject: s\nContent-Type: text/plain; charset=utf-8\n\n"
    parsed = read(head + "Die Straße ist für Fußgänger gesperrt.".encode("cp1252"))
    assert words(parsed)[1] == ("paragraph", "Die Straße ist für Fußgänger gesperrt.")
    assert parsed.metadata == {"encoding": "windows-1252"}
    assert len(parsed.warnings) == 1


def test_html_is_read_where_the_plain_version_is_empty() -> None:
    mail = EmailMessage()
    mail["Subject"] = "s"
    mail.set_content("\n")
    mail.add_alternative("<p>the lamps</p>", subtype="html")
    assert words(read(mail.as_bytes()))[1:] == [("paragraph", "the lamps")]


def test_a_mail_without_a_subject_is_named_by_who_wrote_it() -> None:
    parsed = read("From: ada@lamps.example\n\nword\n")
    assert parsed.title is None
    assert words(parsed)[0] == ("heading", "ada@lamps.example")


def test_raw_letters_in_headers_are_read_as_utf_8() -> None:
    assert read("Subject: Giờ tắt đèn\n\nword").title == "Giờ tắt đèn"


def test_an_encrypted_mail_says_so() -> None:
    head = 'Subject: s\nContent-Type: multipart/encrypted; boundary="b"\n\n--b\n\nsecret\n--b--\n'
    (said,) = read(head).left_out
    assert "encrypted" in said


def test_a_warning_about_an_attachment_names_it() -> None:
    mail = EmailMessage()
    mail["Subject"] = "s"
    mail.set_content("See below.\n")
    text = "Die Straße ist für Fußgänger gesperrt.".encode("cp1252")
    mail.add_attachment(text, maintype="application", subtype="octet-stream", filename="../street.txt")
    parsed = read(mail.as_bytes())
    assert words(parsed)[2:] == [("heading", "street.txt"), ("paragraph", text.decode("cp1252"))]
    assert parsed.warnings[0].startswith("The attachment street.txt: ")


def test_a_mailbox_whose_mails_are_told_apart() -> None:
    box = (
        "From a Mon Nov  2 10:00:00 2026\nSubject: one\n\nFrom here on:\n>From ten.\n\n"
        "From b Tue Nov  3 10:00:00 2026\n\ntwo\n"
    )
    assert words(read(box, "x.mbox")) == [
        ("heading", "one"),
        ("paragraph", "From here on:\nFrom ten."),
        ("heading", "Mail 2"),
        ("paragraph", "two"),
    ]


@pytest.mark.parametrize(
    ("kind", "words_of_it"),
    [
        ("multipart/mixed; boundary*=idna''xyz", []),
        ("multipart/mixed; boundary*=a; boundary*0=b", []),
        ("text/plain; charset*=a%00b''utf-8".replace("%00", "\0"), ["word"]),
        ("text/plain; format*=a; format*0=b", ["word"]),
    ],
)
def test_a_header_that_can_not_be_read_costs_no_other_mail(kind: str, words_of_it: list[str]) -> None:
    odd = f"From a Mon Nov  2 10:00:00 2026\nSubject: odd\nContent-Type: {kind}\n\nword\n\n"
    box = odd + "From b Tue Nov  3 10:00:00 2026\nSubject: next\n\ntwo\n"
    assert [text for _, text in words(read(box, "x.mbox"))] == ["odd", *words_of_it, "next", "two"]


@pytest.mark.parametrize(("name", "told"), [("x.eml", "no mail"), ("x.mbox", "no mailbox")])
def test_what_is_no_mail_is_told(name: str, told: str) -> None:
    with pytest.raises(UnreadableDocument, match=told):
        read("Just a text.\n\nOf two lines.", name)
