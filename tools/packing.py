"""Pack the pieces of a page into segments of like size that end where the text itself pauses."""

from collections.abc import Iterator, Sequence

from tools.pieces import Piece

_SHORT = 4  # below this fraction of the limit a run is short, and merges with its neighbour
_FULL_BLOCK = 0.75  # of an even share: from here on the end of a block is a good place to cut

Run = list[Piece]


def pack(pieces: Sequence[Piece], limit: float) -> list[Run]:
    """Pack the pieces of one page, in order; a run weighs ``limit`` at most unless a single unit weighs more.

    A unit is a piece with the headings before it. Runs follow headed parts; a short part goes with the next, and a
    part over the limit is shared out evenly, at block ends where one is near.
    """
    parts: list[list[Run]] = []
    filled = 0.0
    for unit in _units(pieces, limit):
        if parts and (unit[0].block.kind != "heading" or filled * _SHORT < limit):
            parts[-1].append(unit)
        else:
            parts.append([unit])
            filled = 0.0
        filled += weight(unit)
    return _merged([run for part in parts for run in _shared(part, limit)], limit)


def _units(pieces: Sequence[Piece], limit: float) -> Iterator[Run]:
    headings: Run = []
    headed = 0.0
    for piece in pieces:
        if headings and headed + piece.weight > limit:
            yield headings
            headings, headed = [], 0.0
        if piece.block.kind == "heading":
            headings.append(piece)
            headed += piece.weight
        else:
            yield [*headings, piece]
            headings, headed = [], 0.0
    if headings:
        yield headings


def _shared(units: list[Run], limit: float) -> Iterator[Run]:
    left = sum(map(weight, units))
    run: Run = []
    filled = 0.0
    share = left / max(1, -(-left // limit))
    for unit in units:
        heavy = weight(unit)
        if run and _cut_here(filled, heavy, unit[0].opens, share, limit):
            yield run
            left -= filled
            share = left / max(1, -(-left // limit))
            run, filled = [], 0.0
        run.extend(unit)
        filled += heavy
    if run:
        yield run


def _cut_here(filled: float, heavy: float, opens: bool, share: float, limit: float) -> bool:
    if filled + heavy > limit:
        return True
    if filled * _SHORT < limit or filled + heavy <= share * _FULL_BLOCK:
        return False
    return filled + heavy / 2 > share or (opens and filled >= share * _FULL_BLOCK)


def _merged(runs: list[Run], limit: float) -> list[Run]:
    merged: list[tuple[Run, float]] = []
    for run in runs:
        heavy = weight(run)
        if merged:
            last, before = merged[-1]
            if min(before, heavy) * _SHORT < limit and before + heavy <= limit:
                last.extend(run)
                merged[-1] = (last, before + heavy)
                continue
        merged.append((run, heavy))
    return [run for run, _ in merged]


def weight(run: Sequence[Piece]) -> float:
    """Add up the weights of pieces."""
    return sum(piece.weight for piece in run)
