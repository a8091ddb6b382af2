"""Pair the runs of two sentences that stand for each other, but for those that say the same."""

from collections import Counter
from collections.abc import Sequence

from tools.claims import cues
from tools.claims.alignment import Edit
from tools.claims.function_words import DROPPABLE
from tools.claims.polarity import turns
from tools.claims.readings import Reading
from tools.claims.runs import Run, movable, span_of, without

Pair = tuple[Run, Run, Edit]


def pairs_of(source: Reading, claim: Reading, found: Sequence[Edit]) -> list[Pair]:
    """Give the runs of each edit that says another thing, the source's first."""
    return [pair for edit in found if (pair := _pair(source, claim, edit)) is not None]


def coalesced(source: Reading, found: list[Edit]) -> list[Edit]:
    """Join edits that one equal letter parts: two names of a script without spaces may share one by chance."""
    joined: list[Edit] = []
    for edit in found:
        if joined and edit[0] - joined[-1][1] == 1 and edit[2] - joined[-1][3] == 1:
            last = joined[-1]
            if all(token.kind == "letter" for token in source.tokens[last[0] : edit[1]]):
                joined[-1] = (last[0], edit[1], last[2], edit[3])
                continue
        joined.append(edit)
    return joined


def _pair(source: Reading, claim: Reading, edit: Edit) -> Pair | None:
    """Give both runs of an edit, or None where they say the same."""
    i, j, k, m = edit
    a, b = _run(source, i, j), _run(claim, k, m)
    if not a.places and not b.places:
        return None
    if [key.rstrip("?") for key in a.keys] == [key.rstrip("?") for key in b.keys]:
        return None
    if cues.same(source.keys, claim.keys, edit):
        return None
    if (a.places and b.places) and cues.same(source.keys, claim.keys, (*span_of(a), *span_of(b))):
        return None
    return a, b, edit


def _run(reading: Reading, first: int, last: int) -> Run:
    return Run(reading, tuple(place for place in range(first, last) if reading.keys[place] not in DROPPABLE))


def without_moved(pairs: Sequence[Pair]) -> list[Pair] | None:
    """Take out what was only put elsewhere; None where nothing was."""
    lost = Counter(key for a, _, _ in pairs for key in movable(a))
    gained = Counter(key for _, b, _ in pairs for key in movable(b))
    common = lost & gained
    if not common:
        return None
    kept: list[Pair] = []
    left, right = common.copy(), common.copy()
    for a, b, edit in pairs:
        a, b = without(a, left), without(b, right)
        if a.content or b.content or any(map(turns, (a, b))):
            kept.append((a, b, edit))
    return kept
