"""citewell eval run, report and retrieval: run a data set through the real graph or through its search alone."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cli.command import Exit, awaited, opened, settings_for
from cli.console import (
    print_json,
    print_result,
    progress_bar,
    progress_console,
    result_console,
    show_failures,
    show_figures,
    show_groups,
    show_side_by_side,
)
from cli.options import (
    AsJson,
    BaselineRun,
    Concurrency,
    DataSetName,
    DataSetPath,
    FaithfulnessJudge,
    ModelName,
    Most,
    Planted,
    Removed,
    Retriever,
    RetrieverChoice,
    RunPath,
    new_run_path,
)

if TYPE_CHECKING:
    from evals.calibration import Calibration
    from evals.metrics import Figures
    from evals.run_folder import RunFolder


@awaited
async def run_set(
    data_set: DataSetName,
    path: DataSetPath = None,
    model: ModelName = "extractive",
    out: Annotated[
        Path | None,
        typer.Option("--out", help="The run's folder; a stopped run there is resumed.", show_default="runs/..."),
    ] = None,
    removed: Removed = False,
    planted: Planted = False,
    judge: FaithfulnessJudge = None,
    concurrency: Concurrency = 4,
    top_k: Annotated[int, typer.Option("--top-k", min=1, max=30, help="Segments that a search returns.")] = 10,
    refuse_below: Annotated[
        float | None,
        typer.Option(
            "--refuse-below", min=0.0, max=1.0, help="Refuse below this chance of an answer.", show_default=False
        ),
    ] = None,
    most: Most = None,
    retriever: RetrieverChoice = "ours",
    baseline: BaselineRun = None,
    as_json: AsJson = False,
) -> Exit:
    """Run a data set through the real graph and write results, figures and a report.

    The folder holds configuration.json, results.jsonl, metrics.json and report.html. To resume a stopped run, pass its
    folder as --out. Exits with 5 if every question's run failed.
    """
    from evals.evaluation import evaluate
    from evals.pacing import with_long_pool_timeout
    from evals.planting import planting
    from evals.prose_claims import judge_of
    from evals.report.report_figures import read_baseline
    from evals.retrievers import LEAST_SCORES, open_with_retriever
    from evals.run_folder import RunFolder, RunOptions
    from evals.sets import load_data_set

    data = load_data_set(data_set, path)
    if most is not None:
        data = data.sample(most)
    compared_with = None if baseline is None else read_baseline(baseline)
    folder = RunFolder(out or new_run_path(data.name, model))
    settings = with_long_pool_timeout(settings_for())
    if refuse_below is not None:
        settings = settings.model_copy(update={"refuse_below": refuse_below})
    options = RunOptions(
        model=model,
        concurrency=concurrency,
        removed=removed,
        planted=planted,
        top_k=top_k,
        retriever=retriever,
        min_score=LEAST_SCORES[retriever],
        effort=settings.effort,
    )
    if out is None:
        progress_console().print(f"Writing to {folder.path}; to resume after a stop, pass it as --out.")
    change = planting(data) if planted else None
    asked = None if judge is None else judge_of(settings, judge)
    async with open_with_retriever(settings, retriever, durability="exit", change=change) as citewell:
        with progress_bar() as progress:
            metrics = await evaluate(
                citewell, data, options, folder, judge=asked, baseline=compared_with, progress=progress
            )
    if as_json:
        print_json({"run": str(folder.path), **metrics})
    else:
        _show(folder, metrics)
    failed = metrics["all"].get("failed_runs")
    return Exit.UNAVAILABLE if failed and failed["mean"] == 1 else Exit.OK


def _show(folder: "RunFolder", metrics: Mapping[str, Any]) -> None:
    from evals.metrics.faithfulness_metrics import headline
    from evals.metrics.metric_groups import BY_GROUP

    show_figures(metrics["all"])
    for tag, groups in metrics["by"].items():
        show_groups(tag, groups, BY_GROUP)
    console = progress_console()
    console.print(headline(metrics["faithfulness"], metrics["all"].get("citation_faithfulness")))
    if calibration := metrics["calibration"]:
        console.print(_calibration_note(calibration))
    failed = [(record["case_id"], error["message"]) for record in folder.records() if (error := record["error"])]
    if failed:
        show_failures(f"{len(failed)} of {metrics['questions']} runs failed:", failed, rest_in="results.jsonl")
        console.print(f"Run it again with --out {folder.path} to retry those that failed for a temporary reason.")
    console.print(f"Written to {folder.path}. Open {folder.report} in a browser; it explains each measure.")


def _calibration_note(found: "Calibration") -> str:
    auroc = "none" if found["auroc"] is None else f"{found['auroc']:.3f}"
    return (
        f"Answerhood: {found['stated']:.3f} stated on average, {found['right']:.3f} right over {found['answers']} "
        f"answers; calibration error {found['error']:.3f}, AUROC {auroc}."
    )


@awaited
async def report(
    run_path: RunPath, judge: FaithfulnessJudge = None, baseline: BaselineRun = None, as_json: AsJson = False
) -> None:
    """Recompute a run's figures from its results, and rewrite its report.html."""
    from evals.evaluation import write_figures
    from evals.report.report_figures import read_baseline
    from evals.run_folder import RunFolder

    folder = RunFolder(run_path)
    if judge is not None:
        from evals.faithfulness_judging import judge_sentences
        from evals.prose_claims import judge_of

        with progress_bar("Judging") as progress:
            await judge_sentences(folder, judge_of(settings_for(), judge), progress=progress)
    write_figures(folder, None if baseline is None else read_baseline(baseline))
    print_result({"report": str(folder.report)}, f"Written to {folder.report}.", as_json=as_json, wrote=True)


@awaited
async def retrieval(
    data_set: DataSetName,
    path: DataSetPath = None,
    most: Most = None,
    retriever: RetrieverChoice = "ours",
    as_json: AsJson = False,
) -> None:
    """Measure how well a search for each question, as written, finds its evidence, without answering.

    With a retriever other than ours, both are measured and shown in one table.
    """
    from evals.pacing import with_long_pool_timeout
    from evals.retrievers import run_retrieval
    from evals.sets import load_data_set

    data = load_data_set(data_set, path)
    if most is not None:
        data = data.sample(most)
    async with opened(with_long_pool_timeout(settings_for())) as citewell:
        with progress_bar("Searching") as progress:
            report = await run_retrieval(citewell.library, data, retriever=retriever, progress=progress)
    if as_json:
        print_json(report)
        return
    ours = report.get("beside")
    _show_retrieval(retriever, report["all"], ours and ours["all"])
    for tag, groups in report["by"].items():
        for value, figures in groups.items():
            result_console().print(f"{tag}: {value}")
            _show_retrieval(retriever, figures, ours and ours["by"][tag][value])


def _show_retrieval(retriever: Retriever, figures: "Figures", ours: "Figures | None") -> None:
    if ours is None:
        show_figures(figures)
    else:
        show_side_by_side({"ours": ours, retriever: figures})
