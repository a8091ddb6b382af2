"""Quotes against selected sentences, and CLAPnq's, which tells them."""

from pathlib import Path

import pytest

from evals.cases import sentence_spans, sentences_in
from research.sets.clapnq import load_clapnq
from tests.unit.made_data_sets import write_clapnq

BRIDGE = (
    "The Cedar Bridge was finished in 1911 .",
    "It took the builders of the Cedar Bridge four years .",
    "A bakery in the town sells `` rye '' bread .",
)


def test_quotes_are_matched_to_the_sentences_that_they_share_most_of() -> None:
    text = " ".join(BRIDGE)
    spans = sentence_spans(text, BRIDGE)
    assert [text[start:end] for start, end in spans] == list(BRIDGE)
    assert sentences_in(*spans[1], spans) == {1}
    assert sentences_in(spans[0][0], spans[1][1], spans) == {0, 1}
    assert sentences_in(spans[1][0] + 2, spans[2][0] + 3, spans) == {1}
    with pytest.raises(ValueError, match="substring"):
        sentence_spans(text, ["The bakery in Mill Lane opens at six ."])


def test_references_are_read_as_indices(tmp_path: Path) -> None:
    answerable, unanswerable = load_clapnq(write_clapnq(tmp_path))
    assert answerable.references == (frozenset({0}), frozenset({0, 1}))
    assert unanswerable.references == ()
    assert (answerable.answerable, unanswerable.answerable) == (True, False)
