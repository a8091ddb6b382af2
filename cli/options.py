"""Options shared by several commands, with the checks and defaults of their values."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Literal
from uuid import UUID

import typer

from graph.errors import InvalidRequest, NotFound

AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON document on stdout; progress stays on stderr.")]
WorkspaceName = Annotated[
    str | None, typer.Option("--workspace", "-w", help="The workspace to use; default: CITEWELL_WORKSPACE.")
]
UserName = Annotated[str | None, typer.Option("--user", "-u", help="The user to act as; default: CITEWELL_USER.")]
Owner = Annotated[
    str | None,
    typer.Option(help="The user who reads these, and alone unless there are readers.", show_default=False),
]
Readers = Annotated[
    list[str] | None,
    typer.Option(
        "--reader",
        help="Who may read these: user:NAME, group:NAME or everyone; repeatable. Default: everyone, or the owner.",
        show_default=False,
    ),
]
Cursor = Annotated[str | None, typer.Option(help="Continue where the last list ended.", show_default=False)]
SpaceSlug = Annotated[str | None, typer.Option("--space", help="The slug of the space that these belong to.")]
Spaces = Annotated[list[str] | None, typer.Option("--space", help="Search this space alone; may be repeated.")]
SearchedPages = Annotated[list[str] | None, typer.Option("--page", help="Search this document alone; may be repeated.")]
TopK = Annotated[int, typer.Option(min=1, max=30, help="How many segments to find.")]
MinScore = Annotated[float, typer.Option(min=0, max=1, help="Minimum relevance of a segment, 0 to 1.")]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask for confirmation.")]


def as_id(value: str, what: str) -> str:
    """Return an id in the canonical form of a UUID.

    Raises NotFound for anything else, since every id is a UUID.
    """
    try:
        return str(UUID(value))
    except ValueError:
        raise NotFound(f"There is no {what} {value!r}: ids are UUIDs.") from None


@contextmanager
def writing(file: Path, option: str = "out") -> Iterator[None]:
    """Write a file that an option names. Raises InvalidRequest, naming both, where it can't be written."""
    try:
        yield
    except OSError as error:
        if error.filename is None or Path(error.filename) not in (file, *file.parents):
            raise  # of a file that was read meanwhile
        raise InvalidRequest(
            f"{option}: {file} cannot be written: {error.strerror}.", suggestion="Name a file that you may write."
        ) from error


def confirmed(question: str, yes: bool) -> bool:
    """Ask for confirmation of something that cannot be undone; return whether it was given.

    Raises InvalidRequest without a terminal, where only ``--yes`` confirms.
    """
    if yes:
        return True
    if not sys.stdin.isatty():
        raise InvalidRequest(f"{question} There is no terminal to confirm on.", suggestion="Add --yes.")
    return typer.confirm(question, err=True)


DataSetName = Annotated[
    str,
    typer.Argument(
        metavar="SET",
        help="golden, governed, or one read from --path: own, manuals, company.",
    ),
]
DataSetPath = Annotated[
    Path | None,
    typer.Option("--path", help="The set's file or folder; golden and governed need none.", show_default=False),
]
ModelName = Annotated[str, typer.Option("--model", help="A configured model's name.")]
Tasks = Annotated[
    int | None,
    typer.Option(
        "--tasks",
        min=1,
        max=10_000,
        help="Tasks at once --on ray; default: a processor each.",
        show_default=False,
    ),
]
Removed = Annotated[
    bool, typer.Option("--removed", help="Also ask each question without the documents its answer needs.")
]
Planted = Annotated[bool, typer.Option("--planted", help="Add each question's sentences of known truth to its answer.")]
FaithfulnessJudge = Annotated[
    str | None,
    typer.Option(
        "--judge",
        help="Ask this configured model whether passages bear the sentences shown with a mark.",
        show_default=False,
    ),
]
Concurrency = Annotated[int, typer.Option("--concurrency", min=1, max=64, help="Questions in flight.")]
Most = Annotated[
    int | None,
    typer.Option("--most", min=1, help="Ask at most this many questions, spread evenly.", show_default=False),
]


Retriever = Literal["ours", "langchain"]
RetrieverChoice = Annotated[
    Retriever,
    typer.Option("--retriever", help="The retriever: our own, or LangChain's vector store on the same library."),
]
RunPath = Annotated[Path, typer.Argument(metavar="RUN", help="The run's folder.", show_default=False)]
BaselineRun = Annotated[
    Path | None,
    typer.Option(
        "--baseline",
        help="A run's folder or metrics.json to compare with; default: the gate's baseline if it has one.",
        show_default=False,
    ),
]

RUNS = Path("runs")


def new_run_path(*names: str) -> Path:
    """Return a folder below ``runs/`` named after what is run and the current time."""
    return RUNS / "-".join((*names, f"{datetime.now(UTC):%Y%m%d-%H%M%S}"))
