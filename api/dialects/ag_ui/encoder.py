"""The ag_ui dialect: the events that ``HttpAgent`` reads, and CopilotKit through it.

Frames end with two newlines, without carriage returns, since its clients split only there. The protocol has no event
for citations: sources go into the shared state, their proof into a CUSTOM event, and marks ``[n]`` into the text.
"""

from collections.abc import Mapping
from functools import singledispatchmethod
from typing import Any

from answers.marks import marked_citations
from api.dialects.ag_ui.schemas import SharedState
from api.dialects.buffered import BufferedEncoding
from api.dialects.citation_marks import (
    bracket,
    claim_record,
    joined_claims,
    marked_pieces,
    placed_claims,
    with_latest_verdicts,
)
from api.dialects.section_buffer import FinalSection
from api.event_frames import DRAFT_EVENTS, ProgressEvent, frames, silent
from graph import events
from graph.events import payload

Frame = dict[str, Any]


class RunFrames:
    """A builder of step, thought and text events that never starts one twice or ends one that is not open.

    Clients refuse to start a step that is already open, and to end a run while anything is open.
    """

    def __init__(self, message_id: str) -> None:
        self._message_id = message_id
        self._steps: list[str] = []
        self._in_text = False
        self._thoughts = 0
        self._thinking = ""

    def begin_step(self, name: str) -> list[Frame]:
        """Start a step, after ending one of the same name that was cut off."""
        ended = self.end_step(name)
        self._steps.append(name)
        return [*ended, {"type": "STEP_STARTED", "stepName": name}]

    def end_step(self, name: str) -> list[Frame]:
        """End a step if it is open. Steps run in parallel, so they may end in any order."""
        if name not in self._steps:
            return []
        self._steps.remove(name)
        return [{"type": "STEP_FINISHED", "stepName": name}]

    def think(self, delta: str) -> list[Frame]:
        """Append to the thought of a reasoning model, apart from the answer."""
        begun: list[Frame] = []
        if not self._thinking:
            self._thoughts += 1
            self._thinking = f"{self._message_id}-thought-{self._thoughts}"
            begun = [
                {"type": "REASONING_START", "messageId": self._thinking},
                {"type": "REASONING_MESSAGE_START", "messageId": self._thinking, "role": "reasoning"},
            ]
        return [*begun, {"type": "REASONING_MESSAGE_CONTENT", "messageId": self._thinking, "delta": delta}]

    def end_thought(self) -> list[Frame]:
        """End the thought, if one is open."""
        if not self._thinking:
            return []
        thought, self._thinking = self._thinking, ""
        return [
            {"type": "REASONING_MESSAGE_END", "messageId": thought},
            {"type": "REASONING_END", "messageId": thought},
        ]

    def write(self, text: str) -> list[Frame]:
        """Append to the answer."""
        begun = self.end_thought()
        if not self._in_text:
            self._in_text = True
            begun.append({"type": "TEXT_MESSAGE_START", "messageId": self._message_id, "role": "assistant"})
        return [*begun, {"type": "TEXT_MESSAGE_CONTENT", "messageId": self._message_id, "delta": text}]

    def close_open(self) -> list[Frame]:
        """End the steps and the thought that a crash has left open; the text stays open."""
        return [*self.end_thought(), *(each for name in list(self._steps) for each in self.end_step(name))]

    def end(self) -> list[Frame]:
        """End everything that is open."""
        ended = self.close_open()
        if self._in_text:
            self._in_text = False
            ended.append({"type": "TEXT_MESSAGE_END", "messageId": self._message_id})
        return ended


ENVELOPE = ("schema", "type", "run_id", "session_id", "seq", "at")


