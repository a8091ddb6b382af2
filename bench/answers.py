"""What a server takes for an answer: asked one at a time, then eight at a time."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

import psutil

from bench.figures import percentile
from bench.serving import Served, cpu_of
from bench.sse_client import Connection
from bench.stacks import Stack

WARM_UP = 10
QUESTIONS = 50
IN_FLIGHT = 8
ROUNDS = 2


@dataclass(frozen=True, slots=True)
class Answers:
    """Medians in milliseconds of one at a time, CPU in milliseconds a run, and runs a second of eight at a time."""

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
    """Ask each question in a conversation of its own, made beforehand; the first ones only warm the server up."""
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
    """Keep eight runs in flight; give runs a second, and seconds of CPU a run."""
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
