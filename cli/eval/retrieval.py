"""citewell eval retrieval: search for a data set's questions, without answering them."""

from pathlib import Path
from typing import Annotated

import typer

from cli.eval.showing import progress_bar, show_figures
from cli.exits import Exit
from cli.opening import opened, settings_for
from cli.options import AsJson
from cli.output import print_json, result_console
from cli.running import run


def retrieval(
    data_set: Annotated[str, typer.Argument(help="golden, own, or the name of a public set.", show_default=False)],
    path: Annotated[
        Path | None, typer.Option("--path", help="Where the set lies; golden needs none.", show_default=False)
    ] = None,
    most: Annotated[
        int | None, typer.Option("--most", min=1, help="Search for only so many questions.", show_default=False)
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Measure how well the questions' own words find their evidence, without answering."""
    run(_retrieval(data_set, path, most, as_json), as_json=as_json)


async def _retrieval(data_set: str, path: Path | None, most: int | None, as_json: bool) -> Exit:
    from evals.datasets import load_data_set
    from evals.patience import patient
    from evals.retrieval_run import run_retrieval

    data = load_data_set(data_set, path)
    if most is not None:
        data = data.sample(most)
    async with opened(patient(settings_for())) as citewell:
        with progress_bar("Searching") as progress:
            report = await run_retrieval(citewell.library, data, progress=progress)
    if as_json:
        print_json(report)
        return Exit.OK
    show_figures(report["all"])
    for tag, groups in report["by"].items():
        for value, figures in groups.items():
            result_console().print(f"{tag}: {value}")
            show_figures(figures)
    return Exit.OK
