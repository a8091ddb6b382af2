"""citewell eval compare: compare two runs by measure and by question."""

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cli.command import Exit, awaited
from cli.console import print_json, progress_console, result_console, show_table
from cli.options import AsJson, writing
from text.counted import counted

if TYPE_CHECKING:
    from evals.run_comparison import Comparison

QUESTIONS_SHOWN = 30
JUDGED = {"better": "better", "worse": "worse", "changed": "changed", "no significant change": "–"}


@awaited
async def compare(
    before: Annotated[Path, typer.Argument(metavar="A", help="The folder of the earlier run.", show_default=False)],
    after: Annotated[Path, typer.Argument(metavar="B", help="The folder of the later run.", show_default=False)],
    html: Annotated[
        Path | None, typer.Option("--html", help="Also write the comparison as an HTML page.", show_default=False)
    ] = None,
    turned_wrong: Annotated[
        int, typer.Option("--turned-wrong", min=0, help="Questions that may turn from right to wrong.")
    ] = 0,
    as_json: AsJson = False,
) -> Exit:
    """Compare two runs over the questions that both asked.

    Each measure's change has a 95% interval by paired bootstrap, and a p-value corrected for multiple comparisons.
    Exits with 9 if a measure is significantly worse, time and cost aside, or a question turned from right to wrong.
    """
    from evals.run_comparison import compare_runs
    from evals.run_folder import RunFolder

    comparison = compare_runs(RunFolder(before), RunFolder(after))
    if html is not None:
        from evals.report.comparison_page import write_comparison

        with writing(html, "html"):
            write_comparison(html, comparison)
    if as_json:
        print_json({**asdict(comparison), "worse": comparison.worse, "turned_wrong": comparison.turned_wrong})
    else:
        _show(comparison)
        if html is not None:
            progress_console().print(f"Written to {html}.")
    return Exit.WORSE if comparison.worse or comparison.turned_wrong > turned_wrong else Exit.OK


def _show(comparison: "Comparison") -> None:
    notes = progress_console()
    for line in comparison.configuration:
        notes.print(line)
    notes.print(_counts(comparison))
    worse = ", ".join(comparison.worse) or "none"
    notes.print(f"Turned from right to wrong: {comparison.turned_wrong}. Significantly worse: {worse}.")
    if lengths := comparison.lengths:
        notes.print(f"Characters shown: {lengths[0]:.0f} → {lengths[1]:.0f}.")
    _show_measures(comparison)
    _show_questions(comparison)


def _show_measures(comparison: "Comparison") -> None:
    from evals.report.html_markup import shown, signed

    rows = [
        [
            change.title,
            f"{shown(change.before['mean'], change.unit)} → {shown(change.after['mean'], change.unit)}",
            f"{signed(change.difference['low'], change.unit)} to {signed(change.difference['high'], change.unit)}",
            JUDGED[change.judgement],
        ]
        for change in comparison.metrics
        if change.moved
    ]
    columns = ["Measure", f"{comparison.before} → {comparison.after}", "Change, 95%", "Judged"]
    show_table(result_console(), columns, rows, numbers=(1, 2))
    progress_console().print(
        f"{len(comparison.metrics) - len(rows)} measures did not change at all; – means no significant change."
    )


def _show_questions(comparison: "Comparison") -> None:
    rows = []
    for each in comparison.questions:
        named = each.case_id if each.variant == "asked" else f"{each.case_id} ({each.variant})"
        rows.append([named, each.turn, each.before, each.after])
    if not rows:
        progress_console().print("No question had a different outcome.")
        return
    columns = ["Question", "Turn", comparison.before, comparison.after]
    show_table(result_console(), columns, rows[:QUESTIONS_SHOWN])
    if len(rows) > QUESTIONS_SHOWN:
        more = len(rows) - QUESTIONS_SHOWN
        progress_console().print(f"{more} more questions had a different outcome; --json and --html list all.")


def _counts(comparison: "Comparison") -> str:
    rest = {
        f"only in {comparison.before}": comparison.only_before,
        f"only in {comparison.after}": comparison.only_after,
        "asked differently": comparison.otherwise,
    }
    counts = [f"{len(names)} {where}" for where, names in rest.items() if names]
    return f"{counted(comparison.shared, 'question')} compared" + (f"; {', '.join(counts)}." if counts else ".")
