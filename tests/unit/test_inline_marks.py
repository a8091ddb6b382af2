"""Citation marks in other people's answers: what they name, whose they are, and the text without them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from answers.inline_marks import MarkedAnswer
from text.sentences import sentences, trimmed


def claims(marked: MarkedAnswer) -> list[tuple[int, int]]:
    spans = [trimmed(marked.text, *span) for span in sentences(marked.text)]
    return [marked.written_span(*span) for span in spans if span[0] < span[1]]


def attributed(answer: str) -> list[tuple[str, list[str]]]:
    marked = MarkedAnswer(answer)
    spans = claims(marked)
    named = marked.marks_by_claim(spans)
    return [
        (answer[start:end], [mark.text for mark in marks]) for (start, end), marks in zip(spans, named, strict=True)
    ]


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        ("Leave is 25 days [1].", "Leave is 25 days."),
        ("Leave is 25 days [1], [2].", "Leave is 25 days."),
        ("Leave[^1] is 25 days. [ref:2]", "Leave is 25 days."),
        ("Leave is 25 days [1, 2][3](https://wiki.example/a).", "Leave is 25 days."),
        ("Leave is 25 days [SEG=7a9e0f3c-5a55-4b0e-9b0c-0d3f1f6d2a01:3].", "Leave is 25 days."),
        ("年假为25天【1】。", "年假为25天。"),
        ("[1] Leave is 25 days.\n- [2] Trains.", "Leave is 25 days.\n- Trains."),
        ("Leave is 25 days [1].\n\n[^1]: Handbook, page 3\n", "Leave is 25 days.\n\n"),
        ("Leave is 25 days [1].\n\n## Sources\n\n- [1] Handbook\n", "Leave is 25 days.\n\n"),
        ("In [0, 1], `a[1]` and [2019].\n```\nb[1]\n```\n", "In [0, 1], `a[1]` and [2019].\n```\nb[1]\n```\n"),
        ("[1] All of this\n[2] is listed.", "All of this\nis listed."),
    ],
)
def test_an_answer_without_its_marks_reads_as_written(answer: str, text: str) -> None:
    assert MarkedAnswer(answer).text == text


def test_a_mark_belongs_to_the_claim_that_it_is_in_or_behind() -> None:
    assert attributed("Leave [1] is 25 days. [2] It lapses.[^3]\n\n[4] Trains are second class.") == [
        ("Leave [1] is 25 days.", ["[1]", "[2]"]),
        ("It lapses.", ["[^3]"]),
        ("Trains are second class.", ["[4]"]),
    ]


def test_a_mark_of_another_line_belongs_to_no_claim_before_it() -> None:
    assert attributed("Leave is 25 days.\n\n`x`\n\n...[1]")[0] == ("Leave is 25 days.", [])


@given(st.text(alphabet="ab. \n[]1,^`-#:=SEG()【】*", max_size=80))
def test_what_is_left_is_the_answer_without_some_of_it(answer: str) -> None:
    marked = MarkedAnswer(answer)
    for start, end in claims(marked):
        assert 0 <= start < end <= len(answer)
    for at in range(len(marked.text)):
        start, end = marked.written_span(at, at + 1)
        assert answer[start:end] == marked.text[at]


@pytest.mark.timeout(20)
@pytest.mark.parametrize("piece", ["[1] ", "[1]\n", "`", "```\n", "[1,", "[^1]: a\n", "a `b ", "\n", "[1](((", " "])
def test_no_answer_takes_long(piece: str) -> None:
    MarkedAnswer(piece * (100_000 // len(piece))).marks_by_claim([(0, 1)])
