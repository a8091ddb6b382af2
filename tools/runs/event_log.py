"""Runs as the database has them: followed from any process, while their log grows and after it was deleted."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from typing import Any, cast

from pydantic import TypeAdapter

from graph.errors import NotFound
from graph.events import TERMINAL, AnyEvent, Envelope, Event, RunFailed, RunFinished, timestamp
from graph.evidence import Identity, Message, Outcome, StopReason
from tools.runs.live_run import Run
from tools.runs.notifications import CHANNEL, STOPS, Notifications
from tools.runs.retry import retry_while_unavailable
from tools.storage.database import Database
from tools.storage.tenants import Workspaces

POLL_SECONDS = 2.0  # where no notification comes
EVENTS_PER_READ = 500

_EVENT: TypeAdapter[AnyEvent] = TypeAdapter(Event)
_MINE = """
SELECT run_id::text, session_id::text, message_id::text FROM runs
WHERE run_id = %s AND workspace = %s AND "user" = %s
"""
_CURRENT = """
SELECT run_id::text, session_id::text, message_id::text FROM runs
WHERE session_id = %s AND workspace = %s AND "user" = %s AND status <> 'finished'
ORDER BY status = 'running' DESC, created_at, run_id LIMIT 1
"""
_LOG = "SELECT seq, payload FROM run_events WHERE run_id = %s AND seq > %s ORDER BY seq LIMIT %s"
_END = """
SELECT outcome, stop_reason, finished_at, last_seq, EXISTS (SELECT 1 FROM run_events WHERE run_id = runs.run_id),
       (SELECT body FROM messages WHERE run_id = runs.run_id AND role = 'assistant')
FROM runs WHERE run_id = %s
"""
_STOP = f"""
WITH stopped AS (
    UPDATE runs SET stop_requested = coalesce(stop_requested, %s) WHERE run_id = %s AND status <> 'finished'
    RETURNING run_id
)
SELECT pg_notify('{CHANNEL}', '{STOPS}') FROM stopped
"""


@dataclass(frozen=True, slots=True)
class RunLogs:
    """The logs of a deployment's runs."""

    database: Database
    workspaces: Workspaces
    bell: Notifications

    async def find(self, identity: Identity, run_id: str) -> "StoredRun | None":
        """Find a run of the identity's."""
        return await self._one(_MINE, run_id, identity)

    def stored(self, run: Run) -> "StoredRun":
        """Give a run of this process as another would read it."""
        return StoredRun(self, run.run_id, run.session_id, run.message_id)

    async def current(self, identity: Identity, session_id: str) -> "StoredRun | None":
        """Find the run that a session answers, or else the one that has waited longest in it."""
        return await self._one(_CURRENT, session_id, identity)

    async def _one(self, query: str, key: str, identity: Identity) -> "StoredRun | None":
        whose = [key, await self.workspaces.number(identity.workspace), identity.user]
        async with self.database.connection() as connection:
            row = await (await connection.execute(query, whose)).fetchone()
        return None if row is None else StoredRun(self, *row)


@dataclass(slots=True, eq=False)
class StoredRun:
    """A run that is read from the database, whichever process answers it."""

    logs: RunLogs
    run_id: str
    session_id: str
    message_id: str
    watchers: int = 0

    async def events(self, after: int = 0) -> AsyncGenerator[Envelope, None]:
        """Follow the log from behind sequence number ``after`` to its terminal event."""
        with self.logs.bell.on(self.run_id) as rung:
            while True:
                rung.clear()
                for envelope in await self._behind(after):
                    after = envelope.seq
                    yield envelope
                    if isinstance(envelope.event, TERMINAL):
                        return
                ended = await self._ended()
                if ended is None:
                    await wait_for_wakeup(rung, POLL_SECONDS)
                elif ended.last_seq is not None and ended.last_seq <= after:
                    return
                elif not ended.logged:
                    yield self._from_its_message(ended, after)
                    return

    async def is_over(self, after: int) -> bool:
        """Tell whether a reader that has had event ``after`` has had the terminal one."""
        ended = await self._ended()
        return ended is not None and ended.last_seq is not None and ended.last_seq <= after

    async def cancel(self, reason: StopReason) -> None:
        """Have the run stopped by whoever answers it, and wait until that is recorded."""
        async with self.logs.database.connection() as connection:
            await connection.execute(_STOP, [reason, self.run_id])
        with self.logs.bell.on(self.run_id) as rung:
            while await self._ended() is None:
                await wait_for_wakeup(rung, POLL_SECONDS)
                rung.clear()

    async def _behind(self, after: int) -> list[Envelope]:
        async def read() -> list[Any]:
            async with self.logs.database.connection() as connection:
                return await (await connection.execute(_LOG, [self.run_id, after, EVENTS_PER_READ])).fetchall()

        rows = await retry_while_unavailable(read)
        return [self._envelope(seq, payload) for seq, payload in rows]

    def _envelope(self, seq: int, payload: str) -> Envelope:
        at = payload.partition('"at":"')[2].partition('"')[0]
        return Envelope(self.run_id, self.session_id, seq, at, parse_event(payload), payload)

    async def _ended(self) -> "_RunEnd | None":
        async def read() -> Any:
            async with self.logs.database.connection() as connection:
                return await (await connection.execute(_END, [self.run_id])).fetchone()

        row = await retry_while_unavailable(read)
        if row is None:
            raise NotFound(f"There is no run {self.run_id} any more.")
        return None if row[0] is None else _RunEnd(*row)

    def _from_its_message(self, ended: "_RunEnd", after: int) -> Envelope:
        at = timestamp(ended.finished_at)
        return Envelope(self.run_id, self.session_id, ended.last_seq or after + 1, at, _terminal_event(ended))


@dataclass(frozen=True, slots=True)
class _RunEnd:
    """A run that has ended; ``last_seq`` is None for one of schema 0001, ``body`` where it left no answer."""

    outcome: Outcome
    stop_reason: str
    finished_at: datetime
    last_seq: int | None
    logged: bool
    body: dict[str, Any] | None


def _terminal_event(ended: _RunEnd) -> RunFinished | RunFailed:
    if ended.outcome == "failed" or ended.body is None:
        return RunFailed(
            code=ended.stop_reason,
            message="The run failed; its log is no longer kept.",
            suggestion="Ask the question again.",
            retryable=True,
        )
    message = cast(Message, {name: value for name, value in ended.body.items() if name != "spent"})
    return RunFinished(
        outcome=ended.outcome, stop_reason=ended.stop_reason, message=message, spent=ended.body.get("spent", {})
    )


def parse_event(payload: str) -> AnyEvent:
    """Read an event as the log has it."""
    return _EVENT.validate_json(payload)


async def wait_for_wakeup(rung: asyncio.Event, seconds: float) -> None:
    """Wait until somebody rings, or for so many seconds."""
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await rung.wait()
