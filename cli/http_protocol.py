"""HTTP/1.1 under our server: bounds on the head of a request, and on how long a request may take to arrive.

uvicorn reads a head of any size and waits for the rest of a request for ever, so that a few hundred half requests hold
all connections that a process may have (slowloris).
"""

import asyncio
from dataclasses import dataclass
from functools import partial
from http import HTTPStatus
from typing import Any

from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol

from api.problems import problem

SEND_LESS = "Send fewer and shorter headers."
ONE_HOST = "Send one Host header."
SEND_FASTER = "Send the request again, as a whole."
LINGER_SECONDS = 1.0  # after a refusal, for its client to read it


@dataclass(frozen=True, slots=True)
class Bounds:
    """How large the head of a request may be, and how slowly a request may come.

    Its body may take ``body_seconds`` and, on top, the time that its bytes take at ``body_bytes_per_second``.
    """

    head_bytes: int = 131_072  # a question in an address, and a token with many groups
    headers: int = 100
    head_seconds: float = 20.0
    body_seconds: float = 30.0
    body_bytes_per_second: int = 500  # a modem sends ten times as fast


class BoundedProtocol(HttpToolsProtocol):
    """A connection whose requests are refused where their head is too large or ambiguous, or they arrive too slowly."""

    def __init__(self, *args: Any, limits: Bounds, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._limits = limits
        self._in_head = True
        self._begun = False  # whether anything of the current request has arrived
        self._head_bytes = 0
        self._deadline = 0.0
        self._timer: asyncio.TimerHandle | None = None
        self._refusal: tuple[int, str, str] | None = None
        self._refused = False

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to wait for a request."""
        super().connection_made(transport)
        self._wait(self._limits.head_seconds)

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop waiting."""
        self._stop_waiting()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Parse what arrived, and refuse a head that has grown too large before its end."""
        if self._refused:
            return
        if self._in_head:
            self._head_bytes += len(data)
        super().data_received(data)
        if self._in_head and self._head_bytes > self._limits.head_bytes and not self._refused:
            self._refuse(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE, self._too_large, SEND_LESS)

    def on_message_begin(self) -> None:
        """Begin a request."""
        super().on_message_begin()
        self._begun = True
        if not self._in_head:  # the first bytes of a later request; the wait for the first began with the connection
            self._in_head, self._head_bytes = True, 0
            self._wait(self._limits.head_seconds)

    def on_headers_complete(self) -> None:
        """Pass a request on whose head is sound; raise for any other, which the parser turns into a refusal."""
        self._refusal = self._fault_of_head()
        if self._refusal is not None:
            raise ValueError(self._refusal[1])
        self._in_head = False
        self._wait(self._limits.body_seconds)
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        """Take a part of a body, which has earned the rest of it some time."""
        self._deadline += len(body) / self._limits.body_bytes_per_second
        super().on_body(body)

    def on_message_complete(self) -> None:
        """End a request."""
        self._stop_waiting()
        self._begun = False
        super().on_message_complete()

    def send_400_response(self, msg: str) -> None:
        """Answer what is no HTTP request, or one that was refused."""
        refusal = self._refusal or (HTTPStatus.BAD_REQUEST.value, "This is no HTTP request.", "Send HTTP/1.1.")
        self._refuse(*refusal)

    @property
    def _too_large(self) -> str:
        return f"The head of a request may have {self._limits.head_bytes} bytes and {self._limits.headers} headers."

    def _fault_of_head(self) -> tuple[int, str, str] | None:
        size = len(self.url) + sum(len(name) + len(value) for name, value in self.headers)
        if size > self._limits.head_bytes or len(self.headers) > self._limits.headers:
            return HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE, self._too_large, SEND_LESS
        hosts = sum(name == b"host" for name, _ in self.headers)
        if hosts > 1 or (hosts == 0 and self.parser.get_http_version() == "1.1"):
            return HTTPStatus.BAD_REQUEST, f"A request has one Host header, and this one has {hosts}.", ONE_HOST
        return None

    def _wait(self, seconds: float) -> None:
        self._deadline = self.loop.time() + seconds
        if self._timer is None:
            self._timer = self.loop.call_at(self._deadline, self._check_deadline)

    def _stop_waiting(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _check_deadline(self) -> None:
        self._timer = None
        if self.flow.read_paused:  # the application has yet to take what came
            self._wait(self._limits.body_seconds)
        elif self.loop.time() < self._deadline:
            self._timer = self.loop.call_at(self._deadline, self._check_deadline)
        elif self._begun:
            self._refuse(HTTPStatus.REQUEST_TIMEOUT, "The request took too long to arrive.", SEND_FASTER)
        else:
            self.transport.close()

    def _refuse(self, status: int, detail: str, suggestion: str) -> None:
        """Answer with a problem unless another answer has begun, and close the connection soon.

        A connection that is closed while its client still sends is reset, and the client never reads the answer.
        """
        self._stop_waiting()
        if self.cycle is None or self.cycle.response_complete or not self.cycle.response_started:
            response = problem("invalid_request", detail, suggestion, status=status)
            headers = [*response.raw_headers, (b"connection", b"close")]
            lines = b"".join(b"%s: %s\r\n" % header for header in headers)
            self.transport.write(b"".join([STATUS_LINE[status], lines, b"\r\n", bytes(response.body)]))
        self._refused = True
        if self.cycle is not None and not self.cycle.response_complete:
            self.cycle.disconnected = True  # the application stops waiting, and says nothing behind this
            self.cycle.message_event.set()
        if self.transport.can_write_eof():
            self.transport.write_eof()
        self._timer = self.loop.call_later(LINGER_SECONDS, self.transport.close)


def bounded_by(limits: Bounds) -> Any:
    """Return the protocol class of a server with these bounds."""
    return partial(BoundedProtocol, limits=limits)
