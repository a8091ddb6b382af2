"""A pool of PostgreSQL connections, and the translation of database failures into our own errors."""

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from typing import Any, LiteralString, Protocol, TypeVar

import psycopg
from psycopg_pool import PoolTimeout

from graph.errors import (
    CitewellError,
    ConfigurationError,
    DatabaseBusy,
    DatabaseUnavailable,
    WorkspaceMoved,
    WorkspaceMoving,
)
from tools.storage.pool import Connection, Pool, PoolBusy
from tools.storage.supervision import DiskRoom

T = TypeVar("T")

__all__ = ["CONNECTING", "Connection", "Database", "Pool", "database_errors"]
# Detects a silently lost server within seconds on TCP; by default libpq waits for hours.
CONNECTING: dict[str, Any] = {
    "connect_timeout": 5,
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 20_000,  # milliseconds
}

LEAST_POSTGRESQL = 15  # the major version that has NULLS NOT DISTINCT, by which the schema tells sources apart
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
    row = await (await connection.execute(_HAS_VECTORS)).fetchone()
    return row is not None and bool(row[0])


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

    async def read(self, work: Callable[[Connection], Awaitable[T]], *, seconds: float | None = READING_SECONDS) -> T:
        """Do readings on a borrowed connection and return what ``work`` does: on the replica, where there is one.

        They see all that was acknowledged before, as on the primary. ``work`` changes nothing and may be done twice: on
        the primary where the replica fails, or takes longer than ``seconds``. Raises what ``connection`` raises.
        """
        if self.replica is not None:
            return await self.replica.read(work, seconds=seconds)
        async with self.connection() as connection:
            return await work(connection)
