"""Parts of a model's streaming reply, with its thinking separated from its answer."""

import re
from dataclasses import dataclass

from graph.errors import DependencyFailed
from text.scripts import SURROGATES
from tools.llm.token_odds import TokenOdds

THINK_OPENING, THINK_CLOSING = "<think>", "</think>"
_SURROGATE = re.compile(f"[{SURROGATES}]")


@dataclass(frozen=True, slots=True)
class ReplyText:
    """The next part of the reply."""

    text: str


@dataclass(frozen=True, slots=True)
class ReplyThinking:
    """The next part of the model's thinking."""

    text: str


@dataclass(frozen=True, slots=True)
class ReplyTokens:
    """The next tokens of the reply with their log-probabilities, where they were asked for and the endpoint has them.

    Some endpoints count the model's thinking among them.
    """

    tokens: tuple[TokenOdds, ...]


@dataclass(frozen=True, slots=True)
class ReplyEnd:
    """The end of the reply. ``cut``: it hit a limit, the endpoint's or ours."""

    cut: bool


ReplyPart = ReplyText | ReplyThinking | ReplyTokens | ReplyEnd


class AttemptFailed(Exception):
    """One attempt at a call failed with ``error``.

    ``again``: another attempt may succeed; ``wait``: seconds that the endpoint asks to wait; ``refused``: the
    endpoint's message about a request that it rejected as invalid.
    """

    def __init__(
        self, error: DependencyFailed, *, again: bool = False, wait: float | None = None, refused: str | None = None
    ) -> None:
        super().__init__(error.message)
        self.error = error
        self.again = again
        self.wait = wait
        self.refused = refused


class ThinkingSplitter:
    """A splitter for replies that may begin with a ``<think>`` block; the result is independent of the chunking."""

    def __init__(self) -> None:
        self._buffer = ""
        self._within: bool | None = None  # None until the reply's first characters decide it

    def feed(self, text: str) -> list[ReplyText | ReplyThinking]:
        """Return the parts that are certain so far."""
        self._buffer += text
        if self._within is None:
            begun = self._buffer.lstrip()
            if THINK_OPENING.startswith(begun):
                return []
            self._within = begun.startswith(THINK_OPENING)
            self._buffer = begun.removeprefix(THINK_OPENING) if self._within else self._buffer
        return self._thinking() if self._within else self._take(ReplyText, len(self._buffer))

    def end(self) -> list[ReplyText | ReplyThinking]:
        """Return the rest of the buffer."""
        return self._take(ReplyThinking if self._within else ReplyText, len(self._buffer))

    def _thinking(self) -> list[ReplyText | ReplyThinking]:
        at = self._buffer.find(THINK_CLOSING)
        if at < 0:
            partial = next(n for n in range(len(THINK_CLOSING) - 1, -1, -1) if self._buffer.endswith(THINK_CLOSING[:n]))
            return self._take(ReplyThinking, len(self._buffer) - partial)
        parts = self._take(ReplyThinking, at)
        self._buffer = self._buffer.removeprefix(THINK_CLOSING)
        self._within = False
        return parts + self._take(ReplyText, len(self._buffer))

    def _take(self, kind: type[ReplyText] | type[ReplyThinking], length: int) -> list[ReplyText | ReplyThinking]:
        text, self._buffer = self._buffer[:length], self._buffer[length:]
        return [kind(text)] if text else []


class SurrogateJoiner:
    """A joiner of surrogate pairs that an endpoint split between chunks; a lone surrogate becomes U+FFFD."""

    def __init__(self) -> None:
        self._half = ""

    def feed(self, text: str) -> str:
        """Return the complete characters so far."""
        text = self._half + text
        self._half = text[-1:] if "\ud800" <= text[-1:] <= "\udbff" else ""
        text = text[: len(text) - len(self._half)]
        if _SURROGATE.search(text):
            text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
        return text

    def end(self) -> str:
        """Return U+FFFD for a remaining lone surrogate, else an empty text."""
        return "\N{REPLACEMENT CHARACTER}" if self._half else ""
