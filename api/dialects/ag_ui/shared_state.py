"""The state that an AG-UI agent shares with its client, and the JSON Patches (RFC 6902) that change it."""

from collections.abc import Mapping, Sequence
from typing import Any

from graph.evidence import Source

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
