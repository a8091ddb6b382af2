"""citewell eval retrieval: search for a data set's questions, without answering them."""

from pathlib import Path

from cli.command import Exit, opened, run, settings_for
from cli.console import print_json, progress_bar, result_console, show_figures
from cli.options import AsJson, DataSetName, DataSetPath, Most


def retrieval(
    data_set: DataSetName,
    path: DataSetPath = None,
    most: Most = None,
    as_json: AsJson = False,
) -> None:
    """Measure how well the questions' own words find their evidence, without answering."""
    run(_retrieval(data_set, path, most, as_json), as_json=as_json)


async def _retrieval(data_set: str, path: Path | None, most: int | None, as_json: bool) -> Exit:
    from evals.pacing import with_long_pool_timeout
    from evals.retrieval_run import run_retrieval
    from evals.sets import load_data_set

    data = load_data_set(data_set, path)
    if most is not None:
        data = data.sample(most)
    async with opened(with_long_pool_timeout(settings_for())) as citewell:
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
