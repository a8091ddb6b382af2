"""Citation marks in the text of an answer, and the offsets of claims in the marked text."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

from api.dialects.section_buffer import FinalSection, final_sections
from graph.evidence import Claim, Message, Source

Mark = Callable[[int], str]
BETWEEN_SECTIONS = "\n\n"
# An invisible character that separates characters which clients would otherwise parse together.
JOINER = "\u2060"
_LOOKS_LIKE_A_MARK = re.compile(r"\[(?=(?:\^|ref:)?\d+\])", re.IGNORECASE)


def footnote(index: int) -> str:
    """Return ``[^n]``, a Markdown footnote mark."""
    return f"[^{index}]"


def reference(index: int) -> str:
    """Return ``[ref:n]``."""
    return f"[ref:{index}]"


def bracket(index: int) -> str:
    """Return ``[n]``."""
    return f"[{index}]"


def by_position(mark: Mark, sources: Sequence[Source]) -> Mark:
    """Return a mark that numbers sources by their 1-based position in a list, for clients that have only the list.

    The position is the index of the source unless the list has lost one, for example because its document was deleted.
    The mark of a source that is not in the list is empty.
    """
    places = {source["index"]: place for place, source in enumerate(sources, start=1)}
    return lambda index: mark(places[index]) if index in places else ""


def marked_pieces(section: FinalSection, mark: Mark) -> list[str]:
    """Return a part of a section in pieces, each a claim followed by the marks of the sources that it cites.

    Joined, the pieces are the marked section; no mark is split. Every section except the first begins with the blank
    line that separates it from the one before. If the text itself contains what looks like a mark, such as a quoted
    ``[3]``, a JOINER after its bracket distinguishes it from ours.
    """
    pieces = [BETWEEN_SECTIONS] if section.position and not section.start else []
    start = section.start
    before = (claim for claim in section.claims if claim["end"] == section.start)
    marks = "".join(mark(each["source_index"]) for claim in before for each in claim["citations"])
    for claim in sorted(section.new_claims, key=lambda claim: claim["end"]):
        text = _no_link(marks, _without_lookalikes(section.text, start, claim["end"]))
        marks = "".join(map(mark, sorted({citation["source_index"] for citation in claim["citations"]})))
        pieces.append(text + marks)
        start = claim["end"]
    pieces.append(_no_link(marks, _without_lookalikes(section.text, start, len(section.text))))
    return _joined(pieces)


def _without_lookalikes(text: str, start: int, end: int) -> str:
    """Return part of a text, with a JOINER in everything that looks like a mark."""
    opened = [match.end() for match in _LOOKS_LIKE_A_MARK.finditer(text) if start < match.end() <= end]
    edges = [start, *opened, end]
    return JOINER.join(text[one:other] for one, other in pairwise(edges))


def _no_link(marks: str, text: str) -> str:
    """Return the text, with a JOINER first if its parenthesis would turn the marks before it into a Markdown link."""
    return JOINER + text if marks and text.startswith("(") else text


def _joined(pieces: list[str]) -> list[str]:
    """Merge blank pieces into the next piece, or into the last one at the end; drop empty ones."""
    merged: list[str] = []
    space = ""
    for piece in pieces:
        if piece.strip():
            merged.append(space + piece)
            space = ""
        else:
            space += piece
    if space and merged:
        merged[-1] += space
    return merged


def marked_text(message: Message, mark: Mark) -> str:
    """Return a finished message's answer with its marks, as its stream sent it."""
    return "".join(piece for section in final_sections(message) for piece in marked_pieces(section, mark))


def utf16(text: str, offset: int) -> int:
    """Convert an offset in code points to UTF-16 units, as JavaScript counts."""
    return len(text[:offset].encode("utf-16-le")) // 2


@dataclass(frozen=True, slots=True)
class PlacedClaim:
    """A claim with its span in the marked answer, in UTF-16 units as JavaScript counts; its own marks are outside."""

    claim: Claim
    start: int
    end: int


def placed_claims(sections: Iterable[FinalSection], mark: Mark) -> Iterator[PlacedClaim]:
    """Yield each claim of the sections with its span in their joined marked text."""
    before = 0
    for section in sections:
        marked = "".join(marked_pieces(section, mark))
        starts, ends = _places(section, marked, mark)
        for claim in section.new_claims:
            start, end = starts[claim["start"]], ends[claim["end"]]
            yield PlacedClaim(claim, before + utf16(marked, start), before + utf16(marked, end))
        before += utf16(marked, len(marked))


def with_latest_verdicts(placed: Iterable[PlacedClaim], latest: Callable[[Claim], Claim]) -> list[PlacedClaim]:
    """Return claims as they were sent, with the verdicts that they have now."""
    return [replace(each, claim=latest(each.claim)) for each in placed]


def judgement_fields(claim: Claim) -> dict[str, Any]:
    """Return who gave a claim's verdict: ``by``, and ``judge`` with its exam; neither where nobody decided."""
    fields: dict[str, Any] = {}
    if "by" in claim:
        fields["by"] = claim["by"]
    if "judge" in claim:
        fields["judge"] = claim["judge"]
    return fields


def _places(section: FinalSection, marked: str, mark: Mark) -> tuple[list[int], list[int]]:
    """Return two lists of positions in the marked text, by offset of the section's text.

    The first has the position where text that starts at the offset starts, after any marks; the second the one where
    text that ends there ends, before them.
    """
    inserted = dict.fromkeys(range(len(section.text) + 1), 0)
    for claim in section.new_claims:
        cited = sorted({citation["source_index"] for citation in claim["citations"]})
        inserted[claim["end"]] += len("".join(map(mark, cited)))
    starts, ends = [0] * section.start, [0] * section.start
    place = len(BETWEEN_SECTIONS) if section.position and not section.start else 0
    for offset in range(section.start, len(section.text) + 1):
        own = section.text[offset : offset + 1]
        ends.append(place)
        place = _past_joiner(marked, place, own)
        if inserted[offset]:
            place = _past_joiner(marked, place + inserted[offset], own)
        starts.append(place)
        place += 1
    return starts, ends


def _past_joiner(marked: str, place: int, own: str) -> int:
    return place + 1 if marked[place : place + 1] == JOINER and own != JOINER else place
