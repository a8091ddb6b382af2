"""Each format read, and each way that a file cannot be."""

import codecs
import json
import threading
from typing import Any

import pytest

from graph.errors import UnreadableDocument
from tests.contract.parser_kit import check_parsed
from tests.unit.pdf_files import pdf
from tools.parsers import Parsed, parse

MARKDOWN = """---
title: The lamp
date: 2026-01-02
tags: [light, {depth: 1}]
---
Intro with *emphasis*, `code` and a [link](https://example.org)
over two lines.

# Use

- one
- two
  goes on
  1. below
  2. again

3. third

| part | price |
|------|------:|
| bulb | **2** |

```python
def shine():

    return "on"
```

## Care &amp; repair

> Keep it
> dry.

<details><summary>More</summary><script>evil()</script>Wipe<br>twice.</details>

灯泡很亮，
请勿直视。![a lamp](lamp.png)

# Parts
"""


def blocks(parsed: Parsed) -> list[tuple[str, str, str]]:
    check_parsed(parsed)
    return [(block.kind, block.heading, parsed.text[block.start : block.end]) for block in parsed.blocks]


def test_markdown_is_read_as_a_reader_sees_it() -> None:
    parsed = parse(MARKDOWN.encode(), name="lamp.md")
    assert blocks(parsed) == [
        ("paragraph", "", "Intro with emphasis, code and a link <https://example.org> over two lines."),
        ("heading", "Use", "Use"),
        ("list_item", "Use", "- one"),
        ("list_item", "Use", "- two goes on"),
        ("list_item", "Use", "  1. below"),
        ("list_item", "Use", "  2. again"),
        ("list_item", "Use", "3. third"),
        ("table_row", "Use", "part | price"),
        ("table_row", "Use", "bulb | 2"),
        ("code", "Use", 'def shine():\n\n    return "on"'),
        ("heading", "Use > Care & repair", "Care & repair"),
        ("quote", "Use > Care & repair", "Keep it dry."),
        ("label", "Use > Care & repair", "More"),
        ("paragraph", "Use > Care & repair", "Wipe\ntwice."),
        ("paragraph", "Use > Care & repair", "灯泡很亮，请勿直视。a lamp"),
        ("heading", "Parts", "Parts"),
    ]
    assert parsed.title == "The lamp"
    assert parsed.metadata == {"date": "2026-01-02", "tags": ["light", {"depth": 1}]}
    assert parsed.media_type == "text/markdown"
    assert parsed.page_count is None


def test_list_items_and_rows_stand_on_lines_of_their_own() -> None:
    parsed = parse(b"- a\n- b\n\n| x | y |\n|---|---|\n| 1 | 2 |\n", name="x.md")
    assert parsed.text == "- a\n- b\n\nx | y\n1 | 2"


@pytest.mark.parametrize("text", ["---\nno: end\n", "---\njust words\n---\nand more", "***\n---\nwords"])
def test_a_rule_at_the_top_is_no_front_matter(text: str) -> None:
    parsed = parse(text.encode(), name="x.md")
    assert parsed.metadata == {}
    check_parsed(parsed)


def test_the_first_heading_is_the_title() -> None:
    assert parse(b"## Below\n\n# Above\n\nText.", name="x.md").title == "Above"
    assert parse(b"Text only.", name="x.md").title is None


def test_deep_lists_keep_their_words() -> None:
    text = "".join("  " * depth + f"- level {depth}\n" for depth in range(60))
    parsed = parse(text.encode(), name="x.md")
    assert all(f"level {depth}" in parsed.text for depth in range(60))
    deeper = "".join("  " * depth + f"- level {depth}\n" for depth in range(600))
    with pytest.raises(UnreadableDocument, match="nested too deeply"):
        parse(deeper.encode(), name="x.md")


@pytest.mark.parametrize("sign", ["[", "![", ">", "> ", "- ", "*", "(", "[^"])
def test_a_row_of_thousands_of_signs_is_text(sign: str) -> None:
    row = sign * 2000 + "x"
    parsed = parse(f"# Art\n\n{row}\nis *drawn*.\n\nAbove is [a row](x).".encode(), name="x.md")
    assert [block.kind for block in parsed.blocks if block.kind != "code"] == ["heading", "paragraph", "paragraph"]
    assert row in parsed.text
    assert parsed.text.endswith("\n\nAbove is a row.")


