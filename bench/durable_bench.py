"""Benchmark of a durable answer of 200 deltas: its time and CPU, and what sending the same deltas alone takes.

Both use one scripted writer, which takes no time itself. Ours includes everything: HTTP, retrieval, grading and
checking over the database, checkpoints, the event log, Server-Sent Events. The floor sends the deltas by sse-starlette.
"""

from dataclasses import asdict
from pathlib import Path

from bench.figures import Figure, compared, figure
from bench.libraries import fill_small_library
from bench.serving import postgres_of
from bench.stacks import OURS, PLAIN_SSE, QUESTIONS, SSE_STARLETTE, WARM_UP, measure, serving
from tools.settings import load_settings
from tools.storage.startup import open_database


async def run(folder: Path) -> list[Figure]:
    """Measure the floor, then ours."""
    data = folder / "data"
    settings = load_settings(data_dir=data)
    questions = await fill_small_library(settings, WARM_UP + QUESTIONS)
    found: dict[str, dict[str, float]] = {}
    async with open_database(settings):  # keeps PostgreSQL running between the servers
        postgres = postgres_of(data)
        for stack in (PLAIN_SSE, OURS):
            async with serving(stack, folder, data) as server:
                found[stack.name] = asdict(await measure(stack, server, questions, postgres))
    ours, floor = found[OURS.name], found[SSE_STARLETTE]

    def row(label: str, name: str, unit: str, at_most: float | None = None) -> Figure:
        value = figure(label, ours[name], unit, at_most=at_most)
        return compared(value, {SSE_STARLETTE: floor[name]})

    return [
        row("first event p50", "first", "ms", 5),
        row("first event p95", "first_p95", "ms"),
        row("first text p50", "text", "ms", 40),
        row("whole answer p50", "whole", "ms"),
        row("CPU of a run", "cpu", "ms", 35),
        row("CPU of a run, 8 in flight", "busy_cpu", "ms"),
        row("runs per second, 8 in flight", "rate", "1/s"),
        figure("CPU of PostgreSQL for a run", ours["postgres"], "ms"),
        row("frames of an answer", "frames", ""),
    ]
