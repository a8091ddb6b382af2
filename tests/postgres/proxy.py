"""A way to PostgreSQL that a test can cut: a Unix socket in front of the server's own."""

import asyncio
import re
import shutil
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from urllib.parse import parse_qs, quote, urlsplit, urlunsplit

from tests.racing import until_one_ends

SOCKET = ".s.PGSQL.5432"
CHUNK = 65_536
TERMINATE = b"X\0\0\0\x04"
_VERSION = re.compile(rb"(?<=server_version\0)[^\0]+")


class Proxy:
    """Passes bytes on in both directions until it is told otherwise."""

    def __init__(self, server: str) -> None:
        self._server = server
        self._open: set[asyncio.StreamWriter] = set()
        self.refusing = False
        self.swallow_answers_to: bytes | None = None  # the server does what holds these bytes, and nobody hears of it
        self.hides_ends = False  # the server does not hear that clients have left, as one that is slow to
        self.version: bytes | None = None  # that the server says to be of, not longer than its own

    def cut(self) -> None:
        """Break every connection off."""
        for writer in list(self._open):
            writer.transport.abort()

    async def serve(self, client: asyncio.StreamReader, answering: asyncio.StreamWriter) -> None:
        """Carry one connection."""
        if self.refusing:
            answering.transport.abort()
            return
        server, asking = await asyncio.open_unix_connection(self._server)
        ends = {answering, asking}
        self._open |= ends
        deaf = asyncio.Event()
        try:
            await until_one_ends(self._ask(client, asking, deaf), self._answer(server, answering, deaf))
        finally:
            self._open -= ends
            for writer in ends:
                writer.transport.abort()

    async def _ask(self, client: asyncio.StreamReader, asking: asyncio.StreamWriter, deaf: asyncio.Event) -> None:
        with suppress(ConnectionError):
            while data := await client.read(CHUNK):
                if self.hides_ends and data.endswith(TERMINATE):
                    await asyncio.Event().wait()
                if self.swallow_answers_to is not None and self.swallow_answers_to in data:
                    self.swallow_answers_to = None
                    deaf.set()
                asking.write(data)
                await asking.drain()

    async def _answer(self, server: asyncio.StreamReader, answering: asyncio.StreamWriter, deaf: asyncio.Event) -> None:
        with suppress(ConnectionError):
            while data := await server.read(CHUNK):
                if deaf.is_set():
                    return
                if (version := self.version) is not None:
                    data = _VERSION.sub(lambda own: version.ljust(len(own[0])), data)
                answering.write(data)
                await answering.drain()


@asynccontextmanager
async def proxied(url: str) -> AsyncIterator[tuple[Proxy, str]]:
    """Open a proxy before the server at a URL; gives it with the URL that leads through it."""
    folder = tempfile.mkdtemp(prefix="citewell-proxy-", dir="/tmp")  # a socket's path has some 100 characters at most
    parts = urlsplit(url)
    (host,) = parse_qs(parts.query)["host"]
    proxy = Proxy(f"{host}/{SOCKET}")
    listening = await asyncio.start_unix_server(proxy.serve, f"{folder}/{SOCKET}")
    try:
        yield proxy, urlunsplit(parts._replace(query=f"host={quote(folder)}"))
    finally:
        listening.close()
        proxy.cut()
        await listening.wait_closed()
        shutil.rmtree(folder)
