"""Lines set in from the margin, without the trailing blanks that padding leaves in a pipe."""

from rich.console import Console
from rich.text import Text


def show_indented(console: Console, text: Text | str, indent: int, *, first: Text | None = None) -> None:
    """Print text wrapped behind an indent; ``first`` stands in the indent of the first line."""
    whole = Text(text) if isinstance(text, str) else text
    room = max(console.width - indent, 12)
    for number, line in enumerate(whole.wrap(console, room)):
        line.rstrip()
        head = first if first is not None and number == 0 else Text()
        gap = " " * (indent - head.cell_len)
        console.print(Text.assemble(head, gap, line), soft_wrap=True)
