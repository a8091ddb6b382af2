"""Docmost requests, spelled as Docmost's client spells them.

Fields that are not known here are ignored, and null is the same as leaving a field out: the client sends both.
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
    """What every request and response keeps to: names in camel case."""

    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True, extra="ignore")


class DocmostRequest(CamelCaseModel):
    """What a client sends."""

    @model_validator(mode="before")
    @classmethod
    def _without_nulls(cls, given: Any) -> Any:
        return {name: value for name, value in given.items() if value is not None} if isinstance(given, dict) else given


class NewAiSession(DocmostRequest):
    """What a session starts with."""

    page_id: UUID | None = Field(default=None, description="The page the chat was opened on; given back, not read.")


class AiSessionPatch(DocmostRequest):
    """What is to be changed of a session; what is left out stays as it is."""

    title: Title | None = None
    selected_page_ids: PageIds | None = None


class AiTurn(DocmostRequest):
    """A message as the client holds it."""

    role: Literal["user", "assistant", "system"]
    content: str


class AiQuestion(DocmostRequest):
    """The last message is the question; those before it count only where no session is named."""

    messages: Annotated[list[AiTurn], Field(min_length=1, max_length=1000)]
    session_id: UUID | None = None
    model: ModelName = ""
    thinking: bool = False
    selected_page_ids: PageIds = []
    is_web_search_enabled: bool = Field(
        default=False, description="Search the web, and the pages if it brings nothing."
    )
    is_semantic_search_enabled: bool = Field(default=False, description="Search the workspace's pages too.")

    def request(self, identity: Identity, knobs: Mapping[str, Any]) -> RunRequest:
        """Lay out the run that this asks for; without a session, its messages are what was said before.

        Raises InvalidRequest where the last message is no question.
        """
        said = [ChatMessage(turn.role, turn.content) for turn in self.messages]
        question = parse_question(last_question(said), f"messages.{len(said) - 1}.content")
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
        history = None if self.session_id else recent_turns([without_marks(turn, _MARK) for turn in said])
        return RunRequest(question, context, page_ids, history=history)


def _without_control(value: str) -> str:
    if CONTROL.search(value):
        raise ValueError("control characters are not allowed")
    return value


class PageSearch(DocmostRequest):
    """Which pages to list: by id, or by words and space; with none of these, the last changed."""

    space_id: Annotated[str, Field(max_length=200), AfterValidator(_without_control)] = Field(
        default="", description="An id or a slug."
    )
    query: Annotated[str, Field(max_length=500), AfterValidator(_without_control)] = ""
    page_ids: PageIds = Field(default=[], description="These pages, in this order; the rest is then not looked at.")
