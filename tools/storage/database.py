"""A pool of PostgreSQL connections, and the translation of database failures into our own errors."""

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from typing import Any

import psycopg
from psycopg_pool import AsyncConnectionPool, PoolTimeout

from graph.errors import CitewellError, DatabaseUnavailable

Connection = psycopg.AsyncConnection
Pool = AsyncConnectionPool[psycopg.AsyncConnection]
# Detects a silently lost server within seconds on TCP; by default libpq waits for hours.
CONNECTING: dict[str, Any] = {
    "connect_timeout": 5,
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 20_000,  # milliseconds
}

TRANSLATED_ERRORS: tuple[tuple[type[Exception], type[CitewellError], str], ...] = (
    (PoolTimeout, DatabaseUnavailable, "No database connection became free in time."),
    (psycopg.errors.QueryCanceled, DatabaseUnavailable, "The database took too long over a query."),
    (psycopg.errors.DeadlockDetected, DatabaseUnavailable, "The database was busy with conflicting changes."),
    (psycopg.errors.SerializationFailure, DatabaseUnavailable, "The database was busy with conflicting changes."),
    (psycopg.OperationalError, DatabaseUnavailable, "The database cannot be reached."),
    (psycopg.InterfaceError, DatabaseUnavailable, "The connection to the database broke."),
)


@contextmanager
def database_errors() -> Iterator[None]:
    """Translate psycopg's errors for a failing database into ours; errors of a query itself pass unchanged."""
    try:
        yield
    except tuple(kind for kind, _, _ in TRANSLATED_ERRORS) as error:
        translated, message = next((to, message) for kind, to, message in TRANSLATED_ERRORS if isinstance(error, kind))
        raise translated(message) from error


_HAS_VECTORS = """
SELECT EXISTS (SELECT 1 FROM pg_attribute JOIN pg_type ON pg_type.oid = atttypid
               WHERE attrelid = 'segments'::regclass AND attname = 'weights' AND typname = 'sparsevec')
"""


async def has_vectors(connection: Connection) -> bool:
    """Whether the library was made with pgvector."""
    row = await (await connection.execute(_HAS_VECTORS)).fetchone()
    return row is not None and bool(row[0])


@dataclass(frozen=True, slots=True)
class Database:
    """An open database. Use ``pool`` only where a component manages connections itself, as the checkpointer does.

    ``has_vectors`` says whether its library was made with pgvector; without it, words alone are searched.
    """

    url: str
    pool: Pool
    has_vectors: bool = True

    @asynccontextmanager
    async def connection(self) -> AsyncIterator[Connection]:
        """Borrow an autocommit connection; use ``connection.transaction()`` to make several statements atomic.

        Raises DatabaseUnavailable if none becomes free within ``pool_timeout_seconds``, or the database fails.
        """
        with database_errors():
            async with self.pool.connection() as connection:
                yield connection
