"""The benchmark command: ``python -m bench [PART]...`` prints tables and writes them to docs/benchmarks.md.

A part is a module of this package, named PART_bench, with ``async def run(folder: Path) -> list[Figure]``; ``folder``
is empty, for its data. The results of other parts stay in the file. ``python -m bench soak [MINUTES] [RUNS]`` is a
program of its own, with a report of its own.
"""

import asyncio
import json
import os
import platform
import sys
import tempfile
import time
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path

from rich.console import Console
from rich.table import Table

from bench.figures import PAGE, Figure, NotAvailable, bar_of, meets, stacks, with_result_tables
from bench.soak.soaking import main as soak

RESULTS = Path(__file__).parent / "results.json"
PARTS = (
    "retrieval",
    "milvus",
    "common",
    "parts",
    "passages",
    "keys",
    "ingestion",
    "formats",
    "sync",
    "reader",
    "stream",
    "durable",
    "load",
    "model",
    "flow",
    "check",
    "contention",
    "log",
    "several",
    "sessions",
    "tenants",
    "moves",
    "strangers",
    "page",
    "viewer",
    "sources",
    "growth",
    "ray",
    "start",
)


def main(arguments: list[str]) -> int:
    """Run the named parts, or all of them; return 1 if a figure misses its bar, 2 for an unknown part."""
    console = Console()
    available = [part for part in PARTS if (RESULTS.parent / f"{part}_bench.py").exists()]
    unknown = set(arguments) - set(available)
    if unknown:
        console.print(f"No such part: {', '.join(sorted(unknown))}. There are {', '.join(available)}.")
        return 2
    results = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    missed = False
    for part in arguments or available:
        began = time.perf_counter()
        with tempfile.TemporaryDirectory(prefix="citewell-bench-", ignore_cleanup_errors=True) as folder:
            Path(folder).chmod(0o711)  # if run as root, the account of the embedded server must be able to enter
            try:
                figures: list[Figure] = asyncio.run(import_module(f"bench.{part}_bench").run(Path(folder)))
            except NotAvailable as reason:
                console.print(f"{part} was not measured: {reason}.", style="yellow")
                continue
        seconds = time.perf_counter() - began
        results[part] = {
            "at": datetime.now(UTC).isoformat(timespec="seconds"),
            "seconds": round(seconds, 1),
            "cores": os.cpu_count(),
            "load": round(os.getloadavg()[0], 1),
            "python": platform.python_version(),
            "figures": figures,
        }
        RESULTS.write_text(json.dumps(results, indent=1, ensure_ascii=False) + "\n")
        PAGE.write_text(with_result_tables(PAGE.read_text(encoding="utf-8"), results), encoding="utf-8")
        console.print(_table(part, figures, seconds))
        missed = missed or any(meets(found) is False for found in figures)
    return 1 if missed else 0


def _table(part: str, figures: list[Figure], seconds: float) -> Table:
    table = Table(title=f"{part} ({seconds:.0f} s, load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores)")
    others = stacks(figures)
    table.add_column("figure")
    table.add_column("measured", justify="right")
    table.add_column("unit")
    table.add_column("bar", justify="right")
    for name in others:
        table.add_column(name, justify="right")
    for found in figures:
        style = {True: "green", False: "red", None: ""}[meets(found)]
        values = found.get("beside", {})
        cells = [f"{values[name]:,.4g}" if name in values else "" for name in others]
        table.add_row(found["name"], f"{found['value']:,.4g}", found["unit"], bar_of(found), *cells, style=style)
    return table


if __name__ == "__main__":
    sys.exit(soak(sys.argv[2:]) if sys.argv[1:2] == ["soak"] else main(sys.argv[1:]))
