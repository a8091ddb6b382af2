"""Files that are made to exhaust a reader: each is refused, or read in part, and neither takes long nor much memory."""

import io
import json
import zipfile
from base64 import b64encode
from pathlib import Path

import pytest

from graph.errors import UnreadableDocument
from tests.contract.parser_kit import check_parsed
from tools.parsers import parse
from tools.parsers.zipped import members

pytestmark = pytest.mark.timeout(60)
FILES = Path(__file__).parents[1] / "fixtures" / "documents"


def refused(data: bytes, name: str) -> str:
    with pytest.raises(UnreadableDocument) as caught:
        parse(data, name=name)
    return caught.value.message


def zipped(*files: tuple[str, bytes]) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files:
            archive.writestr(name, data)
    return packed.getvalue()


@pytest.mark.parametrize("name", ["x.json", "x.ipynb"])
@pytest.mark.parametrize("data", [b"[" * 200_000, b'{"a":' * 200_000, b"[" * 900 + b"]" * 900])
def test_json_that_nests_deeply(name: str, data: bytes) -> None:
    assert "nested too deeply" in refused(data, name) or name == "x.ipynb"


def test_json_of_long_numbers_keeps_them() -> None:
    digits = "9" * 9000
    assert digits in parse(f'{{"n": {digits}, "e": 1e400000}}'.encode(), name="x.json").text.replace("\n", "")


def test_json_whose_paths_are_longer_than_its_values() -> None:
    data = json.dumps({"k" * 5000: [0] * 50_000}).encode()
    assert "too large" in refused(data, "x.json")


def test_json_of_very_many_values() -> None:
    assert "more than 200,000 values" in refused(b"[" + b"0," * 200_000 + b"0]", "x.json")


@pytest.mark.parametrize("data", [b"[" * 200_000, b"- " * 200_000 + b"a", b"{a: " * 50_000, b"? " * 50_000 + b"a"])
def test_yaml_that_nests_deeply(data: bytes) -> None:
    assert "YAML" in refused(data, "x.yaml")


def test_yaml_that_holds_itself_is_kept_as_it_is_written() -> None:
    parsed = parse(b"a: &a [*a, 1]\n", name="x.yaml")
    assert parsed.text == "a\n\na[0]: *a\na[1]: 1"
    (said,) = parsed.left_out
    assert "(1 place)" in said


def test_yaml_of_a_billion_laughs() -> None:
    lines = ["l0: &l0 [ha, ha]"] + [f"l{n}: &l{n} [{', '.join([f'*l{n - 1}'] * 10)}]" for n in range(1, 12)]
    parsed = parse("\n".join(lines).encode(), name="x.yaml")
    assert len(parsed.text) < 5000


@pytest.mark.parametrize("kind", ["mixed", "alternative"])
def test_mail_that_nests_deeply(kind: str) -> None:
    parts = [f"Content-Type: multipart/{kind}; boundary=b{n}\n\n--b{n}\n" for n in range(20_000)]
    parsed = parse(("Subject: deep\n" + "".join(parts) + "\nend").encode(), name="x.eml")
    (said,) = parsed.left_out
    assert "8 levels" in said


def test_mail_of_ten_thousand_parts() -> None:
    part = "--b\nContent-Disposition: attachment; filename=a.txt\nContent-Type: text/plain\n\nword\n"
    parsed = parse(
        f"Subject: many\nContent-Type: multipart/mixed; boundary=b\n\n{part * 10_000}--b--".encode(), name="x.eml"
    )
    assert any("1,000 parts" in said for said in parsed.left_out)
    assert parsed.text.count("word") == 200


def test_mails_in_mails_that_are_attached_as_files() -> None:
    mail = b"Subject: last\n\nthe end\n"
    for _ in range(300):
        head = b"Subject: s\nContent-Type: application/octet-stream; name=a.eml\nContent-Disposition: attachment\n\n"
        mail = head + mail
    parsed = parse(mail, name="x.eml")
    assert parsed.text.count("a.eml") < 20
    assert any("nest deeper" in said for said in parsed.left_out)


def test_mail_whose_headers_never_end() -> None:
    parsed = parse(b"Subject: long\nContent-Type: text/plain" + b";a=b" * 500_000, name="x.eml")
    assert parsed.title == "long"
    parse(b"Subject: " + b"=?utf-8?q?a?= " * 200_000 + b"\n\nbody", name="x.eml")


def test_a_broken_attachment_is_said() -> None:
    body = b64encode(b"%PDF-1.7 nothing").decode()
    head = "Subject: s\nContent-Type: application/pdf; name=a.pdf\nContent-Transfer-Encoding: base64\n\n"
    parsed = parse((head + body).encode(), name="x.eml")
    (said,) = parsed.left_out
    assert "attachment a.pdf" in said
    assert "PDF is broken" in said


