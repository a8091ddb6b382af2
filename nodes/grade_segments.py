"""Keep the gathered segments that are relevant to the question, and assign each its source index."""

from collections.abc import Collection

from langgraph.runtime import Runtime
from typing_extensions import TypedDict

from answers.citations import NEAREST_SHOWN, describe_sources, rank_candidates
from answers.document_dates import MOST_TOLD
from answers.fusion import repeated_texts
from answers.named_places import hit_of
from graph.context import Context
from graph.events import SourcesGraded, dropped
from graph.evidence import Hit, NearPassage
from graph.ports import Grading, RelevanceGrader, SegmentReader
from graph.reasons import Reason
from graph.rows import SourceRow
from graph.state import State, question_with_passage
from graph.usage import Meter

BELOW = Reason("below_min_score")


class GradeSegmentsUpdate(TypedDict):
    """The run's sources and how far they may answer, what comes nearest, what was graded, and the finished rounds."""

    sources: list[SourceRow]
    answerhood: float | None
    nearest: list[NearPassage]
    beyond_quotes: bool
    graded: list[str]
    repeated: list[str]
    rounds: int


async def grade_segments(
    state: State, runtime: Runtime[Context], *, grader: RelevanceGrader, reader: SegmentReader, meter: Meter
) -> GradeSegmentsUpdate:
    """Grade the new candidates as one batch; a source keeps its index for the whole run.

    Neighbours of a hit are text around it, and segments of a selected page are its parts: they share its index.
    Pages that the user selected stay, unless the grader itself has chosen what answers within them. Of segments with
    the same text, as of a file that was ingested twice, the newest one is graded, and the others are its copies.
    """
    judged = {*state.graded, *state.repeated}
    gathered = {key: row for key, row in rank_candidates(state.candidates).items() if key not in judged}
    floor = runtime.context.min_score
    sources = list(state.sources)
    wanted = [*(row["segment_id"] for row in sources), *gathered]
    by_id = {s.segment_id: s for s in await reader.read_segments(wanted, runtime.context.identity)}
    ranked = [by_id[each] for each in wanted if each in by_id]
    kept_anyway = {*wanted[: len(sources)], *(each for each in gathered if gathered[each]["kind"] == "page")}
    repeated = repeated_texts(ranked, kept_anyway, question=state.standalone_question)
    apart = _without_copies(gathered, repeated)
    candidates = {key: row for key, row in apart.items() if row["score"] >= floor}
    weak = [dropped(key, BELOW) for key in apart if key not in candidates]
    hits = [
        hit_of(row, by_id[row["segment_id"]], state.places) for row in candidates.values() if row["segment_id"] in by_id
    ]
    grading = await grader.grade(question_with_passage(state), hits, meter=meter) if hits else Grading(())
    kept, left_out = (grading.kept, grading.dropped) if grading.chose_in_pages else _with_pages(grading, hits)
    pages = {r["segment_id"].rpartition(":")[0] for r in [*sources, *candidates.values()] if r["kind"] == "page"}
    indices = {_source_of(row, pages): row["index"] for row in sources}
    for segment_id, score in kept:
        row = candidates[segment_id]
        index = indices.setdefault(_source_of(row, pages), len(set(indices.values())) + 1)
        sources.append(SourceRow(**{**row, "index": index, "score": score}))
    runtime.stream_writer(
        SourcesGraded(
            sources=describe_sources(sources, by_id),
            dropped=[
                *(dropped(s, reason) for s, reason in left_out),
                *weak,
            ],
            fallback=grading.fallback,
        )
    )
    return {
        "sources": sources,
        "answerhood": _likelier(state.answerhood, grading.answerable),
        "nearest": sorted([*state.nearest, *grading.nearest], key=lambda each: -each["answerhood"])[:NEAREST_SHOWN],
        "beyond_quotes": grading.beyond_quotes if hits else state.beyond_quotes,
        "graded": [*state.graded, *candidates],
        "repeated": sorted({*state.repeated, *repeated}),
        "rounds": state.rounds + 1,
    }


def _source_of(row: SourceRow, pages: Collection[str]) -> str:
    """Return what a segment is a part of for a reader: a selected page, or a hit and what stands beside it."""
    document_id = row["segment_id"].rpartition(":")[0]
    return document_id if document_id in pages else row.get("beside", row["segment_id"])


def _without_copies(rows: dict[str, SourceRow], repeated: dict[str, str]) -> dict[str, SourceRow]:
    """Return rows without those whose text is repeated; what stands for them has their ids and best score."""
    apart = {key: row for key, row in rows.items() if key not in repeated}
    for key, first in repeated.items():
        if first in apart:
            row, copy = apart[first], rows[key]
            copies = [*row.get("copies", []), key, *copy.get("copies", [])][:MOST_TOLD]
            apart[first] = SourceRow(**{**row, "score": max(row["score"], copy["score"]), "copies": copies})
    return apart


def _likelier(before: float | None, now: float | None) -> float | None:
    """Return the larger chance of an answer of several rounds, whose sources are all shown."""
    known = [chance for chance in (before, now) if chance is not None]
    return round(max(known), 4) if known else None


def _with_pages(grading: Grading, hits: list[Hit]) -> tuple[list[tuple[str, float]], list[tuple[str, str]]]:
    """Return what was kept and dropped, with every selected page kept, first and in reading order."""
    pages = {hit.segment_id: hit.score for hit in hits if hit.kind == "page"}
    return (
        [*pages.items(), *(row for row in grading.kept if row[0] not in pages)],
        [row for row in grading.dropped if row[0] not in pages],
    )
