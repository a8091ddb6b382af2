"""Stored runs, which any process can follow while their log grows and after it was deleted."""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing, suppress
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, cast

from pydantic import ConfigDict, TypeAdapter

from graph.errors import NotFound
from graph.events import TERMINAL, AnyEvent, Envelope, Event, RunFailed, RunFinished, timestamp
from graph.evidence import Identity, Message, Outcome, StopReason
from tools.retrieval.withholding import documents_of, find_unreadable, hidden_in, withhold
from tools.runs.live_run import Run
from tools.runs.notifications import CHANNEL, STOPS, Notifications
from tools.storage.database import Database, retry_while_unavailable
from tools.storage.tenants import Workspaces

POLL_SECONDS = 2.0  # in case a notification is lost
EVENTS_PER_READ = 500

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
SELECT lease_owner, outcome, stop_reason, finished_at, last_seq,
       EXISTS (SELECT 1 FROM run_events WHERE run_id = runs.run_id),
       (SELECT body FROM messages WHERE run_id = runs.run_id AND role = 'assistant'),
       (SELECT upgraded_at IS NOT NULL FROM messages WHERE run_id = runs.run_id AND role = 'assistant')
FROM runs WHERE run_id = %s
"""
# Every id in the log: those that are no documents' are told apart by looking them up.
_NAMED = r"""
SELECT DISTINCT found[1] FROM run_events, regexp_matches(payload, '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}', 'g')
    AS found
WHERE run_id = %s
"""
_STORED_END = """
SELECT seq, payload FROM run_events JOIN runs USING (run_id)
WHERE run_id = %s AND attempt = %s AND status = 'finished' AND seq = runs.last_seq
"""
_STOP = f"""
WITH stopped AS (
    UPDATE runs SET stop_requested = coalesce(stop_requested, %s) WHERE run_id = %s AND status <> 'finished'
    RETURNING run_id
)
SELECT pg_notify('{CHANNEL}', '{STOPS}') FROM stopped
"""


_EVENT: TypeAdapter[AnyEvent] = TypeAdapter(Event, config=ConfigDict(defer_build=True))


def parse_event(text: str) -> AnyEvent:
    """Parse an event from its JSON in the log."""
    return _EVENT.validate_json(text)


def parse_line(run_id: str, session_id: str, seq: int, text: str) -> Envelope:
    """Parse a line of a run's log."""
    at = text.partition('"at":"')[2].partition('"')[0]
    return Envelope(run_id, session_id, seq, at, parse_event(text), text)


@dataclass(frozen=True, slots=True)
class RunLogs:
    """Access to the stored runs of a deployment."""

    database: Database
    workspaces: Workspaces
    notifications: Notifications

    async def find(self, identity: Identity, run_id: str) -> "StoredRun | None":
        """Return a run of the identity, or None."""
        return await self._find_one(_MINE, run_id, identity)

    def stored(self, run: Run) -> "StoredRun":
        """Return a run of this process as other processes read it."""
        return StoredRun(self, run.run_id, run.session_id, run.message_id)

    async def stored_end(self, run: Run) -> Envelope | None:
        """Return the terminal event that this attempt at a run has stored already, None where it has stored none."""
        row = await self.database.fetch_one(_STORED_END, [run.run_id, run.attempt])
        return None if row is None else self.stored(run).envelope(*row)

    async def current(self, identity: Identity, session_id: str) -> "StoredRun | None":
        """Return the running run of a session, else the one that has waited longest, else None."""
        return await self._find_one(_CURRENT, session_id, identity)

    async def _find_one(self, query: str, key: str, identity: Identity) -> "StoredRun | None":
        keys = [key, await self.workspaces.number(identity.workspace), identity.user]
        row = await self.database.fetch_one(query, keys)
        return None if row is None else replace(StoredRun(self, *row), reader=identity)


