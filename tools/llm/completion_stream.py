"""The chunks of a chat completion, read from the bytes of its response."""

import json
import re
from collections.abc import AsyncGenerator, Iterator
from typing import Any

import httpx2

MOST_BYTES = 8_000_000  # of one event, and of a completion that comes whole
_DONE = b"[DONE]"
_DATA = b"data:"
_LINE_END = re.compile(rb"\r\n|\r|\n")


class CompletionStream:
    """The chunks of a response. ``done``: it contained ``data: [DONE]``.

    One that ignores ``stream`` and comes whole is read as a stream of one chunk.
    """

    def __init__(self) -> None:
        self.done = False
        self._line = bytearray()  # what has come of a line
        self._data: list[bytes] = []  # of the event that is not at its end

    async def read(self, response: httpx2.Response) -> AsyncGenerator[list[Any], None]:
        """Yield the chunks that came together, as JSON values.

        Raises ValueError where one is no JSON or is too long, and the errors of httpx2.
        """
        if response.headers.get("content-type", "").startswith("application/json"):
            whole = bytearray()
            async for received in response.aiter_bytes():
                whole += received
                if len(whole) > MOST_BYTES:
                    return
            chunks = _as_chunk(whole)
            self.done = bool(chunks)
            yield chunks or self._chunks(bytes(whole))
            return
        async for received in response.aiter_bytes():
            if chunks := self._chunks(received):
                yield chunks
            if self.done:
                return
        rest = bytes(self._line)
        self.done = rest.startswith(_DATA) and _data_of(rest).startswith(_DONE)

    def _chunks(self, received: bytes) -> list[Any]:
        chunks = []
        for event in self._events(received):
            if event.startswith(_DONE):
                self.done = True
                break
            chunks.append(json.loads(event.decode()))
        return chunks

    def _events(self, received: bytes) -> Iterator[bytes]:
        """Yield the data of the events that end in the next bytes."""
        self._line += received
        if len(self._line) > MOST_BYTES:
            raise ValueError("an event is too long")
        if _LINE_END.search(received) is None:
            return
        *lines, rest = _LINE_END.split(bytes(self._line))
        self._line[:] = rest
        for line in lines:
            if line.startswith(_DATA):
                self._data.append(_data_of(line))
            elif not line and self._data:
                data, self._data = self._data, []
                yield b"\n".join(data)


def _data_of(line: bytes) -> bytes:
    return line.removeprefix(_DATA).removeprefix(b" ")


def _as_chunk(body: bytearray) -> list[Any]:
    """Return a whole completion as one chunk; nothing where it is none."""
    try:
        reply = json.loads(body)
        return [reply | {"choices": [{**choice, "delta": choice["message"]} for choice in reply["choices"]]}]
    except (ValueError, KeyError, TypeError, RecursionError):
        return []
