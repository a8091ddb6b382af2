"""The id_citations dialect: an answer as a row of a conversation, whose sections cite segments by id.

A frame has the same body as a read of the conversation, with the rows that are new or have changed. A client replaces
each row by id, so streaming needs no more client code than polling.
"""

from collections.abc import Iterable
from functools import singledispatchmethod

from typing_extensions import Unpack

from api.dialects.id_citations.schemas import (
    AnswerError,
    AnswerMetadata,
    CitedSection,
    Row,
    Status,
    answer_row,
    cited_section,
    question_row,
)
from api.dialects.section_buffer import FinalSection, Retracted, SectionBuffer, final_sections
from api.event_frames import UNSHOWN_EVENTS, frame, silent
from graph import events
from graph.events import AnyEvent, Envelope
from graph.evidence import Source
from tools.sessions.run_request import question_id


class IdCitationsEncoder:
    """An encoder that sends an answer's row again whenever one of its sections becomes final.

    ``message_id`` is the answer's id, needed when the log was deleted and only its end is left.
    """

    stateful = True
    resumable = True
    ignored = UNSHOWN_EVENTS | {events.ThinkingDelta}
    _envelope: Envelope

    def __init__(self, message_id: str = "") -> None:
        self._buffer = SectionBuffer()
        self._message_id = message_id
        self._sections: dict[int, CitedSection] = {}  # by position
        self._sources: dict[int, Source] = {}  # by index
        self._retracted = False
        self._asked_at = ""

    def encode(self, envelope: Envelope) -> bytes:
        """Return at most one frame per event, so that a reader can resume after any frame."""
        self._envelope = envelope
        settled = self._settle(envelope.event)
        self._sections.update({each.position: cited_section(each, self._sources) for each in settled})
        return self._encode(envelope.event) or (self._frame(self._answer("processing")) if settled else b"")

    _encode = singledispatchmethod(silent)

    @_encode.register
    def _run_started(self, event: events.RunStarted) -> bytes:
        self._message_id, self._asked_at = event.message_id, self._envelope.at
        asked_as = question_id(event.message_id)
        question = question_row(self._envelope.run_id, asked_as, event.question, self._envelope.at)
        return self._frame(question, self._answer("processing"))

    @_encode.register
    def _sources_graded(self, event: events.SourcesGraded) -> bytes:
        self._learn(event.sources)
        return b""

    @_encode.register
    def _run_finished(self, event: events.RunFinished) -> bytes:
        self._learn(event.message["sources"])
        finished = final_sections(event.message)
        self._sections = {each.position: cited_section(each, self._sources) for each in finished}
        status: Status = "cancelled" if event.outcome == "cancelled" else "completed"
        ended = AnswerMetadata(outcome=event.outcome, stop_reason=event.stop_reason)
        if assessment := event.message.get("assessment"):
            ended["assessment"] = assessment
        return self._frame(self._answer(status, **ended))

    @_encode.register
    def _run_failed(self, event: events.RunFailed) -> bytes:
        self._sections = {}  # sections already sent are no longer valid
        fault = AnswerError(
            code=event.code, message=event.message, suggestion=event.suggestion, retryable=event.retryable
        )
        return self._frame(self._answer("failed", outcome="failed", stop_reason=event.code, error=fault))

    def _learn(self, sources: Iterable[Source]) -> None:
        self._sources |= {source["index"]: source for source in sources}

    def _settle(self, event: AnyEvent) -> list[FinalSection]:
        if self._retracted:
            return []
        try:
            return self._buffer.feed(event)
        except Retracted:
            # A row can be sent again: the next one drops the retracted sections, and the last one has all final ones.
            self._retracted, self._sections = True, {}
            return []

    def _answer(self, status: Status, **more: Unpack[AnswerMetadata]) -> Row:
        at = self._asked_at if status == "processing" else self._envelope.at
        return answer_row(self._envelope.run_id, self._message_id, status, at, list(self._sections.values()), more)

    def _frame(self, *rows: Row) -> bytes:
        return frame({"messages": rows}, event="messages", event_id=self._envelope.event_id)
