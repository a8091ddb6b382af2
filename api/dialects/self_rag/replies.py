"""Retrieved sources in the format of the Self-RAG chat's reference cards: articles and repositories."""

from collections.abc import Iterable
from typing import Any, Literal, TypeVar

from typing_extensions import TypedDict

from graph.evidence import Source

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

    def learn(self, sources: Iterable[Source]) -> None:
        """Append the new sources."""
        for source in sources:
            if source["index"] not in self._sources:
                self._sources[source["index"]] = retrieved_source(source, len(self._sources) + 1)

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
