"""What may stand between the page and its server: it hands requests on, or answers them itself as a test says."""

import asyncio
import json
import re
from asyncio import StreamReader, StreamWriter
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

from tests.racing import until_one_ends

Answer = Callable[[StreamWriter, str], Awaitable[None]]  # takes the id of the event that the page had last


@dataclass(slots=True)
class Relay:
    """A proxy before a site. What a rule fits, a method and a path, is answered by the rule that was added last."""

    site: str
    prefix: str = "/"
    url: str = ""
    rules: list[tuple[re.Pattern[str], Answer]] = field(default_factory=list)
    open: list[str] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)
    serving: set[asyncio.Task[None]] = field(default_factory=set)

    def answer(self, pattern: str, answer: Answer) -> None:
        """Answer what fits from now on, such as ``GET /api/sessions``; a query is no part of it."""
        self.rules.append((re.compile(pattern + "$"), answer))

    def forget(self) -> None:
        """Hand everything on again."""
        self.rules.clear()

    def cut(self) -> None:
        """Break off every connection."""
        for task in self.serving:
            task.cancel()

    async def serve(self, reader: StreamReader, writer: StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self.serving.add(task)
        try:
            with suppress(ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
                await self._serve(reader, writer)
                writer.close()
                return await writer.wait_closed()
            writer.transport.abort()
        finally:
            self.serving.discard(task)

    async def _serve(self, reader: StreamReader, writer: StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        line, _, headers = head.partition("\r\n")
        method, target, _ = line.split(" ")
        said = dict(re.findall(r"(?im)^([\w-]+): *(.*?)\r?$", headers.lower()))
        body = await reader.readexactly(int(said.get("content-length", 0)))
        if not target.startswith(self.prefix):
            return await reply(404, "text/plain", "elsewhere")(writer, "")
        path = "/" + target.removeprefix(self.prefix)
        asked = f"{method} {path.partition('?')[0]}"
        self.asked.append(asked)
        self.open.append(asked)
        rule = next((answer for pattern, answer in reversed(self.rules) if pattern.match(asked)), None)
        try:
            if rule:
                answering = asyncio.ensure_future(rule(writer, said.get("last-event-id", "")))
                # What is held back writes nothing, and would never hear that its reader has left.
                await until_one_ends(asyncio.wait([answering]), reader.read())
                if not answering.cancel():
                    await answering
                    await writer.drain()
            else:
                kept = re.sub(r"(?im)^connection:.*\r\n", "", headers)
                request = f"{method} {path} HTTP/1.1\r\nConnection: close\r\n{kept}".encode("latin-1") + body
                await self._hand_on(request, reader, writer)
        finally:
            self.open.remove(asked)

    async def _hand_on(self, request: bytes, reader: StreamReader, writer: StreamWriter) -> None:
        port = int(self.site.rsplit(":", 1)[1])
        answering, asking = await asyncio.open_connection("127.0.0.1", port)
        asking.write(request)
        try:
            await until_one_ends(_carry(answering, writer), reader.read())
        finally:
            asking.transport.abort()


@asynccontextmanager
async def relay_of(site: str, prefix: str = "/") -> AsyncIterator[Relay]:
    """Stand before a site, below a prefix."""
    relay = Relay(site, prefix)
    server = await asyncio.start_server(relay.serve, "127.0.0.1", 0)
    relay.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}{prefix}"
    yield relay
    server.close()
    relay.cut()
    await server.wait_closed()


def reply(status: int, media_type: str, body: str, **headers: str) -> Answer:
    """Make a rule that answers so."""

    async def answer(writer: StreamWriter, _after: str) -> None:
        data = body.encode()
        more = {"Content-Type": media_type, "Content-Length": str(len(data)), "Connection": "close"}
        lines = [f"{name.replace('_', '-')}: {value}" for name, value in {**more, **headers}.items()]
        writer.write(f"HTTP/1.1 {status} Told\r\n".encode() + "\r\n".join(lines).encode() + b"\r\n\r\n" + data)

    return answer


def told(value: Callable[[], Any]) -> Answer:
    """Make a rule that answers with what is the value then."""

    async def answer(writer: StreamWriter, after: str) -> None:
        await reply(200, "application/json", json.dumps(value()))(writer, after)

    return answer


def stream(tell: Callable[[StreamWriter, str], Awaitable[None]]) -> Answer:
    """Make a rule that answers with a stream of events, which ends or breaks off where ``tell`` does."""

    async def answer(writer: StreamWriter, after: str) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n")
        await tell(writer, after)

    return answer


async def _carry(reader: StreamReader, writer: StreamWriter) -> None:
    while data := await reader.read(65_536):
        writer.write(data)
        await writer.drain()
