"""A run as a Server-Sent Event stream: its events, encoded, from the first to the terminal one.

The run is a separate task. When its last reader leaves, the run is cancelled unless the request asks for something
else. When the server stops, runs get some time to end. A stream that breaks off then can be joined again, since the run
continues in another process, or in the next one.
"""

import asyncio
import logging
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Literal
from uuid import UUID

import anyio
from fastapi import Request
from sse_starlette import EventSourceResponse, ServerSentEvent
from sse_starlette.sse import SendTimeoutError
from starlette.types import Receive, Scope, Send

from api.dialects.event_frames import Encoder
from graph.errors import CitewellError, InvalidRequest, ServerStopping
from graph.events import Envelope, RunFailed, RunFinished, timestamp
from graph.evidence import StopReason
from tools.runs.run_request import RunReader
from tools.telemetry.metrics import LIVE_STREAMS

log = logging.getLogger("citewell.api")

PING_SECONDS = 15
SEND_TIMEOUT_SECONDS = 30.0
SHUTDOWN_GRACE_SECONDS = 310.0  # longer than any drain, after which the server closes its streams itself
MEDIA_TYPE = "text/event-stream"
HEADERS = {"Cache-Control": "no-cache", "X-Accel-Buffering": "no"}
OnDisconnect = Literal["cancel", "continue"]


def stream_responses(description: str, schema: Mapping[str, Any] | None = None) -> dict[int | str, dict[str, Any]]:
    """Return the OpenAPI response of a route that streams; ``schema`` describes the data of a frame."""
    return {200: {"description": description, "content": {MEDIA_TYPE: {"schema": schema or {"type": "string"}}}}}


def wants_stream(request: Request) -> bool:
    """Return whether a request accepts Server-Sent Events."""
    return MEDIA_TYPE in request.headers.get("accept", "")


@dataclass(frozen=True, slots=True)
class StreamPosition:
    """The last event that a reader has received: ``Last-Event-ID: {run_id}:{seq}``."""

    run_id: str
    seq: int


def resume_position(request: Request) -> StreamPosition | None:
    """Return where a reader left off, or None if it sends no Last-Event-ID.

    Raises InvalidRequest if the header is not an event id of a stream.
    """
    header = request.headers.get("last-event-id", "").strip()
    if not header:
        return None
    run_id, _, seq = header.partition(":")
    try:
        if not (seq.isascii() and seq.isdigit() and len(seq) < 10):
            raise ValueError
        return StreamPosition(str(UUID(run_id)), int(seq))
    except ValueError:
        raise InvalidRequest(
            "Last-Event-ID: it is not an event id of this service.",
            suggestion="Send the id of the last event, {run_id}:{seq}, or omit the header.",
        ) from None


class RunStream(EventSourceResponse):
    """A run streamed to one reader as Server-Sent Events; by default the run is cancelled when its last reader leaves.

    A run that has to give way to a later question is cancelled then in any case.

    A reader that accepts nothing for ``send_timeout`` seconds counts as gone. ``after`` is the sequence number of the
    last event that the reader has received; ``headers`` are added to those of every stream.
    """

    def __init__(
        self,
        run: RunReader,
        encoder: Encoder,
        on_disconnect: OnDisconnect,
        *,
        after: int = 0,
        headers: Mapping[str, str] | None = None,
        ping: float = PING_SECONDS,
        send_timeout: float = SEND_TIMEOUT_SECONDS,
    ) -> None:
        self._run = run
        self._on_disconnect = on_disconnect
        self._stopping = anyio.Event()
        super().__init__(
            encode_run(run, encoder, after),
            headers={**HEADERS, **(headers or {})},
            ping=ping,
            ping_message_factory=lambda: ServerSentEvent(comment="ping", sep="\n"),
            sep="\n",
            send_timeout=send_timeout,
            shutdown_event=self._stopping,
            shutdown_grace_period=SHUTDOWN_GRACE_SECONDS,
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the stream, and afterwards cancel a run without readers if ``on_disconnect`` is "cancel"."""
        self._run.watchers += 1
        try:
            with LIVE_STREAMS.track_inprogress():
                await super().__call__(scope, receive, send)
        except SendTimeoutError:
            log.info("run %s: its reader accepted nothing for %s s", self._run.run_id, self.send_timeout)
        finally:
            self._run.watchers -= 1
            self._run.was_left = not self._run.watchers
            stops = self._on_disconnect == "cancel" or self._run.gives_way
            if stops and not self._run.watchers and not self._stopping.is_set():
                # Shielded: the request itself may be cancelled, but the run's end must still be recorded.
                with anyio.CancelScope(shield=True):
                    await self._cancel("interrupted" if self._run.gives_way else "client_disconnected")

    async def _cancel(self, reason: StopReason) -> None:
        try:
            await self._run.cancel(reason)
        except CitewellError as error:
            log.warning("run %s: could not be cancelled: %s", self._run.run_id, error.code)


async def encode_run(run: RunReader, encoder: Encoder, after: int = 0) -> AsyncGenerator[bytes, None]:
    """Yield the frames of a run's events after ``after``, up to the terminal one.

    When the server stops, a reader that can join the run again gets no end, since the run continues; others get one.
    An event that can't be encoded ends the run and the stream as failed. A log that can no longer be read ends the
    stream as failed, since a reader can't use a stream that just breaks off. Frames of events that came together are
    yielded together: each time costs a call of the socket and of every middleware.
    """
    last, ready = 0, bytearray()
    try:
        async with aclosing(run.batches(0 if encoder.stateful else after)) as batches:
            async for batch in batches:
                for envelope in batch:
                    last = envelope.seq
                    frames = encoder.encode(envelope)
                    if envelope.seq > after:
                        ready += frames
                if ready:
                    yield bytes(ready)
                    ready.clear()
    except ServerStopping as error:
        if not encoder.resumable:
            yield encoder.encode(_failure(run, last + 1, error))
    except CitewellError as error:
        log.warning("run %s: its log can't be read after event %d: %s", run.run_id, last, error.code)
        yield encoder.encode(_failure(run, last + 1, error))
    except Exception:
        log.exception("run %s: event %d can't be encoded", run.run_id, last)
        await run.cancel("error")
        yield bytes(ready) + encoder.encode(
            _failure(run, last, CitewellError("The run failed for an internal reason."))
        )


def _failure(run: RunReader, seq: int, error: CitewellError) -> Envelope:
    end = RunFailed(code=error.code, message=error.message, suggestion=error.advice, retryable=error.retryable)
    return Envelope(run.run_id, run.session_id, seq, timestamp(datetime.now(UTC)), end)


async def wait_for_end(run: RunReader, request: Request, on_disconnect: OnDisconnect) -> RunFinished | RunFailed:
    """Return the end of a run for a client that reads no stream; cancel the run if the client disconnects first."""
    ending = asyncio.create_task(_terminal_event(run))
    leaving = asyncio.create_task(client_left(request))
    try:
        await asyncio.wait({ending, leaving}, return_when=asyncio.FIRST_COMPLETED)
        if not ending.done() and on_disconnect == "cancel":
            await run.cancel("client_disconnected")
        return await ending
    finally:
        leaving.cancel()
        ending.cancel()


async def _terminal_event(run: RunReader) -> RunFinished | RunFailed:
    async for envelope in run.events():
        if isinstance(envelope.event, RunFinished | RunFailed):
            return envelope.event
    raise AssertionError("a log ends with its terminal event")


async def client_left(request: Request) -> None:
    """Wait until the client of a request whose body is read has disconnected."""
    while (await request.receive())["type"] != "http.disconnect":
        pass
