"""Many streams at once: the memory of one that waits, 500 written at a reading pace, and how long text is held.

The client is one process beside the server and PostgreSQL, and has to share the machine's cores with them.
"""

import asyncio
from collections.abc import Sequence
from pathlib import Path

from bench.checked_stream import CheckedStream
from bench.figures import Figure, compared, figure, percentile
from bench.serving import Served
from bench.small_library import fill
from bench.sse_client import Connection
from bench.stacks import BARE, CITEWELL, LANGGRAPH_DEV, OURS, PLAIN_SSE, STUDIO, Stack, serving
from tools.database import open_database
from tools.settings import load_settings

IDLE_STREAMS = 300
AT_A_TIME = 10
PACED_STREAMS = 500
MANY_RUNS = {"CITEWELL_RUNS__MAX_ACTIVE": "1000", "CITEWELL_POOL_TIMEOUT_SECONDS": "30"}
QUESTIONS = 20
KIBIBYTE = 1024
MILLISECOND = 1e6  # in nanoseconds
SECONDS = 120


async def run(folder: Path) -> list[Figure]:
    """Measure each stack in turn, ours last."""
    data = folder / "data"
    settings = load_settings(data_dir=data)
    questions = await fill(settings, QUESTIONS)
    idle: dict[str, float] = {}
    async with open_database(settings):
        for stack in (BARE, PLAIN_SSE, STUDIO, OURS):
            async with serving(stack, folder, data, settings=MANY_RUNS, jobs=IDLE_STREAMS) as server:
                idle[stack.name] = await _idle_bytes(stack, server, questions) / KIBIBYTE
        async with serving(OURS, folder, data, settings=MANY_RUNS) as server:
            held = await _held(server, questions)
            paced = await _paced(OURS, server, questions)
    first = [(each.first - each.asked) / MILLISECOND for each in paced]
    return [
        compared(figure("memory of an idle stream", idle.pop(CITEWELL), "KiB", at_most=80), idle, rival=LANGGRAPH_DEV),
        figure("500 paced streams: events lost or out of order", sum(each.faults for each in paced), "", at_most=0),
        figure("500 paced streams: events", sum(each.events for each in paced), ""),
        figure("500 paced streams: first event p50", percentile(first, 0.5), "ms"),
        figure("500 paced streams: first event p95", percentile(first, 0.95), "ms"),
        figure("500 paced streams: last end", max(each.ended - each.asked for each in paced) / MILLISECOND, "ms"),
        figure("text held, 100 deltas a second, p50", percentile(held, 0.5), "ms"),
        figure("text held, 100 deltas a second, p99", percentile(held, 0.99), "ms", at_most=30),
    ]


async def _idle_bytes(stack: Stack, server: Served, questions: Sequence[str]) -> float:
    """Open streams whose writer waits after its first word, and give the memory that each adds."""
    connection = await Connection.open(server.url)
    for question in questions:
        await stack.ask(connection, await stack.conversation(connection), question)
    before = server.bytes()
    readers: list[CheckedStream] = []
    async with asyncio.timeout(SECONDS):
        while len(readers) < IDLE_STREAMS:  # a few at a time, since it is not the rush that is measured
            readers += (few := await _open(stack, server, questions, "waiting", AT_A_TIME))
            await asyncio.gather(*(each.has_text for each in few))
    assert not any(each.over.done() for each in readers), "a stream that should wait has ended"
    grown = server.bytes() - before
    for each in readers:
        each.close()
    connection.close()
    return grown / IDLE_STREAMS


async def _paced(stack: Stack, server: Served, questions: Sequence[str]) -> list[CheckedStream]:
    """Open all streams at once and read each to its end."""
    readers = await _open(stack, server, questions, "paced", PACED_STREAMS)
    async with asyncio.timeout(SECONDS):
        await asyncio.gather(*(each.over for each in readers))
    for each in readers:
        each.faults += len(each.arrivals) == 0
        each.close()
    return readers


async def _held(server: Served, questions: Sequence[str]) -> list[float]:
    """Give the milliseconds from when the writer wrote each delta to when it reached the client."""
    readers = await _open(OURS, server, questions, "stamped", 1)
    await readers[0].over
    stamps = [(at, stamp) for at, delta in readers[0].arrivals for stamp in delta.split() if stamp.isdigit()]
    return [(at - int(stamp) * 1000) / MILLISECOND for at, stamp in stamps]


async def _open(stack: Stack, server: Served, questions: Sequence[str], script: str, count: int) -> list[CheckedStream]:
    """Connect all readers first, then let all ask at once."""
    connection = await Connection.open(server.url)
    paths = [await stack.conversation(connection) for _ in range(count)]
    connection.close()
    readers = [await CheckedStream.open(server.url) for _ in range(count)]
    for place, (reader, path) in enumerate(zip(readers, paths, strict=True)):
        reader.ask(path, stack.asking(questions[place % len(questions)], script))
    return readers
