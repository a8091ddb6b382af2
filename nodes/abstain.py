"""Say in the question's language that the library does not hold the answer, and what came nearest."""

from typing import Literal

from langgraph.runtime import Runtime
from typing_extensions import TypedDict

import prompts
from graph.context import Context
from graph.events import SectionFinished, SectionStarted, TextDelta
from graph.evidence import Section, Segment, StopReason
from graph.ports import SegmentReader
from graph.sources import nearest
from graph.spending import Meter
from graph.state import State


class AbstainUpdate(TypedDict):
    """The refusal as a section, with why."""

    sections: list[Section]
    outcome: Literal["abstained"]
    stop_reason: StopReason


async def abstain(state: State, runtime: Runtime[Context], *, reader: SegmentReader, meter: Meter) -> AbstainUpdate:
    """Refuse politely, naming the documents and headings of the nearest material found."""
    near = [row["segment_id"] for row in nearest(state.candidates)]
    segments = await reader.read_segments(near, runtime.context.identity) if near else []
    reason = why(state)
    text = refusal(reason, segments, state.language)
    runtime.stream_writer(SectionStarted(section_index=0))
    runtime.stream_writer(TextDelta(section_index=0, delta=text))
    runtime.stream_writer(SectionFinished(section_index=0, text=text, source_ids=[]))
    return {"sections": [Section(text=text, source_ids=[])], "outcome": "abstained", "stop_reason": reason}


def why(state: State) -> StopReason:
    """Name the point at which the run found that it has no answer."""
    if not state.needs_retrieval:
        return "library_not_allowed"
    if not state.candidates:
        return "nothing_found"
    return "insufficient_evidence" if state.sources else "nothing_relevant"


def refusal(reason: StopReason, near: list[Segment], language: str) -> str:
    """Word the refusal; places are given as title and heading, each once."""
    said = prompts.lines(language)
    if reason == "library_not_allowed":
        return said.only_library
    if not near:
        return said.nothing_found
    places = dict.fromkeys(place(segment) for segment in near)
    return f"{said.not_in_library} {said.nearest.format(places='; '.join(places))}"


def place(segment: Segment) -> str:
    """Name where a segment stands, as a reader would look for it."""
    heading = segment.heading.removeprefix(segment.title).removeprefix(" > ")
    return f"{segment.title} > {heading}" if heading else segment.title
