"""How measurements are shown: a bar while they run, a table of figures, or JSON."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from cli.output import print_json, progress_console, result_console

if TYPE_CHECKING:
    from evals.metrics import Figure
    from evals.progress import Progress

FAULTS_SHOWN = 5


def show_report(report: Mapping[str, Any], *, as_json: bool) -> None:
    """Show the figures of one measurement, nested ones by dotted names."""
    if as_json:
        print_json(report)
        return
    from cli.rendering.tables import show_table

    show_table(result_console(), ["Figure", "Value"], list(_rows(report)))


def _rows(report: Mapping[str, Any], of: str = "") -> Iterator[list[str]]:
    for name, value in report.items():
        if isinstance(value, Mapping):
            yield from _rows(value, f"{of}{name}.")
        else:
            yield [of + name, "; ".join(value) if isinstance(value, list) else str(value)]


@contextmanager
def progress_bar(doing: str = "Asking") -> "Iterator[Progress]":
    """Show a bar on a terminal; the function given moves it."""
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    console = progress_console()
    columns = (TextColumn(doing), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Bar(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task("", total=None)
        yield lambda done, of: bar.update(task, completed=done, total=of)


def show_figures(figures: "Mapping[str, Figure]") -> None:
    """Show measures with their intervals, a row each."""
    from cli.rendering.tables import show_table

    rows = [
        [name, f"{figure['mean']:.3f}", f"{figure['low']:.3f} - {figure['high']:.3f}", str(figure["n"])]
        for name, figure in figures.items()
    ]
    show_table(result_console(), ["Measure", "Mean", "95% interval", "Questions"], rows, numbers=(1, 2, 3))


def tell_faults(what: str, faults: Sequence[tuple[str, str]], *, rest_in: str) -> None:
    """Say what failed, the first few with name and reason, and which file of the run has the rest."""
    console = progress_console()
    console.print(what)
    for name, reason in faults[:FAULTS_SHOWN]:
        console.print(f"  {name}: {reason}")
    if len(faults) > FAULTS_SHOWN:
        console.print(f"  and {len(faults) - FAULTS_SHOWN} more, in {rest_in}")