def test_front_matter_that_multiplies_is_not_read() -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 9)]
    parsed = parse(("---\n" + "\n".join(lines) + "\n---\nText.").encode(), name="x.md")
    assert (parsed.text, len(parsed.warnings)) == ("Text.", 1)
    assert len(str(parsed.metadata)) < 10_000


def test_plain_text_is_kept_as_it_is() -> None:
    text = "One.\r\nStill one.\r\n\r\n \tTwo — е\u0301.\n\n\fThree.\f\fFive."
    parsed = parse(text.encode(), name="x.txt")
    assert parsed.text == text
    assert [(block.page_idx, parsed.text[block.start : block.end]) for block in parsed.blocks] == [
        (0, "One.\r\nStill one."),
        (0, "Two — е\u0301."),
        (1, "Three."),
        (3, "Five."),
    ]
    check_parsed(parsed)


def test_text_without_form_feeds_has_no_pages() -> None:
    assert parse(b"One.\n\nTwo.", name="x.txt").blocks[1].page_idx is None


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32"])
def test_text_of_a_marked_encoding(encoding: str) -> None:
    assert parse("Ánh sáng 灯 😀".encode(encoding), name="x.txt").text == "Ánh sáng 灯 😀"


def test_utf16_of_either_end() -> None:
    assert parse(codecs.BOM_UTF16_BE + "Licht".encode("utf-16-be"), name="x.txt").text == "Licht"


HTML = """<!doctype html><html><head><title>Lamps &amp; light</title><style>p {}</style></head><body>
<nav><a href="/">Home</a><a href="/x">Elsewhere</a></nav>
<h1>The lamp</h1><p>It shines with <b>great</b> <a href="x">power</a>.<br>It is warm.</p>
<h2>Parts</h2><ul><li>bulb</li><li>foot<ol><li>screw</li></ol></li></ul>
<table><tr><th>part</th><th>price</th></tr><tr><td>bulb</td><td>2</td></tr></table>
<pre><code>x = 1
y = 2</code></pre><blockquote>Keep it dry.</blockquote>
<p hidden>unseen</p><p style="display: none">unseen</p><script>unseen()</script>
<footer>Imprint</footer></body></html>"""


def test_html_keeps_headings_lists_tables_and_code() -> None:
    parsed = parse(HTML.encode(), name="lamp.html")
    assert blocks(parsed) == [
        ("heading", "The lamp", "The lamp"),
        ("paragraph", "The lamp", "It shines with great power.\nIt is warm."),
        ("heading", "The lamp > Parts", "Parts"),
        ("list_item", "The lamp > Parts", "- bulb"),
        ("list_item", "The lamp > Parts", "- foot"),
        ("list_item", "The lamp > Parts", "  1. screw"),
        ("table_row", "The lamp > Parts", "part | price"),
        ("table_row", "The lamp > Parts", "bulb | 2"),
        ("code", "The lamp > Parts", "x = 1\ny = 2"),
        ("quote", "The lamp > Parts", "Keep it dry."),
    ]
    assert parsed.title == "The lamp"


@pytest.mark.parametrize("html", ["<p>Hi there</p>", "<div>Hi there</div>", "Hi there", "<b>Hi</b> there"])
def test_a_fragment_of_html_loses_nothing(html: str) -> None:
    assert parse(html.encode(), name="x.html").text == "Hi there"


def test_line_breaks_of_the_source_are_no_line_breaks() -> None:
    html = "<p>One\n   line,<br>\nnext <b>bold</b>\nword. 灯泡\n很亮。</p>"
    assert parse(html.encode(), name="x.html").text == "One line,\nnext bold word. 灯泡很亮。"


def test_an_article_is_told_from_its_frame() -> None:
    story = "".join(f"<p>Sentence {n} of the story, which is long enough to be one, goes here.</p>" for n in range(20))
    links = "".join(f'<div class="menu"><a href="/{n}">Menu {n}</a></div>' for n in range(20))
    parsed = parse(
        f"<html><body>{links}<div class='article-body'>{story}</div>{links}</body></html>".encode(), name="x.htm"
    )
    assert "Sentence 19" in parsed.text
    assert "Menu" not in parsed.text


