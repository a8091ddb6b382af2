"""Put what was measured into the manual's page of benchmarks."""

import re
from pathlib import Path
from typing import Any

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
    rows = [
        f"| {found['name']} | {found['value']:,.4g} | {found['unit']} | {_bar(found)} |" for found in result["figures"]
    ]
    return "\n".join([f"### {part}", "", where, "", "| figure | measured | unit | bar |", "|---|--:|---|---|", *rows])


def _bar(found: dict[str, Any]) -> str:
    if found["bar"] is None:
        return ""
    return f"{'≤' if found['better'] == 'less' else '≥'} {found['bar']:g}"
