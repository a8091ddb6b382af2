"""Native replies: sessions, their messages, and lists of runs."""

from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from pydantic import Field
from pydantic_core import to_json

from api.fields import Body, PageIds, Title
from graph.evidence import Assessment, Citation, Disagreement, FamilyName, Outcome, Section, SectionClaim, Source, Spent
from tools.runs.run_listing import RunStatus
from tools.sessions.session_store import History, Session, StoredMessage


class NewSession(Body):
    """What a session starts with."""

    title: Title | None = None
    page_id: UUID | None = Field(default=None, description="The page of the host that it is begun on.")
    page_ids: PageIds = Field(default=[])
    ephemeral: bool = Field(default=False, description="Never listed; deleted after 24 hours.")


class SessionChange(Body):
    """What of a session is to be another; what is left out stays."""

    title: Title | None = None
    page_ids: PageIds | None = None


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
