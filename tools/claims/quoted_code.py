"""Find the code of a source that a block of code in an answer repeats line by line."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from textwrap import dedent

from answers.entries import entries_of
from graph.evidence import Segment, SegmentBlock
from tools.claims.cited_sources import Sources
from tools.claims.source_sentences import SentencePlace

MOST_PLACES = 64  # lines of the sources equal to the first one of a block that are compared with it
_OPENING = re.compile(r"[ \t]*(`{3,}|~{3,})[^`\n]*")
_SAYS = re.compile(r"[^\W_]")


def code_of(text: str, start: int, end: int) -> tuple[str, ...]:
    """Return the lines of a fenced or indented block of code, without fences and common indent; none if it has none."""
    line = text.rfind("\n", 0, start) + 1
    block = text[start if text[line:start].strip() else line : end]
    lines = block.split("\n")
    if opening := _OPENING.fullmatch(lines[0]):
        closing = lines[-1].strip()
        if len(lines) < 2 or set(closing) != {opening[1][0]} or len(closing) < len(opening[1]):
            return ()
        lines = lines[1:-1]
    elif not lines[0][:1].isspace():
        return ()
    code = _without_indent(lines)
    return code if _SAYS.search("\n".join(code)) else ()


def find_code(code: Sequence[str], sources: Sources) -> tuple[SentencePlace, ...]:
    """Return the lines of a source that a block of code repeats, as one place; none where no source has them."""
    for at, segment in enumerate(sources.segments) if code else ():
        for start, end in _places(code, _read(segment.text, segment.start, segment.blocks)):
            return ((at, start, end),)
    return ()


@dataclass(frozen=True, slots=True)
class _Code:
    """The lines of all code in a text, with their offsets, and the places of each by what it says."""

    lines: Sequence[tuple[int, str]]
    places: Mapping[str, Sequence[int]]


@lru_cache(maxsize=256)
def _read(text: str, offset: int, blocks: tuple[SegmentBlock, ...]) -> _Code:
    lines = [line for span in _blocks(text, offset, blocks) for line in _lines(text, *span)]
    places: dict[str, list[int]] = {}
    for place, (_, line) in enumerate(lines):
        places.setdefault(line.strip(), []).append(place)
    return _Code(lines, places)


def _places(code: Sequence[str], known: _Code) -> Iterator[tuple[int, int]]:
    wanted = [line.strip() for line in code]
    for first in known.places.get(wanted[0], ())[:MOST_PLACES]:
        found = known.lines[first : first + len(code)]
        if [line.strip() for _, line in found] != wanted or not _are_next(found):
            continue
        if _without_indent([line for _, line in found]) == tuple(code):
            (start, line), (last, end) = found[0], found[-1]
            yield start + len(line) - len(line.lstrip()), last + len(end.rstrip())


def _are_next(found: Sequence[tuple[int, str]]) -> bool:
    return all(start + len(line) + 1 == following for (start, line), (following, _) in pairwise(found))


def _without_indent(lines: Sequence[str]) -> tuple[str, ...]:
    """Return lines without their common indent, trailing white space, and blank lines around them."""
    return tuple(dedent("\n".join(line.rstrip() for line in lines)).strip("\n").split("\n"))


def _blocks(text: str, offset: int, blocks: tuple[SegmentBlock, ...]) -> Iterator[tuple[int, int]]:
    """Yield the spans of code in a text, from the beginning of a line."""
    if blocks:
        spans = [(block.start, block.end) for block in blocks if block.kind == "code"]
    else:
        entries = entries_of(Segment("", 0, offset, offset + len(text), text))
        spans = [(entry.start, entry.end) for entry in entries if entry.kind == "code"]
    for start, end in spans:
        begin = start - offset
        line = text.rfind("\n", 0, begin) + 1
        yield begin if text[line:begin].strip() else line, end - offset


def _lines(text: str, first: int, last: int) -> Iterator[tuple[int, str]]:
    for line in text[first:last].rstrip().split("\n"):
        yield first, line
        first += len(line) + 1
