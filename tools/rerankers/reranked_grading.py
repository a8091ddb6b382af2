"""Grade candidates by a reranker's scores."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace

from graph.errors import RerankerUnavailable, fallback_failure
from graph.evidence import Hit, Segment
from graph.ports import Grading, RelevanceGrader
from graph.reasons import Reason
from graph.usage import Meter
from tools.rerankers.reranker_endpoint import Reranker

BY_SEARCH = Reason("kept_by_score")

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class RerankedGrader:
    """A RelevanceGrader that drops what a reranker scores below ``min_score``, and lets another grade the rest.

    ``then`` sees the reranker's scores, which become the sources' scores; with ``rescored`` False it sees those of the
    search, for a grader that was fitted on them. Selected pages are not sent. If the reranker fails, ``then`` grades
    all candidates alone, and ``fallback`` states why.
    """

    then: RelevanceGrader
    reranker: Reranker
    min_score: float
    rescored: bool = True

    async def grade(self, question: str, candidates: Sequence[Hit], *, meter: Meter) -> Grading:
        """Grade in as few requests as the endpoint's limits allow; a reranker's requests are no model calls."""
        pages = [hit for hit in candidates if hit.kind == "page"]
        known = {hit.segment_id for hit in pages}
        found = {hit.segment_id: hit for hit in candidates if hit.segment_id not in known}
        if not found:
            return await self.then.grade(question, candidates, meter=meter)
        try:
            texts = [_shown(hit.segment) for hit in found.values()]
            scores = await self.reranker.score(question, texts, seconds=meter.remaining())
        except RerankerUnavailable as error:
            log.warning("%s %s", error.message, BY_SEARCH)
            alone = await self.then.grade(question, candidates, meter=meter)
            return replace(alone, fallback=alone.fallback or fallback_failure(error, BY_SEARCH))
        scored = list(zip(found.values(), scores, strict=True))
        below = tuple(
            (hit.segment_id, Reason("below_reranker", self.min_score)) for hit, s in scored if s < self.min_score
        )
        above = [replace(hit, score=s) if self.rescored else hit for hit, s in scored if s >= self.min_score]
        rest = await self.then.grade(question, [*pages, *above], meter=meter) if pages or above else Grading(())
        return replace(rest, dropped=(*rest.dropped, *below))


def _shown(segment: Segment) -> str:
    """Return a segment below its title and headings, which say what it is about."""
    place = " > ".join(dict.fromkeys(part for part in (segment.title, *segment.heading.split(" > ")) if part))
    return f"{place}\n{segment.text}" if place else segment.text
