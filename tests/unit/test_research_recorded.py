"""Recorded replies of a strong model: served by the digest of what was asked, and for nothing else."""

import asyncio
import json
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import httpx
import pytest

from graph.errors import InvalidRequest
from research.recorded import REPLIES, digest, load_recorded, serve_recorded

ASKED = {
    "model": "any",
    "messages": [{"role": "user", "content": "Xin chào?"}],
    "response_format": {"type": "json_object"},
}


@asynccontextmanager
async def served(replies: dict[str, str]) -> AsyncIterator[str]:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    serving = asyncio.create_task(serve_recorded(replies, port))
    try:
        async with httpx.AsyncClient() as client:
            while not serving.done():
                with suppress(httpx.TransportError):
                    await client.get(f"http://127.0.0.1:{port}/v1/models")
                    break
        yield f"http://127.0.0.1:{port}/v1/chat/completions"
    finally:
        serving.cancel()
        with suppress(asyncio.CancelledError):
            await serving


async def test_a_known_request_gets_its_reply_whoever_asks() -> None:
    async with served({digest(ASKED): '{"1": "Chào"}'}) as url, httpx.AsyncClient() as client:
        known = (await client.post(url, json={**ASKED, "model": "other", "temperature": 1})).json()
        other = await client.post(url, json={**ASKED, "messages": []})
    assert known["choices"][0]["message"]["content"] == '{"1": "Chào"}'
    assert (other.status_code, "Ask a real endpoint" in other.text) == (404, True)


async def test_a_port_that_is_taken_is_named() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken, pytest.raises(InvalidRequest, match="--port"):
        await serve_recorded({}, taken.getsockname()[1])


def test_the_committed_replies_are_readable_and_a_bad_line_is_named(tmp_path: Path) -> None:
    replies = load_recorded(REPLIES)
    assert replies
    assert all(isinstance(json.loads(reply), dict) for reply in replies.values())
    (tmp_path / "replies.jsonl").write_text('{"request": "short", "reply": "x"}\n', "utf-8")
    with pytest.raises(InvalidRequest, match="line 1: request"):
        load_recorded(tmp_path / "replies.jsonl")
