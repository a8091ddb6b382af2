"""Requests and responses of the native dialect. A field that this version does not have is refused, never ignored."""

import re
from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from fastapi import Query
from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from graph.context import Context
from graph.events import RunFinished
from graph.evidence import (
    Assessment,
    Citation,
    Disagreement,
    FamilyName,
    Identity,
    Message,
    SearchMode,
    Section,
    SectionClaim,
    Source,
    Spent,
    WebMode,
    WhileRunning,
)
from tools.runs import Run, RunRequest
from tools.sessions import History, Session, StoredMessage

CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def _printable(value: str) -> str:
    if CONTROL.search(value):
        raise ValueError("control characters are not allowed, but for newline and tab")
    if not value.strip():
        raise ValueError("blank text is not allowed")
    return value


Printable = AfterValidator(_printable)
Question = Annotated[str, Field(min_length=1, max_length=10_000), Printable]
SelectedText = Annotated[str, Field(min_length=1, max_length=1000), Printable]
Name = Annotated[str, Field(min_length=1, max_length=200), Printable]
Title = Annotated[str, Field(min_length=1, max_length=255), Printable]
Limit = Annotated[int, Query(ge=1, le=200)]
Cursor = Annotated[str | None, Query(max_length=500)]
PageIds = Annotated[list[UUID], Field(max_length=100)]


class Body(BaseModel):
    """What every request and response keeps to: the named fields and no other."""

    model_config = ConfigDict(extra="forbid")


class NewSession(Body):
    """What a session starts with."""

    title: Title | None = None
    page_ids: PageIds = []
    ephemeral: bool = Field(default=False, description="Never listed; deleted after 24 hours.")


class Budget(Body):
    """Caps of one run: model calls, of which 8 is the most, seconds, and tokens as the endpoint reports them."""

    model_calls: Annotated[int, Field(ge=0, le=8)] = 8
    seconds: Annotated[float, Field(gt=0, le=600)] = 120.0
    tokens: Annotated[int, Field(ge=1)] | None = None


class NewRun(Body):
    """One question, and how it is to be answered."""

    question: Question
    page_ids: PageIds = Field(default=[], description="Documents to read whole.")
    only_selected_pages: bool = Field(default=False, description="Answer from `page_ids` and `selected_text` alone.")
    selected_text: SelectedText | None = Field(
        default=None, description="A passage that the reader marked: read first, and citable."
    )
    search: SearchMode = Field(default="auto", description="`auto` decides whether the question needs the library.")
    web: WebMode = Field(
        default="off",
        description="`fallback`: where the library holds nothing relevant; `also`: beside it; `first`: before it.",
    )
    spaces: Annotated[list[Name], Field(max_length=100)] = Field(
        default=[], description="Ids or slugs of the spaces to search; empty for all."
    )
    top_k: Annotated[int, Field(ge=1, le=30)] = 10
    min_score: Annotated[float, Field(ge=0, le=1)] = 0.3
    model: Annotated[str, Field(max_length=100)] = Field(
        default="", description="A configured model's name, or `extractive`; empty for the deployment's default."
    )
    thinking: bool = Field(default=False, description="Use the model's thinking model.")
    budget: Budget = Budget()
    on_disconnect: Literal["cancel", "continue"] = "cancel"
    while_running: WhileRunning = Field(
        default="reject",
        description="Where the session is answering: `reject` with 409, `enqueue` behind it, or `interrupt` it.",
    )
    stream: bool = Field(default=True, description="true: Server-Sent Events; false: the finished message as JSON.")

    def request(self, identity: Identity, knobs: Mapping[str, Any]) -> RunRequest:
        """Lay out the run that this asks for, on the identity's behalf; ``knobs`` are the deployment's."""
        context = Context(
            workspace=identity.workspace,
            user=identity.user,
            search=self.search,
            web=self.web,
            only_selected_pages=self.only_selected_pages,
            spaces=self.spaces,
            top_k=self.top_k,
            min_score=self.min_score,
            model=self.model,
            thinking=self.thinking,
            max_model_calls=self.budget.model_calls,
            max_tokens=self.budget.tokens,
            max_seconds=self.budget.seconds,
            **knobs,
        )
        return RunRequest(
            self.question,
            context,
            tuple(map(str, self.page_ids)),
            self.selected_text or "",
            while_running=self.while_running,
        )


class SessionList(Body):
    """A page of sessions, the last used first."""

    sessions: list[Session]
    next_cursor: str | None = Field(description="Send it as `cursor` for the sessions that follow; null at the end.")


class SessionMessage(Body):
    """A message as it was finished; all but the first group of fields belong to answers.

    Each citation tells in `freshness` what has become of its quote since, and in `now` where it stands today.
    """

    message_id: str
    run_id: str | None
    parent_message_id: str | None
    role: Literal["user", "assistant"]
    content: str
    created_at: datetime
    page_ids: list[str] = Field(default=[], description="What a question asked to be read whole.")
    selected_text: str | None = Field(default=None, description="The passage that a question was asked about.")

    outcome: str | None
    stop_reason: str | None
    family: FamilyName | None = None
    sections: list[Section] = []
    citations: list[Citation] = []
    sources: list[Source] = []
    nearest: list[Source] = []
    claims: list[SectionClaim] = []
    assessment: Assessment | None = None
    disagreements: list[Disagreement] = []
    spent: dict[str, Spent] = {}

    @classmethod
    def of(cls, stored: StoredMessage) -> "SessionMessage":
        """Show a stored message; what a later release adds to a body is left out."""
        known = {name: value for name, value in stored.body.items() if name in cls.model_fields}
        return cls(
            **known,
            message_id=stored.message_id,
            run_id=stored.run_id,
            parent_message_id=stored.parent_message_id,
            role=stored.role,
            content=stored.content,
            created_at=stored.created_at,
            outcome=stored.outcome,
            stop_reason=stored.stop_reason,
        )


class SessionDetail(Body):
    """A session with its newest messages, in the order they were said."""

    session: Session
    messages: list[SessionMessage]
    next_cursor: str | None = Field(description="Send it as `cursor` for earlier messages; null at the beginning.")

    @classmethod
    def of(cls, history: History) -> "SessionDetail":
        """Show a session's history."""
        return cls(
            session=history.session,
            messages=[SessionMessage.of(message) for message in history.messages],
            next_cursor=history.next_cursor,
        )


class FinishedRun(Body):
    """How a run ended, in one piece: what `run_finished` tells, with the ids."""

    run_id: str
    session_id: str
    message_id: str
    outcome: Literal["answered", "abstained", "cancelled"]
    stop_reason: str
    message: Message
    spent: dict[str, Spent]

    @classmethod
    def of(cls, run: Run, end: RunFinished) -> "FinishedRun":
        """Show a finished run."""
        return cls(
            run_id=run.run_id,
            session_id=run.session_id,
            message_id=run.message_id,
            outcome=end.outcome,
            stop_reason=end.stop_reason,
            message=end.message,
            spent=end.spent,
        )
