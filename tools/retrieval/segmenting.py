"""Split canonical text into segments that partition it exactly.

Sentences are packed up to a size. A segment ends with its page, or with the sentence that goes on over its end, and
preferably with a block or a headed part. It keeps a heading or a question together with the text after it. Where a file
brings its own paragraphs, or the size is that of a paragraph, each is a segment. Segments don't overlap: retrieval
reads the neighbours of its hits.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from typing import Literal, NamedTuple

from answers.stored_questions import ASKING, ENDS_SECTION
from graph.errors import ConfigurationError
from graph.evidence import SegmentBlock
from text.late_patterns import late_pattern
from text.scripts import HAN, HANGUL, KANA
from text.sentences import sentences
from text.shapes import is_question
from text.words import count_words, cut_near, is_boundary
from tools.parsers.canonical_text import Block, Parsed
from tools.retrieval.structure import LEADING, UNBROKEN, blocks_within, over_pages

Count = Callable[[Sequence[str]], list[int]]
_WORD = re.compile(r"\S+\s*|\s+")
_LINE = re.compile(r"[^\n]*(?:\n\s*|\Z)")
_SLACK = 32  # the counts of single words may add up to a little less than the count of the whole
_MOST_CHARACTERS = 16  # of a token or a word: a very long line of dashes is a large piece, whatever its count


Span = tuple[int, int, Block, bool, bool]


class Piece(NamedTuple):
    """A span that packing never splits. ``weight`` is its count, raised if it has very many characters."""

    start: int
    end: int
    weight: float
    block: Block
    opens: bool  # whether it begins its block
    leads: bool  # whether what follows cannot be understood without it: a heading, a term, a lead-in, a question


def pieces_of(parsed: Parsed, count: Count) -> list[Piece]:
    """Return the sentences, headings, table rows and code lines of a text, in order; joined they are the text."""
    return _measured(parsed.text, list(_whole_graphemes(parsed.text, _spans(parsed))), count)


def fitted(text: str, pieces: Sequence[Piece], limit: float, count: Count) -> Iterator[Piece]:
    """Yield pieces, splitting those that weigh more than ``limit``; a piece after headings leaves room for them."""
    headed = 0.0
    for piece in pieces:
        room = limit - headed if 2 * headed < limit else limit
        if piece.weight > room:
            yield from _shares(text, piece, room, count)
        else:
            yield piece
        headed = headed + piece.weight if piece.leads else 0.0


def _spans(parsed: Parsed) -> Iterator[Span]:
    """Yield the spans of blocks and sentences; white space between blocks belongs to the block before it."""
    text = parsed.text
    blocks = parsed.blocks or (Block(0, len(text), "paragraph"),)
    bounds = [0, *(block.start for block in blocks[1:]), len(text)]
    for at, (block, after, (start, end)) in enumerate(zip(blocks, [*blocks[1:], None], pairwise(bounds), strict=True)):
        body = text[start:end]
        if block.kind in UNBROKEN:
            inner = [(0, len(body))] if body else []
        elif block.kind == "code":
            inner = [line.span() for line in _LINE.finditer(body) if line[0]]
        else:
            inner = sentences(body)
        leads = block.kind in LEADING or (after is not None and at in after.hangs_on)
        goes_on = after is not None and after.kind not in ENDS_SECTION
        for first, last in inner:
            is_last = last == len(body)
            asks = block.kind in ASKING and (goes_on or not is_last) and is_question(body[first:last])
            yield start + first, start + last, block, first == 0, asks or (leads and is_last)


def _whole_graphemes(text: str, spans: Iterator[Span]) -> Iterator[Span]:
    """Join spans of one page whose boundary splits a grapheme: a combining mark may follow a full stop or a space."""
    held: Span | None = None
    for start, end, block, opens, leads in spans:
        if held is not None and held[2].page_idx == block.page_idx and not is_boundary(text, start):
            held = (held[0], end, *held[2:])
            continue
        if held is not None:
            yield held
        held = (start, end, block, opens, leads)
    if held is not None:
        yield held


def _measured(text: str, spans: Sequence[Span], count: Count) -> list[Piece]:
    # Tokenizers attach a space to the next word, so a trailing space is counted with the next span.
    counts = count([text[start:end].removesuffix(" ") for start, end, *_ in spans])
    return [
        Piece(start, end, max(number, (end - start) / _MOST_CHARACTERS), block, opens, leads)
        for (start, end, block, opens, leads), number in zip(spans, counts, strict=True)
    ]


def _shares(text: str, piece: Piece, limit: float, count: Count) -> list[Piece]:
    """Split a piece evenly into pieces up to a limit, between words, or within a word that is too large."""
    words = _measured(
        text, [(*span, piece.block, False, False) for span in _words(text, piece.start, piece.end)], count
    )
    atoms: list[Piece] = []
    for word in words:
        if word.weight <= limit:
            atoms.append(word)
        else:
            cuts = _graphemes(text, word.start, word.end, max(1, int(limit // 8)))
            atoms += _measured(text, [(*span, piece.block, False, False) for span in cuts], count)
    total = sum(atom.weight for atom in atoms)
    close = max(1, limit - limit // _SLACK)
    even = total / -(-total // close)
    shares: list[Piece] = []
    for atom in atoms:
        last = shares[-1] if shares else None
        if last is None or last.weight + atom.weight > close or last.weight + atom.weight / 2 > even:
            shares.append(atom)
        else:
            shares[-1] = last._replace(end=atom.end, weight=last.weight + atom.weight)
    return [shares[0]._replace(opens=piece.opens), *shares[1:]]


def _words(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    opened = start
    for word in _WORD.finditer(text, start, end):
        if word.end() == end or is_boundary(text, word.end()):
            yield opened, word.end()
            opened = word.end()


def _graphemes(text: str, start: int, end: int, length: int) -> Iterator[tuple[int, int]]:
    while start < end:
        cut = min(cut_near(text, start + length, start), end) if end - start > length else end
        yield start, cut
        start = cut


_SHORT = 4  # a run below a fourth of the limit is short, and merges with its neighbour
_FULL_BLOCK = 0.75  # of an even share: from here on, cut at the end of a block

PieceRun = list[Piece]


def pack_pieces(pieces: Sequence[Piece], limit: float) -> list[PieceRun]:
    """Pack the pieces of one page into runs, in order; a run weighs at most ``limit`` unless a single unit weighs more.

    A unit is a piece with the headings, terms and lead-ins before it. Runs follow headed parts: a short part is joined
    with the next, and a part over the limit is split evenly, at the end of a block if one is near.
    """
    parts: list[list[PieceRun]] = []
    filled = 0.0
    for unit in _units(pieces, limit):
        if parts and (unit[0].block.kind != "heading" or filled * _SHORT < limit):
            parts[-1].append(unit)
        else:
            parts.append([unit])
            filled = 0.0
        filled += run_weight(unit)
    return _merged([run for part in parts for run in _shared(part, limit)], limit)


def _units(pieces: Sequence[Piece], limit: float) -> Iterator[PieceRun]:
    held: PieceRun = []
    weight = 0.0
    for piece in pieces:
        if held and weight + piece.weight > limit:
            yield held
            held, weight = [], 0.0
        held.append(piece)
        weight += piece.weight
        if not piece.leads:
            yield held
            held, weight = [], 0.0
    if held:
        yield held


def _shared(units: list[PieceRun], limit: float) -> Iterator[PieceRun]:
    left = sum(map(run_weight, units))
    run: PieceRun = []
    filled = 0.0
    share = left / max(1, -(-left // limit))
    for unit in units:
        heavy = run_weight(unit)
        if run and _cut_here(filled, heavy, unit[0].opens, share, limit):
            yield run
            left -= filled
            share = left / max(1, -(-left // limit))
            run, filled = [], 0.0
        run.extend(unit)
        filled += heavy
    if run:
        yield run


def _cut_here(filled: float, heavy: float, opens: bool, share: float, limit: float) -> bool:
    if filled + heavy > limit:
        return True
    if filled * _SHORT < limit or filled + heavy <= share * _FULL_BLOCK:
        return False
    return filled + heavy / 2 > share or (opens and filled >= share * _FULL_BLOCK)


def _merged(runs: list[PieceRun], limit: float) -> list[PieceRun]:
    merged: list[tuple[PieceRun, float]] = []
    for run in runs:
        heavy = run_weight(run)
        if merged:
            last, before = merged[-1]
            if min(before, heavy) * _SHORT < limit and before + heavy <= limit:
                last.extend(run)
                merged[-1] = (last, before + heavy)
                continue
        merged.append((run, heavy))
    return [run for run, _ in merged]


def run_weight(run: Sequence[Piece]) -> float:
    """Return the total weight of pieces."""
    return sum(piece.weight for piece in run)


_PARAGRAPH = 2_000  # tokens of a paragraph that is to stay whole: some three pages
_CHARACTERS_OF_TOKEN = 4  # in English prose, and of the letters that say as much elsewhere; 1.3 of Han, 2 of kana
_HAN = late_pattern(f"[{HAN}]")
_SYLLABLES = late_pattern(f"[{KANA}{HANGUL}]")
_CLOSEST = 0.5  # below the weight of any letter, so that the run is cut at every grapheme
_CHARACTERS = 6  # of a token or a word; it rarely has more
_SIZE = re.compile(r"([1-9]\d*) (tokens|words)\Z|paragraph\Z")


@dataclass(frozen=True, slots=True)
class SegmentSpan:
    """A segment before it is stored: its span of the canonical text, page, heading path, token count and blocks."""

    segment_index: int
    start: int
    end: int
    page_idx: int | None
    heading: str
    tokens: int
    blocks: tuple[SegmentBlock, ...] = ()


@dataclass(frozen=True, slots=True)
class SegmentSize:
    """The maximum size of a segment, in tokens of every script or in words, or a paragraph, however long."""

    limit: int
    unit: Literal["tokens", "words", "paragraph"] = "tokens"

    @classmethod
    def parse(cls, text: str) -> "SegmentSize":
        """Parse "300 tokens", "1000 words" or "paragraph". Raises ConfigurationError for anything else."""
        found = _SIZE.match(text)
        if found is None:
            raise ConfigurationError(
                f"A segment size must look like '300 tokens', '1000 words' or 'paragraph', not {text!r}."
            )
        if found[1] is None:
            return cls(_PARAGRAPH, "paragraph")
        return cls(int(found[1]), "words" if found[2] == "words" else "tokens")

    def __str__(self) -> str:
        return "paragraph" if self.unit == "paragraph" else f"{self.limit} {self.unit}"


def tokens_of_every_script(count_tokens: Count) -> Count:
    """Return a count by which a paragraph is as large in every script as its translation is.

    The tokens of a model count for texts in ASCII. It knows other words badly: a Vietnamese paragraph would have 2.7
    times as many as the English one. There characters count.
    """

    def count(texts: Sequence[str]) -> list[int]:
        plain = iter(count_tokens([text for text in texts if text.isascii()]))
        return [next(plain) if text.isascii() else _tokens_by_characters(text) for text in texts]

    return count


def _tokens_by_characters(text: str) -> int:
    syllables = len(_SYLLABLES.findall(text))
    han = len(_HAN.findall(text))
    return -(-(len(text) + 2 * han + syllables) // _CHARACTERS_OF_TOKEN)


def segment(parsed: Parsed, size: SegmentSize, count_tokens: Count) -> list[SegmentSpan]:
    """Split a parsed text into segments, in order; joined they are the text. Takes time linear in the text.

    No segment is larger than ``size`` unless it is a single grapheme. ``tokens`` is the count of the whole segment.
    Where the blocks are to stay whole, each is a segment, or several if it is far larger than a paragraph.
    """
    parsed = over_pages(parsed)
    whole_blocks = parsed.whole_blocks or size.unit == "paragraph"
    limit = max(size.limit, _PARAGRAPH) if whole_blocks else size.limit
    count = count_words if size.unit == "words" else tokens_of_every_script(count_tokens)
    if not whole_blocks and _may_be_one(parsed, limit) and count([parsed.text])[0] <= limit:
        first = parsed.blocks[0]
        [blocks] = blocks_within(parsed, [(0, len(parsed.text))])
        [tokens] = count_tokens([parsed.text])
        return [SegmentSpan(0, 0, len(parsed.text), first.page_idx, first.heading, tokens, blocks)]
    parts = groupby(
        pieces_of(parsed, count), key=_block_of(parsed) if whole_blocks else lambda piece: piece.block.page_idx
    )
    runs = [run for _, part in parts for run in _packed(parsed.text, list(part), limit, count)]
    packed = _within_size(parsed.text, runs, limit, count)
    texts = [_text(parsed.text, run) for run, _ in packed]
    counted = [size.unit != "words" and text.isascii() for text in texts]  # in tokens of the model already
    others = iter(count_tokens([text for text, known in zip(texts, counted, strict=True) if not known]))
    numbers = [number if known else next(others) for (_, number), known in zip(packed, counted, strict=True)]
    structure = blocks_within(parsed, [(run[0].start, run[-1].end) for run, _ in packed])
    return [
        SegmentSpan(index, run[0].start, run[-1].end, run[0].block.page_idx, run[0].block.heading, number, blocks)
        for index, ((run, _), number, blocks) in enumerate(zip(packed, numbers, structure, strict=True))
    ]


def _block_of(parsed: Parsed) -> Callable[[Piece], int]:
    """Return what tells of a piece in which block it stands, with the heading before it, or in which table."""
    numbers = {block.start: 0 for block in parsed.blocks[:1]}
    number = 0
    for before, block in pairwise(parsed.blocks):
        stays = before.page_idx == block.page_idx and not parsed.whole_blocks
        joins = before.kind in LEADING or before.kind == block.kind == "table_row"
        number += not (stays and joins)
        numbers[block.start] = number
    return lambda piece: numbers.get(piece.block.start, 0)


def _may_be_one(parsed: Parsed, limit: int) -> bool:
    """Whether a text is so short and plain that it probably fits one segment, so it need not be split first."""
    pages = {block.page_idx for block in parsed.blocks}
    headed = any(block.kind == "heading" for block in parsed.blocks[1:])
    return len(parsed.text) <= _CHARACTERS * limit and len(pages) == 1 and not headed


def _packed(text: str, pieces: PieceRun, limit: float, count: Count) -> list[PieceRun]:
    return pack_pieces(list(fitted(text, pieces, limit, count)), limit)


def _within_size(text: str, runs: list[PieceRun], limit: int, count: Count) -> list[tuple[PieceRun, int]]:
    """Repack runs that exceed the limit as a whole, although their pieces add up to less; return runs and sizes."""
    result: list[tuple[PieceRun, int]] = []
    for run, size in zip(runs, count([_text(text, run) for run in runs]), strict=True):
        smaller = [run]
        if size > limit:
            smaller = _packed(text, run, max(_CLOSEST, run_weight(run) - (size - limit)), count)
        result += _within_size(text, smaller, limit, count) if len(smaller) > 1 else [(run, size)]
    return result


def _text(text: str, run: PieceRun) -> str:
    return text[run[0].start : run[-1].end]
