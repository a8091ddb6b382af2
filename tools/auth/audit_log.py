"""The audit log: who asked, read, changed and was refused. Entries are written in batches, in a task of their own.

A request leaves its entry in memory, and answers don't wait for it. Entries that differ in their time alone become one
with a count, so that somebody who tries many keys fills no disk.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import astuple, dataclass, field, fields
from datetime import UTC, datetime
from typing import Literal

from psycopg import DataError

from graph.errors import DatabaseUnavailable, InvalidRequest
from tools.concurrency.tasks import shield_until_done
from tools.storage.database import Database, rows_of

log = logging.getLogger("citewell.audit")

FLUSH_SECONDS = 1.0
KEEP_DAYS = 90  # where the settings say nothing, or that no more is to be kept
MOST_WAITING = 10_000  # different entries; those beyond are counted in the log of the process
EXPIRED_AT_ONCE = 10_000
Action = Literal["ask", "read", "change"]
Outcome = Literal["done", "refused", "not_found", "invalid", "failed"]


@dataclass(frozen=True, slots=True)
class AuditEntry:
    """What somebody did, or tried. ``request`` is the route, ``target`` the ids in its path or the run that it began.

    ``credential`` is the id of a key or a token; ``reason`` the code of a refusal; ``times`` how many requests it
    stands for. ``workspace`` and ``user`` are None where the credentials are not good.
    """

    workspace: str | None
    user: str | None
    credential: str | None
    action: Action
    request: str
    target: str | None
    outcome: Outcome
    status: int
    reason: str | None
    address: str | None
    question: str | None = None


@dataclass(frozen=True, slots=True)
class StoredEntry(AuditEntry):
    """An entry as it is read again."""

    entry_id: int = field(kw_only=True)
    at: datetime = field(kw_only=True)
    times: int = field(kw_only=True)


@dataclass(frozen=True, slots=True)
class AuditPage:
    """A page of entries, newest first. ``next_cursor`` requests the next page; None at the end."""

    entries: list[StoredEntry]
    next_cursor: str | None


_COLUMNS = ", ".join(f'"{each.name}"' for each in fields(AuditEntry))
_WRITE = f"COPY audit_log (at, times, {_COLUMNS}) FROM STDIN"
_READ = f"""
SELECT entry_id, at, times, {_COLUMNS} FROM audit_log
WHERE (%(workspace)s::text IS NULL OR workspace = %(workspace)s)
  AND (%(user)s::text IS NULL OR "user" = %(user)s)
  AND (%(action)s::text IS NULL OR action = %(action)s)
  AND (%(outcome)s::text IS NULL OR outcome = %(outcome)s)
  AND (%(credentials)s::text[] IS NULL OR credential = ANY(%(credentials)s))
  AND (%(before)s::bigint IS NULL OR entry_id < %(before)s)
ORDER BY entry_id DESC LIMIT %(limit)s
"""
_EXPIRE = f"""
DELETE FROM audit_log WHERE ctid = ANY(array(
    SELECT ctid FROM audit_log WHERE at < now() - make_interval(days => %(days)s) LIMIT {EXPIRED_AT_ONCE}))
"""

Waiting = dict[AuditEntry, tuple[datetime, int]]  # from when, and how often


class AuditLog:
    """The audit log of a deployment, to read and, while ``writing``, to write."""

    def __init__(self, database: Database, *, most_waiting: int = MOST_WAITING) -> None:
        self._database = database
        self._most_waiting = most_waiting
        self._waiting: Waiting = {}
        self._lost = 0

    def record(self, entry: AuditEntry) -> None:
        at, times = self._waiting.get(entry, (datetime.now(UTC), 0))
        if times or len(self._waiting) < self._most_waiting:
            self._waiting[entry] = (at, times + 1)
        else:
            self._lost += 1

    @asynccontextmanager
    async def writing(self) -> AsyncIterator[None]:
        """Write what is recorded, within a second, and the rest on leaving."""
        stopping = asyncio.Event()
        task = asyncio.create_task(self._write_until(stopping), name="citewell-audit")
        try:
            yield
        finally:
            stopping.set()
            await shield_until_done(asyncio.wait([task]))

    async def flush(self) -> None:
        """Write what is waiting, but an entry that can't be. Raises DatabaseUnavailable, and all waits on then."""
        lost, self._lost = self._lost, 0
        if lost:
            log.warning("%d entries of the audit log were lost: too many were waiting", lost)
        if self._waiting:
            await self._write(dict(self._waiting))

    async def _write(self, entries: Waiting) -> None:
        began = datetime.now(UTC)
        try:
            async with (
                self._database.connection() as connection,
                connection.cursor() as cursor,
                cursor.copy(_WRITE) as copy,
            ):
                for entry, (at, times) in entries.items():
                    await copy.write_row((at, times, *astuple(entry)))
        except (DataError, UnicodeError) as error:
            if len(entries) > 1:  # one of them can't be written, and the others need not wait for it
                rows = list(entries.items())
                await self._write(dict(rows[: len(rows) // 2]))
                await self._write(dict(rows[len(rows) // 2 :]))
                return
            log.warning("an entry of the audit log can't be written: %s", error)
        self._forget(entries, began)

    def _forget(self, written: Waiting, began: datetime) -> None:
        """Remove what was written; what was counted meanwhile stays, from when the writing began."""
        for entry, (_, before) in written.items():
            _, times = self._waiting.pop(entry)
            if times > before:
                self._waiting[entry] = (began, times - before)

    async def _write_until(self, stopping: asyncio.Event) -> None:
        while True:
            with suppress(TimeoutError):
                await asyncio.wait_for(stopping.wait(), FLUSH_SECONDS)
            is_last = stopping.is_set()
            try:
                await self.flush()
            except DatabaseUnavailable as error:
                log.warning("the audit log could not be written: %s", error.message)
            except Exception:
                log.exception("the audit log could not be written")
            if is_last:
                return

    async def list(
        self,
        *,
        workspace: str | None = None,
        user: str | None = None,
        action: Action | None = None,
        outcome: Outcome | None = None,
        credentials: Sequence[str] | None = None,
        limit: int = 50,
        cursor: str | None = None,
    ) -> AuditPage:
        """List entries of one workspace or of all, newest first, ``limit`` per page.

        Raises InvalidRequest for a cursor that does not come from this method.
        """
        if cursor is not None and not (cursor.isascii() and cursor.isdigit() and len(cursor) < 19):
            raise InvalidRequest("cursor: it is none of this list.", suggestion="Send next_cursor of the last page.")
        row = {
            "workspace": workspace,
            "user": user,
            "action": action,
            "outcome": outcome,
            "credentials": credentials,
            "before": None if cursor is None else int(cursor),
            "limit": limit + 1,
        }
        async with self._database.connection() as connection:
            found = await rows_of(connection, StoredEntry, _READ, row)
        shown = found[:limit]
        return AuditPage(shown, str(shown[-1].entry_id) if len(found) > limit else None)


async def expire_audit(database: Database, *, days: int) -> int:
    """Delete entries older than ``days``, in batches; return how many there were."""
    total = 0
    async with database.connection() as connection:
        while True:
            deleted = (await connection.execute(_EXPIRE, {"days": days})).rowcount
            total += deleted
            if deleted < EXPIRED_AT_ONCE:
                return total
