"""Text that arrives in pieces, wrapped at words as it comes."""

import re

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from cli.rendering.safe import printable

# A place to break: white space, or any character of a script that writes without spaces.
_PIECES = re.compile(r"\s+|[\u2e80-\u9fff\uac00-\ud7af\uff00-\uffef]|[^\s\u2e80-\u9fff\uac00-\ud7af\uff00-\uffef]+")
_NEVER_FIRST = frozenset("，。、；：？！）》」』】”’％,.;:?!)]}%")


class Flow:
    """A paragraph under way. On a terminal lines are indented and wrapped; elsewhere the text passes as it is."""

    def __init__(self, console: Console, *, indent: int = 2) -> None:
        self._console = console
        self._margin = " " * indent if console.is_terminal else ""
        self._held = ""
        self._space = ""
        self._column = 0

    def write(self, delta: str) -> None:
        """Write what is complete of the text so far; the last word waits for its end."""
        pieces = _PIECES.findall(self._held + printable(delta))
        self._held = pieces.pop() if pieces and not pieces[-1].isspace() else ""
        for piece in pieces:
            self._piece(piece)

    def mark(self, text: str, style: str) -> None:
        """Write a marker right behind the text, never alone on a line's start."""
        self._release()
        self._put(f" {text}", style)

    def close(self) -> None:
        """End the paragraph."""
        self._release()
        if self._column:
            self._out("\n")
        self._column, self._space = 0, ""

    def _release(self) -> None:
        held, self._held = self._held, ""
        if held:
            self._piece(held)

    def _piece(self, piece: str) -> None:
        if piece.isspace():
            self._space = piece if self._column or not self._console.is_terminal else ""
            return
        if self._console.is_terminal and "\n" in self._space:
            self._break()
        self._put((self._space if self._console.is_terminal is False else " " * bool(self._space)) + piece)
        self._space = ""

    def _put(self, text: str, style: str = "") -> None:
        width = cell_len(text)
        limit = self._console.width - 1
        if self._console.is_terminal and self._column and self._column + width > limit and text not in _NEVER_FIRST:
            self._break()
            text = text.lstrip()
            width = cell_len(text)
        if not self._column:
            self._out(self._margin)
            self._column = len(self._margin)
        self._out(text, style)
        self._column += width

    def _break(self) -> None:
        self._out("\n")
        self._column = 0

    def _out(self, text: str, style: str = "") -> None:
        self._console.print(Text(text, style), end="", soft_wrap=True)
