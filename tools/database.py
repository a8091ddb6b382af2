"""The way to PostgreSQL: one pool a process, errors in our words, and a schema of this very release.

Without ``database_url`` the embedded server is started, or joined, and the schema is brought up to date by whoever
opens it first. A server of the deployment's own is never changed unasked: a pending migration is an error there.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from typing import Any

import psycopg
from psycopg import sql
from psycopg_pool import AsyncConnectionPool, PoolTimeout

from graph.errors import CitewellError, ConfigurationError, DatabaseUnavailable
from migrations import LOCK, checkpointer_release, pending, upgrade
from tools.liveness import Liveness
from tools.settings import Settings

log = logging.getLogger(__name__)

Connection = psycopg.AsyncConnection
Pool = AsyncConnectionPool[psycopg.AsyncConnection]
EMBEDDED_DATABASE = "citewell"
# A server that is gone without a word is noticed within seconds, on TCP; libpq waits for hours otherwise.
CONNECTING: dict[str, Any] = {
    "connect_timeout": 5,
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 20_000,  # milliseconds
}
MAX_LIFETIME_SECONDS = 1800.0
MAX_IDLE_SECONDS = 300.0
MIGRATION_POLL_SECONDS = 0.1
# Compiling takes longer than any of our queries, and workers cost more to start than they save.
SESSION = "SELECT set_config('jit', 'off', false), set_config('max_parallel_workers_per_gather', '0', false)"

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


@asynccontextmanager
async def open_database(settings: Settings) -> AsyncIterator[Database]:
    """Open the configured database, with its schema of this release.

    Raises DatabaseUnavailable where it cannot be reached, ConfigurationError where a server of the deployment's own
    waits for ``citewell migrate``.
    """
    async with _located(settings) as url:
        pool: Pool = AsyncConnectionPool(
            url,
            min_size=1,
            max_size=settings.pool_size,
            open=False,
            check=Liveness().check,
            configure=_configure,
            timeout=settings.pool_timeout_seconds,
            max_lifetime=MAX_LIFETIME_SECONDS,
            max_idle=MAX_IDLE_SECONDS,
            kwargs={"autocommit": True, **CONNECTING},
        )
        if settings.database_url is None:
            await _migrate(url)
        else:
            await _refuse_pending(url)
        async with pool:
            yield Database(url, pool)


async def migrate(settings: Settings) -> list[str]:
    """Bring the schema and the checkpointer's tables up to date.

    Returns the names of what was done, oldest first; an empty list where nothing was pending.
    """
    async with _located(settings) as url:
        return await _migrate(url)


@asynccontextmanager
async def _located(settings: Settings) -> AsyncIterator[str]:
    if settings.database_url is not None:
        yield settings.database_url.get_secret_value()
        return
    from tools.embedded import start_embedded

    server = await asyncio.to_thread(start_embedded, settings.data_dir)
    try:
        await _create_database(server.url())
        yield server.url(EMBEDDED_DATABASE)
    finally:
        await asyncio.to_thread(server.release)


async def _connect(url: str) -> Connection:
    try:
        return await psycopg.AsyncConnection.connect(url, autocommit=True, **CONNECTING)
    except psycopg.OperationalError as error:
        # Whoever opens the database runs this deployment, and needs the server's own words.
        raise DatabaseUnavailable(f"The database cannot be reached: {str(error).splitlines()[0]}") from error
    except psycopg.ProgrammingError as error:
        raise ConfigurationError(
            "database_url cannot be read.",
            suggestion="Write CITEWELL_DATABASE_URL as postgresql://user:password@host:port/database.",
        ) from error


async def _create_database(url: str) -> None:
    async with await _connect(url) as connection:
        found = await connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", [EMBEDDED_DATABASE])
        if await found.fetchone() is None:
            try:
                await connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(EMBEDDED_DATABASE)))
            except (psycopg.errors.DuplicateDatabase, psycopg.errors.UniqueViolation):
                log.info("Another process made the database first")


async def _configure(connection: Connection) -> None:
    from pgvector.psycopg import register_vector_async

    await connection.execute(SESSION)
    await register_vector_async(connection)


async def _refuse_pending(url: str) -> None:
    async with await _connect(url) as connection:
        waiting = await pending(connection)
    if waiting:
        raise ConfigurationError(
            f"The database lacks migrations of this release: {', '.join(waiting)}.",
            suggestion="Run `citewell migrate`, then start again.",
        )


async def _migrate(url: str) -> list[str]:
    async with await _connect(url) as connection:
        if not await pending(connection):
            return []
        await _lock(connection)
        waiting = await pending(connection)
        if not waiting:
            return []
        done = await asyncio.to_thread(upgrade, url)
        if "checkpointer" in waiting:
            await _set_up_checkpointer(url)
            done.append("checkpointer")
        await _ensure_default_workspace(connection)
    return done


async def _lock(connection: Connection) -> None:
    # Polled: a session that waits inside pg_advisory_lock holds a snapshot, for which the checkpointer's
    # CREATE INDEX CONCURRENTLY would wait, while we hold the lock that the session waits for.
    while True:
        found = await connection.execute("SELECT pg_try_advisory_lock(%s)", [LOCK])
        row = await found.fetchone()
        if row is not None and row[0]:
            return
        await asyncio.sleep(MIGRATION_POLL_SECONDS)


async def _set_up_checkpointer(url: str) -> None:
    from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver

    async with AsyncPostgresSaver.from_conn_string(url) as saver:
        await saver.setup()
    async with await _connect(url) as connection:
        await connection.execute(
            "INSERT INTO checkpointer_setup (release) VALUES (%s) ON CONFLICT (only_one) DO UPDATE SET release = %s",
            [await asyncio.to_thread(checkpointer_release)] * 2,
        )


async def _ensure_default_workspace(connection: Connection) -> None:
    from tools.workspaces import ensure_workspace

    await ensure_workspace(connection, "default")
