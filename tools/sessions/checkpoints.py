"""Checkpoints of sessions: written during a run, pruned to its last one, deleted with expired sessions."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import astuple, dataclass
from typing import Any, cast, get_args

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import WRITES_IDX_MAP, ChannelVersions, Checkpoint, CheckpointMetadata, get_checkpoint_id
from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer

from graph.errors import DatabaseUnavailable
from graph.routing import Gathering
from graph.state import FIRST_STEP
from tools.runs.retry import finish_then_cancel
from tools.storage.database import Connection, Database, Pool

log = logging.getLogger("citewell.sessions")

# State holds builtins only, so stored bytes must never cause a module import (CVE-2026-28277).
BUILTINS_ONLY = JsonPlusSerializer(allowed_msgpack_modules=None)


RUN_ID_KEY = "citewell_run"  # in a checkpoint's metadata: the run that wrote it
PARALLEL_STEPS = get_args(Gathering)
WaitUntilCommitted = Callable[[], Awaitable[None]]


class RunSaver(AsyncPostgresSaver):
    """A saver for one run, which saves nothing of a step before the step's events are committed.

    A step with a checkpoint never runs again, so events lost before it would never be emitted again. Also, a process
    whose run another process has taken over learns it when it writes its events, and then leaves the thread alone.
    """

    def __init__(self, pool: Pool, wait_until_committed: WaitUntilCommitted) -> None:
        # The cast is safe: the saver sets the row factory of its cursors itself.
        super().__init__(cast(Any, pool), serde=BUILTINS_ONLY)
        self._wait_until_committed = wait_until_committed
        self._held_back: ChannelVersions = {}
        self._parent: str | None = None  # of the first checkpoint that was held back
        self._lone: set[str] = set()  # checkpoints that are followed by a single gathering step

    async def aput(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        """Save a checkpoint after the events that precede it are committed; hold back those before the first step.

        Those contain only the request, which is in the run's own row: a run without a checkpoint starts from there.
        """
        if metadata.get("source") == "input" or _comes_next(checkpoint, FIRST_STEP):
            self._parent = self._parent if self._held_back else get_checkpoint_id(config)
            self._held_back |= new_versions
            return _with_id(config, checkpoint["id"])
        if self._held_back:
            config, new_versions = _with_id(config, self._parent), {**self._held_back, **new_versions}
            self._held_back = {}
        if sum(_comes_next(checkpoint, step) for step in PARALLEL_STEPS) == 1:
            self._lone.add(checkpoint["id"])
        await self._wait_until_committed()
        # Cancelled halfway, a pipeline breaks its connection and raises an error that nobody can catch.
        return await finish_then_cancel(super().aput(config, checkpoint, metadata, new_versions))

    async def aput_writes(
        self, config: RunnableConfig, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str = ""
    ) -> None:
        """Save the writes of a parallel step after its events are committed; skip those of a step that runs alone.

        The checkpoint of a step that runs alone follows at once, and saving its writes first would take twice as long.
        """
        gathers = any(task_path.endswith(name) for name in PARALLEL_STEPS)
        alone = not gathers or get_checkpoint_id(config) in self._lone
        if alone and not any(channel in WRITES_IDX_MAP for channel, _ in writes):
            return
        await self._wait_until_committed()
        await finish_then_cancel(super().aput_writes(config, writes, task_id, task_path))


def _comes_next(checkpoint: Checkpoint, step: str) -> bool:
    """Whether a checkpoint is followed by a step, by the channel that triggers the step."""
    return f"branch:to:{step}" in checkpoint["channel_values"]


def _with_id(config: RunnableConfig, checkpoint_id: str | None) -> RunnableConfig:
    """Return a configuration that names another checkpoint of the thread, or none."""
    place = {name: value for name, value in config["configurable"].items() if name != "checkpoint_id"}
    return {**config, "configurable": place if checkpoint_id is None else {**place, "checkpoint_id": checkpoint_id}}


def run_saver(pool: Pool, wait_until_committed: WaitUntilCommitted | None = None) -> AsyncPostgresSaver:
    """Create a saver for one run over the shared pool: runs that share a saver would wait for its lock."""
    return RunSaver(pool, wait_until_committed or _nothing_to_commit)


async def _nothing_to_commit() -> None:
    pass


TABLES = ("checkpoints", "checkpoint_blobs", "checkpoint_writes")

# A blob is used by the run that wrote it and by later runs of its branch. So only these kept checkpoints can share a
# blob with a deleted one: the parent of a deleted one, and those newer than the oldest deleted one.
# The session's row is locked first, as by every statement that deletes sessions: another order could deadlock.
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
    """Delete a thread's checkpoints except the last of each finished run, and return how many were deleted.

    Nothing is deleted while a run of the session is in progress: call it after the end of a run is committed.
    """
    # Not prepared: a generic plan would scan the checkpoints of all threads.
    thread = {"session_id": session_id, "thread_id": session_id}  # a uuid in our tables, text in the saver's
    row = await (await connection.execute(_PRUNE, thread, prepare=False)).fetchone()
    assert row is not None
    return int(row[0])


async def delete_threads(connection: Connection, session_ids: Sequence[str]) -> None:
    """Delete all checkpoints of some sessions; call it in the transaction that deletes the sessions."""
    for table in TABLES:
        await connection.execute(f"DELETE FROM {table} WHERE thread_id = ANY(%s)", [list(session_ids)])


HOUR_SECONDS = 3600.0
SESSIONS_AT_ONCE = 100
EVENTS_AT_ONCE = 10_000
LOG_HOURS = 24

# A run whose lease expired more than an hour ago will not be continued.
_IN_PROGRESS = """
EXISTS (SELECT 1 FROM runs WHERE runs.session_id = sessions.session_id AND status <> 'finished'
        AND greatest(runs.created_at, lease_until) > now() - interval '1 hour')
