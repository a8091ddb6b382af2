"""A read replica: a standby of the database, which answers what the primary would answer the same.

Before each reading the primary is asked how far its log is written, in one small statement for all who ask at that
time. The standby is used once it has replayed the log up to there: so whatever had been acknowledged to anybody, by any
process, is seen, and no right is read that had been taken away. A standby that is not there in time, fails or is down
costs a reading some milliseconds, and the primary answers. See docs/adr/0032-a-replica-that-is-never-behind.md.
"""

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Generic, TypeVar
from weakref import WeakKeyDictionary

import psycopg
from psycopg_pool import PoolTimeout

from graph.errors import CitewellError
from tools.concurrency.tasks import cancel_and_wait
from tools.settings import Settings
from tools.storage.database import READING_SECONDS, Connection, Database, Pool, PoolBusy, value_of
from tools.storage.startup import check_address, pool_of
from tools.telemetry.metrics import REPLICA_LAG, REPLICA_READINGS, REPLICA_UP, REPLICA_WAIT
from tools.telemetry.tracing import background_context

log = logging.getLogger(__name__)

T = TypeVar("T")
Primary = Callable[[], AbstractAsyncContextManager[Connection]]

WATCH_SECONDS = 0.5
# A reading takes some milliseconds, and a standby that keeps up has replayed what it needs within a few: one that has
# not by then would only make it slower than the primary is.
WAIT_SECONDS = 0.05
MOST_LAG_SECONDS = 1.0  # beyond which it is not asked: nearly each reading would wait in vain
BORROW_SECONDS = 0.5  # that a reading waits for a connection before it is the primary's
PAUSE_SECONDS = 0.001  # between two looks at how far it has replayed, doubled up to
LONGEST_PAUSE_SECONDS = 0.008
CAUGHT_UP_SECONDS = 0.1
MOST_SAMPLES = 1000
READY = "the replica answers readings"
OUTAGES = (psycopg.OperationalError, psycopg.InterfaceError, PoolTimeout, TimeoutError, OSError)

# What is acknowledged is flushed, unless commits do not wait for that.
_WRITTEN = """
SELECT pg_wal_lsn_diff(CASE current_setting('synchronous_commit') WHEN 'off' THEN pg_current_wal_insert_lsn()
    ELSE pg_current_wal_flush_lsn() END, '0/0')::bigint
"""
_REPLAYED = "SELECT CASE WHEN pg_is_in_recovery() THEN pg_wal_lsn_diff(pg_last_wal_replay_lsn(), '0/0')::bigint END"


class Unfit(Exception):
    """The replica does not answer a reading. ``result`` is the word for it in the metrics."""

    def __init__(self, result: str, reason: str) -> None:
        super().__init__(reason)
        self.result = result


class SharedReading(Generic[T]):
    """A reading that all share who ask for it while another is under way."""

    def __init__(self, read: Callable[[], Awaitable[T]]) -> None:
        self._read = read
        self._current: asyncio.Task[T] | None = None
        self._next: asyncio.Task[T] | None = None

    async def fresh(self) -> T:
        """Return what is read from now on: a reading that has begun already may not have seen what happened since."""
        if self._next is None:
            self._next = asyncio.create_task(self._after(self._current), context=background_context())
            self._next.add_done_callback(lambda task: task.cancelled() or task.exception())  # it may be nobody's now
        return await asyncio.shield(self._next)

    async def _after(self, current: asyncio.Task[T] | None) -> T:
        if current is not None and not current.done():
            await asyncio.wait([current])
        self._current, self._next = self._next, None
        return await self._read()


class Lag:
    """How long a standby has been behind: the age of the oldest position of the primary that it has not replayed."""

    def __init__(self) -> None:
        self._samples: list[tuple[float, int]] = []

    def note(self, position: int, at: float) -> None:
        """Note a position of the primary, and when it was there."""
        self._samples.append((at, position))
        if len(self._samples) > MOST_SAMPLES:
            del self._samples[1::2]

    def seconds(self, replayed: int, at: float) -> float:
        """Return the lag of a standby that has replayed up to a position."""
        self._samples = [sample for sample in self._samples if sample[1] > replayed]
        return at - self._samples[0][0] if self._samples else 0.0


