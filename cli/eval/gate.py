"""citewell eval gate: judge both families on the gate's own sets against the committed thresholds and baseline."""

from collections.abc import Iterable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cli.command import Exit, awaited, settings_for
from cli.console import print_json, progress_bar, progress_console, result_console
from cli.options import AsJson

if TYPE_CHECKING:
    from evals.gate.gate_judging import GateJudgement


@awaited
async def gate(
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

    Exits with 9 if a bound breaks its threshold or a measure is significantly worse than the baseline.
    """
    from evals.gate.gate_run import judge_gate

    with TemporaryDirectory(prefix="citewell-gate-") as scratch, progress_bar() as progress:
        judgements = await judge_gate(
            settings_for(), out or Path(scratch), fault=fault, rewrites=write_baseline, progress=progress
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
    from cli.tables import show_table

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
