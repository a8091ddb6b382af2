"""Benchmark of questions while files go in: how long answers take beside an ingestion, and how fast that is.

The server is ``citewell serve`` as it comes, with the extractive family and two readers of files. Questions are asked
one after the other by one client, while 2,000 small files are worked on and, in turns of twenty questions, while their
jobs are paused: what else happens on the machine then slows both alike.
"""

import asyncio
import json
import time
import uuid
from collections.abc import Iterator, Sequence
from itertools import cycle, islice
from pathlib import Path
from typing import Any

import httpx

from bench.corpus import Corpus
from bench.figures import Figure, figure, percentile
from bench.libraries import fill_small_library
from bench.serving import CITEWELL, Served, served
from bench.sse_client import Connection
from tools.settings import load_settings
from tools.storage.startup import open_database

FILES = 2_000
FILES_AT_ONCE = 1_000  # in a request
CHARACTERS = 1_500  # of a file
SEED = 11
QUESTIONS = 60
TURN = 20  # questions
MILLISECONDS = 1e3


async def run(folder: Path) -> list[Figure]:
    """Measure answers of a quiet server, then of one that ingests."""
    data = folder / "data"
    settings = load_settings(data_dir=data)
    questions = await fill_small_library(settings, QUESTIONS)
    async with (
        open_database(settings),
        served(folder, data, *CITEWELL, "serve", "--port", "0", "--json") as server,
        httpx.AsyncClient(base_url=server.url, trust_env=False, timeout=120) as client,
    ):
        turns = cycle(questions)
        await _ask(server, turns)
        jobs = [await _submit(client, part) for part in range(FILES // FILES_AT_ONCE)]
        quiet, busy, uploads, took = [], [], [], 0.0
        first = left = await _change(client, jobs, "pause")
        while left:
            quiet += await _ask(server, turns)
            await _change(client, jobs, "resume")
            began = time.perf_counter()
            busy += await _ask(server, turns)
            uploads.append(await _upload(client))
            left = await _change(client, jobs, "pause")
            took += time.perf_counter() - began
    ratio = percentile(busy, 0.95) / percentile(quiet, 0.95)
    return [
        figure("answer of a quiet server p50", percentile(quiet, 0.5) * MILLISECONDS, "ms"),
        figure("answer of a quiet server p95", percentile(quiet, 0.95) * MILLISECONDS, "ms"),
        figure("answer while 2,000 files go in p50", percentile(busy, 0.5) * MILLISECONDS, "ms"),
        figure("answer while 2,000 files go in p95", percentile(busy, 0.95) * MILLISECONDS, "ms"),
        figure("p95 beside the ingestion, times that of a quiet server", ratio, "", at_most=1.5),
        figure("answers measured beside the ingestion", len(busy), ""),
        figure("upload of one document meanwhile p95", percentile(uploads, 0.95) * MILLISECONDS, "ms"),
        figure("files stored per second, questions beside them", first / took, "1/s"),
    ]


async def _ask(server: Served, questions: Iterator[str]) -> list[float]:
    """Ask a turn of questions, each in a session of its own; return the seconds to the end of each answer."""
    connection = await Connection.open(server.url)
    seconds = []
    try:
        for question in islice(questions, TURN):
            session: dict[str, Any] = json.loads(await connection.post("/api/sessions", {}))
            timing = await connection.stream(f"/api/sessions/{session['session_id']}/runs", {"question": question})
            seconds.append(timing.whole)
    finally:
        connection.close()
    return seconds


async def _submit(client: httpx.AsyncClient, part: int) -> str:
    made = Corpus(SEED + part).documents(FILES_AT_ONCE)
    files = [("file", (f"{each.title}.md", each.text[:CHARACTERS].encode())) for each in made]
    response = await client.post("/api/jobs", files=files)
    response.raise_for_status()
    return str(response.json()["job_id"])


async def _upload(client: httpx.AsyncClient) -> float:
    began = time.perf_counter()
    response = await client.post("/api/documents", json={"text": f"A note on {uuid.uuid4()}.", "title": "Note"})
    response.raise_for_status()
    assert "document_id" in response.json(), "the upload was not waited for"
    return time.perf_counter() - began


async def _change(client: httpx.AsyncClient, jobs: Sequence[str], action: str) -> int:
    """Pause jobs and wait for the files that are being read, or resume them; return how many files are left."""
    left = 0
    for job_id in jobs:
        job = (await client.post(f"/api/jobs/{job_id}/{action}")).raise_for_status().json()
        while action == "pause" and job["counts"]["working"]:
            await asyncio.sleep(0.05)
            job = (await client.get(f"/api/jobs/{job_id}", params={"limit": 0})).raise_for_status().json()["job"]
        assert not job["counts"]["refused"], job
        left += job["counts"]["queued"]
    return left
