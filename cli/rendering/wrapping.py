"""Text wrapping for a terminal: indented without trailing blanks, or incrementally as text arrives."""

import re

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from cli.console import printable
from text.scripts import CHINESE_AND_JAPANESE_TEXT, HANGUL


def show_indented(console: Console, text: Text | str, indent: int, *, first: Text | None = None) -> None:
    """Print text wrapped and indented; ``first`` is printed in the indent of the first line."""
    whole = Text(text) if isinstance(text, str) else text
    room = max(console.width - indent, 12)
    for number, line in enumerate(whole.wrap(console, room)):
        line.rstrip()
        head = first if first is not None and number == 0 else Text()
        gap = " " * (indent - head.cell_len)
        console.print(Text.assemble(head, gap, line), soft_wrap=True)


# A line may break at white space, and after any character of a script written without spaces; closing punctuation
# stays with the character before it.
_WIDE = f"{CHINESE_AND_JAPANESE_TEXT}{HANGUL}"
_CLOSING = r"[，。、；：？！）》」』】”’％,.;:?!)\]}%]*"
_PIECES = re.compile(rf"\s+|[{_WIDE}]{_CLOSING}|[^\s{_WIDE}]+{_CLOSING}")


class Flow:
    """A paragraph written as it arrives: wrapped and indented for a terminal, unchanged for a pipe."""

    def __init__(self, console: Console, *, wrap: bool, indent: int = 2) -> None:
        self._console = console
        self._wrap = wrap
        self._margin = " " * indent if wrap else ""
        self._held = ""
        self._space = ""
        self._column = 0

    def write(self, delta: str) -> None:
        """Write the complete words so far; the last word is buffered until its end."""
        pieces = _PIECES.findall(self._held + printable(delta))
        self._held = pieces.pop() if pieces and not pieces[-1].isspace() else ""
        for piece in pieces:
            self._piece(piece)

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
            self._space = piece if self._column or not self._wrap else ""
            return
        if self._wrap and "\n" in self._space:
            self._break()
            self._space = ""
        self._put((" " if self._wrap and self._space else self._space) + piece)
        self._space = ""

    def _put(self, text: str) -> None:
        width = cell_len(text)
        limit = self._console.width - 1
        if self._wrap and self._column and self._column + width > limit:
            self._break()
            text = text.lstrip()
            width = cell_len(text)
        if not self._column:
            self._out(self._margin)
            self._column = len(self._margin)
        self._out(text)
        self._column += width

    def _break(self) -> None:
        self._out("\n")
        self._column = 0

    def _out(self, text: str) -> None:
        if self._wrap:
            self._console.print(Text(text), end="", soft_wrap=True)
        else:
            self._console.file.write(text)  # rich would expand tabs
            self._console.file.flush()
