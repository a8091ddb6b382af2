"""The order in which a slide's shapes are seen: from top to bottom and left to right, or column by column.

A file keeps shapes in the order in which they were drawn, one above the other. A slide is cut where a gap goes through
all of it, across first, and down first where that is how the file itself has nearly all of them.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

_MOST = 200  # shapes; more are a drawing
_MOST_UNLIKE = 0.1  # of the pairs
_OVERLAP = 0.1  # of a shape's side: frames are larger than their words


@dataclass(frozen=True, slots=True)
class Place:
    """Where a shape is drawn, in any unit."""

    left: float
    top: float
    width: float
    height: float


def around(places: Sequence[Place]) -> Place:
    """Return the place of some shapes together."""
    left, top = min(each.left for each in places), min(each.top for each in places)
    right = max(each.left + each.width for each in places)
    bottom = max(each.top + each.height for each in places)
    return Place(left, top, right - left, bottom - top)


def as_seen(places: Sequence[Place | None]) -> list[int]:
    """Return the order of shapes by their indexes; as in the file where one has no known place."""
    known = {at: place for at, place in enumerate(places) if place is not None}
    if len(known) < len(places) or len(known) > _MOST:
        return list(range(len(places)))
    rows, columns = (_cut(list(known), known, across) for across in (True, False))
    is_by_column = _unlike(columns) < min(_unlike(rows), _MOST_UNLIKE)
    return columns if is_by_column else rows


def _unlike(order: list[int]) -> float:
    """Return which part of all pairs of shapes the file has the other way round."""
    pairs = [first > second for first, second in combinations(order, 2)]
    return sum(pairs) / max(len(pairs), 1)


def _cut(shapes: list[int], places: dict[int, Place], across: bool) -> list[int]:
    groups = _groups(shapes, places, across)
    if len(groups) == 1:  # no gap this way: a title above two columns is cut off, and the columns stay together
        first, *others = _groups(shapes, places, not across)
        groups = [first]
        for group in others:
            if len(_groups(groups[-1] + group, places, across)) > 1:
                groups[-1] = groups[-1] + group
            else:
                groups.append(group)
    if len(groups) > 1:
        return [each for group in groups for each in _cut(group, places, across)]
    return sorted(shapes, key=lambda at: (places[at].top, places[at].left))


def _groups(shapes: list[int], places: dict[int, Place], across: bool) -> list[list[int]]:
    sides = {}
    for at in shapes:
        place = places[at]
        start, length = (place.top, place.height) if across else (place.left, place.width)
        sides[at] = (start + length * _OVERLAP, start + length * (1 - _OVERLAP))
    groups: list[list[int]] = []
    end = float("-inf")
    for at in sorted(shapes, key=lambda each: sides[each]):
        if not groups or sides[at][0] > end:
            groups.append([])
        groups[-1].append(at)
        end = max(end, sides[at][1])
    return groups
