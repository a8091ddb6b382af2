"""citewell eval: measure Citewell on a data set, through the real graph in a throw-away workspace."""

from collections.abc import Callable, Coroutine, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cli.exits import Exit
from cli.opening import opened, settings_for
from cli.options import AsJson
from cli.output import print_json, progress_console, result_console
from cli.running import run

if TYPE_CHECKING:
    from graph.entrypoint import Citewell

evaluate = typer.Typer(help="Measure Citewell on a data set.", no_args_is_help=True)

Progress = Callable[[int, int], None]
Measure = Callable[["Citewell", Progress], Coroutine[Any, Any, Mapping[str, Any]]]
DataSet = Annotated[Path, typer.Option("--path", help="The data set's file.", show_default=False)]


@evaluate.command()
def xquad(path: DataSet, as_json: AsJson = False) -> None:
    """Measure retrieval and quoted evidence on XQuAD."""

    async def measure(citewell: "Citewell", progress: Progress) -> Mapping[str, Any]:
        from evals.xquad import run_xquad

        return await run_xquad(citewell, path, progress=progress)

    run(_measured(measure, as_json), as_json=as_json)


@evaluate.command("small-talk")
def small_talk(as_json: AsJson = False) -> None:
    """Tell 100 questions from 100 lines of small talk."""
    run(_small_talk(as_json), as_json=as_json)


async def _small_talk(as_json: bool) -> Exit:
    from evals.small_talk import run_small_talk

    _show(await run_small_talk(), as_json=as_json)
    return Exit.OK


async def _measured(measure: Measure, as_json: bool) -> Exit:
    async with opened(settings_for(), durability="exit") as citewell:
        with _progress() as progress:
            report = await measure(citewell, progress)
    _show(report, as_json=as_json)
    return Exit.OK


def _show(report: Mapping[str, Any], *, as_json: bool) -> None:
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
def _progress() -> Iterator[Progress]:
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    console = progress_console()
    columns = (TextColumn("Asking"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Bar(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task("", total=None)
        yield lambda done, of: bar.update(task, completed=done, total=of)
