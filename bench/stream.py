"""Time to the first event and the first text of an answer, as a client sees it, and what a server at rest takes.

The server is ``citewell serve`` in a process of its own, over a small library, and answers by the extractive family.
Beside it stands the floor: the same uvicorn over a bare sse-starlette endpoint that has nothing to do.
"""

import asyncio
import json
import os
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import psutil

from bench.corpus import Corpus
from bench.figures import Figure, figure, percentile
from bench.sse_client import Connection, Timing
from graph.evidence import Identity
from tools.ingestion import NewDocument
from tools.resources import open_library
from tools.settings import Settings, load_settings

ROOT = Path(__file__).parents[1]
DOCUMENTS = 50
QUESTIONS = 50
WARM_UP = 10
MEGABYTE = 1e6
SERVE = "from cli.main import main; main()"


async def run(folder: Path) -> list[Figure]:
    """Ask fifty questions, each in a session of its own, and the floor as often."""
    # As root, the embedded server's own account passes through.
    await asyncio.to_thread(folder.chmod, 0o711)
    data = folder / "data"
    questions = await _fill(load_settings(data_dir=data))
    async with _server(folder, data, "-c", SERVE, "serve", "--port", "0", "--json") as (process, url):
        at_rest = psutil.Process(process.pid).memory_info().rss
        postgres = _postgres_bytes(data)
        told = await _ask(url, questions)
        after = psutil.Process(process.pid).memory_info().rss
    async with _server(folder, data, "-m", "bench.bare_sse") as (_, url):
        bare = await _ask_bare(url)
    first, text, whole = [[getattr(each, name) * 1000 for each in told] for name in ("first", "text", "whole")]
    floor = [each.first * 1000 for each in bare]
    return [
        figure("first event p50", percentile(first, 0.5), "ms", at_most=5),
        figure("first event p95", percentile(first, 0.95), "ms"),
        figure("first event p50, bare sse-starlette", percentile(floor, 0.5), "ms"),
        figure("first text p50", percentile(text, 0.5), "ms", at_most=60),
        figure("first text p95", percentile(text, 0.95), "ms"),
        figure("whole answer p50", percentile(whole, 0.5), "ms"),
        figure("citewell serve at rest", at_rest / MEGABYTE, "MB"),
        figure("citewell serve after the questions", after / MEGABYTE, "MB"),
        figure("its embedded PostgreSQL (PSS)", postgres / MEGABYTE, "MB"),
    ]


async def _fill(settings: Settings) -> list[str]:
    """Ingest a small library, and make questions for some of its segments."""
    corpus = Corpus(7)
    documents = list(corpus.documents(DOCUMENTS))
    new = [NewDocument(document_id=each.document_id, title=each.title, text=each.text) for each in documents]
    async with open_library(settings) as library:
        async for report in library.ingestor.ingest_many(Identity(), new):
            if report.status == "refused":
                raise AssertionError(report.reason)
    bodies = [body for document in documents for body in document.bodies()]
    return [corpus.question(body) for body in bodies[:: len(bodies) // (QUESTIONS + WARM_UP)]][: QUESTIONS + WARM_UP]


async def _ask(url: str, questions: Sequence[str]) -> list[Timing]:
    """Time the questions but for those that warm the server up."""
    connection = await Connection.open(url)
    timings = []
    for question in questions:
        session = json.loads(await connection.post("/api/sessions", {}))
        path = f"/api/sessions/{session['session_id']}/runs"
        timings.append(await connection.stream(path, {"question": question, "search": "always"}))
    connection.close()
    return timings[WARM_UP:]


async def _ask_bare(url: str) -> list[Timing]:
    connection = await Connection.open(url)
    timings = [await connection.stream("/run", {"question": "Why?"}) for _ in range(WARM_UP + QUESTIONS)]
    connection.close()
    return timings[WARM_UP:]


@asynccontextmanager
async def _server(folder: Path, data: Path, *command: str) -> AsyncIterator[tuple[Process, str]]:
    """Start a server that says its address as JSON on its first line, and stop it."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("CITEWELL_", "OPENAI_"))}
    environment = {**kept, "CITEWELL_DATA_DIR": str(data), "CITEWELL_LOG_LEVEL": "warning", "PYTHONPATH": str(ROOT)}
    process = await asyncio.create_subprocess_exec(sys.executable, *command, stdout=PIPE, cwd=folder, env=environment)
    try:
        yield process, await _address(process)
    finally:
        process.terminate()
        await process.wait()


async def _address(process: Process) -> str:
    assert process.stdout is not None
    said = b""
    while not said.rstrip().endswith(b"}"):
        line = await process.stdout.readline()
        assert line, "the server ended before it listened"
        said += line
    return str(json.loads(said)["url"])


def _postgres_bytes(data: Path) -> int:
    """Add up the memory of the embedded server, shared pages counted once."""
    first = int((data / "postgres" / "postmaster.pid").read_text().splitlines()[0])
    server = psutil.Process(first)
    return sum(each.memory_full_info().pss for each in [server, *server.children(recursive=True)])
