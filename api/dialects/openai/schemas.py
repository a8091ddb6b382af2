"""Requests and replies of Chat Completions."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal
from uuid import UUID, uuid4

from pydantic import BaseModel, Field, field_validator

from api.dialects.annotated_text import AnnotatedText, SourceAddresses, by_appearance, by_index
from api.dialects.chat_request import (
    MARKS,
    ChatMessage,
    last_question,
    parse_question,
    recent_turns,
    refuse_schema,
    without_marks,
)
from api.dialects.openai_api import (
    NO_THINKING,
    OpenAIOptions,
    Part,
    ReplyOptions,
    TextForm,
    ToolChoice,
    content_as,
    extension,
    text_of,
    total_tokens,
)
from api.dialects.section_buffer import final_sections
from graph.errors import InvalidRequest
from graph.events import RunFinished
from graph.evidence import Identity, Spent
from graph.rows import Turn
from tools.sessions.run_request import RunRequest


class CompletionMessage(BaseModel):
    """A message of the conversation. Tool calls and their results are ignored."""

    role: Literal["system", "developer", "user", "assistant", "tool", "function"]
    content: Annotated[list[Part], content_as("text")] = []

    @property
    def text(self) -> str:
        """The message's text, with its parts on separate lines."""
        return text_of(self.content, ("text", "refusal"))


class StreamOptions(BaseModel):
    """Options of a stream."""

    include_usage: bool | None = None


class Metadata(BaseModel):
    """A client's metadata; only a session id of ours is read."""

    session_id: UUID | None = None


class CompletionOptions(OpenAIOptions):
    """The body's ``citewell`` field of a chat completion."""

    events: bool | None = Field(default=None, description="Send Open WebUI's events instead of annotations.")


class CompletionRequest(BaseModel):
    """A question with the conversation before it."""

    messages: Annotated[list[CompletionMessage], Field(min_length=1)]
    model: Annotated[str, Field(max_length=100)] | None = None
    stream: bool | None = None
    stream_options: StreamOptions | None = None
    metadata: Metadata | None = None
    reasoning_effort: str | None = None
    n: int | None = None
    tool_choice: ToolChoice = None
    function_call: ToolChoice = None
    response_format: TextForm = None
    citewell: CompletionOptions = CompletionOptions()

    @field_validator("n")
    @classmethod
    def _single_answer(cls, n: int | None) -> int | None:
        if n not in (None, 1):
            raise ValueError("only one answer is supported; omit the field or send 1")
        return n

    @property
    def session_id(self) -> str | None:
        """The session of the request, if the client names one."""
        return str(self.metadata.session_id) if self.metadata and self.metadata.session_id else None

    @property
    def task(self) -> str:
        """The last message's text if it is the user's: what an interface may ask of a model instead of a question."""
        return self.messages[-1].text if self.messages[-1].role == "user" else ""

    @property
    def thinks(self) -> bool:
        """Whether the client wants the model to think before it writes."""
        return self.reasoning_effort not in NO_THINKING

    def question(self) -> str:
        """Return the last message's text.

        Raises InvalidRequest if it is not the user's, has other parts than text or is too long, or is to have a form.
        """
        for place, message in enumerate(self.messages):
            if message.role in ("system", "developer"):
                refuse_schema(message.text, f"messages.{place}.content")
        last = len(self.messages) - 1
        for place, part in enumerate(self.messages[last].content):
            if part.type != "text":
                raise InvalidRequest(f"messages.{last}.content.{place}: a question can only have text parts.")
        return parse_question(last_question(self._chat_messages), f"messages.{last}.content")

    def history(self) -> tuple[Turn, ...]:
        """Return the last exchanges before the question, without this dialect's marks in the answers."""
        return recent_turns(self._chat_messages)

    @property
    def _chat_messages(self) -> list[ChatMessage]:
        messages = []
        for message in self.messages:
            if message.role == "assistant" and message.text:
                messages.append(without_marks(ChatMessage("assistant", message.text), MARKS))
            elif message.role == "user":
                messages.append(ChatMessage("user", message.text))
            elif message is self.messages[-1]:
                messages.append(ChatMessage("system", message.text))
        return messages

    def to_run_request(self, identity: Identity, model: str, *, thinking: bool, knobs: Mapping[str, Any]) -> RunRequest:
        """Return the requested run for this identity; ``knobs`` are the deployment's settings.

        Raises InvalidRequest if the last message is not a question.
        """
        history = None if self.session_id else self.history()
        return self.citewell.to_run_request(
            self.question(), identity, knobs, model=model, thinking=thinking, history=history
        )


@dataclass(frozen=True, slots=True)
class CompletionForm(ReplyOptions):
    """Options of a completion. ``usage`` adds a last chunk with the usage to a stream.

    ``events`` sends Open WebUI's events instead of annotations. ``links`` makes marks Markdown links.
    """

    usage: bool = False
    events: bool = False
    links: bool = False

    def text(self, addresses: SourceAddresses) -> AnnotatedText:
        """Return an empty text with these options."""
        return AnnotatedText(addresses, by_index if self.events else by_appearance(), links=self.links)


def completion_id(run_id: str) -> str:
    """Return the completion id of a run."""
    return f"chatcmpl-{run_id}"


def finish_reason(end: RunFinished) -> Literal["stop", "length"]:
    """Return ``length`` for a cancelled run, since that is OpenAI's only reason for incomplete text."""
    return "length" if end.outcome == "cancelled" else "stop"


def token_usage(spent: Mapping[str, Spent]) -> dict[str, int]:
    """Return the usage of a run."""
    total = total_tokens(spent)
    return {"prompt_tokens": total, "completion_tokens": 0, "total_tokens": total}


def completion(
    run_id: str, session_id: str, end: RunFinished, options: CompletionForm, *, created: int, thinking: str = ""
) -> dict[str, Any]:
    """Return a finished run as a chat completion, with the text and annotations of its stream.

    ``created`` is in seconds since 1970.
    """
    addresses = options.addresses
    addresses.learn(end.message["sources"])
    text = options.text(addresses)
    content = "".join(piece for section in final_sections(end.message) for piece in text.write(section))
    message: dict[str, Any] = {"role": "assistant", "content": content, "refusal": None}
    if thinking:
        message["reasoning_content"] = thinking
    message["annotations"] = text.annotations
    made = _completion(completion_id(run_id), options.model, message, finish_reason(end), end.spent, created)
    return {**made, "citewell": extension(run_id, session_id, end)}


def text_completion(text: str, model: str, *, created: int) -> dict[str, Any]:
    """Return a chat completion that no run has made; ``created`` is in seconds since 1970."""
    message: dict[str, Any] = {"role": "assistant", "content": text, "refusal": None, "annotations": []}
    return _completion(completion_id(str(uuid4())), model, message, "stop", {}, created)


def _completion(
    id_: str, model: str, message: dict[str, Any], finish: str, spent: Mapping[str, Spent], created: int
) -> dict[str, Any]:
    return {
        "id": id_,
        "object": "chat.completion",
        "created": created,
        "model": model,
        "choices": [{"index": 0, "message": message, "logprobs": None, "finish_reason": finish}],
        "usage": token_usage(spent),
    }
