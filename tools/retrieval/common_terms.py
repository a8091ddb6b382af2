"""Candidates for common terms under a budget: the segments that say most of them, and those that say several.

The rarest terms of a question pick all of their segments, as many terms as most of the budget has room for. The others
are common. Their impact keys tell which segments weigh them most, so the index can name segments where one common term
is at a certain level and another at some level too. Such a combination is a box in a space of one dimension a term.
Boxes are taken by the best score that a segment within can have, split until each has few segments, and handed to the
statement in that order, which looks them up one by one until the rest of the budget is spent.
"""

import heapq
import math
import time
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count

from text.terms import IMPACT_LEVELS, IMPACT_STEP, LEAST_IMPACT, UNSPACED_TERM, QueryTerms, impact_keys
from tools.retrieval.scope import as_array
from tools.retrieval.search_sql import CONSTRAINTS, COVERED_WEIGHT, IDF_POWER
from tools.storage.database import Connection

MOST_COMBINED = CONSTRAINTS  # common terms of a question that pick candidates, the most telling; all of them score
MOST_BOXES = 32
FINE_BOXES = 28  # that are divided; the others are as large as they come, so that no budget is left over
GRAIN = 16  # parts of the budget that a fine box has at most one of
SPARE = 2  # times the budget that boxes are estimated to hold, so that none is left over where they hold less
# Segments of the rarest constraint of a box, of all boxes together: the index goes through these one by one. A
# workspace of some hundred thousand segments reaches it, and then spends less than its budget.
MOST_ENTRIES = 200_000
# Segments from which a library gets the whole budget. A smaller one gets a share in proportion, at least the second
# number: of 22,466 real passages 900 candidates find .995 of the ten best or more.
WHOLE_BUDGET_FROM = 62_500
LEAST_SHARE = 0.4
PICKED = 0.75  # of the budget, which the segments of terms that are not combined may take
UNCOUNTED = 50  # segments that a term is taken to be in which is not counted for being in too few
UNCOUNTED_KEY = 10
KEPT_SECONDS = 60.0
MOST_KEPT = 200_000  # terms
ORDINARY_WEIGHT = 0.9  # of a term that is not at any level


def term_weight(weight: float, segments: int, holding: int) -> float:
    """Return the weight of a question's term: that within the question times its sharpened IDF."""
    return weight * math.pow(math.log(1 + (segments - holding + 0.5) / (holding + 0.5)), IDF_POWER)


@dataclass(frozen=True, slots=True)
class CommonTerm:
    """A term of a question that is in many segments: its ``weight`` in the question, and the segments with it by level.

    ``levels[0]`` counts the segments in which it is at no level, ``levels[n]`` those at level n.
    """

    term: int
    weight: float
    levels: tuple[int, ...]

    @property
    def segments(self) -> int:
        """How many segments hold the term."""
        return sum(self.levels)

    def within(self, first: int, last: int) -> int:
        """Return in how many segments the term is in these of its states; missing, state 0, is not among them."""
        return sum(self.levels[first - 1 : last]) if first > 1 else self.segments


Box = tuple[tuple[int, ...], ...]  # of each constraint the keys of which a segment must have one


@dataclass(frozen=True, slots=True)
class Combinations:
    """The common terms of a question, and the boxes to look their segments up by, the most promising first.

    ``covered_weight`` is the share of the question's weight that the other terms have before further ones need not
    pick. ``budget`` is that of a library of this size; None where it is the scope's.
    """

    terms: frozenset[int] = frozenset()
    boxes: tuple[Box, ...] = ()
    covered_weight: float = COVERED_WEIGHT
    budget: int | None = None


# The range of a term's states in a box, first and last: 0 where it is missing, 1 at no level, n + 1 at level n.
_Range = tuple[int, int]
_STATES = IMPACT_LEVELS + 1
_VALUES = (0.0, ORDINARY_WEIGHT, *(LEAST_IMPACT + IMPACT_STEP * (level + 0.5) for level in range(IMPACT_LEVELS)))


