"""Parse JSON while it streams: parts are emitted as soon as they are certain, however the text is chunked.

``pydantic_core.from_json(allow_partial=...)`` was tried instead. It ends a string at an unescaped quotation mark inside
it without an error, rejects the other mistakes of weak models, and starts from the beginning with each piece. With
those mistakes repaired around it, a reply of 45 kB in 2,000 pieces took 430 ms and takes 20 ms here; one of 123 kB in
30,000 pieces took 14 s and takes 0.16 s. A test checks the library against these mistakes.
"""

import re
from collections.abc import Generator
from dataclasses import dataclass

from tools.llm.model_reply import SurrogateJoiner

Path = tuple[str | int, ...]

MAX_DEPTH = 16
SPACE = re.compile(r"\s*")
PLAIN = {
    '"': re.compile(r'[^"\\]*'),
    "'": re.compile(r"[^'\\]*"),
    "”": re.compile(r"[^”\\]*"),
}  # by the mark that closes
CLOSING = {'"': '"', "'": "'", "“": "”"}
OPENING = {closing: opening for opening, closing in CLOSING.items()}
MISSING_COMMA = frozenset("\"'“{[")  # what may follow a value whose comma a model left out
NAME = re.compile(r"\w{0,40}")
LITERAL = re.compile(r"[-+.:=\w]{0,80}")
UNICODE_ESCAPE = re.compile(r"\\u([0-9a-fA-F]{4})")
ESCAPES = {'"': '"', "\\": "\\", "/": "/", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}


@dataclass(frozen=True, slots=True)
class Closed:
    """The end of an object or array; ``size`` is the number of its members."""

    path: Path
    size: int


@dataclass(frozen=True, slots=True)
class StringDelta:
    """The next part of a string value, unescaped."""

    path: Path
    delta: str


@dataclass(frozen=True, slots=True)
class StringEnd:
    """The end of a string value; ``text`` equals its joined deltas."""

    path: Path
    text: str


@dataclass(frozen=True, slots=True)
class Literal:
    """A number, true, false or null, as it was written."""

    path: Path
    text: str


Part = Closed | StringDelta | StringEnd | Literal
Steps = Generator[Part | None, None, None]  # None asks for more text
Reads = Generator[Part | None, None, str]


class _InvalidJson(Exception):
    """The text is not JSON from here on."""


class JsonReader:
    """A push parser of one JSON value. Text after the value or after an error is left unread."""

    def __init__(self) -> None:
        self.complete = False
        self.broken = False
        self._buffer = ""
        self._at = 0
        self._ended = False
        self._steps = self._value(())

    def feed(self, text: str) -> list[Part]:
        """Parse more text and return the parts that became certain."""
        self._buffer = self._buffer[self._at :] + text
        self._at = 0
        return self._advance()

    def end(self) -> list[Part]:
        """End the text and return the last parts. An unfinished value leaves the reader ``broken``."""
        self._ended = True
        return self._advance()

    def unread(self) -> str:
        """Take the text behind the value, or from the fault on."""
        text, self._buffer, self._at = self._buffer[self._at :], "", 0
        return text

    def _advance(self) -> list[Part]:
        parts: list[Part] = []
        while not (self.complete or self.broken):
            try:
                part = next(self._steps)
            except StopIteration:
                self.complete = True
            except _InvalidJson:
                self.broken = True
            else:
                if part is None:
                    break
                parts.append(part)
        return parts

    def _more(self) -> Steps:
        if self._ended:
            raise _InvalidJson
        yield None

    def _char(self) -> Reads:
        while self._at >= len(self._buffer):
            yield from self._more()
        return self._buffer[self._at]

    def _token(self) -> Reads:
        while True:
            self._at = self._space(self._at)
            if self._at < len(self._buffer):
                return self._buffer[self._at]
            yield from self._more()

    def _space(self, at: int) -> int:
        match = SPACE.match(self._buffer, at)
        return match.end() if match else at

    def _value(self, path: Path) -> Steps:
        if len(path) > MAX_DEPTH:
            raise _InvalidJson
        first = yield from self._token()
        if first in CLOSING:
            text = yield from self._string(path, CLOSING[first])
            yield StringEnd(path, text)
        elif first == "{":
            yield from self._members(path, "}")
        elif first == "[":
            yield from self._members(path, "]")
        else:
            text = yield from self._run(LITERAL)
            yield Literal(path, text)

    def _members(self, path: Path, closing: str) -> Steps:
        self._at += 1
        size = 0
        while True:
            first = yield from self._token()
            if first == closing:
                break
            key: str | int = size
            if closing == "}":
                key = yield from self._key(first)
            yield from self._value((*path, key))
            size += 1
            after = yield from self._token()
            if after == ",":
                self._at += 1
            elif after != closing and after not in MISSING_COMMA:
                raise _InvalidJson
        self._at += 1
        yield Closed(path, size)

    def _key(self, first: str) -> Reads:
        key = yield from (self._string(None, CLOSING[first]) if first in CLOSING else self._run(NAME))
        colon = yield from self._token()
        if colon != ":":
            raise _InvalidJson
        self._at += 1
        return key

    def _run(self, signs: re.Pattern[str]) -> Reads:
        """Parse a name, a number or an id without quotation marks."""
        while True:
            match = signs.match(self._buffer, self._at)
            end = match.end() if match else self._at
            if end < len(self._buffer) or self._ended:
                break
            yield from self._more()
        text = self._buffer[self._at : end]
        if not text:
            raise _InvalidJson
        self._at = end
        return text

    def _string(self, path: Path | None, closing: str) -> Reads:
        """Parse a string from its opening quotation mark; yield the deltas of a value as they come."""
        self._at += 1
        pieces: list[str] = []
        halves = SurrogateJoiner()  # of pairs that are escaped one by one
        ended = False
        while True:
            run = PLAIN[closing].match(self._buffer, self._at)
            piece = run.group() if run else ""
            self._at += len(piece)
            if not piece:
                mark = yield from self._char()
                if mark == "\\":
                    piece = yield from self._escape()
                elif mark == closing:
                    piece = yield from self._quote(path, closing)
                    ended = not piece
                else:
                    continue
            piece = halves.end() if ended else halves.feed(piece)
            pieces.append(piece)
            if piece and path is not None:
                yield StringDelta(path, piece)
            if ended:
                return "".join(pieces)

    def _quote(self, path: Path | None, closing: str) -> Reads:
        """Consume a quotation mark; return "" if it ends the string, or the mark itself if the text continues."""
        self._at += 1
        if not path:
            return ""
        at = self._space(self._at)
        while at >= len(self._buffer) and not self._ended:
            yield from self._more()
            at = self._space(self._at)
        ends = at >= len(self._buffer) or self._buffer[at] in ",}]" + OPENING[closing]
        return "" if ends else closing

    def _escape(self) -> Reads:
        while len(self._buffer) - self._at < 2:
            yield from self._more()
        mark = self._buffer[self._at + 1]
        if mark == "u":
            return (yield from self._unicode_escape())
        self._at += 2
        return ESCAPES.get(mark, "\\" + mark)

    def _unicode_escape(self) -> Reads:
        while len(self._buffer) - self._at < 6:
            yield from self._more()
        match = UNICODE_ESCAPE.match(self._buffer, self._at)
        if match is None:
            self._at += 1
            return "\\"
        self._at += 6
        return chr(int(match[1], 16))
