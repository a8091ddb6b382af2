"""Carriers of notifications: LISTEN and NOTIFY of the database, and NATS beside it where the settings name a server."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from typing import Any

import psycopg
from psycopg import sql

from graph.errors import ConfigurationError
from tools.runs.notifications import Carrier, CarrierLost, Listener, Notifications, Send
from tools.settings import RunSettings
from tools.storage.database import CONNECTING


def open_notifications(url: str, settings: RunSettings, *, owner: str = "") -> Notifications:
    """Return the notifications of a process over the database at ``url``; nothing is connected yet.

    Raises ConfigurationError where the settings name a server of NATS and its client is not installed.
    """
    carriers: list[Carrier] = [PostgresCarrier(url)]
    if settings.nats_url is not None:
        carriers.append(NatsCarrier(settings.nats_url.get_secret_value()))
    return Notifications(*carriers, owner=owner)


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


class NatsCarrier:
    """Carries notifications by a NATS server, which keeps none.

    A connection that is lost is made anew by whoever uses the carrier, so that nothing waits in a buffer of the client.
    """

    def __init__(self, url: str) -> None:
        try:
            import nats
        except ImportError as error:
            raise ConfigurationError(
                "CITEWELL_RUNS__NATS_URL names a server of NATS, which needs the package nats-py.",
                suggestion="Install citewell[nats], or leave the setting out.",
            ) from error
        self._nats: Any = nats
        self._url = url

    async def listen(self, listener: Listener, changed: asyncio.Event) -> None:
        """Deliver what arrives, over a connection of its own."""

        async def deliver(message: Any) -> None:
            listener.wake(message.data.decode())

        async with self._connected(changed) as client:
            joined: dict[str, Any] = {}
            while not client.is_closed:
                changed.clear()
                wanted = listener.channels
                for channel in joined.keys() - wanted:
                    await joined.pop(channel).unsubscribe()
                new = wanted - joined.keys()
                for channel in new:
                    joined[channel] = await client.subscribe(channel, cb=deliver)
                if new:
                    await client.flush()  # until the server has answered, it may not know of them
                for channel in new:
                    listener.joined(channel)
                await changed.wait()
        raise CarrierLost("the server of NATS has gone")

    @asynccontextmanager
    async def sending(self) -> AsyncIterator[Send]:
        """Open a connection; what it has sent, the server has confirmed."""
        async with self._connected(asyncio.Event()) as client:

            async def send(channel: str, payload: str) -> None:
                await client.publish(channel, payload.encode())
                await client.flush()

            yield send

    @asynccontextmanager
    async def _connected(self, closed: asyncio.Event) -> AsyncIterator[Any]:
        """Connect, and set ``closed`` when the connection is lost."""

        async def on_closed() -> None:
            closed.set()

        async def on_error(_: Exception) -> None:
            """Say nothing: without this the client prints a trace for each failed try."""

        try:
            client = await self._nats.connect(
                self._url,
                allow_reconnect=False,
                connect_timeout=CONNECTING["connect_timeout"],
                ping_interval=5,
                max_outstanding_pings=2,
                closed_cb=on_closed,
                error_cb=on_error,
            )
        except (self._nats.errors.Error, OSError, TimeoutError) as error:
            raise CarrierLost(f"NATS can't be reached: {type(error).__name__}") from error
        try:
            yield client
        except (self._nats.errors.Error, OSError, TimeoutError) as error:
            raise CarrierLost(f"NATS: {type(error).__name__}") from error
        finally:
            with suppress(Exception):  # it is closed, or the server is away
                await client.close()


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
