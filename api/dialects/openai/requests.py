"""Chat Completions requests, and the run that each becomes.

Parameters of sampling, limits of length and offers of tools are accepted and ignored, as are fields that OpenAI may yet
add: a run has no use for them. What would change the shape of the reply is refused.
"""

import re
from collections.abc import Mapping
from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, field_validator

from api.dialects.chat_request import ChatMessage, last_question, parse_question, recent_turns, without_marks
from api.dialects.run_options import SearchOptions
from api.fields import CONTROL, Body
from graph.context import Context
from graph.errors import InvalidRequest
from graph.evidence import Identity
from graph.state import Turn
from tools.runs.run_request import RunRequest

NO_THINKING = (None, "", "none", "minimal")
# What this dialect wrote into answers comes back in the history: links wherever they are, numbers behind a sentence.
_MARKS = re.compile(r"\[\[\d+\]\]\([^()\s]*\)|(?<=[.!?:;。!?…\"”»)])(?:\[\d+\])+")


def _parts(content: object) -> object:
    if content is None:
        return []
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    if not isinstance(content, list):
        raise ValueError("it must be a string, or a list of parts")
    return content


class Part(BaseModel):
    """A piece of a message; of those that are not text nothing is read."""

    type: str
    text: str = ""
    refusal: str = ""


class CompletionMessage(BaseModel):
    """A message of the conversation. Tool calls and their results are left aside."""

    role: Literal["system", "developer", "user", "assistant", "tool", "function"]
    content: Annotated[list[Part], BeforeValidator(_parts)] = []

    @property
    def text(self) -> str:
        """The message's text; its parts are parted by a line break."""
        text = "\n".join(part.text or part.refusal for part in self.content if part.type in ("text", "refusal"))
        return CONTROL.sub(" ", text.replace("\r\n", "\n").replace("\r", "\n")).strip()


class StreamOptions(BaseModel):
    """What a stream tells beside the answer."""

    include_usage: bool | None = None


class Metadata(BaseModel):
    """What a client notes of its request; a session of ours is all that is read of it."""

    session_id: UUID | None = None


class Options(SearchOptions, Body):
    """What Citewell can do and OpenAI has no parameter for: the body's ``citewell`` field."""

    events: bool | None = Field(default=None, description="Open WebUI's events in the place of annotations.")
    links: bool | None = Field(default=None, description="Marks that are Markdown links.")


class CompletionRequest(BaseModel):
    """A question with the conversation before it."""

    model_config = ConfigDict(extra="ignore")

    messages: Annotated[list[CompletionMessage], Field(min_length=1)]
    model: Annotated[str, Field(max_length=100)] | None = None
    stream: bool | None = None
    stream_options: StreamOptions | None = None
    metadata: Metadata | None = None
    reasoning_effort: str | None = None
    n: int | None = None
    tool_choice: Any = None
    function_call: Any = None
    response_format: dict[str, Any] | None = None
    citewell: Options = Options()

    @field_validator("n")
    @classmethod
    def _one(cls, n: int | None) -> int | None:
        if n not in (None, 1):
            raise ValueError("a question has one answer here; leave the field out or send 1")
        return n

    @field_validator("tool_choice", "function_call")
    @classmethod
    def _free(cls, choice: object) -> object:
        if choice not in (None, "none", "auto"):
            raise ValueError("no tool is ever called here, so none can be forced; send 'auto' or 'none'")
        return choice

    @field_validator("response_format")
    @classmethod
    def _text(cls, form: dict[str, Any] | None) -> dict[str, Any] | None:
        if form is not None and form.get("type", "text") != "text":
            raise ValueError("answers are text with citations; leave the field out or send {'type': 'text'}")
        return form

    @property
    def session_id(self) -> str | None:
        """The session that is asked, where the client names one."""
        return str(self.metadata.session_id) if self.metadata and self.metadata.session_id else None

    @property
    def thinks(self) -> bool:
        """Whether the client wants the model to think before it writes."""
        return self.reasoning_effort not in NO_THINKING

    def question(self) -> str:
        """Return the last message's text.

        Raises InvalidRequest where it is not the user's, holds more than text or is too long.
        """
        last = len(self.messages) - 1
        for place, part in enumerate(self.messages[last].content):
            if part.type != "text":
                raise InvalidRequest(f"messages.{last}.content.{place}: of a question text alone can be read.")
        return parse_question(last_question(self._said), f"messages.{last}.content")

    def history(self) -> tuple[Turn, ...]:
        """Return the last exchanges before the question, without the marks that this dialect wrote into the answers."""
        return recent_turns(self._said)

    @property
    def _said(self) -> list[ChatMessage]:
        said = []
        for message in self.messages:
            if message.role == "assistant" and message.text:
                said.append(without_marks(ChatMessage("assistant", message.text), _MARKS))
            elif message.role == "user":
                said.append(ChatMessage("user", message.text))
            elif message is self.messages[-1]:
                said.append(ChatMessage("system", message.text))
        return said

    def run(self, identity: Identity, model: str, *, thinking: bool, knobs: Mapping[str, Any]) -> RunRequest:
        """Lay out the run that this asks for, on the identity's behalf; ``knobs`` are the deployment's.

        Raises InvalidRequest.
        """
        options = self.citewell
        context = Context(
            workspace=identity.workspace,
            user=identity.user,
            model=model,
            thinking=thinking,
            **options.searching(),
            **knobs,
        )
        return RunRequest(
            self.question(),
            context,
            tuple(map(str, options.page_ids)),
            options.selected_text or "",
            history=None if self.session_id else self.history(),
        )
