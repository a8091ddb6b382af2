"""The stream by itself: runs made by hand, told over a real connection."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any
from uuid import UUID

import httpx
import pytest
from fastapi import FastAPI, Request, Response
from pydantic_core import PydanticSerializationError
from starlette.middleware.base import BaseHTTPMiddleware, RequestResponseEndpoint
from starlette.types import ASGIApp, Receive, Scope, Send

from api.dialects.native.encoder import NativeEncoder
from api.stream import RunStream, StreamingApp, keep_layers, once_sent
from graph.context import Context
from graph.events import Envelope, RunFailed, RunFinished, RunStarted, TextDelta
from graph.evidence import Message
from tests.api.reading import parse_frames
from tests.api.serving import client_of
from tools.runs.live_run import MOST_AT_ONCE, Run
from tools.sessions.run_request import RunRequest

RUN_ID = str(UUID(int=1))


def new_run() -> Run:
    run = Run(RUN_ID, str(UUID(int=2)), str(UUID(int=3)), RunRequest("Why?", Context()), "extractive", "extractive")
    run.emit(
        RunStarted(
            question="Why?",
            message_id=run.message_id,
            family="extractive",
            model="extractive",
            budget={"model_calls": 8, "tokens": None},
        )
    )
    return run


def finished(outcome: Any = "answered") -> RunFinished:
    message = Message(answer="Because.", sections=[], citations=[], sources=[])
    return RunFinished(outcome=outcome, stop_reason="answer_complete", message=message, spent={})


@asynccontextmanager
async def telling(run: Run, app: FastAPI | None = None, **knobs: Any) -> AsyncIterator[httpx.AsyncClient]:
    app = app or FastAPI()

    @app.post("/run")
    async def told() -> RunStream:
        return RunStream(run, NativeEncoder(), "cancel", **knobs)

    async with client_of(app) as client:
        yield client


async def test_each_event_is_a_frame_with_id_name_and_json() -> None:
    run = new_run()
    run.emit(TextDelta(section_index=0, delta="Be\r\ncause\u2028."))
    run.emit(finished())
    async with telling(run) as client:
        response = await client.post("/run")
    assert response.headers["content-type"].startswith("text/event-stream")
    assert response.headers["cache-control"] == "no-cache"
    assert response.headers["x-accel-buffering"] == "no"
    frames = parse_frames(response.text)
    assert [(f["id"], f["event"]) for f in frames] == [
        (f"{RUN_ID}:1", "run_started"),
        (f"{RUN_ID}:2", "text_delta"),
        (f"{RUN_ID}:3", "run_finished"),
    ]
    data = [json.loads(frame["data"]) for frame in frames]
    assert {key: data[1][key] for key in ("schema", "type", "run_id", "session_id", "seq", "delta")} == {
        "schema": 1,
        "type": "text_delta",
        "run_id": RUN_ID,
        "session_id": str(UUID(int=2)),
        "seq": 2,
        "delta": "Be\r\ncause\u2028.",
    }
    assert b"\r" not in response.content


async def test_pings_keep_an_idle_stream_open_and_use_newlines_only() -> None:
    run = new_run()
    async with telling(run, ping=0.05) as client, client.stream("POST", "/run") as response:
        seen = b""
        async for chunk in response.aiter_raw():
            seen += chunk
            if seen.count(b": ping\n\n") == 2:
                run.emit(finished())
    assert b"\r" not in seen
    assert [frame["event"] for frame in parse_frames(seen.decode())] == ["run_started", "run_finished"]


class NotingLayer:
    """Middleware that notes when it returns, and what it does once the response has ended."""

    def __init__(self, app: ASGIApp, *, returned: asyncio.Event, sent: asyncio.Event, keeps: bool) -> None:
        self._app, self._returned, self._sent, self._keeps = app, returned, sent, keeps

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and self._keeps:
            keep_layers(scope)
        await self._app(scope, receive, send)
        if scope["type"] == "http":
            self._returned.set()
            once_sent(scope, self._sent.set)


@pytest.mark.parametrize("keeps", [False, True])
async def test_a_stream_goes_on_without_the_layers_around_its_route_unless_one_keeps_them(keeps: bool) -> None:
    run, app = new_run(), StreamingApp()
    returned, sent = asyncio.Event(), asyncio.Event()
    app.add_middleware(NotingLayer, returned=returned, sent=sent, keeps=keeps)
    async with telling(run, app, ping=0.05) as client, client.stream("POST", "/run") as response:
        seen = b""
        async for chunk in response.aiter_raw():
            seen += chunk
            if seen.count(b": ping\n\n") == 1:
                assert returned.is_set() is not keeps
                assert not sent.is_set()
                assert run.watchers == 1
                run.emit(finished())
        await sent.wait()
    assert [frame["event"] for frame in parse_frames(seen.decode())] == ["run_started", "run_finished"]
    assert run.watchers == 0


class TaskedLayer(BaseHTTPMiddleware):
    """Middleware that runs what it is around in a task of its own."""

    async def dispatch(self, request: Request, call_next: RequestResponseEndpoint) -> Response:
        return await call_next(request)


class WithholdingLayer:
    """Middleware that sends the beginning of a response with its first part, as one that may compress it does."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        withheld: list[Any] = []

        async def withholding(message: Any) -> None:
            withheld.append(message)
            if message["type"] != "http.response.start":
                for each in withheld:
                    await send(each)
                withheld.clear()

        await self._app(scope, receive, withholding)


