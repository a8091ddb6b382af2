"""Benchmark of LangGraph's own development server beside ours: the same graph, library, questions and client.

Both are asked through LangGraph's SDK, each question in a thread of its own, and answer with the extractive family.
`citewell serve` stores every event of a run before it is sent; `langgraph dev` keeps runs in memory.
"""

import asyncio
import shutil
import socket
import sys
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import psutil
from langgraph_sdk import get_client

from bench.figures import Figure, NotAvailable, compared, figure, percentile
from bench.libraries import fill_small_library
from bench.serving import CITEWELL, ROOT, Served, served, started
from tools.settings import load_settings

WARM_UP = 10
QUESTIONS = 50
STARTUP_SECONDS = 120
SEARCHING = {"search": "always"}
MODES: Any = ["values", "messages-tuple"]
QUIET = {"LANGSMITH_TRACING": "false", "LANGGRAPH_CLI_NO_ANALYTICS": "1"}


async def run(folder: Path) -> list[Figure]:
    """Ask both the same questions, one after the other."""
    program = Path(sys.executable).with_name("langgraph")
    if not program.exists():
        raise NotAvailable("langgraph-cli is not installed")
    data = folder / "data"
    questions = await fill_small_library(load_settings(data_dir=data), WARM_UP + QUESTIONS)
    async with served(folder, data, *CITEWELL, "serve", "--port", "0", "--json") as server:
        ours = await _asked(server, f"{server.url}/langgraph", questions)
    shutil.copy(ROOT / "langgraph.json", folder)
    async with _development_server(folder, data, program) as server:
        theirs = await _asked(server, server.url, questions)
    return [
        compared(figure(name, mine, unit), {"langgraph dev": other})
        for (name, mine, unit), (_, other, _) in zip(ours, theirs, strict=True)
    ]


@asynccontextmanager
async def _development_server(folder: Path, data: Path, program: Path) -> AsyncIterator[Served]:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    command = ("dev", "--no-browser", "--no-reload", "--host", "127.0.0.1", "--port", str(port))
    async with started(folder, data, str(program), *command, settings=QUIET) as process:
        assert process.stdout is not None
        log = asyncio.create_task(process.stdout.read())  # else the server waits for its log to be read
        url, deadline = f"http://127.0.0.1:{port}", time.monotonic() + STARTUP_SECONDS
        async with httpx.AsyncClient() as client:
            while True:
                try:
                    if (await client.get(f"{url}/ok")).is_success:
                        break
                except httpx.HTTPError:
                    if process.returncode is not None or time.monotonic() > deadline:
                        raise NotAvailable("langgraph dev does not start") from None
        yield Served(url, psutil.Process(process.pid))
    await log


async def _asked(server: Served, url: str, questions: Sequence[str]) -> list[tuple[str, float, str]]:
    """Return the median milliseconds to the first event, the first text and the end, and the CPU of a run."""
    times: list[tuple[float, float, float]] = []
    async with get_client(url=url, api_key=None) as client:
        for place, question in enumerate(questions):
            thread = (await client.threads.create())["thread_id"]
            if place == WARM_UP:
                used = server.cpu()
            began, seen = time.perf_counter(), dict[str, float]()
            asked: dict[str, Any] = {"messages": [{"type": "human", "content": question}]}
            async for part in client.runs.stream(thread, "citewell", input=asked, context=SEARCHING, stream_mode=MODES):
                seen.setdefault(part.event.partition("/")[0], time.perf_counter() - began)
            times.append((min(seen.values()), seen["messages"], time.perf_counter() - began))
    first, text, whole = zip(*times[WARM_UP:], strict=True)
    cpu = (server.cpu() - used) / QUESTIONS
    named = (("first event p50", first), ("first text p50", text), ("whole answer p50", whole))
    return [
        *((name, 1000 * percentile(list(values), 0.5), "ms") for name, values in named),
        ("CPU of a run", 1000 * cpu, "ms"),
        ("memory after the questions", server.bytes() / 1e6, "MB"),
    ]
