"""Requests and replies of the docs_chatbot dialect. Unknown fields are ignored."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal, cast

from pydantic import UUID4, BaseModel, Field

from api.dialects.docs_chatbot.encoder import DocsSource, content, docs_source
from api.dialects.quotes import quotes_in_context
from api.fields import AnswerFromField, ExactTypes, LineEnds, Printable, SelectedText, Timestamp, knobs_with
from graph.context import Context
from graph.evidence import Identity, Message
from tools.auth.document_links import LinkSigner
from tools.sessions.run_request import RunRequest
from tools.sessions.session_store import History, StoredMessage

CHUNKS_FOUND = 5
THRESHOLD = 0.7


class DocsQuery(ExactTypes):
    """A question about the documentation, or about the text selected on the page."""

    query: Annotated[str, Field(min_length=1, max_length=1000), Printable, LineEnds]
    selected_text: SelectedText | None = None
    session_id: UUID4 | None = Field(default=None, description="Omitted in the first message, which creates a session.")
    top_k: Annotated[int, Field(ge=1, le=30)] = CHUNKS_FOUND
    threshold: Annotated[float, Field(ge=0, le=1)] = Field(default=THRESHOLD, description="The least relevance.")
    answer_from: AnswerFromField = None

    def to_run_request(self, identity: Identity, knobs: Mapping[str, Any]) -> RunRequest:
        """Return the requested run; ``knobs`` are the deployment's settings."""
        knobs = knobs_with(knobs, self.answer_from)
        context = Context.of(identity, top_k=self.top_k, min_score=self.threshold, **knobs)
        return RunRequest(self.query, context, selected_text=self.selected_text or "")


UNSEARCHED = ("no_retrieval_needed", "library_not_allowed")


class ContextUsed(BaseModel):
    """The sources of an answer, and the time it was finished."""

    chunks: list[DocsSource]
    retrieval_timestamp: Timestamp


class DocsMessage(BaseModel):
    """A message, which never changes. ``context_used`` is null for a question, and for an answer without a search."""

    message_id: str
    session_id: str
    role: Literal["user", "assistant"]
    content: str
    selected_text: str | None
    context_used: ContextUsed | None
    created_at: Timestamp

    @classmethod
    def of(cls, stored: StoredMessage, session_id: str, signer: LinkSigner | None = None) -> "DocsMessage":
        """Create the reply from a stored message; ``[n]`` in an answer is its n-th chunk."""
        if stored.role == "user":
            text, used = stored.content, None
        else:
            message = cast(Message, stored.body)
            quotes = quotes_in_context(message["citations"])
            chunks = [docs_source(source, quotes, signer) for source in message["sources"]]
            text, used = content(message), ContextUsed(chunks=chunks, retrieval_timestamp=stored.created_at)
        return cls(
            message_id=stored.message_id,
            session_id=session_id,
            role=stored.role,
            content=text,
            selected_text=stored.body.get("selected_text") if stored.role == "user" else None,
            context_used=None if stored.stop_reason in UNSEARCHED else used,
            created_at=stored.created_at,
        )


class DocsReply(BaseModel):
    """The answer to a question, with its sources."""

    session_id: str
    message: DocsMessage
    sources: list[DocsSource]
    outcome: str
    stop_reason: str

    @classmethod
    def of(cls, stored: StoredMessage, session_id: str, signer: LinkSigner | None = None) -> "DocsReply":
        """Create the reply from a stored answer."""
        message = DocsMessage.of(stored, session_id, signer)
        return cls(
            session_id=session_id,
            message=message,
            sources=message.context_used.chunks if message.context_used else [],
            outcome=stored.outcome or "",
            stop_reason=stored.stop_reason or "",
        )


class DocsSession(BaseModel):
    """A session with its messages, oldest first."""

    session_id: str
    created_at: Timestamp
    last_activity_at: Timestamp
    messages: list[DocsMessage]
    next_cursor: str | None = Field(description="Send it as `cursor` for earlier messages; null at the beginning.")

    @classmethod
    def of(cls, history: History, signer: LinkSigner | None = None) -> "DocsSession":
        """Create the reply from a session's history, without answers that were stopped before they had any text."""
        session = history.session
        messages = [DocsMessage.of(message, session.session_id, signer) for message in history.shown]
        return cls(
            session_id=session.session_id,
            created_at=session.created_at,
            last_activity_at=session.updated_at,
            messages=[message for message in messages if message.content],
            next_cursor=history.next_cursor,
        )
