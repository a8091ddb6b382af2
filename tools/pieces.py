"""The smallest parts that a text is cut into: sentences, lines of code, and shares of a sentence that is too large."""

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from tools.graphemes import cut_near, is_boundary
from tools.parsers.parsed import Block, Parsed
from tools.sentences import sentences

Count = Callable[[Sequence[str]], list[int]]
_WORD = re.compile(r"\S+\s*|\s+")
_LINE = re.compile(r"[^\n]*(?:\n\s*|\Z)")
_SLACK = 32  # words counted one by one may add up to a little less than the whole
_MOST_CHARACTERS = 16  # of a token or a word: a mile of dashes is a large piece, whatever it counts


Span = tuple[int, int, Block, bool]


class Piece(NamedTuple):
    """A span that packing keeps whole. ``weight`` is its count, raised where it has very many characters."""

    start: int
    end: int
    weight: float
    block: Block
    opens: bool  # it begins its block


def pieces_of(parsed: Parsed, count: Count) -> list[Piece]:
    """Give the sentences, headings, rows and lines of code of a text, in order; joined they are the text."""
    return _measured(parsed.text, list(_untorn(parsed.text, _spans(parsed))), count)


def fitted(text: str, pieces: Sequence[Piece], limit: float, count: Count) -> Iterator[Piece]:
    """Share out the pieces that weigh more than ``limit``; a piece after headings leaves room for them."""
    headed = 0.0
    for piece in pieces:
        room = limit - headed if 2 * headed < limit else limit
        if piece.weight > room:
            yield from _shares(text, piece, room, count)
        else:
            yield piece
        headed = headed + piece.weight if piece.block.kind == "heading" else 0.0


def _spans(parsed: Parsed) -> Iterator[Span]:
    """Cut at blocks and sentences; white space between blocks goes with the block before it."""
    text = parsed.text
    blocks = parsed.blocks or (Block(0, len(text), "paragraph"),)
    bounds = [0, *(block.start for block in blocks[1:]), len(text)]
    for block, (start, end) in zip(blocks, pairwise(bounds), strict=True):
        body = text[start:end]
        if block.kind in ("heading", "table_row"):
            inner = [(0, len(body))] if body else []
        elif block.kind == "code":
            inner = [line.span() for line in _LINE.finditer(body) if line[0]]
        else:
            inner = sentences(body)
        for first, last in inner:
            yield start + first, start + last, block, first == 0


def _untorn(text: str, spans: Iterator[Span]) -> Iterator[Span]:
    """Join spans on one page whose border would tear a grapheme: a mark may follow a stop, or a space."""
    held: Span | None = None
    for start, end, block, opens in spans:
        if held is not None and held[2].page_idx == block.page_idx and not is_boundary(text, start):
            held = (held[0], end, *held[2:])
            continue
        if held is not None:
            yield held
        held = (start, end, block, opens)
    if held is not None:
        yield held


def _measured(text: str, spans: Sequence[Span], count: Count) -> list[Piece]:
    # Tokenizers join a space to the word after it, so that the last one is counted there.
    counts = count([text[start:end].removesuffix(" ") for start, end, _, _ in spans])
    return [
        Piece(start, end, max(number, (end - start) / _MOST_CHARACTERS), block, opens)
        for (start, end, block, opens), number in zip(spans, counts, strict=True)
    ]


def _shares(text: str, piece: Piece, limit: float, count: Count) -> list[Piece]:
    """Share a piece out in pieces up to a limit, at word ends, or at graphemes where a word is too large itself."""
    words = _measured(text, [(*span, piece.block, False) for span in _words(text, piece.start, piece.end)], count)
    atoms: list[Piece] = []
    for word in words:
        if word.weight <= limit:
            atoms.append(word)
        else:
            cuts = _graphemes(text, word.start, word.end, max(1, int(limit // 8)))
            atoms += _measured(text, [(*span, piece.block, False) for span in cuts], count)
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