def budget_for(segments: int, budget: int) -> int:
    """Return the part of a search's ``budget`` that a library of so many segments gets."""
    return max(int(LEAST_SHARE * budget), min(budget, budget * segments // WHOLE_BUDGET_FROM))


def combine(terms: Sequence[CommonTerm], segments: int, budget: int) -> tuple[Box, ...]:
    """Return boxes to spend a ``budget`` of ``segments`` on, by falling score; see the module.

    Numbers of segments are estimated as if terms were independent. Terms that go together fill the budget earlier.
    Looking boxes up takes ``MOST_ENTRIES`` entries of the index at most, or what the first box takes.
    """
    chosen = sorted(terms, key=lambda each: -each.weight)[:MOST_COMBINED]
    if not chosen:
        return ()
    order = count()
    waiting = [(0.0, next(order), ((0, _STATES),) * len(chosen))]
    boxes: list[Box] = []
    found, entries = 0.0, 0
    while waiting and found < SPARE * budget and len(boxes) < MOST_BOXES:
        _, _, ranges = heapq.heappop(waiting)
        expected = _expected(chosen, segments, ranges)
        box = tuple(_keys(each.term, *limits) for each, limits in zip(chosen, ranges, strict=True) if limits[0])
        too_large = not box or (expected > budget / GRAIN and len(boxes) < FINE_BOXES)
        if too_large and (halves := _split(chosen, ranges)):
            for half in halves:
                heapq.heappush(waiting, (-_best(chosen, half), next(order), half))
        elif box:
            entries += _entries(chosen, ranges)
            if boxes and entries > MOST_ENTRIES:
                break
            boxes.append(box)
            found += expected
    return tuple(boxes)


def _best(terms: Sequence[CommonTerm], ranges: tuple[_Range, ...]) -> float:
    return sum(each.weight * _VALUES[last] for each, (_, last) in zip(terms, ranges, strict=True))


def _expected(terms: Sequence[CommonTerm], segments: int, ranges: tuple[_Range, ...]) -> float:
    """Return the segments that looking up a box reads: a term that may be missing does not narrow it."""
    within = float(segments)
    for each, (first, last) in zip(terms, ranges, strict=True):
        if first > 0:
            within *= each.within(first, last) / segments
    return within


def _entries(terms: Sequence[CommonTerm], ranges: tuple[_Range, ...]) -> int:
    """Return the index entries that looking up a box goes through: those of its rarest constraint."""
    return min(each.within(*limits) for each, limits in zip(terms, ranges, strict=True) if limits[0])


def _split(terms: Sequence[CommonTerm], ranges: tuple[_Range, ...]) -> list[tuple[_Range, ...]]:
    """Halve a box where its segments' scores differ most; nothing where all of its terms are in one state."""
    spread, at = max(
        (each.weight * (_VALUES[last] - _VALUES[first]), place)
        for place, (each, (first, last)) in enumerate(zip(terms, ranges, strict=True))
    )
    if spread == 0.0:
        return []
    first, last = ranges[at]
    # Segments without a term can't be asked for, so they are split off first.
    middle = 1 if first == 0 else (first + last + 1) // 2
    return [(*ranges[:at], half, *ranges[at + 1 :]) for half in ((middle, last), (first, middle - 1))]


def _keys(term: int, first: int, last: int) -> tuple[int, ...]:
    return (term,) if first == 1 else tuple(impact_keys(term)[first - 2 : last - 1])


@dataclass(slots=True)
class _Library:
    """What is known of a workspace: its ``segments``, 0 where they lack impact keys, and its terms' counts.

    Keys are counted now and then, so that theirs are multiplied by how far the library has ``grown`` since.
    """

    read_at: float
    segments: int
    grown: float
    counts: OrderedDict[int, int]

    def levels(self, term: int, holding: int) -> tuple[int, ...]:
        """Return how many of the segments ``holding`` a term have it at no level, and at each."""
        high = [int(self.counts.get(key, 0) * self.grown) or UNCOUNTED_KEY for key in impact_keys(term)]
        return max(holding - sum(high), 0), *high


class CommonTerms:
    """The common terms of workspaces, counted in the database and kept for a minute.

    They say where to look first, never what is found: a stale count costs some reading.
    """

    def __init__(self) -> None:
        self._libraries: dict[int, _Library] = {}

    async def combinations(self, conn: Connection, workspace: int, asked: QueryTerms, budget: int) -> Combinations:
        """Return the terms of a question that the ``budget`` of segments has no room for, and how to look them up.

        A library that is no larger than the budget is read whole; of others ``budget_for`` says how much is read.
        """
        library = await self._library(conn, workspace, asked, budget)
        if library.segments <= budget:
            return Combinations()
        budget = budget_for(library.segments, budget)
        counted: list[CommonTerm] = []
        for term, weight, unspaced in zip(
            asked.ids.tolist(), asked.weights.tolist(), asked.unspaced.tolist(), strict=True
        ):
            if holding := library.counts.get(term, 0):
                of_all = library.counts.get(UNSPACED_TERM, 0) if unspaced else library.segments
                of_all = max(holding, of_all)  # which was read earlier, and the library may have grown since
                counted.append(CommonTerm(term, term_weight(weight, of_all, holding), library.levels(term, holding)))
        picked, common = UNCOUNTED * (len(asked.ids) - len(counted)), []
        for each in sorted(counted, key=lambda each: -each.weight):
            if picked + each.segments <= PICKED * budget:
                picked += each.segments
            else:
                common.append(each)
        boxes = combine(common, library.segments, max(budget - picked, int((1 - PICKED) * budget)))
        return Combinations(frozenset(each.term for each in common), boxes, covered_weight=1.0, budget=budget)

    async def _library(self, conn: Connection, workspace: int, asked: QueryTerms, budget: int) -> _Library:
        now = time.monotonic()
        library = self._libraries.get(workspace)
        if library is None or now - library.read_at > KEPT_SECONDS:
            found = await (await conn.execute(_LIBRARY, [workspace], prepare=True)).fetchone()
            segments, grown = (0, 1.0) if found is None else found
            library = _Library(now, segments, grown, OrderedDict())
            self._libraries = {n: each for n, each in self._libraries.items() if now - each.read_at <= KEPT_SECONDS}
            self._libraries[workspace] = library
        if library.segments <= budget:
            return library
        unknown = [term for term in (*asked.ids.tolist(), UNSPACED_TERM) if term not in library.counts]
        if unknown:
            wanted = [key for term in unknown for key in (term, *impact_keys(term))]
            counted = await conn.execute(_COUNTS, [workspace, wanted], prepare=True, binary=True)
            library.counts.update(dict.fromkeys(wanted, 0))
            library.counts.update(await counted.fetchall())
            while len(library.counts) > MOST_KEPT:
                library.counts.popitem(last=False)
        return library


def boxes_as_arrays(boxes: Sequence[Box]) -> dict[str, str]:
    """Return the parameters of a search: of each box one constraint each, as array literals; short boxes repeat."""
    return {
        f"box_{place}": as_array(f'"{as_array(map(str, box[min(place, len(box) - 1)]))}"' for box in boxes)
        for place in range(CONSTRAINTS)
    }


_LIBRARY = (
    "SELECT CASE WHEN impacts_from IS NULL THEN segments ELSE 0 END, segments::float8 / greatest(counted_at, 1)"
    " FROM library_statistics WHERE workspace = %s"
)
_COUNTS = "SELECT term, segments FROM term_statistics WHERE workspace = %s AND term = ANY(%s::integer[])"
