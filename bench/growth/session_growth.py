"""Turns of a session: the CPU of a turn, the bytes that it leaves, and the CPU to read the whole session."""

import json
import statistics
from collections import defaultdict
from collections.abc import Awaitable, Mapping
from pathlib import Path

from bench.growth.power_laws import Cost, Growth, tell
from bench.libraries import fill_small_library
from bench.serving import postgres_of, running_seconds, used_since
from bench.sse_client import Connection
from bench.stacks import OURS, serving
from tools.settings import load_settings
from tools.storage.database import Database
from tools.storage.startup import open_database

TURNS = (1, 3, 10, 30, 100, 200)
QUESTIONS = 40
SESSIONS, READS = 3, 5
PAGE = 100  # messages
AROUND = 5  # turns up to a size that its CPU is the median of
_BYTES = """
SELECT (SELECT coalesce(sum(pg_column_size(m.*)), 0) FROM messages AS m WHERE session_id::text = %(session)s)
     + (SELECT coalesce(sum(pg_column_size(c.*)), 0) FROM checkpoints AS c WHERE thread_id = %(session)s)
     + (SELECT coalesce(sum(pg_column_size(b.*)), 0) FROM checkpoint_blobs AS b WHERE thread_id = %(session)s)
     + (SELECT coalesce(sum(pg_column_size(w.*)), 0) FROM checkpoint_writes AS w WHERE thread_id = %(session)s)
"""


async def measure_turns(folder: Path) -> list[Growth]:
    """Ask two hundred questions in each of some sessions, one after the other."""
    data = folder / "data"
    settings = load_settings(data_dir=data)
    questions = await fill_small_library(settings, QUESTIONS)
    took: defaultdict[int, list[float]] = defaultdict(list)
    read: defaultdict[int, list[float]] = defaultdict(list)
    kept: defaultdict[int, list[float]] = defaultdict(list)
    async with open_database(settings) as database, serving(OURS, folder, data) as server:
        connection, postgres = await Connection.open(server.url), postgres_of(data)
        for question in questions:  # to warm the server up
            await OURS.ask(connection, await OURS.conversation(connection), question)

        async def spent(work: Awaitable[object]) -> float:
            before = running_seconds(server.process), running_seconds(postgres)
            await work
            return (used_since(before[0], server.process) + used_since(before[1], postgres)) * 1000

        for _ in range(SESSIONS):
            path = await OURS.conversation(connection)
            session_id, turns = path.split("/")[3], list[float]()
            whole = f"/api/sessions/{session_id}?limit={PAGE}"
            for turn in range(1, max(TURNS) + 1):
                question = questions[turn % len(questions)]
                turns.append(await spent(OURS.ask(connection, path, question)))
                if turn in TURNS:
                    took[turn].append(statistics.median(turns[-AROUND:]))
                    reads = [await spent(_read(connection, whole)) for _ in range(READS)]
                    read[turn].append(statistics.median(reads))
                    kept[turn].append(await _kept(database, session_id) / turn / 1024)
                    tell(f"{turn} turns", [Cost(turn, found[turn]) for found in (took, read, kept)])
        connection.close()
    return [
        Growth("a turn", "ms of CPU", _costs(took)),
        Growth("reading the session", "ms of CPU", _costs(read)),
        Growth("bytes a turn keeps", "KiB", _costs(kept)),
    ]


def _costs(found: Mapping[int, list[float]]) -> list[Cost]:
    return [Cost(turn, values) for turn, values in found.items()]


async def _read(connection: Connection, path: str) -> None:
    """Read the whole session, page by page."""
    cursor = json.loads(await connection.get(path))["next_cursor"]
    while cursor is not None:
        cursor = json.loads(await connection.get(f"{path}&cursor={cursor}"))["next_cursor"]


async def _kept(database: Database, session_id: str) -> float:
    async with database.connection() as connection:
        row = await (await connection.execute(_BYTES, {"session": session_id})).fetchone()
    assert row is not None
    return float(row[0])
