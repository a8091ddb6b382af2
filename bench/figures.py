"""Benchmark figures: named numbers with the bar that each must meet, and their tables in the manual."""

import re
import statistics
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, NotRequired

from typing_extensions import TypedDict


class NotAvailable(Exception):
    """A benchmark part that cannot be measured on this machine; the message names what is missing."""


class Figure(TypedDict):
    """One measured number. ``bar`` is its limit, an upper one if ``better`` is "less"; None if it has none.

    ``beside`` maps what it is compared with to its value. Of several runs the values are medians, and ``spread`` is the
    least and the most of ``value``.
    """

    name: str
    value: float
    unit: str
    bar: float | None
    better: Literal["less", "more"]
    beside: NotRequired[dict[str, float]]
    spread: NotRequired[tuple[float, float]]


def figure(
    name: str, value: float, unit: str, *, at_most: float | None = None, at_least: float | None = None
) -> Figure:
    """Return a figure, with its bar as ``at_most`` or ``at_least``."""
    bar = at_most if at_most is not None else at_least
    return Figure(
        name=name, value=round(value, 4), unit=unit, bar=bar, better="more" if at_least is not None else "less"
    )


def compared(found: Figure, others: Mapping[str, float]) -> Figure:
    """Return a figure with the values of what it is compared with."""
    return Figure(**{**found, "beside": {name: round(value, 4) for name, value in others.items()}})


def median_of_runs(runs: Sequence[Sequence[Figure]]) -> list[Figure]:
    """Return the figures of the last run with medians over all runs that have them, and the spread of several."""
    if len(runs) == 1:
        return list(runs[0])
    by_name = [{found["name"]: found for found in run} for run in runs]
    return [_median([run[found["name"]] for run in by_name if found["name"] in run]) for found in runs[-1]]


def _median(runs: Sequence[Figure]) -> Figure:
    last = runs[-1]
    if len(runs) == 1:
        return last
    values = [found["value"] for found in runs]
    row = Figure(**{**last, "value": statistics.median(values), "spread": (min(values), max(values))})
    if "beside" in last:
        stacks_run = [found.get("beside", {}) for found in runs]
        row["beside"] = {
            name: statistics.median(values[name] for values in stacks_run if name in values) for name in last["beside"]
        }
    return row


def meets(found: Figure) -> bool | None:
    """Return whether a figure meets its bar; None if it has none."""
    sign = 1 if found["better"] == "more" else -1
    return None if found["bar"] is None else sign * (found["value"] - found["bar"]) >= 0


def stacks(figures: Sequence[Figure]) -> list[str]:
    """Return the other stacks that figures are compared with, in order of appearance."""
    return list(dict.fromkeys(name for found in figures for name in found.get("beside", {})))


def bar_of(found: Figure) -> str:
    """Describe a figure's bar; empty if it has none."""
    return "" if found["bar"] is None else f"{'≤' if found['better'] == 'less' else '≥'} {found['bar']:g}"


def percentile(values: Sequence[float], share: float) -> float:
    """Return the quantile ``share`` of the values, by the nearest rank."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


PAGE = Path(__file__).parents[1] / "docs" / "benchmarks.md"
_TABLES = re.compile(r"(<!-- results of (\w+) -->).*?(<!-- end -->)", re.DOTALL)


def with_result_tables(page: str, results: dict[str, dict[str, Any]]) -> str:
    """Return the page with the table of each part that it names replaced by that of the results."""
    return _TABLES.sub(lambda found: f"{found[1]}\n{_table(results[found[2]])}\n{found[3]}", page)


def _table(result: dict[str, Any]) -> str:
    measured = f"{result['at'][:10]}, {result['cores']} cores, load {result['load']} at the end"
    runs = f", medians of {result['runs']} runs" if "runs" in result else ""
    head, *rows = table(result["figures"])
    ruled = ["--:" if right else "---" for right in aligned_right(head)]
    where = f"{measured}, {result['seconds']:.0f} s{runs}."
    return "\n".join([where, "", _row(head), f"|{'|'.join(ruled)}|", *map(_row, rows)])


def table(figures: Sequence[Figure]) -> list[list[str]]:
    """Return the cells of a table: its head, then a row for each figure."""
    others = stacks(figures)
    spread = ["least", "most"] if any("spread" in found for found in figures) else []
    rows = [["figure", "measured", *spread, "unit", "bar", *others]]
    for found in figures:
        beside = found.get("beside", {})
        ends = found.get("spread", ())
        rows.append(
            [
                found["name"],
                _number(found["value"]),
                *([_number(end) for end in ends] or [""] * len(spread)),
                found["unit"],
                bar_of(found),
                *(_number(beside[name]) if name in beside else "" for name in others),
            ]
        )
    return rows


def aligned_right(head: Sequence[str]) -> list[bool]:
    """Return which columns of a table are numbers: all but the figure's name, its unit and its bar."""
    return [name not in ("figure", "unit", "bar") for name in head]


def _number(value: float) -> str:
    return f"{value:,.4g}"


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"
