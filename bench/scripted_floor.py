"""Floors to compare an answer with: servers that only send the scripted writer's deltas over HTTP.

``python -m bench.scripted_floor asgi`` sends them from a bare ASGI application, ``sse`` through sse-starlette, and
``idle`` has no writer: it sends two events at once through FastAPI and sse-starlette.
"""

import asyncio
import json
import socket
import sys
from collections.abc import AsyncIterator

import uvicorn
import uvloop
from fastapi import FastAPI
from pydantic import BaseModel
from sse_starlette import EventSourceResponse
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from bench.corpus import Corpus
from bench.scripted_writer import SECTIONS, writer
from graph.evidence import Hit, Segment
from graph.ports import DraftText
from graph.usage import Meter

BACKLOG = 2048


def _sources() -> list[Hit]:
    document = next(iter(Corpus(7).documents(1)))
    text = document.text
    cuts = [(index * 1000, (index + 1) * 1000) for index in range(SECTIONS)]
    return [
        Hit(Segment(document.document_id, index, start, end, text[start:end], title="", tokens=1), 1.0)
        for index, (start, end) in enumerate(cuts)
    ]


SOURCES = _sources()


async def deltas(model: str) -> AsyncIterator[str]:
    """Yield the deltas of a script."""
    async for draft in writer(model).write("", SOURCES, language="en", meter=Meter()):
        if isinstance(draft, DraftText):
            yield draft.delta


async def bare(scope: Scope, receive: Receive, send: Send) -> None:
    """Send one frame per delta, with nothing between the writer and the socket."""
    if scope["type"] != "http":
        return
    question = json.loads((await receive())["body"])
    head = [(b"content-type", b"text/event-stream")]
    await send({"type": "http.response.start", "status": 200, "headers": head})
    async for delta in deltas(question["model"]):
        frame = b"event: text_delta\ndata: " + json.dumps({"delta": delta}).encode() + b"\n\n"
        await send({"type": "http.response.body", "body": frame, "more_body": True})
    await send({"type": "http.response.body", "body": b""})


async def plain(request: Request) -> EventSourceResponse:
    """Send one frame per delta through sse-starlette."""
    question = await request.json()

    async def frames() -> AsyncIterator[dict[str, str]]:
        async for delta in deltas(question["model"]):
            yield {"event": "text_delta", "data": json.dumps({"delta": delta})}

    return EventSourceResponse(frames(), sep="\n")


class Question(BaseModel):
    """The body of a request."""

    question: str


idle = FastAPI()


@idle.post("/run")
async def two_events(body: Question) -> EventSourceResponse:
    """Stream two events at once."""

    async def events() -> AsyncIterator[dict[str, str]]:
        yield {"event": "run_started", "data": json.dumps({"question": body.question})}
        yield {"event": "text_delta", "data": json.dumps({"delta": "Because."})}

    return EventSourceResponse(events(), sep="\n")


FLOORS: dict[str, ASGIApp] = {
    "asgi": bare,
    "sse": Starlette(routes=[Route("/run", plain, methods=["POST"])]),
    "idle": idle,
}


def main() -> None:
    """Serve on a free loopback port, and print the URL."""
    with socket.create_server(("127.0.0.1", 0), backlog=BACKLOG) as listening:
        print(json.dumps({"url": f"http://127.0.0.1:{listening.getsockname()[1]}"}), flush=True)
        server = uvicorn.Server(uvicorn.Config(FLOORS[sys.argv[1]], log_level="warning", lifespan="off"))
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            runner.run(server.serve(sockets=[listening]))


if __name__ == "__main__":
    main()
