"""Benchmark of many concurrent streams: memory of an idle one, 500 at reading pace, and the delay of text.

The client is one process next to the server and PostgreSQL, and shares the machine's cores with them.
"""

import asyncio
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

from bench.figures import Figure, compared, figure, percentile
from bench.libraries import fill_small_library
from bench.serving import Served
from bench.sse_client import CheckedStream, Connection
from bench.stacks import CITEWELL, OURS, PLAIN_SSE, Stack, serving
from tools.settings import load_settings
from tools.storage.startup import open_database

IDLE_STREAMS = 300
AT_A_TIME = 20
PACED_STREAMS = 500
MANY_RUNS = {"CITEWELL_RUNS__MAX_ACTIVE": "1000", "CITEWELL_POOL_TIMEOUT_SECONDS": "30"}
QUESTIONS = 20
KIBIBYTE = 1024
MILLISECOND, SECOND = 1e6, 1e9  # in nanoseconds
PATIENCE_SECONDS = 90


async def run(folder: Path) -> list[Figure]:
    """Measure the floor, then ours."""
    data = folder / "data"
    questions = await fill_small_library(settings := load_settings(data_dir=data), QUESTIONS)
    idle: dict[str, float] = {}
    paced: dict[str, list[CheckedStream]] = {}
    async with open_database(settings):
        for stack in (PLAIN_SSE, OURS):
            async with serving(stack, folder, data, settings=MANY_RUNS) as server:
                idle[stack.name], reader = await _idle_memory(stack, server, questions)
            async with serving(stack, folder, data, settings=MANY_RUNS) as server:
                delays = await _delays(server, questions) if stack is OURS else []
                paced[stack.name] = await _paced(stack, server, questions)
    return [
        _row("memory of an idle stream, its run included", "KiB", idle, at_most=80),
        figure("memory of another idle stream of the same run", reader, "KiB"),
        _row("500 paced streams: lost or out of order", "", _each(paced, _faults), at_most=0),
        _row("500 paced streams: first event p50", "ms", _each(paced, lambda streams: _first(streams, 0.5))),
        _row("500 paced streams: first event p95", "ms", _each(paced, lambda streams: _first(streams, 0.95))),
        _row("500 paced streams: the last one ends", "s", _each(paced, _last)),
        figure("text held, 100 deltas a second, p50", percentile(delays, 0.5), "ms"),
        figure("text held, 100 deltas a second, p99", percentile(delays, 0.99), "ms", at_most=30),
    ]


def _row(name: str, unit: str, found: dict[str, float], *, at_most: float | None = None) -> Figure:
    others = {stack: value for stack, value in found.items() if stack != CITEWELL}
    return compared(figure(name, found[CITEWELL], unit, at_most=at_most), others)


def _each(paced: dict[str, list[CheckedStream]], measure: Callable[[list[CheckedStream]], float]) -> dict[str, float]:
    return {stack: measure(streams) for stack, streams in paced.items()}


def _faults(streams: list[CheckedStream]) -> float:
    return sum(stream.faults for stream in streams)


def _first(streams: list[CheckedStream], share: float) -> float:
    return percentile([(stream.first - stream.asked) / MILLISECOND for stream in streams], share)


def _last(streams: list[CheckedStream]) -> float:
    return max(stream.ended - stream.asked for stream in streams) / SECOND


async def _idle_memory(stack: Stack, server: Served, questions: Sequence[str]) -> tuple[float, float]:
    """Return the KiB of memory that an idle stream adds, and that a second reader of it adds.

    The writer of an idle stream waits after its first word. Only our streams can be read twice; for others the second
    figure has no meaning.
    """
    connection = await Connection.open(server.url)
    for question in questions:
        await stack.ask(connection, await stack.conversation(connection), question)
    connection.close()
    before = server.bytes()
    readers: list[CheckedStream] = []
    while len(readers) < IDLE_STREAMS:  # a few at a time, to measure idle streams rather than the rush
        readers += await _waiting(await _open(stack, server, questions, "waiting", AT_A_TIME))
    opened = server.bytes()
    second_readers: list[CheckedStream] = []
    for first in readers if stack is OURS else ():
        second_readers.append(await CheckedStream.open(server.url))
        second_readers[-1].follow(f"/api/runs/{first.run_id}/stream")
        await _waiting(second_readers[-1:])
    reread = server.bytes()
    for each in (*second_readers, *readers):
        each.close()
    return (opened - before) / IDLE_STREAMS / KIBIBYTE, (reread - opened) / IDLE_STREAMS / KIBIBYTE


async def _waiting(streams: list[CheckedStream]) -> list[CheckedStream]:
    """Wait for the first word of each stream. Raises AssertionError if one has ended."""
    async with asyncio.timeout(PATIENCE_SECONDS):
        await asyncio.gather(*(each.has_text for each in streams))
    assert not any(each.over.done() for each in streams), "a stream that should wait has ended"
    return streams


async def _paced(stack: Stack, server: Served, questions: Sequence[str]) -> list[CheckedStream]:
    """Open all streams at once and read each to its end; a stream without text or without an end counts as a fault."""
    readers = await _open(stack, server, questions, "paced", PACED_STREAMS)
    with suppress(TimeoutError):
        async with asyncio.timeout(PATIENCE_SECONDS):
            await asyncio.gather(*(each.over for each in readers))
    for each in readers:
        each.faults += not each.over.done() or not each.arrivals
        each.ended = each.ended or time.monotonic_ns()
        each.close()
    return readers


async def _delays(server: Served, questions: Sequence[str]) -> list[float]:
    """Return for each delta the milliseconds from the writer to the client."""
    readers = await _open(OURS, server, questions, "stamped", 1)
    await readers[0].over
    stamps = [(at, stamp) for at, delta in readers[0].arrivals for stamp in delta.split() if stamp.isdigit()]
    return [(at - int(stamp) * 1000) / MILLISECOND for at, stamp in stamps]


async def _open(stack: Stack, server: Served, questions: Sequence[str], script: str, count: int) -> list[CheckedStream]:
    """Connect all readers first, then send all questions at once."""
    connection = await Connection.open(server.url)
    paths = [await stack.conversation(connection) for _ in range(count)]
    connection.close()
    readers = [await CheckedStream.open(server.url) for _ in range(count)]
    for place, (reader, path) in enumerate(zip(readers, paths, strict=True)):
        reader.ask(path, stack.asking(questions[place % len(questions)], script))
    return readers
