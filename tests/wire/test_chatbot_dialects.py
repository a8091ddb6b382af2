"""What the docmost and docs_chatbot dialects do where a run takes a turn that few runs take."""

import json
from collections.abc import Sequence
from typing import Any

import pytest

from api.dialects.citation_marks import by_position, footnote
from api.dialects.registry import DIALECTS
from graph.events import (
    AnyEvent,
    Envelope,
    RunFinished,
    RunResumed,
    RunStarted,
    SectionChecked,
    SectionFinished,
    SectionRevised,
    SectionStarted,
    SourcesGraded,
)
from graph.evidence import Citation, Claim, Message, Section, Source
from tests.api.reading import parse_frames
from tests.wire.script import CITATION, SEGMENT, SOURCE

NAMES = ["docmost", "docs_chatbot"]
SECOND = Source(**{**SOURCE, "index": 2, "segment_id": f"{SOURCE['document_id']}:1", "segment_index": 1})
CITES_SECOND = Citation(**{**CITATION, "source_index": 2, "segment_id": SECOND["segment_id"]})
STARTED = RunStarted(
    question="Why?",
    message_id="00000000-0000-4000-8000-000000000003",
    family="llm",
    model="m",
    budget={"model_calls": 8, "tokens": None},
)


def claim(text: str, *citations: Citation, verdict: Any = "supported") -> Claim:
    return Claim(start=0, end=len(text), text=text, verdict=verdict, reasons=[], citations=list(citations))


def written(index: int, text: str, *claims: Claim) -> list[AnyEvent]:
    return [
        SectionStarted(section_index=index),
        SectionFinished(section_index=index, text=text, source_ids=[SEGMENT]),
        SectionChecked(section_index=index, claims=list(claims)),
    ]


def finished(outcome: Any, texts: Sequence[str], sources: Sequence[Source]) -> RunFinished:
    sections = [Section(text=text, source_ids=[SEGMENT]) for text in texts]
    message = Message(answer="\n\n".join(texts), sections=sections, citations=[], sources=list(sources))
    return RunFinished(outcome=outcome, stop_reason="server_stopped", message=message, spent={})


def told(name: str, events: Sequence[AnyEvent]) -> list[dict[str, Any]]:
    """Tell a run, and read the frames but for the last mark of the end."""
    speaker = DIALECTS[name].encoder()
    log = [Envelope("r", "s", seq, "2026-11-21T12:00:00.000Z", event) for seq, event in enumerate(events, start=1)]
    frames = parse_frames(b"".join(map(speaker.encode, log)).decode())
    return [json.loads(frame["data"]) for frame in frames if frame["data"] != "[DONE]"]


@pytest.mark.parametrize("name", NAMES)
def test_sources_that_a_repair_adds_are_told_before_the_text_that_cites_them(name: str) -> None:
    wrong, right = claim("It is 40.", verdict="contradicted"), claim("It is 25.", CITES_SECOND)
    events: list[AnyEvent] = [
        STARTED,
        SourcesGraded(sources=[SOURCE]),
        *written(0, "Yes.", claim("Yes.", CITATION)),
        *written(1, "It is 40.", wrong),
        SourcesGraded(sources=[SOURCE]),
        SourcesGraded(sources=[SOURCE, SECOND]),
        SectionRevised(section_index=1, text="It is 25.", source_ids=[SECOND["segment_id"]], claims=[right]),
    ]
    frames = [frame for frame in told(name, events) if frame["type"] not in ("started", "memory")]
    kinds = [frame["type"] for frame in frames]
    assert kinds[0] == kinds[2] == "sources"
    assert [len(frame.get("data", frame.get("sources", []))) for frame in (frames[0], frames[2])] == [1, 2]
    mark = {"docmost": "[^{}]", "docs_chatbot": "[{}]"}[name]
    texts = [frame.get("data", frame.get("delta")) for frame in (frames[1], frames[3])]
    assert texts == [f"Yes.{mark.format(1)}", f"\n\nIt is 25.{mark.format(2)}"]


@pytest.mark.parametrize("name", NAMES)
def test_an_answer_that_was_stopped_ends_as_a_failure_without_what_was_not_proven(name: str) -> None:
    events: list[AnyEvent] = [
        STARTED,
        SourcesGraded(sources=[SOURCE]),
        SectionStarted(section_index=0),
        SectionFinished(section_index=0, text="It is 40.", source_ids=[SEGMENT]),
        finished("cancelled", ["It is 40."], []),
    ]
    frames = told(name, events)
    assert (frames[-1]["type"], frames[-1]["code"], frames[-1]["retryable"]) == ("error", "server_stopped", True)
    assert "It is 40." not in json.dumps(frames)


@pytest.mark.parametrize("name", NAMES)
def test_an_answer_that_is_written_anew_after_a_crash_says_so_once(name: str) -> None:
    events: list[AnyEvent] = [
        STARTED,
        SourcesGraded(sources=[SOURCE]),
        *written(0, "Yes.", claim("Yes.", CITATION)),
        RunResumed(attempt=2, sections=[]),
        *written(0, "No.", claim("No.", CITATION)),
        finished("answered", ["No."], [SOURCE]),
    ]
    frames = told(name, events)
    assert [frame.get("code") for frame in frames if frame["type"] == "error"] == ["answer_rewritten"]
    assert frames[-1]["type"] == "error"


def test_marks_count_the_sources_that_are_there() -> None:
    mark = by_position(footnote, [SECOND])
    assert (mark(2), mark(1)) == ("[^1]", "")
