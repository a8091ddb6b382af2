"""Structure of segments: the blocks in each, with what they hang on, and how it is stored beside the text.

A context slice may be outside of its segment, so its text is stored with it: a row can then be read under its header
without reading another segment.
"""

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from graph.evidence import BlockKind, ContextRole, ContextSlice, SegmentBlock
from text.sentences import sentences, trimmed
from text.words import cut_near
from tools.parsers.canonical_text import Block, Parsed

LEADING = frozenset[BlockKind]({"heading", "term", "caption", "label"})  # never the end of a segment
WHOLE = frozenset[BlockKind]({"heading", "table_row", "term", "caption", "label", "contents"})  # read as one piece
MOST_CONTEXT = 240  # characters of a slice; a longer header or lead-in is cut at a word
MOST_SLICES = 6
_ROLES: dict[BlockKind, ContextRole] = {
    "heading": "heading",
    "term": "term",
    "caption": "caption",
    "table_row": "header",
    "label": "label",
}


def blocks_within(parsed: Parsed, spans: Sequence[tuple[int, int]]) -> Iterator[tuple[SegmentBlock, ...]]:
    """Yield the blocks of each span, in order; the spans partition the text. Takes time linear in blocks and spans."""
    contexts = list(_contexts(parsed))
    starts = [block.start for block in parsed.blocks]
    for start, end in spans:
        first = max(0, bisect_right(starts, start) - 1)
        found = []
        for at in range(first, len(starts)):
            block = parsed.blocks[at]
            if block.start >= end:
                break
            if block.end > start:
                found.append(
                    SegmentBlock(max(block.start, start), min(block.end, end), block.kind, contexts[at], block.anchor)
                )
        yield tuple(found)


def _contexts(parsed: Parsed) -> Iterator[tuple[ContextSlice, ...]]:
    """Yield what each block hangs on: its nearest heading, then its own blocks, the outermost first."""
    known: dict[int, ContextSlice] = {}

    def slice_of(at: int) -> ContextSlice:
        if at not in known:
            known[at] = _slice(parsed.text, parsed.blocks[at])
        return known[at]

    above: tuple[int, ...] = ()
    for at, block in enumerate(parsed.blocks):
        if block.kind == "heading":
            above = (at,)
            yield ()
            continue
        yield tuple(slice_of(index) for index in (*above, *block.hangs_on[-MOST_SLICES:]))


def _slice(text: str, block: Block) -> ContextSlice:
    role: ContextRole = _ROLES.get(block.kind, "lead")
    start, end = block.start, block.end
    if role == "lead":  # of a paragraph that introduces something, its last sentence does
        start, end = ([*sentences(text[start:end])] or [(0, end - start)])[-1]
        start, end = trimmed(text, block.start + start, block.start + end)
    if end - start > MOST_CONTEXT:
        end = cut_near(text, start + MOST_CONTEXT, start)
    return ContextSlice(role, start, end, text[start:end])


def named_and_around(blocks: Sequence[SegmentBlock], start: int, end: int, canonical_text: str) -> tuple[str, str]:
    """Return what a segment is found by beside its text: the terms that it defines, and what it hangs on outside.

    The path of headings is not among them, since it is a field of its own.
    """
    named = [canonical_text[block.start : block.end] for block in blocks if block.kind == "term"]
    around = {
        each: None
        for block in blocks
        for each in block.context
        if each.role != "heading" and not start <= each.start < end
    }
    return "\n".join(named), "\n".join(each.text for each in around)


def pack_blocks(blocks: Iterable[SegmentBlock]) -> list[Any]:
    """Return blocks as JSON values: the distinct context slices, and each block's span, kind, slices and anchor."""
    slices: dict[tuple[str, int, int], int] = {}
    written: list[list[Any]] = []
    rows: list[list[Any]] = []
    for block in blocks:
        indexes = []
        for each in block.context:
            key = (each.role, each.start, each.end)
            if key not in slices:
                slices[key] = len(written)
                written.append([each.role, each.start, each.end, each.text])
            indexes.append(slices[key])
        row = [block.start, block.end, block.kind, indexes, block.anchor]
        rows.append(row if block.anchor else row[:-1] if indexes else row[:-2])
    return [written, rows]


def unpack_blocks(packed: list[Any] | None) -> tuple[SegmentBlock, ...]:
    """Read what ``pack_blocks`` returned; None, of a segment stored without structure, has no blocks."""
    if packed is None:
        return ()
    slices = [ContextSlice(*each) for each in packed[0]]
    return tuple(
        SegmentBlock(start, end, kind, tuple(slices[at] for at in rest[0]) if rest else (), *rest[1:])
        for start, end, kind, *rest in packed[1]
    )
