"""Judge-free measures of records: what each is of, which way is better, and its mean with an interval.

A measure gives a list of observations for each record: none where it does not apply, one, or one for each of several
things counted, such as citations. Its figure is the mean over all observations of a run.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from typing_extensions import TypedDict

from evals.bootstrap import Interval, Observations, balanced_interval, interval
from evals.records import Record

Unit = Literal["share", "count", "ms"]
Better = Literal["higher", "lower", "neither"]
Observe = Callable[[Record], Sequence[float]]


@dataclass(frozen=True, slots=True)
class Metric:
    """A measure. ``title`` is for people, ``means`` says in one line what is counted.

    Where ``stratum`` is given the figure is the mean of the means of the strata it names, as of a balanced accuracy; it
    is left out of a run that lacks one of ``strata``.
    """

    name: str
    title: str
    means: str
    observe: Observe
    unit: Unit = "share"
    better: Better = "higher"
    stratum: Callable[[Record], str] | None = None
    strata: tuple[str, ...] = ()

    def parted(self, records: Sequence[Record]) -> list[Observations]:
        """Give the observations of each stratum, record by record; one part where there are no strata."""
        if self.stratum is None:
            return [[self.observe(record) for record in records]]
        parts: dict[str, list[Sequence[float]]] = {name: [] for name in self.strata}
        for record in records:
            parts[self.stratum(record)].append(self.observe(record))
        return list(parts.values())


class Figure(TypedDict):
    """A mean with its 95% bootstrap interval, over ``n`` questions that it applies to."""

    mean: float
    low: float
    high: float
    n: int


Figures = dict[str, Figure]


def figures(records: Sequence[Record], metrics: Iterable[Metric]) -> Figures:
    """Take each measure of a run's records; one that applies to none of them is left out."""
    taken: Figures = {}
    for metric in metrics:
        parts = metric.parted(records)
        if all(any(len(each) for each in part) for part in parts):
            found = balanced_interval(parts) if len(parts) > 1 else interval(parts[0])
            taken[metric.name] = as_figure(found)
    return taken


def as_figure(found: Interval) -> Figure:
    """Round an interval for a file that people read too."""
    return Figure(mean=round(found.mean, 4), low=round(found.low, 4), high=round(found.high, 4), n=found.n)


def by_tag(records: Sequence[Record], metrics: Sequence[Metric], tag: str) -> Mapping[str, Figures]:
    """Take the measures of each group of records that have the same value of a tag."""
    values = sorted({record["tags"][tag] for record in records if tag in record["tags"]})
    return {value: figures([r for r in records if r["tags"].get(tag) == value], metrics) for value in values}
