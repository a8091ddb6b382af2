"""Requests, replies and errors of the Messages API."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import BaseModel, Field, field_validator

from api.dialects.chat_request import ChatMessage, last_question, parse_question, recent_turns, refuse_schema
from api.dialects.messages.cited_blocks import whole_blocks
from api.dialects.openai_api import Part, ReplyOptions, content_as, error_text, extension, text_of, total_tokens
from api.fields import Body, ChatOptions
from api.problems import Problem, error_kind, register_error_shape
from graph.errors import InvalidRequest, Overloaded
from graph.events import RunFinished
from graph.evidence import Identity, Spent
from graph.rows import Turn
from tools.sessions.run_request import RunRequest

PREFIX = "/v1/messages"


class InputMessage(BaseModel):
    """A message of the conversation. Calls of tools and their results are ignored."""

    role: Literal["user", "assistant", "system"]
    content: Annotated[list[Part], content_as("text")]

    @property
    def text(self) -> str:
        """The message's text: the blocks of an answer are pieces of one text, those of a user are paragraphs."""
        return text_of(self.content, ("text",), between="" if self.role == "assistant" else "\n")


class Thinking(BaseModel):
    """Whether the client wants to see thoughts."""

    type: str


class MessageOptions(ChatOptions, Body):
    """The body's ``citewell`` field: options that the Messages API has no parameter for."""

    session_id: UUID | None = Field(default=None, description="Go on in this session; its history is the server's.")


class MessagesRequest(BaseModel):
    """A question with the conversation before it. How the text is sampled is the deployment's choice."""

    messages: Annotated[list[InputMessage], Field(min_length=1)]
    model: Annotated[str, Field(max_length=100)] = ""
    system: Annotated[list[Part], content_as("text")] = []
    stream: bool = False
    thinking: Thinking | None = None
    tool_choice: dict[str, Any] | None = None
    output_config: dict[str, Any] | None = None
    citewell: MessageOptions = MessageOptions()

    @field_validator("output_config")
    @classmethod
    def _text_alone(cls, config: dict[str, Any] | None) -> dict[str, Any] | None:
        if config and config.get("format"):
            raise ValueError("answers are text whose sentences carry citations, and follow no schema; omit the format")
        return config

    @property
    def thinks(self) -> bool:
        """Whether the client wants the model to think before it writes."""
        return self.thinking is not None and self.thinking.type != "disabled"

    @property
    def session_id(self) -> str | None:
        """The session of the request, if the client names one."""
        return None if self.citewell.session_id is None else str(self.citewell.session_id)

    def question(self) -> str:
        """Return the last message's text.

        Raises InvalidRequest if it is not the user's, has other blocks than text or is too long, and for a forced tool.
        """
        if (self.tool_choice or {}).get("type", "auto") not in ("auto", "none"):
            raise InvalidRequest(
                "tool_choice: tools are never called, so none can be forced.", suggestion="Send {'type': 'auto'}."
            )
        refuse_schema(text_of(self.system, ("text",)), "system")
        last = len(self.messages) - 1
        for place, part in enumerate(self.messages[last].content):
            if part.type != "text":
                raise InvalidRequest(
                    f"messages.{last}.content.{place}: a question can only have text.",
                    suggestion="Put documents into the library (POST /api/documents), which answers are written from.",
                )
        return parse_question(last_question(self._chat_messages), f"messages.{last}.content")

    @property
    def _chat_messages(self) -> list[ChatMessage]:
        return [ChatMessage(message.role, message.text) for message in self.messages]

    def history(self) -> tuple[Turn, ...]:
        """Return the last exchanges before the question; without marks, since this format's text has none."""
        return recent_turns(self._chat_messages)

    def to_run_request(self, identity: Identity, model: str, *, thinking: bool, knobs: Mapping[str, Any]) -> RunRequest:
        """Return the requested run for this identity; ``knobs`` are the deployment's settings.

        Raises InvalidRequest if the last message is not a question.
        """
        options = self.citewell.model_copy(update={"model": model, "thinking": thinking})
        asked = options.to_run_request(self.question(), identity, knobs)
        return replace(asked, history=None if self.session_id else self.history())


@dataclass(frozen=True, slots=True)
class MessageForm(ReplyOptions):
    """Options of a message. ``thinking`` sends what the model thinks."""

    thinking: bool = False


def stop_reason(end: RunFinished) -> str:
    """Return ``max_tokens`` for a cancelled run: of the reasons for text that is not whole the one clients know."""
    return "max_tokens" if end.outcome == "cancelled" else "end_turn"


def usage(spent: Mapping[str, Spent]) -> dict[str, int]:
    """Return the usage of a run."""
    return {"input_tokens": total_tokens(spent), "output_tokens": 0}


def message_head(run_id: str, model: str) -> dict[str, Any]:
    """Return a message that has no content yet."""
    return {
        "id": f"msg_{run_id}",
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": usage({}),
    }


def whole_message(
    run_id: str, session_id: str, end: RunFinished, options: MessageForm, *, thinking: str = ""
) -> dict[str, Any]:
    """Return a finished run as a message, with the text and citations of its stream."""
    addresses = options.addresses
    addresses.learn(end.message["sources"])
    return {
        **message_head(run_id, options.model),
        "content": whole_blocks(end.message, addresses, thinking),
        "stop_reason": stop_reason(end),
        "usage": usage(end.spent),
        "citewell": extension(run_id, session_id, end),
    }


class MessagesErrorDetail(BaseModel):
    """An error. ``code`` is ours and stable; ``message`` is for people and may be reworded."""

    type: str
    message: str
    code: str


class MessagesErrorBody(BaseModel):
    """The error body of every route of this dialect."""

    type: Literal["error"] = "error"
    error: MessagesErrorDetail


# The types that the SDKs know, by status.
_TYPES: Mapping[int, str] = {
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
}


def error(code: str, message: str, suggestion: str, *, status: int | None = None) -> dict[str, Any]:
    """Return an error body; the message says what to do as well."""
    status = status or error_kind(code).status
    kind = _TYPES.get(status, "api_error" if status >= 500 else "invalid_request_error")
    if code == Overloaded.code:
        kind = "overloaded_error"
    return {"type": "error", "error": {"type": kind, "message": error_text(message, suggestion), "code": code}}


def _problem_body(problem: Problem) -> dict[str, Any]:
    return error(problem.code, problem.detail, problem.suggestion, status=problem.status)


# The Messages API answers 400 to an invalid request, and its clients choose their exception by status.
register_error_shape(PREFIX, _problem_body, statuses={422: 400}, names_routes=True)
