"""What a search found, and how the finds of a second one join it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from graph.evidence import Hit
from graph.ports import SearchQuery
from tools.retrieval.rows import as_segment
from tools.retrieval.statements import NEIGHBOUR_DECAY


@dataclass(frozen=True, slots=True)
class Found:
    """A hit. ``own`` is the score that it was found with, 0 for a neighbour that came along."""

    hit: Hit
    own: float

    @property
    def segment_id(self) -> str:
        return self.hit.segment.segment_id


def as_found(row: tuple[Any, ...]) -> Found:
    """Read a row of ``search_statement``."""
    *segment, own, score = row
    return Found(Hit(as_segment(tuple(segment)), score), own or 0.0)


def join(first: Sequence[Found], more: Sequence[Found], query: SearchQuery) -> list[Found]:
    """Put the finds of two searches in one order: the ``top_k`` best of both, and the neighbours of those.

    Of two finds of one segment the better counts; of equal scores the first search's stands first.
    """
    best: dict[str, Found] = {}
    for each in (*first, *more):
        known = best.get(each.segment_id)
        if known is None or each.own > known.own:
            best[each.segment_id] = each
    top = [each for each in sorted(best.values(), key=lambda each: -each.own) if each.own > 0][: query.top_k]
    kept = {each.segment_id for each in top}
    widened = [
        Found(Hit(each.hit.segment, score), each.own if each.segment_id in kept else 0.0)
        for each in best.values()
        if (score := _widened_score(each, top, query.expand)) >= max(query.min_score, 1e-9)
    ]
    return sorted(widened, key=lambda each: -each.hit.score)


def _widened_score(each: Found, top: Sequence[Found], expand: int) -> float:
    segment = each.hit.segment
    near = [
        found.own * NEIGHBOUR_DECAY ** abs(found.hit.segment.segment_index - segment.segment_index)
        for found in top
        if found.hit.segment.document_id == segment.document_id
        and abs(found.hit.segment.segment_index - segment.segment_index) <= expand
    ]
    return max(near, default=0.0)
