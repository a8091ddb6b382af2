"""The benchmark command: ``python -m bench [--runs N] [PART]...`` prints tables and writes them to docs/benchmarks.md.

A part is a module of this package, named PART_bench, with ``async def run(folder: Path) -> list[Figure]``; ``folder``
is empty, for its data. A part that takes longer to fill its data than to measure has ``async def runs(folder: Path,
count: int) -> list[list[Figure]]`` instead, and measures the same data several times. Of several runs the table has
medians and the spread. The results of other parts stay in the file.
"""

import argparse
import asyncio
import json
import os
import platform
import sys
import tempfile
import time
from collections.abc import Callable, Coroutine
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path
from typing import TypeVar

from rich.console import Console
from rich.table import Table

from bench.figures import PAGE, Figure, NotAvailable, aligned_right, median_of_runs, meets, table, with_result_tables

T = TypeVar("T")
RESULTS = Path(__file__).parent / "results.json"
PARTS = (
    "start",
    "stream",
    "langgraph",
    "durable",
    "load",
    "model",
    "flow",
    "retrieval",
    "common",
    "ingestion",
    "originals",
    "page",
    "reader",
)


def main(arguments: list[str]) -> int:
    """Run the named parts, or all of them; return 1 if a figure misses its bar. Exits with 2 for an unknown part."""
    console = Console()
    parser = argparse.ArgumentParser(prog="python -m bench")
    parser.add_argument("--runs", type=int, default=1, metavar="N", help="run each part N times; the table has medians")
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"one of {', '.join(PARTS)}; all without any")
    asked = parser.parse_args(arguments)
    if asked.runs < 1:
        parser.error("--runs must be at least 1")
    if unknown := set(asked.parts) - set(PARTS):
        parser.error(f"no such part: {', '.join(sorted(unknown))}; there are {', '.join(PARTS)}")
    results = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    missed = False
    for part in asked.parts or PARTS:
        began = time.perf_counter()
        try:
            figures = median_of_runs(_runs(part, asked.runs))
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
            **({"runs": asked.runs} if asked.runs > 1 else {}),
        }
        RESULTS.write_text(json.dumps(results, indent=1, ensure_ascii=False) + "\n")
        PAGE.write_text(with_result_tables(PAGE.read_text(encoding="utf-8"), results), encoding="utf-8")
        console.print(_printed(part, figures, seconds))
        missed = missed or any(meets(found) is False for found in figures)
    return 1 if missed else 0


def _runs(part: str, count: int) -> list[list[Figure]]:
    module = import_module(f"bench.{part}_bench")
    if hasattr(module, "runs"):
        return _in_folder(lambda folder: module.runs(folder, count))
    return [_in_folder(module.run) for _ in range(count)]


def _in_folder(measure: Callable[[Path], Coroutine[None, None, T]]) -> T:
    with tempfile.TemporaryDirectory(prefix="citewell-bench-", ignore_cleanup_errors=True) as folder:
        Path(folder).chmod(0o711)  # if run as root, the account of the embedded server must be able to enter
        return asyncio.run(measure(Path(folder)))


def _printed(part: str, figures: list[Figure], seconds: float) -> Table:
    head, *rows = table(figures)
    printed = Table(title=f"{part} ({seconds:.0f} s, load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores)")
    for name, right in zip(head, aligned_right(head), strict=True):
        printed.add_column(name, justify="right" if right else "left")
    for found, cells in zip(figures, rows, strict=True):
        printed.add_row(*cells, style={True: "green", False: "red", None: ""}[meets(found)])
    return printed


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
