"""Clients of a deployment that lose their connections and go on elsewhere, and what they were told.

They do what a client library should: repeat what failed with a retryable error, join a run again with
``Last-Event-ID``, and look for a run whose beginning they did not hear of.
"""

import asyncio
import json
import random
import time
from collections import Counter
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

import httpx
import psycopg

RETRY_SECONDS = 0.1
PATIENCE_SECONDS = 60
TERMINAL = ("run_finished", "run_failed")
RETRYABLE = (408, 429, 502, 503, 504)


class NotRetryable(Exception):
    """A reply that says that repeating the request will not help."""


@dataclass(slots=True)
class ToldRun:
    """The events of a run as its client was told them, over one connection or several."""

    question: str
    session_id: str = ""
    run_id: str = ""
    events: list[str] = field(default_factory=list)
    lost: int = 0
    doubled: int = 0
    joined: int = 0
    ended: bool = False

    def take(self, event_id: str, data: str) -> None:
        """Note an event."""
        run_id, _, number = event_id.rpartition(":")
        assert self.run_id in ("", run_id), "the events of another run"
        self.run_id = run_id
        seq, next_one = int(number), len(self.events) + 1
        if seq < next_one:
            self.doubled += 1
            return
        self.lost += seq - next_one
        self.events += [""] * (seq - next_one)
        self.events.append(data)
        self.ended = json.loads(data)["type"] in TERMINAL


@dataclass(slots=True)
class Clients:
    """The clients of a test, with what they were told and what went wrong."""

    url: str
    http: httpx.AsyncClient
    chance: random.Random
    cut_share: float = 0.5  # of the streams that clients leave in the middle
    runs: list[ToldRun] = field(default_factory=list)
    jobs: dict[str, int] = field(default_factory=dict)
    documents: set[str] = field(default_factory=set)  # acknowledged, and not deleted again
    retried: Counter[str] = field(default_factory=Counter)
    refused: list[str] = field(default_factory=list)
    stale: list[str] = field(default_factory=list)
    searches: list[float] = field(default_factory=list)
    writes: list[tuple[float, float]] = field(default_factory=list)  # when they were sent and acknowledged

    async def ask(self, question: str) -> ToldRun:
        """Ask a question in a session of its own, and read its events to the end however often the stream is lost."""
        run = ToldRun(question)
        run.session_id = (await self.send("POST", "/api/sessions", json={}))["session_id"]
        async with asyncio.timeout(2 * PATIENCE_SECONDS):
            while not run.ended:
                try:
                    await self._read_some(run)
                except NotRetryable as reason:
                    self.refused.append(f"{question}: {reason}")
                    break
                except (httpx.HTTPError, ConnectionError) as error:
                    self.retried[type(error).__name__] += 1
                    await asyncio.sleep(RETRY_SECONDS)
        self.runs.append(run)
        return run

    async def store(self, word: str) -> str:
        """Store a document, search for it at once, and return its id."""
        document_id = str(uuid4())
        text = f"# The {word}\n\nThe {word} is oiled in the morning, before anything else is done."
        stored = await self.send("PUT", f"/api/documents/{document_id}", json={"title": word, "text": text})
        if "job_id" in stored:  # it takes longer than a request waits
            self.jobs[stored["job_id"]] = 1
            return document_id
        self.documents.add(document_id)
        if document_id not in await self.search(word):
            self.stale.append(f"{word} was stored and not found")
        return document_id

    async def delete(self, word: str, document_id: str) -> None:
        """Delete a document, and search for it at once."""
        self.documents.discard(document_id)
        await self.send("DELETE", f"/api/documents/{document_id}", gone=True)
        if document_id in await self.search(word):
            self.stale.append(f"{word} was deleted and found")

    async def submit(self, words: Iterable[str]) -> str:
        """Hand several files in as a job, which a worker stores."""
        files = [
            ("file", (f"{word}.md", f"# The {word}\n\nThe {word} is painted in spring.".encode())) for word in words
        ]
        job = await self.send("POST", "/api/jobs", files=files)
        self.jobs[job["job_id"]] = len(files)
        return str(job["job_id"])

    async def search(self, word: str) -> set[str]:
        """Search the library, and return the ids of the documents that hold the word."""
        began = time.monotonic()
        found = await self.send("GET", "/api/search", params={"q": f"When is the {word} oiled?", "min_score": 0})
        self.searches.append(time.monotonic() - began)
        return {hit["document_id"] for hit in found["results"] if word in hit["excerpt"]}

    async def send(self, method: str, path: str, *, gone: bool = False, **body: Any) -> Any:
        """Send a request until it is answered. ``gone``: that it is not there is what was wanted."""
        until = time.monotonic() + PATIENCE_SECONDS
        while True:
            sent = time.monotonic()
            try:
                reply = await self.http.request(method, path, **body)
                self._raise_for(reply.status_code, reply.content, gone=gone)
            except (httpx.HTTPError, ConnectionError) as error:
                if time.monotonic() > until:
                    raise
                self.retried[type(error).__name__] += 1
                await asyncio.sleep(RETRY_SECONDS)
                continue
            if method != "GET":
                self.writes.append((sent, time.monotonic()))
            return reply.json() if reply.content and reply.is_success else None

    async def _read_some(self, run: ToldRun) -> None:
        """Ask, or join again, and read until the stream ends or is left."""
        leave_after = self.chance.randint(1, 20) if self.chance.random() < self.cut_share else None
        if not run.run_id:
            listed = (await self.send("GET", f"/api/sessions/{run.session_id}/runs"))["runs"]
            run.run_id = listed[0]["run_id"] if listed else ""
        if run.run_id:
            run.joined += 1
            headers = {"Last-Event-ID": f"{run.run_id}:{len(run.events)}"} if run.events else {}
            streaming = self.http.stream("GET", f"/api/runs/{run.run_id}/stream", headers=headers)
        else:
            asked = {"question": run.question, "on_disconnect": "continue"}
            streaming = self.http.stream("POST", f"/api/sessions/{run.session_id}/runs", json=asked)
        async with streaming as reply:
            if not reply.is_success:
                self._raise_for(reply.status_code, await reply.aread())
            event_id, told = "", 0
            async for line in reply.aiter_lines():
                if line.startswith("id: "):
                    event_id = line[4:]
                elif line.startswith("data: ") and event_id:
                    run.take(event_id, line[6:])
                    event_id, told = "", told + 1
                    if told == leave_after:
                        return

    def _raise_for(self, status: int, content: bytes, *, gone: bool = False) -> None:
        if status < 400 or (gone and status == 404):
            return
        try:
            retryable = bool(json.loads(content).get("retryable"))
        except ValueError:
            retryable = status in RETRYABLE
        if not retryable:
            raise NotRetryable(f"{status} {content[:300].decode(errors='replace')}")
        raise httpx.HTTPError(f"{status}")


