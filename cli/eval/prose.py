"""citewell eval prose: measure verdicts on true and false claims in a writer's own words."""

from collections.abc import Iterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cli.command import Exit, awaited, settings_for
from cli.console import print_json, progress_bar, progress_console, result_console, show_table
from cli.options import AsJson, Concurrency
from graph.errors import InvalidRequest
from text.counted import counted

if TYPE_CHECKING:
    from evals.prose_claims import JudgeReport, ProseReport, Rates
    from graph.ports import Judge


@awaited
async def prose(
    path: Annotated[Path, typer.Option("--path", help="Claims as JSON lines.", show_default=False)],
    judge: Annotated[
        str | None,
        typer.Option("--judge", help="Also ask the judge of this configured model.", show_default=False),
    ] = None,
    any_judge: Annotated[
        bool, typer.Option("--any-judge", help="Let the judge's support prove without a passed exam, as in no answer.")
    ] = False,
    concurrency: Concurrency = 4,
    as_json: AsJson = False,
) -> Exit:
    """Measure verdicts on true and false claims: by code alone, or by code and a judge.

    A line is {"lang", "claim", "evidence", "supported"}, with "kind", "question", "title" and "heading" where there are
    any; evidence is a text or several. Exits with 5 if a judge decided nothing of what code left open.
    """
    from evals.prose_claims import load_prose, run_prose
    from tools.backends.backend_registry import configured_families
    from tools.settings import EXTRACTIVE

    if any_judge and judge is None:
        raise InvalidRequest("--any-judge: there is no judge.", suggestion="Name a configured model with --judge.")
    claims = load_prose(path)
    checker = configured_families(settings_for())(EXTRACTIVE).checker
    async with AsyncExitStack() as stack:
        asked = None if judge is None else await _open_judge(stack, judge, any_judge)
        with progress_bar("Checking") as progress:
            report = await run_prose(claims, checker, asked, at_once=concurrency, progress=progress)
    if as_json:
        print_json(report)
    else:
        _show(report)
    found = report["judge"]
    return Exit.UNAVAILABLE if found and found["open"] and not found["decided"] else Exit.OK


async def _open_judge(stack: AsyncExitStack, name: str, any_judge: bool) -> "Judge":
    """Return the judge of a model: with its exam, which the library's database holds, or as it is."""
    from evals.prose_claims import judge_of, without_judge
    from tools.judges.examiner import without_background_exam
    from tools.process.library import open_library

    settings = without_background_exam(settings_for())
    if any_judge:
        return judge_of(settings, name)
    judge = (await stack.enter_async_context(open_library(settings))).families(name).judge
    if judge is None:
        raise without_judge(name)
    return judge


def _show(report: "ProseReport") -> None:
    groups: list[tuple[str, Rates]] = [("all", report), *report["languages"].items(), *report["kinds"].items()]
    rows = [row for name, rates in groups for row in _rows(name, rates)]
    show_table(result_console(), ["Claims", "Measure", "Rate", "95% interval", "Of"], rows, numbers=(2, 3, 4))
    if report["judge"] is None:
        progress_console().print("By code alone; --judge NAME asks a judge about what code leaves open.")
    else:
        _show_judge(report["judge"])


def _rows(name: str, rates: "Rates") -> Iterator[list[str]]:
    from tools.judges.sequential_testing import Share

    for measure, share, of in (
        ("true_supported", rates["true_supported"], rates["true"]),
        ("true_marked", rates["true_marked"], rates["true"]),
        ("true_failed", rates["true_failed"], rates["true"]),
        ("false_supported", rates["false_supported"], rates["false"]),
        ("false_marked", rates["false_marked"], rates["false"]),
        ("false_caught", rates["false_caught"], rates["false"]),
    ):
        if share is not None:
            low, high = Share(round(share * of), of).interval
            yield [name, measure, f"{share:.3f}", f"{low:.3f} - {high:.3f}", str(of)]


def _show_judge(judge: "JudgeReport") -> None:
    console = progress_console()
    exam = "" if judge["examined"] else ", without an exam"
    console.print(
        f"{judge['name']} decided {judge['decided']} of {counted(judge['open'], 'claim')} that code left open{exam}; "
        f"{counted(judge['calls'], 'call')}, {counted(judge['tokens'], 'token')}."
    )
    for reason, count in judge["left"].items():
        console.print(f"  {count} left open: {reason or 'no reason given'}")
