"""Benchmark of growth: cost against size, with the exponent of the power law through it, and charts in docs/growth.

By default each part stops at a size that some minutes reach. ``CITEWELL_BENCH_GROWTH=full`` goes on to three million
segments and events, 300,000 vectors, two thousand streams and ten thousand workspaces; a list of parts, as
``search,streams`` or ``full,events``, measures these alone, and keeps the figures of the others.
``CITEWELL_BENCH_SEGMENTS`` sets another end of ``search``, ``CITEWELL_BENCH_ROWS`` a folder that keeps its rows.
"""

import json
import os
import time
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

from bench.figures import Figure
from bench.growth.log_growth import measure_log
from bench.growth.power_laws import LEAST_SIZES, Growth, chart
from bench.growth.search_growth import SearchGrowth, measure_search
from bench.growth.session_growth import measure_turns
from bench.growth.stream_growth import measure_streams
from bench.growth.vector_growth import measure_vectors
from bench.growth.workspace_growth import measure_workspaces
from bench.serving import ROOT
from bench.svg_charts import Chart

RESULTS = Path(__file__).with_name("results.json")
CHARTS = ROOT / "docs" / "growth"
FULL, LARGEST = "CITEWELL_BENCH_GROWTH", "CITEWELL_BENCH_SEGMENTS"
Part = tuple[list[Growth], dict[str, Chart]]


async def run(folder: Path) -> list[Figure]:
    """Measure each part in a folder of its own, and draw it."""
    asked = os.environ.get(FULL, "").split(",")
    is_full = "full" in asked
    parts: dict[str, Callable[[Path, bool], Awaitable[Part]]] = {
        "search": _search,
        "vectors": _vectors,
        "turns": _turns,
        "streams": _streams,
        "workspaces": _workspaces,
        "events": _events,
    }
    chosen = [name for name in parts if name in asked] or list(parts)
    figures: list[Figure] = []
    CHARTS.mkdir(exist_ok=True)
    for name in chosen:
        own = folder / name
        own.mkdir()
        own.chmod(0o711)
        began = time.perf_counter()
        growths, charts = await parts[name](own, is_full)
        print(f"growth of {name} took {time.perf_counter() - began:.0f} s", flush=True)
        figures += [{**growth.figure(), "name": f"{name}: {growth.figure()['name']}"} for growth in growths]
        for stem, drawn in charts.items():
            (CHARTS / f"{stem}.svg").write_text(drawn.svg(), encoding="utf-8")
    return [*_kept(chosen), *figures]


def _kept(chosen: Sequence[str]) -> list[Figure]:
    """Return the figures of the parts that were not measured now."""
    results = json.loads(RESULTS.read_text(encoding="utf-8"))
    before: list[Figure] = results.get("growth", {}).get("figures", [])
    return [found for found in before if found["name"].partition(":")[0] not in chosen]


async def _search(folder: Path, full: bool) -> Part:
    most = int(os.environ.get(LARGEST, 3_000_000 if full else 100_000))
    return search_part(await measure_search(folder, most))


def search_part(found: SearchGrowth) -> Part:
    """Return the figures and the charts of a workspace that grew."""
    costs = [*found.of_search(), *found.of_rows(), *found.of_recall(), *found.of_ingestion(), *found.of_indexes()]
    return _lawful([*costs, found.of_disk()]), {
        "search": chart("Lexical search in one workspace", "segments", "ms of PostgreSQL's CPU", found.of_search()),
        "rows": chart("Rows that a search reads", "segments", "rows", found.of_rows()),
        "ingestion": chart("Ingestion, vectors not indexed", "segments there", "ms of CPU", found.of_ingestion()),
        "indexes": chart("Indexes and counts", "segments", "s of PostgreSQL's CPU", _lawful(found.of_indexes())),
    }


def _lawful(growths: Sequence[Growth]) -> list[Growth]:
    """Return those with enough sizes for a law: an index is not built at each."""
    return [growth for growth in growths if len(growth.costs) >= LEAST_SIZES]


async def _vectors(folder: Path, full: bool) -> Part:
    vectors = await measure_vectors(folder, 300_000 if full else 100_000)
    return vectors, {"vectors": chart("Vectors of one workspace", "vectors", "s, ms of PostgreSQL's CPU", vectors[:2])}


async def _turns(folder: Path, full: bool) -> Part:
    turns = await measure_turns(folder)
    return turns, {"turns": chart("Turns of a session", "turns", "ms of CPU, KiB", turns)}


async def _streams(folder: Path, full: bool) -> Part:
    streams = await measure_streams(folder, 2000 if full else 500)
    return streams, {
        "streams": chart("Memory of one more stream", "streams", "KiB", streams[:1]),
        "waking": chart("Beside open streams", "streams", "ms", streams[1:]),
    }


async def _workspaces(folder: Path, full: bool) -> Part:
    workspaces = await measure_workspaces(folder, 10_000 if full else 1000)
    return workspaces, {
        "workspaces": chart("Many workspaces", "workspaces", "ms of CPU", workspaces[:4]),
    }


async def _events(folder: Path, full: bool) -> Part:
    events = await measure_log(folder, 3_000_000 if full else 100_000)
    return events, {"events": chart("The log of runs", "events of the day", "ms of PostgreSQL's CPU", events)}
