"""Evaluate a data set into a run folder: ask every question of the real graph, compute every figure, write the page."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from evals.cases import Case, DataSet
from evals.dataset_store import stored_data_set, without_documents
from evals.metrics import by_tag, figures
from evals.metrics.alce import ALCE, described
from evals.metrics.metric_groups import METRICS, TAGS
from evals.pacing import Progress, for_each_concurrently
from evals.recorder import Recorder
from evals.records import Record, Variant, may_pass, record_key
from evals.report.report_figures import Baseline
from evals.report.run_page import write_report
from evals.run_folder import RunFolder, RunOptions, configuration_of
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


Keep = Callable[[Record], None]


async def run_data_set(
    citewell: Citewell,
    data: DataSet,
    options: RunOptions,
    keep: Keep,
    *,
    done: frozenset[tuple[str, Variant]] = frozenset(),
    progress: Progress | None = None,
) -> None:
    """Ask every question that is not ``done``, and hand each record to ``keep`` as soon as it is there.

    The library is a workspace of its own and goes with the run. Runs that fail are recorded and do not end it.
    Raises InvalidRequest where a document is refused, CitewellError where the library can't be read.
    """
    wanted = [("asked", case) for case in data.cases] + [
        ("removed", case) for case in data.cases if options.removed and case.removal
    ]
    left = [(variant, case) for variant, case in wanted if (case.case_id, variant) not in done]
    finished = len(wanted) - len(left)
    if progress is not None:
        progress(finished, len(wanted))

    def keep_and_tell(record: Record) -> None:
        nonlocal finished
        keep(record)
        finished += 1
        if progress is not None:
            progress(finished, len(wanted))

    async with stored_data_set(citewell.library, data) as (stored, identity):
        recorder = Recorder(citewell, stored, options.context(identity))
        await _ask_all(recorder, [c for v, c in left if v == "asked"], "asked", options.concurrency, keep_and_tell)
        for names, cases in _by_removal([c for v, c in left if v == "removed"]).items():
            async with without_documents(citewell.library, identity, stored.to_store(names)):
                await _ask_all(recorder, cases, "removed", options.concurrency, keep_and_tell)


async def _ask_all(recorder: Recorder, cases: Sequence[Case], variant: Variant, at_once: int, keep: Keep) -> None:
    async def ask(case: Case) -> None:
        keep(await recorder.ask(case, variant))

    await for_each_concurrently(cases, ask, at_once=at_once)


def _by_removal(cases: Iterable[Case]) -> dict[tuple[str, ...], list[Case]]:
    groups: dict[tuple[str, ...], list[Case]] = defaultdict(list)
    for case in cases:
        groups[case.removal].append(case)
    return groups
