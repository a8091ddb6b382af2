"""Scoring of a run's records with ragas' metrics: every score is a number from 0 to 1, or a reported error.

A metric that failed on any question has no mean; if any question's run failed, no metric has one: a mean over the rest
would look like a mean over all.
"""

import asyncio
import json
import math
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from typing_extensions import TypedDict

from evals.bootstrap import interval
from evals.metrics import Figure, as_figure
from evals.pacing import Progress
from evals.ragas_metrics.ragas_catalogue import RagasMetric, Sample, Score, chosen_metrics, load_ragas, sample_of
from evals.ragas_metrics.ragas_judge import judging_model, last_failure, open_judge
from evals.records import Record, Variant, record_key
from evals.report.run_page import write_report
from evals.run_folder import RunFolder
from tools.settings import Settings

SLACK = 1e-6  # by which a sum of shares may exceed 1
LONGEST_REASON = 300


class RagasScore(TypedDict):
    """The score of one question, from 0 to 1."""

    case_id: str
    variant: Variant
    score: float


class RagasFault(TypedDict):
    """A question that could not be scored, with the reason."""

    case_id: str
    variant: Variant
    reason: str


class MetricReport(TypedDict):
    """A metric's scores. ``left_out`` counts the questions that it does not apply to, by what they lack.

    ``figure`` is null if any question or run failed, or nothing was scored.
    """

    figure: Figure | None
    left_out: dict[str, int]
    failed: list[RagasFault]
    scores: list[RagasScore]


class RagasReport(TypedDict):
    """Scores of a run by metric; ``judge`` is null without a judging model. ``failed_runs`` are not scored."""

    ragas: str
    judge: str | None
    questions: int
    failed_runs: list[RagasFault]
    metrics: dict[str, MetricReport]


def is_whole(report: RagasReport) -> bool:
    """Return whether every applicable metric scored every question."""
    return not report["failed_runs"] and not any(metric["failed"] for metric in report["metrics"].values())


class _LeftOut(NamedTuple):
    lacking: str


class _Failed(NamedTuple):
    reason: str


_Outcome = float | _LeftOut | _Failed


async def score_records(
    records: Sequence[Record],
    metrics: Sequence[RagasMetric],
    *,
    judge: Any = None,
    judge_name: str | None = None,
    concurrency: int = 4,
    progress: Progress | None = None,
) -> RagasReport:
    """Score every record with every metric, at most ``concurrency`` at a time. ``judge`` comes from ``open_judge``.

    Raises ConfigurationError if ragas is not installed.
    """
    version = load_ragas().version
    scorable = sorted((record for record in records if record["error"] is None), key=record_key)
    failed_runs = [_fault(record, record["error"]["message"]) for record in records if record["error"] is not None]
    gate = asyncio.Semaphore(concurrency)
    done, of = 0, len(scorable) * len(metrics)

    async def score(metric: RagasMetric, scorer: Score, record: Record) -> _Outcome:
        nonlocal done
        async with gate:
            outcome = await _outcome(metric, scorer, sample_of(record))
        done += 1
        if progress is not None:
            progress(done, of)
        return outcome

    reports = {}
    for metric in metrics:
        scorer = metric.scorer(judge)
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(score(metric, scorer, record)) for record in scorable]
        reports[metric.name] = _report(scorable, [task.result() for task in tasks], all_ran=not failed_runs)
    return RagasReport(
        ragas=version,
        judge=judge_name,
        questions=len(records),
        failed_runs=failed_runs,
        metrics=reports,
    )


async def _outcome(metric: RagasMetric, scorer: Score, sample: Sample) -> _Outcome:
    for needed in metric.needs:
        if not sample.get(needed):
            return _LeftOut(needed)
    last_failure.set(None)
    try:
        score = await scorer(sample)
    except Exception as error:  # noqa: BLE001 - ragas and its clients share no error class; each is reported
        return _Failed(_described(error))
    if score is None:
        return _LeftOut("anything to score")
    if math.isnan(score):
        failure = last_failure.get()
        return _Failed("ragas returned no number" + (f": {_described(failure)}" if failure else ""))
    if not -SLACK <= score <= 1 + SLACK:
        return _Failed(f"{score} is not between 0 and 1")
    return min(max(score, 0.0), 1.0)


def _described(error: Exception) -> str:
    words = " ".join(str(error).split())
    return f"{type(error).__name__}: {words[:LONGEST_REASON]}"


def _report(records: Sequence[Record], outcomes: Sequence[_Outcome], *, all_ran: bool) -> MetricReport:
    left_out: Counter[str] = Counter()
    failed: list[RagasFault] = []
    scores: list[RagasScore] = []
    for record, outcome in zip(records, outcomes, strict=True):
        match outcome:
            case _LeftOut(lacking):
                left_out[lacking] += 1
            case _Failed(reason):
                failed.append(_fault(record, reason))
            case float(score):
                scores.append(RagasScore(case_id=record["case_id"], variant=record["variant"], score=score))
    figure = as_figure(interval(_by_question(scores))) if scores and all_ran and not failed else None
    return MetricReport(figure=figure, left_out=dict(left_out), failed=failed, scores=scores)


def _by_question(scores: Iterable[RagasScore]) -> list[list[float]]:
    grouped: dict[str, list[float]] = {}
    for each in scores:
        grouped.setdefault(each["case_id"], []).append(each["score"])
    return list(grouped.values())


def _fault(record: Record, reason: str) -> RagasFault:
    return RagasFault(case_id=record["case_id"], variant=record["variant"], reason=reason)


async def score_run(
    folder: RunFolder,
    settings: Settings,
    *,
    metrics: Sequence[str] = (),
    model: str | None = None,
    concurrency: int = 4,
    progress: Progress | None = None,
) -> RagasReport:
    """Score a run into its ``ragas.json`` and its report, by the named metrics or all; judged ones need ``model``.

    Raises InvalidRequest if the folder holds no run or a metric is unknown or lacks a judge, UnknownModel, and
    ConfigurationError if ragas is not installed.
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
    if folder.report.exists():  # a run that was stopped has none yet, and gets the scores with it
        write_report(folder)
    return report
