"""Put what was measured into the manual's page of benchmarks."""

import re
from pathlib import Path
from typing import Any

from bench.figures import Figure, bar_of, stacks

PAGE = Path(__file__).parents[1] / "docs" / "benchmarks.md"
_TABLES = re.compile(r"<!-- results:begin -->.*<!-- results:end -->", re.DOTALL)


def filled(page: str, results: dict[str, dict[str, Any]]) -> str:
    """Give the page with the tables of these results in place of those it has."""
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
