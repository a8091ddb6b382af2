"""View of an ingestion: how far it is, and what became of each file."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Protocol

from cli.command import Exit
from cli.console import one_line, print_json, progress_console, result_console
from text.counted import counted

if TYPE_CHECKING:
    from tools.library.ingestion import Report
    from tools.library.likeness import SimilarDocument

LONGEST_NAME = 40  # of a file in the progress bar


class ShowProgress(Protocol):
    """Show how far an ingestion is: ``segments`` are added to those shown so far, ``name`` is the file being read."""

    def __call__(
        self, done: int | None = None, of: int | None = None, *, segments: int = 0, name: str | None = None
    ) -> None:
        """Change what is given."""
        ...


@contextmanager
def file_progress(what: str) -> Iterator[ShowProgress]:
    """Show a progress bar of files on stderr while the block runs, if stderr is a terminal."""
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    console = progress_console()
    columns = (
        TextColumn(what),
        BarColumn(bar_width=20),
        MofNCompleteColumn(),
        TextColumn("{task.fields[segments]} segments"),
        TextColumn("{task.fields[rate]}"),
        TimeRemainingColumn(),
        TextColumn("{task.fields[name]}", style="dim", markup=False),
    )
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task(what, total=None, segments=0, rate="", name="")

        def show(done: int | None = None, of: int | None = None, *, segments: int = 0, name: str | None = None) -> None:
            shown = bar.tasks[0]
            given: dict[str, Any] = {"segments": shown.fields["segments"] + segments}
            if name is not None:
                given["name"] = name[-LONGEST_NAME:]
            if done is not None and shown.elapsed:
                given["rate"] = f"{done / shown.elapsed:.1f}/s"
            bar.update(task, completed=done, total=of, **given)

        yield show


def show_reports(reports: "list[Report]", as_json: bool) -> Exit:
    """Print what became of the files; return the exit code."""
    if as_json:
        print_json(as_document(reports))
    else:
        _show(reports)
    return Exit.REFUSED if any(report.status == "refused" for report in reports) else Exit.OK


def as_document(reports: "list[Report]") -> dict[str, object]:
    """Return the ingested and the refused files, and how many have each status."""
    statuses = [report.status for report in reports]
    return {
        "documents": [report for report in reports if report.status != "refused"],
        "refused": [report for report in reports if report.status == "refused"],
        "counts": {status: statuses.count(status) for status in ("created", "updated", "unchanged", "refused")},
    }


def similar(other: "SimilarDocument") -> str:
    """Say how much of a text another document shares."""
    return f"It shares about {other['share']:.0%} of its text with “{other['title']}”, {other['document_id']}."


def _show(reports: "list[Report]") -> None:
    from rich.text import Text

    from cli.rendering.wrapping import show_indented
    from tools.library.ingestion import Refused

    console, errors = result_console(), progress_console()
    for report in reports:
        if isinstance(report, Refused):
            errors.print(Text.assemble(("refused    ", "bold red"), (one_line(report.name), "bold")))
            show_indented(errors, one_line(f"{report.reason} {report.suggestion}"), 11)
        elif report.status != "unchanged":
            facts = f"  {counted(report.segments, 'segment')}  {report.document_id}"
            line = Text.assemble((report.status.ljust(11), "green"), (one_line(report.name), "bold"), (facts, "dim"))
            console.print(line, soft_wrap=True)
            if report.left_out:
                show_indented(console, one_line(" ".join(report.left_out)), 11)
            for warning in report.warnings:
                show_indented(console, one_line(f"Warning: {warning}"), 11)
            for other in report.similar_to:
                show_indented(console, one_line(similar(other)), 11)
    counts = as_document(reports)["counts"]
    assert isinstance(counts, dict)
    summary = ", ".join(f"{number} {status}" for status, number in counts.items() if number)
    console.print(summary.capitalize() + "." if summary else "No files to ingest.")
