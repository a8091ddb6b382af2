"""Metrics of records that need no judging model: each has a unit, a direction, and a mean with an interval.

A metric yields a list of observations for each record: none where it does not apply, one, or one for each of several
things counted, such as citations. Its figure is the mean over all observations of a run. What the records of one
question yield is resampled together, since they are no independent samples.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from typing_extensions import TypedDict

from evals.bootstrap import Interval, Observations, balanced_difference, balanced_interval
from evals.records import Record

Unit = Literal["share", "count", "ms"]
Better = Literal["higher", "lower", "neither"]
Observe = Callable[[Record], Sequence[float]]


@dataclass(frozen=True, slots=True)
class Metric:
    """A measure. ``title`` is for people, ``means`` says in one line what is counted.

    Where ``stratum`` is given the figure is the mean of the means of the strata it names, as of a balanced accuracy; it
    is left out of a run that lacks one of ``strata``. ``among`` chooses the records that it is of, where that takes
    more than one of them to see. With a ``quantile`` the figure is that quantile of all observations, in place of
    their mean.
    """

    name: str
    title: str
    means: str
    observe: Observe
    unit: Unit = "share"
    better: Better = "higher"
    stratum: Callable[[Record], str] | None = None
    strata: tuple[str, ...] = ()
    among: Callable[[Sequence[Record]], Sequence[Record]] | None = None
    quantile: float | None = None

    def parted(self, records: Sequence[Record]) -> list[Observations]:
        """Return the observations of each stratum, question by question; one part where there are no strata.

        Questions are in the order of their first records, and the same in every part.
        """
        chosen = records if self.among is None else self.among(records)
        place = {case_id: i for i, case_id in enumerate(dict.fromkeys(record["case_id"] for record in chosen))}
        parts: dict[str, list[list[float]]] = {name: [[] for _ in place] for name in self.strata or ("",)}
        for record in chosen:
            stratum = "" if self.stratum is None else self.stratum(record)
            parts[stratum][place[record["case_id"]]].extend(self.observe(record))
        return list(parts.values())

    def measured(self, records: Sequence[Record]) -> Interval | None:
        """Take the measure of some records; None where it does not apply to them."""
        parts = self.parted(records)
        return balanced_interval(parts, quantile=self.quantile) if has_all(parts) else None

    def change(self, before: Sequence[Record], after: Sequence[Record]) -> tuple[Interval, float] | None:
        """Return how much it differs between two runs and the p-value of that; None where one has no figure.

        Raises ValueError where the records are not of the same questions in the same order.
        """
        old, new = self.parted(before), self.parted(after)
        return balanced_difference(old, new, quantile=self.quantile) if has_all(old) and has_all(new) else None


def has_all(parts: Sequence[Observations]) -> bool:
    """Return whether there are strata, and an observation in each: there is no figure otherwise."""
    return bool(parts) and all(any(map(len, part)) for part in parts)


class Figure(TypedDict):
    """A mean (a quantile, where the measure is one) with its 95% bootstrap interval, over ``n`` questions."""

    mean: float
    low: float
    high: float
    n: int


Figures = dict[str, Figure]


def figures(records: Sequence[Record], metrics: Iterable[Metric]) -> Figures:
    """Take each measure of a run's records; one that applies to none of them is left out."""
    return {metric.name: as_figure(found) for metric in metrics if (found := metric.measured(records)) is not None}


def as_figure(found: Interval) -> Figure:
    """Round an interval for a file that people read too."""
    return Figure(mean=round(found.mean, 4), low=round(found.low, 4), high=round(found.high, 4), n=found.n)


def by_tag(records: Sequence[Record], metrics: Sequence[Metric], tag: str) -> Mapping[str, Figures]:
    """Take the measures of each group of records that have the same value of a tag."""
    values = sorted({record["tags"][tag] for record in records if tag in record["tags"]})
    return {value: figures([r for r in records if r["tags"].get(tag) == value], metrics) for value in values}
