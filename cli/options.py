"""Options that several commands share, worded once, and the checks and defaults of their values."""

import sys
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import Annotated
from uuid import UUID

import typer

from graph.errors import InvalidRequest, NotFound

AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON document on stdout; progress stays on stderr.")]
WorkspaceName = Annotated[
    str | None, typer.Option("--workspace", "-w", help="The workspace to work in; CITEWELL_WORKSPACE otherwise.")
]
UserName = Annotated[str | None, typer.Option("--user", "-u", help="The user to act as; CITEWELL_USER otherwise.")]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Go ahead without asking.")]


def as_id(value: str, what: str) -> str:
    """Check that an id is a UUID, as every id of ours is.

    Raises NotFound: nothing has an id of another shape.
    """
    try:
        return str(UUID(value))
    except ValueError:
        raise NotFound(f"There is no {what} {value!r}: ids are UUIDs.") from None


def confirmed(question: str, yes: bool) -> bool:
    """Ask before what cannot be undone; without a terminal to ask on, only ``--yes`` confirms it.

    Raises InvalidRequest where there is nobody to ask.
    """
    if yes:
        return True
    if not sys.stdin.isatty():
        raise InvalidRequest(f"{question} Nobody is there to say so.", suggestion="Add --yes.")
    return typer.confirm(question, err=True)


DataSetName = Annotated[
    str,
    typer.Argument(
        metavar="SET",
        help="golden, own, or a public set: clapnq, clapnq-open, financebench, hotpotqa, rgb, union, wice, xquad.",
    ),
]
DataSetPath = Annotated[
    Path | None, typer.Option("--path", help="Where the set lies; golden needs none.", show_default=False)
]
ModelName = Annotated[str, typer.Option("--model", help="A configured model's name.")]
Concurrency = Annotated[int, typer.Option("--concurrency", min=1, max=64, help="Questions in flight.")]
Most = Annotated[
    int | None, typer.Option("--most", min=1, help="Ask only so many questions, spread evenly.", show_default=False)
]


class Retriever(StrEnum):
    """What is searched with: our own hybrid search, or LangChain's vector store over the same library."""

    OURS = "ours"
    LANGCHAIN = "langchain"


RetrieverChoice = Annotated[
    Retriever, typer.Option("--retriever", help="What searches: our own, or LangChain's vector store on our library.")
]
RunPath = Annotated[Path, typer.Argument(metavar="RUN", help="The run's folder.", show_default=False)]
BaselineRun = Annotated[
    Path | None,
    typer.Option(
        "--baseline",
        help="A run's folder or metrics.json to show the figures beside; the gate's where it has some.",
        show_default=False,
    ),
]

RUNS = Path("runs")


def new_run_path(*named: str) -> Path:
    """Name a folder below ``runs/`` after what is run, and when."""
    return RUNS / "-".join((*named, f"{datetime.now(UTC):%Y%m%d-%H%M%S}"))
