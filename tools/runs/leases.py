"""Leases on runs: extended by a living process, claimed in turn within a session, taken over when they expire.

An attempt is the time that one process works on a run. Its number is a fencing token: what a process writes about a run
counts only while the ledger still holds the number that the process was given, however long it was paused.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import psycopg
from psycopg.rows import class_row

from graph.evidence import StopReason
from tools.runs.live_run import Run
from tools.runs.notifications import ABANDONED, CHANNEL, NOTIFY, STOPS
from tools.runs.run_request import Superseded
from tools.storage.database import Database

_EXTEND = """
UPDATE runs SET lease_until = now() + make_interval(secs => %s)
FROM unnest(%s::uuid[], %s::int[]) AS held (run_id, attempt)
WHERE runs.run_id = held.run_id AND runs.attempt = held.attempt AND status <> 'finished'
RETURNING runs.run_id::text, stop_requested
"""
_TAKE_OVER = """
UPDATE runs SET attempt = attempt + 1, lease_owner = %(owner)s, lease_until = now() + make_interval(secs => %(lease)s),
                message_id = coalesce(message_id, gen_random_uuid())
WHERE run_id = ANY (ARRAY (
    SELECT run_id FROM runs WHERE status <> 'finished' AND lease_until < now()
    ORDER BY created_at LIMIT %(limit)s FOR UPDATE SKIP LOCKED
))
RETURNING run_id::text, session_id::text, message_id::text, question, request, status, attempt, stop_requested,
          fork_checkpoint
"""
_LOG_STATE = """
SELECT coalesce(max(seq), 0), array_agg(payload ORDER BY seq) FILTER (
    WHERE type IN ('run_started', 'run_resumed', 'section_finished', 'section_revised'))
FROM run_events WHERE run_id = %s
"""
_TURN = """
UPDATE runs SET status = 'running', started_at = coalesce(started_at, now())
WHERE run_id = %(run_id)s AND attempt = %(attempt)s AND status <> 'finished' AND NOT EXISTS (
    SELECT 1 FROM runs AS other WHERE other.session_id = runs.session_id AND other.run_id <> runs.run_id AND (
        other.status = 'running'
        OR other.status = 'queued' AND (other.created_at, other.run_id) < (runs.created_at, runs.run_id)
    )
)
RETURNING run_id
"""
_AHEAD = """
SELECT (
    SELECT count(*) FROM runs AS other WHERE other.session_id = mine.session_id AND other.run_id <> mine.run_id AND (
        other.status = 'running'
        OR other.status = 'queued' AND (other.created_at, other.run_id) < (mine.created_at, mine.run_id)
    )
) FROM runs AS mine WHERE run_id = %s AND attempt = %s AND status <> 'finished'
"""
# The attempt may have begun already, if the reply to an earlier try was lost.
_NEXT_ATTEMPT = """
UPDATE runs SET attempt = %(next)s
WHERE run_id = %(run_id)s AND attempt IN (%(next)s - 1, %(next)s) AND lease_owner = %(owner)s AND status <> 'finished'
"""
_RELEASE = f"""
WITH released AS (
    UPDATE runs SET lease_until = '-infinity' WHERE run_id = %s AND attempt = %s AND status <> 'finished'
    RETURNING run_id
)
SELECT pg_notify('{CHANNEL}', '{ABANDONED}') FROM released
"""
_STOP_OTHERS = """
UPDATE runs SET stop_requested = coalesce(stop_requested, %s) WHERE session_id = %s AND status <> 'finished'
"""


@dataclass(frozen=True, slots=True)
class TakenOverRun:
    """A run abandoned by its process, with what is needed to resume it."""

    run_id: str
    session_id: str
    message_id: str
    question: str
    request: dict[str, Any]
    status: str
    attempt: int
    stop_requested: StopReason | None
    fork_checkpoint: str | None
    last_seq: int = 0
    emitted: tuple[str, ...] = ()  # the logged events from which its current state follows


class Leases:
    """The leases of one process, which is ``owner`` in the ledger."""

    def __init__(self, database: Database, owner: str, seconds: float) -> None:
        self._database = database
        self._owner = owner
        self._numbering = asyncio.Lock()  # an attempt's number must change here and in the ledger together
        self.seconds = seconds

    async def extend(self, runs: Sequence[Run]) -> dict[str, StopReason | None]:
        """Extend the leases of runs; return those still held, each with the reason to stop it, or None."""
        async with self._numbering, self._database.connection() as connection:
            held = [[run.run_id for run in runs], [run.attempt for run in runs]]
            rows = await (await connection.execute(_EXTEND, [self.seconds, *held])).fetchall()
        return dict(rows)

    async def take_over(self, limit: int) -> list[TakenOverRun]:
        """Take over at most ``limit`` runs whose lease has expired, oldest first."""
        parameters = {"owner": self._owner, "lease": self.seconds, "limit": limit}
        async with self._database.connection() as connection:
            async with connection.cursor(row_factory=class_row(TakenOverRun)) as cursor:
                taken = await (await cursor.execute(_TAKE_OVER, parameters)).fetchall()
            # Read after the commit: from then on nothing is written under an earlier attempt.
            return [await _with_log(connection, run) for run in taken]

    async def claim_turn(self, run: Run) -> bool:
        """Start a queued run if it is next in its session and none is running; True also if it has started already."""
        async with self._database.connection() as connection:
            try:
                parameters = {"run_id": run.run_id, "attempt": run.attempt}
                return await (await connection.execute(_TURN, parameters)).fetchone() is not None
            except psycopg.errors.UniqueViolation:
                return False

    async def ahead(self, run: Run) -> int:
        """Count the runs ahead of a run in its session, including the one that is running.

        Raises Superseded where another process has the run.
        """
        async with self._database.connection() as connection:
            row = await (await connection.execute(_AHEAD, [run.run_id, run.attempt])).fetchone()
        if row is None:
            raise Superseded("Another process has taken this run over.")
        return int(row[0])

    async def next_attempt(self, run: Run) -> bool:
        """Begin the next attempt at a run; return False where another process has it."""
        parameters = {"run_id": run.run_id, "next": run.attempt + 1, "owner": self._owner}
        async with self._numbering, self._database.connection() as connection:
            changed = await connection.execute(_NEXT_ATTEMPT, parameters)
            if changed.rowcount != 1:
                return False
            run.attempt += 1
        return True

    async def release(self, run: Run) -> None:
        """Release the lease of a run, so that another process can take it over at once."""
        async with self._database.connection() as connection:
            await connection.execute(_RELEASE, [run.run_id, run.attempt])

    async def stop_others(self, session_id: str, reason: StopReason) -> None:
        """Ask the processes that hold a session's unfinished runs to stop them."""
        async with self._database.connection() as connection:
            await connection.execute(_STOP_OTHERS, [reason, session_id])
            await connection.execute(NOTIFY, [STOPS])


async def _with_log(connection: psycopg.AsyncConnection, run: TakenOverRun) -> TakenOverRun:
    row = await (await connection.execute(_LOG_STATE, [run.run_id])).fetchone()
    assert row is not None
    return replace(run, last_seq=row[0], emitted=tuple(row[1] or ()))
