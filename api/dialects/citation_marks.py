"""Citation marks in the text of an answer, and the offsets of claims once the marks are inserted."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from api.dialects.section_buffer import FinalSection, final_sections
from graph.evidence import Claim, Message, Source

Mark = Callable[[int], str]
BETWEEN_SECTIONS = "\n\n"
# An invisible character that parts what would otherwise be read together.
JOINER = "\u2060"
_LOOKS_LIKE_A_MARK = re.compile(r"\[(?=(?:\^|ref:)?\d+\])", re.IGNORECASE)


def footnote(index: int) -> str:
    """Write ``[^n]``, as Markdown footnotes do."""
    return f"[^{index}]"


def reference(index: int) -> str:
    """Write ``[ref:n]``."""
    return f"[ref:{index}]"


def bracket(index: int) -> str:
    """Write ``[n]``."""
    return f"[{index}]"


def by_position(mark: Mark, sources: Sequence[Source]) -> Mark:
    """Return a mark that counts the sources of a list, for clients that have the list and nothing else.

    It names a source by its 1-based place, which is its index unless the list has lost one, as where its document was
    deleted meanwhile; of a source that is not there it writes nothing.
    """
    places = {source["index"]: place for place, source in enumerate(sources, start=1)}
    return lambda index: mark(places[index]) if index in places else ""


def marked_pieces(told: FinalSection, mark: Mark) -> list[str]:
    """Return a section's text claim by claim, each claim followed by the marks of the sources that it cites.

    Joined they are the section with its marks; no mark is ever cut. A section but the first begins with the blank line
    that parts it from the one before. Where the text itself holds what a reader would take for a mark, such as a
    quoted ``[3]``, a JOINER behind its bracket tells it from ours.
    """
    given = [BETWEEN_SECTIONS] if told.position else []
    behind = 0
    marks = ""
    for claim in sorted(told.claims, key=lambda claim: claim["end"]):
        text = _apart(marks, _own_words(told.text, behind, claim["end"]))
        marks = "".join(map(mark, sorted({citation["source_index"] for citation in claim["citations"]})))
        given.append(text + marks)
        behind = claim["end"]
    given.append(_apart(marks, _own_words(told.text, behind, len(told.text))))
    return _joined(given)


def _own_words(text: str, start: int, end: int) -> str:
    """Return a part of a text with what looks like a mark in it told apart."""
    opened = [match.end() for match in _LOOKS_LIKE_A_MARK.finditer(text) if start < match.end() <= end]
    edges = [start, *opened, end]
    return JOINER.join(text[one:other] for one, other in pairwise(edges))


def _apart(marks: str, text: str) -> str:
    """Keep a parenthesis behind a mark from making a Markdown link of it."""
    return JOINER + text if marks and text.startswith("(") else text


def _joined(given: list[str]) -> list[str]:
    """Keep white space with what follows it, and leave out what is empty."""
    whole: list[str] = []
    space = ""
    for piece in given:
        if piece.strip():
            whole.append(space + piece)
            space = ""
        else:
            space += piece
    if space and whole:
        whole[-1] += space
    return whole


def marked_text(message: Message, mark: Mark) -> str:
    """Write a finished message's answer with its marks, as its stream told it."""
    return "".join(piece for told in final_sections(message) for piece in marked_pieces(told, mark))


def utf16(text: str, offset: int) -> int:
    """Turn an offset in code points into one in UTF-16 units, as JavaScript counts."""
    return len(text[:offset].encode("utf-16-le")) // 2


@dataclass(frozen=True, slots=True)
class PlacedClaim:
    """A claim with its place in the marked answer, in UTF-16 units as JavaScript counts; its own marks are outside."""

    claim: Claim
    start: int
    end: int


def placed_claims(sections: Iterable[FinalSection], mark: Mark) -> Iterator[PlacedClaim]:
    """Yield each claim of the sections that were told with its place in the whole of their marked text."""
    before = 0
    for told in sections:
        marked = "".join(marked_pieces(told, mark))
        starts, ends = _places(told, marked, mark)
        for claim in told.claims:
            start, end = starts[claim["start"]], ends[claim["end"]]
            yield PlacedClaim(claim, before + utf16(marked, start), before + utf16(marked, end))
        before += utf16(marked, len(marked))


def _places(told: FinalSection, marked: str, mark: Mark) -> tuple[list[int], list[int]]:
    """Give, for each offset of a section's text, where the marked text goes on there and where it stops there."""
    inserted = dict.fromkeys(range(len(told.text) + 1), 0)
    for claim in told.claims:
        cited = sorted({citation["source_index"] for citation in claim["citations"]})
        inserted[claim["end"]] += len("".join(map(mark, cited)))
    starts, ends = [], []
    place = len(BETWEEN_SECTIONS) if told.position else 0
    for offset in range(len(told.text) + 1):
        own = told.text[offset : offset + 1]
        ends.append(place)
        place = _past_joiner(marked, place, own)
        if inserted[offset]:
            place = _past_joiner(marked, place + inserted[offset], own)
        starts.append(place)
        place += 1
    return starts, ends


def _past_joiner(marked: str, place: int, own: str) -> int:
    return place + 1 if marked[place : place + 1] == JOINER and own != JOINER else place
