"""Questions that a document itself asks, and what a guide quotes of it."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph.evidence import Segment
from tools.guides.outlines import first_sentences, guide_outline
from tools.guides.own_questions import LONGEST, own_questions
from tools.parsers import parse
from tools.retrieval.segmenting import SegmentSize, segment

STATEMENTS = (
    "# Dan Cruikshank\n\nDan Cruikshank is the author of this paper. A firewall is a piece of equipment.\n\n"
    "## Install the broker\n\nUnpack the archive. Was it hard? Not at all.\n\n"
    "| Item | Limit |\n|---|---|\n| Client dinner | 65 euros |\n"
)
MARKDOWN = (
    "# Visitors\n\n**Where do I park my car?**\n\nBehind the mill.\n\n**And on Sundays?**\n\nIn the yard.\n\n"
    "**How late may guests arrive?**\n\nUntil nine.\n\n**Who keeps the keys of the gate?**\n\nThe porter.\n\n"
    "**Is breakfast part of the price?**\n\nYes, from seven.\n"
)
PLAIN = (
    "Q: How late can I book a place?\nA: Until noon.\n\nQ: Which animals do you refuse?\nA: Bees.\n\n"
    "Q: My load was damaged. Whom do I call?\nA: The desk.\n\nQ: Where is the scale for lorries?\nA: At the gate.\n\n"
    "Q: Why do I pay for fuel?\nA: It became dearer.\n"
)
HTML = (
    "<main><h1>Broker</h1><h2>1.2 How long are messages kept?</h2><p>They are kept for a week.</p>"
    "<dl><dt>Where does the broker store data?</dt><dd>In memory.</dd><dt>exec ?-array name? command ?body?</dt>"
    "<dd>Is it fast? It is.</dd></dl><h2>What is missing?</h2></main>"
)
VIETNAMESE = "# Xe buýt\n\n## Tôi mua vé tháng ở đâu?\n\nTại quầy vé.\n"
CHINESE = "# 图书馆\n\n## 读者证丢了怎么办？\n\n请到服务台补办。\n"


def segments_of(text: str, name: str = "a.md") -> list[Segment]:
    parsed = parse(text.encode(), name=name)
    spans = segment(parsed, SegmentSize(300, "words"), lambda texts: [len(each.split()) for each in texts])
    return [
        Segment("d", each.segment_index, each.start, each.end, parsed.text[each.start : each.end], blocks=each.blocks)
        for each in spans
    ]


@pytest.mark.parametrize(
    ("text", "name", "asked"),
    [
        (STATEMENTS, "a.md", []),
        (
            MARKDOWN,
            "a.md",
            [
                "Where do I park my car?",
                "How late may guests arrive?",
                "Who keeps the keys of the gate?",
                "Is breakfast part of the price?",
            ],
        ),
        (
            PLAIN,
            "a.txt",
            [
                "How late can I book a place?",
                "Which animals do you refuse?",
                "Where is the scale for lorries?",
                "Why do I pay for fuel?",
            ],
        ),
        (HTML, "a.html", ["How long are messages kept?", "Where does the broker store data?"]),
        (VIETNAMESE, "a.md", ["Tôi mua vé tháng ở đâu?"]),
        (CHINESE, "a.md", ["读者证丢了怎么办？"]),
    ],
)
def test_the_questions_of_a_document_are_its_own(text: str, name: str, asked: list[str]) -> None:
    assert [each.question for each in own_questions(segments_of(text, name))] == asked


@pytest.mark.parametrize(
    ("question", "offered"),
    [
        ("What is Dan Cruikshank?", False),
        ("What is Buddy?", False),
        ("Perl - Perl là gì?", False),
        ("What does the cross-sectional view in Figure 7-27 show?", False),
        ("什么是 BookStack？", False),
        ("How Do I Reset My Password?", True),
        ("What is a refund?", True),
        ("What does Buddy cost?", True),
        ("Which pump is drawn in Figure 9-1?", True),  # no part of this document has that number
        ("Was ist eine Gutschrift wert?", True),
        ("图书馆几点关门？", True),
    ],
)
def test_questions_of_names_alone_and_of_numbered_figures_are_not_offered(question: str, offered: bool) -> None:
    text = f"# A\n\nFigure 7-27. A cut through the wall.\n\n## {question}\n\nThis is told here.\n"
    assert [each.question for each in own_questions(segments_of(text))] == [question] * offered


def test_the_span_of_a_question_holds_its_answer() -> None:
    segments = segments_of(MARKDOWN)
    whole = "".join(each.text for each in segments)
    found = own_questions(segments)[0]
    assert whole[found.start : found.end].endswith("Behind the mill.")


@given(st.text(alphabet=st.sampled_from("ab1 ?？.:*#|\n-Q"), max_size=400))
def test_any_text_has_short_questions_with_spans_within_it(text: str) -> None:
    part = Segment("d", 0, 7, 7 + len(text), text)
    for each in own_questions([part]):
        assert 7 <= each.start < each.end <= 7 + len(text)
        assert len(each.question) <= LONGEST
    for sentence in first_sentences([part]):
        assert text[sentence["start"] - 7 : sentence["end"] - 7] == sentence["text"]


def test_a_guide_quotes_how_a_document_begins_and_its_headings() -> None:
    text = (
        "# Leave\n\nThis handbook is about the leave of everybody in the company.\n\n"
        "## Annual leave\n\nEvery employee gets 25 days of annual leave a year. It lapses in March.\n\n"
        "## Notice\n\nThe notice period of every contract is three months. Two signatures are wanted for each notice.\n"
    )
    segments = [replace(each, heading="Leave") for each in segments_of(text)]
    whole = "".join(each.text for each in segments)
    sentences, outline = first_sentences(segments), guide_outline(segments)
    assert [each["text"] for each in sentences] == [
        "This handbook is about the leave of everybody in the company.",
        "Every employee gets 25 days of annual leave a year.",
        "The notice period of every contract is three months.",
    ]
    assert [each["text"] for each in outline] == ["Leave", "Annual leave", "Notice"]
    for place in (*sentences, *outline):
        assert whole[place["start"] : place["end"]] == place["text"]


def test_answers_of_a_faq_are_no_beginning() -> None:
    assert (
        first_sentences(segments_of(PLAIN.replace("Until noon.", "Bookings close at noon on the day before."), "a.txt"))
        == []
    )


def test_a_document_without_headings_has_the_lines_of_its_contents() -> None:
    html = "<ul class=toc><li>Opening hours ..... 3</li><li>Fares . . . . . . 12</li></ul><p>We sail daily.</p>"
    segments = segments_of(html, "a.html")
    whole = "".join(each.text for each in segments)
    outline = guide_outline(segments)
    assert [each["text"] for each in outline] == ["Opening hours", "Fares"]
    assert [whole[each["start"] : each["end"]] for each in outline] == ["Opening hours", "Fares"]
