"""Candidate sentences of segments, each classified as prose, list item, table row, heading or code."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from graph.evidence import Segment
from text.sentences import sentences, trimmed
from text.words import ComparableText, comparable_text

Shape = Literal["prose", "item", "row", "heading", "code"]

_HEADING = re.compile(r"#{1,6}\s|[^\n]{1,80}\n(?:=+|-+)\Z")
_ITEM = re.compile(r"(?:[-*+•‣▪]|\(?\d{1,3}[.)])\s")
_STOPPED = re.compile(r"[.!?…。！？；｡।॥؟۔:：][\"'”’»)\]}」』）】》*_`\s]*(?:\[\^?\d+\])*\Z")
_RULE = re.compile(r"[\s|:=_*~`#>.-]+\Z")
_CODE_LINE = re.compile(r"^(?:\$ |[ \t]{2,}\S)", re.MULTILINE)  # a shell prompt, or an indented line
_SHORT_LINE = 60


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
        if start < end and not _RULE.match(text, start, end):
            spans.append((start, end, shape_of(text[start:end])))
    return tuple(spans)


def shape_of(sentence: str) -> Shape:
    """Classify a sentence as prose, list item, table row, heading or code, by its form alone."""
    if sentence.startswith(("```", "~~~")) or _CODE_LINE.search(sentence):
        return "code"
    if sentence.startswith("|") or " | " in sentence:
        return "row"
    if _HEADING.match(sentence):
        return "heading"
    if _ITEM.match(sentence):
        return "item"
    bare = "\n" not in sentence and len(sentence) < _SHORT_LINE and not _STOPPED.search(sentence)
    return "heading" if bare and len(sentence.split()) <= 8 else "prose"


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
