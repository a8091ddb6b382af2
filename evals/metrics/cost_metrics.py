"""Metrics of cost: time, model calls and tokens of questions, and how many of them failed.

Times are of whole runs at the configured concurrency; failed runs are left out, since failing is quick.
"""

from collections.abc import Callable, Sequence
from typing import Literal

from evals.metrics import Metric
from evals.records import Record

_Clock = Literal["ms", "first_text_ms"]
_TIMED: dict[_Clock, tuple[str, str]] = {
    "ms": ("Time", "milliseconds of a run"),
    "first_text_ms": ("Time to first text", "milliseconds until the first text of an answer"),
}
_QUANTILES = ((None, "", "", "mean"), (0.5, "_p50", ", median", "median"), (0.95, "_p95", ", p95", "95th percentile"))


def _has_ended(record: Record) -> bool:
    return record["outcome"] in {"answered", "abstained"}


def _timed(clock: _Clock) -> tuple[Metric, ...]:
    def observe(record: Record) -> Sequence[float]:
        taken = record[clock]
        return () if taken is None or not _has_ended(record) else (taken,)

    title, means = _TIMED[clock]
    return tuple(
        Metric(
            name=clock + suffix,
            title=title + which,
            means=f"{means}, {kind}",
            observe=observe,
            unit="ms",
            better="lower",
            quantile=quantile,
        )
        for quantile, suffix, which, kind in _QUANTILES
    )


def _usage(what: Literal["calls", "tokens"]) -> Callable[[Record], Sequence[float]]:
    def observe(record: Record) -> Sequence[float]:
        return (float(sum(node[what] for node in record["spent"].values())),) if _has_ended(record) else ()

    return observe


def _failed(record: Record) -> Sequence[float]:
    return (float(record["outcome"] == "failed"),)


COST = (
    *_timed("ms"),
    *_timed("first_text_ms"),
    Metric(
        name="model_calls",
        title="Model calls",
        means="model calls for a question, including retries",
        observe=_usage("calls"),
        unit="count",
        better="lower",
    ),
    Metric(
        name="tokens",
        title="Tokens",
        means="tokens for a question, as the endpoint reports them",
        observe=_usage("tokens"),
        unit="count",
        better="lower",
    ),
    Metric(
        name="failed_runs",
        title="Failed runs",
        means="questions whose run ended in an error",
        observe=_failed,
        better="lower",
    ),
)
