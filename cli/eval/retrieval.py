"""citewell eval retrieval: measure retrieval on a data set, without answering."""

from typing import TYPE_CHECKING

from cli.command import awaited, opened, settings_for
from cli.console import print_json, progress_bar, result_console, show_figures, show_side_by_side
from cli.options import AsJson, DataSetName, DataSetPath, Most, Retriever, RetrieverChoice

if TYPE_CHECKING:
    from evals.metrics import Figures


@awaited
async def retrieval(
    data_set: DataSetName,
    path: DataSetPath = None,
    most: Most = None,
    retriever: RetrieverChoice = Retriever.OURS,
    as_json: AsJson = False,
) -> None:
    """Measure how well a search for each question, as written, finds its evidence, without answering.

    With a retriever other than ours, both are measured and shown in one table.
    """
    from evals.pacing import with_long_pool_timeout
    from evals.retrievers import run_retrieval
    from evals.sets import load_data_set

    data = load_data_set(data_set, path)
    if most is not None:
        data = data.sample(most)
    async with opened(with_long_pool_timeout(settings_for())) as citewell:
        with progress_bar("Searching") as progress:
            report = await run_retrieval(citewell.library, data, retriever=retriever.value, progress=progress)
    if as_json:
        print_json(report)
        return
    ours = report.get("beside")
    _show(retriever, report["all"], ours and ours["all"])
    for tag, groups in report["by"].items():
        for value, figures in groups.items():
            result_console().print(f"{tag}: {value}")
            _show(retriever, figures, ours and ours["by"][tag][value])


def _show(retriever: Retriever, figures: "Figures", ours: "Figures | None") -> None:
    if ours is None:
        show_figures(figures)
    else:
        show_side_by_side({"ours": ours, retriever.value: figures})