@pytest.mark.parametrize("layer", [TaskedLayer, WithholdingLayer])
async def test_a_layer_that_sends_by_itself_has_the_whole_stream(layer: Any) -> None:
    run, app = new_run(), StreamingApp()
    app.add_middleware(layer)
    run.emit(finished())
    async with telling(run, app) as client:
        response = await client.post("/run")
    assert [frame["event"] for frame in parse_frames(response.text)] == ["run_started", "run_finished"]


async def test_whoever_joins_a_run_that_waits_is_sent_all_its_events() -> None:
    run, count = new_run(), 2 * MOST_AT_ONCE + 1
    for number in range(count):
        run.emit(TextDelta(section_index=0, delta=f"{number} "))
    async with telling(run) as client, client.stream("POST", "/run") as response:
        seen = b""
        async for chunk in response.aiter_raw():
            seen += chunk
            if seen.count(b"event: text_delta") == count and not run.has_ended:
                run.emit(finished())
    frames = parse_frames(seen.decode())
    assert [json.loads(frame["data"])["delta"] for frame in frames[1:-1]] == [f"{number} " for number in range(count)]
    assert [frame["id"] for frame in frames] == [f"{RUN_ID}:{seq}" for seq in range(1, count + 3)]


async def test_an_event_that_cannot_be_written_out_is_refused_and_leaves_the_log_as_it_was() -> None:
    run = new_run()
    with pytest.raises(PydanticSerializationError):
        run.emit(TextDelta(section_index=0, delta="half a pair: \ud83d"))
    run.emit(finished())
    assert [envelope.seq async for envelope in run.events()] == [1, 2]


async def test_a_dialect_that_breaks_ends_the_stream_as_failed(monkeypatch: pytest.MonkeyPatch) -> None:
    run = new_run()
    run.emit(TextDelta(section_index=0, delta="Because."))
    run.emit(finished())

    encode = NativeEncoder.encode

    def broken(self: NativeEncoder, envelope: Envelope) -> bytes:
        if isinstance(envelope.event, TextDelta):
            raise ValueError("secret detail")
        return encode(self, envelope)

    monkeypatch.setattr(NativeEncoder, "encode", broken)
    async with telling(run) as client:
        response = await client.post("/run")
    frames = parse_frames(response.text)
    assert [frame["event"] for frame in frames] == ["run_started", "run_failed"]
    assert json.loads(frames[-1]["data"])["code"] == "internal"


async def test_a_failed_run_ends_with_its_code_and_nothing_after_it() -> None:
    run = new_run()
    run.emit(RunFailed(code="model_unavailable", message="No reply.", suggestion="Try again.", retryable=True))
    async with telling(run) as client:
        response = await client.post("/run")
    last = json.loads(parse_frames(response.text)[-1]["data"])
    assert (last["type"], last["code"], last["retryable"]) == ("run_failed", "model_unavailable", True)


@pytest.mark.parametrize("most", [1, 2], ids=["no event", "no comment while nothing is told"])
async def test_a_reader_that_takes_nothing_counts_as_gone(most: int) -> None:
    run = new_run()
    for _ in range(200):
        run.emit(TextDelta(section_index=0, delta="x" * 100_000))
    stream = RunStream(run, NativeEncoder(), "cancel", ping=0.05, send_timeout=0.05)
    taken = 0

    async def receive() -> dict[str, Any]:
        return await asyncio.get_running_loop().create_future()

    async def send(message: Any) -> None:
        nonlocal taken
        if taken == most:
            await asyncio.get_running_loop().create_future()
        taken += 1

    async with asyncio.timeout(60):
        await stream({"type": "http", "method": "POST"}, receive, send)
    assert taken == most
    assert run.abandoned
