"""Tables: aligned on a terminal, tab-separated in a pipe."""

from collections.abc import Collection, Sequence

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from cli.console import one_line


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
