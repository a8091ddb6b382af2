"""Connect to PostgreSQL: one pool per process, our own errors, and the schema of this release.

Without ``database_url`` the embedded server is started, or joined, and the first process to open it migrates the
schema. A server that the deployment runs itself is never migrated implicitly: a pending migration is an error there.
"""

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import psycopg
from psycopg import conninfo, sql
from psycopg.types.json import set_json_dumps, set_json_loads
from pydantic_core import from_json, to_json

from graph.errors import ConfigurationError, DatabaseUnavailable
from migrations import LOCK, checkpointer_release, pending, upgrade
from tools.concurrency.tasks import cancel_and_wait
from tools.settings import Settings
from tools.storage.database import (
    CONNECTING,
    Connection,
    Database,
    Pool,
    database_errors,
    has_vectors,
    refuse_older,
    value_of,
)
from tools.storage.supervision import DiskRoom, keep_running
from tools.storage.tenants import ensure_workspace

log = logging.getLogger(__name__)

EMBEDDED_DATABASE = "citewell"
MAX_LIFETIME_SECONDS = 1800.0
MAX_IDLE_SECONDS = 300.0
MIGRATION_POLL_SECONDS = 0.1
# JIT compilation takes longer than any of our queries, and parallel workers cost more to start than they save.
SESSION = "SELECT set_config('jit', 'off', false), set_config('max_parallel_workers_per_gather', '0', false)"


@asynccontextmanager
async def open_database(settings: Settings) -> AsyncIterator[Database]:
    """Open the configured database with the schema of this release.

    A replica that the settings name is opened beside it, by who opens the process. Raises DatabaseUnavailable if it
    cannot be reached, ConfigurationError if a server that the deployment runs itself needs ``citewell migrate``.
    """
    async with _located(settings) as (url, room):
        if settings.database_url is None:
            await _migrate(url)
        async with await _connect(url) as connection:
            if settings.database_url is not None:
                await _refuse_pending(connection)
            vectors = await has_vectors(connection)
        pool = pool_of(url, settings)
        async with pool:
            with database_errors():  # so that no first request waits for a connection in vain
                await pool.wait(CONNECTING["connect_timeout"])
            yield Database(url, pool, vectors, room)


def pool_of(url: str, settings: Settings) -> Pool:
    """Return a pool for the database at an address, as the settings say; it is not open yet."""
    return Pool(
        url,
        min_size=1,
        max_size=settings.pool_size,
        configure=_configure,
        timeout=settings.pool_timeout_seconds,
        max_lifetime=MAX_LIFETIME_SECONDS,
        max_idle=MAX_IDLE_SECONDS,
        kwargs={"autocommit": True, **CONNECTING},
    )


async def migrate(settings: Settings) -> list[str]:
    """Migrate the schema and the checkpointer's tables; return the names of the applied migrations, oldest first."""
    async with _located(settings) as (url, _):
        return await _migrate(url)


@asynccontextmanager
async def _located(settings: Settings) -> AsyncIterator[tuple[str, DiskRoom | None]]:
    if settings.database_url is not None:
        yield settings.database_url.get_secret_value(), None
        return
    from tools.storage.embedded import start_embedded

    server = await asyncio.to_thread(start_embedded, settings.data_dir, user=settings.postgres_user)
    try:
        await _create_database(server.url())
        watching = asyncio.create_task(keep_running(server), name="citewell-postgres")
        try:
            yield server.url(EMBEDDED_DATABASE), DiskRoom(server.folder)
        finally:
            await cancel_and_wait(watching)
    finally:
        await asyncio.to_thread(server.release)


async def _connect(url: str) -> Connection:
    try:
        return await psycopg.AsyncConnection.connect(url, autocommit=True, **CONNECTING)
    except psycopg.OperationalError as error:
        # The reader of this message runs the deployment and needs the server's own message.
        raise DatabaseUnavailable(f"The database cannot be reached: {str(error).splitlines()[0]}") from error
    except psycopg.ProgrammingError as error:
        raise _unreadable("database_url") from error


def check_address(url: str, setting: str) -> None:
    """Raise ConfigurationError where the address of a database can't be read."""
    try:
        conninfo.conninfo_to_dict(url)
    except psycopg.ProgrammingError as error:
        raise _unreadable(setting) from error


def _unreadable(setting: str) -> ConfigurationError:
    name = f"CITEWELL_{setting.upper().replace('.', '__')}"
    return ConfigurationError(
        f"{setting} cannot be read.", suggestion=f"Write {name} as postgresql://user:password@host:port/database."
    )


async def _create_database(url: str) -> None:
    async with await _connect(url) as connection:
        if not await value_of(connection, "SELECT 1 FROM pg_database WHERE datname = %s", [EMBEDDED_DATABASE]):
            try:
                await connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(EMBEDDED_DATABASE)))
            except (psycopg.errors.DuplicateDatabase, psycopg.errors.UniqueViolation):
                log.info("Another process created the database first")


async def _configure(connection: Connection) -> None:
    set_json_dumps(to_json, connection)  # a fifth of the time that the standard library takes
    set_json_loads(from_json, connection)
    await connection.execute(SESSION)


async def _refuse_pending(connection: Connection) -> None:
    refuse_older(connection)
    if waiting := await pending(connection):
        raise ConfigurationError(
            f"The database lacks migrations of this release: {', '.join(waiting)}.",
            suggestion="Run `citewell migrate`, then start again.",
        )


async def _migrate(url: str) -> list[str]:
    async with await _connect(url) as connection:
        refuse_older(connection)
        if not await pending(connection):
            return []
        # Polled to avoid a deadlock: a session that waits inside pg_advisory_lock holds a snapshot. The checkpointer's
        # CREATE INDEX CONCURRENTLY, run by the process that holds the lock, would wait for that snapshot.
        while not await value_of(connection, "SELECT pg_try_advisory_lock(%s)", [LOCK]):  # noqa: ASYNC110
            await asyncio.sleep(MIGRATION_POLL_SECONDS)
        waiting = await pending(connection)
        if not waiting:
            return []
        done = await asyncio.to_thread(upgrade, url)
        if "checkpointer" in waiting:
            await _set_up_checkpointer(url)
            done.append("checkpointer")
        await ensure_workspace(connection, "default", own_tables=True)
    return done


async def _set_up_checkpointer(url: str) -> None:
    from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver

    async with AsyncPostgresSaver.from_conn_string(url) as saver:
        await saver.setup()
    async with await _connect(url) as connection:
        await connection.execute(
            "INSERT INTO checkpointer_setup (release) VALUES (%s) ON CONFLICT (only_one) DO UPDATE SET release = %s",
            [await asyncio.to_thread(checkpointer_release)] * 2,
        )
