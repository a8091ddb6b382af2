"""Search results in the reply of an MCP tool, in whichever of the protocol's forms it gives them.

Structured content wins, since the text beside it says the same; then texts that are JSON of results, as of servers made
for the search tools of assistants; then embedded resources, plain texts, and links to resources. Nothing here trusts a
reply: every value may have any type, and any length.
"""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tools.parsers.canonical_text import storable
from tools.web.guard import LONGEST_URL

LONGEST_TITLE = 300
MOST_RESULTS = 100  # that are looked at
LISTS = ("results", "result", "items", "documents", "hits", "matches", "data", "sources")
TEXTS = ("text", "content", "body", "page_content", "snippet", "excerpt", "summary", "description")
TITLES = ("title", "name", "heading")
URLS = ("url", "link", "href", "uri", "source")
READABLE = frozenset({"text/html", "application/xhtml+xml", "text/markdown", "text/plain"})
_HTTP = re.compile(r"https?://[^\s/@\\]+(?:[/?#][^\s\x00-\x20\x7f\\]*)?", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class FoundText:
    """The text of one result; ``media_type`` is "" for plain text, and ``url`` None where it has no web address.

    A page that was fetched may be in an encoding that only its parser knows: bytes of it that are no UTF-8 are kept in
    the text as lone surrogates (``surrogateescape``).
    """

    text: str
    title: str = ""
    url: str | None = None
    media_type: str = ""


@dataclass(frozen=True, slots=True)
class FoundLink:
    """A result that is only named, and has to be read; ``description`` is what its server says of it."""

    uri: str
    title: str = ""
    description: str = ""


@dataclass(slots=True)
class Found:
    """The results of a reply, in its order, and how many parts of it hold no text."""

    results: list[FoundText | FoundLink] = field(default_factory=list)
    without_text: int = 0


def results_of(reply: Mapping[str, Any]) -> Found:
    """Return the results in a tool's reply, as JSON of the protocol."""
    found = Found()
    if rows := _rows(reply.get("structuredContent")):
        _add_rows(found, rows)
        if found.results:
            return found
    blocks = reply.get("content")
    for block in blocks[:MOST_RESULTS] if isinstance(blocks, list) else []:
        if isinstance(block, Mapping):
            _add_block(found, block)
    return found


def error_text(reply: Mapping[str, Any]) -> str:
    """Return what a tool says of its own failure, on one line."""
    blocks = reply.get("content")
    texts = [_text(block, ("text",)) for block in blocks[:MOST_RESULTS]] if isinstance(blocks, list) else []
    return " ".join(" ".join(texts).split())


def _add_block(found: Found, block: Mapping[str, Any]) -> None:
    match block.get("type"):
        case "text":
            text = _text(block, ("text",))
            if rows := _rows(_json(text)):
                _add_rows(found, rows)
            elif text.strip():
                found.results.append(FoundText(text))
        case "resource":
            resource = block.get("resource")
            resource = resource if isinstance(resource, Mapping) else {}
            media_type = _text(resource, ("mimeType",)).partition(";")[0].strip().lower()
            text = _text(resource, ("text",))
            if text.strip():
                url = web_url(resource.get("uri"))
                found.results.append(FoundText(text, "", url, media_type if media_type in READABLE else ""))
            else:
                found.without_text += 1
        case "resource_link":
            uri = _text(block, ("uri",))
            if uri and len(uri) <= LONGEST_URL:
                title = _line(_text(block, ("title", "name")))
                found.results.append(FoundLink(uri, title, _text(block, ("description",))))
            else:
                found.without_text += 1
        case _:
            found.without_text += 1


def _rows(value: Any) -> list[Mapping[str, Any]]:
    """Return the list of results in a value: itself, the one under a usual name, or the only list of objects in it."""
    if isinstance(value, list):
        return [each for each in value[:MOST_RESULTS] if isinstance(each, Mapping)]
    if not isinstance(value, Mapping):
        return []
    for name in LISTS:
        if isinstance(value.get(name), list | Mapping) and (rows := _rows(value[name])):
            return rows
    lists = [rows for each in value.values() if isinstance(each, list) and (rows := _rows(each))]
    if len(lists) == 1:
        return lists[0]
    return [value] if _text(value, TEXTS).strip() else []


def _add_rows(found: Found, rows: Iterable[Mapping[str, Any]]) -> None:
    for row in rows:
        text = _text(row, TEXTS)
        url = next((url for name in URLS if (url := web_url(row.get(name)))), None)
        if text.strip():
            found.results.append(FoundText(text, _line(_text(row, TITLES)), url))
        elif url:
            found.results.append(FoundLink(url, _line(_text(row, TITLES))))
        else:
            found.without_text += 1


def web_url(value: Any) -> str | None:
    """Return a value if it is an address of the web that can be stored and linked to."""
    if not isinstance(value, str) or len(value) > LONGEST_URL or not _HTTP.fullmatch(value):
        return None
    return value if storable(value) == value else None


def _text(value: Any, names: Sequence[str]) -> str:
    """Return the first text under one of these names."""
    if not isinstance(value, Mapping):
        return ""
    return next((storable(text) for name in names if isinstance(text := value.get(name), str) and text), "")


def _line(text: str) -> str:
    return " ".join(text[: 4 * LONGEST_TITLE].split())[:LONGEST_TITLE]


def _json(text: str) -> Any:
    """Parse a text that looks like JSON, None where it is not."""
    if not text.lstrip().startswith(("{", "[")):
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None
