"""citewell eval ragas: export a run in ragas' data set format, and score it with ragas' metrics."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cli.command import Exit, awaited, settings_for
from cli.console import print_json, print_result, progress_bar, result_console, show_failures, show_table
from cli.options import AsJson, RunPath, writing
from text.counted import counted

if TYPE_CHECKING:
    from evals.ragas_metrics.ragas_scoring import MetricReport, RagasFault, RagasReport


@awaited
async def ragas(
    run_path: RunPath,
    metrics: Annotated[
        str,
        typer.Option(
            "--metrics", help="Names of ragas' metrics, separated by commas.", show_default="all that need no model"
        ),
    ] = "",
    model: Annotated[
        str | None,
        typer.Option(
            "--model", help="A configured model as judge; adds the metrics that need one.", show_default=False
        ),
    ] = None,
    export: Annotated[
        Path | None,
        typer.Option(
            "--export",
            help="Write the run as JSON lines for ragas; without other options, score nothing.",
            show_default=False,
        ),
    ] = None,
    concurrency: Annotated[int, typer.Option("--concurrency", min=1, max=64, help="Judgements in flight.")] = 4,
    as_json: AsJson = False,
) -> Exit:
    """Score a run with ragas, and write the scores to the run's folder; needs the extra `ragas`.

    A score that is not a number is an error: the metric then has no mean, and the command exits with 5.
    """
    from evals.ragas_metrics.ragas_catalogue import write_samples
    from evals.run_folder import RunFolder

    folder = RunFolder(run_path)
    if export is not None:
        folder.configuration()
        with writing(export, "export"):
            written = write_samples(export, folder.records())
        if not metrics and model is None:
            print_result(
                {"samples": written, "file": str(export)},
                f"{written} samples written to {export}.",
                as_json=as_json,
                wrote=True,
            )
            return Exit.OK
    from evals.ragas_metrics.ragas_scoring import is_whole, score_run

    names = [name.strip() for name in metrics.split(",") if name.strip()]
    with progress_bar("Scoring") as progress:
        report = await score_run(
            folder, settings_for(), metrics=names, model=model, concurrency=concurrency, progress=progress
        )
    if as_json:
        print_json(report)
    else:
        _show(report)
    return Exit.OK if is_whole(report) else Exit.UNAVAILABLE


def _show(report: "RagasReport") -> None:
    rows = [[name, *_cells(metric)] for name, metric in report["metrics"].items()]
    columns = ["Metric", "Mean", "95% interval", "Scored", "Failed", "Left out"]
    show_table(result_console(), columns, rows, numbers=(1, 2, 3, 4))
    if failed_runs := report["failed_runs"]:
        of = report["questions"]
        _show_faults(f"{len(failed_runs)} of {counted(of, 'run')} failed, so no metric has a mean:", failed_runs)
    for name, metric in report["metrics"].items():
        if failed := metric["failed"]:
            of = len(failed) + len(metric["scores"])
            _show_faults(f"{name} failed on {len(failed)} of {counted(of, 'question')}, so it has no mean:", failed)


def _cells(metric: "MetricReport") -> list[str]:
    figure = metric["figure"]
    mean, interval = (f"{figure['mean']:.3f}", f"{figure['low']:.3f} - {figure['high']:.3f}") if figure else ("-", "")
    left_out = ", ".join(f"{count} without {lacking}" for lacking, count in metric["left_out"].items())
    return [mean, interval, str(len(metric["scores"])), str(len(metric["failed"])), left_out]


def _show_faults(heading: str, faults: "list[RagasFault]") -> None:
    named = [(f"{fault['case_id']} ({fault['variant']})", fault["reason"]) for fault in faults]
    show_failures(heading, named, rest_in="ragas.json")
