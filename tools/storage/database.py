"""A pool of PostgreSQL connections, and database failures as our own errors."""

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from typing import Any

import psycopg
from psycopg_pool import AsyncConnectionPool, PoolTimeout

from graph.errors import CitewellError, DatabaseUnavailable

Connection = psycopg.AsyncConnection
Pool = AsyncConnectionPool[psycopg.AsyncConnection]
# A server that is gone without a word is noticed within seconds, on TCP; libpq waits for hours otherwise.
CONNECTING: dict[str, Any] = {
    "connect_timeout": 5,
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 20_000,  # milliseconds
}

FOREIGN: tuple[tuple[type[Exception], type[CitewellError], str], ...] = (
    (PoolTimeout, DatabaseUnavailable, "No database connection came free in time."),
    (psycopg.errors.QueryCanceled, DatabaseUnavailable, "The database took too long over a query."),
    (psycopg.errors.DeadlockDetected, DatabaseUnavailable, "The database was busy with conflicting changes."),
    (psycopg.errors.SerializationFailure, DatabaseUnavailable, "The database was busy with conflicting changes."),
    (psycopg.OperationalError, DatabaseUnavailable, "The database cannot be reached."),
    (psycopg.InterfaceError, DatabaseUnavailable, "The connection to the database broke."),
)


@contextmanager
def database_errors() -> Iterator[None]:
    """Turn what psycopg raises when the database fails into our errors; faults of a query itself pass unchanged."""
    try:
        yield
    except tuple(foreign for foreign, _, _ in FOREIGN) as error:
        ours, message = next((ours, message) for foreign, ours, message in FOREIGN if isinstance(error, foreign))
        raise ours(message) from error


@dataclass(frozen=True, slots=True)
class Database:
    """An open database. ``pool`` is for what must hold connections itself, such as the checkpointer."""

    url: str
    pool: Pool

    @asynccontextmanager
    async def connection(self) -> AsyncIterator[Connection]:
        """Lend an autocommit connection; ``conn.transaction()`` makes several statements one.

        Raises DatabaseUnavailable where none comes free within ``pool_timeout_seconds``, or the database fails.
        """
        with database_errors():
            async with self.pool.connection() as connection:
                yield connection
