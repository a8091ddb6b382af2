"""RTF as programs write it: letters of many encodings, what is hidden, lists and tables in their several ways."""

import pytest

from graph.errors import UnreadableDocument
from tests.contract.hanging_blocks import hanging
from tools.parsers import Parsed, parse
from tools.parsers.canonical_text import passages_left_out


def read(body: str) -> Parsed:
    return parse(("{\\rtf1\\ansi\\ansicpg1252 " + body + "}").encode("ascii"), name="x.rtf")


def words(body: str) -> list[tuple[str, str]]:
    return [(kind, text) for kind, text, _ in hanging(read(body))]


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ("caf\\'e9", "café"),
        ("\\u272\\'3f\\u232 en \\uc0\\u7855 t", "Đèn ắt"),
        ("\\uc1\\u-10179?\\u-8704?", "😀"),
        ("{\\fonttbl{\\f0\\fcharset204 Arial;}}\\f0 \\'cb\\'e0\\'ec\\'ef\\'e0", "Лампа"),
        ("{\\fonttbl{\\f0\\fcharset128 Mincho;}}\\f0 \\'83\\'89\\'83\\'93\\'83\\'76", "ランプ"),
        ("\\ldblquote a\\rdblquote\\emdash b\\~c\\{d\\}", "“a”—b c{d}"),
        ("one\\line two", "one\ntwo"),
        ("{\\field{\\*\\fldinst HYPERLINK x}{\\fldrslt link}} here", "link here"),
        ("a{\\*\\unknown gone}b{\\pict ffff}c\\bin4 xxxxd", "abcd"),
        ("{\\header Page \\chpgn}{\\info{\\author Ada}}{\\*\\generator g}body", "body"),
    ],
)
def test_what_a_reader_sees(body: str, text: str) -> None:
    assert words(body) == [("paragraph", text)]


def test_what_is_hidden_struck_out_or_deleted_is_left_out_and_counted() -> None:
    parsed = read("seen {\\v hidden}{\\strike struck}{\\deleted gone}\\par end\\v never\\v0 ing {\\pict ff}")
    assert [text for _, text, _ in hanging(parsed)] == ["seen", "ending"]
    assert parsed.left_out == (*passages_left_out(2), "1 picture was left out.")


def test_headings_by_the_name_of_their_style() -> None:
    body = "{\\stylesheet{\\s1 heading 1;}{\\s2 heading 2;}}\\pard\\s1 A\\par\\pard\\s2 B\\par\\pard text\\par"
    parsed = read(body)
    assert [(block.kind, block.heading) for block in parsed.blocks] == [
        ("heading", "A"),
        ("heading", "A > B"),
        ("paragraph", "A > B"),
    ]


def test_headings_have_the_numbers_that_they_show() -> None:
    first, second = (
        "\\pard\\outlinelevel0{\\listtext 1.\\tab}Lamps\\par",
        "\\pard\\outlinelevel1{\\listtext\\'b7\\tab}Care\\par",
    )
    body = first + second + "\\pard text\\par"
    assert [block.heading for block in read(body).blocks] == ["1. Lamps", "1. Lamps > Care", "1. Lamps > Care"]


def test_a_row_in_bold_names_the_columns() -> None:
    row = "\\trowd\\cellx1\\cellx2\\intbl {}\\cell {}\\cell\\row "
    body = row.format("{\\b room}", "{\\b keeper}") + row.format("hall", "Ada") + "\\pard after\\par"
    assert hanging(read(body))[1] == ("table_row", "hall | Ada", ["room | keeper"])


def test_lists_hang_on_what_introduces_them() -> None:
    body = "Keys:\\par{\\pntext\\'b7\\tab}hall\\par{\\listtext 2.\\tab}yard\\par text\\par"
    assert hanging(read(body)) == [
        ("paragraph", "Keys:", []),
        ("list_item", "- hall", ["Keys:"]),
        ("list_item", "2. yard", ["Keys:"]),
        ("paragraph", "text", []),
    ]


def test_rows_hang_on_the_row_that_names_the_columns() -> None:
    row = "\\trowd\\cellx1\\cellx2\\intbl {}\\cell {}\\cell\\row "
    body = row.format("room", "hours") + row.format("hall\\par east", "10") + "\\pard after\\par"
    assert hanging(read(body)) == [
        ("table_row", "room | hours", []),
        ("table_row", "hall east | 10", ["room | hours"]),
        ("paragraph", "after", []),
    ]


def test_footnotes_follow_their_paragraph() -> None:
    body = "Ask{\\super\\chftn}{\\footnote\\pard\\plain{\\super\\chftn} the guard.\\par} first.\\par Next.\\par"
    assert words(body) == [("paragraph", "Ask [1] first."), ("footnote", "[1] the guard."), ("paragraph", "Next.")]


@pytest.mark.parametrize("data", [b"{\\rtf1 }", b"{\\rtf1 {\\pict ff}}"])
def test_a_file_without_text_is_refused(data: bytes) -> None:
    with pytest.raises(UnreadableDocument, match="no text"):
        parse(data, name="x.rtf")


def test_what_is_no_rich_text_is_told() -> None:
    with pytest.raises(UnreadableDocument, match="no RTF"):
        parse(b"words", name="x.rtf")
