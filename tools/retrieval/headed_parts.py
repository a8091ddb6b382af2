"""Parts of a document that begin with a pattern: a heading with what stands under it, or numbered paragraphs."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from graph.evidence import BlockKind, Segment, SegmentBlock
from graph.rows import PlaceSpan
from text.place_references import begins

LONGEST_BEGINNING = 120  # characters
_BEGINNING = frozenset[BlockKind]({"heading", "paragraph", "list_item"})


def span_of(document_id: str, start: int, end: int, first: int, last: int) -> PlaceSpan:
    """Return a contiguous place."""
    return PlaceSpan(document_id=document_id, start=start, end=end, first=first, last=last)


@dataclass(frozen=True, slots=True)
class HeadedPart:
    """A span that begins as a place does; ``is_one_of_several`` where others near it begin so with other numbers."""

    span: PlaceSpan
    is_one_of_several: bool


def parts_beginning(segments: Sequence[Segment], pattern: str, series: str) -> Iterator[HeadedPart]:
    """Yield what begins with a pattern in the segments of one document.

    A heading's part goes as far as the next heading that is no deeper, a paragraph's as far as the next of its series.
    """
    blocks = [(each, one) for each in segments for one in each.blocks]
    own = [_begins(pattern, *each) for each in blocks]
    if not any(own):
        return
    others = [_begins(series, *each) for each in blocks]
    is_one = any(other and not same for same, other in zip(own, others, strict=True))
    for at in (at for at, same in enumerate(own) if same):
        segment, block = blocks[at]
        end = at + 1
        while end < len(blocks) and not _ends(block, blocks[end][1], is_next=others[end] or own[end]):
            end += 1
        last, closing = blocks[end - 1]
        if block.kind != "heading" or end > at + 1:  # not one in a list of contents
            span = span_of(segment.document_id, block.start, closing.end, segment.segment_index, last.segment_index)
            yield HeadedPart(span, is_one)


def _begins(pattern: str, segment: Segment, block: SegmentBlock) -> bool:
    if block.kind not in _BEGINNING:
        return False
    start = block.start - segment.start
    text = segment.text[start : min(start + LONGEST_BEGINNING, block.end - segment.start)]
    return begins(pattern, text, is_heading=block.kind == "heading")


def _ends(opening: SegmentBlock, block: SegmentBlock, *, is_next: bool) -> bool:
    if opening.kind == "heading":
        return block.kind == "heading" and not block.depth > opening.depth > 0
    return is_next or block.kind == "heading"
