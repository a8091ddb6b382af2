"""Requests and replies of the docmost dialect, spelled as Docmost's client spells them."""

import re
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal, cast
from uuid import UUID

from pydantic import AfterValidator, ConfigDict, Field, model_validator
from pydantic.alias_generators import to_camel

from api.dialects.chat_request import ChatMessage, last_question, parse_question, recent_turns, without_marks
from api.dialects.citation_marks import by_position, footnote, marked_text
from api.dialects.docmost.encoder import RagSource, cut_notice, quoted_source
from api.dialects.quotes import marked_quotes
from api.fields import CONTROL, AnswerFromField, ExactTypes, ModelName, PageIds, Timestamp, Title, knobs_with
from api.problems import Problem
from graph.context import Context
from graph.evidence import AnswerFrom, Freshness, Identity, Message
from tools.sessions.run_request import RunRequest
from tools.sessions.session_store import History, Session, StoredMessage

SOURCES_FOUND = 5
_MARK = re.compile(r"\[\^\d+\]")


def _with_nulls(schema: dict[str, Any]) -> None:
    """Say in the schema of a request that null counts as omitted."""
    for name, field in schema["properties"].items():
        if name not in schema.get("required", ()) and {"type": "null"} not in field.get("anyOf", ()):
            described = {key: field.pop(key) for key in ("title", "description", "default") if key in field}
            schema["properties"][name] = {"anyOf": [field, {"type": "null"}], **described}


class CamelCaseModel(ExactTypes):
    """Base of requests and replies: field names in camel case."""

    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True)


class DocmostRequest(CamelCaseModel):
    """Base of requests: null fields count as omitted."""

    model_config = ConfigDict(json_schema_extra=_with_nulls)

    @model_validator(mode="before")
    @classmethod
    def _without_nulls(cls, values: Any) -> Any:
        return (
            {name: value for name, value in values.items() if value is not None} if isinstance(values, dict) else values
        )


class NewAiSession(DocmostRequest):
    """The initial fields of a session."""

    page_id: UUID | None = Field(default=None, description="The page the chat was opened on; returned, not read.")


class AiSessionPatch(DocmostRequest):
    """Changes to a session; fields that are left out stay as they are."""

    title: Title | None = None
    selected_page_ids: PageIds | None = None


class AiTurn(DocmostRequest):
    """A message as the client stores it."""

    role: Literal["user", "assistant", "system"]
    content: str


class AiQuestion(DocmostRequest):
    """A chat whose last message is the question; those before it count only without a ``session_id``."""

    messages: Annotated[list[AiTurn], Field(min_length=1, max_length=1000)]
    session_id: UUID | None = None
    model: ModelName = ""
    thinking: bool = False
    selected_page_ids: PageIds | None = Field(
        default=None, description="Pages to read in full; left out, those of the session stay selected, and are read."
    )
    is_web_search_enabled: bool = Field(default=False, description="Search the web, and the pages if it finds nothing.")
    is_semantic_search_enabled: bool = Field(default=False, description="Search the workspace's pages too.")
    answer_from: AnswerFromField = None

    def to_run_request(self, identity: Identity, knobs: Mapping[str, Any]) -> RunRequest:
        """Return the requested run; without a session, the messages before the question are its history.

        Raises InvalidRequest if the last message is not a question.
        """
        messages = [ChatMessage(turn.role, turn.content) for turn in self.messages]
        question = parse_question(last_question(messages), f"messages.{len(messages) - 1}.content")
        context = Context.of(
            identity,
            search="auto" if self.is_semantic_search_enabled else "off",
            web="first" if self.is_web_search_enabled else "off",
            top_k=SOURCES_FOUND,
            model=self.model,
            thinking=self.thinking,
            **knobs_with(knobs, self.answer_from, default=self._usual_source),
        )
        page_ids = tuple(map(str, self.selected_page_ids or ()))
        history = None if self.session_id else recent_turns([without_marks(turn, _MARK) for turn in messages])
        return RunRequest(question, context, page_ids, history=history, while_running="enqueue")

    @property
    def _usual_source(self) -> AnswerFrom:
        """Docmost's chat without pages and toggles is a plain chat; elsewhere the model steps in."""
        looks_up = self.selected_page_ids or self.is_web_search_enabled or self.is_semantic_search_enabled
        return "library_then_model" if looks_up else "model"


def _without_control(value: str) -> str:
    if CONTROL.search(value):
        raise ValueError("control characters are not allowed")
    return value


class PageSearch(DocmostRequest):
    """A search for pages by id, or by words and space; with none of these, the last changed."""

    space_id: Annotated[str, Field(max_length=200), AfterValidator(_without_control)] = Field(
        default="", description="An id or a slug."
    )
    query: Annotated[str, Field(max_length=500), AfterValidator(_without_control)] = ""
    page_ids: PageIds = Field(default=[], description="Return these pages, in this order, and ignore the other fields.")


_WORST: Sequence[Freshness] = ("withheld", "deleted", "changed", "moved", "fresh")


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
            content += cut_notice(message) if stored.outcome != "cancelled" else ""
            sources = _with_freshness(message)
        return cls(
            id=stored.message_id, role=stored.role, content=content, sources=sources, created_at=stored.created_at
        )


def _with_freshness(message: Message) -> list[RagSource]:
    """Return a message's sources, each with the worst freshness of its quotes in the answer."""
    shown = []
    quotes = marked_quotes(message)
    for source in message["sources"]:
        quoted = [each for each in message["citations"] if each["source_index"] == source["index"]]
        shown.append(quoted_source(source, quotes))
        found = {each["freshness"] for each in quoted if "freshness" in each}
        if found:
            shown[-1]["freshness"] = min(found, key=_WORST.index)
    return shown


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
    """A session with its newest messages, in chronological order, without answers that were stopped before any text."""

    session: AiSession
    messages: list[AiMessage]
    next_cursor: str | None = Field(description="Send it as `cursor` for earlier messages; null at the beginning.")

    @classmethod
    def of(cls, history: History, identity: Identity) -> "AiSessionDetail":
        """Create the reply from a session's history and its owner."""
        return cls(
            session=AiSession.of(history.session, identity),
            messages=[AiMessage.of(message) for message in history.shown if message.content],
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
