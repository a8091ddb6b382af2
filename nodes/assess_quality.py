"""Derive an assessment of the answer from its verdicts, and end the run."""

from collections.abc import Sequence
from typing import Literal

from langgraph.runtime import Runtime
from typing_extensions import TypedDict

from answers.checking import assessed, question_coverage
from graph.context import Context
from graph.errors import BudgetExhausted, DependencyFailed, fallback_failure
from graph.events import AnswerAssessed
from graph.evidence import Assessment, Failure, StopReason, answer_text
from graph.ports import QualityAssessor, SegmentReader
from graph.reasons import Reason
from graph.rows import ClaimRow
from graph.state import State
from graph.usage import STOP_REASONS, Meter

BY_VERDICTS = Reason("assessed_by_verdicts")


class AssessQualityUpdate(TypedDict):
    """The assessment, and how the run ends."""

    assessment: Assessment
    outcome: Literal["answered"]
    stop_reason: StopReason


async def assess_quality(
    state: State,
    runtime: Runtime[Context],
    *,
    assessor: QualityAssessor | None,
    reader: SegmentReader,
    meter: Meter,
) -> AssessQualityUpdate:
    """Derive support and utility from the verdicts and from how much of the question the answer and its quotes cover.

    The last sections, which report disagreements between sources, are the run's own words and are left out, unless all
    that the answer says is told there. A model's score is requested only where the run asks for it, and is reported
    next to the derived ones.
    """
    written = state.sections[: len(state.sections) - len(state.disagreements)]
    if not answer_text(written):
        written = state.sections
    claims = [row for row in state.claims if row["section_index"] < len(written)]
    answer = answer_text([section for section in written if "notice" not in section])
    covered = question_coverage(state.standalone_question, [answer, *await _cited(claims, runtime.context, reader)])
    score, failure = None, None
    if assessor is not None and runtime.context.assess_with_model:
        score, failure = await _model_score(assessor, state, answer, meter)
    assessment = assessed(claims, covered)
    assessment["model_score"] = score
    assessment["answerhood"] = state.answerhood if state.answerhood is not None else score
    runtime.stream_writer(AnswerAssessed(**assessment, fallback=state.fallback or failure))
    return {"assessment": assessment, "outcome": "answered", "stop_reason": final_stop_reason(state, meter)}


def final_stop_reason(state: State, meter: Meter) -> StopReason:
    """Return why the run ends: a budget cap first, then withdrawn claims, else a complete answer."""
    if capped := STOP_REASONS.get(state.exhausted or meter.exhausted or ""):
        return capped
    return "repairs_used_up" if state.withdrawn else "answer_complete"


async def _model_score(
    assessor: QualityAssessor, state: State, answer: str, meter: Meter
) -> tuple[float | None, Failure | None]:
    """Return the model's score, or why there is none; it is not called where a budget cap cut a more important step."""
    try:
        if state.exhausted:
            raise BudgetExhausted(state.exhausted)
        return round(await assessor.assess(state.standalone_question, answer, meter=meter), 4), None
    except (BudgetExhausted, DependencyFailed) as error:
        return None, fallback_failure(error, BY_VERDICTS)


async def _cited(claims: Sequence[ClaimRow], context: Context, reader: SegmentReader) -> list[str]:
    """Return the texts of the segments that support the claims."""
    ids = dict.fromkeys(proof["segment_id"] for row in claims for proof in row["proofs"])
    return [segment.text for segment in await reader.read_segments(list(ids), context.identity)] if ids else []
