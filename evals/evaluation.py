"""Evaluation of a data set into a run folder: ask every question, compute every figure, write the report."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from evals.calibration import calibration_of
from evals.cases import Case, DataSet
from evals.dataset_store import stored_data_set, without_documents
from evals.faithfulness_judging import judge_sentences
from evals.metrics import by_tag, figures
from evals.metrics.faithfulness_metrics import faithfulness_of
from evals.metrics.metric_groups import METRICS, TAGS
from evals.pacing import Progress
from evals.prose_claims import AnyJudge
from evals.recorder import Recorder
from evals.records import Record, Variant, may_pass, record_key
from evals.report.report_figures import Baseline
from evals.report.run_page import write_report
from evals.run_folder import RunFolder, RunOptions, configuration_of
from graph.entrypoint import Citewell
from graph.errors import InvalidRequest
from tools.concurrency.tasks import for_each_concurrently


async def evaluate(
    citewell: Citewell,
    data: DataSet,
    options: RunOptions,
    folder: RunFolder,
    *,
    judge: AnyJudge | None = None,
    baseline: Baseline | None = None,
    progress: Progress | None = None,
) -> Mapping[str, Any]:
    """Run what the folder does not hold yet, then write and return the figures of the whole run.

    A question whose run failed for a temporary reason is asked again. A ``judge`` is asked about the sentences with a
    mark. The report compares the figures with the ``baseline``, if there is one. Raises UnknownModel, InvalidRequest
    if the folder holds another run, and what ``run_data_set`` and ``judge_sentences`` raise.
    """
    citewell.library.families(options.model)  # load the model now, so that the first runs do not wait for it
    records = folder.begin(configuration_of(data, options, citewell.library.settings))
    done = frozenset(record_key(record) for record in records if not may_pass(record))
    await run_data_set(citewell, data, options, folder.append, done=done, progress=progress)
    figures = write_figures(folder, baseline)
    if judge is None:
        return figures
    await judge_sentences(folder, judge)
    return write_figures(folder, baseline)


def write_figures(folder: RunFolder, baseline: Baseline | None = None) -> Mapping[str, Any]:
    """Compute, write and return the figures of all recorded results, and write the report.

    Raises InvalidRequest if the folder holds no run, or one without results.
    """
    folder.configuration()
    records = folder.records()
    if not records:
        raise InvalidRequest(
            f"{folder.path} holds no results.", suggestion="Name a folder that `citewell eval run` has written to."
        )
    metrics = all_figures(records, next((each["judge"] for each in folder.judged()), None))
    folder.write_metrics(metrics)
    write_report(folder, baseline)
    return metrics


def all_figures(records: Sequence[Record], judge: str | None = None) -> Mapping[str, Any]:
    """Return every measure over all records, and over those that share a tag's value.

    ``faithfulness`` counts what the headline, citation faithfulness, rests on; ``judge`` names who was asked of it.
    ``calibration`` is that of the stated chances of answers, None where no answer has one or can be told right from
    wrong.
    """
    ordered = sorted(records, key=record_key)  # concurrency must not change the resamples
    groups = {tag: by_tag(ordered, METRICS, tag) for tag in TAGS}
    return {
        "questions": len(ordered),
        "all": figures(ordered, METRICS),
        "faithfulness": faithfulness_of(ordered, judge),
        "calibration": calibration_of(ordered),
        "by": {tag: groups[tag] for tag in TAGS if len(groups[tag]) > 1},
    }


OnRecord = Callable[[Record], None]


async def run_data_set(
    citewell: Citewell,
    data: DataSet,
    options: RunOptions,
    on_record: OnRecord,
    *,
    done: frozenset[tuple[str, Variant]] = frozenset(),
    progress: Progress | None = None,
) -> None:
    """Ask every question that is not ``done``, and pass each record to ``on_record`` when it is complete.

    The library is a temporary workspace, deleted after the run. A failed run is recorded, and the others continue.
    Raises InvalidRequest if a document is refused, CitewellError if the library can't be read.
    """
    wanted = [("asked", case) for case in data.cases] + [
        ("removed", case) for case in data.cases if options.removed and case.removal
    ]
    left = [(variant, case) for variant, case in wanted if (case.case_id, variant) not in done]
    finished = len(wanted) - len(left)
    if progress is not None:
        progress(finished, len(wanted))

    def record_done(record: Record) -> None:
        nonlocal finished
        on_record(record)
        finished += 1
        if progress is not None:
            progress(finished, len(wanted))

    async with stored_data_set(citewell.library, data) as (stored, identity):
        recorder = Recorder(citewell, stored, options.context(identity))
        await _ask_all(recorder, [c for v, c in left if v == "asked"], "asked", options.concurrency, record_done)
        for names, cases in _by_removal([c for v, c in left if v == "removed"]).items():
            async with without_documents(citewell.library, identity, stored.to_store(names)):
                await _ask_all(recorder, cases, "removed", options.concurrency, record_done)


async def _ask_all(
    recorder: Recorder, cases: Sequence[Case], variant: Variant, at_once: int, on_record: OnRecord
) -> None:
    async def ask(case: Case) -> None:
        on_record(await recorder.ask(case, variant))

    await for_each_concurrently(cases, ask, at_once=at_once)


def _by_removal(cases: Iterable[Case]) -> dict[tuple[str, ...], list[Case]]:
    groups: dict[tuple[str, ...], list[Case]] = defaultdict(list)
    for case in cases:
        groups[case.removal].append(case)
    return groups
