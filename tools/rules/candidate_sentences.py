"""Candidate sentences of segments, each classified as prose, list item, table row, heading or code."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from graph.evidence import Segment
from text.sentences import sentences, trimmed
from text.shapes import Shape, is_rule, shape_of
from text.words import ComparableText, comparable_text


@dataclass(frozen=True, slots=True)
class CandidateSentence:
    """A complete sentence of one segment. ``start`` and ``end`` are offsets into the segment's text."""

    segment: int
    start: int
    end: int
    text: str
    shape: Shape
    wording: ComparableText


@lru_cache(maxsize=512)
def _spans(text: str) -> tuple[tuple[int, int, Shape], ...]:
    """Return the quotable sentences of a text; horizontal rules, fences and blank spans are skipped."""
    spans: list[tuple[int, int, Shape]] = []
    for start, end in sentences(text):
        start, end = trimmed(text, start, end)
        if start < end and not is_rule(text[start:end]):
            spans.append((start, end, shape_of(text[start:end])))
    return tuple(spans)


def candidate_sentences(segments: Sequence[Segment], *, unaccented: bool = False) -> list[CandidateSentence]:
    """Return the quotable sentences of segments, in order.

    ``unaccented`` removes the accents from their ``wording``, to match a question written without accents.
    """
    return [
        CandidateSentence(
            index, start, end, segment.text[start:end], shape, comparable_text(segment.text[start:end], unaccented)
        )
        for index, segment in enumerate(segments)
        for start, end, shape in _spans(segment.text)
    ]