class AgUiEncoder(BufferedEncoding):
    """An encoder of one run of an agent, with the client's own ids for thread and run.

    ``state`` is the client's shared state; keys that are not ours stay in it.
    """

    cut_short_fails = False
    ignored = DRAFT_EVENTS

    def __init__(
        self,
        thread_id: str | None = None,
        run_id: str | None = None,
        message_id: str = "answer",
        state: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__()
        self._thread_id = thread_id
        self._run_id = run_id
        self._message_id = message_id
        self._run = RunFrames(message_id)
        self._state = SharedState(state)
        self._written: list[FinalSection] = []
        self._model = ""

    def _section(self, section: FinalSection) -> bytes:
        self._written.append(section)
        return frames([part for piece in marked_pieces(section, bracket) for part in self._run.write(piece)])

    def _open(self) -> bytes:
        started = {"type": "RUN_STARTED", **self._ids()}
        return frames([started, {"type": "STATE_SNAPSHOT", "snapshot": self._state.snapshot()}])

    def _ids(self) -> Frame:
        return {
            "threadId": self._thread_id or self._envelope.session_id,
            "runId": self._run_id or self._envelope.run_id,
        }

    _encode = singledispatchmethod(silent)

    @_encode.register
    def _run_started(self, event: events.RunStarted) -> bytes:
        self._model = event.model
        return self._custom()

    @_encode.register
    def _run_resumed(self, event: events.RunResumed) -> bytes:
        # Steps that a crash has left open start again under the same names.
        return frames(self._run.close_open()) + self._custom()

    @_encode.register
    def _step_started(self, event: events.StepStarted) -> bytes:
        return frames(self._run.begin_step(event.step))

    @_encode.register
    def _step_finished(self, event: events.StepFinished) -> bytes:
        return frames([*self._run.end_thought(), *self._run.end_step(event.step)])

    @_encode.register
    def _sources_graded(self, event: events.SourcesGraded) -> bytes:
        return self._patch(self._state.sources(event.sources))

    @_encode.register
    def _thinking_delta(self, event: events.ThinkingDelta) -> bytes:
        return frames(self._run.think(event.delta)) if event.delta else b""

    @_encode.register
    def _answer_assessed(self, event: events.AnswerAssessed) -> bytes:
        return self._patch(self._state.replace(assessment=self._fields()))

    @_encode.register
    def _run_finished(self, event: events.RunFinished) -> bytes:
        message = event.message
        placed = with_latest_verdicts(placed_claims(self._written, bracket), self._buffer.latest)
        citations = [
            {"start_index": each.start, "end_index": each.end, **citation}
            for each in joined_claims(placed)
            for citation in marked_citations(each.claim)
        ]
        proof = {
            "message_id": self._message_id,
            "citations": citations,
            "claims": list(map(claim_record, placed)),
            "disagreements": message.get("disagreements", []),
            "nearest": message.get("nearest", []),
        }
        known = self._state.sources(message["sources"]) if message["sources"] else []
        patch = [*known, *self._state.replace(citations=citations)]
        custom = {"type": "CUSTOM", "name": "citations", "value": proof}
        end: Frame = {"type": "RUN_FINISHED", **self._ids(), "result": self._result(event)}
        end["outcome"] = {"type": "cancelled" if event.outcome == "cancelled" else "success"}
        if tokens := sum(each["tokens"] for each in event.spent.values()):
            end["usage"] = [{"model": self._model, "totalTokens": tokens}]
        return frames(self._run.end()) + self._patch(patch) + frames([custom, end])

    @_encode.register
    def _run_failed(self, event: events.RunFailed) -> bytes:
        message = f"{event.message} {event.suggestion}".strip()
        return frames([*self._run.end(), {"type": "RUN_ERROR", "message": message, "code": event.code}])

    def _result(self, event: events.RunFinished) -> dict[str, Any]:
        return {
            "session_id": self._envelope.session_id,
            "run_id": self._envelope.run_id,
            "message_id": self._message_id,
            "outcome": event.outcome,
            "stop_reason": event.stop_reason,
            "assessment": event.message.get("assessment"),
            "spent": event.spent,
        }

    def _patch(self, patch: list[dict[str, Any]]) -> bytes:
        return frames([{"type": "STATE_DELTA", "delta": patch}]) if patch else b""

    def _fields(self) -> dict[str, Any]:
        return {name: value for name, value in payload(self._envelope).items() if name not in ENVELOPE}

    @_encode.register
    def _progress(self, event: ProgressEvent) -> bytes:
        return self._custom()

    def _custom(self) -> bytes:
        return frames([{"type": "CUSTOM", "name": self._envelope.event.type, "value": self._fields()}])
