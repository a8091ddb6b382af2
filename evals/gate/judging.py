"""Judge a run of the gate: by the thresholds of its measures, and by what the same questions gave in the baseline.

A measure has regressed where the paired bootstrap finds its change for the worse significant (p < 0.01, two-sided) and
it is larger than 0.01. Nothing here is random but the resampling, whose seed is fixed: a change that alters no answer
moves no figure. One that alters answers without making them worse is tested by some thirty measures at once; at this
level fewer than one in six such changes fails by chance even if measures were independent, and most of them are of the
same citations. Holding the whole family to 0.01 would cost the power to see a regression in one language.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from evals.bootstrap import Interval
from evals.gate.observations import ByQuestion, change_of, figure_of
from evals.gate.thresholds import Threshold
from evals.metrics import Metric

SIGNIFICANT = 0.01
MARGIN = 0.01


@dataclass(frozen=True, slots=True)
class Judgement:
    """A measure of a run: its figure, that of the baseline, and in ``faults`` every reason to fail it."""

    run: str
    metric: Metric
    figure: Interval | None
    baseline: float | None
    threshold: Threshold
    faults: tuple[str, ...]


def judge(
    run: str,
    metrics: Mapping[str, Metric],
    measured: Mapping[str, ByQuestion],
    thresholds: Mapping[str, Threshold],
    baseline: Mapping[str, ByQuestion],
) -> list[Judgement]:
    """Judge each measure that has a threshold, be it an empty one, in their order."""
    return [
        _judgement(run, metrics[name], measured[name], threshold, baseline.get(name, {}))
        for name, threshold in thresholds.items()
    ]


def regression(metric: Metric, before: ByQuestion, after: ByQuestion) -> str:
    """Say in a few words how a measure is worse than before over the questions of both; "" where it is not."""
    change = change_of(metric, before, after)
    if change is None:
        return ""
    interval, p_value = change
    worse = interval.mean if metric.better == "lower" else -interval.mean
    if worse <= MARGIN or p_value >= SIGNIFICANT or metric.better == "neither":
        return ""
    return f"{'rose' if metric.better == 'lower' else 'fell'} by {worse:.3f} (p {p_value:.3f})"


def _judgement(
    run: str, metric: Metric, questions: ByQuestion, threshold: Threshold, baseline: ByQuestion
) -> Judgement:
    figure = figure_of(metric, questions)
    before = figure_of(metric, baseline)
    if figure is None:
        asked_again = {name: baseline[name] for name in questions if name in baseline}
        missed = threshold != Threshold() or figure_of(metric, asked_again) is not None
        faults = ["nothing to measure"] if missed else []
    else:
        worse = regression(metric, baseline, questions)
        faults = [*threshold.broken(figure), *([worse] if worse else [])]
    return Judgement(run, metric, figure, before.mean if before else None, threshold, tuple(faults))
