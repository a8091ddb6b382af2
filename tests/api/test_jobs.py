"""Jobs over HTTP: uploads that wait or don't, several files at once, progress, and what may be done with a job."""

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
import pytest

from api.app import create_app
from graph.entrypoint import Citewell, open_citewell
from tests.api.serving import client_of
from tests.distributions import forget_plugins, install
from tests.postgres.test_jobs import SLEEPER
from tools.settings import Settings

FILES = [("file", (f"{name}.md", f"# Lamp {name}\n\nLamp {name} shines.")) for name in "abc"]


@pytest.fixture
async def citewell(settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Citewell]:
    install(tmp_path, "sleeper", {"sleeper": SLEEPER}, "[citewell.parsers]\nsleeper = sleeper:parser\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    forget_plugins()
    monkeypatch.setattr("tools.library.job_store.MOST_WAITING", 50)
    async with open_citewell(settings) as opened:
        yield opened
    forget_plugins()


@pytest.fixture
async def client(settings: Settings, citewell: Citewell) -> AsyncIterator[httpx.AsyncClient]:
    async with client_of(create_app(settings, citewell=citewell)) as opened:
        yield opened


async def events(client: httpx.AsyncClient, job_id: str) -> list[tuple[str, dict[str, Any]]]:
    text = (await client.get(f"/api/jobs/{job_id}/events")).text
    frames = [dict(line.split(": ", 1) for line in frame.splitlines()) for frame in text.strip().split("\n\n")]
    return [(frame["event"], json.loads(frame["data"])) for frame in frames if "event" in frame]


async def test_an_upload_that_is_not_waited_for_is_a_job(client: httpx.AsyncClient) -> None:
    document_id = str(uuid4())
    response = await client.put(
        f"/api/documents/{document_id}", json={"text": "Lamps shine."}, headers={"Prefer": "respond-async"}
    )
    assert (response.status_code, response.headers["preference-applied"]) == (202, "respond-async")
    job = response.json()
    assert response.headers["location"] == f"/api/jobs/{job['job_id']}"
    name, last = (await events(client, job["job_id"]))[-1]
    assert (name, last["state"], last["counts"]["stored"], last["segments"]) == ("end", "finished", 1, 1)
    detail = (await client.get(response.headers["location"])).json()
    [file] = detail["files"]
    assert (file["state"], file["document_id"], file["ingested"]["status"]) == ("stored", document_id, "created")
    assert (await client.get(f"/api/documents/{document_id}")).status_code == 200


async def test_an_upload_that_is_waited_for_leaves_no_job(client: httpx.AsyncClient) -> None:
    stored = await client.post(
        "/api/documents", json={"text": "Lamps."}, headers={"Prefer": "handling=lenient, wait=30"}
    )
    assert (stored.status_code, stored.headers["preference-applied"]) == (201, "wait=30")
    refused = await client.post("/api/documents", json={"text": "Lamps.", "url": "javascript:1"})
    assert (refused.status_code, refused.json()["code"]) == (422, "invalid_request")
    assert (await client.get("/api/jobs")).json()["jobs"] == []


async def test_an_upload_that_takes_long_becomes_a_job_that_can_be_cancelled(client: httpx.AsyncClient) -> None:
    sleeps = {"file": ("a.sleeper", b"zzz")}
    response = await client.post("/api/documents", files=sleeps, headers={"Prefer": "wait=1"})
    assert response.status_code == 202
    path = response.headers["location"]
    assert (await client.post(f"{path}/cancel")).json()["state"] == "cancelled"
    assert (await client.get(path)).json()["files"][0]["state"] == "cancelled"


async def test_a_client_that_leaves_takes_its_upload_along(
    client: httpx.AsyncClient, citewell: Citewell, monkeypatch: pytest.MonkeyPatch
) -> None:
    worker, begun = citewell.library.job_worker, asyncio.Event()
    upload = worker._upload

    async def uploaded(file: Any) -> Any:
        begun.set()
        return await upload(file)

    monkeypatch.setattr(worker, "_upload", uploaded)
    sending = asyncio.create_task(client.post("/api/documents", files={"file": ("a.sleeper", b"zzz")}))
    await begun.wait()
    [file] = worker._active.values()
    sending.cancel()
    await asyncio.gather(sending, return_exceptions=True)
    assert file.task is not None
    await asyncio.wait([file.task])
    assert (await client.get("/api/jobs")).json()["jobs"] == []


async def test_several_files_are_one_job(client: httpx.AsyncClient) -> None:
    broken = ("file", ("x.pdf", b"%PDF-broken"))
    response = await client.post(
        "/api/jobs", files=[*FILES, broken], data={"space": '{"id": "7", "slug": null}', "owner": "local"}
    )
    assert response.status_code == 202, response.text
    job_id = response.json()["job_id"]
    _, last = (await events(client, job_id))[-1]
    assert (last["files"], last["counts"]["stored"], last["counts"]["refused"]) == (4, 3, 1)
    assert last["rate"] > 0
    refused = (await client.get(f"/api/jobs/{job_id}", params={"state": "refused"})).json()["files"]
    assert [(file["name"], file["problem"]["code"]) for file in refused] == [("x.pdf", "unreadable_document")]
    page = (await client.get(f"/api/jobs/{job_id}", params={"limit": 2})).json()
    rest = (await client.get(f"/api/jobs/{job_id}", params={"after": page["next_after"]})).json()
    assert [file["name"] for file in page["files"] + rest["files"]] == ["a.md", "b.md", "c.md", "x.pdf"]
    listed = (await client.get("/api/documents", params={"space": "7"})).json()["documents"]
    assert {document["owner"] for document in listed} == {"local"}
    assert len(listed) == 3


async def test_a_job_is_paused_resumed_and_retried(client: httpx.AsyncClient, citewell: Citewell) -> None:
    await citewell.library.job_worker.close()
    job = (await client.post("/api/jobs", files=[("file", ("a.sleeper", b"zzz")), *FILES])).json()
    path = f"/api/jobs/{job['job_id']}"
    for action, state in (("pause", "paused"), ("resume", "queued"), ("cancel", "cancelled"), ("retry", "queued")):
        await citewell.library.job_worker.close()
        assert (await client.post(f"{path}/{action}")).json()["state"] in (
            state,
            "running" if state == "queued" else state,
        )
    assert (await client.post(f"{path}/explode")).status_code == 404
    assert (await client.post(f"/api/jobs/{uuid4()}/cancel")).status_code == 404


async def test_what_is_no_form_of_files_is_refused(client: httpx.AsyncClient) -> None:
    for sent in (
        {"json": {"text": "a"}},
        {"data": {"owner": "a"}, "files": {"other": b""}},
        {"files": FILES, "data": {"bad": "1"}},
    ):
        assert (await client.post("/api/jobs", **sent)).status_code == 422


async def test_a_full_queue_says_when_to_come_again(client: httpx.AsyncClient) -> None:
    many = [("file", (f"{n}.sleeper", b"zzz")) for n in range(51)]
    response = await client.post("/api/jobs", files=many)
    assert (response.status_code, response.json()["code"]) == (429, "queue_full")
    assert int(response.headers["retry-after"]) > 0
