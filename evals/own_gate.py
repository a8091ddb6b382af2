"""A gate over a set of one's own: its run judged by bounds of one's own."""

from pathlib import Path

from evals.cases import DataSet
from evals.evaluation import evaluate
from evals.gate.gate_judging import GateJudgement, load_bounds
from evals.gate.gate_judging import judge as judge_measures
from evals.gate_baseline import observed
from evals.metrics.metric_groups import BY_NAME
from evals.pacing import Progress
from evals.planting import planting
from evals.prose_claims import judge_of
from evals.retrievers import open_with_retriever
from evals.run_folder import RunFolder, RunOptions
from tools.settings import Settings


async def judge_own(
    settings: Settings,
    data: DataSet,
    options: RunOptions,
    folder: RunFolder,
    thresholds: Path,
    *,
    judge: str | None = None,
    progress: Progress | None = None,
) -> list[GateJudgement]:
    """Run a set into a folder and judge its figures by the bounds of a file, read before anything is asked.

    Raises InvalidRequest for bounds that can't be read, and what ``evaluate`` raises.
    """
    bounds = load_bounds(thresholds, BY_NAME)
    asked = None if judge is None else judge_of(settings, judge)
    change = planting(data) if options.planted else None
    async with open_with_retriever(settings, options.retriever, durability="exit", change=change) as citewell:
        await evaluate(citewell, data, options, folder, judge=asked, progress=progress)
    records = folder.records()
    measured = {name: observed(BY_NAME[name], records) for name in bounds}
    return judge_measures(data.name, BY_NAME, measured, bounds, {})
