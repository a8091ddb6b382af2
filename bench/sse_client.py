"""Lightweight clients of event streams: one connection with timings, and a reader that checks order and loss.

Times count from the last byte of the request; connections are HTTP/1.1 and kept alive.
"""

import asyncio
import json
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, cast
from urllib.parse import urlsplit

from pydantic_core import from_json


@dataclass(frozen=True, slots=True)
class Timing:
    """Seconds from the request to the first event, the first text and the end of the stream, and its frames."""

    first: float
    text: float
    whole: float
    frames: int


@dataclass(frozen=True, slots=True)
class Arrival:
    """The data of a frame, and when it arrived, in nanoseconds of the monotonic clock."""

    at: int
    data: bytes


class Connection:
    """A keep-alive connection for one request at a time."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, host: str) -> None:
        self._reader = reader
        self._writer = writer
        self._host = host

    @classmethod
    async def open(cls, url: str) -> "Connection":
        """Connect to a server."""
        address = urlsplit(url)
        reader, writer = await asyncio.open_connection(address.hostname, address.port)
        return cls(reader, writer, address.netloc)

    def close(self) -> None:
        """Close the connection."""
        self._writer.close()

    async def post(self, path: str, body: dict[str, Any]) -> bytes:
        """Post JSON and return the whole reply. Raises AssertionError unless it is a success."""
        headers = await self._send(path, body)
        return await self._reader.readexactly(int(headers["content-length"]))

    async def get(self, path: str) -> bytes:
        """Get a path and return the whole reply. Raises AssertionError unless it is a success."""
        headers = await self._send(path, None)
        return await self._reader.readexactly(int(headers["content-length"]))

    async def stream(self, path: str, body: dict[str, Any], *, text_in: bytes = b"event: text_delta\n") -> Timing:
        """Post JSON and read the event stream to its end; a frame that contains ``text_in`` counts as text."""
        began = time.perf_counter()
        headers = await self._send(path, body)
        assert headers["transfer-encoding"] == "chunked"
        first = text = 0.0
        frames = 0
        while size := int(await self._reader.readuntil(b"\r\n"), 16):
            chunk = await self._reader.readexactly(size + 2)
            now = time.perf_counter() - began
            first = first or now
            frames += (b"\n" + chunk).count(b"\ndata: ")
            if not text and text_in in chunk:
                text = now
        await self._reader.readexactly(2)
        return Timing(first, text, time.perf_counter() - began, frames)

    async def frames(self, path: str, body: dict[str, Any] | None = None) -> list[Arrival]:
        """Post JSON, or get without a body, and return the frames with data of the event stream."""
        await self._send(path, body, accept="Accept: text/event-stream\r\n")
        arrivals = []
        while size := int(await self._reader.readuntil(b"\r\n"), 16):
            chunk = await self._reader.readexactly(size + 2)
            now = time.monotonic_ns()
            lines = chunk.split(b"\n")
            arrivals += [Arrival(now, line.removeprefix(b"data: ")) for line in lines if line.startswith(b"data: ")]
        await self._reader.readexactly(2)
        return arrivals

    async def _send(self, path: str, body: dict[str, Any] | None, *, accept: str = "") -> dict[str, str]:
        method = "GET" if body is None else "POST"
        head = f"{method} {path} HTTP/1.1\r\nHost: {self._host}\r\n{accept}"
        content = b""
        if body is not None:
            content = json.dumps(body).encode()
            head += f"Content-Type: application/json\r\nContent-Length: {len(content)}\r\n"
        self._writer.write(f"{head}\r\n".encode() + content)
        return await self._headers()

    async def _headers(self) -> dict[str, str]:
        status, *lines = (await self._reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        assert status.split()[1].startswith("2"), status
        return {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines if line)}


HEAD_END = b"\r\n\r\n"


class CheckedStream(asyncio.Protocol):
    """Reader of chunked Server-Sent Events that hold our events, numbered (``id: RUN:SEQ``) or not.

    ``first``, ``text`` and ``ended`` are arrival times by ``time.monotonic_ns()``; 0 until then. ``faults`` counts
    events out of order and sections whose deltas do not join to their text. ``arrivals`` pairs each delta with its
    arrival time.
    """

    def __init__(self, host: str) -> None:
        self.first = self.text = self.ended = self.asked = 0
        self.events = self.faults = 0
        self.run_id = ""
        self.arrivals: list[tuple[int, str]] = []
        self.has_text: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.over: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._host = host
        self._seq = 0
        self._held = b""
        self._reads: Callable[[], bool] = self._read_head
        self._sections: dict[int, str] = {}

    @classmethod
    async def open(cls, url: str) -> "CheckedStream":
        """Connect to a server."""
        address = urlsplit(url)
        loop = asyncio.get_running_loop()
        _, reader = await loop.create_connection(lambda: cls(address.netloc), str(address.hostname), address.port or 80)
        return reader

    def ask(self, path: str, body: dict[str, Any]) -> None:
        """Send a question."""
        content = json.dumps(body).encode()
        self._send(f"POST {path}", f"Content-Type: application/json\r\nContent-Length: {len(content)}\r\n", content)

    def follow(self, path: str) -> None:
        """Request the stream of a run that another client started."""
        self._send(f"GET {path}", "", b"")

    def _send(self, line: str, headers: str, content: bytes) -> None:
        self.asked = time.monotonic_ns()
        self._transport.write(f"{line} HTTP/1.1\r\nHost: {self._host}\r\n{headers}\r\n".encode() + content)

    def close(self) -> None:
        """Close the connection, even in the middle of the stream."""
        self._transport.close()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Store the transport."""
        self._transport = cast(asyncio.WriteTransport, transport)

    def connection_lost(self, exc: Exception | None) -> None:
        """Record the end of the stream."""
        self._end()

    def data_received(self, data: bytes) -> None:
        """Split the received bytes into frames."""
        self._held += data
        while self._reads():
            pass

    def _read_head(self) -> bool:
        head, found, rest = self._held.partition(HEAD_END)
        if not found:
            return False
        if b" 200 " not in head.split(b"\r\n", 1)[0]:
            self.faults += 1
            self.close()
            return False
        self._held, self._reads = rest, self._read_chunk
        return True

    def _read_chunk(self) -> bool:
        at = self._held.find(b"\r\n")
        if at < 0:
            return False
        size = int(self._held[:at], 16)
        end = at + 2 + size
        if len(self._held) < end + 2:
            return False
        chunk, self._held = self._held[at + 2 : end], self._held[end + 2 :]
        if size == 0:
            self._end()
            return False
        now = time.monotonic_ns()
        self.first = self.first or now
        for frame in chunk.replace(b"\r\n", b"\n").split(b"\n\n"):
            if frame and not frame.startswith(b":"):
                self._read_frame(frame, now)
        return True

    def _read_frame(self, frame: bytes, now: int) -> None:
        self.events += 1
        fields = dict(line.split(b": ", 1) for line in frame.split(b"\n"))
        run_id, numbered, seq = fields.get(b"id", b"").rpartition(b":")
        if numbered:
            self.run_id = self.run_id or run_id.decode()
            self.faults += int(seq) != self._seq + 1
            self._seq = int(seq)
        if b"text_delta" not in frame and b"section_finished" not in frame:
            return
        event = from_json(fields[b"data"])
        section = event.get("section_index", 0)
        if "delta" in event:
            self._sections[section] = self._sections.get(section, "") + event["delta"]
            self.arrivals.append((now, event["delta"]))
            self.text = self.text or now
            if not self.has_text.done():
                self.has_text.set_result(None)
        elif event.get("type") == "section_finished":
            self.faults += self._sections.get(section) != event["text"]

    def _end(self) -> None:
        self.ended = self.ended or time.monotonic_ns()
        for waiting in (self.has_text, self.over):
            if not waiting.done():
                waiting.set_result(None)