class Replica:
    """The standbys of a process: it reads from them while they keep up, and knows why where they do not.

    ``primary`` lends a connection to the primary.
    """

    def __init__(self, pool: Pool, primary: Primary) -> None:
        self._pool = pool
        self._primary = primary
        self._written = SharedReading(self._ask_primary)
        # By connection: a standby that was started again may have replayed less than before.
        self._replayed: WeakKeyDictionary[Connection, int] = WeakKeyDictionary()
        self._lag = Lag()
        self._left_out: str | None = "it was not asked yet"
        self._said = ""  # the last line about it in the log
        REPLICA_UP.set(0)

    @property
    def left_out(self) -> str | None:
        """Why the primary answers alone, as a clause; None while the replica answers."""
        return self._left_out

    async def read(self, work: Callable[[Connection], Awaitable[T]], *, seconds: float | None = READING_SECONDS) -> T:
        """Do readings on the replica once it has replayed all that was acknowledged before, else on the primary.

        Where the replica fails in the middle, or takes longer than ``seconds``, ``work`` is done again. Raises what the
        primary raises.
        """
        if self._left_out is None:
            try:
                return await self._read_replica(work, seconds)
            except Unfit as unfit:
                REPLICA_READINGS.labels(unfit.result).inc()
        else:
            REPLICA_READINGS.labels("left_out").inc()
        async with self._primary() as connection:
            return await work(connection)

    async def watch(self) -> None:
        """Look again and again how far the replica is, until cancelled."""
        while True:
            try:
                await self._look()
            except (Unfit, CitewellError) as error:  # said already, or of the primary
                log.debug("the replica was not looked at: %s", error)
            except (psycopg.Error, *OUTAGES) as error:
                self._leave_out(f"it can't be asked: {type(error).__name__}")
            await asyncio.sleep(WATCH_SECONDS)

    async def _read_replica(self, work: Callable[[Connection], Awaitable[T]], seconds: float | None) -> T:
        written = await self._written.fresh()
        try:
            async with asyncio.timeout(seconds), self._pool.connection(BORROW_SECONDS) as connection:
                await self._reach(connection, written)
                found = await work(connection)
        except psycopg.errors.SerializationFailure as error:  # a conflict with what is being replayed
            raise Unfit("conflict", str(error)) from error
        except PoolBusy as error:
            raise Unfit("busy", str(error)) from error
        except OUTAGES as error:
            self._leave_out(f"it fails: {type(error).__name__}")
            raise Unfit("failed", str(error)) from error
        except psycopg.Error as error:  # the primary says what it thinks of the query
            raise Unfit("failed", str(error)) from error
        REPLICA_READINGS.labels("replica").inc()
        return found

    async def _look(self) -> None:
        written, at = await self._written.fresh(), time.monotonic()
        self._lag.note(written, at)
        async with asyncio.timeout(READING_SECONDS), self._pool.connection(BORROW_SECONDS) as connection:
            replayed = await self._ask_replica(connection)
        behind = self._lag.seconds(replayed, time.monotonic())
        REPLICA_LAG.set(behind)
        if behind > MOST_LAG_SECONDS:
            self._leave_out(f"it is {behind:.1f} s behind")
        elif self._left_out is not None and behind <= CAUGHT_UP_SECONDS:
            self._left_out = None
            REPLICA_UP.set(1)
            if self._said != READY:
                self._said = READY
                log.info("%s", READY)

    def _leave_out(self, reason: str, *, briefly: bool = False) -> None:
        """Leave it out until it has caught up, and say so once; ``briefly``: as happens beside writers."""
        if not briefly and self._said in ("", READY):
            self._said = reason
            log.warning("the primary answers readings, not the replica: %s", reason)
        self._left_out = reason
        REPLICA_UP.set(0)

    async def _reach(self, connection: Connection, written: int) -> None:
        """Wait until the server of a connection has replayed up to a position."""
        began = time.monotonic()
        pause = PAUSE_SECONDS
        replayed = self._replayed.get(connection, -1)
        while replayed < written and (replayed := await self._ask_replica(connection)) < written:
            if time.monotonic() - began > WAIT_SECONDS:
                reason = f"it had not replayed in {WAIT_SECONDS:g} s what was acknowledged"
                self._leave_out(reason, briefly=True)
                raise Unfit("behind", reason)
            await asyncio.sleep(pause)
            pause = min(2 * pause, LONGEST_PAUSE_SECONDS)
        REPLICA_WAIT.observe(time.monotonic() - began)

    async def _ask_primary(self) -> int:
        async with self._primary() as connection:
            return int(await value_of(connection, _WRITTEN, prepare=True) or 0)

    async def _ask_replica(self, connection: Connection) -> int:
        replayed: int | None = await value_of(connection, _REPLAYED, prepare=True)
        if replayed is None:
            await connection.close()  # so that the pool looks for a standby among the hosts of its address
            self._leave_out("it is no standby")
            raise Unfit("failed", "it is no standby")
        self._replayed[connection] = replayed
        return replayed


@asynccontextmanager
async def opened_replica(database: Database, settings: Settings, url: str) -> AsyncIterator[Replica]:
    """Open the replica of a database and watch it; nothing fails where it is down.

    Raises ConfigurationError where its address can't be read.
    """
    check_address(url, "replica.url")
    async with pool_of(url, settings) as pool:
        replica = Replica(pool, database.connection)
        watching = asyncio.create_task(replica.watch(), name="citewell-replica", context=background_context())
        try:
            yield replica
        finally:
            await cancel_and_wait(watching)
