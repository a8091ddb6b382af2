"""The HTTP client under a model: one connection a call, closed with it, and a witness of how the stream ended.

No connection is kept between calls: nothing is bound to an event loop, and nothing is left to close. A handshake costs
little beside a model's first token.
"""

import re
from collections.abc import AsyncIterator
from dataclasses import dataclass

import httpx2
import openai

REQUEST_ID = "X-Client-Request-Id"
DONE = re.compile(rb"(?:^|[\r\n])data: ?\[DONE\]")


@dataclass(slots=True)
class Witness:
    """What was seen of one response. ``done``: its last line was ``data: [DONE]``, or it could not be told."""

    response: httpx2.Response | None = None
    done: bool = False
    tail: bytes = b"\n"

    def saw(self, data: bytes) -> None:
        window = self.tail + data
        self.done = self.done or DONE.search(window) is not None
        self.tail = window[-16:]

    async def close(self) -> None:
        """Close the connection, whatever is still to come on it."""
        if self.response is not None:
            await self.response.aclose()


class _Witnessed(httpx2.AsyncByteStream):
    def __init__(self, stream: httpx2.AsyncByteStream, witness: Witness) -> None:
        self._stream = stream
        self._witness = witness

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for data in self._stream:
            self._witness.saw(data)
            yield data

    async def aclose(self) -> None:
        await self._stream.aclose()


class Witnesses:
    """The witnesses of the calls in progress, by the id that each call sends along."""

    def __init__(self) -> None:
        self._by_id: dict[str, Witness] = {}

    def attend(self, request_id: str) -> Witness:
        return self._by_id.setdefault(request_id, Witness())

    def dismiss(self, request_id: str) -> None:
        self._by_id.pop(request_id, None)

    async def receive(self, response: httpx2.Response) -> None:
        """Stand by a response; httpx calls this before its body is read."""
        witness = self._by_id.get(response.request.headers.get(REQUEST_ID, ""))
        if witness is None or not isinstance(response.stream, httpx2.AsyncByteStream):
            return
        witness.response = response
        witness.done = response.headers.get("content-encoding", "identity") != "identity"
        response.stream = _Witnessed(response.stream, witness)


def http_client(witnesses: Witnesses) -> httpx2.AsyncClient:
    """Make the client of one endpoint. It opens no connection before the first call."""
    return openai.DefaultAsyncHttpxClient(
        limits=httpx2.Limits(max_connections=1000, max_keepalive_connections=0),
        headers={"Accept-Encoding": "identity"},
        event_hooks={"response": [witnesses.receive]},
    )
