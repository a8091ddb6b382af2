"""Confidence intervals by the bootstrap over questions (Efron 1979, percentile intervals).

A question may give several observations, such as one for each of its citations. They are drawn together: questions are
independent of each other, the citations of one answer are not.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

RESAMPLES = 1000
LEVEL = 0.95

Observations = Sequence[Sequence[float]]  # for each question, what it gave; nothing where a measure does not apply


class Interval(NamedTuple):
    """A mean with the bounds that hold it in 95 of 100 samples; ``n`` questions gave something."""

    mean: float
    low: float
    high: float
    n: int


def mean_interval(values: Sequence[float], *, seed: int = 0) -> Interval:
    """Give the mean of one value a question. Raises ValueError where there is none."""
    return interval([[value] for value in values], seed=seed)


def interval(observations: Observations, *, seed: int = 0) -> Interval:
    """Give the mean over all observations, resampling questions. Raises ValueError where there is no observation."""
    return balanced_interval([observations], seed=seed)


def balanced_interval(strata: Sequence[Observations], *, seed: int = 0) -> Interval:
    """Give the mean of the strata's means, resampling questions within each, as of a balanced accuracy.

    Raises ValueError where a stratum has no observation.
    """
    random = np.random.default_rng(seed)
    parts = [_resampled(stratum, random) for stratum in strata]
    means = np.mean([means for means, _ in parts], axis=0)
    tail = (1 - LEVEL) / 2
    low, high = np.quantile(means, (tail, 1 - tail))
    return Interval(float(np.mean([mean for _, mean in parts])), float(low), float(high), sum(map(_giving, strata)))


def paired_difference(before: Observations, after: Observations, *, seed: int = 0) -> tuple[Interval, float]:
    """Give the change of a mean between two runs over the same questions, and how likely chance alone is to give it.

    Questions are resampled in pairs; ``before[i]`` and ``after[i]`` are of the same question. The second number is
    the two-sided p-value: twice the share of resamples whose change is on the other side of zero, at least 1/1000.
    Raises ValueError where either run has no observation.
    """
    if len(before) != len(after):
        raise ValueError("A paired comparison needs the same questions on both sides.")
    random = np.random.default_rng(seed)
    draws = _draws(len(before), random)
    (old, old_mean), (new, new_mean) = _drawn(before, draws), _drawn(after, draws)
    changes = new - old
    tail = (1 - LEVEL) / 2
    low, high = np.quantile(changes, (tail, 1 - tail))
    beyond = min(float(np.mean(changes <= 0)), float(np.mean(changes >= 0)))
    p_value = min(1.0, max(2 * beyond, 1 / RESAMPLES))
    return Interval(new_mean - old_mean, float(low), float(high), len(before)), p_value


def _giving(observations: Observations) -> int:
    return sum(1 for each in observations if len(each))


def _resampled(observations: Observations, random: np.random.Generator) -> tuple[NDArray[np.float64], float]:
    giving = [each for each in observations if len(each)]
    return _drawn(giving, _draws(len(giving), random))


def _draws(questions: int, random: np.random.Generator) -> NDArray[np.int64]:
    if not questions:
        raise ValueError("There is nothing to take a mean of.")
    return random.integers(0, questions, size=(RESAMPLES, questions))


def _drawn(observations: Observations, draws: NDArray[np.int64]) -> tuple[NDArray[np.float64], float]:
    """Give the mean of each resample and that of the sample; a resample without observations has the sample's."""
    sums = np.array([float(sum(each)) for each in observations])
    counts = np.array([len(each) for each in observations], dtype=np.float64)
    if not counts.sum():
        raise ValueError("There is nothing to take a mean of.")
    mean = float(sums.sum() / counts.sum())
    drawn = counts[draws].sum(axis=1)
    means = np.divide(sums[draws].sum(axis=1), drawn, out=np.full(len(draws), mean), where=drawn > 0)
    return means, mean
