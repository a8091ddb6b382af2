"""Docmost requests, in the format of Docmost's client.

Unknown fields are ignored, and null is the same as omitting a field: the client sends both.
"""

import re
from collections.abc import Mapping
from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator
from pydantic.alias_generators import to_camel

from api.dialects.chat_request import ChatMessage, last_question, parse_question, recent_turns, without_marks
from api.fields import CONTROL, ModelName, PageIds, Title
from graph.context import Context
from graph.evidence import Identity
from tools.runs.run_request import RunRequest

SOURCES_FOUND = 5
_MARK = re.compile(r"\[\^\d+\]")


class CamelCaseModel(BaseModel):
    """Base of requests and replies: field names in camel case."""

    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True, extra="ignore")


class DocmostRequest(CamelCaseModel):
    """Base of requests: null fields count as omitted."""

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
    selected_page_ids: PageIds = []
    is_web_search_enabled: bool = Field(default=False, description="Search the web, and the pages if it finds nothing.")
    is_semantic_search_enabled: bool = Field(default=False, description="Search the workspace's pages too.")

    def to_run_request(self, identity: Identity, knobs: Mapping[str, Any]) -> RunRequest:
        """Return the requested run; without a session, the messages before the question are its history.

        Raises InvalidRequest if the last message is not a question.
        """
        messages = [ChatMessage(turn.role, turn.content) for turn in self.messages]
        question = parse_question(last_question(messages), f"messages.{len(messages) - 1}.content")
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
        history = None if self.session_id else recent_turns([without_marks(turn, _MARK) for turn in messages])
        return RunRequest(question, context, page_ids, history=history)


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
