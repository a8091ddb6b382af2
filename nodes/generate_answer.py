"""Write the answer in sections that cite the kept segments, each checked when it closes, or rewrite failed ones."""

import asyncio
from collections.abc import Callable

from langgraph.runtime import Runtime
from typing_extensions import TypedDict

from answers.checking import CheckedAnswer, has_failed
from answers.drafting import emit_drafts, emit_removed, filter_links
from answers.named_places import around_in_places, hit_of
from answers.notices import with_notices
from answers.surroundings import read_around
from graph.context import Context
from graph.errors import BudgetExhausted, DependencyFailed, fallback_failure
from graph.events import AnyEvent
from graph.evidence import Failure, Hit, Section
from graph.ports import AnswerWriter, ClaimChecker, FaultyClaim, FaultySection, Judge, SegmentReader
from graph.reasons import Reason
from graph.rows import ClaimRow, DisputeRow, RevisionRow
from graph.state import State, question_with_passage
from graph.usage import Meter

NOT_REPAIRED = Reason("left_as_written")
AT_ONCE_SECONDS = 0.03  # from which on a writer waits for a model; reading ahead would only delay one that does not


class GenerateAnswerUpdate(TypedDict, total=False):
    """The sections as written with their claims or, in a repair, the revisions to check."""

    sections: list[Section]
    claims: list[ClaimRow]
    checked: list[str]
    disputes: list[DisputeRow]
    revisions: list[RevisionRow]
    read: int
    fallback: Failure | None


async def generate_answer(
    state: State,
    runtime: Runtime[Context],
    *,
    writer: AnswerWriter,
    checker: ClaimChecker,
    judge: Judge | None,
    reader: SegmentReader,
    meter: Meter,
) -> GenerateAnswerUpdate:
    """Stream the sections as they are written, and check each while the next is being written.

    Revisions are not streamed, since they may be rejected.
    """
    segments = await reader.read_segments([row["segment_id"] for row in state.sources], runtime.context.identity)
    by_id = {segment.segment_id: segment for segment in segments}
    beside = await read_around(reader, segments, runtime.context.identity, state.sources)
    around = around_in_places(state.sources, by_id, beside)
    hits = [
        hit_of(row, by_id[each], state.places, around) for row in state.sources if (each := row["segment_id"]) in by_id
    ]
    if state.repairing:
        return await _repair(state, hits, runtime.stream_writer, writer=writer, meter=meter)
    ahead = asyncio.get_running_loop().call_later(AT_ONCE_SECONDS, checker.read_ahead, segments)
    drafts = writer.write(question_with_passage(state), hits, language=state.language, meter=meter)
    if state.beyond_quotes:
        drafts = with_notices(drafts, state)
    answer = CheckedAnswer(
        state, segments, runtime.stream_writer, around=around, checker=checker, judge=judge, meter=meter
    )
    try:
        await emit_drafts(drafts, runtime.stream_writer, segments=around, answer=answer)
        await answer.settle()
    finally:
        ahead.cancel()
        await answer.cancel()
    return {
        "sections": answer.sections,
        "claims": answer.claims,
        "checked": answer.checked,
        "disputes": answer.disputes,
        "read": state.read if answer.sections else len(state.sources),
        "fallback": answer.failure or state.fallback,
    }


async def _repair(
    state: State, hits: list[Hit], emit: Callable[[AnyEvent], None], *, writer: AnswerWriter, meter: Meter
) -> GenerateAnswerUpdate:
    """Have the failed sections rewritten; where that fails, they are left unchanged."""
    faulty = [_faulty(state, index) for index in state.repairing]
    try:
        revised = await writer.revise(question_with_passage(state), faulty, hits, language=state.language, meter=meter)
    except (BudgetExhausted, DependencyFailed) as error:
        return {"revisions": [], "fallback": fallback_failure(error, NOT_REPAIRED)}
    by_id = {hit.segment.segment_id: hit.segment for hit in hits}
    rows = []
    for each in revised:
        if each.section_index in state.repairing:
            ids = [segment_id for segment_id in each.source_ids if segment_id in by_id]
            text, removed = await asyncio.to_thread(filter_links, each.text, ids, by_id)
            emit_removed(removed, each.section_index, emit)
            rows.append(RevisionRow(section_index=each.section_index, text=text, source_ids=ids))
    return {"revisions": rows}


def _faulty(state: State, index: int) -> FaultySection:
    text = state.sections[index]["text"]
    failed = (row for row in state.claims if row["section_index"] == index and has_failed(row))
    return FaultySection(
        index,
        text,
        tuple(FaultyClaim(text[row["start"] : row["end"]], row["verdict"], tuple(row["reasons"])) for row in failed),
    )
