"""Entries: the smallest passages of a segment that make sense by themselves.

An entry is a sentence, table row, list item, step or code block together with what it hangs on: its heading, the term
that it defines, the lead-in of its list, the header row of its table, the sentence that its "it" points to. Entries are
what is read, scored, quoted and checked.
"""

import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import pairwise

from answers.entry import Entry
from answers.stored_questions import mark_questions
from graph.evidence import BlockKind, ContextSlice, Segment, SegmentBlock
from text.sentences import sentences, trimmed
from text.shapes import Shape, is_rule, shape_of

ONE_ENTRY = frozenset[BlockKind]({"heading", "table_row", "term", "caption", "label", "contents", "code"})
MOST_CODE = 1200  # characters of a code block that is one entry; a longer one is read by its parts
_KINDS: dict[Shape, BlockKind] = {
    "prose": "paragraph",
    "item": "list_item",
    "row": "table_row",
    "heading": "heading",
    "code": "code",
}
_POINTS_BACK = re.compile(
    r"(?:[-*•]\s+)?(?:(?:it|its|this|these|that|those|they|them|their|he|she|his|her|such|both|either|neither"
    r"|otherwise|instead|however|also|then|so|thus|therefore|but|if so|if not|in (?:this|that|these|such) )\b"
    r"|(?:nó|chúng|họ|điều này|việc này|cái này|tùy chọn này|giá trị này|khi đó|do đó|vì vậy|tuy nhiên)\b"
    r"|(?:ông|bà|anh|chị|cô|cụ|cậu) (?-i:[a-zà-ỹđ])"
    r"|[它他她其这該该此那]|否则|因此|所以|但是?|不过|然而)",
    re.IGNORECASE,
)
# Of these the ones that name nobody: what they point to is further back. "Her sister Ann" does name somebody.
_NAMES_NONE = re.compile(
    r"(?:[-*•]\s+)?(?:(?:it|they|he|she|this|that|these|those)\b|(?:nó|chúng|họ|điều này|việc này)\b"
    r"|(?:ông|bà|anh|chị|cô|cụ|cậu) (?-i:[a-zà-ỹđ])|[它他她这此])",
    re.IGNORECASE,
)
_MOST_INDENT = 16  # characters
_FURTHEST = 4  # sentences back to the one that names what a pronoun points to
_PART_END = re.compile(r"\n[ \t]*\n")


def entries_of(segment: Segment) -> tuple[Entry, ...]:
    """Return the entries of a segment, in order. One without stored structure is read by the form of its text."""
    return entries_in(segment.text, segment.start, segment.blocks)


@lru_cache(maxsize=256)  # some 5 KB each
def entries_in(text: str, offset: int, blocks: tuple[SegmentBlock, ...]) -> tuple[Entry, ...]:
    """Return the entries of a part of a canonical text that begins at an offset, in order."""
    read = list(_read(text, offset, blocks) if blocks else _guess(text, offset))
    return tuple(mark_questions(read, [_begins_line(text, each.start - offset) for each in read]))


def _begins_line(text: str, at: int) -> bool:
    return text[max(0, at - _MOST_INDENT) : at].rstrip(" \t")[-1:] in ("", "\n")


def _read(text: str, offset: int, blocks: tuple[SegmentBlock, ...]) -> Iterator[Entry]:
    # By where they start: a long one is stored cut.
    leading = {each.start for block in blocks for each in block.context if each.role == "lead"}
    headers = {each.start for block in blocks for each in block.context if each.role == "header"}
    past: list[tuple[int, int, str]] = []  # the sentences back to one that names something, the nearest last
    for index, block in enumerate(blocks):
        own = text[block.start - offset : block.end - offset]
        for start, end in _pieces(own, block.kind):
            start, end = trimmed(own, start, end)
            piece = own[start:end]
            if not piece or is_rule(piece):
                continue
            span = block.start + start, block.start + end
            context = block.context
            points_back = bool(past) and block.kind not in ONE_ENTRY and _POINTS_BACK.match(piece) is not None
            if points_back:
                context = (*context, *(ContextSlice("before", *each) for each in dict.fromkeys((past[0], past[-1]))))
            leads = span[0] in leading or (block.kind == "table_row" and span[0] in headers)
            yield Entry(*span, piece, block.kind, index, context, block.anchor, start == 0, leads)
            if block.kind in ONE_ENTRY:
                past = []
            else:
                kept = past[1 - _FURTHEST :] if points_back and _NAMES_NONE.match(piece) else []
                past = [*kept, (*span, piece)]


def _pieces(own: str, kind: BlockKind) -> list[tuple[int, int]]:
    if kind == "code" and len(own) > MOST_CODE:
        cuts = [0, *(found.end() for found in _PART_END.finditer(own)), len(own)]
        return list(pairwise(cuts))
    return [(0, len(own))] if kind in ONE_ENTRY else sentences(own)


def _guess(text: str, offset: int) -> Iterator[Entry]:
    """Yield the sentences of a text as entries of the kind their form shows; a row hangs on the first of its table."""
    header: ContextSlice | None = None
    heading: ContextSlice | None = None
    for index, (start, end) in enumerate(sentences(text)):
        start, end = trimmed(text, start, end)
        if start >= end or is_rule(text[start:end]):
            continue
        piece, span = text[start:end], (offset + start, offset + end)
        kind = _KINDS[shape_of(piece)]
        if kind != "table_row":
            header = None
        if kind == "heading":
            heading = ContextSlice("heading", *span, piece)
            yield Entry(*span, piece, kind, index)
            continue
        yield Entry(*span, piece, kind, index, tuple(each for each in (heading, header) if each is not None))
        if kind == "table_row" and header is None:
            header = ContextSlice("header", *span, piece)
