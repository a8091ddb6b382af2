"""Native replies: finished runs, sessions, their messages, and lists of runs."""

from datetime import datetime
from typing import Any, Literal

from pydantic import Field
from pydantic_core import to_json

from api.fields import Body
from graph.events import RunFinished
from graph.evidence import (
    Assessment,
    Citation,
    Disagreement,
    FamilyName,
    Message,
    Outcome,
    Section,
    SectionClaim,
    Source,
    Spent,
)
from tools.runs.live_run import Run
from tools.runs.run_listing import RunStatus
from tools.sessions.session_store import History, Session, StoredMessage


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


class SessionTitle(Body):
    """What a session is called."""

    session_id: str
    title: str


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
    versions: list[str] = Field(
        default=[],
        description="Where there are several: the ids of all messages in this one's place, the oldest first.",
    )
    page_ids: list[str] = Field(default=[], description="What a question asked to be read whole.")
    selected_text: str | None = Field(default=None, description="The passage that a question was asked about.")

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
    spent: dict[str, Spent] = Field(default={})


class SessionDetail(Body):
    """A session with the newest messages of a branch, in the order they were said."""

    session: Session
    messages: list[SessionMessage]
    next_cursor: str | None = Field(description="Send it as `cursor` for earlier messages; null at the beginning.")


_DEFAULTS = {
    name: field.get_default(call_default_factory=True)
    for name, field in SessionMessage.model_fields.items()
    if not field.is_required()
}


def detail_as_json(history: History) -> bytes:
    """Write a session's history out as ``SessionDetail`` describes it.

    A long session holds a thousand citations that were right when they were stored: they are not validated again.
    """
    messages = [_shown(message) for message in history.messages]
    return to_json({"session": history.session, "messages": messages, "next_cursor": history.next_cursor})


def _shown(stored: StoredMessage) -> dict[str, Any]:
    """Show a stored message; what a later release adds to a body is left out."""
    shown = {
        **_DEFAULTS,
        "message_id": stored.message_id,
        "run_id": stored.run_id,
        "parent_message_id": stored.parent_message_id,
        "role": stored.role,
        "content": stored.content,
        "created_at": stored.created_at,
        "versions": stored.versions if len(stored.versions) > 1 else [],
        "outcome": stored.outcome,
        "stop_reason": stored.stop_reason,
    }
    known = {name: value for name, value in stored.body.items() if name in _DEFAULTS and name != "versions"}
    whole = shown | known
    return {name: whole[name] for name in SessionMessage.model_fields}


class RunList(Body):
    """A page of runs, the newest first."""

    runs: list[RunStatus]
    next_cursor: str | None = Field(description="Send it as `cursor` for the runs that follow; null at the end.")
