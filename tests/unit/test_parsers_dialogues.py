"""Mails that quote each other, chats, and questions with answers: who says what, and which question it stands below."""

import pytest

from tests.contract.hanging_blocks import hanging
from tools.parsers import parse

MAIL = "From: ada@lamps.example\nSubject: Re: Key\n\n"
HTML = "From: ada@lamps.example\nSubject: RE: Key\nContent-Type: text/html\n\n"


def turns(text: str, name: str = "x.txt") -> list[tuple[str, str, list[str]]]:
    return hanging(parse(text.encode(), name=name))


@pytest.mark.parametrize(
    ("asked", "answered", "thanked"),
    [
        (
            "[12.03.31, 10:15:33] Ann: Where is it?",
            "[12.03.31, 10:16:02] Bo: In 204.\nRed.",
            "[12.03.31, 10:17] Ann: Ok",
        ),
        ("12/03/31, 10:15 - Ann Li: Where is it?", "12/03/31, 10:16 - Bo: In 204.", "12/03/31, 10:17 - Ann Li: Ok"),
        (
            "3/12/31, 10:15\u202fAM - Ann: Where is it?",
            "3/12/31, 10:16\u202fAM - Bo: 204.",
            "3/12/31, 10:17\u202fAM - Ann: Ok",
        ),
        ("10:15 < ann> where is it?", "10:16 <@bo> in 204", "10:17 < ann> ok"),
        ("[10:15:01] <ann> where is it?", "[10:16:01] <bo> in 204", "[10:17:01] <ann> ok"),
        ("[3/12/2031 10:15 AM] Ann: Where is it?", "[3/12/2031 10:16 AM] Bo: In 204.", "[3/12/2031 10:17 AM] Ann: Ok"),
        ("[12.03. 10:15] Ann Li\nWhere is it?", "[12.03. 10:16] Bo\nIn 204.", "[12.03. 10:17] Ann Li\nOk"),
        ("Ann Li  10:15 AM\nWhere is it?\n", "Bo  10:16 AM\nIn 204.\nThe red one.\n", "Ann Li  10:17 AM\nOk"),
        ("Ann, [12.03.31 10:15]\nWhere is it?\n", "Bo, [12.03.31 10:16]\nIn 204.\n", "Ann, [12.03.31 10:17]\nOk"),
        ("安娜, [12.03.31 10:15]\n钥匙在哪里？\n", "Bo, [12.03.31 10:16]\n204。\n", "安娜, [12.03.31 10:17]\n好"),
    ],
)
def test_a_message_is_a_block_and_a_reply_hangs_on_the_question(asked: str, answered: str, thanked: str) -> None:
    asked, answered, thanked = asked.strip(), answered.strip(), thanked.strip()
    assert turns("\n".join((asked, answered, thanked))) == [
        ("paragraph", asked, []),
        ("paragraph", answered, [asked]),
        ("paragraph", thanked, []),
    ]


@pytest.mark.parametrize(
    ("asked", "answered"),
    [
        ("Q: Where is it?", "A: In 204."),
        ("Q1. Where", "A1. In 204."),
        ("Frage: Wo?", "Antwort: In 204."),
        ("问：在哪里？", "答：204。"),
    ],
)
def test_an_answer_hangs_on_its_question(asked: str, answered: str) -> None:
    more = asked.replace("1", "2"), answered.replace("1", "2")
    assert turns(f"Help\n\n{asked}\n{answered}\n\n{more[0]}\n{more[1]}\n\nA second paragraph.")[1:] == [
        ("paragraph", asked, []),
        ("paragraph", answered, [asked]),
        ("paragraph", more[0], []),
        ("paragraph", more[1], [more[0]]),
        ("paragraph", "A second paragraph.", [more[0]]),
    ]


@pytest.mark.parametrize(
    "text",
    [
        "Breakfast 7:30\nLunch 12:30\nDinner 18:30",
        "10:15 The hall opens.\n10:20 It closes.",
        "Added: a\nFixed: b\nAdded: c",
    ],
)
def test_a_timetable_and_a_list_of_labels_are_no_dialogue(text: str) -> None:
    assert len(turns(text)) == 1


def test_replies_between_quoted_lines_hang_on_the_question_above_each() -> None:
    text = (
        "Am 2. März 2031 schrieb Bo\n<bo@lamps.example>:\n> Where is the key?\n\nIn 204.\n\n"
        "It is red.\n> When?\nAt six.\n"
    )
    label = "Am 2. März 2031 schrieb Bo\n<bo@lamps.example>:"
    assert turns(MAIL + text, "x.eml")[2:] == [
        ("label", label, []),
        ("quote", "Where is the key?", [label]),
        ("paragraph", "In 204.", ["Where is the key?"]),
        ("paragraph", "It is red.", ["Where is the key?"]),
        ("quote", "When?", []),
        ("paragraph", "At six.", ["When?"]),
    ]


@pytest.mark.parametrize(
    ("mail", "older"),
    [
        (
            MAIL + "In 204.\n\n____________________\nVon: Bo\nGesendet: Sonntag, 2. März 2031 10:15\nAn: Ada\n"
            "Betreff: Key\n\nWo ist er?",
            "____________________\nVon: Bo\nGesendet: Sonntag, 2. März 2031 10:15\nAn: Ada\nBetreff: Key",
        ),
        (
            HTML
            + "<p>In 204.</p><p><b>From:</b> Bo<br><b>Sent:</b> Sunday, March 2, 2031 10:15 AM<br><b>To:</b> Ada<br>"
            "<b>Subject:</b> Key</p><p>Wo ist er?</p>",
            "From: Bo\nSent: Sunday, March 2, 2031 10:15 AM\nTo: Ada\nSubject: Key",
        ),
        (
            HTML + "<div>In 204.</div><div class=gmail_quote><div class=gmail_attr>On 2 Mar 2031, Bo wrote:</div>"
            "<blockquote><div>Wo ist er?</div></blockquote></div>",
            "On 2 Mar 2031, Bo wrote:",
        ),
    ],
)
def test_what_stands_below_the_headers_of_an_older_mail_is_quoted(mail: str, older: str) -> None:
    assert turns(mail, "x.eml")[2:] == [
        ("paragraph", "In 204.", []),
        ("label", older, []),
        ("quote", "Wo ist er?", [older]),
    ]


def test_a_signature_and_an_invitation_are_no_headers_of_an_older_mail() -> None:
    text = "Tel: 1\nFax: 2\nMail: a@lamps.example\n\nWhen: 2 March 2031 10:15\nWhere: 204\nWhat: oil\n\nBring oil.\n"
    assert {kind for kind, _, _ in turns(MAIL + text, "x.eml")[2:]} == {"paragraph"}
