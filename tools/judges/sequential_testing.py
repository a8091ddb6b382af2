"""Shares of errors: their intervals, and Wald's test that decides on them as early as it is sure.

The test is that of A. Wald, "Sequential tests of statistical hypotheses", Annals of Mathematical Statistics 16, 1945.
Intervals are Wilson's score intervals (E. B. Wilson, "Probable inference, the law of succession, and statistical
inference", JASA 22, 1927): they hold for small counts and for shares of 0 and 1.
"""

from dataclasses import dataclass
from math import log, sqrt
from typing import Literal

NORMAL_95 = 1.959964  # the 97.5 % quantile of the normal distribution


@dataclass(frozen=True, slots=True)
class Share:
    """A count out of a number of claims."""

    count: int
    of: int

    @property
    def mean(self) -> float:
        return self.count / self.of if self.of else 0.0

    @property
    def interval(self) -> tuple[float, float]:
        """The Wilson score interval at 95 %: its lower and upper limit in [0, 1]."""
        if self.of == 0:
            return 0.0, 1.0
        squared = NORMAL_95**2
        centre = (self.mean + squared / (2 * self.of)) / (1 + squared / self.of)
        spread = NORMAL_95 * sqrt(self.mean * (1 - self.mean) / self.of + squared / (4 * self.of**2))
        spread /= 1 + squared / self.of
        low = 0.0 if self.count == 0 else max(0.0, centre - spread)
        return low, 1.0 if self.count == self.of else min(1.0, centre + spread)

    def __str__(self) -> str:
        low, high = self.interval
        return f"{self.count} of {self.of} ({low:.0%} to {high:.0%})"


@dataclass(frozen=True, slots=True)
class SequentialTest:
    """Wald's test of an error rate: whether it is rather ``good`` than ``bad``.

    A judge at the good rate fails it with the probability ``fails_good``, one at the bad rate passes it with
    ``passes_bad``, where it may go on for as long as it takes.
    """

    good: float
    bad: float
    fails_good: float = 0.05
    passes_bad: float = 0.1

    def decide(self, errors: Share) -> Literal["pass", "fail"] | None:
        """Return the outcome after so many errors, None as long as it is open."""
        right = errors.of - errors.count
        odds = errors.count * log(self.bad / self.good) + right * log((1 - self.bad) / (1 - self.good))
        if odds <= log(self.passes_bad / (1 - self.fails_good)):
            return "pass"
        return "fail" if odds >= log((1 - self.passes_bad) / self.fails_good) else None


WRONG = SequentialTest(good=0.02, bad=0.15)  # false claims called supported
MISSED = SequentialTest(good=0.1, bad=0.35)  # true claims not called supported
