"""Console output of commands: results on stdout, progress on stderr, JSON, progress bars and tables of figures.

rich is imported only when something is printed, so that ``citewell --help`` stays fast.
"""

import json
import sys
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, is_dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console

WIDEST = 100
_CONTROL = {code: 0x2400 + code for code in range(32) if chr(code) not in "\n\t"}
_CONTROL |= {code: 0xFFFD for code in range(0x7F, 0xA0)}
_CONTROL |= {code: 0xFFFD for code in (0x202D, 0x202E)}  # direction overrides, which disguise text


def result_console() -> "Console":
    """Return the console for results: stdout, in colour only on a terminal."""
    return _console(stderr=False)


def progress_console() -> "Console":
    """Return the console for progress and errors: stderr."""
    return _console(stderr=True)


def print_json(document: Any) -> None:
    """Print one JSON document on stdout, indented and in UTF-8."""
    sys.stdout.write(json_text(document))
    sys.stdout.flush()


def print_result(document: Any, line: str, *, as_json: bool, wrote: bool = False) -> None:
    """Print what a command has done: one JSON document, or a line for people; on stderr where it ``wrote`` a file."""
    if as_json:
        print_json(document)
    elif wrote:
        progress_console().print(line)
    else:
        print(line)


def print_rows(
    document: Any,
    columns: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    as_json: bool,
    numbers: Collection[int] = (),
    more: str | None = None,
) -> None:
    """Print what a command lists: one JSON document, or a table, and the command ``more`` that lists what follows."""
    if as_json:
        print_json(document)
        return
    from cli.tables import show_table

    show_table(result_console(), columns, rows, numbers=numbers)
    if more is not None:
        sys.stderr.write(f"More: {more}\n")


def printable(text: str) -> str:
    """Replace control characters with visible ones: a document must not control the reader's terminal."""
    return text.translate(_CONTROL)


def one_line(text: str) -> str:
    """Collapse white space, so that a quote of several lines becomes one paragraph."""
    return printable(" ".join(text.split()))


def json_text(document: Any) -> str:
    """Return a document as ``print_json`` prints it."""
    return json.dumps(document, ensure_ascii=False, indent=2, default=plain) + "\n"


def plain(value: Any) -> Any:
    """Convert a value that JSON lacks: dataclasses to objects, times to ISO 8601, others to text."""
    if is_dataclass(value) and not isinstance(value, type):
        return asdict(value)
    if isinstance(value, datetime):
        return value.isoformat()
    return str(value)


def _console(*, stderr: bool) -> "Console":
    from rich.console import Console

    return bounded(Console(stderr=stderr, highlight=False, emoji=False, markup=False))


def bounded(console: "Console") -> "Console":
    """Return a console that is no wider than text is read well."""
    if console.width > WIDEST:
        console.width = WIDEST
    return console


@dataclass(frozen=True, slots=True)
class Screen:
    """Where a command's output appears; its consoles are made when they are asked for."""

    results: "Callable[[], Console]"
    progress: "Callable[[], Console]"
    print_json: Callable[[Any], None]


OWN_SCREEN = Screen(result_console, progress_console, print_json)


if TYPE_CHECKING:
    from evals.metrics import Figure
    from evals.pacing import Progress

FAILURES_SHOWN = 5


@contextmanager
def progress_bar(label: str = "Asking") -> "Iterator[Progress]":
    """Show a progress bar on a terminal; yield the function that updates it."""
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    console = progress_console()
    columns = (TextColumn(label), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Bar(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task("", total=None)
        yield lambda done, of: bar.update(task, completed=done, total=of)


def show_figures(figures: "Mapping[str, Figure]") -> None:
    """Show measures with their intervals, one per row."""
    from cli.tables import show_table

    rows = [[name, *_cells(figure), str(figure["n"])] for name, figure in figures.items()]
    show_table(result_console(), ["Measure", "Mean", "95% interval", "Questions"], rows, numbers=(1, 2, 3))


def show_side_by_side(figures: "Mapping[str, Mapping[str, Figure]]") -> None:
    """Show the measures of several named runs in one table, two columns per name."""
    from cli.tables import show_table

    first = next(iter(figures.values()))
    rows = [
        [measure, *(cell for each in figures.values() for cell in _cells(each[measure])), str(figure["n"])]
        for measure, figure in first.items()
    ]
    columns = [column for name in figures for column in (name, "95% interval")]
    show_table(
        result_console(), ["Measure", *columns, "Questions"], rows, numbers=tuple(range(1, 2 * len(figures) + 2))
    )


def show_groups(tag: str, groups: "Mapping[str, Mapping[str, Figure]]", measures: Sequence[str]) -> None:
    """Show some measures by the values of a tag, one value per row; measures that no group has are left out."""
    from cli.tables import show_table

    taken = [name for name in measures if any(name in figures for figures in groups.values())]
    rows = [
        [f"{tag}: {value}", *(f"{figures[name]['mean']:.3f}" if name in figures else "–" for name in taken)]
        for value, figures in groups.items()
    ]
    if taken:
        show_table(result_console(), ["", *taken], rows, numbers=tuple(range(1, len(taken) + 1)))


def _cells(figure: "Figure") -> list[str]:
    return [f"{figure['mean']:.3f}", f"{figure['low']:.3f} - {figure['high']:.3f}"]


def show_failures(heading: str, faults: Sequence[tuple[str, str]], *, rest_in: str) -> None:
    """Show the first failures with name and reason, and the file of the run that lists the rest."""
    console = progress_console()
    console.print(heading)
    for name, reason in faults[:FAILURES_SHOWN]:
        console.print(f"  {name}: {reason}")
    if len(faults) > FAILURES_SHOWN:
        console.print(f"  and {len(faults) - FAILURES_SHOWN} more, in {rest_in}")
