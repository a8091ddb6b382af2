"""Requests of LangGraph's server, as far as a conversation with one graph needs them."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import BaseModel, BeforeValidator, Field

from api.dialects.branch_request import BranchPoint, as_regeneration
from api.dialects.chat_request import MARKS, ChatMessage, parse_question, recent_turns, without_marks
from api.dialects.openai_api import DEPLOYMENT_DEFAULT, Part, content_as, text_of
from api.fields import Body, ChatOptions, ExactTypes, ModelName
from graph.errors import InvalidRequest, NotFound
from graph.evidence import Identity
from tools.sessions.history import StoredMessage
from tools.sessions.run_request import RunRequest

NO_QUESTION = "input.messages: end them with a human message that has text; without any, name a question's checkpoint."


def _listed(value: object) -> object:
    return [] if value is None else value if isinstance(value, list) else [value]


Names = Annotated[list[str], BeforeValidator(_listed, json_schema_input_type=list[str] | str | None)]


class GraphMessage(BaseModel):
    """A message in LangChain's form or in OpenAI's: it has a type, or a role."""

    type: str = ""
    role: str = ""
    content: Annotated[list[Part], content_as("text")] = []

    @property
    def as_chat(self) -> ChatMessage:
        """The message as all dialects have it."""
        is_question = (self.type or self.role) in ("human", "user")
        return ChatMessage("user" if is_question else "assistant", text_of(self.content, ("text",)))


class GraphInput(BaseModel):
    """The input of a run: of a state that a client sends whole, the messages are read."""

    messages: Annotated[list[GraphMessage], Field(max_length=10_000), BeforeValidator(_listed)] = []


class GraphContext(ChatOptions, Body):
    """Options of one run: the documents, where it searches, the model and its budget."""


class GraphCheckpoint(BaseModel):
    """A state of the thread: that before a question edits it, the question's own answers it again."""

    checkpoint_id: str | None = None


class GraphRun(BaseModel):
    """A question to a thread, or an answer to write again."""

    assistant_id: ModelName = Field(default="", description="`citewell`, or the name of a model.")
    input: GraphInput | None = None
    context: GraphContext | None = None
    checkpoint: GraphCheckpoint | None = None
    stream_mode: Names = Field(
        default=["values"],
        description="`values`, `messages-tuple`, `updates` (the answer), `custom` (our events); others say nothing.",
    )
    on_disconnect: Literal["cancel", "continue"] = "cancel"
    multitask_strategy: Literal["reject", "enqueue", "interrupt"] = "enqueue"
    if_not_exists: Literal["create", "reject"] = "reject"
    command: dict[str, Any] | None = None
    interrupt_before: Names = []
    interrupt_after: Names = []

    def branch(self, thread_id: str, history: Sequence[StoredMessage]) -> tuple[str, BranchPoint, int]:
        """Return the question, where it branches off, and how many messages of the thread's history stand before it.

        Raises InvalidRequest where nothing is asked, NotFound for a checkpoint that the history does not have.
        """
        if self.command or self.interrupt_before or self.interrupt_after:
            raise InvalidRequest(
                "command: a run is never interrupted between its steps here, nor resumed.",
                suggestion="Leave out command, interrupt_before and interrupt_after; `make studio` has them.",
            )
        named = self.checkpoint and self.checkpoint.checkpoint_id
        ids = [thread_id, *(message.message_id for message in history)]
        if named and named not in ids:
            raise NotFound(f"checkpoint: the thread has no state {named[:100]}.")
        place = ids.index(named) if named else len(history)
        if self._chat:
            follows = history[place].message_id if place < len(history) and history[place].role == "user" else None
            question = self._chat[-1].content if self._chat[-1].role == "user" else ""
            return parse_question(question, "input.messages"), BranchPoint(edit=follows), place
        if not place or history[place - 1].role != "user":
            raise InvalidRequest(NO_QUESTION)
        asked = history[place - 1]
        return asked.content, as_regeneration(history, BranchPoint(edit=asked.message_id)), place - 1

    @property
    def _chat(self) -> list[ChatMessage]:
        return [message.as_chat for message in self.input.messages] if self.input else []

    def to_run_request(
        self, question: str, branch: BranchPoint, identity: Identity, knobs: Mapping[str, Any], *, is_new: bool
    ) -> RunRequest:
        """Return the requested run; in a thread that ``is_new``, the messages before the question are its history."""
        options = self.context or GraphContext()
        if self.assistant_id not in DEPLOYMENT_DEFAULT:
            options = options.model_copy(update={"model": self.assistant_id})
        asked = options.to_run_request(
            question, identity, knobs, while_running=self.multitask_strategy, **asdict(branch)
        )
        turns = recent_turns([without_marks(message, MARKS) for message in self._chat]) if is_new else ()
        return replace(asked, history=turns or None)


class ThreadRequest(ExactTypes):
    """A thread to make, or to find, by the client's own id."""

    thread_id: UUID | None = None


class ThreadSearch(ExactTypes):
    """How many threads to list, from the newest but ``offset``."""

    limit: Annotated[int, Field(ge=1, le=1000)] = 10
    offset: Annotated[int, Field(ge=0, le=10_000)] = 0


class ThreadHistory(ExactTypes):
    """How many states of a thread to read, from the newest."""

    limit: Annotated[int, Field(ge=1, le=1000)] = 10
