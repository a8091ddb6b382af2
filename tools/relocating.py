"""Where quotes stand in a later version of the text that they were taken from."""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field

from tools.word_edges import cuts_word


@dataclass(frozen=True, slots=True, order=True)
class Quoted:
    """A quote, where it stood, and the headings that it stood under, which tell repeated quotes apart."""

    start: int
    quote: str
    heading: str = field(default="", compare=False)


def relocate(
    quotes: Collection[Quoted],
    text: str,
    *,
    edges: Collection[int] = (),
    heading_at: Callable[[int], str] = lambda _: "",
) -> dict[Quoted, int]:
    """Give the offset at which each quote stands in ``text``; one that does not stand there is left out.

    The same quote at its old place has stayed. Elsewhere it has moved; where its words stand in several places, what is
    around it tells: the nearest quote whose place is certain has gone as far, else the heading is the same, else quotes
    of the same words keep their order and go no farther than they must. They share no place while there are enough.
    White space counts: a quote stands where every character of it does. A place within a longer word or number is
    none, unless the text is cut there: ``edges`` are offsets where it is.
    """
    cuts = frozenset(edges)
    alike: dict[str, list[Quoted]] = defaultdict(list)
    for quoted in sorted(set(quotes)):
        alike[quoted.quote].append(quoted)
    places = {words: _occurrences(words, text, cuts) for words in alike}
    found = {quoted: quoted.start for words in alike for quoted in alike[words] if _holds(places[words], quoted.start)}
    for words, same in alike.items():
        if len(same) == 1 and len(places[words]) == 1:
            found.setdefault(same[0], places[words][0])
    anchors = sorted((quoted.start, at - quoted.start) for quoted, at in found.items())
    for words, same in alike.items():
        moved = [quoted for quoted in same if quoted not in found]
        taken = {found.get(quoted) for quoted in same}
        free = [at for at in places[words] if at not in taken] or places[words]
        if moved and free:
            found |= _tell_apart(moved, free, anchors, heading_at)
    return found


def _tell_apart(
    moved: Sequence[Quoted],
    free: Sequence[int],
    anchors: Sequence[tuple[int, int]],
    heading_at: Callable[[int], str],
) -> dict[Quoted, int]:
    """Give each of some quotes of the same words one of the places that are free."""
    shifts = {quoted: _shift(quoted, anchors) for quoted in moved}
    found = {quoted: at for quoted in moved if anchors and _holds(free, at := quoted.start + shifts[quoted])}
    under: dict[str, list[int]] = defaultdict(list)
    for at in free:
        if at not in found.values():
            under[heading_at(at)].append(at)
    for heading, places in under.items():
        same = [quoted for quoted in moved if quoted not in found and quoted.heading == heading != ""]
        if len(same) <= len(places):
            found |= _in_order(same, places, shifts)
    rest = [quoted for quoted in moved if quoted not in found]
    return found | _in_order(rest, [at for at in free if at not in found.values()] or free, shifts)


def _shift(quoted: Quoted, anchors: Sequence[tuple[int, int]]) -> int:
    """Tell how far the nearest quote whose place is certain has gone."""
    return min(anchors, key=lambda anchor: abs(anchor[0] - quoted.start))[1] if anchors else 0


def _occurrences(quote: str, text: str, cuts: frozenset[int]) -> list[int]:
    """Give every offset at which a quote stands by itself, in order; overlapping ones too."""
    found: list[int] = []
    at = text.find(quote) if quote else -1
    while at >= 0:
        end = at + len(quote)
        if (at in cuts or not cuts_word(text, at)) and (end in cuts or not cuts_word(text, end)):
            found.append(at)
        at = text.find(quote, at + 1)
    return found


def _holds(places: Sequence[int], at: int) -> bool:
    place = bisect_left(places, at)
    return place < len(places) and places[place] == at


def _in_order(quotes: Sequence[Quoted], places: Sequence[int], shifts: Mapping[Quoted, int]) -> dict[Quoted, int]:
    """Give each quote a place so that the places rise and are the least way off; with too few, each its nearest."""
    costs = [[abs(at - quoted.start - shifts[quoted]) for at in places] for quoted in quotes]
    if len(quotes) > len(places):
        return {quoted: places[row.index(min(row))] for quoted, row in zip(quotes, costs, strict=True)}
    # best[q][p]: the least that the first q quotes cost within the first p places
    best: list[list[float]] = [[0.0] * (len(places) + 1)]
    for q, row in enumerate(costs):
        line = [float("inf")] * (len(places) + 1)
        for p in range(q, len(places)):
            line[p + 1] = min(line[p], best[q][p] + row[p])
        best.append(line)
    found: dict[Quoted, int] = {}
    p = len(places)
    for q in range(len(quotes), 0, -1):
        while best[q][p - 1] <= best[q][p]:
            p -= 1
        p -= 1
        found[quotes[q - 1]] = places[p]
    return found
