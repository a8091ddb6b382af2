"""Recorded replies of a strong model, served on loopback: figures that rest on one can be had again without it.

A reply is known by a digest of what was asked: the messages and the response format. So a changed prompt or another
order of claims has none. Who wrote a reply saw its request alone, and no label.
"""

import asyncio
import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, Field

from evals.scripted_endpoint import ModelRequest, Reply, ScriptedEndpoint, say, status
from evals.sets.set_files import rows_of_lines
from graph.errors import InvalidRequest

REPLIES = Path(__file__).parent / "data" / "replies.strong_model.jsonl"


class RecordedReply(BaseModel, extra="forbid"):
    """A line of the file: the digest of a request, and the text of its reply."""

    request: Annotated[str, Field(pattern="^[0-9a-f]{20}$")]
    reply: str


def load_recorded(path: Path = REPLIES) -> dict[str, str]:
    """Read the replies by digest. Raises InvalidRequest naming the invalid line."""
    return {row.request: row.reply for _, row in rows_of_lines(path, RecordedReply)}


def digest(body: Mapping[str, Any]) -> str:
    """Return the digest of a request's messages and response format: the first 20 hex digits of SHA-256."""
    asked = {"messages": body.get("messages"), "response_format": body.get("response_format")}
    return hashlib.sha256(json.dumps(asked, sort_keys=True, ensure_ascii=False).encode()).hexdigest()[:20]


async def serve_recorded(replies: Mapping[str, str], port: int) -> None:
    """Serve the replies on a port of loopback until cancelled. Raises InvalidRequest where the port is taken."""

    def respond(request: ModelRequest) -> Reply:
        known = replies.get(digest(request.body))
        if known is None:
            return status(404, "No reply to this request is recorded. Ask a real endpoint.")
        return say(known)

    endpoint = ScriptedEndpoint(respond)
    try:
        await endpoint.start(port)
    except OSError as error:
        raise InvalidRequest(f"--port: {port} cannot be listened on: {error.strerror}.") from error
    try:
        await asyncio.Event().wait()
    finally:
        await endpoint.stop()
