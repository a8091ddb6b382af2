"""Reply without a search: to small talk, about the library itself, and from the model's own knowledge."""

from typing import Literal

from langgraph.runtime import Runtime
from typing_extensions import TypedDict

import prompts
from answers.drafting import emit_drafts
from answers.library_listing import FROM_CATALOGUE, emit_listing
from answers.notices import introduced
from graph.context import Context
from graph.evidence import Section, StopReason
from graph.ports import AnswerWriter, Catalogue, SegmentReader, fixed_section
from graph.routing import outside_failed
from graph.rows import SourceRow
from graph.state import State
from graph.usage import STOP_REASONS, Meter

MOST_LISTED = 20


class AnswerDirectlyUpdate(TypedDict, total=False):
    """The reply behind withdrawn sections; without an outcome where the writer has no reply without the library.

    Documents that were listed are its sources.
    """

    sections: list[Section]
    sources: list[SourceRow]
    outcome: Literal["", "answered"]
    stop_reason: StopReason | Literal[""]


async def answer_directly(
    state: State,
    runtime: Runtime[Context],
    *,
    writer: AnswerWriter,
    catalogue: Catalogue | None,
    reader: SegmentReader,
    meter: Meter,
) -> AnswerDirectlyUpdate:
    """Reply in the question's language, without citations; a question about the library itself from its catalogue.

    What answers a question is the model's own knowledge, and so not grounded. Where the library was to answer first, a
    fixed line before the text says where it comes from.
    """
    if state.about_library is not None and catalogue is not None:
        return await _from_catalogue(state, runtime, catalogue, reader)
    small_talk = state.intent == "small_talk" and state.answer_from != "model"
    drafts = writer.converse(
        f"{state.asked}\n\n“{state.selected_text}”" if state.selected_text else state.asked,
        state.turns,
        language=state.language,
        intent=state.intent,
        own_knowledge=state.answer_from != "library" and not small_talk,
        meter=meter,
    )
    if state.answer_from == "library_then_model" and not small_talk:
        drafts = introduced(drafts, fixed_section(_introduction(state), fallback=state.fallback))
    sections = await emit_drafts(drafts, runtime.stream_writer, grounded=small_talk, first=len(state.sections))
    if not sections:
        return {"sections": state.sections, "outcome": "", "stop_reason": ""}
    capped = STOP_REASONS.get(state.exhausted or meter.exhausted or "")
    reason: StopReason = "not_in_library" if state.needs_retrieval else "no_retrieval_needed"
    return {"sections": [*state.sections, *sections], "outcome": "answered", "stop_reason": capped or reason}


async def _from_catalogue(
    state: State, runtime: Runtime[Context], catalogue: Catalogue, reader: SegmentReader
) -> AnswerDirectlyUpdate:
    """List documents; each is a source by its first segment, and nothing is quoted, since no text of theirs says it."""
    assert state.about_library is not None
    context = runtime.context
    listing = await catalogue.list(state.about_library, context.identity, spaces=context.spaces, most=MOST_LISTED)
    first = [f"{document.document_id}:0" for document in listing.documents]
    segments = await reader.read_segments(first, context.identity) if first else []
    sources = [
        SourceRow(index=index, segment_id=segment.segment_id, kind="search", score=1.0)
        for index, segment in enumerate(segments, start=1)
    ]
    section = emit_listing(
        state.about_library, listing, segments, sources, state.language, len(state.sections), runtime.stream_writer
    )
    return {
        "sections": [*state.sections, section],
        "sources": sources,
        "outcome": "answered",
        "stop_reason": FROM_CATALOGUE,
    }


def _introduction(state: State) -> str:
    lines = prompts.lines(state.language)
    return prompts.join_lines(state.language, [lines.web_failed] * outside_failed(state) + [lines.not_from_library])
