"""Servers that stream the scripted answer: how to start each and ask it in its wire format, and its timings."""

import asyncio
import json
import socket
import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil

from bench.figures import percentile
from bench.scripted_graph import CONFIGURATION
from bench.serving import Served, cpu_of, served, started
from bench.sse_client import Connection, Timing

CITEWELL = "Citewell"
LANGGRAPH_DEV = "langgraph dev"
GRAPH_ALONE = "graph alone"
SSE_STARLETTE = "sse-starlette"
BARE_ASGI = "bare ASGI"
STARTUP_SECONDS = 60


@dataclass(frozen=True, slots=True)
class Stack:
    """A wire format: where a conversation is created, where questions go, and how a reply marks text."""

    name: str
    new: str | None
    run: str
    text_in: bytes

    async def conversation(self, connection: Connection) -> str:
        """Create a conversation, if the server has them, and return the path for its questions."""
        if self.new is None:
            return self.run
        made: dict[str, Any] = json.loads(await connection.post(self.new, {}))
        return self.run.format(made.get("session_id") or made["thread_id"])

    def asking(self, question: str, script: str = "") -> dict[str, Any]:
        """Return the request body of a question; ``script`` names the script that answers it."""
        if self.name != LANGGRAPH_DEV:
            return {"question": question, "model": script}
        return {
            "assistant_id": "citewell",
            "input": {"question": question},
            "context": {"model": script},
            "stream_mode": ["custom"],
        }

    async def ask(self, connection: Connection, path: str, question: str) -> Timing:
        """Ask a question, and read the answer to its end."""
        return await connection.stream(path, self.asking(question), text_in=self.text_in)


OURS = Stack(CITEWELL, "/api/sessions", "/api/sessions/{}/runs", b"event: text_delta\n")
STUDIO = Stack(LANGGRAPH_DEV, "/threads", "/threads/{}/runs/stream", b'"type":"text_delta"')
PLAIN_SSE = Stack(SSE_STARLETTE, None, "/run", b"event: text_delta\n")
BARE = Stack(BARE_ASGI, None, "/run", b"event: text_delta\n")


@asynccontextmanager
async def serving(
    stack: Stack, folder: Path, data: Path, *, settings: Mapping[str, str] | None = None, jobs: int = 10
) -> AsyncIterator[Served]:
    """Start a stack's server; ``jobs`` bounds the concurrent runs of ``langgraph dev``."""
    if stack is STUDIO:
        async with langgraph_dev(folder, data, jobs, settings or {}) as server:
            yield server
        return
    floor = {PLAIN_SSE.name: "sse", BARE.name: "asgi"}.get(stack.name)
    command = ["-m", "bench.scripted_floor", floor] if floor else ["-m", "bench.scripted_server"]
    async with served(folder, data, *command, settings=settings) as server:
        yield server


@asynccontextmanager
async def langgraph_dev(folder: Path, data: Path, jobs: int, settings: Mapping[str, str]) -> AsyncIterator[Served]:
    """Start the LangGraph development server on the graph; its files are deleted with its folder."""
    home = folder / "langgraph"
    home.mkdir(exist_ok=True)
    (home / "langgraph.json").write_text(json.dumps(CONFIGURATION))
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    command = [str(Path(sys.executable).with_name("langgraph")), "dev", "--no-browser", "--no-reload"]
    command += ["--host", "127.0.0.1", "--port", str(port), "--n-jobs-per-worker", str(jobs)]
    quiet = {"LANGSMITH_TRACING": "false", "LANGGRAPH_CLI_NO_ANALYTICS": "1", "LOG_LEVEL": "ERROR", **settings}
    with (home / "log").open("wb") as log:
        async with started(home, data, *command, settings=quiet, out=log) as process:
            url = f"http://127.0.0.1:{port}"
            async with asyncio.timeout(STARTUP_SECONDS):
                while not await _is_up(url):  # noqa: ASYNC110 - another process has no event to wait for
                    await asyncio.sleep(0.1)
            yield Served(url, psutil.Process(process.pid))


async def _is_up(url: str) -> bool:
    try:
        connection = await Connection.open(url)
    except OSError:
        return False
    try:
        await connection.get("/ok")
    except (AssertionError, OSError, asyncio.IncompleteReadError):
        return False
    finally:
        connection.close()
    return True


WARM_UP = 10
QUESTIONS = 50
IN_FLIGHT = 8
ROUNDS = 2


@dataclass(frozen=True, slots=True)
class Answers:
    """Medians in milliseconds of runs one at a time, CPU milliseconds per run, and runs per second at eight at once."""

    first: float
    first_p95: float
    text: float
    whole: float
    frames: float
    cpu: float
    postgres: float
    rate: float
    busy_cpu: float


async def measure(
    stack: Stack, server: Served, questions: Sequence[str], postgres: psutil.Process, *, warm_up: int = WARM_UP
) -> Answers:
    """Ask each question in its own conversation, created beforehand; the first ones only warm up the server."""
    connection = await Connection.open(server.url)
    paths = [await stack.conversation(connection) for _ in questions]
    asked = list(zip(paths, questions, strict=True))
    for path, question in asked[:warm_up]:
        await stack.ask(connection, path, question)
    used, stored = server.cpu(), cpu_of(postgres)
    timings = [await stack.ask(connection, path, question) for path, question in asked[warm_up:]]
    used, stored = server.cpu() - used, cpu_of(postgres) - stored
    rate, busy = await _at_once(stack, server, questions, connection)
    connection.close()
    first, text, whole = [[getattr(each, name) * 1000 for each in timings] for name in ("first", "text", "whole")]
    return Answers(
        first=percentile(first, 0.5),
        first_p95=percentile(first, 0.95),
        text=percentile(text, 0.5),
        whole=percentile(whole, 0.5),
        frames=percentile([each.frames for each in timings], 0.5),
        cpu=used / len(timings) * 1000,
        postgres=stored / len(timings) * 1000,
        rate=rate,
        busy_cpu=busy * 1000,
    )


async def _at_once(
    stack: Stack, server: Served, questions: Sequence[str], connection: Connection
) -> tuple[float, float]:
    """Keep eight runs in flight; return the runs per second, and the seconds of CPU per run."""
    waiting = [(await stack.conversation(connection), question) for _ in range(ROUNDS) for question in questions]
    count = len(waiting)

    async def one_after_another() -> None:
        own = await Connection.open(server.url)
        while waiting:
            path, question = waiting.pop()
            await stack.ask(own, path, question)
        own.close()

    loop, used = asyncio.get_running_loop(), server.cpu()
    began = loop.time()
    await asyncio.gather(*(one_after_another() for _ in range(IN_FLIGHT)))
    return count / (loop.time() - began), (server.cpu() - used) / count
