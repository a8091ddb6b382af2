"""An OpenAI-compatible endpoint on loopback whose replies are scripted, and the parts that scripted models share.

    async with model_endpoint(reply) as base_url:
        ModelSettings(name="scripted", base_url=base_url, model="any")

Requests come over real HTTP, and replies stream where they are asked to. A requested schema is not
enforced.
"""

import asyncio
import json
import re
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from typing import Any

_LENGTH = re.compile(r"content-length:\s*(\d+)", re.IGNORECASE)
_PIECE = 64  # characters


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """What a model is asked: its messages as one text, and the schema asked for, "" and empty for plain text.

    The schemas' names and forms are those of ``tools.llm.reply_schemas``.
    """

    text: str
    schema_name: str
    schema: Mapping[str, Any]

    def first_allowed(self) -> str:
        """Give the first reply that the schema allows, as JSON."""
        return json.dumps(_first_value(self.schema))


Reply = Callable[[ModelRequest], str]
Cut = Callable[[str], Iterable[str]]


def in_pieces(text: str) -> list[str]:
    """Cut a reply into pieces of one size."""
    return [text[at : at + _PIECE] for at in range(0, len(text), _PIECE)]


@asynccontextmanager
async def model_endpoint(reply: Reply, *, cut: Cut = in_pieces) -> AsyncIterator[str]:
    """Serve a function as a model; give its base URL. ``cut`` makes the pieces in which a reply is streamed."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError, asyncio.IncompleteReadError):
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
            length = _LENGTH.search(head)
            body = json.loads(await reader.readexactly(int(length[1]) if length else 0) or b"{}")
            said = reply(_request(body)) if "messages" in body else ""
            writer.write(_streamed(cut(said)) if body.get("stream") else _whole(said))
            await writer.drain()
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    try:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
    finally:
        server.close()


def _request(body: Mapping[str, Any]) -> ModelRequest:
    form = body.get("response_format", {}).get("json_schema", {})
    text = "\n".join(str(message["content"]) for message in body["messages"])
    return ModelRequest(text, form.get("name", ""), form.get("schema", {}))


def _whole(said: str) -> bytes:
    choice = {"index": 0, "message": {"role": "assistant", "content": said}, "finish_reason": "stop"}
    usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
    return _response("application/json", json.dumps({**_made("chat.completion", choice), "usage": usage}).encode())


def _streamed(pieces: Iterable[str]) -> bytes:
    frames = [_frame({"role": "assistant", "content": piece}) for piece in pieces]
    return _response("text/event-stream", b"".join([*frames, _frame({}, "stop"), b"data: [DONE]\n\n"]))


def _frame(delta: Mapping[str, str], finish_reason: str | None = None) -> bytes:
    choice = {"index": 0, "delta": delta, "finish_reason": finish_reason}
    return b"data: " + json.dumps(_made("chat.completion.chunk", choice)).encode() + b"\n\n"


def _made(kind: str, choice: Mapping[str, Any]) -> dict[str, Any]:
    return {"id": "e", "object": kind, "created": 0, "model": "e", "choices": [choice]}


def _response(kind: str, data: bytes) -> bytes:
    head = f"HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nContent-Length: {len(data)}\r\nConnection: close\r\n\r\n"
    return head.encode() + data


def _first_value(schema: Mapping[str, Any]) -> Any:
    if "enum" in schema:
        return schema["enum"][0]
    match schema.get("type"):
        case "object":
            return {name: _first_value(of) for name, of in schema.get("properties", {}).items()}
        case "array":
            return [_first_value(schema["items"])]
        case "string":
            return "as told"
        case "boolean":
            return True
        case _:
            return 0


_TAG = re.compile(r"^\[SEG=([^\]\s]+)\] ?", re.MULTILINE)


def last_message(request: ModelRequest) -> str:
    """Read the message that is to be prepared."""
    return request.text.rsplit("Last message:\n", 1)[-1].strip()


def shown_segments(context: str) -> dict[str, str]:
    """Read the texts of the segments shown, by id in the order shown."""
    _, *parts = _TAG.split(context)
    return dict(zip(parts[::2], parts[1::2], strict=True))


def prepared(standalone_question: str) -> dict[str, Any]:
    """Say that a question is to be answered from the library."""
    decided = {"intent": "content_query", "standalone_question": standalone_question, "needs_retrieval": True}
    return {**decided, "reason": "as told"}


def all_relevant(request: ModelRequest) -> dict[str, Any]:
    """Keep every segment that is to be graded."""
    return {"relevant": request.schema["properties"]["relevant"]["items"]["enum"]}
