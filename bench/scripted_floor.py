"""The floor of an answer: ``python -m bench.scripted_floor`` only sends the scripted writer's deltas over HTTP."""

import asyncio
import json
import socket
from collections.abc import AsyncIterator

import uvicorn
import uvloop
from sse_starlette import EventSourceResponse
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.routing import Route

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


async def plain(request: Request) -> EventSourceResponse:
    """Send one frame per delta through sse-starlette."""
    question = await request.json()

    async def frames() -> AsyncIterator[dict[str, str]]:
        async for delta in deltas(question["model"]):
            yield {"event": "text_delta", "data": json.dumps({"delta": delta})}

    return EventSourceResponse(frames(), sep="\n")


app = Starlette(routes=[Route("/run", plain, methods=["POST"])])


def main() -> None:
    """Serve on a free loopback port, and print the URL."""
    with socket.create_server(("127.0.0.1", 0), backlog=BACKLOG) as listening:
        print(json.dumps({"url": f"http://127.0.0.1:{listening.getsockname()[1]}"}), flush=True)
        server = uvicorn.Server(uvicorn.Config(app, log_level="warning", lifespan="off"))
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            runner.run(server.serve(sockets=[listening]))


if __name__ == "__main__":
    main()
