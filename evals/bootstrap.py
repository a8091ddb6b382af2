"""Statistics of evaluations: bootstrap intervals, p-values corrected for multiple tests, and separation of classes.

Intervals are percentile intervals over questions (Efron 1979).

A question may yield several observations, for example one per citation, or one with its evidence in the library and
one without. They are resampled together: questions are independent of each other, the observations of one question
are not.
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

RESAMPLES = 1000
LEVEL = 0.95

Observations = Sequence[Sequence[float]]  # per question; empty where a measure does not apply
Floats = NDArray[np.float64]


class Interval(NamedTuple):
    """A mean or a quantile with its 95% interval; ``n`` is the number of questions with observations."""

    mean: float
    low: float
    high: float
    n: int


def mean_interval(values: Sequence[float], *, seed: int = 0) -> Interval:
    """Return the mean of one value per question. Raises ValueError if there are none."""
    return interval([[value] for value in values], seed=seed)


def interval(observations: Observations, *, quantile: float | None = None, seed: int = 0) -> Interval:
    """Return the mean of all observations, or their quantile in [0, 1], resampling questions.

    Raises ValueError if there are no observations.
    """
    return balanced_interval([observations], quantile=quantile, seed=seed)


def balanced_interval(strata: Sequence[Observations], *, quantile: float | None = None, seed: int = 0) -> Interval:
    """Return the mean of the strata's means, as for a balanced accuracy, or of their quantiles.

    ``strata[s][i]`` holds the observations of question i in stratum s: a question may be in several strata, and is
    resampled as a whole. Raises ValueError if a stratum has no observation.
    """
    observed = [i for i, of_question in enumerate(zip(*strata, strict=True)) if any(map(len, of_question))]
    kept = [[stratum[i] for i in observed] for stratum in strata]
    found = _statistic(kept, _once(len(observed)), quantile)[0]
    low, high = _bounds(_statistic(kept, _draws(len(observed), seed), quantile))
    return Interval(float(found), low, high, len(observed))


def balanced_difference(
    before: Sequence[Observations], after: Sequence[Observations], *, quantile: float | None = None, seed: int = 0
) -> tuple[Interval, float]:
    """Return the change of a figure between two runs over the same questions, and its two-sided p-value.

    Questions are resampled in pairs: ``before[s][i]`` and ``after[s][i]`` are of question i. The p-value is twice the
    share of resamples whose change is not on the majority's side, at least 1/1000. Raises ValueError if a stratum of
    either run has no observation, or the runs have different questions.
    """
    questions = {len(stratum) for stratum in (*before, *after)}
    if len(questions) != 1:
        raise ValueError("A paired comparison needs the same questions on both sides.")
    (count,) = questions
    once, draws = _once(count), _draws(count, seed)
    change = _statistic(after, once, quantile)[0] - _statistic(before, once, quantile)[0]
    changes = _statistic(after, draws, quantile) - _statistic(before, draws, quantile)
    beyond = min(float(np.mean(changes <= 0)), float(np.mean(changes >= 0)))
    p_value = min(1.0, max(2 * beyond, 1 / RESAMPLES))
    return Interval(float(change), *_bounds(changes), count), p_value


def _bounds(resampled: Floats) -> tuple[float, float]:
    tail = (1 - LEVEL) / 2
    low, high = np.quantile(resampled, (tail, 1 - tail))
    return float(low), float(high)


def _once(questions: int) -> Floats:
    """Return counts of 1 for every question: the sample itself."""
    return np.ones((1, questions))


@lru_cache(maxsize=4)
def _draws(questions: int, seed: int) -> Floats:
    """Return how often each resample draws each question: (resamples, questions). Measures share the draws."""
    if not questions:
        raise ValueError("There is nothing to take a mean of.")
    drawn = np.random.default_rng(seed).integers(0, questions, size=(RESAMPLES, questions))
    rows = np.arange(RESAMPLES)[:, None] * questions
    counts = np.bincount((rows + drawn).ravel(), minlength=RESAMPLES * questions)
    return counts.reshape(RESAMPLES, questions).astype(np.float64)


def _statistic(strata: Sequence[Observations], counts: Floats, quantile: float | None) -> Floats:
    """Return the figure of each row of counts: the mean over strata."""
    by_stratum = [_mean(each, counts) if quantile is None else _quantile(each, counts, quantile) for each in strata]
    return np.asarray(np.mean(by_stratum, axis=0), dtype=np.float64)


def _mean(observations: Observations, counts: Floats) -> Floats:
    """Return the mean of each resample; a resample without observations gets the sample's mean."""
    sums = np.array([float(sum(each)) for each in observations])
    sizes = np.array([len(each) for each in observations], dtype=np.float64)
    if not sizes.sum():
        raise ValueError("There is nothing to take a mean of.")
    drawn = counts @ sizes
    whole = np.full(len(counts), sums.sum() / sizes.sum())
    return np.asarray(np.divide(counts @ sums, drawn, out=whole, where=drawn > 0), dtype=np.float64)


def _quantile(observations: Observations, counts: Floats, quantile: float) -> Floats:
    """Return the quantile of each resample; a resample without observations gets the sample's."""
    owner = np.repeat(np.arange(len(observations)), [len(each) for each in observations])
    values = np.array([value for each in observations for value in each])
    if not values.size:
        raise ValueError("There is nothing to take a quantile of.")
    order = np.argsort(values, kind="stable")
    reached = np.cumsum(counts[:, owner[order]], axis=1)
    found = values[order][(reached >= quantile * reached[:, -1:]).argmax(axis=1)]
    whole = np.quantile(values, quantile, method="inverted_cdf")
    return np.asarray(np.where(reached[:, -1] > 0, found, whole), dtype=np.float64)


def false_discovery_adjusted(p_values: Sequence[float]) -> list[float]:
    """Return p-values corrected by the step-up procedure of Benjamini and Hochberg, in the same order, at most 1."""
    count, smallest = len(p_values), 1.0
    adjusted = [0.0] * count
    for rank, place in sorted(enumerate(sorted(range(count), key=lambda i: p_values[i]), 1), reverse=True):
        smallest = min(smallest, p_values[place] * count / rank)
        adjusted[place] = round(smallest, 4)
    return adjusted


def auc(yes: Floats, no: Floats) -> float:
    """Return the area under the ROC curve: the chance that a ``yes`` scores above a ``no``; ties count half."""
    above = (yes[:, None] > no[None, :]).mean() + (yes[:, None] == no[None, :]).mean() / 2
    return round(float(above), 4)
