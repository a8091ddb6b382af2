"""Parts of a model's streaming reply, with its thinking separated from its answer."""

import re
from dataclasses import dataclass

from graph.errors import DependencyFailed
from text.scripts import SURROGATES

THINK_OPENING, THINK_CLOSING = "<think>", "</think>"
_SURROGATE = re.compile(f"[{SURROGATES}]")


@dataclass(frozen=True, slots=True)
class ReplyText:
    """More of the reply."""

    text: str


@dataclass(frozen=True, slots=True)
class ReplyThinking:
    """More of the model's thinking."""

    text: str


@dataclass(frozen=True, slots=True)
class ReplyEnd:
    """The reply is over. ``cut``: it ran into a limit, the endpoint's or ours."""

    cut: bool


ReplyPart = ReplyText | ReplyThinking | ReplyEnd


class AttemptFailed(Exception):
    """One attempt at a call failed with ``error``.

    ``again``: another attempt may help; ``wait``: seconds that the endpoint asks for; ``refused``: what it said of a
    request that it refuses to read.
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
    """Split a reply that may begin with a ``<think>`` block; the result does not depend on how it was cut."""

    def __init__(self) -> None:
        self._held = ""
        self._within: bool | None = None  # None until the reply's first characters settle it

    def feed(self, text: str) -> list[ReplyText | ReplyThinking]:
        """Return what is certain so far."""
        self._held += text
        if self._within is None:
            begun = self._held.lstrip()
            if THINK_OPENING.startswith(begun):
                return []
            self._within = begun.startswith(THINK_OPENING)
            self._held = begun.removeprefix(THINK_OPENING) if self._within else self._held
        return self._thinking() if self._within else self._take(ReplyText, len(self._held))

    def end(self) -> list[ReplyText | ReplyThinking]:
        """Return what was held back."""
        return self._take(ReplyThinking if self._within else ReplyText, len(self._held))

    def _thinking(self) -> list[ReplyText | ReplyThinking]:
        at = self._held.find(THINK_CLOSING)
        if at < 0:
            held = next(n for n in range(len(THINK_CLOSING) - 1, -1, -1) if self._held.endswith(THINK_CLOSING[:n]))
            return self._take(ReplyThinking, len(self._held) - held)
        parts = self._take(ReplyThinking, at)
        self._held = self._held.removeprefix(THINK_CLOSING)
        self._within = False
        return parts + self._take(ReplyText, len(self._held))

    def _take(self, kind: type[ReplyText] | type[ReplyThinking], length: int) -> list[ReplyText | ReplyThinking]:
        text, self._held = self._held[:length], self._held[length:]
        return [kind(text)] if text else []


class SurrogateJoiner:
    """Join the halves of a character that an endpoint cut in two; a half without its other becomes U+FFFD."""

    def __init__(self) -> None:
        self._half = ""

    def feed(self, text: str) -> str:
        """Return the whole characters so far."""
        text = self._half + text
        self._half = text[-1:] if "\ud800" <= text[-1:] <= "\udbff" else ""
        text = text[: len(text) - len(self._half)]
        if _SURROGATE.search(text):
            text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
        return text

    def end(self) -> str:
        """Return what a half left over stands for."""
        return "\N{REPLACEMENT CHARACTER}" if self._half else ""
