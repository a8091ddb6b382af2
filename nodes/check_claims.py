"""Check every claim against the text it cites, accept repairs that raise support, and select what to repair next."""

from langgraph.runtime import Runtime
from typing_extensions import TypedDict

from answers.checking import CheckedAnswer, failed_sections
from answers.disagreements import add_disagreements
from answers.surroundings import read_around
from graph.context import Context
from graph.errors import BudgetExhausted, fallback_failure
from graph.evidence import Disagreement, Failure, Section
from graph.ports import ClaimChecker, Judge, SegmentReader
from graph.reasons import Reason
from graph.rows import ClaimRow, DisputeRow
from graph.state import State
from graph.usage import Meter

NOT_REPAIRED = Reason("not_repaired")


class CheckClaimsUpdate(TypedDict):
    """The current answer, its claims, and the sections to write again."""

    sections: list[Section]
    claims: list[ClaimRow]
    checked: list[str]
    disputes: list[DisputeRow]
    disagreements: list[Disagreement]
    repairing: list[int]
    withdrawn: int
    exhausted: str
    fallback: Failure | None


async def check_claims(
    state: State,
    runtime: Runtime[Context],
    *,
    checker: ClaimChecker,
    judge: Judge | None,
    reader: SegmentReader,
    meter: Meter,
) -> CheckClaimsUpdate:
    """Decide what becomes of the claims that failed: after the first draft, and again after a repair.

    What was not checked while it was written is checked first. Failed claims that can't be repaired within the run's
    limits are withdrawn. Where another kept source contradicts what the answer cites, a last section says so and quotes
    both.
    """
    context = runtime.context
    segments = await reader.read_segments([row["segment_id"] for row in state.sources], context.identity)
    around = await read_around(reader, segments, context.identity, state.sources)
    answer = CheckedAnswer(
        state, segments, runtime.stream_writer, around=around, checker=checker, judge=judge, meter=meter
    )
    try:
        if state.repairing:
            await answer.apply_revisions(state.revisions)
        else:
            await answer.check_rest()
            await answer.settle()
    finally:
        await answer.cancel()
    fallback = answer.failure or state.fallback
    failed = failed_sections(answer.claims)
    wants_repair = bool(failed) and state.repairs < context.max_repairs
    repairing = failed if wants_repair and can_afford_repair(meter) else []
    capped = meter.reached_cap() if wants_repair and not repairing else None
    if capped:
        fallback = fallback or fallback_failure(BudgetExhausted(capped), NOT_REPAIRED)
    disagreements: list[Disagreement] = []
    withdrawn = 0
    if not repairing:
        withdrawn = answer.withdraw_failed()
        disagreements = await add_disagreements(answer, state.language, runtime.stream_writer)
    return {
        "sections": answer.sections,
        "claims": answer.claims,
        "checked": answer.checked,
        "disputes": answer.disputes,
        "disagreements": disagreements,
        "repairing": repairing,
        "withdrawn": withdrawn,
        "exhausted": capped or "",
        "fallback": fallback,
    }


def can_afford_repair(meter: Meter) -> bool:
    """Whether the run can afford to write sections again; one call is reserved for that."""
    calls = meter.calls_left is None or meter.calls_left >= meter.calls
    tokens = meter.tokens_left is None or meter.tokens < meter.tokens_left
    return calls and tokens and meter.remaining() != 0.0
