"""Whole runs as chat completions, byte for byte: what Open WebUI, LibreChat and every other client are sent."""

import re
from pathlib import Path
from typing import Any

import httpx

from api.app import create_app
from graph.entrypoint import open_citewell
from graph.evidence import Identity
from tests.api.conftest import LIBRARY
from tests.api.serving import client_of
from tests.wire.test_golden import assert_golden
from tools.settings import Settings

LEAVE = "How many days of annual leave does an employee get?"
RUNS: dict[str, tuple[str, dict[str, Any]]] = {
    "answered": (LEAVE, {"stream_options": {"include_usage": True}}),
    "open_webui": (LEAVE, {"citewell": {"events": True}}),
    "links": ("Which class is booked for trains?", {"citewell": {"links": True}}),
    "abstained": ("Who won the chess championship of 1972?", {}),
    "small_talk": ("Hello!", {}),
}


async def test_runs_of_the_extractive_family(settings: Settings, tmp_path: Path) -> None:
    async with open_citewell(settings) as citewell:
        for document in LIBRARY:
            await citewell.library.ingestor.ingest(Identity(), document)
        async with client_of(create_app(settings, citewell=citewell)) as client:
            told = {name: await stream_of(client, question, fields) for name, (question, fields) in RUNS.items()}
    for name, stream in told.items():
        assert_golden(f"openai_{name}.sse", normal(stream), tmp_path)


async def stream_of(client: httpx.AsyncClient, question: str, fields: dict[str, Any]) -> bytes:
    body = {"stream": True, "messages": [{"role": "user", "content": question}], **fields}
    response = await client.post("/v1/chat/completions", json=body)
    return response.content.replace(str(client.base_url).rstrip("/").encode(), b"http://citewell")


def normal(stream: bytes) -> bytes:
    """Put names in the place of what differs from run to run, or from processor to processor."""
    for key, name in [("run_id", b"RUN"), ("session_id", b"SESSION")]:
        found = re.search(rb'"%b":"([0-9a-f-]{36})"' % key.encode(), stream)
        assert found is not None
        stream = stream.replace(found[1], name)
    stream = re.sub(rb'"created":\d+', b'"created":0', stream)
    return re.sub(rb'"distances":\[[\d.]+\]', b'"distances":[0]', stream)
