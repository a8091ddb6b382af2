"""citewell eval export: write a run as a file for another tool."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from cli.command import awaited
from cli.console import print_result
from cli.options import AsJson, RunPath, writing
from text.counted import counted


@awaited
async def export(
    run_path: RunPath,
    out: Annotated[Path, typer.Option("--out", help="The file to write.", show_default=False)],
    format_: Annotated[
        Literal["langsmith", "langsmith-examples"],
        typer.Option(
            "--format",
            help="langsmith: an experiment for datasets/upload-experiment; "
            "langsmith-examples: JSON lines for create_examples.",
        ),
    ] = "langsmith",
    as_json: AsJson = False,
) -> None:
    """Write a run as a file that LangSmith reads; nothing is sent anywhere."""
    from evals.langsmith import write_langsmith
    from evals.run_folder import RunFolder

    with writing(out):
        written = write_langsmith(RunFolder(run_path), out, format_)
    print_result(
        {"questions": written, "file": str(out)},
        f"{counted(written, 'question')} written to {out}.",
        as_json=as_json,
        wrote=True,
    )
