"""Servers that stream the scripted answer: how to start each and ask it in its wire format, and its timings."""

import asyncio
import json
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil

from bench.figures import percentile
from bench.serving import Served, cpu_of, served
from bench.sse_client import Connection, Timing

CITEWELL = "Citewell"
SSE_STARLETTE = "sse-starlette"


@dataclass(frozen=True, slots=True)
class Stack:
    """A server: where a conversation is created, if it has them, and where questions go."""

    name: str
    new: str | None
    run: str

    async def conversation(self, connection: Connection) -> str:
        """Create a conversation, if the server has them, and return the path for its questions."""
        if self.new is None:
            return self.run
        made: dict[str, Any] = json.loads(await connection.post(self.new, {}))
        return self.run.format(made["session_id"])

    def asking(self, question: str, script: str = "") -> dict[str, Any]:
        """Return the request body of a question; ``script`` names the script that answers it."""
        return {"question": question, "model": script}

    async def ask(self, connection: Connection, path: str, question: str) -> Timing:
        """Ask a question, and read the answer to its end."""
        return await connection.stream(path, self.asking(question))


OURS = Stack(CITEWELL, "/api/sessions", "/api/sessions/{}/runs")
PLAIN_SSE = Stack(SSE_STARLETTE, None, "/run")


@asynccontextmanager
async def serving(
    stack: Stack, folder: Path, data: Path, *, settings: Mapping[str, str] | None = None
) -> AsyncIterator[Served]:
    """Start a stack's server."""
    module = "bench.scripted_server" if stack is OURS else "bench.scripted_floor"
    async with served(folder, data, "-m", module, settings=settings) as server:
        yield server


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


async def measure(stack: Stack, server: Served, questions: Sequence[str], postgres: psutil.Process) -> Answers:
    """Ask each question in its own conversation, created beforehand; the first ones only warm up the server."""
    connection = await Connection.open(server.url)
    paths = [await stack.conversation(connection) for _ in questions]
    asked = list(zip(paths, questions, strict=True))
    for path, question in asked[:WARM_UP]:
        await stack.ask(connection, path, question)
    used, stored = server.cpu(), cpu_of(postgres)
    timings = [await stack.ask(connection, path, question) for path, question in asked[WARM_UP:]]
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
