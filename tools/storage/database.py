"""The database: a pool of cheaply checked connections, its failures as our own errors, and retries while it fails."""

import asyncio
import select
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass
from typing import Any, LiteralString, Protocol, TypeVar
from weakref import WeakKeyDictionary

import psycopg
from psycopg import sql
from psycopg.pq import PipelineStatus
from psycopg.rows import class_row
from psycopg_pool import AsyncConnectionPool, PoolTimeout

from graph.errors import (
    CitewellError,
    ConfigurationError,
    DatabaseBusy,
    DatabaseUnavailable,
    WorkspaceMoved,
    WorkspaceMoving,
)
from tools.concurrency.tasks import finish_then_cancel
from tools.storage.supervision import DiskRoom

Connection = psycopg.AsyncConnection
T = TypeVar("T")
Query = LiteralString | bytes | sql.SQL | sql.Composed
Parameters = Sequence[Any] | Mapping[str, Any] | None

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


# Detects a silently lost server within seconds on TCP; by default libpq waits for hours.
CONNECTING: dict[str, Any] = {
    "connect_timeout": 5,
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 20_000,  # milliseconds
}

LEAST_POSTGRESQL = 15  # the major version that has NULLS NOT DISTINCT, by which the schema tells sources apart
LARGE_BYTES = 1_000_000
READING_SECONDS = 5.0  # that a replica may take: one whose network is cut says nothing at all

TRANSLATED_ERRORS: tuple[tuple[type[Exception], type[CitewellError], str], ...] = (
    (PoolBusy, DatabaseBusy, "All database connections are in use, and none became free in time."),
    (PoolTimeout, DatabaseUnavailable, "The database cannot be reached."),
    (psycopg.errors.QueryCanceled, DatabaseUnavailable, "The database took too long over a query."),
    (psycopg.errors.DeadlockDetected, DatabaseUnavailable, "The database was busy with conflicting changes."),
    (psycopg.errors.SerializationFailure, DatabaseUnavailable, "The database was busy with conflicting changes."),
    (psycopg.errors.LockNotAvailable, DatabaseUnavailable, "The database was busy with conflicting changes."),
    (psycopg.errors.DiskFull, DatabaseUnavailable, "The disk of the database is full."),
    (psycopg.errors.ReadOnlySqlTransaction, DatabaseUnavailable, "The database takes no changes: it is a standby."),
    (psycopg.OperationalError, DatabaseUnavailable, "The database cannot be reached."),
    (psycopg.InterfaceError, DatabaseUnavailable, "The connection to the database broke."),
)
MOVING, MOVED = "CW503", "CW421"  # the codes by which migrations/versions/sql/0025 refuses changes of a workspace
# A condition of statements that change rows of all workspaces: a closed one would refuse the whole statement.
TAKES_CHANGES: LiteralString = "workspace NOT IN (SELECT workspace FROM closed_workspaces)"


@contextmanager
def database_errors() -> Iterator[None]:
    """Translate psycopg's errors for a failing database into ours; errors of a query itself pass unchanged."""
    try:
        yield
    except tuple(kind for kind, _, _ in TRANSLATED_ERRORS) as error:
        translated, message = next((to, message) for kind, to, message in TRANSLATED_ERRORS if isinstance(error, kind))
        # Too few connections are no fault whose trace would help.
        raise translated(message) from (None if translated is DatabaseBusy else error)
    except psycopg.DatabaseError as error:
        if error.sqlstate not in (MOVING, MOVED):
            raise
        raise elsewhere(error.diag.message_primary or "", is_moved=error.sqlstate == MOVED) from None


def elsewhere(workspace: str, *, is_moved: bool) -> WorkspaceMoved | WorkspaceMoving:
    """Return the error for a workspace that is in another database, or about to be."""
    if is_moved:
        return WorkspaceMoved(f"The workspace {workspace!r} is in another database now.")
    return WorkspaceMoving(f"The workspace {workspace!r} is being moved to another database.")


def replace_if_large(connection: Connection, size: int) -> None:
    """Have the pool replace a connection once it is back, if the ``size`` bytes that it moved at once are many.

    As long as a connection lasts, its buffers stay as large as the most that it has sent or got at once.
    """
    if size > LARGE_BYTES:
        connection._expire_at = 0.0


def refuse_older(connection: Connection) -> None:
    """Raise ConfigurationError where the server is older than this release's schema and queries need."""
    major, minor = divmod(connection.info.server_version, 10_000)
    if major < LEAST_POSTGRESQL:
        raise ConfigurationError(
            f"The database runs on PostgreSQL {major}.{minor}, and Citewell needs {LEAST_POSTGRESQL} or newer.",
            suggestion="Upgrade it, name a newer one in CITEWELL_DATABASE_URL, or unset that for the embedded one.",
        )


_HAS_VECTORS = """
SELECT EXISTS (SELECT 1 FROM pg_attribute JOIN pg_type ON pg_type.oid = atttypid
               WHERE attrelid = 'segments'::regclass AND attname = 'weights' AND typname = 'sparsevec')
"""


async def has_vectors(connection: Connection) -> bool:
    """Whether the library was made with pgvector."""
    return bool(await value_of(connection, _HAS_VECTORS))


