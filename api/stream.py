"""A run as a Server-Sent Event stream: its events, encoded, from the first to the terminal one.

The run is a separate task. When its last reader leaves, the run is cancelled unless the request asks for something
else. When the server stops, runs get some time to end. A stream that breaks off then can be joined again, since the run
continues in another process, or in the next one.
"""

import asyncio
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import aclosing
from contextvars import copy_context
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any, Literal
from uuid import UUID

from fastapi import FastAPI, Request
from starlette.responses import StreamingResponse
from starlette.types import Message, Receive, Scope, Send

from api.event_frames import Encoder
from graph.errors import CitewellError, InvalidRequest, ServerStopping
from graph.events import Envelope, RunFailed, RunFinished, timestamp
from graph.evidence import StopReason
from tools.concurrency.tasks import cancel_and_wait, shield_until_done
from tools.sessions.run_request import RunReader
from tools.telemetry.metrics import LIVE_STREAMS

log = logging.getLogger("citewell.api")

PING_SECONDS = 15
SEND_TIMEOUT_SECONDS = 30.0
MEDIA_TYPE = "text/event-stream"
HEADERS = {"Cache-Control": "no-cache", "X-Accel-Buffering": "no"}
PING = b": ping\n\n"
OnDisconnect = Literal["cancel", "continue"]


def stream_responses(description: str, schema: Mapping[str, Any] | None = None) -> dict[int | str, dict[str, Any]]:
    """Return the OpenAPI response of a route that streams; ``schema`` describes the data of a frame."""
    return {200: {"description": description, "content": {MEDIA_TYPE: {"schema": schema or {"type": "string"}}}}}


def wants_stream(request: Request) -> bool:
    """Return whether a request accepts Server-Sent Events."""
    return MEDIA_TYPE in request.headers.get("accept", "")


class ReaderStalled(Exception):
    """A reader accepts nothing, though its connection stands."""


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


_REST = "citewell.rest"  # in a request's scope


@dataclass(slots=True)
class Rest:
    """What is left of a response once the layers around its route have returned: a stream, and what follows its end."""

    task: asyncio.Task[Any] | None
    has_begun: bool = False
    stream: Callable[[Receive, Send], Awaitable[None]] | None = None
    after: list[Callable[[], None]] = field(default_factory=list)

    def take(self, stream: Callable[[Receive, Send], Awaitable[None]]) -> bool:
        """Take a stream whose beginning was sent; False where a layer withholds that, or has a task of its own for it.

        Such a layer, as one that compresses, sends what it withholds with the first frame, or ends the response when
        its task has ended.
        """
        if self.has_begun and self.task is asyncio.current_task():
            self.stream = stream
        return self.stream is not None


def once_sent(scope: Scope, act: Callable[[], None]) -> None:
    """Act now that a layer returns or, where the response is a stream that goes on without it, when that has ended."""
    rest: Rest | None = scope.get(_REST)
    if rest is None or rest.stream is None:
        act()
    else:
        rest.after.append(act)


def keep_layers(scope: Scope) -> None:
    """Have a stream sent through all layers around its route, since one of them has to see each frame."""
    scope.pop(_REST, None)


