"""Carry notifications by a server of NATS, beside the database's own."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any

from graph.errors import ConfigurationError
from tools.runs.notifications import CHANNEL, CarrierLost, Notifications, Send
from tools.storage.database import CONNECTING


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

    async def listen(self, notifications: Notifications) -> None:
        closed = asyncio.Event()

        async def deliver(message: Any) -> None:
            notifications.wake(message.data.decode())

        async with self._connected(closed) as client:
            await client.subscribe(CHANNEL, cb=deliver)
            await client.flush()  # until the server has answered, it may not know of it
            notifications.joined()
            await closed.wait()
        raise CarrierLost("the server of NATS has gone")

    @asynccontextmanager
    async def sending(self) -> AsyncIterator[Send]:
        """Open a connection; what it has sent, the server has confirmed."""
        async with self._connected(asyncio.Event()) as client:

            async def send(payload: str) -> None:
                await client.publish(CHANNEL, payload.encode())
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
