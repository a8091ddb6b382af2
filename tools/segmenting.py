"""Cut canonical text into segments that partition it exactly.

Sentences are packed up to a size. A segment never crosses a page end, prefers to end where a block or a headed part
ends, and takes a heading together with what follows it. Nothing overlaps: retrieval reads the neighbours of what it
finds.
"""

import re
from dataclasses import dataclass
from itertools import groupby
from typing import Literal

from graph.errors import ConfigurationError
from tools.packing import Run, pack, weight
from tools.parsers.parsed import Parsed
from tools.pieces import Count, fitted, pieces_of
from tools.words import count_words

_CLOSEST = 0.5  # below the weight of any letter: the run is then cut at every grapheme
_CHARACTERS = 6  # of a token or a word, at the most that is usual
_SIZE = re.compile(r"([1-9]\d*) (tokens|words)\Z")


@dataclass(frozen=True, slots=True)
class SegmentSpan:
    """A segment before it is stored: where it lies in the canonical text, and what is known of its place."""

    segment_index: int
    start: int
    end: int
    page_idx: int | None
    heading: str
    tokens: int


@dataclass(frozen=True, slots=True)
class SegmentSize:
    """How large a segment may become, in tokens of the bundled tokenizer or in words."""

    limit: int
    unit: Literal["tokens", "words"] = "tokens"

    @classmethod
    def parse(cls, text: str) -> "SegmentSize":
        """Read "300 tokens" or "1000 words"; raises ConfigurationError for anything else."""
        found = _SIZE.match(text)
        if found is None:
            raise ConfigurationError(f"A segment size reads like '300 tokens' or '1000 words', not {text!r}.")
        return cls(int(found[1]), "words" if found[2] == "words" else "tokens")

    def __str__(self) -> str:
        return f"{self.limit} {self.unit}"


def segment(parsed: Parsed, size: SegmentSize, count_tokens: Count) -> list[SegmentSpan]:
    """Cut a parsed text into segments, in order; joined they are its text. Takes time linear in the text.

    No segment is larger than ``size`` unless it is a single grapheme. ``tokens`` is counted in the segment as it is.
    """
    count = count_tokens if size.unit == "tokens" else count_words
    if _may_be_one(parsed, size.limit):
        [whole] = count([parsed.text])
        if whole <= size.limit:
            [tokens] = [whole] if size.unit == "tokens" else count_tokens([parsed.text])
            first = parsed.blocks[0]
            return [SegmentSpan(0, 0, len(parsed.text), first.page_idx, first.heading, tokens)]
    pages = groupby(pieces_of(parsed, count), key=lambda piece: piece.block.page_idx)
    runs = [run for _, page in pages for run in _packed(parsed.text, list(page), size.limit, count)]
    packed = _held_to_size(parsed.text, runs, size.limit, count)
    if size.unit == "words":
        counts = count_tokens([_text(parsed.text, run) for run, _ in packed])
        packed = [(run, number) for (run, _), number in zip(packed, counts, strict=True)]
    return [
        SegmentSpan(index, run[0].start, run[-1].end, run[0].block.page_idx, run[0].block.heading, number)
        for index, (run, number) in enumerate(packed)
    ]


def _may_be_one(parsed: Parsed, limit: int) -> bool:
    """Tell a text so short and plain that a look at the whole is likely to spare looking at its sentences."""
    pages = {block.page_idx for block in parsed.blocks}
    headed = any(block.kind == "heading" for block in parsed.blocks[1:])
    return len(parsed.text) <= _CHARACTERS * limit and len(pages) == 1 and not headed


def _packed(text: str, pieces: Run, limit: float, count: Count) -> list[Run]:
    return pack(list(fitted(text, pieces, limit, count)), limit)


def _held_to_size(text: str, runs: list[Run], limit: int, count: Count) -> list[tuple[Run, int]]:
    """Pack anew, more loosely, the runs that are larger as a whole than their pieces add up to; give their sizes."""
    held: list[tuple[Run, int]] = []
    for run, size in zip(runs, count([_text(text, run) for run in runs]), strict=True):
        closer = [run]
        if size > limit:
            closer = _packed(text, run, max(_CLOSEST, weight(run) - (size - limit)), count)
        held += _held_to_size(text, closer, limit, count) if len(closer) > 1 else [(run, size)]
    return held


def _text(text: str, run: Run) -> str:
    return text[run[0].start : run[-1].end]
