"""Docmost replies, spelled as Docmost's client reads them."""

from collections.abc import Sequence
from typing import Literal, cast

from pydantic import Field

from api.dialects.citation_marks import by_position, footnote, marked_text
from api.dialects.docmost.encoder import RagSource, rag_source
from api.dialects.docmost.requests import CamelCaseModel
from api.fields import Timestamp
from api.problems import Problem
from graph.evidence import Citation, Freshness, Identity, Message
from tools.sessions.session_store import History, Session, StoredMessage

_WORST: Sequence[Freshness] = ("deleted", "changed", "moved", "fresh")


class AiSession(CamelCaseModel):
    """A session. ``selectedPageIds`` are those of its last question."""

    id: str
    workspace_id: str
    user_id: str
    page_id: str | None
    title: str
    selected_page_ids: list[str]
    created_at: Timestamp
    updated_at: Timestamp

    @classmethod
    def of(cls, session: Session, identity: Identity) -> "AiSession":
        """Show a session to its owner."""
        return cls(
            id=session.session_id,
            workspace_id=identity.workspace,
            user_id=identity.user,
            page_id=session.page_id,
            title=session.title,
            selected_page_ids=session.page_ids,
            created_at=session.created_at,
            updated_at=session.updated_at,
        )


class AiMessage(CamelCaseModel):
    """A message with its marks; ``[^n]`` is the n-th of its sources."""

    id: str
    role: Literal["user", "assistant"]
    content: str
    sources: list[RagSource]
    created_at: Timestamp

    @classmethod
    def of(cls, stored: StoredMessage) -> "AiMessage":
        """Show a stored message as its stream told it."""
        content, sources = stored.content, []
        if stored.role == "assistant":
            message = cast(Message, stored.body)
            content = marked_text(message, by_position(footnote, message["sources"]))
            sources = _with_freshness(message)
        return cls(
            id=stored.message_id, role=stored.role, content=content, sources=sources, created_at=stored.created_at
        )


def _with_freshness(message: Message) -> list[RagSource]:
    """Show a message's sources, each with the worst that has become of what the answer quotes of it."""
    shown = []
    for source in message["sources"]:
        quoted = [each for each in message["citations"] if each["source_index"] == source["index"]]
        shown.append(rag_source(source))
        if found := _freshness(quoted):
            shown[-1]["freshness"] = found
    return shown


def _freshness(citations: Sequence[Citation]) -> Freshness | None:
    return next((each for each in _WORST if any(cited.get("freshness") == each for cited in citations)), None)


class MadeSession(CamelCaseModel):
    """A session just made. ``memories`` is always empty: what a user told is not remembered across sessions."""

    session: AiSession
    memories: list[str] = Field(default=[])


class ChangedSession(CamelCaseModel):
    """A session as it stands after a change."""

    session: AiSession


class AutoTitle(CamelCaseModel):
    """The title that a session was given."""

    title: str
    session: AiSession


class Deleted(CamelCaseModel):
    """The session is gone."""

    success: Literal[True] = True


class AiSessionList(CamelCaseModel):
    """Sessions, the last used first."""

    sessions: list[AiSession]
    next_cursor: str | None = Field(description="Send it as `cursor` for the sessions that follow; null at the end.")


class AiSessionDetail(CamelCaseModel):
    """A session with its newest messages, in the order they were said."""

    session: AiSession
    messages: list[AiMessage]
    next_cursor: str | None = Field(description="Send it as `cursor` for earlier messages; null at the beginning.")

    @classmethod
    def of(cls, history: History, identity: Identity) -> "AiSessionDetail":
        """Show a session's history to its owner."""
        return cls(
            session=AiSession.of(history.session, identity),
            messages=[AiMessage.of(message) for message in history.messages],
            next_cursor=history.next_cursor,
        )


class AiPage(CamelCaseModel):
    """A page that can be selected. What its document lacks is an empty string."""

    page_id: str
    title: str
    slug_id: str
    space_id: str
    space_slug: str


class AiError(CamelCaseModel):
    """What went wrong, as Docmost's own server says it, with our code."""

    status_code: int
    message: str
    error: str
    code: str
    suggestion: str
    retryable: bool

    @classmethod
    def of(cls, problem: Problem) -> "AiError":
        """Show a problem to Docmost's client."""
        return cls(
            status_code=problem.status,
            message=problem.detail,
            error=problem.title,
            code=problem.code,
            suggestion=problem.suggestion,
            retryable=problem.retryable,
        )
