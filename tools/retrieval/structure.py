"""Structure of segments: the blocks in each, with what they hang on, and how it is stored beside the text.

A context slice may be outside of its segment, so its text is stored with it: a row can then be read under its header
without reading another segment.
"""

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

from answers.entries import entries_in
from answers.overtaking import STATEMENTS, Correction, Statement, overtaken, stage_of_block
from answers.subjects import namesakes
from graph.evidence import BlockKind, ContextRole, ContextSlice, SegmentBlock, nearest_heading, telling
from text.denials import Wording, corrections, corrects, mark, may_govern_afar, outdates
from text.sentences import sentences, trimmed
from text.values import Stage
from text.words import cut_near
from tools.parsers.canonical_text import Block, Parsed

LEADING = frozenset[BlockKind]({"heading", "term", "caption", "label"})  # never the end of a segment
UNBROKEN = frozenset[BlockKind]({"heading", "table_row", "term", "caption", "label", "contents"})  # read as one piece
MOST_CONTEXT = 240  # characters of a slice; a longer header or lead-in is cut at a word
MOST_SLICES = 6
_AFAR = 100  # blocks before and after a correction
_MOST_CORRECTIONS = 20  # of a document
_MOST_STAGED = 400  # blocks of a document that are compared over versions and dates
_NEAR_CUT = 300  # characters
_ACROSS = 2  # blocks on each side of a cut between segments that may govern each other
_ROLES: dict[BlockKind, ContextRole] = {
    "heading": "heading",
    "term": "term",
    "caption": "caption",
    "table_row": "header",
    "label": "label",
}


def blocks_within(parsed: Parsed, spans: Sequence[tuple[int, int]]) -> Iterator[tuple[SegmentBlock, ...]]:
    """Yield the blocks of each span, in order; the spans partition the text. Takes time linear in blocks and spans."""
    rows = list(_rows(parsed, spans))
    for (row, after), (_, cut) in zip(pairwise(rows), spans, strict=False):
        _govern_across(parsed.text, row, after, cut)
    if len(rows) > 1:
        _correct_afar(parsed.text, rows)
        _overtake_afar(parsed.text, rows)
        _distinguish_namesakes(parsed.text, rows)
    yield from map(tuple, rows)


def _rows(parsed: Parsed, spans: Sequence[tuple[int, int]]) -> Iterator[list[SegmentBlock]]:
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
        yield found


def _govern_across(text: str, row: list[SegmentBlock], after: list[SegmentBlock], cut: int) -> None:
    """Add to the blocks on both sides of a cut between segments what governs them from the other side."""
    if not row or not after or after[0].kind == "heading":
        return
    left, right = row[-_ACROSS:], after[:_ACROSS]
    start, end = left[0].start, right[-1].end
    if not may_govern_afar(text[max(start, cut - _NEAR_CUT) : cut], text[cut : min(end, cut + _NEAR_CUT)]):
        return
    window = [*left, *right]
    if not text[left[-1].end : right[0].start].strip(" ") and left[-1].kind == right[0].kind:  # one block, cut in two
        window[len(left) - 1 : len(left) + 1] = [replace(left[-1], end=right[0].end)]
    for entry in entries_in(text[start:end], start, tuple(window)):
        for each in entry.context:
            if each.role == "governs" and (each.start < cut) != (entry.start < cut):
                side = row if entry.start < cut else after
                at = next(at for at, block in enumerate(side) if block.start <= entry.start < block.end)
                if each not in side[at].context:
                    side[at] = replace(side[at], context=(*side[at].context, each))


def _correct_afar(text: str, rows: list[list[SegmentBlock]]) -> None:
    """Add a correction to the blocks of other segments that it is about, at most the nearest hundred of each side."""
    lowered = text.lower()
    if len(lowered) != len(text):  # a letter such as "İ" moves what follows it
        return
    found = corrections(lowered)
    if not found:
        return
    places = [(row, at) for row in rows for at in range(len(row))]
    starts = [row[at].start for row, at in places]
    for offset in found[:_MOST_CORRECTIONS]:
        here = max(0, bisect_right(starts, offset) - 1)
        row, at = places[here]
        start, end = _sentences_from(text, row[at], offset)
        correction = ContextSlice("governs", start, end, text[start:end], "repeals")
        if row[at].kind not in ("paragraph", "list_item", "quote") or not corrects(Wording.of(correction.text)):
            continue
        whole = Correction.of(correction.text)
        for other, place in places[max(0, here - _AFAR) : here + _AFAR]:
            block = other[place]
            if other is row or block.kind in LEADING or correction in block.context:
                continue
            if any(whole.is_about(text[s:e]) for s, e in _sentences_of(text, block)):
                other[place] = replace(block, context=(*block.context, correction))


