"""citewell eval run: a data set through the real graph, into a run folder."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from cli.eval.report import BaselineRun
from cli.eval.showing import progress_bar, show_figures
from cli.exits import Exit
from cli.opening import opened, settings_for
from cli.options import AsJson
from cli.output import print_json, progress_console
from cli.running import run

RUNS = Path("runs")


def run_set(
    data_set: Annotated[str, typer.Argument(help="golden, own, or the name of a public set.", show_default=False)],
    path: Annotated[
        Path | None, typer.Option("--path", help="Where the set lies; golden needs none.", show_default=False)
    ] = None,
    model: Annotated[str, typer.Option("--model", help="A configured model's name.")] = "extractive",
    out: Annotated[
        Path | None,
        typer.Option("--out", help="The run's folder; a run that was stopped there goes on.", show_default="runs/..."),
    ] = None,
    removed: Annotated[
        bool, typer.Option("--removed", help="Also ask without the documents that each answer needs.")
    ] = False,
    concurrency: Annotated[int, typer.Option("--concurrency", min=1, max=64, help="Questions in flight.")] = 4,
    top_k: Annotated[int, typer.Option("--top-k", min=1, max=30, help="Segments that a search brings.")] = 10,
    refuse_below: Annotated[
        float | None,
        typer.Option(
            "--refuse-below", min=0.0, max=1.0, help="Chance of an answer below which is refused.", show_default=False
        ),
    ] = None,
    most: Annotated[
        int | None, typer.Option("--most", min=1, help="Ask only so many questions, spread evenly.", show_default=False)
    ] = None,
    baseline: BaselineRun = None,
    as_json: AsJson = False,
) -> None:
    """Run a data set through the real graph and write results, figures and a report.

    The folder holds configuration.json, results.jsonl, metrics.json and report.html. Stopped runs go on where --out
    names their folder.
    """
    arguments = (data_set, path, model, out, removed, concurrency, top_k, refuse_below, most, baseline)
    run(_run_set(*arguments, as_json), as_json=as_json)


async def _run_set(
    data_set: str,
    path: Path | None,
    model: str,
    out: Path | None,
    removed: bool,
    concurrency: int,
    top_k: int,
    refuse_below: float | None,
    most: int | None,
    baseline: Path | None,
    as_json: bool,
) -> Exit:
    from evals.datasets import load_data_set
    from evals.evaluation import evaluate
    from evals.patience import patient
    from evals.report.baseline import read_baseline
    from evals.run_folder import RunFolder
    from evals.running import RunOptions

    data = load_data_set(data_set, path)
    if most is not None:
        data = data.sample(most)
    beside = None if baseline is None else read_baseline(baseline)
    folder = RunFolder(out or RUNS / f"{data.name}-{model}-{datetime.now(UTC):%Y%m%d-%H%M%S}")
    settings = patient(settings_for())
    if refuse_below is not None:
        settings = settings.model_copy(update={"refuse_below": refuse_below})
    options = RunOptions(model=model, concurrency=concurrency, removed=removed, top_k=top_k)
    async with opened(settings, durability="exit") as citewell:
        with progress_bar() as progress:
            metrics = await evaluate(citewell, data, options, folder, baseline=beside, progress=progress)
    if as_json:
        print_json({"run": str(folder.path), **metrics})
    else:
        show_figures(metrics["all"])
        progress_console().print(f"Written to {folder.path}; open {folder.report} in a browser.")
    return Exit.OK
