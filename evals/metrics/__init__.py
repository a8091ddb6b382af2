"""Metrics of records that need no judging model: each has a unit, a direction, and a mean with an interval.

A metric yields a list of observations for each record: empty if it does not apply, one, or one per counted item, such
as a citation. Its figure is the mean over all observations of a run. The observations of one question are resampled
together, since they are not independent.
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
    """A measure. ``title`` is its display name, ``means`` explains in one line what is counted.

    With ``stratum`` the figure is the mean of the strata's means, as for a balanced accuracy; a run that lacks one of
    ``strata`` has no figure, and a record outside of them is not measured. ``among`` selects the records to measure,
    if that depends on several records. With ``quantile`` the figure is that quantile of all observations instead of
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
        """Return the observations by stratum and question; one part if there are no strata.

        Questions are in the order of their first records, the same in every part.
        """
        chosen = records if self.among is None else self.among(records)
        place = {case_id: i for i, case_id in enumerate(dict.fromkeys(record["case_id"] for record in chosen))}
        parts: dict[str, list[list[float]]] = {name: [[] for _ in place] for name in self.strata or ("",)}
        for record in chosen:
            stratum = "" if self.stratum is None else self.stratum(record)
            if stratum in parts:
                parts[stratum][place[record["case_id"]]].extend(self.observe(record))
        return list(parts.values())

    def measured(self, records: Sequence[Record]) -> Interval | None:
        """Return the figure of some records; None if the measure does not apply to them."""
        parts = self.parted(records)
        return balanced_interval(parts, quantile=self.quantile) if has_all(parts) else None

    def change(self, before: Sequence[Record], after: Sequence[Record]) -> tuple[Interval, float] | None:
        """Return the change between two runs and its p-value; None if a run has no figure.

        Raises ValueError if the records are not of the same questions in the same order.
        """
        old, new = self.parted(before), self.parted(after)
        return balanced_difference(old, new, quantile=self.quantile) if has_all(old) and has_all(new) else None


def has_all(parts: Sequence[Observations]) -> bool:
    """Return whether there are strata with an observation in each, which a figure requires."""
    return bool(parts) and all(any(map(len, part)) for part in parts)


class Figure(TypedDict):
    """A mean, or the measure's quantile, with its 95% bootstrap interval over ``n`` questions."""

    mean: float
    low: float
    high: float
    n: int


Figures = dict[str, Figure]


def figures(records: Sequence[Record], metrics: Iterable[Metric]) -> Figures:
    """Return the figure of each measure that applies to any of the records."""
    return {metric.name: as_figure(found) for metric in metrics if (found := metric.measured(records)) is not None}


def as_figure(found: Interval) -> Figure:
    """Return an interval as a figure, rounded so that people can read the file."""
    return Figure(mean=round(found.mean, 4), low=round(found.low, 4), high=round(found.high, 4), n=found.n)


def by_tag(records: Sequence[Record], metrics: Sequence[Metric], tag: str) -> Mapping[str, Figures]:
    """Return the figures of each group of records that share a tag's value."""
    values = sorted({record["tags"][tag] for record in records if tag in record["tags"]})
    return {value: figures([r for r in records if r["tags"].get(tag) == value], metrics) for value in values}