async def value_of(
    connection: Connection, statement: Query, parameters: Parameters = None, *, prepare: bool | None = None
) -> Any:
    """Return the first column of the first row of a statement; None where there is no row."""
    row = await (await connection.execute(statement, parameters, prepare=prepare)).fetchone()
    return None if row is None else row[0]


async def row_of(connection: Connection, kind: type[T], statement: Query, parameters: Parameters = None) -> T | None:
    """Return the first row of a statement as a class whose fields its columns name; None where there is no row."""
    async with connection.cursor(row_factory=class_row(kind)) as rows:
        return await (await rows.execute(statement, parameters)).fetchone()


async def rows_of(
    connection: Connection,
    kind: type[T],
    statement: Query,
    parameters: Parameters = None,
    *,
    prepare: bool | None = None,
) -> list[T]:
    """Return all rows of a statement as ``row_of`` does."""
    async with connection.cursor(row_factory=class_row(kind)) as rows:
        return await (await rows.execute(statement, parameters, prepare=prepare)).fetchall()


@asynccontextmanager
async def only_one(connection: Connection, lock: LiteralString, *parameters: Any) -> AsyncIterator[bool]:
    """Hold an advisory lock, whose keys ``lock`` writes in SQL, during the block; yields False where others hold it."""
    held = bool(await value_of(connection, f"SELECT pg_try_advisory_lock({lock})", parameters))
    try:
        yield held
    finally:
        if held:
            await finish_then_cancel(_unlock(connection, f"SELECT pg_advisory_unlock({lock})", parameters))


async def _unlock(connection: Connection, statement: LiteralString, parameters: Sequence[Any]) -> None:
    with suppress(psycopg.Error):  # a connection that broke has lost its lock
        await connection.execute(statement, parameters)


class ReadReplica(Protocol):
    """Standbys that answer readings as the primary would."""

    @property
    def left_out(self) -> str | None:
        """Why the primary answers alone, as a clause; None while the standbys answer."""
        ...

    async def read(self, work: Callable[[Connection], Awaitable[T]], *, seconds: float | None = READING_SECONDS) -> T:
        """Do readings, as ``Database.read`` does."""
        ...


@dataclass(frozen=True, slots=True)
class Database:
    """An open database. Use ``pool`` only where a component manages connections itself, as the checkpointer does.

    ``has_vectors`` says whether its library was made with pgvector; without it, words alone are searched.
    """

    url: str
    pool: Pool
    has_vectors: bool = True
    room: DiskRoom | None = None  # that the disk of the embedded server must keep
    replica: ReadReplica | None = None

    async def require_room(self) -> None:
        """Raise DiskLow where the disk has no room for anything new; call it before new work is accepted."""
        if self.room is not None:
            await self.room.require()

    @asynccontextmanager
    async def connection(self) -> AsyncIterator[Connection]:
        """Borrow an autocommit connection; use ``connection.transaction()`` to make several statements atomic.

        Raises DatabaseBusy if none becomes free within ``pool_timeout_seconds``, DatabaseUnavailable if the database
        fails.
        """
        with database_errors():
            async with self.pool.connection() as connection:
                try:
                    yield connection
                except psycopg.errors.ReadOnlySqlTransaction:
                    await connection.close()  # so that the pool looks for the primary among the hosts of its address
                    raise

    async def execute(self, statement: Query, parameters: Parameters = None) -> int:
        """Execute one statement; return how many rows it changed. Raises what ``connection`` raises."""
        async with self.connection() as connection:
            return (await connection.execute(statement, parameters)).rowcount

    async def fetch_one(self, statement: Query, parameters: Parameters = None) -> tuple[Any, ...] | None:
        """Return the first row of one statement; None where there is none. Raises what ``connection`` raises."""
        async with self.connection() as connection:
            return await (await connection.execute(statement, parameters)).fetchone()

    async def fetch_all(self, statement: Query, parameters: Parameters = None) -> list[tuple[Any, ...]]:
        """Return all rows of one statement. Raises what ``connection`` raises."""
        async with self.connection() as connection:
            return await (await connection.execute(statement, parameters)).fetchall()

    async def read(self, work: Callable[[Connection], Awaitable[T]], *, seconds: float | None = READING_SECONDS) -> T:
        """Do readings on a borrowed connection and return what ``work`` does: on the replica, where there is one.

        They see all that was acknowledged before, as on the primary. ``work`` changes nothing and may be done twice: on
        the primary where the replica fails, or takes longer than ``seconds``. Raises what ``connection`` raises.
        """
        if self.replica is not None:
            return await self.replica.read(work, seconds=seconds)
        async with self.connection() as connection:
            return await work(connection)


PATIENCE_SECONDS = 20.0
RETRY_SECONDS = 0.1


async def retry_while_unavailable(
    work: Callable[[], Awaitable[T]], *, unless: Callable[[], object] = lambda: None
) -> T:
    """Run work that needs the database, and retry it while the database is unavailable.

    Work whose reply was lost is done twice, so it must be idempotent. Raises DatabaseUnavailable where the database
    stays unavailable for 20 seconds, or fails while ``unless`` returns something true.
    """
    until = asyncio.get_running_loop().time() + PATIENCE_SECONDS
    while True:
        try:
            return await work()
        except DatabaseUnavailable:
            if unless() or asyncio.get_running_loop().time() > until:
                raise
            await asyncio.sleep(RETRY_SECONDS)
