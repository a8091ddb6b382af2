"""Turns of one session: the time of a turn, the bytes that it leaves, and the time to read the whole session."""

import json
import time
from pathlib import Path

from bench.growth.power_laws import Cost, Growth
from bench.libraries import fill_small_library
from bench.sse_client import Connection
from bench.stacks import OURS, serving
from tools.settings import Settings, load_settings
from tools.storage.startup import open_database

TURNS = (1, 3, 10, 30, 100, 200)
QUESTIONS = 40
READS = 7
PAGE = 100  # messages
AROUND = 3  # turns up to a size that its time is the median of
_BYTES = """
SELECT (SELECT coalesce(sum(pg_column_size(m.*)), 0) FROM messages AS m WHERE session_id::text = %(session)s)
     + (SELECT coalesce(sum(pg_column_size(c.*)), 0) FROM checkpoints AS c WHERE thread_id = %(session)s)
     + (SELECT coalesce(sum(pg_column_size(b.*)), 0) FROM checkpoint_blobs AS b WHERE thread_id = %(session)s)
     + (SELECT coalesce(sum(pg_column_size(w.*)), 0) FROM checkpoint_writes AS w WHERE thread_id = %(session)s)
"""


async def measure_turns(folder: Path) -> list[Growth]:
    """Ask two hundred questions in one session, one after the other."""
    settings = load_settings(data_dir=folder / "data")
    questions = await fill_small_library(settings, QUESTIONS)
    turns: list[float] = []
    read, kept = [], []
    async with serving(OURS, folder, folder / "data") as server:
        connection = await Connection.open(server.url)
        for question in questions[:3]:  # to warm the server up
            await OURS.ask(connection, await OURS.conversation(connection), question)
        path = await OURS.conversation(connection)
        session_id = path.split("/")[3]
        for turn in range(1, max(TURNS) + 1):
            timing = await OURS.ask(connection, path, questions[turn % len(questions)])
            turns.append(timing.whole * 1000)
            if turn in TURNS:
                read.append(Cost(turn, await _reads(connection, f"/api/sessions/{session_id}?limit={PAGE}")))
                kept.append(Cost(turn, [await _kept(settings, session_id) / turn / 1024]))
        connection.close()
    took = [Cost(turn, turns[max(0, turn - AROUND) : turn]) for turn in TURNS]
    return [
        Growth("a turn", "ms", took),
        Growth("reading the session", "ms", read),
        Growth("bytes a turn keeps", "KiB", kept),
    ]


async def _reads(connection: Connection, path: str) -> list[float]:
    """Return the milliseconds in which the whole session is read, page by page."""
    took = []
    for _ in range(READS):
        began = time.perf_counter()
        cursor = json.loads(await connection.get(path))["next_cursor"]
        while cursor is not None:
            cursor = json.loads(await connection.get(f"{path}&cursor={cursor}"))["next_cursor"]
        took.append((time.perf_counter() - began) * 1000)
    return took


async def _kept(settings: Settings, session_id: str) -> float:
    async with open_database(settings) as database, database.connection() as connection:
        row = await (await connection.execute(_BYTES, {"session": session_id})).fetchone()
    assert row is not None
    return float(row[0])
