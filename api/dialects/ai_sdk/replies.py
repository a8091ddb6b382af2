"""AI SDK message parts for sources and citations, and stored messages as ``UIMessage``s.

Every field here passes the strict releases.
"""

import mimetypes
from collections.abc import Iterable, Sequence
from typing import Any, cast

from pydantic import BaseModel, Field

from api.dialects.citation_marks import PlacedClaim, bracket, marked_text, placed_claims
from api.dialects.section_buffer import final_sections
from graph.evidence import Message, Source
from tools.sessions.session_store import StoredMessage

NAMESPACE = "citewell"
_TYPES = mimetypes.MimeTypes()  # not the global table, which depends on the machine's /etc


def source_id(index: int) -> str:
    """Return the id of a source in the message: the mark ``[n]`` in the text refers to source ``c{n}``."""
    return f"c{index}"


def source_part(source: Source) -> dict[str, Any]:
    """Return a ``source-url`` part, or a ``source-document`` part for a source without a URL."""
    own = {"sourceId": source_id(source["index"]), **_name(source)}
    return {"type": f"source-{_kind(source)}", **own, "providerMetadata": {NAMESPACE: dict(source)}}


def _kind(source: Source) -> str:
    return "url" if source["url"] else "document"


def _name(source: Source) -> dict[str, Any]:
    if source["url"]:
        return {"url": source["url"], "title": source["title"]}
    media_type, _ = _TYPES.guess_type(source["title"])
    document = {"mediaType": media_type or "text/plain", "title": source["title"]}
    return document | ({"filename": source["slug"]} if source["slug"] else {})


def citation_records(placed: Iterable[PlacedClaim]) -> list[dict[str, Any]]:
    """Return each citation with its source's id and the span of its claim in the text (UTF-16)."""
    return [
        {
            "source_id": source_id(citation["source_index"]),
            "start_index": each.start,
            "end_index": each.end,
            **citation,
        }
        for each in placed
        for citation in each.claim["citations"]
    ]


def text_citations(placed: Iterable[PlacedClaim], sources: Sequence[Source]) -> list[dict[str, Any]]:
    """Return citations in the format of ``text-end``, which only the newest releases accept."""
    by_index = {source["index"]: source for source in sources}
    return [
        {
            "source": _whole_source(by_index[citation["source_index"]]),
            "startIndex": each.start,
            "endIndex": each.end,
            "citedText": citation["quote"],
        }
        for each in placed
        for citation in each.claim["citations"]
        if citation["source_index"] in by_index
    ]


def _whole_source(source: Source) -> dict[str, Any]:
    return {"type": "source", "sourceType": _kind(source), "id": source_id(source["index"]), **_name(source)}


def proof(message: Message, placed: Sequence[PlacedClaim]) -> dict[str, Any]:
    """Return the data of ``data-citations``: citations, claims with verdicts, disagreements and nearest sources."""
    return {
        "citations": citation_records(placed),
        "claims": [
            {
                "start_index": each.start,
                "end_index": each.end,
                "text": each.claim["text"],
                "verdict": each.claim["verdict"],
                "reasons": each.claim["reasons"],
            }
            for each in placed
        ],
        "disagreements": message.get("disagreements", []),
        "nearest": message.get("nearest", []),
    }


def ui_messages(stored: Iterable[StoredMessage]) -> list[dict[str, Any]]:
    """Convert messages to ``UIMessage``s; an answer has the parts that its stream left in it, except thoughts."""
    return [_answer(message) if message.role == "assistant" else _question(message) for message in stored]


def _question(stored: StoredMessage) -> dict[str, Any]:
    return {"id": stored.message_id, "role": "user", "parts": [{"type": "text", "text": stored.content}]}


def _answer(stored: StoredMessage) -> dict[str, Any]:
    message = cast(Message, stored.body)
    placed = list(placed_claims(final_sections(message), bracket))
    cited = {citation["source_index"] for each in placed for citation in each.claim["citations"]}
    text: dict[str, Any] = {"type": "text", "text": marked_text(message, bracket), "state": "done"}
    if citations := citation_records(placed):
        text["providerMetadata"] = {NAMESPACE: {"citations": citations}}
    return {
        "id": stored.message_id,
        "role": "assistant",
        "metadata": {
            "run_id": stored.run_id,
            "outcome": stored.outcome,
            "stop_reason": stored.stop_reason,
            "assessment": message.get("assessment"),
            "family": message.get("family"),
        },
        "parts": [
            {"type": "step-start"},
            *(source_part(source) for source in message["sources"] if source["index"] in cited),
            *([text] if text["text"] else []),
            {"type": "data-citations", "id": "citations", "data": proof(message, placed)},
        ],
    }


class ChatHistory(BaseModel):
    """A chat's history, for a page that is opened again."""

    id: str
    title: str
    messages: list[dict[str, Any]] = Field(description="`UIMessage`s in chronological order.")
    next_cursor: str | None = Field(description="Send it as `cursor` for earlier messages; null at the beginning.")
