"""Delete what has expired: idle and ephemeral sessions, old event logs, and checkpoints that no run needs any more.

Any number of processes may sweep at once: a session that another process holds is left to it. Of each finished run the
last checkpoint stays, to fork from. Pruning is one statement, hence one snapshot of the database: where a run is active
in the thread in that snapshot, nothing is deleted; where none is, everything in the snapshot was written by runs that
have ended, and a run that starts meanwhile continues from a checkpoint that stays.
"""

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import astuple, dataclass

from graph.errors import DatabaseUnavailable
from tools.storage.database import Connection, Database

TABLES = ("checkpoints", "checkpoint_blobs", "checkpoint_writes")

# A blob belongs to the runs of a branch from the one that wrote it on. So what a deleted checkpoint names can be named
# by a kept one only where that is the one its run went on from, or came after the oldest deleted.
# Whoever deletes the session holds its row first: two that deleted in another order could wait for each other.
_PRUNE = """
WITH held AS MATERIALIZED (
    SELECT 1 FROM sessions WHERE session_id = %(session_id)s FOR NO KEY UPDATE
), idle AS MATERIALIZED (
    SELECT 1 FROM held WHERE NOT EXISTS (
        SELECT 1 FROM runs WHERE session_id = %(session_id)s AND status = 'running'
    )
), kept AS MATERIALIZED (
    SELECT checkpoint_id FROM messages
    WHERE session_id = %(session_id)s AND role = 'assistant' AND checkpoint_id IS NOT NULL
    UNION
    SELECT max(checkpoint_id) FROM checkpoints WHERE thread_id = %(thread_id)s AND checkpoint_ns = ''
), deleted AS (
    DELETE FROM checkpoints
    WHERE thread_id = %(thread_id)s AND checkpoint_ns = '' AND EXISTS (SELECT 1 FROM idle)
      AND NOT EXISTS (SELECT 1 FROM kept WHERE kept.checkpoint_id = checkpoints.checkpoint_id)
    RETURNING checkpoint_id, parent_checkpoint_id, checkpoint -> 'channel_versions' AS versions
), written AS (
    DELETE FROM checkpoint_writes
    WHERE thread_id = %(thread_id)s AND checkpoint_ns = '' AND EXISTS (SELECT 1 FROM idle)
), needed AS MATERIALIZED (
    SELECT DISTINCT named.key AS channel, named.value AS version
    FROM checkpoints JOIN kept USING (checkpoint_id)
    CROSS JOIN LATERAL jsonb_each_text(checkpoint -> 'channel_versions') AS named
    WHERE thread_id = %(thread_id)s AND checkpoint_ns = ''
      AND (checkpoint_id >= (SELECT min(checkpoint_id) FROM deleted)
           OR checkpoint_id IN (SELECT parent_checkpoint_id FROM deleted))
), freed AS MATERIALIZED (
    SELECT DISTINCT named.key AS channel, named.value AS version
    FROM deleted CROSS JOIN LATERAL jsonb_each_text(versions) AS named
    EXCEPT SELECT channel, version FROM needed
), blobs AS (
    DELETE FROM checkpoint_blobs USING freed
    WHERE thread_id = %(thread_id)s AND checkpoint_ns = ''
      AND checkpoint_blobs.channel = freed.channel AND checkpoint_blobs.version = freed.version
)
SELECT count(*) FROM deleted
"""


async def prune_thread(connection: Connection, session_id: str) -> int:
    """Delete what a thread's finished runs left but their last checkpoints; gives how many checkpoints went.

    Nothing is deleted while a run of the session is going on: call it after a run's end is committed.
    """
    # Planned for this thread: a plan for any thread would read the tables of all.
    thread = {"session_id": session_id, "thread_id": session_id}  # a uuid of ours, a text of the saver's
    row = await (await connection.execute(_PRUNE, thread, prepare=False)).fetchone()
    assert row is not None
    return int(row[0])


async def delete_threads(connection: Connection, session_ids: Sequence[str]) -> None:
    """Delete all checkpoints of sessions that go, in the transaction in which they do."""
    for table in TABLES:
        await connection.execute(f"DELETE FROM {table} WHERE thread_id = ANY(%s)", [list(session_ids)])


log = logging.getLogger("citewell.sessions")

HOUR_SECONDS = 3600.0
SESSIONS_AT_ONCE = 100
EVENTS_AT_ONCE = 10_000
LOG_HOURS = 24