def test_html_declares_its_charset() -> None:
    html = '<html><head><meta charset="iso-8859-1"></head><body><p>Café</p></body></html>'
    assert parse(html.encode("latin-1"), name="x.html").text == "Café"
    xhtml = f'<?xml version="1.0" encoding="utf-8"?>\n{html.replace("iso-8859-1", "utf-8")}'
    assert parse(xhtml.encode(), name="x.xhtml").text == "Café"
    assert parse(html.replace("iso-8859-1", "gb2312").encode("gb18030"), name="x.html").text == "Café"
    for unknown in ("idna", "martian", "punycode", "unicode_escape", "utf-7"):
        parsed = parse(html.replace("iso-8859-1", unknown).encode("cp1252"), name="x.html")
        assert (parsed.text, len(parsed.warnings)) == ("Café", 1)


def test_html_of_great_depth() -> None:
    assert parse(("<div>" * 200 + "deep" + "</div>" * 200).encode(), name="x.html").text == "deep"
    assert parse(("<p>Above.</p>" + "<b>" * 1500 + "deep").encode(), name="x.html").text == "Above.\n\ndeep"
    with pytest.raises(UnreadableDocument, match="nested too deeply"):
        parse(("<p>Above.</p>" + "<b>" * 5000 + "deep").encode(), name="x.html")


def test_pdf_pages_and_paragraphs() -> None:
    parsed = parse(
        pdf([["First line,", "second line.", "", "Next one."], [], ["Caf\xe9 on page three."]]), name="x.pdf"
    )
    assert [(block.page_idx, parsed.text[block.start : block.end]) for block in parsed.blocks] == [
        (0, "First line, second line."),
        (0, "Next one."),
        (2, "Café on page three."),
    ]
    check_parsed(parsed)
    assert parsed.page_count == 3
    assert parsed.title is None
    assert parse(pdf([["Text."]], title="A title"), name="x.pdf").title == "A title"


def test_a_word_hyphenated_over_two_lines_is_whole() -> None:
    assert parse(pdf([["It is an exam-", "ple of it."]]), name="x.pdf").text == "It is an example of it."
    assert parse(pdf([["In COVID-", "19 days, in Anglo-", "Saxon law."]]), name="x.pdf").text == (
        "In COVID-19 days, in Anglo-Saxon law."
    )


def test_a_pdf_is_known_by_its_first_bytes() -> None:
    assert parse(pdf([["Text."]]), name="download").media_type == "application/pdf"


