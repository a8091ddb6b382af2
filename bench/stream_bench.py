"""Benchmark of a client's time to the first event and first text, and of a server's memory at rest.

The server is ``citewell serve`` in a separate process, over a small library, and answers with the extractive family.
"""

import asyncio
import json
from collections.abc import Sequence
from pathlib import Path

from bench.figures import Figure, figure, percentile
from bench.libraries import fill_small_library
from bench.serving import CITEWELL, postgres_of, proportional_memory, served
from bench.sse_client import Connection, Timing
from tools.settings import load_settings

QUESTIONS = 50
WARM_UP = 10
MEGABYTE = 1e6


async def run(folder: Path) -> list[Figure]:
    """Ask fifty questions, each in its own session."""
    # If run as root, the account of the embedded server must be able to enter.
    await asyncio.to_thread(folder.chmod, 0o711)
    data = folder / "data"
    questions = await fill_small_library(load_settings(data_dir=data), WARM_UP + QUESTIONS)
    async with served(folder, data, *CITEWELL, "serve", "--port", "0", "--json") as server:
        at_rest = server.bytes()
        postgres = proportional_memory(postgres_of(data))
        timings = await _ask(server.url, questions)
        after = server.bytes()
    first, text, whole = [[getattr(each, name) * 1000 for each in timings] for name in ("first", "text", "whole")]
    return [
        figure("first event p50", percentile(first, 0.5), "ms", at_most=5),
        figure("first event p95", percentile(first, 0.95), "ms"),
        figure("first text p50", percentile(text, 0.5), "ms", at_most=60),
        figure("first text p95", percentile(text, 0.95), "ms"),
        figure("whole answer p50", percentile(whole, 0.5), "ms"),
        figure("citewell serve at rest", at_rest / MEGABYTE, "MB"),
        figure("citewell serve after the questions", after / MEGABYTE, "MB"),
        figure("its embedded PostgreSQL (PSS)", postgres / MEGABYTE, "MB"),
    ]


async def _ask(url: str, questions: Sequence[str]) -> list[Timing]:
    """Return the timings of the questions, except those that warm up the server."""
    connection = await Connection.open(url)
    timings = []
    for question in questions:
        session = json.loads(await connection.post("/api/sessions", {}))
        path = f"/api/sessions/{session['session_id']}/runs"
        timings.append(await connection.stream(path, {"question": question, "search": "always"}))
    connection.close()
    return timings[WARM_UP:]