class StreamingApp(FastAPI):
    """An application that sends the frames of a stream itself, past the layers that have let its beginning through.

    Some twenty of them would stay in memory with what they know of the request, for as long as the stream is open.
    ``keeps_layers``: a span around them is to last as long as the stream.
    """

    keeps_layers = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, and send what is left of its response."""
        if scope["type"] != "http" or self.keeps_layers:
            await super().__call__(scope, receive, send)
            return
        rest = scope[_REST] = Rest(asyncio.current_task())
        names = set(scope)

        async def noting(message: Message) -> None:
            await send(message)
            rest.has_begun = rest.has_begun or message["type"] == "http.response.start"

        try:
            await super().__call__(scope, receive, noting)
            rest.task = None
            if rest.stream is not None:
                for name in scope.keys() - names:  # what the layers know of the request
                    del scope[name]
                scope["state"] = {}
                del names  # it would be kept as long as the stream is open
                await rest.stream(receive, send)
        finally:
            for act in rest.after:
                act()


class RunStream(StreamingResponse):
    """A run streamed to one reader as Server-Sent Events; by default the run is cancelled when its last reader leaves.

    A run that has to give way to a later question is cancelled then in any case.

    A reader that accepts nothing for ``send_timeout`` seconds counts as gone. ``after`` is the sequence number of the
    last event that the reader has received; ``headers`` are added to those of every stream.

    Thousands of streams may be open that nothing is sent to, so each is two tasks, one that sends frames and one that
    waits for the reader to leave, and a comment every ``ping`` seconds.
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
        super().__init__(
            frames := encode_run(run, encoder, after),
            headers={"Connection": "keep-alive", **HEADERS, **(headers or {})},
            media_type=MEDIA_TYPE,
        )
        self._frames = frames
        self._run = run
        self._on_disconnect = on_disconnect
        self._ping_seconds = ping
        self._send_timeout = send_timeout

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the stream, or its beginning where a ``StreamingApp`` sends the rest."""
        self._context = copy_context()  # of the request, whose id its lines in the log have
        await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
        rest: Rest | None = scope.get(_REST)
        if rest is None or not rest.take(self._follow):
            await self._follow(receive, send)

    async def _follow(self, receive: Receive, send: Send) -> None:
        """Send the frames, and afterwards cancel a run without readers if ``on_disconnect`` is "cancel".

        Where the server closes the stream, its reader has not left: the run goes on, here or in another process.
        """
        self._run.watchers += 1
        left = True
        try:
            with LIVE_STREAMS.track_inprogress():
                await self._stream(receive, send)
        except ReaderStalled:
            self._log("run %s: its reader accepted nothing for %s s", self._run.run_id, self._send_timeout)
        except asyncio.CancelledError:
            left = False
            raise
        finally:
            if (reason := stop_watching(self._run, self._on_disconnect, left=left)) is not None:
                await self._cancel(reason)

    async def _stream(self, receive: Receive, send: Send) -> None:
        sending = asyncio.create_task(self._send_frames(send), context=self._context)
        leaving = asyncio.create_task(client_left(receive))
        both = {sending, leaving}
        try:
            while not (await asyncio.wait(both, timeout=self._ping_seconds, return_when=asyncio.FIRST_COMPLETED))[0]:
                await self._send(send, PING)
            if sending.done():
                sending.result()
                await send({"type": "http.response.body", "body": b"", "more_body": False})
        finally:
            await cancel_and_wait(*both)

    async def _send_frames(self, send: Send) -> None:
        async with aclosing(self._frames) as frames:
            async for chunk in frames:
                await self._send(send, chunk)
                del chunk  # or it would be held until the next one comes

    async def _send(self, send: Send, chunk: bytes) -> None:
        """Send a part of the body. Raises ReaderStalled where it is not accepted in time."""
        try:
            async with asyncio.timeout(self._send_timeout) as patience:
                await send({"type": "http.response.body", "body": chunk, "more_body": True})
        except TimeoutError:
            if patience.expired():
                raise ReaderStalled from None
            raise

    async def _cancel(self, reason: StopReason) -> None:
        try:
            # Shielded: if the request is cancelled now, the run's end must still be recorded.
            await shield_until_done(self._run.cancel(reason))
        except CitewellError as error:
            self._log("run %s: could not be cancelled: %s", self._run.run_id, error.code, level=logging.WARNING)

    def _log(self, message: str, *of: object, level: int = logging.INFO) -> None:
        self._context.run(log.log, level, message, *of)


async def encode_run(run: RunReader, encoder: Encoder, after: int = 0) -> AsyncGenerator[bytes, None]:
    """Yield the frames of a run's events after ``after``, up to the terminal one.

    When the server stops, a reader that can join the run again gets no end, since the run continues; others get one.
    An event that can't be encoded ends the run and the stream as failed. A log that can no longer be read ends the
    stream as failed, since a reader can't use a stream that just breaks off; that frame has no id, so that who joins
    again goes on behind the last event that was received. Frames of events that came together are yielded together:
    each time costs a call of the socket and of every middleware.
    """
    last, ready = after, bytearray()
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
                del batch, envelope  # or they would be held while nothing comes
    except ServerStopping as error:
        if not encoder.resumable:
            yield encoder.encode(_unlogged(run, last + 1, error))
    except CitewellError as error:
        log.warning("run %s: its log can't be read after event %d: %s", run.run_id, last, error.code)
        yield encoder.encode(_unlogged(run, last + 1, error))
    except Exception:
        log.exception("run %s: event %d can't be encoded", run.run_id, last)
        await run.cancel("error")
        # It stands in the place of the event that can't be encoded, which nobody should be sent to again.
        failure = _unlogged(run, max(last, after), CitewellError("The run failed for an internal reason."))
        yield bytes(ready) + encoder.encode(replace(failure, logged=True))


def _unlogged(run: RunReader, seq: int, error: CitewellError) -> Envelope:
    end = RunFailed(code=error.code, message=error.message, suggestion=error.advice, retryable=error.retryable)
    return Envelope(run.run_id, run.session_id, seq, timestamp(datetime.now(UTC)), end, logged=False)


async def wait_for_end(run: RunReader, request: Request, on_disconnect: OnDisconnect) -> RunFinished | RunFailed:
    """Return the end of a run for a client that reads no stream; if it disconnects first, it has left as a stream's."""
    run.watchers += 1
    ending = asyncio.create_task(_terminal_event(run))
    leaving = asyncio.create_task(client_left(request.receive))
    left = False
    try:
        try:
            await asyncio.wait({ending, leaving}, return_when=asyncio.FIRST_COMPLETED)
            left = not ending.done()
        finally:
            reason = stop_watching(run, on_disconnect, left=left)
        if reason is not None:
            await run.cancel(reason)
        return await ending
    finally:
        leaving.cancel()
        ending.cancel()


def stop_watching(
    run: RunReader, on_disconnect: OnDisconnect, *, left: bool, reason: StopReason = "client_disconnected"
) -> StopReason | None:
    """Count a reader out, and return why the run is to be cancelled if it was the last and has left, else None.

    ``reason`` is why where the reader's leaving cancels it.
    """
    run.watchers -= 1
    run.abandoned = left and not run.watchers
    if run.abandoned and run.cancel_when_unread:
        return "interrupted"
    return reason if run.abandoned and on_disconnect == "cancel" else None


async def _terminal_event(run: RunReader) -> RunFinished | RunFailed:
    async for envelope in run.events():
        if isinstance(envelope.event, RunFinished | RunFailed):
            return envelope.event
    raise AssertionError("a log ends with its terminal event")


async def client_left(receive: Receive) -> None:
    """Wait until the client of a request whose body is read has disconnected."""
    while (await receive())["type"] != "http.disconnect":
        pass
