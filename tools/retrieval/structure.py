"""Structure of segments: the blocks in each, with what they hang on, and how it is stored beside the text.

A context slice may be outside of its segment, so its text is stored with it: a row can then be read under its header
without reading another segment.
"""

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from graph.evidence import BlockKind, ContextRole, ContextSlice, SegmentBlock
from text.sentences import sentences, trimmed
from text.words import cut_near
from tools.parsers.canonical_text import PAGE_BREAK, Block, Parsed

LEADING = frozenset[BlockKind]({"heading", "term", "caption", "label"})  # never the end of a segment
UNBROKEN = frozenset[BlockKind]({"heading", "table_row", "term", "caption", "label", "contents"})  # read as one piece
MOST_CONTEXT = 240  # characters of a slice; a longer lead-in is cut at a word
MOST_HEADER = 1_000  # of a header row, whose columns would stand without a name
MOST_SLICES = 6  # that a block hangs on beside its headings
MOST_HEADINGS = 6  # the nearest
_ROLES: dict[BlockKind, ContextRole] = {
    "heading": "heading",
    "term": "term",
    "caption": "caption",
    "table_row": "header",
    "label": "label",
}


def over_pages(parsed: Parsed) -> Parsed:
    """Give the rest of a sentence or a row that goes on over the end of a page to the block that it began in."""
    if PAGE_BREAK not in parsed.text or parsed.whole_blocks or parsed.media_type == "text/plain":
        return parsed  # of whose pages nobody has looked whether their last sentences go on
    blocks: list[Block] = []
    places: list[int] = []  # of the blocks of before among those that are returned
    for block in parsed.blocks:
        own = replace(block, hangs_on=tuple(places[index] for index in block.hangs_on))
        last = blocks[-1] if blocks else own
        if parsed.text[last.end : own.start] == PAGE_BREAK and last.kind == own.kind:
            end = own.end if own.kind in UNBROKEN else _end_of_sentence(parsed.text, last, own)
            blocks[-1] = replace(last, end=trimmed(parsed.text, last.start, end)[1])
            own = replace(own, start=end)
        places.append(len(blocks) - (own.start >= own.end))
        if own.start < own.end:
            blocks.append(own)
    return replace(parsed, blocks=tuple(blocks))


def _end_of_sentence(text: str, before: Block, after: Block) -> int:
    """Return where the sentence ends within ``after`` that the last of ``before`` goes on as; its start if it ends."""
    cuts = [before.start + end for _, end in sentences(text[before.start : after.end])]
    return next(cut for cut in cuts if cut >= after.start)


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
                span = max(block.start, start), min(block.end, end)
                depth = block.depth if block.kind == "heading" else 0
                found.append(SegmentBlock(*span, block.kind, contexts[at], block.anchor, depth))
        yield tuple(found)


def _contexts(parsed: Parsed) -> Iterator[tuple[ContextSlice, ...]]:
    """Yield what each block hangs on: the path of headings above it and its own blocks, the outermost first."""
    known: dict[int, ContextSlice] = {}

    def slice_of(at: int) -> ContextSlice:
        if at not in known:
            known[at] = _slice(parsed.text, parsed.blocks[at])
        return known[at]

    path: list[int] = []
    for at, block in enumerate(parsed.blocks):
        if block.kind == "heading":
            path[max(0, block.depth - 1) :] = [at]
            yield ()
            continue
        above = path[: block.depth][-MOST_HEADINGS:]
        yield tuple(slice_of(index) for index in (*above, *block.hangs_on[-MOST_SLICES:]))


def _slice(text: str, block: Block) -> ContextSlice:
    role: ContextRole = _ROLES.get(block.kind, "lead")
    start, end = block.start, block.end
    if role == "lead":  # of a paragraph that introduces something, its last sentence does
        start, end = ([*sentences(text[start:end])] or [(0, end - start)])[-1]
        start, end = trimmed(text, block.start + start, block.start + end)
    most = MOST_HEADER if role == "header" else MOST_CONTEXT
    if end - start > most:
        end = cut_near(text, start + most, start)
    return ContextSlice(role, start, end, text[start:end])


def named_and_around(blocks: Sequence[SegmentBlock], start: int, end: int, body: str) -> tuple[str, str]:
    """Return what a segment is found by beside its ``body``: the terms that it defines, and what it hangs on outside.

    The path of headings is not among them, since it is a field of its own.
    """
    named = [body[block.start - start : block.end - start] for block in blocks if block.kind == "term"]
    around = {
        each: None
        for block in blocks
        for each in block.context
        if each.role != "heading" and not start <= each.start < end
    }
    return "\n".join(named), "\n".join(each.text for each in around)


def pack_blocks(blocks: Iterable[SegmentBlock]) -> list[Any]:
    """Return blocks as JSON values: the distinct context slices, and each block's span, kind, slices, anchor, depth."""
    slices: dict[ContextSlice, int] = {}
    rows: list[list[Any]] = []
    for block in blocks:
        indexes = [slices.setdefault(each, len(slices)) for each in block.context]
        row = [block.start, block.end, block.kind, indexes, block.anchor, block.depth]
        while not row[-1]:  # a kind is never empty
            row.pop()
        rows.append(row)
    return [[[each.role, each.start, each.end, each.text] for each in slices], rows]


def unpack_blocks(packed: list[Any] | None) -> tuple[SegmentBlock, ...]:
    """Read what ``pack_blocks`` returned; None, of a segment stored without structure, has no blocks.

    Earlier releases also stored what takes a block back, as slices that ``governs``; these are left out.
    """
    if packed is None:
        return ()
    slices = [ContextSlice(*each) if each[0] != "governs" else None for each in packed[0]]
    return tuple(
        SegmentBlock(start, end, kind, _named(slices, rest[0]) if rest else (), *rest[1:3])
        for start, end, kind, *rest in packed[1]
    )


def _named(slices: Sequence[ContextSlice | None], indexes: Sequence[int]) -> tuple[ContextSlice, ...]:
    return tuple(each for at in indexes if (each := slices[at]) is not None)
