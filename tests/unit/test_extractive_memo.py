"""The writer of a run measures no sentence again that its grader has measured, and goes by what the grader read."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from graph.evidence import Hit, Segment, SourceKind
from tests.fakes import segment
from tools.extractive import sentence_features
from tools.extractive.reader import QUESTIONS_REMEMBERED, ReaderMemo, rank_by_part, rank_sentences

QUESTION = "How much does a ticket for the ferry cost?"
TEXTS = (
    "The ferry takes 55 minutes. A ticket costs 12 euros.",
    "# Prices\n\n| ticket | price |\n|---|---|\n| adult | 12 euros |\n| child | 6 euros |",
    "The harbour opens at six. The crane is 40 metres high.",
    "渡船要五十五分钟。票价十二元。",
    "---",
)
HITS = [Hit(segment("guide", index, text), 0.9 - index / 10) for index, text in enumerate(TEXTS)]


@pytest.fixture
def measured(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """Note the segments that are measured."""
    noted: list[list[str]] = []
    measure = sentence_features.measure_sentences

    def noting(question: str, segments: Sequence[Segment], pool: Sequence[Any]) -> Any:
        noted.append([segments[index].segment_id for index in dict.fromkeys(each.segment for each in pool)])
        return measure(question, segments, pool)

    monkeypatch.setattr(sentence_features, "measure_sentences", noting)
    return noted


@pytest.mark.parametrize("kind", ["search", "page"])
def test_a_part_of_what_was_read_keeps_its_rank_among_all(measured: list[list[str]], kind: SourceKind) -> None:
    hits = [replace(hit, kind=kind) for hit in HITS]
    memo = ReaderMemo()
    whole = rank_sentences(QUESTION, hits, memo)
    measured.clear()
    again = rank_sentences(QUESTION, [hits[3], hits[1]], memo)
    assert measured == []
    kept = [
        (one.text, score) for one, score in zip(whole.candidates, whole.scores, strict=True) if one.segment in (1, 3)
    ]
    assert [(one.text, score) for one, score in zip(again.candidates, again.scores, strict=True)] == kept
    assert {one.segment for one in again.candidates if one.text.startswith("|")} == {1}
    assert again.answerable == whole.answerable


def test_a_segment_that_has_changed_is_measured_again(measured: list[list[str]]) -> None:
    memo = ReaderMemo()
    rank_sentences(QUESTION, HITS[:1], memo)
    changed = replace(HITS[0], segment=replace(HITS[0].segment, text="A ticket costs 15 euros."))
    assert [each.text for each in rank_sentences(QUESTION, [changed], memo).candidates] == ["A ticket costs 15 euros."]
    assert len(measured) == 2


def test_each_part_of_a_question_is_measured_by_itself_and_few_questions_are_kept(measured: list[list[str]]) -> None:
    memo = ReaderMemo()
    parts = rank_by_part("When does the harbour open? How much does a ticket cost?", HITS[:3], memo)
    assert len(measured) == len(parts) == 2
    for number in range(QUESTIONS_REMEMBERED):
        rank_sentences(f"What is on pier {number}?", HITS[:1], memo)
    measured.clear()
    rank_by_part("When does the harbour open? How much does a ticket cost?", HITS[:3], memo)
    assert len(measured) == 2
