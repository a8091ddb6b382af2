"""The conversation dialect: data-only frames of JSON for an EventSource, distinguished by their ``type``."""

from collections.abc import Sequence
from datetime import datetime
from functools import singledispatchmethod
from typing import Any

from answers.library_listing import FROM_CATALOGUE
from api.dialects.buffered import BufferedEncoding
from api.dialects.citation_marks import bracket, marked_pieces
from api.dialects.conversation.schemas import CitedDocuments, document_source, most_relevant
from api.dialects.section_buffer import FinalSection, final_sections
from api.event_frames import DRAFT_EVENTS, INTERNAL_EVENTS, frame, silent
from api.problems import BY_CODE
from graph import events
from graph.events import Envelope
from graph.evidence import Source
from tools.sessions.run_request import question_id

STAGES = {
    "decide_retrieval": ("understanding", 5),
    "load_selected_pages": ("retrieving", 20),
    "search_segments": ("retrieving", 20),
    "search_web": ("retrieving", 20),
    "search_mcp": ("retrieving", 20),
    "grade_segments": ("grading", 40),
    "rewrite_query": ("rewriting", 50),
    "generate_answer": ("generating", 60),
    "answer_directly": ("generating", 60),
    "check_claims": ("checking", 80),
    "abstain": ("generating", 90),
    "assess_quality": ("assessing", 95),
}


class ConversationEncoder(BufferedEncoding):
    """An encoder of a run as `connected`, `content`, `done` or `error`, and on request its progress.

    Marks ``[n]`` in the text number the ``sources`` of `done`, whose ``formattedAnswer`` is the answer as it stands at
    the end: with it a client replaces what it was sent, corrections and all. Only the last frame of an event has an id:
    a reader that is disconnected between them gets all of them again, and misses none.
    """

    resumable = True
    ignored = DRAFT_EVENTS | INTERNAL_EVENTS | {events.Queued, events.SearchFailed, events.AnswerAssessed}

    def __init__(
        self, conversation_id: str = "", message_id: str = "", *, progress: bool = False, thinking: bool = False
    ) -> None:
        super().__init__()
        self._conversation_id = conversation_id
        self._message_id = message_id
        self._shows_progress = progress
        self._shows_thinking = thinking
        self._documents = CitedDocuments()
        self._decided: events.RetrievalDecided | None = None
        self._percent = 0
        self._stage = ""
        self._previewed: set[str] = set()
        self._thinks_since: datetime | None = None

    def encode(self, envelope: Envelope) -> bytes:
        """Return the frames of an event, after the text that it makes final."""
        if isinstance(envelope.event, events.RunFinished):
            self._documents.learn(envelope.event.message["sources"])
        return with_event_id(super().encode(envelope), envelope.event_id)

    def _open(self) -> bytes:
        self._conversation_id = self._conversation_id or self._envelope.session_id
        return frame({"type": "connected", "conversationId": self._conversation_id})

    def _sections(self, sections: Sequence[FinalSection]) -> bytes:
        text = self._marked(sections)
        return frame({"type": "content", "content": text}) if text else b""

    def _marked(self, sections: Sequence[FinalSection]) -> str:
        return "".join(piece for each in sections for piece in marked_pieces(self._documents.numbered(each), bracket))

    _encode = singledispatchmethod(silent)

    @_encode.register
    def _run_started(self, event: events.RunStarted) -> bytes:
        self._message_id = event.message_id
        return b""

    @_encode.register
    def _step_started(self, event: events.StepStarted) -> bytes:
        stage, percent = STAGES.get(event.step, (self._stage, self._percent))
        if not self._shows_progress or stage == self._stage:
            return b""
        self._stage, self._percent = stage, max(percent, self._percent)  # progress never goes back
        return frame({"type": "progress", "stage": stage, "percent": self._percent})

    @_encode.register
    def _retrieval_decided(self, event: events.RetrievalDecided) -> bytes:
        self._decided = event
        return b""

    @_encode.register
    def _sources_graded(self, event: events.SourcesGraded) -> bytes:
        self._documents.learn(event.sources)
        if not self._shows_progress:
            return b""
        found: dict[str, list[Source]] = {}
        for source in event.sources:
            if source["document_id"] not in self._previewed:
                found.setdefault(source["document_id"], []).append(source)
        self._previewed.update(found)
        previews = [document_source(most_relevant(sources)) for sources in found.values()]
        return b"".join(frame({"type": "source_preview", "source": source}) for source in previews)

    @_encode.register
    def _thinking_delta(self, event: events.ThinkingDelta) -> bytes:
        if not self._shows_thinking:
            return b""
        now = datetime.fromisoformat(self._envelope.at)
        self._thinks_since = self._thinks_since or now
        duration = round((now - self._thinks_since).total_seconds() * 1000)
        return frame({"type": "thinking", "content": event.delta, "duration": duration})

    @_encode.register
    def _run_finished(self, event: events.RunFinished) -> bytes:
        assessment = event.message.get("assessment")
        searched = self._decided is None or self._decided.needs_retrieval
        listed = event.message["sources"] if event.stop_reason == FROM_CATALOGUE else []
        intent = self._decided.intent if self._decided else "content_query"
        return frame(
            {
                "type": "done",
                "formattedAnswer": self._marked(final_sections(event.message)),
                "userMessageId": question_id(self._message_id) if self._message_id else None,
                "assistantMessageId": self._message_id or None,
                "sources": [*map(document_source, listed)] or self._documents.sources(),
                "contextId": "rag-query" if searched else "direct-answer",
                "intent": intent,
                "confidence": assessment["utility"] if assessment else float(intent != "content_query"),
                "actions": [],
                "conversationId": self._conversation_id,
            }
        )

    @_encode.register
    def _run_failed(self, event: events.RunFailed) -> bytes:
        return frame(failure_data(event.code, event.message, event.suggestion, retryable=event.retryable))


def with_event_id(frames: bytes, event_id: str | None) -> bytes:
    """Add an id to the last frame, if there is one."""
    if event_id is None:
        return frames
    *before, last = frames.removesuffix(b"\n\n").split(b"\n\n")
    return b"\n\n".join([*before, b"id: %b\n%b\n\n" % (event_id.encode(), last)]) if last else b""


def failure_data(code: str, message: str, suggestion: str, *, retryable: bool) -> dict[str, Any]:
    """Return the data of an `error` frame; what is for the operator is replaced by words for the user."""
    if code in BY_CODE and BY_CODE[code].status >= 500:
        message = "This could not be answered just now." if retryable else "This could not be answered."
        suggestion = "Try again in a moment." if retryable else "Tell whoever runs this service when it happened."
    return {"type": "error", "error": message, "code": code, "suggestion": suggestion, "retryable": retryable}
