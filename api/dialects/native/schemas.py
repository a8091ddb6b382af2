"""Requests and replies of the native dialect."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from pydantic import Field, ValidationInfo, ValidatorFunctionWrapHandler, field_validator
from pydantic_core import PydanticCustomError, to_json

from api.fields import Body, CollectionIds, Question, RunOptions, SelectedIds, Title, optional
from graph.events import RunFinished
from graph.evidence import (
    Assessment,
    Citation,
    Cost,
    Disagreement,
    FamilyName,
    Identity,
    Message,
    Outcome,
    PagesRead,
    Refusal,
    Section,
    SectionClaim,
    Source,
    Spent,
    WhileRunning,
)
from tools.runs.live_run import Run
from tools.sessions.feedback import Feedback
from tools.sessions.history_search import SessionHit
from tools.sessions.run_request import RunRequest
from tools.sessions.session_store import EncodedHistory, RunStatus, Session, StoredMessage

WITH_REGENERATE = "leave it out: regenerate asks the same question again"


class RunQuestion(Body):
    """A question, or the message to edit or regenerate."""

    edit: UUID | None = Field(
        default=None, description="A question of the session that this one replaces, on a new branch."
    )
    regenerate: UUID | None = Field(
        default=None, description="An answer to regenerate: its question is asked again, unchanged."
    )
    question: Question = Field(
        default_factory=lambda: None, validate_default=True, description="Required, except with `regenerate`."
    )

    @field_validator("regenerate")
    @classmethod
    def _one_branch(cls, value: UUID | None, info: ValidationInfo) -> UUID | None:
        if value is not None and info.data.get("edit") is not None:
            raise ValueError("send either edit or regenerate")
        return value

    @field_validator("question", mode="wrap")
    @classmethod
    def _required_unless_regenerate(cls, value: Any, check: ValidatorFunctionWrapHandler, info: ValidationInfo) -> str:
        again = info.data.get("regenerate") is not None
        if value is not None:
            if again:
                raise ValueError(WITH_REGENERATE)
            return str(check(value))
        if not again and "regenerate" in info.data:
            raise PydanticCustomError("missing", "Field required")
        return ""


class NewRun(RunOptions, RunQuestion):
    """A question, and how to answer it."""

    collection_ids: CollectionIds = Field(
        default=[],
        description="Collections whose documents are read, and counted, as those of `page_ids`.",
    )
    on_disconnect: Literal["cancel", "continue"] = "cancel"
    while_running: WhileRunning = Field(
        default="reject",
        description="If the session is already answering: `reject` with 409, `enqueue` after it, or `interrupt` it.",
    )
    stream: bool = Field(default=True, description="true: Server-Sent Events; false: the finished message as JSON.")

    @field_validator("page_ids", "collection_ids", "selected_text")
    @classmethod
    def _not_with_regenerate(cls, value: Any, info: ValidationInfo) -> Any:
        if value and info.data.get("regenerate") is not None:
            raise ValueError(WITH_REGENERATE)
        return value

    def to_run_request(self, identity: Identity, knobs: Mapping[str, Any], collected: Sequence[str] = ()) -> RunRequest:
        """Return the requested run for this identity; ``knobs`` are the deployment's settings.

        ``collected`` are the documents of its collections.
        """
        return RunRequest(
            self.question,
            self.context(identity, knobs),
            tuple(map(str, self.page_ids)),
            self.selected_text or "",
            tuple(map(str, self.collection_ids)),
            tuple(collected),
            while_running=self.while_running,
            edit=optional(self.edit),
            regenerate=optional(self.regenerate),
        )


class NewSession(Body):
    """The initial fields of a session."""

    title: Title | None = None
    page_id: UUID | None = Field(default=None, description="The host's page on which it was started.")
    page_ids: SelectedIds = Field(default=[])
    collection_ids: CollectionIds = Field(default=[])
    ephemeral: bool = Field(default=False, description="Never listed; deleted after 24 hours.")


class SessionChange(Body):
    """Changes to a session; fields that are left out stay as they are."""

    title: Title | None = None
    page_ids: SelectedIds | None = None
    collection_ids: CollectionIds | None = None
    pinned: bool | None = Field(default=None, description="Whether it comes before the others in the list.")


class FinishedRun(Body):
    """A finished run: the fields of `run_finished`, with the ids."""

    run_id: str
    session_id: str
    message_id: str
    outcome: Literal["answered", "abstained", "cancelled"]
    stop_reason: str
    message: Message
    spent: dict[str, Spent]
    cost: Cost | None = None

    @classmethod
    def of(cls, run: Run, end: RunFinished) -> "FinishedRun":
        """Create the reply from a run and its end."""
        return cls(
            run_id=run.run_id,
            session_id=run.session_id,
            message_id=run.message_id,
            outcome=end.outcome,
            stop_reason=end.stop_reason,
            message=end.message,
            spent=end.spent,
            cost=end.cost,
        )


class SessionTitle(Body):
    """The title of a session."""

    session_id: str
    title: str


class SessionList(Body):
    """A page of sessions, pinned ones first, then the last used; of a search, only the last used first."""

    sessions: list[Session]
    next_cursor: str | None = Field(description="Send it as `cursor` for the sessions that follow; null at the end.")
    hits: list[SessionHit] = Field(
        default=[], description="Of a search: where in these sessions it was found, but for what only a title has."
    )


class SessionMessage(Body):
    """A message; the second group of fields belongs to answers.

    Each citation has in `freshness` the state of its quote today, and in `now` the quote's current position.
    """

    message_id: str
    run_id: str | None
    parent_message_id: str | None
    role: Literal["user", "assistant"]
    content: str
    created_at: datetime
    versions: list[str] = Field(
        default=[],
        description="The ids of all versions of this message, oldest first, if there are several.",
    )
    page_ids: list[str] = Field(default=[], description="The documents that a question asked to read in full.")
    collection_ids: list[str] = Field(default=[], description="The collections that a question was asked of.")
    collected_ids: list[str] = Field(default=[], description="Those of `page_ids` that its collections held.")
    selected_text: str | None = Field(default=None, description="The passage that a question is about.")
    answering: bool = Field(default=False, description="Whether the question is still being answered.")
    feedback: Feedback | None = Field(default=None, description="What the reader says of an answer.")

    outcome: Outcome | None
    stop_reason: str | None
    family: FamilyName | None = None
    sections: list[Section] = Field(default=[])
    citations: list[Citation] = Field(default=[])
    sources: list[Source] = Field(default=[])
    nearest: list[Source] = Field(default=[])
    claims: list[SectionClaim] = Field(default=[])
    assessment: Assessment | None = None
    disagreements: list[Disagreement] = Field(default=[])
    refusal: Refusal | None = Field(default=None, description="What an answer that abstained says, in parts.")
    pages: PagesRead | None = Field(default=None, description="What was read of the selected documents.")
    spent: dict[str, Spent] = Field(default={})
    cost: Cost | None = Field(default=None, description="What an answer cost, as far as its models have prices.")


class SessionDetail(Body):
    """A session with the newest messages of a branch, in chronological order."""

    session: Session
    messages: list[SessionMessage]
    next_cursor: str | None = Field(description="Send it as `cursor` for earlier messages; null at the beginning.")


_FIELDS = list(SessionMessage.model_fields)
_OF_ANSWERS = {
    name: SessionMessage.model_fields[name].get_default(call_default_factory=True)
    for name in _FIELDS[_FIELDS.index("family") :]
}


def detail_as_json(history: EncodedHistory) -> bytes:
    """Return a session whose messages ``message_as_json`` encoded as JSON, in the shape of ``SessionDetail``."""
    session, cursor = to_json(history.session), to_json(history.next_cursor)
    parts = [part for message in history.messages for part in (b",", message)][1:]
    return b"".join([b'{"session":', session, b',"messages":[', *parts, b'],"next_cursor":', cursor, b"}"])


def message_as_json(stored: StoredMessage) -> bytes:
    """Return a stored message as JSON, the fields in the order of ``SessionMessage``.

    Not validated again: a long session has a thousand citations, and they were valid when they were stored. Fields that
    only a later release knows are left out.
    """
    collected = stored.body.get("collected", [])
    first = {
        "message_id": stored.message_id,
        "run_id": stored.run_id,
        "parent_message_id": stored.parent_message_id,
        "role": stored.role,
        "content": stored.content,
        "created_at": stored.created_at,
        "versions": stored.versions if len(stored.versions) > 1 else [],
        "page_ids": [*stored.body.get("page_ids", []), *collected],
        "collection_ids": stored.body.get("collection_ids", []),
        "collected_ids": collected,
        "selected_text": stored.body.get("selected_text"),
        "answering": stored.answering,
        "feedback": stored.feedback,
        "outcome": stored.outcome,
        "stop_reason": stored.stop_reason,
    }
    return to_json(first | {name: stored.body.get(name, default) for name, default in _OF_ANSWERS.items()})


class RunList(Body):
    """A page of runs, newest first."""

    runs: list[RunStatus]
    next_cursor: str | None = Field(description="Send it as `cursor` for the runs that follow; null at the end.")
