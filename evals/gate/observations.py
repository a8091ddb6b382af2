"""What each question gave of each gated measure: what a baseline keeps, so that a later run is compared in pairs."""

from collections.abc import Iterable, Mapping, Sequence

from evals.bootstrap import Interval, Observations, balanced_difference, balanced_interval
from evals.metrics import Metric, has_all
from evals.records import Record

Observed = Sequence[Sequence[float]]  # of one question: what it gave in each stratum of a measure
ByQuestion = Mapping[str, Observed]


def observed(metric: Metric, records: Sequence[Record]) -> dict[str, Observed]:
    """Give what each question gave of a measure, in the order of their ids."""
    chosen = sorted(records if metric.among is None else metric.among(records), key=lambda record: record["case_id"])
    names = dict.fromkeys(record["case_id"] for record in chosen)
    return dict(zip(names, zip(*metric.parted(chosen), strict=True), strict=True))


def figure_of(metric: Metric, questions: ByQuestion) -> Interval | None:
    """Take the figure with its interval; None where a stratum has no observation."""
    parts = _parts(questions.values())
    return balanced_interval(parts, quantile=metric.quantile) if has_all(parts) else None


def change_of(metric: Metric, before: ByQuestion, after: ByQuestion) -> tuple[Interval, float] | None:
    """Give the change over the questions that both have, with its p-value; None where nothing can be compared."""
    shared = [name for name in after if name in before]
    old, new = _parts(before[name] for name in shared), _parts(after[name] for name in shared)
    return balanced_difference(old, new, quantile=metric.quantile) if has_all(old) and has_all(new) else None


def _parts(questions: Iterable[Observed]) -> list[Observations]:
    return list(zip(*questions, strict=True))
