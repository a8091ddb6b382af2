"""Open streams: the memory that each adds, and what another question costs and how long it takes beside them.

Half of the streams, up to ``MOST_RUNS``, have a run of their own, and the others are further readers of these.
"""

import asyncio
from collections.abc import Sequence
from pathlib import Path

from bench.figures import percentile
from bench.growth.power_laws import Cost, Growth, tell
from bench.libraries import fill_small_library
from bench.load_bench import MANY_RUNS, MILLISECOND
from bench.serving import Served, running_seconds, used_since
from bench.sse_client import CheckedStream, Connection
from bench.stacks import OURS, serving
from tools.settings import load_settings
from tools.storage.startup import open_database

SIZES = (10, 30, 100, 300, 500, 1000, 2000)
AT_A_TIME = 20
ASKED, RESTS = 5, 3  # further questions at each size
QUESTIONS = 20
PATIENCE_SECONDS = 600
MOST_RUNS = 980  # a process answers 1,000 at once, those asked beside them among them
RESTING_SECONDS = 5.0
KIBIBYTE = 1024


async def measure_streams(folder: Path, most: int) -> list[Growth]:
    """Open streams up to each size, and ask a few more questions there."""
    data = folder / "data"
    settings = load_settings(data_dir=data)
    questions = await fill_small_library(settings, QUESTIONS)
    sizes = [size for size in SIZES if size <= most]
    memory, resting, asking, first, delays = [], [], [], [], []
    async with open_database(settings), serving(OURS, folder, data, settings=MANY_RUNS) as server:
        await _asked(server, questions, "stamped")
        streams, runs, held = list[CheckedStream](), list[str](), 0
        for size in sizes:
            opened = size - len(streams)
            await _open_to(server, questions, streams, runs, size)
            if held:  # what a process allocates once is among the first streams
                memory.append(Cost(size, [max(1.0, server.bytes() - held) / KIBIBYTE / opened]))
            held = server.bytes()
            resting.append(Cost(size, [await _resting(server) for _ in range(RESTS)]))
            spent = [await _spent(server, questions) for _ in range(ASKED)]
            asking.append(Cost(size, spent))
            timed = [await _asked(server, questions, "stamped") for _ in range(ASKED)]
            first.append(Cost(size, [(each.first - each.asked) / MILLISECOND for each in timed]))
            delays.append(Cost(size, [percentile(_delays(each), 0.5) for each in timed]))
            tell(
                f"{size:,} streams", [each for costs in (memory, resting, asking, first, delays) for each in costs[-1:]]
            )
        assert not any(stream.faults or stream.over.done() for stream in streams), "a stream that should wait has ended"
        for stream in streams:
            stream.close()
    return [
        Growth("memory of one more", "KiB", memory),
        Growth("all at rest, a second", "ms of CPU", resting),
        Growth("another question", "ms of CPU", asking),
        Growth("first event of another", "ms", first),
        Growth("delay of its text", "ms", delays),
    ]


async def _open_to(
    server: Served, questions: Sequence[str], streams: list[CheckedStream], runs: list[str], size: int
) -> None:
    connection = await Connection.open(server.url)
    async with asyncio.timeout(PATIENCE_SECONDS):
        while len(streams) < size:
            count = min(AT_A_TIME, size - len(streams))
            asked = [await CheckedStream.open(server.url) for _ in range(min(count // 2, MOST_RUNS - len(runs)))]
            for place, stream in enumerate(asked):
                body = OURS.asking(questions[place % len(questions)], "waiting")
                stream.ask(await OURS.conversation(connection), body)
            await asyncio.gather(*(stream.has_text for stream in asked))
            runs += [str(stream.run_id) for stream in asked]
            followers = [await CheckedStream.open(server.url) for _ in range(count - len(asked))]
            for run_id, follower in zip(runs[-len(followers) :], followers, strict=True):
                follower.follow(f"/api/runs/{run_id}/stream")
            await asyncio.gather(*(stream.has_text for stream in followers))
            streams += [*asked, *followers]
    connection.close()


async def _resting(server: Served) -> float:
    """Return the milliseconds of CPU that the server uses in a second in which nobody asks anything."""
    before = running_seconds(server.process)
    await asyncio.sleep(RESTING_SECONDS)
    return max(0.01, used_since(before, server.process) * 1000 / RESTING_SECONDS)


async def _spent(server: Served, questions: Sequence[str]) -> float:
    before = running_seconds(server.process)
    stream = await _asked(server, questions, "")
    assert stream.arrivals, "the question was not answered"
    return used_since(before, server.process) * 1000


async def _asked(server: Served, questions: Sequence[str], script: str) -> CheckedStream:
    """Ask a question of a script and read its answer to the end."""
    connection = await Connection.open(server.url)
    stream = await CheckedStream.open(server.url)
    stream.ask(await OURS.conversation(connection), OURS.asking(questions[0], script))
    async with asyncio.timeout(PATIENCE_SECONDS):
        await stream.over
    connection.close()
    stream.close()
    return stream


def _delays(stream: CheckedStream) -> list[float]:
    """Return for each delta the milliseconds from the writer to the client."""
    stamps = [(at, stamp) for at, delta in stream.arrivals for stamp in delta.split() if stamp.isdigit()]
    return [(at - int(stamp) * 1000) / MILLISECOND for at, stamp in stamps]
