"""Benchmark of what a stranger could learn from the time of a refusal, and of what limits of a key cost.

A request for what is somebody else's is compared with one for what is not there at all: both are answered 404, and
neither should take longer. The two are asked in turn, and what two kinds of nothing differ by is the noise.
"""

import random
import time
from collections.abc import Mapping
from pathlib import Path
from statistics import median
from uuid import uuid4

import httpx

from api.app import create_app
from bench.figures import Figure, figure, percentile
from graph.entrypoint import Citewell, open_citewell
from graph.evidence import Identity
from tools.auth.api_keys import ApiKeys, KeyTerms
from tools.auth.identities import Limits
from tools.library.ingestion import NewDocument
from tools.settings import AuthSettings, load_settings

ROUNDS = 300
RESAMPLES = 2000
ALPHA = 0.01  # over all routes together
ROUTES = (
    "/api/documents/{document}",
    "/api/documents/{document}/raw-text",
    "/api/documents/{document}/original",
    "/api/documents/{document}/segments/0/place",
    "/documents/{document}",
    "/api/sessions/{session}",
    "/api/sessions/{session}/runs",
    "/api/runs/{run}",
)
NOTHING = {"document", "session", "run"}


async def run(folder: Path) -> list[Figure]:
    """Ask for each kind of thing as a stranger, and create sessions with and without limits."""
    settings = load_settings(data_dir=folder / "data", auth=AuthSettings(mode="keys"))
    async with open_citewell(settings) as citewell:
        await citewell.library.workspaces.ensure("default")
        transport = httpx.ASGITransport(app=create_app(settings, citewell=citewell))
        async with httpx.AsyncClient(transport=transport, base_url="http://citewell") as client:
            theirs = await _belongings(citewell, client)
            keys = ApiKeys(citewell.library.database, citewell.library.workspaces)
            client.headers["authorization"] = f"Bearer {await keys.create('default', 'stranger')}"
            told = [await _told(client, path, theirs) for path in ROUTES]
            plain = await _creating(client, await keys.create("default", "plain"))
            limits = Limits(1_000_000, 1_000_000, 1_000_000)
            limited = await _creating(client, await keys.create("default", "limited", terms=KeyTerms(limits=limits)))
    return [
        figure("routes asked for another's and for nothing", len(ROUTES), ""),
        figure("of them told apart by time", sum(each.apart for each in told), "", at_most=0),
        figure("largest difference of medians", max(abs(each.difference) for each in told), "ms"),
        figure("largest difference of two nothings", max(abs(each.noise) for each in told), "ms"),
        figure("a session made, p50", percentile(plain, 0.5), "ms"),
        figure("with two limits to count, p50", percentile(limited, 0.5), "ms"),
    ]


class _Told:
    """What the times of a route tell: milliseconds of another's thing, and of two kinds of nothing."""

    def __init__(self, theirs: list[float], nothing: list[float], other: list[float]) -> None:
        self.difference = median(theirs) - median(nothing)
        self.noise = median(other) - median(nothing)
        chance = random.Random(20261123)
        differences = [
            median(chance.choices(theirs, k=len(theirs))) - median(chance.choices(nothing, k=len(nothing)))
            for _ in range(RESAMPLES)
        ]
        least, most = (
            percentile(differences, share) for share in (ALPHA / 2 / len(ROUTES), 1 - ALPHA / 2 / len(ROUTES))
        )
        # Two kinds of nothing differ too, by the order in which they are asked for on a busy machine.
        self.apart = least > abs(self.noise) or most < -abs(self.noise)


async def _belongings(citewell: Citewell, client: httpx.AsyncClient) -> dict[str, str]:
    text = "\n\n".join(f"# Day {day}\n\nThe zebra slept until {day % 12} o'clock." for day in range(200))
    diary = NewDocument(data=text.encode(), name="diary.md", owner="owner")
    stored = await citewell.library.ingestor.ingest(Identity(user="owner"), diary)
    keys = ApiKeys(citewell.library.database, citewell.library.workspaces)
    client.headers["authorization"] = f"Bearer {await keys.create('default', 'owner')}"
    session = (await client.post("/api/sessions", json={})).json()["session_id"]
    asked = {"question": "When did the zebra sleep?", "stream": False}
    run_id = (await client.post(f"/api/sessions/{session}/runs", json=asked)).json()["run_id"]
    return {"document": stored.document_id, "session": session, "run": run_id}


async def _told(client: httpx.AsyncClient, path: str, theirs: Mapping[str, str]) -> _Told:
    times: dict[str, list[float]] = {"theirs": [], "nothing": [], "other": []}
    for _ in range(ROUNDS):
        order = list(times)
        random.shuffle(order)
        for kind in order:
            ids = theirs if kind == "theirs" else {name: str(uuid4()) for name in NOTHING}
            began = time.perf_counter()
            response = await client.get(path.format(**ids))
            times[kind].append((time.perf_counter() - began) * 1000)
            assert response.status_code == 404, path
    return _Told(*times.values())


async def _creating(client: httpx.AsyncClient, key: str) -> list[float]:
    times = []
    for _ in range(ROUNDS):
        began = time.perf_counter()
        await client.post("/api/sessions", json={}, headers={"authorization": f"Bearer {key}"})
        times.append((time.perf_counter() - began) * 1000)
    return times
