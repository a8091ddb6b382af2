"""What becomes of a request by cookie while it is served: of its streams, and of those that are none."""

import asyncio
from collections.abc import Awaitable, Callable

import pytest
from starlette.types import Message

from api.login_streams import LoginStream
from graph.errors import DatabaseUnavailable

STREAM: Message = {"type": "http.response.start", "headers": [(b"content-type", b"text/event-stream; charset=utf-8")]}
JSON: Message = {"type": "http.response.start", "headers": [(b"content-type", b"application/json")]}
FRAME: Message = {"type": "http.response.body", "body": b"frame", "more_body": True}
END: Message = {"type": "http.response.body", "body": b"", "more_body": False}


async def never() -> Message:
    await asyncio.Event().wait()
    raise AssertionError("unreachable")


async def over() -> bool:
    return False


async def unknown() -> bool:
    raise DatabaseUnavailable("It is away.")


@pytest.mark.parametrize(
    ("lasts", "start", "check_seconds", "gets"),
    [
        (over, STREAM, 0.0, [STREAM, END]),
        (over, STREAM, 60.0, [STREAM, FRAME, FRAME]),
        (over, JSON, 0.0, [JSON, FRAME, FRAME]),
        (unknown, STREAM, 0.0, [STREAM, FRAME, FRAME]),
    ],
    ids=["it is over", "it was asked just now", "no stream", "nobody can say"],
)
async def test_a_stream_ends_where_its_login_has(
    lasts: Callable[[], Awaitable[bool]], start: Message, check_seconds: float, gets: list[Message]
) -> None:
    got: list[Message] = []

    async def send(message: Message) -> None:
        got.append(message)

    stream = LoginStream(never, send, lasts, check_seconds=check_seconds)
    for message in (start, FRAME, FRAME):
        await stream.send(message)
    await stream.finish()
    assert got == gets


async def test_its_application_learns_that_the_client_is_gone() -> None:
    async def send(message: Message) -> None:
        pass

    stream = LoginStream(never, send, over, check_seconds=0)
    waiting = asyncio.create_task(stream.receive())
    await stream.send(STREAM)
    await stream.send(FRAME)
    assert await waiting == {"type": "http.disconnect"}


async def test_what_the_client_sends_arrives() -> None:
    async def receive() -> Message:
        return {"type": "http.request", "body": b"question", "more_body": False}

    async def send(message: Message) -> None:
        pass

    stream = LoginStream(receive, send, over, check_seconds=0)
    assert (await stream.receive())["body"] == b"question"
