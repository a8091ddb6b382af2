"""Leases: which process answers a run, extended while it lives, taken over when it does not."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import psycopg

from graph.errors import CitewellError, DatabaseUnavailable
from graph.evidence import StopReason
from tools.concurrency.tasks import cancel_and_wait
from tools.runs.completion import CompletionRecorder
from tools.runs.event_log import wait_for_wakeup
from tools.runs.live_run import Run
from tools.runs.notifications import ABANDONED, CHANNEL, NOTIFY, STOPS, Notifications
from tools.sessions.run_request import Superseded
from tools.storage.database import TAKES_CHANGES, Database, rows_of, value_of
from tools.telemetry.metrics import LEASE_FAILURES, TAKEN_OVER
from tools.telemetry.tracing import background_context

log = logging.getLogger("citewell.runs")

_EXTEND = """
UPDATE runs SET lease_until = now() + make_interval(secs => %s)
FROM unnest(%s::uuid[], %s::int[]) AS held (run_id, attempt)
WHERE runs.run_id = held.run_id AND runs.attempt = held.attempt AND status <> 'finished'
RETURNING runs.run_id::text, stop_requested
"""
_TAKE_OVER = f"""
UPDATE runs SET attempt = attempt + 1, lease_owner = %(owner)s, lease_until = now() + make_interval(secs => %(lease)s),
                message_id = coalesce(message_id, gen_random_uuid())
WHERE run_id = ANY (ARRAY (
    SELECT run_id FROM runs WHERE status <> 'finished' AND lease_until < now() AND {TAKES_CHANGES}
    ORDER BY created_at LIMIT %(limit)s FOR UPDATE SKIP LOCKED
))
RETURNING run_id::text, session_id::text, message_id::text, question, request, status, attempt, stop_requested,
          fork_checkpoint
"""
_LOG_STATE = """
SELECT coalesce(max(seq), 0), array_agg(payload ORDER BY seq) FILTER (
    WHERE type NOT IN ('step_started', 'step_finished', 'thinking_delta', 'queued'))
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
            taken = await rows_of(connection, TakenOverRun, _TAKE_OVER, parameters)
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
            ahead = await value_of(connection, _AHEAD, [run.run_id, run.attempt])
        if ahead is None:
            raise Superseded("Another process has taken this run over.")
        return int(ahead)

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
        await self._database.execute(_RELEASE, [run.run_id, run.attempt])

    async def stop_others(self, session_id: str, reason: StopReason) -> None:
        """Ask the processes that hold a session's unfinished runs to stop them."""
        async with self._database.connection() as connection:
            await connection.execute(_STOP_OTHERS, [reason, session_id])
            await connection.execute(NOTIFY, [STOPS])


async def _with_log(connection: psycopg.AsyncConnection, run: TakenOverRun) -> TakenOverRun:
    row = await (await connection.execute(_LOG_STATE, [run.run_id])).fetchone()
    assert row is not None
    return replace(run, last_seq=row[0], emitted=tuple(row[1] or ()))


LEASES, SWEEP = "citewell-leases", "citewell-sweep"
BEATS_PER_LEASE = 3  # lease extensions, and looks for abandoned runs


class Heartbeat:
    """Background tasks that extend leases, stop runs on request and take over abandoned runs."""

    def __init__(
        self,
        leases: Leases,
        recorder: CompletionRecorder,
        notifications: Notifications,
        active: Callable[[], Iterable[Run]],
    ) -> None:
        self._leases = leases
        self._recorder = recorder
        self._notifications = notifications
        self._active = active
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._background: set[asyncio.Task[None]] = set()

    def keep_leases(self) -> None:
        """Start extending leases, three times per lease duration."""
        self._start(LEASES, self._keep_leases)

    def sweep(self, room: Callable[[], int], resume: Callable[[TakenOverRun], Awaitable[None]]) -> None:
        """Start looking for abandoned runs, and resume as many as there is room for."""
        self._start(SWEEP, lambda: self._sweep(room, resume))

    async def stop_sweeping(self) -> None:
        if (sweep := self._tasks.pop(SWEEP, None)) is not None:
            await cancel_and_wait(sweep)

    def in_background(self, work: Coroutine[Any, Any, None]) -> None:
        """Start work in the background that nobody waits for."""
        task = asyncio.create_task(work)
        self._background.add(task)
        task.add_done_callback(self._background.discard)

    async def close(self) -> None:
        await cancel_and_wait(*self._tasks.values(), *self._background)
        self._tasks.clear()

    def _start(self, name: str, work: Callable[[], Coroutine[Any, Any, None]]) -> None:
        if name not in self._tasks:
            self._tasks[name] = asyncio.create_task(work(), name=name, context=background_context())

    async def _keep_leases(self) -> None:
        with self._notifications.subscribe(STOPS) as wakeup:
            while True:
                await wait_for_wakeup(wakeup, self._leases.seconds / BEATS_PER_LEASE)
                wakeup.clear()
                runs = list(self._active())
                try:
                    held = await self._leases.extend(runs) if runs else {}
                except DatabaseUnavailable:
                    LEASE_FAILURES.labels("runs").inc()
                    log.warning("leases of %d runs could not be extended", len(runs))
                    continue
                except Exception:
                    LEASE_FAILURES.labels("runs").inc()
                    log.exception("leases of %d runs could not be extended", len(runs))
                    continue
                for run in runs:
                    self._settle(run, held)

    def _settle(self, run: Run, held: Mapping[str, StopReason | None]) -> None:
        if run.run_id not in held:
            # While the end is being recorded, this process may have closed the row already.
            if run.task is not None and not run.task.done() and not run.ending:
                log.warning("run %s continues in another process", run.run_id)
                self._recorder.hand_over(run)
        elif (reason := held[run.run_id]) is not None:
            self.in_background(run.cancel(reason))

    async def _sweep(self, room: Callable[[], int], resume: Callable[[TakenOverRun], Awaitable[None]]) -> None:
        with self._notifications.subscribe(ABANDONED) as wakeup:
            while True:
                wakeup.clear()
                try:
                    for taken in await self._leases.take_over(room()) if room() else []:
                        TAKEN_OVER.inc()
                        log.info("run %s is taken over, attempt %d", taken.run_id, taken.attempt)
                        self._notifications.notify(taken.run_id)  # its readers now follow this process
                        await self._resume_one(taken, resume)
                except CitewellError as error:
                    log.warning("abandoned runs could not be taken over: %s", error.message)
                except Exception:
                    log.exception("abandoned runs could not be taken over")
                await wait_for_wakeup(wakeup, self._leases.seconds / BEATS_PER_LEASE)

    async def _resume_one(self, taken: TakenOverRun, resume: Callable[[TakenOverRun], Awaitable[None]]) -> None:
        try:
            await resume(taken)
        except Exception:  # the others taken over with it must not wait for another lease
            log.exception("run %s could not be resumed", taken.run_id)
