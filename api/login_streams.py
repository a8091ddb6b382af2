"""Event streams of people who are logged in end with their login, at the next frame or ping after it."""

import asyncio
import time
from collections.abc import Awaitable, Callable

from starlette.datastructures import Headers
from starlette.types import Message, Receive, Send

from graph.errors import DatabaseUnavailable

CHECK_SECONDS = 10.0  # less than the time between two pings, so that each of these checks


class LoginStream:
    """The two directions of a request by cookie: once the login is over, an event stream ends and its client is gone.

    Whether the login lasts is asked as frames are sent, every ``check_seconds`` at most. While the database does not
    answer, the stream goes on.
    """

    def __init__(
        self, receive: Receive, send: Send, lasts: Callable[[], Awaitable[bool]], *, check_seconds: float
    ) -> None:
        self._receive = receive
        self._send = send
        self._lasts = lasts
        self._check_seconds = check_seconds
        self._streams = False
        self._checked_at = time.monotonic()
        self._over = asyncio.Event()

    async def send(self, message: Message) -> None:
        """Send what the application sends, as long as the login lasts."""
        if message["type"] == "http.response.start":
            media_type = Headers(raw=message.get("headers", [])).get("content-type", "")
            self._streams = media_type.startswith("text/event-stream")
        elif self._streams and time.monotonic() - self._checked_at >= self._check_seconds:
            self._checked_at = time.monotonic()
            try:
                lasts = await self._lasts()
            except DatabaseUnavailable:
                lasts = True
            if not lasts:
                self._over.set()
        if not self._over.is_set():
            await self._send(message)

    async def receive(self) -> Message:
        """Give what the client sends, and its departure once the login is over."""
        receiving = asyncio.ensure_future(self._receive())
        ending = asyncio.ensure_future(self._over.wait())
        try:
            await asyncio.wait({receiving, ending}, return_when=asyncio.FIRST_COMPLETED)
            return await receiving if receiving.done() else {"type": "http.disconnect"}
        finally:
            receiving.cancel()
            ending.cancel()

    async def finish(self) -> None:
        """End the reply where the login has ended it, so that the client reads its end and no broken connection."""
        if self._over.is_set():
            await self._send({"type": "http.response.body", "body": b"", "more_body": False})
