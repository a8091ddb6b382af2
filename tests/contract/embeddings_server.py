"""A loopback server that speaks ``/v1/embeddings`` over real sockets, and fails the ways servers do when told to."""

import asyncio
import hashlib
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np

Reply = tuple[int, bytes]
DIMENSION = 32


def vector(text: str, dimension: int = DIMENSION) -> list[float]:
    """Derive a vector from a text, not of unit length."""
    seed = int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")
    drawn: list[float] = (3.0 * np.random.default_rng(seed).normal(size=dimension)).tolist()
    return drawn


def embeddings(vectors: list[Any]) -> Reply:
    data = [{"object": "embedding", "index": index, "embedding": row} for index, row in enumerate(vectors)]
    return 200, json.dumps({"object": "list", "model": "m", "data": data, "usage": {"prompt_tokens": 1}}).encode()


@dataclass
class EmbeddingsServer:
    """``reply`` makes the answer to a request's JSON; ``requests`` holds what was asked, with its path."""

    reply: Callable[[dict[str, Any]], Reply] = lambda request: embeddings([vector(text) for text in request["input"]])
    requests: list[dict[str, Any]] = field(default_factory=list)
    base_url: str = ""

    async def handle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                lines = head.decode().lower().split("\r\n")
                length = next(int(line.split(":")[1]) for line in lines if line.startswith("content-length:"))
                request = json.loads(await reader.readexactly(length))
                self.requests.append(request | {"path": head.split(b" ")[1].decode()})
                status, body = self.reply(request)
                headers = f"content-type: application/json\r\ncontent-length: {len(body)}"
                writer.write(f"HTTP/1.1 {status} Scripted\r\n{headers}\r\n\r\n".encode() + body)
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionResetError):
            pass  # the client is gone
        finally:
            writer.close()


@asynccontextmanager
async def serve_embeddings() -> AsyncIterator[EmbeddingsServer]:
    script = EmbeddingsServer()
    listening = await asyncio.start_server(script.handle, "127.0.0.1", 0)
    async with listening:
        script.base_url = f"http://127.0.0.1:{listening.sockets[0].getsockname()[1]}/v1"
        yield script