def _overtake_afar(text: str, rows: list[list[SegmentBlock]]) -> None:
    """Add to blocks under an older version or date what overtakes them in another segment."""
    staged = [(row, at, stage) for row in rows for at, block in enumerate(row) if (stage := _stage(text, block))]
    orders: dict[tuple[str, str], set[tuple[int, ...]]] = {}
    for *_, (kind, order, rest) in staged:
        orders.setdefault((kind, rest), set()).add(order)
    staged = [each for each in staged if len(orders[each[2][0], each[2][2]]) > 1]
    statements: list[Statement] = []
    places: list[tuple[list[SegmentBlock], int, int, int]] = []
    for row, at, stage in staged[:_MOST_STAGED]:
        block = row[at]
        spans = [trimmed(text, *each) for each in _sentences_of(text, block)] if block.kind not in UNBROKEN else []
        news = any(outdates(Wording.of(text[start:end])) for start, end in spans)
        statements += [Statement(text[start:end], stage, news) for start, end in spans]
        places += [(row, at, start, end) for start, end in spans]
    for old, new in overtaken(statements):
        (row, at, _, _), (other, _, start, end) = places[old], places[new]
        if row is not other:
            end = cut_near(text, start + MOST_CONTEXT, start) if end - start > MOST_CONTEXT else end
            newer = ContextSlice("governs", start, end, text[start:end], "overtakes")
            if newer not in row[at].context:
                row[at] = replace(row[at], context=(*row[at].context, newer))


def _distinguish_namesakes(text: str, rows: list[list[SegmentBlock]]) -> None:
    """Add to blocks the headings of other segments that are named like their own, such as "H30" and "H30 Max"."""
    headings = {each.text: each for row in rows for block in row for each in block.context if each.role == "heading"}
    names = namesakes(headings, text)
    for row in rows if names else ():
        for at, block in enumerate(row):
            others = (headings[each] for each in names.get(nearest_heading(block.context), ()))
            slices = (replace(each, role="governs", kind="narrows") for each in others)
            row[at] = replace(block, context=tuple(dict.fromkeys((*block.context, *slices))))


def _stage(text: str, block: SegmentBlock) -> Stage | None:
    """Return the version or date of the section of a block, or that its first line names."""
    if block.kind not in STATEMENTS:
        return None
    return stage_of_block(text, block.start, nearest_heading(block.context))


def _sentences_of(text: str, block: SegmentBlock) -> list[tuple[int, int]]:
    return [(block.start + start, block.start + end) for start, end in sentences(text[block.start : block.end])]


def _sentences_from(text: str, block: SegmentBlock, offset: int) -> tuple[int, int]:
    """Return the span of the sentence at an offset and of those after it in its block that explain it."""
    spans = _sentences_of(text, block)
    first = next((at for at, each in enumerate(spans) if each[0] <= offset < each[1]), len(spans) - 1)
    last = first
    while last + 1 < len(spans) and spans[last + 1][1] - spans[first][0] <= MOST_CONTEXT:
        last += 1
    return trimmed(text, spans[first][0], spans[last][1])


def _contexts(parsed: Parsed) -> Iterator[tuple[ContextSlice, ...]]:
    """Yield what each block hangs on: headings that govern it, its nearest one, its own blocks, the outermost first."""
    known: dict[int, ContextSlice] = {}

    def slice_of(at: int) -> ContextSlice:
        if at not in known:
            known[at] = _slice(parsed.text, parsed.blocks[at])
        return known[at]

    above: tuple[int, ...] = ()
    outer: list[tuple[int, int]] = []  # headings that govern all below them, such as "Archived", with their depth
    for at, block in enumerate(parsed.blocks):
        if block.kind == "heading":
            outer = [(depth, index) for depth, index in outer if depth < block.depth]
            above = (*(index for _, index in outer[-MOST_SLICES:]), at)
            if mark(Wording.of(parsed.text[block.start : block.end])) is not None:
                outer.append((block.depth, at))
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

    The path of headings is not among them, since it is a field of its own, nor are headings of other things.
    """
    named = [canonical_text[block.start : block.end] for block in blocks if block.kind == "term"]
    around = {each: None for block in blocks for each in telling(block.context) if not start <= each.start < end}
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
    written = [[each.role, each.start, each.end, each.text, each.kind] for each in slices]
    return [[row if row[-1] else row[:-1] for row in written], rows]


def unpack_blocks(packed: list[Any] | None) -> tuple[SegmentBlock, ...]:
    """Read what ``pack_blocks`` returned; None, of a segment stored without structure, has no blocks.

    What governs, but was stored without its kind, is read as a condition: it is quoted with what it governs.
    """
    if packed is None:
        return ()
    slices = [
        ContextSlice(*(each if len(each) > 4 or each[0] != "governs" else (*each, "conditions"))) for each in packed[0]
    ]
    return tuple(
        SegmentBlock(start, end, kind, tuple(slices[at] for at in rest[0]) if rest else (), *rest[1:3])
        for start, end, kind, *rest in packed[1]
    )
