"""Benchmark of the log of runs: durable commits a second of 16 writers, and what it costs to take old events away.

The writers share the bench's process, each with a connection of its own, and commit one event of 200 bytes at a time by
the log's own statement. The floor is the same row by a bare INSERT. Rounds of all kinds take turns, so that what else
happens on the machine slows them alike; figures are medians.
"""

import asyncio
import statistics
import time
from collections import defaultdict
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from pathlib import Path
from uuid import UUID, uuid4

import psycopg
from psycopg.types.numeric import Int4

from bench.figures import Figure, compared, figure
from graph.evidence import Identity
from tools.runs.carriers import PostgresCarrier
from tools.runs.event_writer import WRITE_EVENTS
from tools.runs.log_days import expire_events, new_run_id
from tools.runs.notifications import Notifications
from tools.sessions.session_store import Sessions
from tools.settings import load_settings
from tools.storage.database import Connection, Database
from tools.storage.startup import open_database
from tools.storage.tenants import Workspaces

WRITERS = 16
SECONDS = 3.0
ROUNDS = 5
EVENT = "x" * 200
OLD_RUNS, EVENTS_OF_RUN = 5_000, 100
MEGABYTE = 1e6

BEFORE = """
CREATE TABLE events_before (
    run_id uuid NOT NULL REFERENCES runs ON DELETE CASCADE, seq integer NOT NULL, type text NOT NULL,
    payload text NOT NULL, created_at timestamptz NOT NULL DEFAULT now(), PRIMARY KEY (run_id, seq)
);
CREATE INDEX ON events_before USING brin (created_at);
CREATE TABLE events_floor (LIKE events_before INCLUDING ALL)
"""
FLOOR = """
INSERT INTO events_floor (run_id, seq, type, payload)
SELECT * FROM unnest(%(of)b::uuid[], %(seqs)b::int4[], %(types)b::text[], %(payloads)b::text[])
"""
TABLE_BEFORE = WRITE_EVENTS.replace("run_events", "events_before")
IN_COMMIT = WRITE_EVENTS.replace("SELECT array(", "SELECT pg_notify('bench', %(runs)s::text), array(").replace(
    "%(runs)s::text", "(SELECT run_id::text FROM mine)"
)
ENTER = """
INSERT INTO runs (run_id, session_id, workspace, "user", question, status)
SELECT %s, session_id, workspace, "user", 'Q', 'running' FROM sessions WHERE session_id = %s
"""
OLD = """
WITH old AS (
    INSERT INTO runs (run_id, session_id, workspace, "user", question, status, outcome, stop_reason, finished_at)
    SELECT CASE WHEN %(by_day)s THEN overlay(gen_random_uuid()::text PLACING
               left(first_run_id((now() AT TIME ZONE 'UTC')::date - 3)::text, 13) FROM 1 FOR 13)::uuid
           ELSE gen_random_uuid() END,
           session_id, workspace, "user", 'Q', 'finished', 'failed', 'x', now() - interval '50 hours'
    FROM (SELECT * FROM sessions LIMIT 1) AS one, generate_series(1, %(runs)s)
    RETURNING run_id
)
INSERT INTO run_events (run_id, seq, type, payload, created_at)
SELECT run_id, seq, 'text_delta', %(event)s, now() - interval '50 hours' FROM old, generate_series(1, %(events)s) AS seq
"""

SIZE = "SELECT sum(pg_total_relation_size(relid)) FROM pg_partition_tree('run_events')"
WAL = "SELECT pg_current_wal_lsn() - '0/0'::pg_lsn"

Commit = Callable[[int], Awaitable[object]]


async def run(folder: Path) -> list[Figure]:
    """Measure commits in each way, then the sweep of half a million events in each way."""
    async with open_database(load_settings(data_dir=folder / "data")) as database:
        rates = await _rates(database)
        deleted, dropped = [await _sweep(database, by_day=by_day) for by_day in (False, True)]
    beside = {
        "one INSERT": rates["floor"],
        "before: one table, foreign key": rates["before"],
        "NOTIFY in the commit": rates["in commit"],
    }
    names = ("sweep of 500,000 events", "WAL of the sweep", "left on disk after it")
    units = ("s", "MB", "MB")
    return [
        figure("durable commits of 16 writers, nobody notified", rates["log"], "1/s"),
        compared(
            figure("with the notifier", rates["notifier"], "1/s"), beside, rival="NOTIFY in the commit", more=True
        ),
        *(
            compared(figure(name, drop, unit), {"deleted": delete}, rival="deleted")
            for name, drop, delete, unit in zip(names, dropped, deleted, units, strict=True)
        ),
    ]


