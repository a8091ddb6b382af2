"""What is read of a process when its metrics are: its runs, leases, connections, and the jobs of the deployment."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass

from graph.errors import DatabaseUnavailable
from tools.storage.database import Database
from tools.storage.index_changes import read_backlog, read_index
from tools.telemetry.metrics import Reading

_JOBS = "SELECT state, count(*) FROM ingestion_jobs GROUP BY state"
_FILES = "SELECT state, count(*) FROM ingestion_files GROUP BY state"
JOB_STATES = ("queued", "running", "paused", "cancelled", "finished")
FILE_STATES = ("queued", "working", "stored", "unchanged", "refused", "cancelled")
# What psycopg counts of a pool since it was opened, by our names.
POOL_COUNTS = {
    "requests": "requests_num",
    "waits": "requests_queued",
    "timeouts": "requests_errors",
    "connects": "connections_num",
    "failed_connects": "connections_errors",
    "lost": "connections_lost",
}


@dataclass(frozen=True, slots=True)
class Load:
    """How many runs a process answers and has waiting, of how many it may, and the leases that it holds on them."""

    active: int
    waiting: int
    max_active: int
    max_waiting: int
    leases: int


async def read_runs(load: Callable[[], Load]) -> list[Reading]:
    """Read how many runs this process has, and may have."""
    now = load()
    runs = {"active": now.active, "waiting": now.waiting}
    most = {"active": now.max_active, "waiting": now.max_waiting}
    tasks = len(asyncio.all_tasks())
    return [
        Reading("citewell_runs_in_process", "Runs that this process answers, or that wait in it.", runs, "state"),
        Reading("citewell_runs_limit", "Most runs of this process in each state.", most, "state"),
        Reading("citewell_run_leases", "Leases on runs that this process holds.", {"": now.leases}),
        Reading("citewell_tasks", "Tasks of this process's event loop.", {"": tasks}),
    ]


async def read_database(database: Database) -> list[Reading]:
    """Read the pool of this process, and the jobs of all: those are absent while the database is."""
    stats = database.pool.get_stats()
    counts = {"open": "pool_size", "idle": "pool_available", "most": "pool_max"}
    connections = {ours: stats.get(theirs, 0) for ours, theirs in counts.items()}
    events = {ours: stats.get(theirs, 0) for ours, theirs in POOL_COUNTS.items()}
    happened = "What happened at the pool: connections asked for, waits, time-outs, connects, lost ones."
    waiting = {"": stats.get("requests_waiting", 0)}
    try:
        jobs = await _read_jobs(database)
        is_up = True
    except DatabaseUnavailable:
        jobs, is_up = [], False
    return [
        Reading(
            "citewell_pool_connections", "Connections of this process's pool to the database.", connections, "state"
        ),
        Reading("citewell_pool_waiting", "Work that waits for a connection.", waiting),
        Reading("citewell_pool_events", happened, events, "event", counts=True),
        *jobs,
        Reading("citewell_database_up", "Whether the database answered this scrape.", {"": float(is_up)}),
    ]


async def _read_jobs(database: Database) -> list[Reading]:
    async with database.connection() as connection:
        jobs = dict(await (await connection.execute(_JOBS)).fetchall())
        files = dict(await (await connection.execute(_FILES)).fetchall())
        index = await read_index(connection)
        backlog = await read_backlog(connection) if index is not None else None
    of_jobs = {state: jobs.get(state, 0) for state in JOB_STATES}
    of_files = {state: files.get(state, 0) for state in FILE_STATES}
    found = [
        Reading("citewell_jobs", "Jobs of ingestion of the whole deployment that are still kept.", of_jobs, "state"),
        Reading("citewell_job_files", "Files of these jobs.", of_files, "state"),
    ]
    if backlog is not None:
        lacking = "Documents that the index outside of PostgreSQL does not have yet as they are."
        behind = "How long the first of these documents has been waiting."
        found += [
            Reading("citewell_index_waiting_documents", lacking, {"": backlog.documents}),
            Reading("citewell_index_behind_seconds", behind, {"": backlog.seconds}),
        ]
    return found
