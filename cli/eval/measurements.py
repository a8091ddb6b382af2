"""citewell eval repair, rgb, claims, wice, injection, small-talk: measurements of one thing each."""

from collections.abc import Callable, Coroutine, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cli.eval.showing import progress_bar, show_report
from cli.exits import Exit
from cli.opening import opened, settings_for
from cli.options import AsJson
from cli.running import run

if TYPE_CHECKING:
    from evals.progress import Progress
    from graph.entrypoint import Citewell

Measure = Callable[["Citewell", "Progress"], Coroutine[Any, Any, Mapping[str, Any]]]
DataSet = Annotated[Path, typer.Option("--path", help="The data set's file.", show_default=False)]


def repair(
    path: Annotated[Path, typer.Option("--path", help="XQuAD's folder.", show_default=False)],
    model: Annotated[str, typer.Option("--model", help="A configured model's name.", show_default=False)],
    per_language: Annotated[int, typer.Option("--per-language", min=1, help="Questions a language.")] = 8,
    settle: Annotated[
        bool, typer.Option("--settle", help="Let the model settle claims that code leaves open.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Compare a model's answers before claims are checked and after repair."""

    async def measure(citewell: "Citewell", progress: "Progress") -> Mapping[str, Any]:
        from evals.repair import run_repair

        return await run_repair(
            citewell, path, model=model, per_language=per_language, settle=settle, progress=progress
        )

    run(_measured(measure, as_json), as_json=as_json)


def rgb(path: DataSet, as_json: AsJson = False) -> None:
    """Measure on RGB how often an answer says that its sources disagree."""

    async def measure(citewell: "Citewell", progress: "Progress") -> Mapping[str, Any]:
        from evals.rgb import run_rgb

        return await run_rgb(citewell, path, progress=progress)

    run(_measured(measure, as_json), as_json=as_json)


def claims(
    path: Annotated[
        Path | None,
        typer.Option(
            "--path", help="Claims as JSON lines; made from the data folder where left out.", show_default=False
        ),
    ] = None,
    data: Annotated[
        Path | None,
        typer.Option("--data", help="The folder that holds xquad/{en,zh,vi}.json.", show_default="../shared/data"),
    ] = None,
    write: Annotated[
        Path | None, typer.Option("--write", help="Write the claims to this file as well.", show_default=False)
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Measure what the checker of claims catches, and what it suspects wrongly."""
    run(_claims(path, data, write, as_json), as_json=as_json)


async def _claims(path: Path | None, data: Path | None, write: Path | None, as_json: bool) -> Exit:
    from evals.claims import chosen_cases, run_claims
    from evals.mutations.cases import write_cases

    cases = chosen_cases(path=path, data=data)
    if write is not None:
        write_cases(write, cases)
    with progress_bar("Checking") as progress:
        report = await run_claims(settings_for(), cases, progress=progress)
    show_report(report, as_json=as_json)
    return Exit.OK


def wice(path: DataSet, as_json: AsJson = False) -> None:
    """Measure on WiCE how support is estimated and evidence chosen."""
    run(_wice(path, as_json), as_json=as_json)


async def _wice(path: Path, as_json: bool) -> Exit:
    from evals.wice import run_wice
    from tools.families import configured_families

    family = configured_families(settings_for())("extractive")
    show_report(await run_wice(family.checker, path), as_json=as_json)
    return Exit.OK


def injection(
    path: Annotated[Path, typer.Option("--path", help="The folder of the attack corpora.", show_default=False)],
    most: Annotated[
        int | None, typer.Option("--most", min=1, help="Attacks and benign texts at most.", show_default=False)
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Plant attacks in documents, ask the extractive family and a model that obeys, and count what comes out."""
    run(_injection(path, most, as_json), as_json=as_json)


async def _injection(path: Path, most: int | None, as_json: bool) -> Exit:
    from evals.injection import run_injection

    with progress_bar() as progress:
        report = await run_injection(settings_for(), path, most=most, progress=progress)
    show_report(report, as_json=as_json)
    return Exit.OK


def small_talk(as_json: AsJson = False) -> None:
    """Tell 100 questions from 100 lines of small talk."""
    run(_small_talk(as_json), as_json=as_json)


async def _small_talk(as_json: bool) -> Exit:
    from evals.small_talk import run_small_talk

    show_report(await run_small_talk(), as_json=as_json)
    return Exit.OK


async def _measured(measure: Measure, as_json: bool) -> Exit:
    async with opened(settings_for(), durability="exit") as citewell:
        with progress_bar() as progress:
            report = await measure(citewell, progress)
    show_report(report, as_json=as_json)
    return Exit.OK
