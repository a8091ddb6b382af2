"""A client that costs next to nothing: HTTP/1.1 over one kept connection, timed from the last byte of the request."""

import asyncio
import json
import time
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit


@dataclass(frozen=True, slots=True)
class Timing:
    """Seconds from the request to the first event, the first text, and the end of the stream of so many frames."""

    first: float
    text: float
    whole: float
    frames: int


class Connection:
    """A kept connection; one request at a time."""

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
        """End the connection."""
        self._writer.close()

    async def post(self, path: str, body: dict[str, Any]) -> bytes:
        """Post JSON and give the whole reply. Raises AssertionError unless it is a success."""
        headers = await self._send(path, body)
        return await self._reader.readexactly(int(headers["content-length"]))

    async def get(self, path: str) -> bytes:
        """Get the whole reply. Raises AssertionError unless it is a success."""
        self._writer.write(f"GET {path} HTTP/1.1\r\nHost: {self._host}\r\n\r\n".encode())
        headers = await self._headers()
        return await self._reader.readexactly(int(headers["content-length"]))

    async def stream(self, path: str, body: dict[str, Any], *, text_in: bytes = b"event: text_delta\n") -> Timing:
        """Post JSON and read the stream of events to its end; what holds ``text_in`` brings text of the answer."""
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

    async def _send(self, path: str, body: dict[str, Any]) -> dict[str, str]:
        content = json.dumps(body).encode()
        head = f"POST {path} HTTP/1.1\r\nHost: {self._host}\r\nContent-Type: application/json\r\n"
        self._writer.write(f"{head}Content-Length: {len(content)}\r\n\r\n".encode() + content)
        return await self._headers()

    async def _headers(self) -> dict[str, str]:
        status, *lines = (await self._reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        assert status.split()[1].startswith("2"), status
        return {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines if line)}
