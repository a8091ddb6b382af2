"""Keep the candidates among which the answer stands, or none where the question seems to have no answer in them."""

import asyncio
from collections.abc import Sequence

from graph.evidence import Hit
from graph.ports import Grading
from graph.spending import Meter
from tools.extractive.reader import Relevance, read

# Below this chance that the answer is there, all candidates are dropped; other operating points are in ADR 0006.
ANSWERABLE = 0.05
# A segment is dropped where its best sentence is this far behind the best of all, in log odds of the reader.
KEPT_WITHIN = 6.0
KEPT_AT_MOST = 5


class ExtractiveGrader:
    """RelevanceGrader over the reader's scores; no model."""

    def __init__(self, relevance: Relevance) -> None:
        self._relevance = relevance

    async def grade(self, question: str, candidates: Sequence[Hit], *, meter: Meter) -> Grading:
        """Judge all candidates together; the kept stay in the order of their search scores."""
        grading = await asyncio.to_thread(_grade, question, candidates)
        kept = {segment_id for segment_id, _ in grading.kept}
        self._relevance.remember(
            question, {hit.segment.segment_id: hit.score for hit in candidates if hit.segment.segment_id in kept}
        )
        return grading


def _grade(question: str, hits: Sequence[Hit]) -> Grading:
    ranked = sorted({hit.segment.segment_id: hit for hit in reversed(hits)}.values(), key=lambda hit: -hit.score)
    reading = read(question, [hit.segment for hit in ranked], [hit.score for hit in ranked])
    ids = [hit.segment.segment_id for hit in ranked]
    if reading.answerable < ANSWERABLE:
        return Grading((), tuple((segment_id, "no sentence in it answers the question") for segment_id in ids))
    best: dict[int, float] = {}
    for candidate, score in zip(reading.candidates, reading.scores, strict=True):
        best.setdefault(candidate.segment, score)
    within = [index for index in best if best[index] >= reading.scores[0] - KEPT_WITHIN]
    keep = set(sorted(within, key=lambda index: (-ranked[index].score, -best[index]))[:KEPT_AT_MOST])
    return Grading(
        tuple((hit.segment.segment_id, hit.score) for index, hit in enumerate(ranked) if index in keep),
        tuple(
            (segment_id, "other segments answer the question better")
            for index, segment_id in enumerate(ids)
            if index not in keep
        ),
    )
