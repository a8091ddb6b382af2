"""Requests of the Self-RAG chat, and the reference cards of its replies."""

import re
from collections.abc import Iterable
from typing import Annotated, Any, Literal, TypeVar

from pydantic import BaseModel, Field
from typing_extensions import TypedDict

from api.dialects.chat_request import ChatMessage, last_question, parse_question, recent_turns, without_marks
from api.fields import AnswerFromField, ExactTypes, ModelName, knobs_with
from graph.context import Context
from graph.evidence import Identity, Source
from tools.sessions.run_request import RunRequest

_MARK = re.compile(r"\[ref:\d+\]")


class RagChatMessage(BaseModel):
    """A message as the chat stores it, an answer with its marks."""

    role: Literal["user", "assistant"]
    content: str


class RagChatRequest(ExactTypes):
    """A chat whose last message is the question; unknown fields are ignored."""

    messages: list[RagChatMessage]
    top_k: Annotated[int, Field(ge=1, le=30)] = 10
    min_score: Annotated[float, Field(ge=0, le=1)] = 0.3
    model: ModelName = ""
    answer_from: AnswerFromField = None

    def to_run_request(self, identity: Identity, knobs: dict[str, Any]) -> RunRequest:
        """Return the requested run, with the messages before the question as its history.

        Raises InvalidRequest if the last message is not a question.
        """
        messages = [ChatMessage(message.role, message.content) for message in self.messages]
        question = parse_question(last_question(messages), f"messages.{len(messages) - 1}.content")
        context = Context.of(
            identity,
            top_k=self.top_k,
            min_score=self.min_score,
            model=self.model,
            **knobs_with(knobs, self.answer_from, default="library_then_model"),
        )
        history = recent_turns([without_marks(message, _MARK) for message in messages])
        return RunRequest(question, context, history=history)


Kind = Literal["article", "repository"]
T = TypeVar("T", str, int)


class RetrievedSource(TypedDict):
    """A source with its 1-based ``index``; the fields of repositories are null for an article."""

    id: str
    index: int
    content: str
    score: float
    source_type: Kind
    title: str
    url: str | None
    owner_login: str | None
    owner_avatar_url: str | None
    stargazers_count: int | None
    language: str | None
    description: str | None


class RetrievedSources:
    """A run's sources, numbered from 1 without gaps even if some were deleted since; numbers never change."""

    def __init__(self) -> None:
        self._sources: dict[int, RetrievedSource] = {}  # by the run's own index

    def learn(self, sources: Iterable[Source]) -> bool:
        """Append the new sources, and return whether the excerpt of a known one has changed."""
        changed = False
        for source in sources:
            known = self._sources.get(source["index"])
            changed = changed or (known is not None and known["content"] != source["excerpt"])
            number = len(self._sources) + 1 if known is None else known["index"]
            self._sources[source["index"]] = retrieved_source(source, number)
        return changed

    def number(self, index: int) -> int:
        """Return the number of the source that the run knows as ``index``."""
        return self._sources[index]["index"]

    def listed(self) -> list[RetrievedSource]:
        """List all sources so far, by number."""
        return list(self._sources.values())


def retrieved_source(source: Source, index: int) -> RetrievedSource:
    """Convert a source; the fields of repositories come from the document's metadata."""
    metadata = source["metadata"]
    repository = "repository" in (source["source_type"], metadata.get("source_type"))
    shown: dict[str, Any] = metadata if repository else {}
    return RetrievedSource(
        id=source["segment_id"],
        index=index,
        content=source["excerpt"],
        score=source["score"],
        source_type="repository" if repository else "article",
        title=source["title"],
        url=source["url"],
        owner_login=_field(shown, "owner_login", str),
        owner_avatar_url=_field(shown, "owner_avatar_url", str),
        stargazers_count=_field(shown, "stargazers_count", int),
        language=_field(shown, "language", str),
        description=_field(shown, "description", str),
    )


def _field(metadata: dict[str, Any], name: str, kind: type[T]) -> T | None:
    """Return a metadata field, or the one with the prefix ``repository_``; None if its type is wrong."""
    value = metadata.get(name, metadata.get(f"repository_{name}"))
    return value if type(value) is kind else None
