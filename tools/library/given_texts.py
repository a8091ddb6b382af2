"""Texts that a caller gives to verify claims against, as segments of documents that nobody stores.

Their offsets point into the given text itself, which is split but never rewritten, so that its Markdown stays as it is.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from graph.errors import InvalidRequest
from graph.evidence import Segment
from text.words import count_words
from tools.parsers.canonical_text import Block, Parsed
from tools.retrieval.segmenting import SegmentSize, segment

MOST_TEXTS = 50
MOST_BYTES = 500_000
SIZE = SegmentSize(200, "words")
MOST_HEADINGS = 500  # of a text; what looks like a heading behind them is read as a paragraph
_OPENING = re.compile(r" {0,3}(#{1,6}(?=[ \t])|```+|~~~+)")


@dataclass(frozen=True, slots=True)
class GivenText:
    """A text with what a reader knows of it. ``heading`` is the path of headings that it stands under."""

    text: str
    title: str = ""
    heading: str = ""
    url: str | None = None


def given_segments(texts: Sequence[GivenText]) -> list[Segment]:
    """Split given texts into segments in order, whose ``document_id`` is the 1-based number of their text.

    Blocks: it splits half a megabyte. Raises InvalidRequest for too many texts, too large ones, and blank ones.
    """
    if len(texts) > MOST_TEXTS:
        raise InvalidRequest(
            f"sources: there are {len(texts)} of them, at most {MOST_TEXTS} are accepted.",
            suggestion="Leave out those that the claims don't rest on, or ingest them and verify against the library.",
        )
    size = sum(len(each.text.encode(errors="replace")) for each in texts)
    if size > MOST_BYTES:
        raise InvalidRequest(
            f"sources: their texts have {size:,} bytes, at most {MOST_BYTES:,} are accepted.",
            suggestion="Shorten them, or ingest them and verify against the library.",
        )
    for number, each in enumerate(texts, start=1):
        if not each.text.strip():
            raise InvalidRequest(
                f"sources.{number - 1}.text: it is blank.", suggestion="Leave the source out, or send its text."
            )
    return [each for number, text in enumerate(texts, start=1) for each in _split(text, str(number))]


def _split(given: GivenText, document_id: str) -> Iterator[Segment]:
    number = 0
    for start, end, heading in _parts(given):
        text = given.text[start:end]
        for span in segment(Parsed(text, (Block(0, len(text), "paragraph"),)), SIZE, count_words):
            yield Segment(
                document_id,
                number,
                start + span.start,
                start + span.end,
                text[span.start : span.end],
                heading=heading,
                title=given.title,
                url=given.url,
            )
            number += 1


def _parts(given: GivenText) -> Iterator[tuple[int, int, str]]:
    """Yield the start, end and heading path of each headed part of a Markdown text; joined they are the text.

    A heading with nothing below it belongs to the part after it.
    """
    path: list[tuple[int, str]] = [(0, given.heading)] if given.heading else []
    start = below = 0
    for first, last, level, name in islice(_headings(given.text), MOST_HEADINGS):
        if given.text[below:first].strip():
            yield start, first, " > ".join(each for _, each in path)
            start = first
        path = [*((at, each) for at, each in path if at < level), (level, name)]
        below = last
    yield start, len(given.text), " > ".join(each for _, each in path)


def _headings(text: str) -> Iterator[tuple[int, int, int, str]]:
    """Yield the start, end, level and words of each line that is a Markdown heading, outside fenced code."""
    fence = ""
    start = 0
    for line in text.splitlines(keepends=True):
        found = _OPENING.match(line)
        sign = found[1] if found else ""
        if fence:
            fence = "" if sign.startswith(fence) else fence
        elif sign[:1] in ("`", "~"):
            fence = sign
        elif sign and (words := line.strip().strip("#").strip()):
            yield start, start + len(line), len(sign), words
        start += len(line)
