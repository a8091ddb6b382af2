"""The options that several measurements share, worded once."""

from pathlib import Path
from typing import Annotated

import typer

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
RunPath = Annotated[Path, typer.Argument(metavar="RUN", help="The run's folder.", show_default=False)]
BaselineRun = Annotated[
    Path | None,
    typer.Option(
        "--baseline",
        help="A run's folder or metrics.json to show the figures beside; the gate's where it has some.",
        show_default=False,
    ),
]
