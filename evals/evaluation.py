"""Evaluate a data set into a run folder: ask its questions, compute every figure, write the report."""

from collections.abc import Mapping, Sequence
from typing import Any

from evals.cases import DataSet
from evals.metrics import by_tag, figures
from evals.metrics.alce import ALCE, described
from evals.metrics.metric_groups import METRICS, TAGS
from evals.pacing import Progress
from evals.records import Record, may_pass, record_key
from evals.report.report_baseline import Baseline
from evals.report.run_page import write_report
from evals.run_folder import RunFolder, configuration_of
from evals.running import RunOptions, run_data_set
from graph.entrypoint import Citewell
from graph.errors import InvalidRequest


async def evaluate(
    citewell: Citewell,
    data: DataSet,
    options: RunOptions,
    folder: RunFolder,
    *,
    baseline: Baseline | None = None,
    progress: Progress | None = None,
) -> Mapping[str, Any]:
    """Run what the folder does not hold yet, then write and give the figures of all of it.

    A question whose run failed for a reason that may pass is asked again. The report shows the figures beside the
    ``baseline``, if there is one. Raises UnknownModel, InvalidRequest where the folder holds another run, and as
    ``run_data_set`` does.
    """
    citewell.library.families(options.model)  # made now: what it loads would hold up the first runs
    records = folder.begin(configuration_of(data, options, citewell.library.settings))
    done = frozenset(record_key(record) for record in records if not may_pass(record))
    await run_data_set(citewell, data, options, folder.append, done=done, progress=progress)
    return write_figures(folder, baseline)


def write_figures(folder: RunFolder, baseline: Baseline | None = None) -> Mapping[str, Any]:
    """Take the figures of all that a run has recorded; write and give them, and write its report.

    Raises InvalidRequest where the folder holds no run, or one without results.
    """
    folder.configuration()
    records = folder.records()
    if not records:
        raise InvalidRequest(
            f"{folder.path} holds no results.", suggestion="Name a folder that `citewell eval run` has written to."
        )
    metrics = all_figures(records)
    folder.write_metrics(metrics)
    write_report(folder, baseline)
    return metrics


def all_figures(records: Sequence[Record]) -> Mapping[str, Any]:
    """Take every measure of all records, and of those that share the value of a tag.

    ``support`` names the function that ALCE's measures rest on, and how well it agrees with people.
    """
    ordered = sorted(records, key=record_key)  # concurrency must not change which resamples are drawn
    groups = {tag: by_tag(ordered, METRICS, tag) for tag in TAGS}
    return {
        "questions": len(ordered),
        "all": figures(ordered, METRICS),
        "support": described(ALCE.support),
        "by": {tag: groups[tag] for tag in TAGS if len(groups[tag]) > 1},
    }
