"""The pool of a process: connections that are checked cheaply, and timeouts that say why no connection came free."""

import asyncio
import select
import time
from contextlib import suppress
from typing import Any
from weakref import WeakKeyDictionary

import psycopg
from psycopg.pq import PipelineStatus
from psycopg_pool import AsyncConnectionPool, PoolTimeout

from tools.concurrency.tasks import finish_then_cancel

Connection = psycopg.AsyncConnection

RECHECK_SECONDS = 5.0
# A lost connection is tried again once after this time and then only when somebody asks for one. By default, a pool
# would double its wait up to minutes, and notice a server's return long after it.
RECONNECT_SECONDS = 0.5


class PoolBusy(PoolTimeout):
    """A timeout while all connections were lent, and the server had answered since it last failed."""


class Pool(AsyncConnectionPool[Connection]):
    """A pool whose timeout is a PoolBusy where it has too few connections, and not a server that fails."""

    def __init__(self, url: str, **options: Any) -> None:
        self._lent = 0
        self._answered_at = self._failed_at = 0.0
        self._checked_at: WeakKeyDictionary[Connection, float] = WeakKeyDictionary()
        self._checking: asyncio.Task[None] | None = None
        super().__init__(
            url,
            open=False,
            check=self._check_cheaply,
            reconnect_timeout=RECONNECT_SECONDS,
            reconnect_failed=self._note_failure,
            **options,
        )

    async def getconn(self, timeout: float | None = None) -> Connection:
        """Lend a connection. Raises PoolBusy, or PoolTimeout where the server fails."""
        # The one that came back last, not the one that has waited longest: what it is asked next is in caches of its
        # server process, and of the processor.
        self._pool.rotate(1)
        try:
            connection = await super().getconn(timeout)
        except PoolTimeout as error:
            if self._lent and self._answered_at >= self._failed_at:
                raise PoolBusy(str(error)) from None
            raise
        self._lent += 1
        self._answered_at = time.monotonic()
        return connection

    async def putconn(self, conn: Connection) -> None:
        """Take a connection back, however often that is cancelled; one that is left in a pipeline is closed.

        psycopg 3.3 leaves a connection in its pipeline where a transaction in it is cancelled. Whatever is done on it
        then seems done, and is committed with the next pipeline, or never.
        """
        self._lent -= 1
        await finish_then_cancel(self._take_back(conn))

    async def _take_back(self, connection: Connection) -> None:
        if connection.pgconn.pipeline_status != PipelineStatus.OFF:
            await connection.close()
        await super().putconn(connection)

    async def close(self, timeout: float = 5.0) -> None:
        """Close the pool and its connections."""
        await super().close(timeout)
        if self._checking is not None:
            self._checking.cancel()
            with suppress(asyncio.CancelledError, psycopg.Error):
                await self._checking

    async def _check_cheaply(self, connection: Connection) -> None:
        """Raise OperationalError if a connection is broken.

        A check on the server takes a round trip, and a run takes dozens of connections. So a connection that was
        checked within the last ``RECHECK_SECONDS`` is only polled: an idle connection has nothing to read, but a closed
        one has.
        """
        now = time.monotonic()
        checked_at = self._checked_at.get(connection)
        if checked_at is not None and now - checked_at < RECHECK_SECONDS and not _readable(connection):
            return
        try:
            await self.check_connection(connection)
        except psycopg.Error:
            self._note_failure(self)
            # Where one is broken the others may be too, and whoever asks would wait a second, then two, between them.
            if self._checking is None or self._checking.done():
                self._checking = asyncio.create_task(self.check(), name="citewell-pool")
            raise
        self._checked_at[connection] = now

    def _note_failure(self, _: Any) -> None:
        self._failed_at = time.monotonic()


def _readable(connection: Connection) -> bool:
    poll = select.poll()
    poll.register(connection.fileno(), select.POLLIN)
    return bool(poll.poll(0))
