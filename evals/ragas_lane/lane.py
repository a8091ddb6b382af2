"""The whole lane: a run's records scored by ragas, and the scores written beside them."""

import json
from collections.abc import Sequence

from evals.progress import Progress
from evals.ragas_lane.catalogue import chosen_metrics
from evals.ragas_lane.judge import judging_model, open_judge
from evals.ragas_lane.scoring import RagasReport, score_records
from evals.run_folder import RunFolder
from tools.settings import Settings


async def score_run(
    folder: RunFolder,
    settings: Settings,
    *,
    metrics: Sequence[str] = (),
    model: str | None = None,
    concurrency: int = 4,
    progress: Progress | None = None,
) -> RagasReport:
    """Score a run into its ``ragas.json``: by the named metrics, or by all that need no model, and all with ``model``.

    Raises InvalidRequest where the folder holds no run or a metric is unknown or lacks a judge, UnknownModel, and
    ConfigurationError where ragas is not installed.
    """
    chosen = chosen_metrics(metrics, with_judge=model is not None)
    judging = None if model is None else judging_model(settings, model)
    folder.configuration()
    records = folder.records()
    if judging is None:
        report = await score_records(records, chosen, concurrency=concurrency, progress=progress)
    else:
        async with open_judge(judging) as judge:
            report = await score_records(
                records, chosen, judge=judge, judge_name=judging.name, concurrency=concurrency, progress=progress
            )
    text = json.dumps(report, ensure_ascii=False, indent=2)
    (folder.path / "ragas.json").write_text(text + "\n", encoding="utf-8")
    return report
