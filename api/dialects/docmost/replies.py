"""Docmost replies, in the format of Docmost's client."""

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
        """Create the reply from a session and its owner."""
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
    """A message with its marks; ``[^n]`` is its n-th source."""

    id: str
    role: Literal["user", "assistant"]
    content: str
    sources: list[RagSource]
    created_at: Timestamp

    @classmethod
    def of(cls, stored: StoredMessage) -> "AiMessage":
        """Create the reply from a stored message, with the text that its stream sent."""
        content, sources = stored.content, []
        if stored.role == "assistant":
            message = cast(Message, stored.body)
            content = marked_text(message, by_position(footnote, message["sources"]))
            sources = _with_freshness(message)
        return cls(
            id=stored.message_id, role=stored.role, content=content, sources=sources, created_at=stored.created_at
        )


def _with_freshness(message: Message) -> list[RagSource]:
    """Return a message's sources, each with the worst freshness of its quotes in the answer."""
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
    """A new session. ``memories`` is always empty: nothing is remembered across sessions."""

    session: AiSession
    memories: list[str] = Field(default=[])


class ChangedSession(CamelCaseModel):
    """A session after a change."""

    session: AiSession


class AutoTitle(CamelCaseModel):
    """The title of a session."""

    title: str
    session: AiSession


class Deleted(CamelCaseModel):
    """The session is gone."""

    success: Literal[True] = True


class AiSessionList(CamelCaseModel):
    """Sessions, last used first."""

    sessions: list[AiSession]
    next_cursor: str | None = Field(description="Send it as `cursor` for the sessions that follow; null at the end.")


class AiSessionDetail(CamelCaseModel):
    """A session with its newest messages, in chronological order."""

    session: AiSession
    messages: list[AiMessage]
    next_cursor: str | None = Field(description="Send it as `cursor` for earlier messages; null at the beginning.")

    @classmethod
    def of(cls, history: History, identity: Identity) -> "AiSessionDetail":
        """Create the reply from a session's history and its owner."""
        return cls(
            session=AiSession.of(history.session, identity),
            messages=[AiMessage.of(message) for message in history.messages],
            next_cursor=history.next_cursor,
        )


class AiPage(CamelCaseModel):
    """A page that can be selected. Fields that its document lacks are empty strings."""

    page_id: str
    title: str
    slug_id: str
    space_id: str
    space_slug: str


class AiError(CamelCaseModel):
    """An error in the format of Docmost's own server, with our code."""

    status_code: int
    message: str
    error: str
    code: str
    suggestion: str
    retryable: bool

    @classmethod
    def of(cls, problem: Problem) -> "AiError":
        """Create the error from a problem."""
        return cls(
            status_code=problem.status,
            message=problem.detail,
            error=problem.title,
            code=problem.code,
            suggestion=problem.suggestion,
            retryable=problem.retryable,
        )
