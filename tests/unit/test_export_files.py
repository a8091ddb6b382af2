"""Whatever an answer, a quote or a title says, an export has its text, and nothing that the text would make of it."""

import io
import zipfile
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import docx
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from lxml import etree, html
from markdown_it import MarkdownIt
from mdit_py_plugins.footnote import footnote_plugin

from answers.highlighting import in_markdown
from graph.evidence import CitationContext, Disagreement, Position, SectionClaim, Source
from tests.wire.texts import citation, source
from tools.exports.exported import (
    DocumentVersion,
    Exchange,
    ExportedAnswer,
    ExportedClaim,
    ExportedSection,
    Note,
    NoteBook,
    Surroundings,
    Transcript,
    marked,
)
from tools.exports.formats import FILE_FORMATS, file_name
from tools.exports.html_report import html_report
from tools.exports.markdown_file import markdown_file
from tools.exports.word_file import word_file
from tools.exports.wording import LANGUAGES, words_of

NOW = datetime(2026, 11, 23, 12, 0, tzinfo=UTC)
EN = words_of("en")
PIECES = [
    *"ab .\n\t|`*_~#>-+[](){}!<>&\\^=\"'$@:/0⧼⧽⦑⦒⧘⧙⧚⧛\x00\x0b\u2060\ufeff",
    *(
        "<script>",
        "<img src=x onerror=p()>",
        "![a](http://e.example/x)",
        "[^1]",
        "[^1]: x",
        "[a]: http://e.example",
        "<!--",
    ),
    *(
        "```",
        "~~~\n",
        "| a | b |\n|---|---|\n",
        "1. ",
        "- [ ] ",
        "javascript:p()",
        "https://e.example",
        "]]>",
        "{=html}",
    ),
    *("مرحبا", "织机", "w:fldSimple", "DDEAUTO", "\\<b>", "&lt;b&gt;", "[x](javascript:p())", "\ud800"),
]
TEXTS = st.lists(st.sampled_from(PIECES), min_size=1, max_size=25).map("".join)
RENDERER = MarkdownIt("gfm-like", {"linkify": False, "html": True}).use(footnote_plugin)
NEVER = "//script | //img | //iframe | //object | //form | //input | //b | //link | //svg | //@onerror | //@src"
WORD = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
CITED = citation(source(1), "supported", 0)


