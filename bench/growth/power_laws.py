"""Costs at growing sizes, and the power law through them: least squares on logarithms, with an interval."""

import statistics
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import stats

from bench.figures import Figure, compared, figure
from bench.svg_charts import Chart, Line, Point

LEAST_SIZES = 3


@dataclass(frozen=True, slots=True)
class Cost:
    """What was measured at one size: several values, of which the median counts."""

    size: float
    values: Sequence[float]

    @property
    def median(self) -> float:
        """The value that counts."""
        return statistics.median(self.values)

    def __str__(self) -> str:
        return f"{self.median:.4g} ({min(self.values):.4g} to {max(self.values):.4g})"


def tell(size: str, costs: Sequence[Cost]) -> None:
    """Print what was measured last, to somebody who waits for the next size."""
    print(f"{size}: {', '.join(map(str, costs))}", flush=True)


@dataclass(frozen=True, slots=True)
class PowerLaw:
    """``factor * size ** exponent``; the exponent is within ``low`` and ``high`` with 95 %."""

    factor: float
    exponent: float
    low: float
    high: float

    def at(self, size: float) -> float:
        """Return the cost at a size."""
        return float(self.factor * size**self.exponent)


@dataclass(frozen=True, slots=True)
class Growth:
    """How one cost grows: its name, its unit, and what was measured, in order of size."""

    name: str
    unit: str
    costs: Sequence[Cost]

    def law(self) -> PowerLaw:
        """Return the power law through the medians. Raises ValueError for fewer than three sizes."""
        if len(self.costs) < LEAST_SIZES:
            raise ValueError(f"{self.name}: no law goes through {len(self.costs)} sizes")
        sizes = np.log([cost.size for cost in self.costs])
        values = np.log([max(cost.median, 1e-6) for cost in self.costs])
        fitted = stats.linregress(sizes, values)
        error = 0.0 if np.isnan(fitted.stderr) else float(fitted.stderr)  # of equal costs
        reach = error * float(stats.t.ppf(0.975, len(self.costs) - 2))
        slope = float(fitted.slope)
        return PowerLaw(float(np.exp(fitted.intercept)), slope, slope - reach, slope + reach)

    def figure(self) -> Figure:
        """Return the exponent as a figure, beside it the interval and the cost at both ends."""
        law = self.law()
        ends = self.costs[0], self.costs[-1]
        beside = {"from": law.low, "to": law.high, "least size": ends[0].size, "cost there": ends[0].median}
        beside |= {"greatest size": ends[1].size, "its cost": ends[1].median}
        name = ", ".join(part for part in (self.name, self.unit) if part)
        return compared(figure(f"{name}: exponent", round(law.exponent, 4) + 0.0, ""), beside, rival=None)

    def line(self, *, with_unit: bool = False) -> Line:
        """Return the points and the law to draw, named with its exponent."""
        law, name = self.law(), f"{self.name}, {self.unit}" if with_unit else self.name
        points = [Point(cost.size, cost.median, min(cost.values), max(cost.values)) for cost in self.costs]
        return Line(f"{name}: exponent {law.exponent:z.2f} ({law.low:z.2f} to {law.high:z.2f})", points, law.at)


def chart(title: str, size: str, cost: str, growths: Sequence[Growth]) -> Chart:
    """Return a chart of several costs over one size; each tells its unit where they differ."""
    differ = len({growth.unit for growth in growths}) > 1
    return Chart(title, size, cost, [growth.line(with_unit=differ) for growth in growths])