def test_rich_text_that_nests_deeply() -> None:
    assert "nested too deeply" in refused(b"{\\rtf1 " + b"{" * 500_000, "x.rtf")


def test_rich_text_of_many_control_words() -> None:
    check_parsed(parse(b"{\\rtf1 " + b"\\b\\b0 a\\par" * 30_000 + b"\\bin99999999999 x}", name="x.rtf"))


def test_a_notebook_that_prints_without_end_is_cut() -> None:
    output = {"output_type": "stream", "text": "spam " * 1_000_000}
    cell = {"cell_type": "code", "source": "run()", "outputs": [output]}
    parsed = parse(json.dumps({"cells": [cell]}).encode(), name="x.ipynb")
    assert len(parsed.text) < 110_000
    (said,) = parsed.left_out
    assert said.startswith("1 part ")


def book(**changed: bytes) -> bytes:
    with zipfile.ZipFile(FILES / "lamps.epub") as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    return zipped(
        *(files | {name.replace("__", "/").replace("_xml", ".xml"): data for name, data in changed.items()}).items()
    )


LAUGHS = b"""<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;">
<!ENTITY c "&b;&b;&b;&b;&b;&b;&b;&b;&b;&b;"><!ENTITY f SYSTEM "file:///etc/passwd">]><x>&c;&f;</x>"""


def test_entities_of_a_book_are_not_expanded() -> None:
    assert "package file is missing" in refused(book(**{"META-INF__container_xml": LAUGHS}), "x.epub")
    chapter = LAUGHS.replace(b"<x>", b"<html><body><p>lamp ").replace(b"</x>", b"</p></body></html>")
    with zipfile.ZipFile(FILES / "lamps.epub") as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    files["EPUB/text/ch001.xhtml"] = chapter
    text = parse(zipped(*files.items()), name="x.epub").text
    assert "haha" not in text
    assert "root:" not in text


def test_a_protected_book_is_refused() -> None:
    method = b'<encryption><EncryptedData><EncryptionMethod Algorithm="%s"/></EncryptedData></encryption>'
    assert "protected" in refused(book(**{"META-INF__encryption_xml": method % b"http://www.w3.org/aes256"}), "x.epub")
    fonts = book(**{"META-INF__encryption_xml": method % b"http://www.idpf.org/2008/embedding"})
    assert parse(fonts, name="x.epub").title == "The lamp book"


def test_what_is_no_book_is_told() -> None:
    assert "no META-INF/container.xml" in refused(zipped(("a.txt", b"a")), "x.epub")
    assert "broken" in refused(b"PK\x03\x04 nothing", "x.epub")


def test_an_archive_that_unpacks_to_a_thousand_times_its_size() -> None:
    with pytest.raises(UnreadableDocument, match="not unpacked"):
        list(members(zipped(("a.txt", b"a" * 60_000_000)), max_bytes=1_000_000_000))


def test_archives_are_opened_two_levels_deep() -> None:
    data = zipped(("a.txt", b"word"))
    for _ in range(5):
        data = zipped(("in.zip", data), ("b.txt", b"word"))
    found = {member.path: member.error for member in members(data, max_bytes=10_000_000)}
    assert [path for path, error in found.items() if error is None] == ["in.zip/b.txt", "b.txt"]
    assert "2 levels deep" in str(found["in.zip/in.zip"])


def test_many_small_archives_share_what_may_be_unpacked() -> None:
    inner = zipped(*((f"{number}.txt", b"a") for number in range(1000)))
    data = zipped(*((f"{number}.zip", inner) for number in range(20)))
    errors = [str(member.error) for member in members(data, max_bytes=10_000_000) if member.error]
    assert len(errors) >= 15
    assert all("entries" in error for error in errors)


def test_paths_of_members_stay_below_the_archive() -> None:
    with pytest.warns(UserWarning, match="Duplicate"):
        data = zipped(("../../etc/a.txt", b"a"), ("/b.txt", b"b"), ("c\\d.txt", b"c"), ("e.txt", b"1"), ("e.txt", b"2"))
    assert [member.path for member in members(data, max_bytes=1000)] == ["etc/a.txt", "b.txt", "c/d.txt", "e.txt"]


def test_a_member_is_refused_alone() -> None:
    found = list(members(zipped(("a.txt", b"a" * 2000), ("b.txt", b"b")), max_bytes=1000))
    assert "too large" in str(found[0].error)
    assert found[1].data == b"b"


def test_code_without_a_single_line_end() -> None:
    check_parsed(parse(b"const a = (" * 100_000, name="x.js"))
    check_parsed(parse(b"/*" * 100_000 + b"\n" + b'"""\n' * 100_000, name="x.py"))
    check_parsed(parse(b"int a(" * 50 + b"\n" + b"int  b :" * 20_000, name="x.cpp"))
