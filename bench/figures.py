"""What a benchmark found: named numbers, with the bar that each has to meet where there is one."""

from collections.abc import Sequence
from typing import Literal

from typing_extensions import TypedDict


class Figure(TypedDict):
    """One measured number. ``bar`` is its limit, from above where ``better`` is "less"; None where it has none."""

    name: str
    value: float
    unit: str
    bar: float | None
    better: Literal["less", "more"]


def figure(
    name: str, value: float, unit: str, *, at_most: float | None = None, at_least: float | None = None
) -> Figure:
    """Name a number, with its bar as ``at_most`` or ``at_least``."""
    bar = at_most if at_most is not None else at_least
    return Figure(
        name=name, value=round(value, 4), unit=unit, bar=bar, better="more" if at_least is not None else "less"
    )


def meets(found: Figure) -> bool | None:
    """Tell whether a figure meets its bar; None where it has none."""
    if found["bar"] is None:
        return None
    return found["value"] <= found["bar"] if found["better"] == "less" else found["value"] >= found["bar"]


def percentile(values: Sequence[float], share: float) -> float:
    """Give the value that ``share`` of the values do not exceed, by the nearest rank."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]
