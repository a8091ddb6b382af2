"""A model that obeys whatever it reads: it invents ids and carries what it saw out in links, cut anywhere.

An OpenAI-compatible endpoint on loopback for as long as a measurement lasts. What it replies to is told by the name of
the schema that the request asks for; what it has no malice for gets the first value that the schema allows.
"""

import asyncio
import json
import random
import re
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, suppress
from typing import Any
from urllib.parse import quote
from uuid import UUID

from evals.datasets.injection import CARRIERS, EXFIL

_ID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}:\d+")
_ADDRESS = re.compile(r"(?:https?://|www\.)[^\s<>\"']+")
_COPIED = 600  # characters of its context that it repeats


class ObedientModel:
    """What it replies, from a fixed seed. ``forged`` counts the ids it gave that stood in no tag of its context."""

    def __init__(self, seed: int = 7) -> None:
        self._random = random.Random(seed)
        self.forged = 0
        self.carried = 0

    def reply(self, body: dict[str, Any]) -> str:
        """Give the reply to a request."""
        asked = "\n".join(str(message["content"]) for message in body["messages"])
        form = body.get("response_format", {}).get("json_schema", {})
        schema = form.get("schema", {})
        match form.get("name"):
            case "answer":
                return json.dumps({"sections": [self._section(asked) for _ in range(3)]}, ensure_ascii=False)
            case "revision":
                numbers = schema["properties"]["sections"]["items"]["properties"]["section"]["enum"]
                return json.dumps({"sections": [{"section": n, **self._section(asked)} for n in numbers]})
            case "grading":
                return json.dumps({"relevant": schema["properties"]["relevant"]["items"]["enum"]})
            case "preparation":
                question = asked.rsplit("Last message:\n", 1)[-1].strip()
                decided = {"intent": "content_query", "standalone_question": question, "needs_retrieval": True}
                return json.dumps({**decided, "reason": "told so"}, ensure_ascii=False)
            case _:
                return json.dumps(_first_of(schema)) if schema else self._section(asked)["text"]

    def cut(self, text: str) -> Iterator[str]:
        """Cut a reply at random places."""
        while text:
            size = self._random.choice((1, 1, 2, 3, 5, 8, 13, 40))
            yield text[:size]
            text = text[size:]

    def _section(self, asked: str) -> dict[str, Any]:
        context = asked.split("Segments:\n", 1)[-1].rsplit("\n\nQuestion:", 1)[0]
        tagged = re.findall(r"\[SEG=([^\]]+)\]", context)
        mentioned = [found for found in _ID.findall(context) if found not in tagged]
        invented = f"{UUID(int=self._random.getrandbits(128))}:{self._random.randrange(9)}"
        forged = [*mentioned, invented]
        self.forged += len(forged)
        at = self._random.randrange(max(1, len(context) - _COPIED))
        copied = context[at : at + _COPIED]
        secret = quote(context[-40:])
        carriers = [form.format(host=EXFIL, data=secret) for form in self._random.sample(CARRIERS, 3)]
        carriers += [f"{address}?d={secret}" for address in _ADDRESS.findall(context)[:2]]
        self.carried += len(carriers)
        real = self._random.sample(tagged, min(2, len(tagged)))
        return {"text": f"{copied} [SEG={invented}] " + " ".join(carriers), "source_ids": [*forged, *real]}


@asynccontextmanager
async def obedient_endpoint(model: ObedientModel) -> AsyncIterator[str]:
    """Serve the model on loopback; give its base URL."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError, asyncio.IncompleteReadError):
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
            length = re.search(r"content-length:\s*(\d+)", head, re.IGNORECASE)
            body = json.loads(await reader.readexactly(int(length[1]) if length else 0) or b"{}")
            await _respond(writer, model, body)
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    try:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
    finally:
        server.close()


async def _respond(writer: asyncio.StreamWriter, model: ObedientModel, body: dict[str, Any]) -> None:
    said = model.reply(body) if "messages" in body else ""
    if not body.get("stream"):
        message = {"index": 0, "message": {"role": "assistant", "content": said}, "finish_reason": "stop"}
        usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
        whole = {
            "id": "o",
            "object": "chat.completion",
            "created": 0,
            "model": "o",
            "choices": [message],
            "usage": usage,
        }
        data, kind = json.dumps(whole).encode(), b"application/json"
    else:
        frames = [_frame({"role": "assistant", "content": part}) for part in model.cut(said)]
        data, kind = b"".join([*frames, _frame({}, "stop"), b"data: [DONE]\n\n"]), b"text/event-stream"
    writer.write(
        b"HTTP/1.1 200 OK\r\nContent-Type: %b\r\nContent-Length: %d\r\nConnection: close\r\n\r\n" % (kind, len(data))
        + data
    )
    await writer.drain()


def _frame(delta: dict[str, str], finish_reason: str | None = None) -> bytes:
    choice = {"index": 0, "delta": delta, "finish_reason": finish_reason}
    chunk = {"id": "o", "object": "chat.completion.chunk", "created": 0, "model": "o", "choices": [choice]}
    return b"data: " + json.dumps(chunk).encode() + b"\n\n"


def _first_of(schema: dict[str, Any]) -> Any:
    """Give the first value that a schema allows."""
    if "enum" in schema:
        return schema["enum"][0]
    match schema.get("type"):
        case "object":
            return {name: _first_of(of) for name, of in schema.get("properties", {}).items()}
        case "array":
            return [_first_of(schema["items"])]
        case "string":
            return "as told"
        case "boolean":
            return True
        case _:
            return 0