def test_pdfs_at_once() -> None:
    texts: dict[int, str] = {}

    def read(number: int) -> None:
        texts[number] = parse(pdf([[f"Number {number}."]] * 5), name="x.pdf").text

    threads = [threading.Thread(target=read, args=[number]) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(f"Number {number}." in texts[number] for number in range(8))


def document_ai(spelling: str) -> dict[str, Any]:
    text = "Title\nFirst part 😀 of page one.\nUnanchored words.\nPage two.\n"

    def layout(start: int, end: int) -> dict[str, Any]:
        if spelling == "camel":
            index = {"startIndex": str(start)} if start else {}
            return {"layout": {"textAnchor": {"textSegments": [{**index, "endIndex": str(end)}]}}}
        return {"layout": {"text_anchor": {"text_segments": [{"start_index": start, "end_index": end}]}}}

    second = text.index("Page two")
    pages = [
        {"paragraphs": [layout(0, 6), layout(6, text.index("Unanchored"))]},
        {"lines": [layout(second, len(text) + 100)]},
    ]
    return {"text": text, "pages": pages}


@pytest.mark.parametrize("spelling", ["camel", "snake"])
def test_document_ai_anchors_point_into_the_text(spelling: str) -> None:
    document = document_ai(spelling)
    parsed = parse(json.dumps(document).encode(), name="x.json")
    assert parsed.text == document["text"]
    assert [(block.page_idx, parsed.text[block.start : block.end]) for block in parsed.blocks] == [
        (0, "Title"),
        (0, "First part 😀 of page one."),
        (0, "Unanchored words."),
        (1, "Page two."),
    ]
    check_parsed(parsed)
    assert parse(json.dumps({"document": document}).encode(), name="x.json") == parsed


def test_document_ai_may_write_its_numbers_with_a_point() -> None:
    anchor = {"textAnchor": {"textSegments": [{"startIndex": 3.0, "endIndex": "5.0"}]}}
    document = {"text": "A.\nB.", "pages": [{"pageNumber": 2.0, "paragraphs": [{"layout": anchor}]}]}
    last = parse(json.dumps(document).encode(), name="x.json").blocks[-1]
    assert (last.start, last.end, last.page_idx) == (3, 5, 1)


def test_document_ai_offsets_hold_where_a_nul_is_dropped() -> None:
    document = {
        "text": "A\x00B.\nC.",
        "pages": [
            {"pageNumber": 1, "paragraphs": [{"layout": {"textAnchor": {"textSegments": [{"endIndex": "4"}]}}}]},
            {
                "pageNumber": 2,
                "layout": {"textAnchor": {"textSegments": [{"startIndex": "5", "endIndex": "7"}]}},
            },
        ],
    }
    parsed = parse(json.dumps(document).encode(), name="x.json")
    assert [(block.page_idx, parsed.text[block.start : block.end]) for block in parsed.blocks] == [
        (0, "AB."),
        (1, "C."),
    ]


def test_document_ai_without_anchors_is_plain_text() -> None:
    parsed = parse(json.dumps({"text": "One.\n\nTwo.", "pages": []}).encode(), name="x.json")
    assert blocks(parsed) == [("paragraph", "", "One."), ("paragraph", "", "Two.")]


BAD_ANCHOR = b'{"text": "a", "pages": [{"layout": {"textAnchor": {"textSegments": [{"endIndex": "b"}]}}}]}'


@pytest.mark.parametrize(
    ("name", "data", "reason"),
    [
        ("x.txt", b"", "empty"),
        ("x.txt", b" \n\t", "empty"),
        ("x.txt", b"\x00\x01", "binary"),
        ("x.txt", b"\xe9\x01\x02!", "not in UTF-8 .byte 0xE9 at offset 0"),
        ("x.txt", codecs.BOM_UTF16_LE + b"a", "not in UTF-16"),
        ("x.md", b"<!-- nothing -->", "no text"),
        ("x.html", b"<html><head></head><body></body></html>", "no text"),
        ("x.pdf", b"%PDF-1.7 nothing more", "broken"),
        ("x.pdf", b"hello", "no PDF"),
        ("x.zip", b" ", "empty"),
        ("x.pdf", pdf([[], []]), "no text on its 2 pages"),
        ("x.json", b"{", "broken"),
        ("x.json", BAD_ANCHOR, "anchors"),
        ("x.json", b'{"text": "a", "pages": [3]}', "anchors"),
        ("x.json", b'{"text": "a", "pages": {"a": 1}}', "anchors"),
        ("x.json", b"[" * 100_000, "nested too deeply"),
        ("x.png", b"\x89PNG\r\n\x1a\n\x00\x00", "a picture"),
    ],
)  # fmt: skip
def test_what_cannot_be_read_is_told_with_the_reason(name: str, data: bytes, reason: str) -> None:
    with pytest.raises(UnreadableDocument, match=reason):
        parse(data, name=name)


def test_an_encrypted_pdf() -> None:
    locked = "/Encrypt << /Filter /Standard /V 1 /R 2 /Length 40 /P -4"
    locked += f" /O <{'41' * 32}> /U <{'42' * 32}> >> /ID [<00><00>]"
    with pytest.raises(UnreadableDocument, match="encrypted"):
        parse(pdf([["Secret."]], trailer=locked), name="x.pdf")


def test_the_media_type_wins_over_the_suffix() -> None:
    assert parse(b"# One", name="x.txt", media_type="text/markdown; charset=utf-8").media_type == "text/markdown"
    assert parse(b"# One", name="x.md", media_type="application/octet-stream").media_type == "text/markdown"
    assert parse(b"# One", name="x.md", media_type="text/plain").media_type == "text/markdown"
    assert parse(b"# One", name="README").media_type == "text/plain"