@asynccontextmanager
async def clients_of(url: str, *, seed: int = 1, cut_share: float = 0.5) -> AsyncIterator[Clients]:
    """Open the clients of a proxy; each of their requests has a connection of its own."""
    limits = httpx.Limits(max_keepalive_connections=0)
    async with httpx.AsyncClient(base_url=url, trust_env=False, timeout=PATIENCE_SECONDS, limits=limits) as http:
        yield Clients(url, http, random.Random(seed), cut_share)


@dataclass(frozen=True, slots=True)
class Audit:
    """What the database holds against what clients were told; every number but the first should be 0."""

    events: int
    lost: int  # events that a client was not told, or that the log lacks
    doubled: int  # events that a client was told twice, and runs that ended or were answered twice
    changed: int  # events that read otherwise in the log
    unended: int  # runs that did not end
    unacknowledged: int  # runs, documents and files of jobs that were acknowledged and are not there
    failed: int  # runs that ended with an error

    @property
    def faults(self) -> int:
        """How much was wrong, failed runs left out."""
        return self.lost + self.doubled + self.changed + self.unended + self.unacknowledged


_LOGS = "SELECT run_id::text, seq, type, payload FROM run_events ORDER BY run_id, seq"
_RUNS = "SELECT run_id::text, status, last_seq, outcome FROM runs"
_ANSWERED = "SELECT run_id::text, count(*) FROM messages WHERE role = 'assistant' GROUP BY run_id HAVING count(*) > 1"
_DOCUMENTS = "SELECT document_id::text FROM documents WHERE deleted_at IS NULL"


async def audit(url: str, clients: Clients) -> Audit:
    """Read the logs of all runs, once nothing is going on any more, and compare."""
    async with await psycopg.AsyncConnection.connect(url) as connection:

        async def rows(query: str) -> list[Any]:
            return await (await connection.execute(query.encode())).fetchall()

        logs: dict[str, list[tuple[int, str, str]]] = {}
        for run_id, *event in await rows(_LOGS):
            logs.setdefault(run_id, []).append(tuple(event))
        ledger = {run_id: row for run_id, *row in await rows(_RUNS)}
        doubled = len(await rows(_ANSWERED))
        documents = {found for (found,) in await rows(_DOCUMENTS)}
    lost = changed = unended = 0
    for run_id, (status, last_seq, _) in ledger.items():
        log = logs.get(run_id, [])
        unended += status != "finished"
        lost += (last_seq or 0) - len(log) if [seq for seq, *_ in log] == list(range(1, len(log) + 1)) else len(log)
        ends = [kind for _, kind, _ in log if kind in TERMINAL]
        doubled += max(len(ends) - 1, 0)
        unended += not ends or log[-1][1] not in TERMINAL
    unacknowledged = len(clients.documents - documents)
    for run in clients.runs:
        log = logs.get(run.run_id, [])
        unacknowledged += not log
        doubled += run.doubled
        lost += run.lost + max(len(log) - len(run.events), 0)
        changed += sum(
            json.loads(told) != json.loads(payload)
            for told, (_, _, payload) in zip(run.events, log, strict=False)
            if told
        )
    failed = sum(outcome == "failed" for _, _, outcome in ledger.values())
    events = sum(map(len, logs.values()))
    return Audit(events, lost, doubled, changed, unended, unacknowledged, failed)


async def unfinished_jobs(clients: Clients) -> list[str]:
    """Wait for the jobs that were accepted; return those that did not store each of their files once."""
    wrong = []
    for job_id, files in clients.jobs.items():
        async with asyncio.timeout(2 * PATIENCE_SECONDS):
            while (job := (await clients.send("GET", f"/api/jobs/{job_id}"))["job"])["state"] != "finished":  # noqa: ASYNC110 - another process ends it
                await asyncio.sleep(RETRY_SECONDS)
        counts = job["counts"]
        if counts.get("stored", 0) + counts.get("unchanged", 0) != files:
            wrong.append(f"{job_id}: {counts}")
    return wrong
