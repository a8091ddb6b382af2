"""Reply without the library to small talk or to a question that needs no retrieval."""

from typing import Literal

from langgraph.runtime import Runtime
from typing_extensions import TypedDict

from answers.drafting import emit_drafts
from graph.context import Context
from graph.evidence import Section, StopReason
from graph.ports import AnswerWriter
from graph.state import State
from graph.usage import STOP_REASONS, Meter


class AnswerDirectlyUpdate(TypedDict):
    """The reply; without an outcome where the writer has no reply without the library."""

    sections: list[Section]
    outcome: Literal["", "answered"]
    stop_reason: StopReason | Literal[""]


async def answer_directly(
    state: State, runtime: Runtime[Context], *, writer: AnswerWriter, meter: Meter
) -> AnswerDirectlyUpdate:
    """Reply in the question's language, without citations."""
    drafts = writer.converse(state.question, state.turns, language=state.language, intent=state.intent, meter=meter)
    sections = await emit_drafts(drafts, runtime.stream_writer)
    if not sections:
        return {"sections": [], "outcome": "", "stop_reason": ""}
    capped = STOP_REASONS.get(state.exhausted or meter.exhausted or "")
    return {"sections": sections, "outcome": "answered", "stop_reason": capped or "no_retrieval_needed"}
