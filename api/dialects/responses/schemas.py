"""Requests of OpenAI's Responses API, and the objects of its replies."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import BaseModel, BeforeValidator, Field, field_validator
from typing_extensions import TypedDict

from api.dialects.annotated_text import (
    AnnotatedText,
    Annotation,
    Cited,
    SourceAddresses,
    by_appearance,
    chat_annotation,
)
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
    text_of,
    total_tokens,
)
from api.fields import Name
from graph.errors import InvalidRequest, NotFound
from graph.evidence import Identity, Spent
from graph.rows import Turn
from tools.sessions.run_request import RunRequest

RESPONSE, MESSAGE, REASONING, CONVERSATION = "resp_", "msg_", "rs_", "conv_"
_TEXTS = ("input_text", "output_text", "text", "refusal")
_REFUSED_PARTS = {
    "input_image": "images can't be read; ask in words",
    "input_file": "files can't be read from a question; add them to the library with POST /api/documents",
    "input_audio": "sound can't be heard; ask in words",
}
MOST_ITEMS = 10_000


def run_of(prefix: str, id_: str) -> str | None:
    """Return the run of an id of this dialect, or None where it is not one."""
    try:
        return str(UUID(id_.removeprefix(prefix))) if id_.startswith(prefix) else None
    except ValueError:
        return None


def unknown_response(id_: str, field: str = "") -> NotFound:
    """Return the error for a response that does not exist, was not stored, or belongs to another identity."""
    named = f"{field}: there" if field else "There"
    return NotFound(
        f"{named} is no response {id_[:100]!r}.",
        suggestion="Responses are stored unless the request says store: false.",
    )


class Item(BaseModel):
    """An item of the input. Messages are read, and references to answers; reasoning and calls of tools are ignored."""

    type: str | None = None
    id: str | None = None
    role: Literal["system", "developer", "user", "assistant"] | None = None
    content: Annotated[list[Part], content_as("input_text")] = []

    @property
    def is_message(self) -> bool:
        """Whether this is a message, whose ``type`` may be left out."""
        return self.type in (None, "message") and self.role is not None

    @property
    def text(self) -> str:
        """The message's text, with its parts on separate lines."""
        return text_of(self.content, _TEXTS)

    @property
    def answered_by(self) -> str | None:
        """The run that gave this answer, where it is one of ours."""
        is_answer = self.type == "item_reference" or (self.is_message and self.role == "assistant")
        return run_of(MESSAGE, self.id) if is_answer and self.id else None


def _items(value: object) -> object:
    return [{"role": "user", "content": value}] if isinstance(value, str) else value


def _named(value: object) -> object:
    return value.get("id") if isinstance(value, dict) else value


class Reasoning(BaseModel):
    """How much the model thinks. How its thoughts are to be summed up is accepted and ignored."""

    effort: str | None = None


class TextOptions(BaseModel):
    """The form of the answer, which can only be text."""

    format: TextForm = None


class ResponseRequestOptions(OpenAIOptions):
    """The body's ``citewell`` field of a response."""

    steps: bool = Field(default=True, description="Tell the steps of the run as summaries of reasoning.")


