"""What the kit of the dialects needs to know of each: how a question is asked in it, and what a client hears."""

import re
from dataclasses import dataclass
from typing import Any, Literal, Protocol

import httpx

from api.dialects.citation_marks import JOINER

BRACKET = re.compile(r"\[(\d+)\]")


@dataclass(frozen=True)
class Heard:
    """What a client of a dialect has at the end of a stream.

    ``answer`` is the text without marks, sections parted by a blank line, as the client would show it. ``cited`` are
    the ids of the documents that it cites, resolved through whatever the dialect gives its clients for that.
    """

    answer: str
    cited: frozenset[str]
    ended: Literal["done", "error", "cut"]
    error_code: str | None = None


def unmarked(shown: str, mark: re.Pattern[str]) -> str:
    """Give a text as a client shows it that makes something of the marks."""
    return mark.sub("", shown).replace(JOINER, "")


class Adapter(Protocol):
    """A dialect as the kit uses it."""

    name: str
    resumes: bool  # whether a reader may come back with Last-Event-ID

    async def ask(self, client: httpx.AsyncClient, question: str, **headers: str) -> httpx.Response:
        """Ask a question in a new session and give the response, read to its end."""
        method, path, arguments = self.asking(question)
        return await client.request(method, path, headers=headers, **arguments)

    def asking(self, question: str) -> tuple[str, str, dict[str, Any]]:
        """Give method, path and keyword arguments of httpx for the request that asks and streams."""
        ...

    def heard(self, stream: bytes) -> Heard:
        """Read a stream as the dialect's client does."""
        ...
