"""Requests and responses of the docmost dialect, spelled as Docmost's client spells them.

Fields that are not known here are ignored, and null is the same as leaving a field out: the client sends both.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal, cast
from uuid import UUID

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, field_validator, model_validator
from pydantic.alias_generators import to_camel

from api.asking import Said, history_of
from api.dialects.docmost import RagSource, rag_source
from api.dialects.markers import JOINER, footnote, marked_text
from api.dialects.places import by_place
from api.errors import Problem
from api.moments import Moment
from api.schemas import CONTROL, PageIds, Title
from graph.context import Context
from graph.evidence import Citation, Freshness, Identity, Message
from tools.runs import RunRequest
from tools.sessions import History, Session, StoredMessage

SOURCES_FOUND = 5
LONGEST_QUESTION = 10_000
_MARK = re.compile(r"\[\^\d+\]")
_WORST: Sequence[Freshness] = ("deleted", "changed", "moved", "fresh")


class Camel(BaseModel):
    """What every request and response keeps to: names in camel case."""

    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True, extra="ignore")


class Asked(Camel):
    """What a client sends."""

    @model_validator(mode="before")
    @classmethod
    def _without_nulls(cls, given: Any) -> Any:
        return {name: value for name, value in given.items() if value is not None} if isinstance(given, dict) else given


class NewAiSession(Asked):
    """What a session starts with."""

    page_id: UUID | None = Field(default=None, description="The page the chat was opened on; given back, not read.")


class AiSessionPatch(Asked):
    """What is to be changed of a session; what is left out stays as it is."""

    title: Title | None = None
    selected_page_ids: PageIds | None = None


class AiTurn(Asked):
    """A message as the client holds it."""

    role: Literal["user", "assistant", "system"]
    content: str


class AiQuestion(Asked):
    """The last message is the question; those before it count only where no session is named."""

    messages: Annotated[list[AiTurn], Field(min_length=1, max_length=1000)]
    session_id: UUID | None = None
    model: Annotated[str, Field(max_length=100)] = Field(
        default="", description="A configured model's name, or `extractive`; empty for the deployment's default."
    )
    thinking: bool = False
    selected_page_ids: PageIds = []
    is_web_search_enabled: bool = Field(
        default=False, description="Search the web, and the pages if it brings nothing."
    )
    is_semantic_search_enabled: bool = Field(default=False, description="Search the workspace's pages too.")

    @field_validator("messages")
    @classmethod
    def _ends_with_a_question(cls, messages: list[AiTurn]) -> list[AiTurn]:
        last = messages[-1]
        if last.role != "user" or not last.content.strip():
            raise ValueError("the last one must be the user's, with text")
        if len(last.content) > LONGEST_QUESTION:
            raise ValueError(f"a question has at most {LONGEST_QUESTION:,} characters")
        if CONTROL.search(last.content):
            raise ValueError("control characters are not allowed in a question, but for newline and tab")
        return messages

    def request(self, identity: Identity, knobs: Mapping[str, Any]) -> RunRequest:
        """Lay out the run that this asks for; without a session, its messages are what was said before."""
        context = Context(
            workspace=identity.workspace,
            user=identity.user,
            search="auto" if self.is_semantic_search_enabled else "off",
            web="first" if self.is_web_search_enabled else "off",
            top_k=SOURCES_FOUND,
            model=self.model,
            thinking=self.thinking,
            **knobs,
        )
        page_ids = tuple(map(str, self.selected_page_ids))
        history = None if self.session_id else history_of([_said(turn) for turn in self.messages])
        return RunRequest(self.messages[-1].content, context, page_ids, history=history)


def _said(turn: AiTurn) -> Said:
    """Give a message as it was meant: the marks in an answer are of a list of sources that is gone."""
    text = CONTROL.sub(" ", turn.content).replace(JOINER, "")
    return Said(turn.role, _MARK.sub("", text) if turn.role == "assistant" else text)


class AiSession(Camel):
    """A session. ``selectedPageIds`` are those of its last question."""

    id: str
    workspace_id: str
    user_id: str
    page_id: str | None
    title: str
    selected_page_ids: list[str]
    created_at: Moment
    updated_at: Moment

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


class AiMessage(Camel):
    """A message with its marks; ``[^n]`` is the n-th of its sources."""

    id: str
    role: Literal["user", "assistant"]
    content: str
    sources: list[RagSource]
    created_at: Moment

    @classmethod
    def of(cls, stored: StoredMessage) -> "AiMessage":
        """Show a stored message as its stream told it."""
        content, sources = stored.content, []
        if stored.role == "assistant":
            message = cast(Message, stored.body)
            content = marked_text(message, by_place(footnote, message["sources"]))
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


class MadeSession(Camel):
    """A session just made. ``memories`` is always empty: what a user told is not remembered across sessions."""

    session: AiSession
    memories: list[str] = []


class ChangedSession(Camel):
    """A session as it stands after a change."""

    session: AiSession


class AutoTitle(Camel):
    """The title that a session was given."""

    title: str
    session: AiSession


class Deleted(Camel):
    """The session is gone."""

    success: Literal[True] = True


class AiSessionList(Camel):
    """Sessions, the last used first."""

    sessions: list[AiSession]
    next_cursor: str | None = Field(description="Send it as `cursor` for the sessions that follow; null at the end.")


class AiSessionDetail(Camel):
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


def _without_control(value: str) -> str:
    if CONTROL.search(value):
        raise ValueError("control characters are not allowed")
    return value


class PageSearch(Asked):
    """Which pages to list: by id, or by words and space; with none of these, the last changed."""

    space_id: Annotated[str, Field(max_length=200), AfterValidator(_without_control)] = Field(
        default="", description="An id or a slug."
    )
    query: Annotated[str, Field(max_length=500), AfterValidator(_without_control)] = ""
    page_ids: PageIds = Field(default=[], description="These pages, in this order; the rest is then not looked at.")


class AiPage(Camel):
    """A page that can be selected. What its document lacks is an empty string."""

    page_id: str
    title: str
    slug_id: str
    space_id: str
    space_slug: str


class AiError(Camel):
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
