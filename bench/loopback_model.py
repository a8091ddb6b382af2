"""A loopback OpenAI-compatible endpoint that answers at once in 200 chunks, or stalls in the middle of an answer.

It is known by its prompts what a request is for: a question stays as it is, every passage is kept, and the answer
quotes the first segments. The model ``stalling`` begins the answer and then waits until its client has gone.
"""

import asyncio
import json
import re
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from bench.scripted_writer import DELTAS, SECTIONS

PROMPTS = Path(__file__).parents[1] / "prompts"
DECIDE, GRADE, ANSWER = [
    (PROMPTS / f"{node}.md").read_text(encoding="utf-8").split("\n", 1)[0]
    for node in ("decide_retrieval", "grade_segments", "generate_answer")
]
SENTENCES = 4
SECTIONED = '{"sections":'
TOKEN_CHARACTERS = 5
_SEGMENT = re.compile(r"^\[SEG=([^\]]+)\] (.+)$", re.MULTILINE)


class LoopbackModel:
    """The endpoint. ``left`` is set, for each request that stalls, to when its client went away, in nanoseconds."""

    def __init__(self, port: int) -> None:
        self.base_url = f"http://127.0.0.1:{port}/v1"
        self.left: asyncio.Queue[int] = asyncio.Queue()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serve the requests of one connection, one after the other."""
        try:
            while head := await _head(reader):
                body = json.loads(await reader.readexactly(int(head["content-length"])))
                await self._reply(body, reader, writer)
        except (ConnectionError, asyncio.IncompleteReadError):
            pass  # the client has gone
        finally:
            writer.close()

    async def _reply(self, body: dict[str, Any], reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        asked = "\n".join(str(message["content"]) for message in body["messages"])
        text = _reply_to(asked)
        if not body.get("stream"):
            content = json.dumps(_completion(text)).encode()
            head = f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {len(content)}\r\n\r\n"
            writer.write(head.encode() + content)
            return
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n")
        for place, piece in enumerate(_pieces(text)):
            if body["model"] == "stalling" and asked.startswith(ANSWER) and place == DELTAS // 2:
                await reader.read(1)
                self.left.put_nowait(time.monotonic_ns())
                return
            _send(writer, _chunk({"content": piece}))
        _send(writer, _chunk({}, "stop"))
        _send(writer, {**_chunk({}), "choices": [], "usage": _USAGE})
        writer.write(b"e\r\ndata: [DONE]\n\n\r\n0\r\n\r\n")
        await writer.drain()


@asynccontextmanager
async def loopback_model() -> AsyncIterator[LoopbackModel]:
    """Listen on a free port until left."""
    model: LoopbackModel

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await model.serve(reader, writer)

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    model = LoopbackModel(server.sockets[0].getsockname()[1])
    try:
        yield model
    finally:
        server.close()


def _reply_to(asked: str) -> str:
    if asked.startswith(DECIDE):
        question = asked.rsplit("Last message:\n", 1)[1].strip()
        decided = {"intent": "content_query", "needs_retrieval": True, "reason": "scripted"}
        return json.dumps({"standalone_question": question, **decided})
    if asked.startswith(GRADE):
        return json.dumps({"relevant": [int(number) for number in re.findall(r"^\[(\d+)\] ", asked, re.MULTILINE)]})
    sections = [
        {"text": ". ".join(text.split(". ")[:SENTENCES]).rstrip(".") + ".", "source_ids": [segment_id]}
        for segment_id, text in _SEGMENT.findall(asked)[:SECTIONS]
    ]
    return json.dumps({"sections": sections or [{"text": "word " * DELTAS, "source_ids": []}]})


def _pieces(text: str) -> Iterator[str]:
    count = DELTAS if text.startswith(SECTIONED) else len(text) // TOKEN_CHARACTERS
    for place in range(count):
        yield text[len(text) * place // count : len(text) * (place + 1) // count]


_USAGE = {"prompt_tokens": 1, "completion_tokens": DELTAS, "total_tokens": DELTAS + 1}


def _chunk(delta: dict[str, str], finish_reason: str | None = None) -> dict[str, Any]:
    choices = [{"index": 0, "delta": delta, "finish_reason": finish_reason}]
    return {"id": "c", "object": "chat.completion.chunk", "created": 0, "model": "loopback", "choices": choices}


def _completion(text: str) -> dict[str, Any]:
    choices = [{"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}]
    made = {"id": "c", "object": "chat.completion", "created": 0, "model": "loopback"}
    return {**made, "choices": choices, "usage": _USAGE}


def _send(writer: asyncio.StreamWriter, chunk: dict[str, Any]) -> None:
    frame = b"data: " + json.dumps(chunk).encode() + b"\n\n"
    writer.write(b"%x\r\n%b\r\n" % (len(frame), frame))


async def _head(reader: asyncio.StreamReader) -> dict[str, str]:
    lines = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")[1:]
    return {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines if line)}
