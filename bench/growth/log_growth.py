"""The log of runs: PostgreSQL's CPU of a commit among ever more events of the day, and of the sweep of a day."""

from pathlib import Path
from uuid import UUID

from psycopg.types.numeric import Int4

from bench.common_bench import cpu_seconds
from bench.growth.power_laws import Cost, Growth, tell
from bench.log_bench import ENTER, EVENT, EVENTS_OF_RUN, OLD
from graph.evidence import Identity
from tools.runs.event_writer import WRITE_EVENTS
from tools.runs.log_days import expire_events, new_run_id
from tools.sessions.session_store import Sessions
from tools.settings import load_settings
from tools.storage.database import Connection
from tools.storage.startup import open_database
from tools.storage.tenants import Workspaces

SIZES = (10_000, 30_000, 100_000, 300_000, 1_000_000, 3_000_000)
COMMITS = 200
ROUNDS = 3
FILLED_AT_ONCE = 50_000
_FILL = """
INSERT INTO run_events (run_id, seq, type, payload)
SELECT run_id, seq, 'text_delta', %s FROM unnest(%s::uuid[]) AS run_id, generate_series(1, %s) AS seq
"""
_FIRST_EVENTS = "SELECT add_log_day((now() AT TIME ZONE 'UTC')::date - 3)"


async def measure_log(folder: Path, most: int) -> list[Growth]:
    """Fill today's part of the log up to each size, and sweep a day of that size."""
    commits, sweeps = [], []
    async with open_database(load_settings(data_dir=folder / "data")) as database:
        session_id = (await Sessions(database, Workspaces(database)).create(Identity())).session_id
        async with database.connection() as connection:
            present = 0
            for size in (size for size in SIZES if size <= most):
                await _fill(connection, size - present)
                present = size
                commits.append(Cost(size, [await _commit(connection, session_id) for _ in range(ROUNDS)]))
                sweeps.append(Cost(size, [await _sweep(connection, size) for _ in range(ROUNDS)]))
                tell(f"{size:,} events", [commits[-1], sweeps[-1]])
    return [Growth("a commit", "ms of CPU", commits), Growth("the sweep of a day", "ms of CPU", sweeps)]


async def _fill(connection: Connection, events: int) -> None:
    for start in range(0, events, FILLED_AT_ONCE):
        runs = min(FILLED_AT_ONCE, events - start) // EVENTS_OF_RUN
        await connection.execute(_FILL, [EVENT, [new_run_id() for _ in range(runs)], EVENTS_OF_RUN])
    await connection.execute("VACUUM ANALYZE run_events")


async def _commit(connection: Connection, session_id: str) -> float:
    """Return the milliseconds of CPU of a commit of one event, on average over some of them."""
    run_id = new_run_id()
    await connection.execute(ENTER, [run_id, session_id])
    held = {"runs": [UUID(run_id)], "attempts": [Int4(1)], "of": [UUID(run_id)], "types": ["text_delta"]}
    before = cpu_seconds(connection)
    for seq in range(1, COMMITS + 1):
        await connection.execute(WRITE_EVENTS.encode(), {**held, "seqs": [Int4(seq)], "payloads": [EVENT]})
    took = (cpu_seconds(connection) - before) / COMMITS * 1000
    await connection.execute("UPDATE runs SET status = 'finished', outcome = 'failed', stop_reason = 'x'")
    return took


async def _sweep(connection: Connection, events: int) -> float:
    await connection.execute(_FIRST_EVENTS)
    row = {"by_day": True, "runs": events // EVENTS_OF_RUN, "events": EVENTS_OF_RUN, "event": EVENT}
    await connection.execute(OLD, row)
    await connection.execute("VACUUM ANALYZE run_events, runs")
    before = cpu_seconds(connection)
    swept = await expire_events(connection)
    took = (cpu_seconds(connection) - before) * 1000
    assert swept == events // EVENTS_OF_RUN * EVENTS_OF_RUN, swept
    return took
