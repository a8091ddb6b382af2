"""Text made safe for a terminal, and tables: aligned on a terminal, tab-separated in a pipe."""

from collections.abc import Collection, Sequence

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

_CONTROL = {code: 0x2400 + code for code in range(32) if chr(code) not in "\n\t"}
_CONTROL |= {code: 0xFFFD for code in range(0x7F, 0xA0)}
_CONTROL |= {code: 0xFFFD for code in (0x202D, 0x202E)}  # direction overrides, which disguise text


def printable(text: str) -> str:
    """Replace control characters with visible ones: a document must not control the reader's terminal."""
    return text.translate(_CONTROL)


def one_line(text: str) -> str:
    """Collapse white space, so that a quote of several lines becomes one paragraph."""
    return printable(" ".join(text.split()))


def show_table(
    console: Console, columns: Sequence[str], rows: Sequence[Sequence[str]], *, numbers: Collection[int] = ()
) -> None:
    """Show rows under columns; ``numbers`` are the columns to align to the right."""
    if not console.is_terminal:
        for row in rows:
            print("\t".join(one_line(cell) for cell in row))
        return
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for index, column in enumerate(columns):
        # The first column holds the id or name that other commands take, so it is never wrapped.
        table.add_column(column, justify="right" if index in numbers else "left", no_wrap=index == 0, overflow="fold")
    for row in rows:
        table.add_row(*(Text(one_line(cell)) for cell in row))
    console.print(table if rows else Text("Nothing here yet.", style="dim"))
