"""What the id_citations dialect is asked with, and the rows that it replies with."""

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, Field

from api.dialects.holding import told_of
from api.dialects.id_citations_rows import AnswerMetadata, Fault, Row, Status, answer_row, question_row, section_of
from api.error_table import kind_of
from api.schemas.fields import ModelName, PageIds, Question
from api.schemas.runs import NewRun
from graph.events import moment
from graph.evidence import Identity, Message
from tools.runs import RunRequest
from tools.sessions import RunStatus, StoredMessage


class NewMessage(BaseModel):
    """A question to a workspace; fields that are not named here are passed over."""

    content: Question
    document_ids: PageIds = Field(default=[], description="Answer from these documents alone; empty for all.")
    model: ModelName = ""
    thinking: bool = Field(default=False, description="Use the model's thinking model.")
    stream: bool = Field(default=False, description="As `Accept: text/event-stream`: tell the answer as it is made.")

    def request(self, identity: Identity, knobs: Mapping[str, Any]) -> RunRequest:
        """Lay out the run that this asks for; it waits for those before it, as messages of a conversation do."""
        asked = NewRun(
            question=self.content,
            page_ids=self.document_ids,
            only_selected_pages=bool(self.document_ids),
            model=self.model,
            thinking=self.thinking,
            while_running="enqueue",
        )
        return asked.request(identity, knobs)


class ChangedMessages(BaseModel):
    """Rows that are new or have changed; each takes the place of the one with the same id."""

    messages: list[Row]


class MessagePage(ChangedMessages):
    """The newest rows of a workspace's conversation, in the order they were said."""

    next_cursor: str | None = Field(description="Send it as `cursor` for earlier messages; null at the beginning.")


def in_progress(run: RunStatus, message_id: str) -> list[Row]:
    """Lay out a run that is going or waiting: its question, and an answer that is still to come."""
    at = moment(run.created_at)
    return [
        question_row(run.run_id, message_id, run.question, at),
        answer_row(run.run_id, message_id, "processing", at, []),
    ]


def stored_row(stored: StoredMessage) -> Row:
    """Lay out a stored message; an answer's citations tell what has become of their quotes since."""
    at = moment(stored.created_at)
    if stored.role == "user":
        return Row(
            id=stored.message_id,
            run_id=stored.run_id,
            role="user",
            type="user",
            content=stored.content,
            status="completed",
            created_at=at,
            metadata={},
        )
    message = Message(
        answer=stored.content,
        sections=stored.body.get("sections", []),
        citations=[],
        sources=[],
        claims=stored.body.get("claims", []),
    )
    status: Status = "cancelled" if stored.outcome == "cancelled" else "completed"
    ended = AnswerMetadata(outcome=stored.outcome or "", stop_reason=stored.stop_reason or "")
    sections = [section_of(told) for told in told_of(message)]
    return answer_row(stored.run_id, stored.message_id, status, at, sections, ended)


def failed_row(run: RunStatus, message_id: str) -> Row:
    """Lay out the answer that a failed run has not given."""
    kind = kind_of(run.stop_reason or "")
    code = run.stop_reason or kind.code
    fault = Fault(code=code, message=kind.meaning, suggestion=kind.suggestion, retryable=kind.retryable)
    ended = AnswerMetadata(outcome="failed", stop_reason=code, error=fault)
    return answer_row(run.run_id, message_id, "failed", moment(run.finished_at or run.created_at), [], ended)
