"""Where the claims of an answer stand in its text once the marks are written into it."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from api.dialects.holding import Told
from api.dialects.markers import BETWEEN_SECTIONS, JOINER, Mark, pieces, utf16
from graph.evidence import Claim


@dataclass(frozen=True, slots=True)
class Placed:
    """A claim with its place in the marked answer, in UTF-16 units as JavaScript counts; its own marks are outside."""

    claim: Claim
    start: int
    end: int


def placed_claims(sections: Iterable[Told], mark: Mark) -> Iterator[Placed]:
    """Give each claim of the sections that were told with its place in the whole of their marked text."""
    before = 0
    for told in sections:
        marked = "".join(pieces(told, mark))
        starts, ends = _places(told, marked, mark)
        for claim in told.claims:
            start, end = starts[claim["start"]], ends[claim["end"]]
            yield Placed(claim, before + utf16(marked, start), before + utf16(marked, end))
        before += utf16(marked, len(marked))


def _places(told: Told, marked: str, mark: Mark) -> tuple[list[int], list[int]]:
    """Give, for each offset of a section's text, where the marked text goes on there and where it stops there."""
    inserted = dict.fromkeys(range(len(told.text) + 1), 0)
    for claim in told.claims:
        cited = sorted({citation["source_index"] for citation in claim["citations"]})
        inserted[claim["end"]] += len("".join(map(mark, cited)))
    starts, ends = [], []
    place = len(BETWEEN_SECTIONS) if told.place else 0
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
