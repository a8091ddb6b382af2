"""The floor of an answer by a model: ``python -m bench.bare_relay URL`` relays the deltas of a model, and no more.

It serves on a free loopback port and prints its URL; each request is a call by the openai client, whose deltas leave
through sse-starlette as they come.
"""

import asyncio
import json
import socket
import sys
from collections.abc import AsyncIterator

import uvicorn
import uvloop
from openai import AsyncOpenAI
from sse_starlette import EventSourceResponse
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.routing import Route

from bench.paced_model import PACED


def relay_of(client: AsyncOpenAI) -> Starlette:
    """Return an application that asks the model whatever it is asked."""

    async def relay(request: Request) -> EventSourceResponse:
        question = (await request.json())["question"]

        async def frames() -> AsyncIterator[dict[str, str]]:
            stream = await client.chat.completions.create(
                model=PACED, messages=[{"role": "user", "content": question}], stream=True
            )
            async for chunk in stream:
                if chunk.choices and (delta := chunk.choices[0].delta.content):
                    yield {"data": json.dumps({"delta": delta})}

        return EventSourceResponse(frames(), sep="\n")

    return Starlette(routes=[Route("/run", relay, methods=["POST"])])


async def main(base_url: str) -> None:
    """Serve until a signal arrives."""
    async with AsyncOpenAI(base_url=base_url, api_key="none") as client:
        config = uvicorn.Config(relay_of(client), log_level="warning", lifespan="off")
        with socket.create_server(("127.0.0.1", 0)) as listening:
            print(json.dumps({"url": f"http://127.0.0.1:{listening.getsockname()[1]}"}), flush=True)
            await uvicorn.Server(config).serve(sockets=[listening])


if __name__ == "__main__":
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as loop:
        loop.run(main(sys.argv[1]))
