"""citewell eval gate: judge a change on the gate's own sets, or a set of one's own by bounds of one's own."""

from collections.abc import Iterable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cli.command import Exit, awaited, settings_for
from cli.console import print_json, progress_bar, progress_console, result_console, show_table
from cli.options import AsJson, FaithfulnessJudge, ModelName, Planted, Removed
from graph.errors import InvalidRequest

if TYPE_CHECKING:
    from evals.gate.gate_judging import GateJudgement


@awaited
async def gate(
    path: Annotated[
        Path | None,
        typer.Option("--path", help="Judge this set of your own, in the form of `eval run own`.", show_default=False),
    ] = None,
    thresholds: Annotated[
        Path | None, typer.Option("--thresholds", help="The bounds for --path, as TOML.", show_default=False)
    ] = None,
    model: ModelName = "extractive",
    removed: Removed = False,
    planted: Planted = False,
    judge: FaithfulnessJudge = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", help="Keep the run folders here, to inspect each question.", show_default=False),
    ] = None,
    write_baseline: Annotated[
        bool,
        typer.Option("--write-baseline", help="Save the result as the new baseline; judge by thresholds alone."),
    ] = False,
    fault: Annotated[
        str, typer.Option("--fault", help="Inject this fault; the gate must then fail.", show_default=False)
    ] = "",
    as_json: AsJson = False,
) -> Exit:
    """Judge a change on the golden set and our own manuals: by thresholds, and paired with the committed baseline.

    With --path and --thresholds, judge a set of your own by its bounds alone; --model, --removed, --planted and --judge
    are for it. Exits with 9 if a figure breaks its bound or a measure is significantly worse than the baseline.
    """
    _check(path, thresholds, is_ours=bool(write_baseline or fault), is_own=removed or planted or judge is not None)
    with TemporaryDirectory(prefix="citewell-gate-") as scratch, progress_bar() as progress:
        folder = out or Path(scratch)
        if path is None or thresholds is None:
            from evals.gate.gate_run import judge_gate

            judgements = await judge_gate(
                settings_for(), folder, fault=fault, rewrites=write_baseline, progress=progress
            )
        else:
            from evals.own_gate import judge_own
            from evals.pacing import with_long_pool_timeout
            from evals.run_folder import RunFolder, RunOptions
            from evals.sets.own import load_own

            judgements = await judge_own(
                with_long_pool_timeout(settings_for()),
                load_own(path),
                RunOptions(model=model, removed=removed, planted=planted),
                RunFolder(folder),
                thresholds,
                judge=judge,
                progress=progress,
            )
    failed = [judgement for judgement in judgements if judgement.faults]
    if as_json:
        print_json({"passed": not failed, "measures": [_row(judgement) for judgement in judgements]})
        return Exit.WORSE if failed else Exit.OK
    _show(judgements)
    console = progress_console()
    console.print(f"{len(failed) or 'None'} of {len(judgements)} measures failed.")
    if failed and out is None:
        console.print("Use --out DIR to keep every question's record and a report.")
    return Exit.WORSE if failed else Exit.OK


def _check(path: Path | None, thresholds: Path | None, *, is_ours: bool, is_own: bool) -> None:
    if (path is None) != (thresholds is None):
        given, lacking = ("--path", "--thresholds") if thresholds is None else ("--thresholds", "--path")
        raise InvalidRequest(f"{given}: a set of your own is judged by your own bounds.", suggestion=f"Add {lacking}.")
    if path is not None and is_ours:
        raise InvalidRequest("--path: --write-baseline and --fault are of our own sets.", suggestion="Leave it out.")
    if path is None and is_own:
        raise InvalidRequest(
            "--path: --removed, --planted and --judge are for a set of your own.", suggestion="Add it."
        )


def _row(judgement: "GateJudgement") -> dict[str, Any]:
    figure = judgement.figure
    return {
        "run": judgement.run,
        "measure": judgement.metric.name,
        "baseline": judgement.baseline,
        "figure": None if figure is None else figure._asdict(),
        "threshold": judgement.threshold.model_dump(exclude_none=True),
        "faults": list(judgement.faults),
    }


def _show(judgements: Iterable["GateJudgement"]) -> None:
    rows = [
        [
            judgement.run,
            judgement.metric.name,
            _number(judgement.baseline),
            _number(judgement.figure.mean if judgement.figure else None),
            f"{judgement.figure.low:.3f} - {judgement.figure.high:.3f}" if judgement.figure else "",
            str(judgement.threshold),
            "; ".join(judgement.faults) or "ok",
        ]
        for judgement in judgements
    ]
    columns = ["Run", "Measure", "Baseline", "Now", "95% interval", "Bound", "Verdict"]
    show_table(result_console(), columns, rows, numbers=(2, 3, 4))


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.3f}"
