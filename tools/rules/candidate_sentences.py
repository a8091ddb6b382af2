"""Candidates of an answer: the entries of segments, each with its shape and its comparable wording."""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple, get_args

from answers.entries import entries_in
from answers.entry import Entry
from graph.evidence import BlockKind, Segment, SegmentBlock
from text.shapes import Shape
from text.words import ComparableText, comparable_text

SHAPES: Mapping[BlockKind, Shape] = {
    **dict.fromkeys(get_args(BlockKind), "prose"),
    "heading": "heading",
    "term": "heading",
    "caption": "heading",
    "label": "heading",
    "contents": "heading",
    "list_item": "item",
    "table_row": "row",
    "code": "code",
}


class CandidateSentence(NamedTuple):
    """An entry of one segment. ``start`` and ``end`` are offsets into the segment's text.

    A tuple, since a run makes hundreds: a frozen dataclass takes four times as long to make and to change.
    """

    segment: int
    start: int
    end: int
    text: str
    shape: Shape
    wording: ComparableText
    entry: Entry

    def of_segment(self, segment: int) -> "CandidateSentence":
        """Return the same sentence where its segment has another index."""
        return self if segment == self.segment else CandidateSentence(segment, *self[1:])


def candidate_sentences(segments: Sequence[Segment], *, unaccented: bool = False) -> list[CandidateSentence]:
    """Return the entries of segments, in order; those with the shape of a heading are never quoted.

    ``unaccented`` removes the accents from their ``wording``, to match a question written without accents.
    """
    return [
        one.of_segment(index)
        for index, segment in enumerate(segments)
        for one in _of_text(
            segment.text, segment.start, segment.blocks, unaccented=unaccented and not segment.text.isascii()
        )
    ]


@lru_cache(maxsize=320)  # some 25 KB each: a segment that comes up again finds all of its sentences worded, or none
def _of_text(
    text: str, offset: int, blocks: tuple[SegmentBlock, ...], *, unaccented: bool
) -> tuple[CandidateSentence, ...]:
    return tuple(
        CandidateSentence(
            0,
            entry.start - offset,
            entry.end - offset,
            entry.text,
            SHAPES[entry.kind],
            comparable_text(entry.text, unaccented),
            entry,
        )
        for entry in entries_in(text, offset, blocks)
    )
