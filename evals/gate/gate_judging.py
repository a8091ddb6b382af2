"""Judgement of a gate run by the committed thresholds and by the baseline of the same questions.

A measure has regressed if the paired bootstrap finds its change for the worse significant (p < 0.01, two-sided) and
larger than 0.01. Only the resampling is random, and its seed is fixed: a change that alters no answer moves no figure.
A change that alters answers without making them worse is tested by some thirty measures at once; at this level fewer
than one in six such changes would fail by chance even if the measures were independent, and most of them measure the
same citations. Holding the whole family to 0.01 would cost the power to see a regression in one language.
"""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from importlib.resources import files
from pathlib import Path

from pydantic import BaseModel, ValidationError

from evals.bootstrap import Interval
from evals.gate_baseline import ByQuestion, change_of, figure_of
from evals.metrics import Metric
from evals.sets.set_files import first_fault, text_of
from graph.errors import InvalidRequest


class Threshold(BaseModel, extra="forbid", frozen=True):
    """Bounds of a figure and its 95% interval; without any bound the measure is only compared with the baseline.

    ``figure`` is the minimum of the figure itself, ``least`` the minimum of its lower bound, and ``most`` the maximum
    of its upper bound.
    """

    figure: float | None = None
    least: float | None = None
    most: float | None = None

    def broken(self, found: Interval) -> list[str]:
        """Return in a few words how an interval breaks the bounds; empty if it does not."""
        faults = []
        if self.figure is not None and found.mean < self.figure:
            faults.append(f"figure below {self.figure:g}")
        if self.least is not None and found.low < self.least:
            faults.append(f"lower bound below {self.least:g}")
        if self.most is not None and found.high > self.most:
            faults.append(f"upper bound above {self.most:g}")
        return faults

    def __str__(self) -> str:
        bounds = (("figure ≥", self.figure), ("low ≥", self.least), ("high ≤", self.most))
        return ", ".join(f"{which} {bound:g}" for which, bound in bounds if bound is not None)


Thresholds = Mapping[str, Mapping[str, Threshold]]  # by run, by measure


def load_thresholds() -> Thresholds:
    """Read ``thresholds.toml``."""
    text = files(__package__).joinpath("thresholds.toml").read_text(encoding="utf-8")
    return {
        run: {name: Threshold.model_validate(kept) for name, kept in measures.items()}
        for run, measures in tomllib.loads(text).items()
    }


def load_bounds(file: Path, metrics: Mapping[str, Metric]) -> dict[str, Threshold]:
    """Read bounds of measures from a TOML file of one's own. Raises InvalidRequest naming what is wrong in it."""
    try:
        rows = tomllib.loads(text_of(file))
    except tomllib.TOMLDecodeError as error:
        raise InvalidRequest(f"--thresholds: {file} is not TOML: {error}.", suggestion=_FORM) from error
    if not rows:
        raise InvalidRequest(f"--thresholds: {file} names no measure.", suggestion=_FORM)
    return {name: _bound(name, row, file, metrics) for name, row in rows.items()}


_FORM = "Write a measure a line, such as `citation_faithfulness = { least = 0.9 }`."


def _bound(name: str, row: object, file: Path, metrics: Mapping[str, Metric]) -> Threshold:
    if name not in metrics:
        near = get_close_matches(name, list(metrics), n=3)
        meant = f"Is {' or '.join(near)} meant?" if near else "The names are those that `citewell eval run` prints."
        raise InvalidRequest(f"--thresholds: {file}: there is no measure {name!r}.", suggestion=meant)
    try:
        bound = Threshold.model_validate(row)
    except ValidationError as error:
        raise InvalidRequest(f"--thresholds: {file}: {name}: {first_fault(error, 'it')}.", suggestion=_FORM) from error
    if bound == Threshold():
        raise InvalidRequest(f"--thresholds: {file}: {name} has no figure, least or most.", suggestion=_FORM)
    return bound


SIGNIFICANT = 0.01
MARGIN = 0.01


@dataclass(frozen=True, slots=True)
class GateJudgement:
    """The judgement of one measure of a run: its figure, the baseline's, and in ``faults`` every reason to fail it."""

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
) -> list[GateJudgement]:
    """Judge each measure that has a threshold, even an empty one, in the order of the thresholds."""
    return [
        _judgement(run, metrics[name], measured[name], threshold, baseline.get(name, {}))
        for name, threshold in thresholds.items()
    ]


def regression(metric: Metric, before: ByQuestion, after: ByQuestion) -> str:
    """Return in a few words how a measure got worse over the shared questions; "" if it did not."""
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
) -> GateJudgement:
    figure = figure_of(metric, questions)
    before = figure_of(metric, baseline)
    if figure is None:
        shared = {name: baseline[name] for name in questions if name in baseline}
        missed = threshold != Threshold() or figure_of(metric, shared) is not None
        faults = ["nothing to measure"] if missed else []
    else:
        worse = regression(metric, baseline, questions)
        faults = [*threshold.broken(figure), *([worse] if worse else [])]
    return GateJudgement(run, metric, figure, before.mean if before else None, threshold, tuple(faults))
