"""Every parser passes the kit, on whatever bytes it is given: it reads them soundly or says why not."""

import json
from typing import Any

from hypothesis import example, given
from hypothesis import strategies as st

from graph.errors import UnreadableDocument
from tests.contract.parser_kit import check_parsed
from tests.unit.pdf_files import pdf
from tools.parsers import parse

LETTERS = (
    "ab Z.?!-–—*_`#>|[](){}<>&;:'\"~\\/=+09\t\n\r\f\x00\x0b\x1c\x85\u200d\u2028\ufeff\ud83eé\u0301ệ灯。、ไ한😀🏽🇻🇳"
)
TEXTS = st.text(LETTERS, max_size=200) | st.text(max_size=80)
TAGS = [
    "<p>",
    "</p>",
    "<ul>",
    "<li>",
    "</ul>",
    "<table>",
    "<tr>",
    "<td>",
    "<pre>",
    "<code>",
    "<h1>",
    "</h1>",
    "<br>",
    "<b>",
]
MARKUP = st.lists(st.sampled_from([*TAGS, "<article>", "<ol>", "<blockquote>", "<img alt='x'>"]) | TEXTS, max_size=20)
LINES = [
    "# A",
    "## B",
    "- c",
    "1. d",
    "> e",
    "| f | g |",
    "|---|---|",
    "```",
    "    h",
    "---",
    "",
    "i  ",
    "灯。",
    "<div>",
    "x: 1",
]
MARKDOWN = st.lists(st.sampled_from(LINES) | TEXTS, max_size=20)


def check(text: str, name: str) -> None:
    try:
        parsed = parse(text.encode("utf-8", "surrogatepass"), name=name)
    except UnreadableDocument as error:
        assert error.message  # noqa: PT017
    else:
        check_parsed(parsed)


@given(TEXTS)
@example("\x1c")
@example("a\x85\n\nb")
def test_any_plain_text(text: str) -> None:
    check(text, "x.txt")


@given(MARKDOWN)
@example(["- c", "", "    h", "> e"])
def test_any_markdown(lines: list[str]) -> None:
    check("\n".join(lines), "x.md")


@given(MARKUP)
def test_any_html(parts: list[str]) -> None:
    check("".join(parts), "x.html")


@given(TEXTS.filter(lambda text: bool(text.strip())), st.data())
def test_any_document_ai(text: str, data: st.DataObject) -> None:
    """Anchors may lie anywhere, overlap, run backwards and beyond; pages follow each other as they do in a scan."""
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), min_size=1, max_size=6)))
    pages: list[dict[str, Any]] = []
    for number, (start, end) in enumerate(zip([0, *cuts], [*cuts, len(text)], strict=True)):
        inner = data.draw(st.lists(st.tuples(st.integers(start, end), st.integers(start, end)), max_size=4))
        paragraphs = [
            {"layout": {"textAnchor": {"textSegments": [{"startIndex": str(first), "endIndex": last}]}}}
            for first, last in inner
        ]
        pages.append({"pageNumber": number + 1, "paragraphs": paragraphs})
    check(json.dumps({"text": text, "pages": pages}), "x.json")


@given(st.lists(st.lists(st.text("abc XYZ.-", max_size=30), max_size=5), min_size=1, max_size=3))
def test_any_pdf(pages: list[list[str]]) -> None:
    try:
        check_parsed(parse(pdf(pages), name="x.pdf"))
    except UnreadableDocument as error:
        assert "no text" in error.message  # noqa: PT017
