"""Keep the gathered segments that bear on the question, and give each its index."""

from langgraph.runtime import Runtime
from typing_extensions import TypedDict

from graph.context import Context
from graph.events import Dropped, SourcesGraded
from graph.evidence import Hit
from graph.ports import RelevanceGrader, SegmentReader
from graph.sources import describe, strongest
from graph.spending import Meter
from graph.state import SourceRow, State

BELOW = "scored below min_score"


class GradeSegmentsUpdate(TypedDict):
    """The run's sources so far."""

    sources: list[SourceRow]


async def grade_segments(
    state: State, runtime: Runtime[Context], *, grader: RelevanceGrader, reader: SegmentReader, meter: Meter
) -> GradeSegmentsUpdate:
    """Grade all candidates as one batch; indices are appended to and never change within a run."""
    gathered = strongest(state.candidates)
    floor = runtime.context.min_score
    candidates = {segment_id: row for segment_id, row in gathered.items() if row["score"] >= floor}
    weak = [Dropped(segment_id=segment_id, reason=BELOW) for segment_id in gathered if segment_id not in candidates]
    texts = await reader.read_segments(list(candidates), runtime.context.identity)
    by_id = {segment.segment_id: segment for segment in texts}
    hits = [
        Hit(by_id[row["segment_id"]], row["score"], row["kind"])
        for row in candidates.values()
        if row["segment_id"] in by_id
    ]
    if not hits:
        runtime.stream_writer(SourcesGraded(sources=[], dropped=weak))
        return {"sources": []}
    grading = await grader.grade(state.standalone_question, hits, meter=meter)
    sources = list(state.sources)
    known = {row["segment_id"] for row in sources}
    for segment_id, score in grading.kept:
        if segment_id not in known:
            kind = candidates[segment_id]["kind"]
            sources.append(SourceRow(index=len(sources) + 1, segment_id=segment_id, kind=kind, score=score))
    runtime.stream_writer(
        SourcesGraded(
            sources=[describe(row, by_id[row["segment_id"]]) for row in sources if row["segment_id"] in by_id],
            dropped=[*(Dropped(segment_id=s, reason=reason) for s, reason in grading.dropped), *weak],
            fallback=grading.fallback,
        )
    )
    return {"sources": sources}
