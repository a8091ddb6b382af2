"""Command line: ``python -m research`` run, retrieval, injection, recorded, small-talk, spellings and others."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from cli.command import awaited, opened, run_app, settings_for
from cli.console import print_rows, progress_bar, progress_console
from cli.eval.run import retrieval, run_set
from cli.options import AsJson
from research.sets import PUBLIC, register


def show_report(report: Mapping[str, Any], *, as_json: bool) -> None:
    """Show the figures of one measurement; nested ones get dotted names."""
    print_rows(report, ["Figure", "Value"], list(_rows(report)), as_json=as_json)


def _rows(report: Mapping[str, Any], of: str = "") -> Iterator[list[str]]:
    for name, value in report.items():
        if isinstance(value, Mapping):
            yield from _rows(value, f"{of}{name}.")
        else:
            yield [of + name, "; ".join(value) if isinstance(value, list) else str(value)]


@awaited
async def injection(
    path: Annotated[Path, typer.Option("--path", help="The folder of the attack corpora.", show_default=False)],
    most: Annotated[
        int | None,
        typer.Option("--most", min=1, help="Use at most this many attacks and benign texts.", show_default=False),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Plant attacks in documents, ask the extractive family and an obedient model, and count what succeeds."""
    from research.injection import run_injection

    with progress_bar() as progress:
        report = await run_injection(settings_for(), path, most=most, progress=progress)
    show_report(report, as_json=as_json)


@awaited
async def recorded(
    port: Annotated[int, typer.Option("--port", min=1, max=65535, help="The port on loopback.")] = 18777,
    replies: Annotated[
        Path | None, typer.Option("--replies", help="The replies, as JSON lines.", show_default="research/data")
    ] = None,
) -> None:
    """Serve the recorded replies of a strong model on loopback, until interrupted."""
    from research.recorded import REPLIES, load_recorded, serve_recorded

    known = load_recorded(replies or REPLIES)
    progress_console().print(f"{len(known)} replies at http://127.0.0.1:{port}/v1")
    await serve_recorded(known, port)


@awaited
async def small_talk(as_json: AsJson = False) -> None:
    """Measure how well 100 questions are separated from 100 lines of small talk."""
    from research.small_talk_measurement import run_small_talk

    show_report(await run_small_talk(), as_json=as_json)


@awaited
async def spellings(
    path: Annotated[Path | None, typer.Option("--path", help="The pairs, as JSON lines.", show_default="ours")] = None,
    as_json: AsJson = False,
) -> None:
    """Count how many questions find a text that spells the same otherwise, by kind of spelling."""
    from research.spelling_pairs import PAIRS, load_pairs, rank_pairs, tabulate

    pairs = load_pairs(path or PAIRS)
    async with opened(settings_for()) as citewell:
        with progress_bar("Searching") as progress:
            places = await rank_pairs(citewell.library, pairs, progress)
    show_report(tabulate(pairs, places), as_json=as_json)


def exam_rule(
    judges: Annotated[int, typer.Option("--judges", min=1, help="How many judges of each kind take it.")] = 10_000,
) -> None:
    """Simulate how often judges of known error rates pass the exam, and in how many requests."""
    from research.exam_rule import table

    print(table(judges))


def fidelity(
    folder: Annotated[Path, typer.Argument(help="The folder of files, as research.fidelity.debian_files lays it out.")],
    kinds: Annotated[
        list[str] | None, typer.Option("--format", help="Read only files of this suffix; may be repeated.")
    ] = None,
    out: Annotated[Path | None, typer.Option("--json", help="Write each file's figures and examples here.")] = None,
    kept: Annotated[Path | None, typer.Option("--readings", help="Where the other readers' texts are kept.")] = None,
) -> None:
    """Compare how we read each file of a folder with independent readers, by numbers, words and order."""
    from research.fidelity.measure import as_rows, measure, table

    found = []
    for file in measure(folder, kinds or (), kept):
        found.append(file)
        progress_console().print(f"{file.name} {file.problem}", markup=False)
        if out:
            out.write_text(json.dumps(as_rows(found), ensure_ascii=False, indent=1), encoding="utf-8")
    print(table(found))


app = typer.Typer(
    name="research",
    help=f"Measure Citewell on public data sets, or one part of it. SET may also be {', '.join(PUBLIC)}.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
app.callback()(register)
app.command("run")(run_set)
for measurement in (retrieval, injection, recorded, small_talk, spellings, exam_rule, fidelity):
    app.command(measurement.__name__.replace("_", "-"))(measurement)

if __name__ == "__main__":
    run_app(app)