# A run without a sign of life for this long will not be gone on with.
_IN_PROGRESS = """
EXISTS (SELECT 1 FROM runs WHERE runs.session_id = sessions.session_id AND status <> 'finished'
        AND greatest(runs.created_at, lease_until) > now() - interval '1 hour')
"""
_OVER = "(expires_at < now() OR NOT ephemeral AND updated_at < now() - make_interval(days => %(days)s))"
_COUNT = f"""
SELECT count(*) FILTER (WHERE NOT ephemeral), count(*) FILTER (WHERE ephemeral) FROM sessions
WHERE {_OVER} AND NOT {_IN_PROGRESS}
"""
# The lock keeps a run from being entered while its session goes. Whether there is one is asked after it is taken, by a
# statement that sees what was committed until then.
_LOCK = f"""
SELECT session_id FROM sessions WHERE {_OVER} AND session_id > %(after)s
ORDER BY session_id LIMIT {SESSIONS_AT_ONCE} FOR UPDATE SKIP LOCKED
"""
_DELETE = f"""
DELETE FROM sessions WHERE session_id = ANY(%(locked)s) AND NOT {_IN_PROGRESS} RETURNING session_id::text, ephemeral
"""
_OLD_EVENTS = f"""
run_events JOIN runs USING (run_id)
WHERE run_events.created_at < now() - interval '{LOG_HOURS} hours'
  AND runs.status = 'finished' AND runs.finished_at < now() - interval '{LOG_HOURS} hours'
"""
_COUNT_EVENTS = f"SELECT count(*) FROM {_OLD_EVENTS}"
_DELETE_EVENTS = f"""
DELETE FROM run_events WHERE ctid = ANY(array(SELECT run_events.ctid FROM {_OLD_EVENTS} LIMIT {EVENTS_AT_ONCE}))
"""
_FIRST = "00000000-0000-0000-0000-000000000000"


@dataclass(frozen=True, slots=True)
class Expired:
    """How much has gone, or would go: sessions left idle, ephemeral sessions, and events of finished runs."""

    sessions: int
    ephemeral_sessions: int
    run_events: int


async def expire(database: Database, *, days: int, dry_run: bool = False) -> Expired:
    """Delete sessions that were not used for ``days``, ephemeral ones whose 24 hours are over, and logs as old as that.

    In batches, each in its own transaction; never a session with a run in progress. With ``dry_run`` everything stays.
    Raises DatabaseUnavailable; what was deleted by then stays deleted.
    """
    async with database.connection() as connection:
        if dry_run:
            idle, ephemeral = await _counted(connection, _COUNT, days)
            (events,) = await _counted(connection, _COUNT_EVENTS, days)
            return Expired(idle, ephemeral, events)
        gone = await _sessions(connection, days)
        return Expired(len(gone) - sum(gone), sum(gone), await _events(connection))


async def expire_hourly(database: Database, *, days: int) -> None:
    """Expire what is over, now and every hour, until cancelled; a database that is away is tried again then."""
    while True:
        try:
            gone = await expire(database, days=days)
        except DatabaseUnavailable as error:
            log.warning("nothing could be expired: %s", error.message)
        else:
            if any(astuple(gone)):
                log.info("expired %d sessions, %d ephemeral ones, %d events", *astuple(gone))
        await asyncio.sleep(HOUR_SECONDS)


async def _sessions(connection: Connection, days: int) -> list[bool]:
    """Delete sessions whose time is over; tells of each that went whether it was ephemeral."""
    gone: list[bool] = []
    after = _FIRST
    while True:
        async with connection.transaction():
            held = await (await connection.execute(_LOCK, {"days": days, "after": after})).fetchall()
            if not held:
                return gone
            locked = [row[0] for row in held]
            deleted = await (await connection.execute(_DELETE, {"locked": locked})).fetchall()
            await delete_threads(connection, [row[0] for row in deleted])
        gone += [row[1] for row in deleted]
        after = locked[-1]


async def _events(connection: Connection) -> int:
    gone = 0
    while True:
        deleted = (await connection.execute(_DELETE_EVENTS)).rowcount
        gone += deleted
        if deleted < EVENTS_AT_ONCE:
            return gone


async def _counted(connection: Connection, query: str, days: int) -> tuple[int, ...]:
    row = await (await connection.execute(query, {"days": days})).fetchone()
    assert row is not None
    return tuple(row)
