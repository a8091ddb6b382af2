"""The same graph with the same writer, checkpointer and PostgreSQL, in one process without our API or event log.

``python -m bench.graph_alone QUESTIONS`` reads a JSON list of questions from a file, runs them, and prints the figures
as JSON.
"""

import asyncio
import json
import sys
import time
from functools import partial
from pathlib import Path
from typing import Any
from uuid import uuid4

import uvloop

from bench.figures import percentile
from bench.libraries import open_scripted_library
from bench.sse_client import Timing
from bench.stacks import IN_FLIGHT, ROUNDS, WARM_UP
from graph.builder import build
from graph.context import Context
from tools.runs.executor import Durability
from tools.sessions.checkpoints import run_saver
from tools.settings import load_settings
from tools.storage.database import Pool


async def main(questions: list[str]) -> None:
    """Ask the questions one after another, then eight at a time."""
    settings = load_settings()
    async with open_scripted_library(settings) as library:
        graph = build(library.resources, joined=True).compile()
        run = partial(_run, graph, library.database.pool, settings.runs.durability)
        for question in questions[:WARM_UP]:
            await run(question)
        began = time.process_time()
        timings = [await run(question) for question in questions[WARM_UP:]]
        cpu = (time.process_time() - began) / len(timings)
        waiting = iter(questions * ROUNDS)

        async def one_after_another() -> None:
            for question in waiting:
                await run(question)

        used, began = time.process_time(), time.perf_counter()
        await asyncio.gather(*(one_after_another() for _ in range(IN_FLIGHT)))
        count = len(questions) * ROUNDS
        rate, busy_cpu = count / (time.perf_counter() - began), (time.process_time() - used) / count
    print(
        json.dumps(
            {
                "first": percentile([each.first * 1000 for each in timings], 0.5),
                "first_p95": percentile([each.first * 1000 for each in timings], 0.95),
                "text": percentile([each.text * 1000 for each in timings], 0.5),
                "whole": percentile([each.whole * 1000 for each in timings], 0.5),
                "cpu": cpu * 1000,
                "rate": rate,
                "busy_cpu": busy_cpu * 1000,
            }
        ),
        flush=True,
    )


async def _run(graph: Any, pool: Pool, durability: Durability, question: str) -> Timing:
    """Stream a run in its own LangGraph thread, as our runner does."""
    began = time.perf_counter()
    first = text = 0.0
    config = {"configurable": {"thread_id": str(uuid4())}}
    parts = graph.copy({"checkpointer": run_saver(pool, every_step=False)}).astream(
        {"question": question},
        config,
        context=Context(),
        stream_mode=["custom", "values"],
        version="v2",
        durability=durability,
    )
    async for part in parts:
        if part["type"] == "custom":
            first = first or time.perf_counter() - began
            if not text and part["data"].type == "text_delta":
                text = time.perf_counter() - began
    return Timing(first, text, time.perf_counter() - began, 0)


if __name__ == "__main__":
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as loop:
        loop.run(main(json.loads(Path(sys.argv[1]).read_text())))
