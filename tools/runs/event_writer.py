"""Write-ahead log of run events, committed in batches for all runs of a process and then published to readers."""

import asyncio
import logging
from collections.abc import Callable, Sequence
from uuid import UUID

from psycopg.types.numeric import Int4

from graph.errors import CitewellError, DatabaseUnavailable
from graph.events import AnyEvent
from tools.concurrency.tasks import cancel_and_wait
from tools.runs.live_run import DELTAS, LogLine, Run
from tools.runs.notifications import Notifications
from tools.sessions.run_request import RunReader
from tools.storage.database import Database, retry_while_unavailable
from tools.telemetry.tracing import background_context

log = logging.getLogger("citewell.runs")

HOLD_SECONDS = 0.02  # that events may wait for more: with the commit they reach readers within 30 ms

# The lock keeps another process from taking a run over between the check of its attempt and the commit: all events
# written under an attempt are in the log before that process reads how far the log goes.
WRITE_EVENTS = """
WITH mine AS (
    SELECT run_id FROM runs JOIN unnest(%(runs)b::uuid[], %(attempts)b::int4[]) AS held (run_id, attempt)
        USING (run_id, attempt)
    WHERE status <> 'finished' FOR SHARE OF runs
), written AS (
    INSERT INTO run_events (run_id, seq, type, payload)
    SELECT run_id, seq, type, payload
    FROM unnest(%(of)b::uuid[], %(seqs)b::int4[], %(types)b::text[], %(payloads)b::text[])
        AS line (run_id, seq, type, payload)
    JOIN mine USING (run_id)
    ON CONFLICT (run_id, seq) DO NOTHING
)
SELECT array(SELECT run_id::text FROM mine)
"""


OpenStoredRun = Callable[[Run], RunReader]
RunLines = tuple[Run, list[LogLine]]


class EventWriter:
    """Commits the events of runs in batches: each waits 20 ms for more, but text that comes after a pause."""

    def __init__(self, database: Database, elsewhere: OpenStoredRun, notifications: Notifications) -> None:
        self._database = database
        self._notifications = notifications
        self._elsewhere = elsewhere
        self._ready: dict[Run, None] = {}
        self._timers: dict[Run, asyncio.TimerHandle] = {}
        self._text_written_at: dict[Run, float] = {}
        self._wake = asyncio.Event()
        self._writing: asyncio.Task[None] | None = None

    def notify(self, run: Run, event: AnyEvent | None = None) -> None:
        """Note that a run has emitted an event, or with None that all its pending events must be committed now."""
        loop = asyncio.get_running_loop()
        wait = 0.0 if event is None else HOLD_SECONDS
        if isinstance(event, DELTAS):
            wait += self._text_written_at.get(run, 0.0) - loop.time()
        if wait <= 0:
            self._mark_ready(run)
        elif run not in self._timers:
            self._timers[run] = loop.call_later(wait, self._mark_ready, run)

    def forget(self, run: Run) -> None:
        """Drop the state of a run that has ended."""
        self._ready.pop(run, None)
        self._text_written_at.pop(run, None)
        if (timer := self._timers.pop(run, None)) is not None:
            timer.cancel()

    async def close(self) -> None:
        """Stop writing; uncommitted events are not written."""
        for timer in self._timers.values():
            timer.cancel()
        if self._writing is not None:
            await cancel_and_wait(self._writing)

    def _mark_ready(self, run: Run) -> None:
        if (timer := self._timers.pop(run, None)) is not None:
            timer.cancel()
        self._ready[run] = None
        self._wake.set()
        if self._writing is None:
            self._writing = asyncio.create_task(
                self._write(), name="citewell-event-writer", context=background_context()
            )

    async def _write(self) -> None:
        while True:
            await self._wake.wait()
            self._wake.clear()
            batch = [(run, run.take()) for run in self._ready if run.elsewhere is None and run.failure is None]
            self._ready.clear()
            now = asyncio.get_running_loop().time()
            batch = [(run, lines) for run, lines in batch if lines]
            for run, lines in batch:
                if any(isinstance(line.envelope.event, DELTAS) for line in lines):
                    self._text_written_at[run] = now
            if batch:
                await self._commit(batch)

    async def _commit(self, batch: Sequence[RunLines]) -> None:
        try:
            mine = await self._insert(batch)
        except DatabaseUnavailable as error:
            log.error("the events of %d runs can't be stored: %s", len(batch), error.message)
            for run, _ in batch:
                run.fail_log(error)
            return
        except Exception:  # noqa: BLE001 - an event of one run must not stop the writing for all
            await self._one_by_one(batch)
            return
        self._notifications.notify_followers(*mine)
        for run, lines in batch:
            if run.run_id in mine:
                run.publish(lines)
            else:
                log.warning("run %s continues in another process", run.run_id)
                run.hand_over(self._elsewhere(run))

    async def _one_by_one(self, batch: Sequence[RunLines]) -> None:
        """Commit each run's events separately, so that only the run whose events can't be stored fails."""
        if len(batch) > 1:
            for each in batch:
                await self._commit([each])
            return
        run, _ = batch[0]
        log.exception("the events of run %s can't be stored", run.run_id)
        run.fail_log(CitewellError("The run failed for an internal reason."))

    async def _insert(self, batch: Sequence[RunLines]) -> set[str]:
        lines = [line for _, each in batch for line in each]
        rows = {
            "runs": [UUID(run.run_id) for run, _ in batch],
            "attempts": [Int4(run.attempt) for run, _ in batch],
            "of": [UUID(line.envelope.run_id) for line in lines],
            "seqs": [Int4(line.envelope.seq) for line in lines],
            "types": [line.envelope.event.type for line in lines],
            "payloads": [line.text for line in lines],
        }

        async def write() -> set[str]:
            found = await self._database.fetch_one(WRITE_EVENTS, rows)
            assert found is not None
            return set(found[0])

        return await retry_while_unavailable(write)  # idempotent: rows that exist already are skipped