"""
_OVER = "(expires_at < now() OR NOT ephemeral AND updated_at < now() - make_interval(days => %(days)s))"
_COUNT = f"""
SELECT count(*) FILTER (WHERE NOT ephemeral), count(*) FILTER (WHERE ephemeral) FROM sessions
WHERE {_OVER} AND NOT {_IN_PROGRESS}
"""
# The lock prevents a run from being inserted while its session is deleted. Active runs are checked after it is taken,
# by a separate statement, which sees everything committed until then.
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
    """How many idle sessions, ephemeral sessions and events of finished runs were deleted, or would be."""

    sessions: int
    ephemeral_sessions: int
    run_events: int


async def expire(database: Database, *, days: int, dry_run: bool = False) -> Expired:
    """Delete sessions unused for ``days``, expired ephemeral ones, and event logs older than 24 hours.

    Works in batches, each in its own transaction, and never deletes a session with a run in progress. ``dry_run`` only
    counts. Raises DatabaseUnavailable; batches that are already deleted stay deleted.
    """
    async with database.connection() as connection:
        if dry_run:
            idle, ephemeral = await _count(connection, _COUNT, days)
            (events,) = await _count(connection, _COUNT_EVENTS, days)
            return Expired(idle, ephemeral, events)
        deleted = await _delete_sessions(connection, days)
        return Expired(len(deleted) - sum(deleted), sum(deleted), await _delete_events(connection))


async def expire_hourly(database: Database, *, days: int) -> None:
    """Run ``expire`` now and every hour until cancelled; after a database failure, retry at the next hour."""
    while True:
        try:
            expired = await expire(database, days=days)
        except DatabaseUnavailable as error:
            log.warning("nothing could be expired: %s", error.message)
        else:
            if any(astuple(expired)):
                log.info("expired %d sessions, %d ephemeral ones, %d events", *astuple(expired))
        await asyncio.sleep(HOUR_SECONDS)


async def _delete_sessions(connection: Connection, days: int) -> list[bool]:
    """Delete expired sessions; return for each deleted one whether it was ephemeral."""
    ephemeral: list[bool] = []
    after = _FIRST
    while True:
        async with connection.transaction():
            rows = await (await connection.execute(_LOCK, {"days": days, "after": after})).fetchall()
            if not rows:
                return ephemeral
            locked = [row[0] for row in rows]
            deleted = await (await connection.execute(_DELETE, {"locked": locked})).fetchall()
            await delete_threads(connection, [row[0] for row in deleted])
        ephemeral += [row[1] for row in deleted]
        after = locked[-1]


async def _delete_events(connection: Connection) -> int:
    total = 0
    while True:
        deleted = (await connection.execute(_DELETE_EVENTS)).rowcount
        total += deleted
        if deleted < EVENTS_AT_ONCE:
            return total


async def _count(connection: Connection, query: str, days: int) -> tuple[int, ...]:
    row = await (await connection.execute(query, {"days": days})).fetchone()
    assert row is not None
    return tuple(row)
