"""Keep the candidates among which the answer stands, or none where the question seems to have no answer in them."""

import asyncio
from collections.abc import Sequence
from itertools import zip_longest

from graph.evidence import Hit
from graph.ports import Grading
from graph.spending import Meter
from tools.extractive.reader import Reading, read_parts

# Below this chance that the answer is there, all candidates are dropped; ADR 0006 has what other points keep.
ANSWERABLE = 0.5
# A segment is dropped where its best sentence is this far behind the best of all, in log odds of the reader.
KEPT_WITHIN = 6.0
KEPT_AT_MOST = 5


class ExtractiveGrader:
    """RelevanceGrader over the reader's scores; no model."""

    def __init__(self, *, refuse_below: float = ANSWERABLE) -> None:
        self._refuse_below = refuse_below

    async def grade(self, question: str, candidates: Sequence[Hit], *, meter: Meter) -> Grading:
        """Judge all candidates together; the kept stay in the order of their search scores."""
        return await asyncio.to_thread(_grade, question, candidates, self._refuse_below)


def _grade(question: str, hits: Sequence[Hit], refuse_below: float) -> Grading:
    ranked = sorted({hit.segment.segment_id: hit for hit in reversed(hits)}.values(), key=lambda hit: -hit.score)
    readings = read_parts(question, ranked)
    answered = [reading for reading in readings if reading.answerable >= refuse_below]
    ids = [hit.segment.segment_id for hit in ranked]
    if not answered:
        return Grading((), tuple((segment_id, "no sentence in it answers the question") for segment_id in ids))
    keep: set[int] = set()
    for row in zip_longest(*(_leading(reading, ranked) for reading in answered)):
        keep.update(index for index in row if index is not None and len(keep) < KEPT_AT_MOST)
    return Grading(
        tuple((hit.segment.segment_id, hit.score) for index, hit in enumerate(ranked) if index in keep),
        tuple(
            (segment_id, "other segments answer the question better")
            for index, segment_id in enumerate(ids)
            if index not in keep
        ),
    )


def _leading(reading: Reading, ranked: Sequence[Hit]) -> list[int]:
    """Give the segments that hold a sentence near the best one, by search score, then by that sentence."""
    best: dict[int, float] = {}
    for candidate, score in zip(reading.candidates, reading.scores, strict=True):
        best.setdefault(candidate.segment, score)
    within = [index for index in best if best[index] >= reading.scores[0] - KEPT_WITHIN]
    return sorted(within, key=lambda index: (-ranked[index].score, -best[index]))
