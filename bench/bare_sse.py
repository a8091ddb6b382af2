"""The floor under the stream benchmark: sse-starlette with nothing behind it, on the uvicorn that we use."""

import asyncio
import json
import socket
from collections.abc import AsyncIterator

import uvicorn
import uvloop
from fastapi import FastAPI
from pydantic import BaseModel
from sse_starlette import EventSourceResponse


class Question(BaseModel):
    """What is asked."""

    question: str


app = FastAPI()


@app.post("/run")
async def told(body: Question) -> EventSourceResponse:
    """Stream two events at once."""

    async def events() -> AsyncIterator[dict[str, str]]:
        yield {"event": "run_started", "data": json.dumps({"question": body.question})}
        yield {"event": "text_delta", "data": json.dumps({"delta": "Because."})}

    return EventSourceResponse(events(), sep="\n")


def main() -> None:
    """Serve on a free port of loopback, and say where."""
    listening = socket.create_server(("127.0.0.1", 0))
    print(json.dumps({"url": f"http://127.0.0.1:{listening.getsockname()[1]}"}), flush=True)
    server = uvicorn.Server(uvicorn.Config(app, log_level="warning"))
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(server.serve(sockets=[listening]))


if __name__ == "__main__":
    main()