async def _rates(database: Database) -> dict[str, float]:
    sessions = Sessions(database, Workspaces(database))
    run_ids = [new_run_id() for _ in range(WRITERS)]
    async with database.connection() as connection:
        await connection.execute(BEFORE)
        for run_id in run_ids:
            await connection.execute(ENTER, [run_id, (await sessions.create(Identity())).session_id])
    found: defaultdict[str, list[float]] = defaultdict(list)
    owner = str(uuid4())
    telling, told = [Notifications(PostgresCarrier(database.url), owner=owner) for _ in range(2)]
    async with AsyncExitStack() as stack:
        connections = [
            await stack.enter_async_context(await psycopg.AsyncConnection.connect(database.url, autocommit=True))
            for _ in range(WRITERS)
        ]
        wakeup = stack.enter_context(told.subscribe(run_ids[0]))
        stack.enter_context(telling.subscribe(""))  # or it would not hear that it is followed
        follow = stack.enter_context(told.following(wakeup))
        seqs = [0] * WRITERS

        def committing(statement: str, *, notified: bool = False) -> Commit:
            async def commit(writer: int) -> None:
                seqs[writer] += 1
                run_id = UUID(run_ids[writer])
                row = {
                    **{"runs": [run_id], "attempts": [Int4(1)], "of": [run_id], "seqs": [Int4(seqs[writer])]},
                    **{"types": ["text_delta"], "payloads": [EVENT]},
                }
                await connections[writer].execute(statement.encode(), row)
                if notified:
                    telling.notify_followers(run_ids[writer])

            return commit

        ways = {
            "floor": committing(FLOOR),
            "before": committing(TABLE_BEFORE),
            "log": committing(WRITE_EVENTS),
            "notifier": committing(WRITE_EVENTS, notified=True),
            "in commit": committing(IN_COMMIT),
        }
        for _ in range(ROUNDS):
            for way, commit in ways.items():
                follow(owner)
                found[way].append(await _rate(commit))
    await telling.close()
    await told.close()
    return {way: statistics.median(rates) for way, rates in found.items()}


async def _rate(commit: Commit) -> float:
    until = time.perf_counter() + SECONDS

    async def write(writer: int) -> int:
        commits = 0
        while time.perf_counter() < until:
            await commit(writer)
            commits += 1
        return commits

    return sum(await asyncio.gather(*map(write, range(WRITERS)))) / SECONDS


async def _sweep(database: Database, *, by_day: bool) -> tuple[float, float, float]:
    """Return the seconds of a sweep, the megabytes of WAL that it wrote, and those that the log still has on disk."""
    async with database.connection() as connection:
        if by_day:
            await connection.execute("SELECT add_log_day((now() AT TIME ZONE 'UTC')::date - 3)")
        row = {"by_day": by_day, "runs": OLD_RUNS, "events": EVENTS_OF_RUN, "event": EVENT}
        before = await _number(connection, SIZE)
        await connection.execute(OLD, row)
        await connection.execute("VACUUM ANALYZE run_events, runs")  # as it has been long before, in a deployment
        await connection.execute("CHECKPOINT")
        at = await _number(connection, WAL)
        began = time.perf_counter()
        assert await expire_events(connection) == OLD_RUNS * EVENTS_OF_RUN
        took = time.perf_counter() - began
        wal = await _number(connection, WAL) - at
        after = await _number(connection, SIZE)
    return took, wal / MEGABYTE, max(0.0, after - before) / MEGABYTE


async def _number(connection: Connection, query: str) -> float:
    row = await (await connection.execute(query.encode())).fetchone()
    assert row is not None
    return float(row[0])
