"""Benchmark of a durable answer of 200 deltas: its time and CPU, compared with the same answer on other stacks.

All of them use one scripted writer, which takes no time itself. Ours includes everything: HTTP, retrieval, grading and
checking over the database, checkpoints, the event log, Server-Sent Events. ``langgraph dev`` serves the same graph
with its own checkpointer, which keeps checkpoints in memory. The graph alone is streamed in process, with our
checkpointer; the floors only send the writer's deltas over HTTP.
"""

import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from bench.figures import Figure, compared, figure
from bench.libraries import fill_small_library
from bench.serving import postgres_of, read_announcement, started
from bench.stacks import (
    BARE,
    CITEWELL,
    GRAPH_ALONE,
    LANGGRAPH_DEV,
    OURS,
    PLAIN_SSE,
    QUESTIONS,
    STUDIO,
    WARM_UP,
    Answers,
    measure,
    serving,
)
from tools.settings import load_settings
from tools.storage.startup import open_database

SLOW_WARM_UP, SLOW = 3, 18  # questions for langgraph dev, which takes about a second per question


async def run(folder: Path) -> list[Figure]:
    """Measure each stack in turn, ours last."""
    data = folder / "data"
    settings = load_settings(data_dir=data)
    questions = await fill_small_library(settings, WARM_UP + QUESTIONS)
    found: dict[str, Mapping[str, float]] = {}
    async with open_database(settings):  # keeps PostgreSQL running between the stacks
        postgres = postgres_of(data)
        for stack in (BARE, PLAIN_SSE, STUDIO, OURS):
            async with serving(stack, folder, data) as server:
                warm_up, asked = (SLOW_WARM_UP, questions[:SLOW]) if stack is STUDIO else (WARM_UP, questions)
                found[stack.name] = asdict(await measure(stack, server, asked, postgres, warm_up=warm_up))
        found[GRAPH_ALONE] = await _graph_alone(folder, data, questions)
    return figures(Answers(**found.pop(CITEWELL)), found)


def figures(ours: Answers, others: Mapping[str, Mapping[str, float]]) -> list[Figure]:
    """Return our figures, compared with the other stacks."""

    def values_of_others(name: str) -> dict[str, float]:
        return {stack: took[name] for stack, took in others.items() if name in took}

    def row(label: str, name: str, unit: str, at_most: float | None = None, *, more: bool = False) -> Figure:
        value = figure(label, getattr(ours, name), unit, at_most=at_most)
        return compared(value, values_of_others(name), rival=LANGGRAPH_DEV, more=more)

    return [
        row("first event p50", "first", "ms", 5),
        row("first event p95", "first_p95", "ms"),
        row("first text p50", "text", "ms", 40),
        row("whole answer p50", "whole", "ms"),
        row("CPU of a run", "cpu", "ms", 35),
        row("CPU of a run, 8 in flight", "busy_cpu", "ms"),
        row("runs per second, 8 in flight", "rate", "1/s", more=True),
        figure("CPU of PostgreSQL for a run", ours.postgres, "ms"),
        compared(figure("frames of an answer", ours.frames, ""), values_of_others("frames"), rival=None),
    ]


async def _graph_alone(folder: Path, data: Path, questions: Sequence[str]) -> dict[str, Any]:
    file = folder / "questions.json"
    file.write_text(json.dumps(questions))
    async with started(folder, data, sys.executable, "-m", "bench.graph_alone", str(file)) as process:
        return await read_announcement(process)
