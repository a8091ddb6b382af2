"""Benchmark figures: named numbers with the bar that each must meet, and their tables in the manual."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, NotRequired

from typing_extensions import TypedDict


class NotAvailable(Exception):
    """A part that this machine lacks something for, by what that is."""


class Figure(TypedDict):
    """One measured number. ``bar`` is its limit, from above where ``better`` is "less"; None where it has none.

    ``beside`` holds the same number of other stacks, by their names; it also has to be better than that of ``rival``.
    """

    name: str
    value: float
    unit: str
    bar: float | None
    better: Literal["less", "more"]
    beside: NotRequired[dict[str, float]]
    rival: NotRequired[str]


def figure(
    name: str, value: float, unit: str, *, at_most: float | None = None, at_least: float | None = None
) -> Figure:
    """Name a number, with its bar as ``at_most`` or ``at_least``."""
    bar = at_most if at_most is not None else at_least
    return Figure(
        name=name, value=round(value, 4), unit=unit, bar=bar, better="more" if at_least is not None else "less"
    )


def compared(found: Figure, beside: Mapping[str, float], *, rival: str | None, more: bool = False) -> Figure:
    """Set the same number of other stacks beside a figure, of which it has to be ahead of ``rival``, if that is given.

    ``more`` tells that more is better, where the figure has no bar that says so.
    """
    figures = {name: round(value, 4) for name, value in beside.items()}
    better: Literal["less", "more"] = "more" if more else found["better"]
    row = Figure(**{**found, "better": better, "beside": figures})
    return row if rival is None else Figure(**{**row, "rival": rival})


def meets(found: Figure) -> bool | None:
    """Return whether a figure meets its bar and is ahead of its rival; None where it has neither."""
    sign = 1 if found["better"] == "more" else -1
    met = [] if found["bar"] is None else [sign * (found["value"] - found["bar"]) >= 0]
    if "rival" in found:
        met.append(sign * (found["value"] - found["beside"][found["rival"]]) > 0)
    return all(met) if met else None


def stacks(figures: Sequence[Figure]) -> list[str]:
    """List the other stacks that figures are set beside, in the order in which they come."""
    return list(dict.fromkeys(name for found in figures for name in found.get("beside", {})))


def bar_of(found: Figure) -> str:
    """Say in words what a figure has to meet; nothing where it has no bar."""
    sign = "≤" if found["better"] == "less" else "≥"
    limit = [] if found["bar"] is None else [f"{sign} {found['bar']:g}"]
    return ", ".join([*limit, *([f"ahead of {found['rival']}"] if "rival" in found else [])])


def percentile(values: Sequence[float], share: float) -> float:
    """Return the value that ``share`` of the values do not exceed, by the nearest rank."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


PAGE = Path(__file__).parents[1] / "docs" / "benchmarks.md"
_TABLES = re.compile(r"<!-- results:begin -->.*<!-- results:end -->", re.DOTALL)


def with_result_tables(page: str, results: dict[str, dict[str, Any]]) -> str:
    """Return the page with the tables of these results in place of those it has."""
    tables = "\n\n".join(_table(part, result) for part, result in results.items())
    return _TABLES.sub(lambda _: f"<!-- results:begin -->\n{tables}\n<!-- results:end -->", page)


def _table(part: str, result: dict[str, Any]) -> str:
    where = (
        f"{result['at'][:10]}, {result['cores']} cores, load {result['load']} at the end, {result['seconds']:.0f} s."
    )
    others = stacks(result["figures"])
    head = ["figure", "Citewell" if others else "measured", "unit", "bar", *others]
    ruled = ["---", "--:", "---", "---", *("--:" for _ in others)]
    rows = [_cells(found, others) for found in result["figures"]]
    return "\n".join([f"### {part}", "", where, "", *(_row(cells) for cells in (head, ruled, *rows))])


def _cells(found: Figure, others: list[str]) -> list[str]:
    beside = found.get("beside", {})
    told = [f"{beside[name]:,.4g}" if name in beside else "" for name in others]
    return [found["name"], f"{found['value']:,.4g}", found["unit"], bar_of(found), *told]


def _row(cells: list[str]) -> str:
    return f"|{'|'.join(cells)}|" if cells[0] == "---" else f"| {' | '.join(cells)} |"
