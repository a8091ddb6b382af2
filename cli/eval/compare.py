"""citewell eval compare: two runs, measure by measure and question by question."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cli.exits import Exit
from cli.options import AsJson
from cli.output import print_json, progress_console, result_console
from cli.running import run

if TYPE_CHECKING:
    from evals.comparison import Comparison

QUESTIONS_SHOWN = 30


def compare(
    before: Annotated[Path, typer.Argument(metavar="A", help="The folder of the run before.", show_default=False)],
    after: Annotated[Path, typer.Argument(metavar="B", help="The folder of the run after.", show_default=False)],
    html: Annotated[
        Path | None, typer.Option("--html", help="Write the comparison as a page too.", show_default=False)
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Compare two runs over the questions that both asked.

    Each measure's change has a 95% interval by paired bootstrap and a p-value corrected for all that are compared.
    """
    run(_compare(before, after, html, as_json), as_json=as_json)


async def _compare(before: Path, after: Path, html: Path | None, as_json: bool) -> Exit:
    from evals.comparison import compare_runs
    from evals.run_folder import RunFolder

    comparison = compare_runs(RunFolder(before), RunFolder(after))
    if html is not None:
        from evals.report.comparison_page import write_comparison

        write_comparison(html, comparison)
    if as_json:
        print_json(comparison)
    else:
        _show(comparison)
        if html is not None:
            progress_console().print(f"Written to {html}.")
    return Exit.OK


def _show(comparison: "Comparison") -> None:
    from cli.rendering.tables import show_table
    from evals.report.numbers import shown, signed

    console, notes = result_console(), progress_console()
    for line in comparison.configuration:
        notes.print(line)
    notes.print(_questions(comparison))
    rows = [
        [
            change.title,
            shown(change.before["mean"], change.unit),
            shown(change.after["mean"], change.unit),
            signed(change.difference["mean"], change.unit),
            f"{signed(change.difference['low'], change.unit)} to {signed(change.difference['high'], change.unit)}",
            f"{change.adjusted:.3f}",
            change.judgement,
        ]
        for change in comparison.metrics
    ]
    columns = ["Measure", comparison.before, comparison.after, "Change", "95% interval", "p", "Judgement"]
    show_table(console, columns, rows, numbers=(1, 2, 3, 4, 5))
    questions = [[each.case_id, each.variant, each.turn, each.before, each.after] for each in comparison.questions]
    if not questions:
        notes.print("No question came out otherwise.")
        return
    show_table(
        console, ["Question", "Variant", "Turn", comparison.before, comparison.after], questions[:QUESTIONS_SHOWN]
    )
    if len(questions) > QUESTIONS_SHOWN:
        notes.print(
            f"{len(questions) - QUESTIONS_SHOWN} more questions came out otherwise; --json and --html list all."
        )


def _questions(comparison: "Comparison") -> str:
    rest = {
        f"only in {comparison.before}": comparison.only_before,
        f"only in {comparison.after}": comparison.only_after,
        "asked otherwise": comparison.otherwise,
    }
    counts = [f"{len(names)} {where}" for where, names in rest.items() if names]
    return f"{comparison.shared} questions compared" + (f"; {', '.join(counts)}." if counts else ".")
