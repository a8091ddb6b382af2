"""Replies as tests read them: Server-Sent Events as the specification has them, and what no reply may tell."""

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx

from graph.entrypoint import Citewell

PROJECT = str(Path(__file__).parents[2])
INSIDES = ("Traceback", "psycopg", "pydantic", "site-packages", "asyncio", "Error:", f"{PROJECT}/")


def parse_frames(body: str) -> list[dict[str, str]]:
    """Read the frames of a finished stream, comments left out."""
    return [frame for frame in map(_frame, body.split("\n\n")) if frame]


def events_of(response: httpx.Response) -> list[dict[str, Any]]:
    """Read the data of a finished stream's frames."""
    assert response.headers["content-type"].startswith("text/event-stream"), response.text
    return [json.loads(frame["data"]) for frame in parse_frames(response.text)]


async def live_events(response: httpx.Response) -> AsyncIterator[dict[str, Any]]:
    """Read the data of frames as they arrive."""
    rest = ""
    async for text in response.aiter_text():
        *whole, rest = (rest + text).split("\n\n")
        for block in whole:
            if frame := _frame(block):
                yield json.loads(frame["data"])


async def until_no_run_is_live(citewell: Citewell) -> None:
    async with asyncio.timeout(60):
        while citewell.runner.is_answering:  # noqa: ASYNC110 - no event tells of it
            await asyncio.sleep(0)


async def sweep_logs(citewell: Citewell) -> None:
    """Delete the logs of all runs, as expiry does, once no run is live: a live one is read from memory."""
    await until_no_run_is_live(citewell)
    async with citewell.library.database.connection() as connection:
        await connection.execute("DELETE FROM run_events")


def _frame(block: str) -> dict[str, str]:
    lines = [line for line in block.split("\n") if line and not line.startswith(":")]
    return dict(line.split(": ", 1) for line in lines)