@dataclass(slots=True, eq=False)
class StoredRun:
    """A run read from the database, whichever process answers it.

    The log of a run that has ended is not read again by a ``reader`` who may no longer read what it shows: then only
    the end is left, without that.
    """

    logs: RunLogs
    run_id: str
    session_id: str
    message_id: str
    watchers: int = 0
    abandoned: bool = False
    cancel_when_unread: bool = False
    reader: Identity | None = None
    owner: str | None = None  # the process that has it, as last read

    async def events(self, after: int = 0) -> AsyncGenerator[Envelope, None]:
        """Yield the events after sequence number ``after``, as they are logged, up to the terminal event."""
        async with aclosing(self.batches(after)) as batches:
            async for batch in batches:
                for envelope in batch:
                    yield envelope

    async def batches(self, after: int = 0) -> AsyncGenerator[Sequence[Envelope], None]:
        """Yield the events after sequence number ``after``, those of one reading of the log at once."""
        if (withheld := await self._withheld_end()) is not None:
            if withheld.last_seq is None or withheld.last_seq > after:
                yield [self._end_envelope(withheld, after)]
            return
        notifications = self.logs.notifications
        with notifications.subscribe(self.run_id) as wakeup:
            while True:
                wakeup.clear()
                if batch := await self._read_after(after):
                    after = batch[-1].seq
                    is_over = isinstance(batch[-1].event, TERMINAL)
                    yield await self._with_upgrades(batch) if is_over else batch
                    if is_over:
                        return
                end = await self._read_end()
                if end is None:
                    if self.owner:
                        notifications.follow(self.owner)
                    await wait_for_wakeup(wakeup, POLL_SECONDS)
                elif end.last_seq is not None and end.last_seq <= after:
                    return
                elif not end.logged:
                    yield [self._end_envelope(end, after)]
                    return

    async def _with_upgrades(self, batch: list[Envelope]) -> list[Envelope]:
        """Return the last events of a run, the end with its message as it stands now: an exam may have settled it."""
        end = await self._read_end()
        if end is None or not end.upgraded:
            return batch
        return [*batch[:-1], replace(batch[-1], event=_terminal_event(end), text="")]

    async def is_over(self, after: int) -> bool:
        """Whether a reader that has received event ``after`` has received the terminal event."""
        end = await self._read_end()
        return end is not None and end.last_seq is not None and end.last_seq <= after

    async def cancel(self, reason: StopReason) -> None:
        """Ask the process that answers the run to stop it, and wait until its end is recorded."""
        await self.logs.database.execute(_STOP, [reason, self.run_id])
        with self.logs.notifications.subscribe(self.run_id) as wakeup:
            while await self._read_end() is None:
                await wait_for_wakeup(wakeup, POLL_SECONDS)
                wakeup.clear()

    async def _read_after(self, after: int) -> list[Envelope]:
        async def read() -> list[Any]:
            return await self.logs.database.fetch_all(_LOG, [self.run_id, after, EVENTS_PER_READ])

        rows = await retry_while_unavailable(read)
        return [self.envelope(seq, payload) for seq, payload in rows]

    def envelope(self, seq: int, payload: str) -> Envelope:
        return parse_line(self.run_id, self.session_id, seq, payload)

    async def _read_end(self) -> "_RunEnd | None":
        async def read() -> Any:
            return await self.logs.database.fetch_one(_END, [self.run_id])

        row = await retry_while_unavailable(read)
        if row is None:
            raise NotFound(f"There is no run {self.run_id} any more.")
        self.owner, *end = row
        return None if end[0] is None else _RunEnd(*end)

    async def _withheld_end(self) -> "_RunEnd | None":
        """Return a finished run's end with unreadable documents withheld, or None if the reader may read everything."""
        if self.reader is None or (end := await self._read_end()) is None:
            return None
        workspace, body = await self.logs.workspaces.number(self.reader.workspace), end.body or {}
        async with self.logs.database.connection() as connection:
            logged = {found for (found,) in await (await connection.execute(_NAMED, [self.run_id])).fetchall()}
            refused, gone = await find_unreadable(connection, workspace, self.reader, logged | documents_of(body))
        hidden = hidden_in(body, refused, gone)
        if not hidden and not refused & logged:
            return None
        return replace(end, body=None if end.body is None else withhold(body, hidden))

    def _end_envelope(self, end: "_RunEnd", after: int) -> Envelope:
        at = timestamp(end.finished_at)
        return Envelope(self.run_id, self.session_id, end.last_seq or after + 1, at, _terminal_event(end))


@dataclass(frozen=True, slots=True)
class _RunEnd:
    """How a run ended; ``last_seq`` is None for runs of schema 0001, ``body`` where it left no answer."""

    outcome: Outcome
    stop_reason: str
    finished_at: datetime
    last_seq: int | None
    logged: bool
    body: dict[str, Any] | None
    upgraded: bool | None


def _terminal_event(end: _RunEnd) -> RunFinished | RunFailed:
    if end.outcome == "failed" or end.body is None:
        return RunFailed(
            code=end.stop_reason,
            message="The run failed; its log is no longer kept.",
            suggestion="Ask the question again.",
            retryable=True,
        )
    message = cast(Message, {name: value for name, value in end.body.items() if name not in ("spent", "cost")})
    return RunFinished(
        outcome=end.outcome,
        stop_reason=end.stop_reason,
        message=message,
        spent=end.body.get("spent", {}),
        cost=end.body.get("cost"),
    )


async def wait_for_wakeup(wakeup: asyncio.Event, seconds: float) -> None:
    """Wait for a notification, at most ``seconds``."""
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await wakeup.wait()
