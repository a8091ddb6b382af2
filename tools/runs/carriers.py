"""Carry notifications by LISTEN and NOTIFY of the database."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager

import psycopg
from psycopg import sql

from tools.runs.notifications import CarrierLost, Listener, Send
from tools.storage.database import CONNECTING


class PostgresCarrier:
    """Carries notifications by NOTIFY. PostgreSQL lets only one transaction that notifies commit at a time."""

    def __init__(self, url: str) -> None:
        self._url = url

    async def listen(self, listener: Listener, changed: asyncio.Event) -> None:
        """Deliver what arrives, over a connection of its own."""
        with _psycopg_errors():
            async with await self._connect() as connection:
                connection.add_notify_handler(lambda found: listener.wake(found.payload))
                joined: frozenset[str] = frozenset()
                while True:
                    changed.clear()
                    wanted = listener.channels
                    for channel in joined - wanted:
                        await connection.execute(sql.SQL("UNLISTEN {}").format(sql.Identifier(channel)))
                    for channel in wanted - joined:
                        await connection.execute(sql.SQL("LISTEN {}").format(sql.Identifier(channel)))
                        listener.joined(channel)
                    joined = wanted
                    while found := connection.pgconn.notifies():  # also those that came behind the reply to LISTEN
                        listener.wake(found.extra.decode())
                    await _readable(connection.fileno(), changed)
                    connection.pgconn.consume_input()

    @asynccontextmanager
    async def sending(self) -> AsyncIterator[Send]:
        """Open a connection whose commits wait for no disk: a notification is not kept anyway."""
        with _psycopg_errors():
            async with await self._connect() as connection:
                await connection.execute("SET synchronous_commit = off")

                async def send(channel: str, payload: str) -> None:
                    await connection.execute("SELECT pg_notify(%s, %s)", [channel, payload])

                yield send

    async def _connect(self) -> psycopg.AsyncConnection:
        return await psycopg.AsyncConnection.connect(self._url, autocommit=True, **CONNECTING)


@contextmanager
def _psycopg_errors() -> Iterator[None]:
    try:
        yield
    except (psycopg.Error, OSError) as error:
        raise CarrierLost(type(error).__name__) from error


async def _readable(file: int, changed: asyncio.Event) -> None:
    """Wait until there is something to read, or the event is set."""
    loop = asyncio.get_running_loop()
    loop.add_reader(file, changed.set)
    try:
        await changed.wait()
    finally:
        loop.remove_reader(file)