def transcript(text: str, said: str) -> Transcript:
    """One answer whose text and whose quote, titles and question are these."""
    middle = len(text) // 2
    claims = [
        SectionClaim(
            start=start,
            end=end,
            text=text[start:end],
            verdict=verdict,
            reasons=[said],
            citations=[CITED],
            section_index=0,
        )
        for start, end, verdict in ((0, middle, "unverified"), (middle, len(text), "supported"))
        if start < end
    ]
    exported = tuple(ExportedClaim(claim, (1,)) for claim in claims)
    note = Note(
        number=1,
        document_id="d",
        title=said,
        heading=said,
        place={"page_idx": None, "sheet": said, "cell": "A1"},
        address=said,
        quote=said,
        context=(),
        around=Surroundings(said, said),
        matched=True,
        freshness="fresh",
        highlight=(len(said) // 3, 2 * len(said) // 3),
    )
    answer = ExportedAnswer(
        message_id="m",
        outcome="answered",
        stop_reason="answer_complete",
        family="llm",
        answered_at=NOW,
        sections=(
            ExportedSection(text, marked(text, exported), passage=note, highlight=(len(text) // 3, 2 * len(text) // 3)),
        ),
        claims=exported,
        notes=(note,),
        nearest=(),
        disagreements=(),
        account=None,
    )
    version = DocumentVersion("d", said, 1, 2, NOW, "0")
    return Transcript("s", said, NOW, (Exchange(said, NOW, said, answer),), (version,))


@given(TEXTS, TEXTS)
def test_a_report_is_made_of_its_own_elements_alone(text: str, said: str) -> None:
    page = html.document_fromstring(html_report(transcript(text, said), EN))
    assert not page.xpath(NEVER)
    for href in page.xpath("//@href"):
        assert href.startswith(("#quote-", "http://", "https://", "mailto:")), href
    assert len(page.xpath("//style")) == len(page.xpath("//title")) == 1


@given(TEXTS, TEXTS)
@example("a| a | b |\n|---|---|\n| a | b |\n|---|---|\n```<img src=x onerror=p()>| a | b |\n|---|---|\n", "a")
def test_markdown_makes_no_element_of_what_is_said_outside_of_code(text: str, said: str) -> None:
    written = markdown_file(transcript(text, said), EN).decode("utf-8")
    shown = html.document_fromstring(f"<main>{RENDERER.render(written)}</main>")
    assert not shown.xpath(NEVER)
    assert not [each for each in shown.xpath("//a/@href") if each.lower().startswith("javascript:")]


@given(TEXTS, TEXTS)
def test_a_word_file_opens_and_has_no_field(text: str, said: str) -> None:
    file = word_file(transcript(text, said), EN)
    assert docx.Document(io.BytesIO(file)).tables
    with zipfile.ZipFile(io.BytesIO(file)) as parts:
        body = etree.fromstring(parts.read("word/document.xml"))
        notes = etree.fromstring(parts.read("word/footnotes.xml"))
    for root in (body, notes):
        assert not [each for each in root.iter() if etree.QName(each).localname in ("fldSimple", "instrText", "object")]
    assert [each.get(f"{WORD}id") for each in body.iter(f"{WORD}footnoteReference")] == ["1"]


def test_marks_stand_where_claims_end_in_every_kind_of_block() -> None:
    text = "# Rates\n\n**One.** Two.\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n- item\n\n```\ncode\n```\n"
    ends = [text.index(each) + len(each) for each in ("**One.**", "Two.", "| 1 | 2 |", "item", "```\ncode\n```")]
    claims = tuple(
        ExportedClaim(
            SectionClaim(
                start=0,
                end=end,
                text="",
                verdict="supported",
                reasons=[],
                citations=[CITED],
                section_index=0,
                by="judge",
            ),
            (number,),
        )
        for number, end in enumerate(ends, 1)
    )
    made = transcript("x", "Said")
    answer = made.exchanges[0].answer
    assert answer is not None
    notes = tuple(Note(n, "d", "T", "", {}, "", "q", (), Surroundings(), False, None) for n in range(1, 6))
    section = ExportedSection(text, marked(text, claims))
    shown = Transcript(
        "s",
        "T",
        NOW,
        (
            Exchange(
                "Q", NOW, "", ExportedAnswer("m", "answered", "", "", NOW, (section,), claims, notes, (), (), None)
            ),
        ),
    )
    page = html.document_fromstring(html_report(shown, EN))
    [body] = page.find_class("answer")
    said = [each.text_content() for each in body.iter("strong", "p", "td", "li", "pre", "h3")]
    assert said == ["Rates", "One.[1] Two.[2]", "One.", "1", "2[3]", "item[4]", "code\n", "[5]"]
    written = markdown_file(shown, EN).decode()
    for part in ("### Rates", "**One.**[^1] Two.[^2]", "| 1 | 2[^3] |", "- item[^4]", "```\n[^5]"):
        assert part in written, part


QUOTE = "The limits are:\nItem | Limit\nHotel | 200 euros\nTaxi | 50 euros"
TABLE = "The limits are:\n\n| Item | Limit |\n| --- | --- |\n| Hotel | 200 euros |\n| Taxi | 50 euros |"
LIST = "Not allowed:\n\n- Dogs\n- Smoking on the balcony"
CODE = "Run this:\n\n```\nmake all\nmake test\n```"


def passage(text: str, quote: str, highlight: str, **told: Any) -> Transcript:
    """One answer that shows a passage, with one of its entries highlighted."""
    start = quote.index(highlight)
    cited: Any = {
        "segment_id": "d:0", "document_id": "d", "segment_index": 0, "page_idx": 2, "start": 10, "quote": quote,
        "end": 10 + len(quote), "highlight": {"start": 10 + start, "end": 10 + start + len(highlight)},
        "origin": "cited", "verdict": "supported", "source_index": 1, "section_index": 0,
        "heading_path": ["Policy", "Limits"], **told,
    }  # fmt: skip
    claim = SectionClaim(
        start=0,
        end=len(text),
        text=text,
        verdict="supported",
        reasons=[],
        citations=[cited],
        section_index=0,
        by="text",
    )
    source: Any = {"index": 1, "segment_id": "d:0", "title": "Policy", "heading": "Another"}
    [note] = NoteBook(lambda *_: "").notes_of([cited], [source]).values()
    claims = (ExportedClaim(claim, (1,)),)
    section = ExportedSection(text, marked(text, claims), passage=note, highlight=in_markdown(text, cited))
    answer = ExportedAnswer(
        "m", "answered", "", "extractive", NOW, (section,), claims, (note,), (), (), None, answerhood="may_answer"
    )
    return Transcript("s", "T", NOW, (Exchange("Q", NOW, "", answer),))


@pytest.mark.parametrize(
    ("text", "quote", "highlight", "shown"),
    [
        (TABLE, QUOTE, "Taxi | 50 euros", ["Taxi", "50 euros"]),
        (LIST, LIST, "Smoking on the balcony", ["Smoking on the balcony"]),
        (LIST, LIST, "- Smoking on the balcony", ["Smoking on the balcony"]),
        (CODE, "Run this:\nmake all\nmake test", "make test", ["make test"]),
        ("Ask first. **It** closes at 5. Wait.", "Ask first. It closes at 5. Wait.", "It closes at 5.",
         ["It", " closes at 5."]),
    ],
)  # fmt: skip
def test_a_passage_is_shown_as_it_stands_with_its_highlight(
    text: str, quote: str, highlight: str, shown: list[str]
) -> None:
    made = passage(text, quote, highlight)
    page = html.document_fromstring(html_report(made, EN))
    [body] = page.find_class("answer")
    bare = passage(text, quote, quote)
    [unmarked] = html.document_fromstring(html_report(bare, EN)).find_class("answer")
    assert [each.text_content() for each in body.iter("mark")] == shown
    assert [each.tag for each in body.iter() if each.tag != "mark"] == [each.tag for each in unmarked.iter()]
    assert body.text_content() == unmarked.text_content()
    assert body.text_content().count("[1]") == 1
    [noted] = page.xpath("//li[@id='quote-1']")
    assert not noted.xpath(".//mark | .//blockquote"), "the passage above is the quote"
    file = docx.Document(io.BytesIO(word_file(made, EN)))
    inside = [
        each for table in file.tables[:-1] for row in table.rows for cell in row.cells for each in cell.paragraphs
    ]
    runs = [run for each in (*file.paragraphs, *inside) for run in each.runs]
    assert [run.text for run in runs if run.font.highlight_color is not None] == shown


def test_a_copy_is_quoted_from_its_place_and_called_supported_nowhere() -> None:
    made = passage(TABLE, QUOTE, "Taxi | 50 euros")
    page = html.document_fromstring(html_report(made, EN))
    written = markdown_file(made, EN).decode()
    for said in (" ".join(page.text_content().split()), written.replace("\\", "")):
        assert EN("quoted_from", where="Policy › Limits, page 3") in said
        assert said.index(EN("answerhood_may_answer")) < said.index(EN("quoted_from", where="Policy"))
        assert EN("supported") not in said
    assert [each.text for each in page.find_class("quoted")] == [EN("quoted")]
    assert "| Taxi | 50 euros[^1] |" in written
    with zipfile.ZipFile(io.BytesIO(word_file(made, EN))) as parts:
        assert EN("supported").encode() not in parts.read("word/document.xml")


def test_a_passage_tells_its_date_and_the_older_documents_that_hold_a_copy() -> None:
    copies = [
        {"segment_id": f"{name}:0", "document_id": name, "title": name, "date": day, "dated_by": by, "differs": not day}
        for name, day, by in (
            ("Policy 2024", "2024-05", "document"),
            ("Draft", "2023-01-02", "library"),
            ("Copy", "", ""),
        )
    ]
    made = passage(TABLE, QUOTE, "Taxi | 50 euros", date="2025-06-01", dated_by="document", copies=copies)
    where = EN("dated", title="Policy › Limits, page 3", day="2025-06-01")
    dated = EN("dated", title="Policy 2024", day="2024-05"), EN("stored", title="Draft", day="2023-01-02")
    others = [*(EN("also_in", title=title) for title in dated), EN("changed_in", title="Copy")]
    wanted = "; ".join([EN("quoted_from", where=where), *others])
    page = html.document_fromstring(html_report(made, EN))
    for said in (page.text_content(), markdown_file(made, EN).decode().replace("\\", "")):
        assert wanted in " ".join(said.split())


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_format_is_written_in_every_language(language: str) -> None:
    made = transcript("It is so.", "Said")
    for form, kind in FILE_FORMATS.items():
        assert kind.write(made, words_of(language)), form  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("title", "name"),
    [
        ("Plan", "Plan.md"),
        ("../../etc/passwd", "etc passwd.md"),
        ('A: "b" <c>|d?*\\', "A b c d.md"),
        ("织机\n维护", "织机 维护.md"),
        ("...", "s.md"),
        ("x" * 300, f"{'x' * 80}.md"),
    ],
)
def test_a_file_is_named_so_that_every_system_takes_it(title: str, name: str) -> None:
    assert file_name(Transcript("s", title, NOW, ()), "md") == name


def test_every_format_says_what_an_answer_is_worth_and_what_its_sources_disagree_on() -> None:
    made = transcript("One. Two.", "said")
    [exchange] = made.exchanges
    answer = exchange.answer
    assert answer is not None
    header = CitationContext(role="header", start=0, end=0, text="Item | Price")
    note = replace(answer.notes[0], quote="Lamp | 9 €", context=(header,), highlight=None)
    section = replace(answer.sections[0], passage=None)
    old = Position(
        segment_id="d:0",
        document_id="d",
        title="Old",
        start=0,
        end=1,
        quote="It was 8 €.",
        value="",
        date="2024-03-01",
        dated_by="document",
    )
    new = Position(**{**old, "title": "New", "quote": "It is 9 €.", "date": "2026-11-01", "dated_by": "library"})
    sides = [new, old]
    told = Disagreement(segment_ids=[], reason="8 or 9", positions=sides)
    proven = replace(answer, sections=(section,), notes=(note,))
    disputed, refused = replace(proven, disagreements=(told,)), replace(proven, outcome="abstained", claims=())
    near = replace(refused, nearest=(Source(**{**source(1), "score": 0.9}),))

    def report(answer: ExportedAnswer) -> tuple[str, Any]:
        page = html.document_fromstring(html_report(replace(made, exchanges=(replace(exchange, answer=answer),)), EN))
        return page.findtext(".//p[@class='notice']") or "", page

    assert report(proven)[0] == "Statements: 2; quoted exactly: 1, not checked: 1."
    [row] = report(proven)[1].xpath("//li[@id='quote-1']//tbody/tr")
    assert [cell.text_content() for cell in row] == ["Lamp", "9 €"]
    assert (report(refused)[0], report(near)[0]) == (EN("refused"), EN("not_outright"))
    said, page = report(disputed)
    assert said == EN("disagreements")
    assert "Old (2024-03-01)" in page.text_content()
    assert "2026-11-01" not in page.text_content(), "the day on which a text was stored decides nothing"
    files = replace(made, exchanges=(replace(exchange, answer=disputed),))
    word = docx.Document(io.BytesIO(word_file(files, EN)))
    for text in (markdown_file(files, EN).decode(), "\n".join(each.text for each in word.paragraphs)):
        assert "It was 8 €." in text
        assert "It is 9 €." in text
