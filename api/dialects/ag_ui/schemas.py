"""Input of an AG-UI run, and the state that the agent shares with its page."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field
from pydantic.alias_generators import to_camel

from api.dialects.chat_request import parse_question, text_of_parts
from api.fields import ChatOptions, Name
from graph.errors import InvalidRequest
from graph.evidence import Source

MOST_MESSAGES = 10_000
FOLLOWS_A_QUESTION = ("system", "developer", "activity", "reasoning")


def _object(value: object) -> object:
    return {} if value is None else value


class AgentMessage(BaseModel):
    """A message as the client stores it: text, or parts, of which only text is read."""

    id: Annotated[str, Field(max_length=200)] = ""
    role: str
    content: Any = None

    @property
    def text(self) -> str:
        """The message's text, with its parts on separate lines."""
        return text_of_parts(self.content)


class RunAgentInput(BaseModel):
    """One run of the agent. The client's tools are never called; its context is not passed to the model."""

    model_config = ConfigDict(alias_generator=to_camel)

    thread_id: Name = Field(description="The external id of a session.")
    run_id: Name = Field(description="The client's own id of the run, used in the events.")
    messages: Annotated[list[AgentMessage], Field(min_length=1, max_length=MOST_MESSAGES)]
    state: Any = None
    forwarded_props: Annotated[ChatOptions, BeforeValidator(_object, json_schema_input_type=ChatOptions | None)] = (
        Field(
            default_factory=ChatOptions  # a default that is an object keeps generators from making the route
        )
    )

    @property
    def question_index(self) -> int:
        """The index of the question in ``messages``: the last one whose role is not in FOLLOWS_A_QUESTION.

        Raises InvalidRequest if it is not the user's.
        """
        for index in reversed(range(len(self.messages))):
            if self.messages[index].role not in FOLLOWS_A_QUESTION:
                if self.messages[index].role == "user":
                    return index
                break
        raise InvalidRequest("messages: the last one must be the user's.")

    def question(self) -> str:
        """Return the text of the last message.

        Raises InvalidRequest if it is not a question of the user.
        """
        index = self.question_index
        return parse_question(self.messages[index].text, f"messages.{index}.content")

    def answers_above(self) -> list[str]:
        """Return the ids of the answers above the question."""
        return [message.id for message in self.messages[: self.question_index] if message.role == "assistant"]


Patch = list[dict[str, Any]]


class SharedState:
    """A run's sources, citations and assessment in the shared state; the client's other keys stay as they are."""

    def __init__(self, kept: Mapping[str, Any] | None = None) -> None:
        self._kept = dict(kept or {})
        self._sources: list[Source] = []

    def snapshot(self) -> dict[str, Any]:
        """Return the state at the start of a run."""
        return {**self._kept, "sources": [], "documents": [], "citations": [], "assessment": None}

    def sources(self, sources: Sequence[Source]) -> Patch:
        """Return a patch that appends the new sources, or replaces the list if it does not begin with the old one."""
        known, self._sources = self._sources, list(sources)
        if known == self._sources[: len(known)]:
            patch: Patch = [{"op": "add", "path": "/sources/-", "value": each} for each in self._sources[len(known) :]]
        else:
            patch = [_replace("sources", self._sources)]
        return [*patch, _replace("documents", source_documents(self._sources))] if patch else []

    def replace(self, **values: Any) -> Patch:
        """Return a patch that replaces values by key."""
        return [_replace(name, value) for name, value in values.items()]


def source_documents(sources: Sequence[Source]) -> list[dict[str, Any]]:
    """List the documents of sources, each once, with the indices of its sources."""
    listed: dict[str, dict[str, Any]] = {}
    for source in sources:
        about = {name: source[name] for name in ("document_id", "title", "url", "slug", "space", "source_type")}
        listed.setdefault(source["document_id"], {**about, "source_indices": []})["source_indices"].append(
            source["index"]
        )
    return list(listed.values())


def _replace(name: str, value: Any) -> dict[str, Any]:
    return {"op": "replace", "path": f"/{name}", "value": value}