class ResponseRequest(BaseModel):
    """A question, with the conversation before it or the id of the response that it follows."""

    input: Annotated[
        list[Item],
        BeforeValidator(_items, json_schema_input_type=str | list[Item]),
        Field(min_length=1, max_length=MOST_ITEMS),
    ]
    model: Annotated[str, Field(max_length=100)] | None = None
    stream: bool | None = None
    store: bool | None = None
    background: bool | None = None
    previous_response_id: Annotated[str, Field(max_length=200)] | None = None
    conversation: Annotated[
        Name | None, BeforeValidator(_named, json_schema_input_type=Name | dict[str, Any] | None)
    ] = None
    reasoning: Reasoning | None = None
    text: TextOptions | None = None
    tool_choice: ToolChoice = None
    instructions: Any = None
    prompt: dict[str, Any] | None = None
    citewell: ResponseRequestOptions = ResponseRequestOptions()

    @field_validator("prompt")
    @classmethod
    def _no_template(cls, prompt: dict[str, Any] | None) -> dict[str, Any] | None:
        if prompt is not None:
            raise ValueError("there are no stored prompts here; send the question as input")
        return prompt

    def check(self) -> None:
        """Raise InvalidRequest where fields contradict each other."""
        if self.previous_response_id and self.conversation:
            raise InvalidRequest("previous_response_id: send either it or conversation, not both.")
        if self.store is False and self.background:
            raise InvalidRequest("background: a response that is not stored could not be read later; send store: true.")
        if self.store is False and (self.previous_response_id or self.conversation):
            raise InvalidRequest(
                "store: what continues a stored conversation is stored with it; omit the field, or send the messages"
                " as input instead."
            )

    @property
    def stored(self) -> bool:
        """Whether the response can be read and continued later."""
        return self.store is not False

    @property
    def thinks(self) -> bool:
        """Whether the client wants the model to think before it writes."""
        return self.reasoning is not None and self.reasoning.effort not in NO_THINKING

    @property
    def answered_before(self) -> tuple[str, str] | None:
        """The run of the last answer before the question and the field that names it, where it is one of ours."""
        for place in range(len(self.input) - 2, -1, -1):
            item = self.input[place]
            if item.answered_by is not None:
                return item.answered_by, f"input.{place}.id"
            if item.is_message and item.role == "assistant":
                return None
        return None

    @property
    def only_refers(self) -> bool:
        """Whether the last answer before the question is named, not sent."""
        return next((item.type == "item_reference" for item in self.input[-2::-1] if item.answered_by), False)

    def question(self) -> str:
        """Return the last message's text.

        Raises InvalidRequest if it is not the user's, has other parts than text, or is too long.
        """
        refuse_schema(str(self.instructions), "instructions")
        for number, item in enumerate(self.input):
            if item.role in ("system", "developer"):
                refuse_schema(item.text, f"input.{number}.content")
        place = len(self.input) - 1
        last = self.input[place]
        if not last.is_message:
            raise InvalidRequest(f"input.{place}: the last item must be a message of the user, with text.")
        for number, part in enumerate(last.content):
            if part.type not in _TEXTS:
                why = _REFUSED_PARTS.get(part.type, "a question can only have parts of the type input_text")
                raise InvalidRequest(f"input.{place}.content.{number}: {why}.")
        messages = [ChatMessage(_role(last), last.text)]
        try:
            asked = last_question(messages)
        except InvalidRequest:
            raise InvalidRequest("input: the last message must be the user's, with text.") from None
        return parse_question(asked, f"input.{place}.content")

    def history(self) -> tuple[Turn, ...]:
        """Return the last exchanges before the question, without this dialect's marks in the answers."""
        messages = [
            without_marks(ChatMessage(_role(item), item.text), MARKS)
            for item in self.input
            if item.is_message and item.role in ("user", "assistant")
        ]
        return recent_turns(messages)

    def to_run_request(
        self,
        identity: Identity,
        model: str,
        *,
        thinking: bool,
        knobs: Mapping[str, Any],
        continues: bool,
        edit: str | None = None,
    ) -> RunRequest:
        """Return the requested run for this identity; ``knobs`` are the deployment's settings.

        ``continues``: the session has the conversation so far; ``edit`` is the question that this one stands beside.
        Raises InvalidRequest if the last item is not a question.
        """
        history = None if continues else self.history()
        return self.citewell.to_run_request(
            self.question(), identity, knobs, model=model, thinking=thinking, history=history, edit=edit
        )


def _role(item: Item) -> Literal["user", "assistant", "system"]:
    return item.role if item.role in ("user", "assistant") else "system"


@dataclass(frozen=True, slots=True)
class ResponseOptions(ReplyOptions):
    """Options of a response, whose model, where it is empty, is told as the run has it.

    ``steps`` tells the steps of the run as summaries of reasoning. ``links`` makes marks Markdown links. ``after`` is
    the sequence number of the last event that a reader has received. The others are told back as the request said them.
    """

    steps: bool = True
    links: bool = False
    background: bool = False
    store: bool = True
    previous_response_id: str | None = None
    conversation: str | None = None
    after: int = -1

    def text(self, addresses: SourceAddresses) -> AnnotatedText:
        """Return an empty text with these options."""
        return AnnotatedText(addresses, by_appearance(), links=self.links, annotate=annotation)


def annotation(cited: Cited) -> Annotation:
    """Return the ``url_citation`` of Chat Completions, flat as this API has it; ``citewell`` names the document too."""
    made = chat_annotation(cited)
    ours = {"document_id": cited.citation["document_id"], **made.get("citewell", {})}
    return {"type": made["type"], **made["url_citation"], "citewell": ours}


def usage(spent: Mapping[str, Spent]) -> dict[str, Any]:
    """Return the usage of a run."""
    total = total_tokens(spent)
    return {
        "input_tokens": total,
        "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
        "output_tokens": 0,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": total,
    }


def response_object(run_id: str, created: int, status: str, options: ResponseOptions, **fields: Any) -> dict[str, Any]:
    """Return a response; ``fields`` replace those that are empty, such as ``output``."""
    return {
        "id": f"{RESPONSE}{run_id}",
        "object": "response",
        "created_at": created,
        "completed_at": None,
        "status": status,
        "background": options.background,
        "conversation": {"id": options.conversation} if options.conversation else None,
        "error": None,
        "incomplete_details": None,
        "instructions": None,
        "max_output_tokens": None,
        "metadata": {},
        "model": options.model,
        "output": [],
        "parallel_tool_calls": False,
        "previous_response_id": options.previous_response_id,
        "reasoning": {"effort": None, "summary": None},
        "store": options.store,
        "temperature": None,
        "text": {"format": {"type": "text"}},
        "tool_choice": "auto",
        "tools": [],
        "top_p": None,
        "truncation": "disabled",
        "usage": None,
        "user": None,
        **fields,
    }


class DeletedResponse(TypedDict):
    """The confirmation that a response is deleted."""

    id: str
    object: Literal["response"]
    deleted: Literal[True]


class InputText(TypedDict):
    """Text of a question."""

    type: Literal["input_text"]
    text: str


class InputItem(TypedDict):
    """The question that a response answers."""

    id: str
    type: Literal["message"]
    role: Literal["user"]
    status: Literal["completed"]
    content: list[InputText]


class InputItems(TypedDict):
    """The items of a response's input that are stored: its question."""

    object: Literal["list"]
    data: list[InputItem]
    first_id: str
    last_id: str
    has_more: bool
