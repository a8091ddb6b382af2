"""Write-ahead log of run events, committed in batches for all runs of a process and then published to readers."""

import asyncio
import logging
from collections.abc import Callable, Sequence
from uuid import UUID

from psycopg.types.numeric import Int4

from graph.errors import CitewellError, DatabaseUnavailable
from graph.events import AnyEvent, StepFinished, StepStarted
from tools.runs.live_run import DELTAS, LogLine, Run
from tools.runs.notifications import CHANNEL, notification_payload
from tools.runs.retry import retry_while_unavailable
from tools.runs.run_request import RunReader
from tools.runs.tasks import cancel_and_wait
from tools.storage.database import Database

log = logging.getLogger("citewell.runs")

HOLD_SECONDS = 0.02  # that text may wait for more of it: committed and sent, it is there within 30 ms
STEP_HOLD_SECONDS = 0.01  # that the news of a step may wait for what the step has to say
STEPS = (StepStarted, StepFinished)

# The lock keeps another process from taking a run over between the look at its attempt and the commit: whatever is
# written under an attempt stands in the log before that process reads how far the log goes.
_WRITE = f"""
WITH mine AS (
    SELECT run_id FROM runs JOIN unnest(%(runs)b::uuid[], %(attempts)b::int4[]) AS held (run_id, attempt)
        USING (run_id, attempt)
    WHERE status <> 'finished' FOR SHARE OF runs
), written AS (
    INSERT INTO run_events (run_id, seq, type, payload)
    SELECT run_id, seq, type, payload
    FROM unnest(%(of)b::uuid[], %(seqs)b::int4[], %(types)b::text[], %(payloads)b::text[])
        AS told (run_id, seq, type, payload)
    JOIN mine USING (run_id)
    ON CONFLICT (run_id, seq) DO NOTHING
)
SELECT array(SELECT run_id::text FROM mine), pg_notify('{CHANNEL}', %(said)s)
"""


OpenStoredRun = Callable[[Run], RunReader]
RunLines = tuple[Run, list[LogLine]]


class EventWriter:
    """Commits what runs tell. Text waits 20 ms for more of it, a step's begin and end for 10 ms."""

    def __init__(self, database: Database, elsewhere: OpenStoredRun) -> None:
        self._database = database
        self._elsewhere = elsewhere
        self._due: dict[Run, None] = {}
        self._held: dict[Run, asyncio.TimerHandle] = {}
        self._told_text: dict[Run, float] = {}
        self._wake = asyncio.Event()
        self._writing: asyncio.Task[None] | None = None

    def due(self, run: Run, event: AnyEvent | None = None) -> None:
        """Take note that a run has told an event, or with None that all it has told is wanted now."""
        loop = asyncio.get_running_loop()
        wait = 0.0
        if isinstance(event, DELTAS):
            wait = self._told_text.get(run, 0.0) + HOLD_SECONDS - loop.time()
        elif isinstance(event, STEPS):
            wait = STEP_HOLD_SECONDS
        if wait <= 0:
            self._now(run)
        elif run not in self._held:
            self._held[run] = loop.call_later(wait, self._now, run)

    def forget(self, run: Run) -> None:
        """Let go of a run that has ended."""
        self._due.pop(run, None)
        self._told_text.pop(run, None)
        if (timer := self._held.pop(run, None)) is not None:
            timer.cancel()

    async def close(self) -> None:
        """Stop writing; what is not committed stays so."""
        for timer in self._held.values():
            timer.cancel()
        if self._writing is not None:
            await cancel_and_wait(self._writing)

    def _now(self, run: Run) -> None:
        if (timer := self._held.pop(run, None)) is not None:
            timer.cancel()
        self._due[run] = None
        self._wake.set()
        if self._writing is None:
            self._writing = asyncio.create_task(self._write(), name="citewell-journal")

    async def _write(self) -> None:
        while True:
            await self._wake.wait()
            self._wake.clear()
            told = [(run, run.take()) for run in self._due if run.elsewhere is None and run.failure is None]
            self._due.clear()
            now = asyncio.get_running_loop().time()
            told = [(run, lines) for run, lines in told if lines]
            self._told_text |= {run: now for run, lines in told if isinstance(lines[-1].envelope.event, DELTAS)}
            if told:
                await self._commit(told)

    async def _commit(self, told: Sequence[RunLines]) -> None:
        try:
            mine = await self._insert(told)
        except DatabaseUnavailable as error:
            log.error("the events of %d runs can't be stored: %s", len(told), error.message)
            for run, _ in told:
                run.lose(error)
            return
        except Exception:  # noqa: BLE001 - nothing that one run tells may end the writing for all
            await self._one_by_one(told)
            return
        for run, lines in told:
            if run.run_id in mine:
                run.publish(lines)
            else:
                log.warning("run %s goes on in another process", run.run_id)
                run.hand_over(self._elsewhere(run))

    async def _one_by_one(self, told: Sequence[RunLines]) -> None:
        """Let no run suffer for what another told and no table takes."""
        if len(told) > 1:
            for each in told:
                await self._commit([each])
            return
        run, _ = told[0]
        log.exception("the events of run %s can't be stored", run.run_id)
        run.lose(CitewellError("The run failed for an internal reason."))

    async def _insert(self, told: Sequence[RunLines]) -> set[str]:
        lines = [line for _, each in told for line in each]
        rows = {
            "runs": [UUID(run.run_id) for run, _ in told],
            "attempts": [Int4(run.attempt) for run, _ in told],
            "of": [UUID(line.envelope.run_id) for line in lines],
            "seqs": [Int4(line.envelope.seq) for line in lines],
            "types": [line.envelope.event.type for line in lines],
            "payloads": [line.text for line in lines],
            "said": notification_payload([run.run_id for run, _ in told]),
        }

        async def write() -> set[str]:
            async with self._database.connection() as connection:
                found = await (await connection.execute(_WRITE, rows)).fetchone()
            assert found is not None
            return set(found[0])

        return await retry_while_unavailable(
            write
        )  # written twice is written once: a row that is there already stays as it is
