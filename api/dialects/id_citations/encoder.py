"""The id_citations dialect: an answer as a row of a conversation, whose sections cite segments by their ids.

A frame holds the same body as a read of the conversation, with the rows that are new or have changed. A client replaces
each row with the one of the same id, and so needs to know no more for a stream than for a poll.
"""

from typing_extensions import Unpack

from api.dialects.event_frames import SilentEncoder, frame
from api.dialects.id_citations.replies import (
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
from graph.events import AnyEvent, Envelope, RunFailed, RunFinished, RunStarted


class IdCitationsEncoder(SilentEncoder):
    """Tells an answer's row anew whenever a section of it is final.

    ``message_id`` is the answer's, for readers of a log that has been swept and begins with its end.
    """

    remembers = True
    rejoins = True

    _envelope: Envelope

    def __init__(self, message_id: str = "") -> None:
        self._held = SectionBuffer()
        self._message_id = message_id
        self._sections: list[CitedSection] = []
        self._retracted = False
        self._asked_at = ""

    def speak(self, envelope: Envelope) -> bytes:
        """Give the one frame of an event that changes a row, so that a reader can come back behind any frame."""
        self._envelope = envelope
        told = self._hear(envelope.event)
        self._sections += map(cited_section, told)
        return envelope.event.tell(self) or (self._frame(self._answer("processing")) if told else b"")

    def run_started(self, event: RunStarted) -> bytes:
        """Give the question's row, and the answer's, still empty."""
        self._message_id, self._asked_at = event.message_id, self._envelope.at
        asked = question_row(self._envelope.run_id, event.message_id, event.question, self._envelope.at)
        return self._frame(asked, self._answer("processing"))

    def run_finished(self, event: RunFinished) -> bytes:
        """Give the answer's row as it is stored."""
        self._sections = [cited_section(told) for told in final_sections(event.message)]
        status: Status = "cancelled" if event.outcome == "cancelled" else "completed"
        return self._frame(self._answer(status, outcome=event.outcome, stop_reason=event.stop_reason))

    def run_failed(self, event: RunFailed) -> bytes:
        """Give the answer's row with why there is none; what was told of it before is void."""
        self._sections = []
        fault = AnswerError(
            code=event.code, message=event.message, suggestion=event.suggestion, retryable=event.retryable
        )
        return self._frame(self._answer("failed", outcome="failed", stop_reason=event.code, error=fault))

    def _hear(self, event: AnyEvent) -> list[FinalSection]:
        if self._retracted:
            return []
        try:
            return self._held.hear(event)
        except Retracted:
            # A row can be told anew, so what was told too early goes with the next one, and the end tells the rest.
            self._retracted, self._sections = True, []
            return []

    def _answer(self, status: Status, **more: Unpack[AnswerMetadata]) -> Row:
        at = self._asked_at if status == "processing" else self._envelope.at
        return answer_row(self._envelope.run_id, self._message_id, status, at, self._sections, more)

    def _frame(self, *rows: Row) -> bytes:
        return frame({"messages": rows}, event="messages", event_id=self._envelope.event_id)

    queued = SilentEncoder.silent
    step_started = SilentEncoder.silent
    retrieval_decided = SilentEncoder.silent
    search_failed = SilentEncoder.silent
    sources_graded = SilentEncoder.silent
    thinking_delta = SilentEncoder.silent
    answer_assessed = SilentEncoder.silent
