"""Sources over HTTP: added below the roots alone, synced in the background, listed, deleted with what they brought."""

import asyncio
import shutil
import subprocess
from collections.abc import AsyncIterator
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any

import httpx
import pytest

from api.app import create_app
from graph.entrypoint import open_citewell
from tests.api.serving import client_of
from tools.library.reading import Reading
from tools.library.source_readers import FolderReader, Listing
from tools.settings import Settings

AUTHOR = ("-c", "user.name=Keeper", "-c", "user.email=keeper@lighthouse.example")
TEXT = "The lamp of the lighthouse turns once in nine seconds."


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    root = tmp_path / "roots" / "docs"
    root.mkdir(parents=True)
    (root / "lamp.md").write_text(TEXT)
    return root


@pytest.fixture
async def rooted(settings: Settings, docs: Path) -> AsyncIterator[httpx.AsyncClient]:
    """A client of a deployment that may read folders below one root."""
    configured = settings.model_copy(update={"source_roots": [str(docs.parent)]})
    async with open_citewell(configured) as opened, client_of(create_app(configured, citewell=opened)) as client:
        yield client


async def synced(client: httpx.AsyncClient, source_id: str, **wish: Any) -> dict[str, Any]:
    """Sync a source, and give it when it is done."""
    started = await client.post(f"/api/sources/{source_id}/sync", json=wish)
    assert (started.status_code, started.json()) == (202, {"source_id": source_id, "syncing": True})
    while True:
        source: dict[str, Any] = (await client.get(f"/api/sources/{source_id}")).json()
        if not source["syncing"]:
            return source


async def test_a_source_is_added_synced_and_deleted(rooted: httpx.AsyncClient, docs: Path) -> None:
    wish = {"kind": "folder", "location": str(docs), "space": "coast"}
    made = await rooted.post("/api/sources", json=wish)
    assert made.status_code == 201, made.text
    source_id = made.json()["source_id"]
    again = await rooted.post("/api/sources", json=wish)
    assert (again.status_code, again.json()["source_id"]) == (200, source_id)

    trial = await rooted.post(f"/api/sources/{source_id}/sync", json={"dry_run": True})
    assert trial.status_code == 200
    assert [(file["path"], file["change"]) for file in trial.json()["files"]] == [("lamp.md", "new")]
    assert (await rooted.get("/api/documents")).json()["documents"] == []

    source = await synced(rooted, source_id)
    assert (source["documents"], source["report"]["counts"]["new"]) == (1, 1)
    [document] = (await rooted.get("/api/documents", params={"source": source_id, "path": "la"})).json()["documents"]
    [place] = document["places"]
    assert (place["source_id"], place["path"], document["space"]["slug"]) == (source_id, "lamp.md", "coast")
    assert datetime.fromisoformat(place["seen_at"]) == datetime.fromisoformat(source["synced_at"])
    details = (await rooted.get(f"/api/documents/{document['document_id']}")).json()
    assert details == document | {"similar_to": []}
    assert (await rooted.get("/api/documents", params={"path": "*.txt"})).json()["documents"] == []
    # Whoever may only read is not told where on the server the folder is.
    counted = {"source_id": source_id, "kind": "folder", "location": "docs", "documents": 1}
    assert (await rooted.get("/api/library")).json()["sources"] == [counted]

    [listed] = (await rooted.get("/api/sources")).json()["sources"]
    assert listed == source
    gone = await rooted.delete(f"/api/sources/{source_id}", params={"documents": "delete"})
    assert gone.json() == {"documents_deleted": 1}
    assert (await rooted.get("/api/documents")).json()["documents"] == []
    for method, path in (("GET", ""), ("DELETE", ""), ("POST", "/sync")):
        assert (await rooted.request(method, f"/api/sources/{source_id}{path}")).status_code == 404


async def test_a_folder_is_read_below_the_roots_alone(
    rooted: httpx.AsyncClient, client: httpx.AsyncClient, docs: Path, tmp_path: Path
) -> None:
    for kind in ("folder", "git"):
        outside = await rooted.post("/api/sources", json={"kind": kind, "location": str(tmp_path)})
        assert (outside.status_code, outside.json()["code"]) == (422, "invalid_request")
        assert "CITEWELL_SOURCE_ROOTS" in outside.json()["detail"]
        without = await client.post("/api/sources", json={"kind": kind, "location": str(docs)})
        assert without.status_code == 422


@pytest.mark.skipif(shutil.which("git") is None, reason="there is no git")
async def test_a_repository_is_read_below_the_roots_alone(
    rooted: httpx.AsyncClient, docs: Path, tmp_path: Path
) -> None:
    outside, link, borrower = tmp_path / "outside", docs.parent / "link", docs.parent / "borrower"
    commands = [
        ["init", str(outside)],
        ["-C", str(outside), *AUTHOR, "commit", "--allow-empty", "-m", "The vault is at 6262."],
        ["init", str(borrower)],
    ]
    for folder in (outside, link, borrower):
        folder.mkdir()
    (outside / "vault.md").write_text("The vault code is 6262.")
    commands[1:1] = [["-C", str(outside), "add", "."]]
    for command in commands:
        await asyncio.to_thread(subprocess.run, ["git", *command], check=True, capture_output=True)
    (link / ".git").write_text(f"gitdir: {outside / '.git'}")
    shutil.copytree(outside / ".git" / "refs", borrower / ".git" / "refs", dirs_exist_ok=True)
    (borrower / ".git" / "objects" / "info" / "alternates").write_text(f"{outside / '.git' / 'objects'}\n")
    for repository in (link, borrower):
        made = await rooted.post("/api/sources", json={"kind": "git", "location": str(repository)})
        trial = await rooted.post(f"/api/sources/{made.json()['source_id']}/sync", json={"dry_run": True})
        assert (trial.status_code, trial.json()["code"]) == (422, "invalid_request")
        report = (await synced(rooted, made.json()["source_id"]))["report"]
        assert report["problem"]["code"] == "invalid_request"
        assert report["problem"]["message"].startswith("location: ")
        assert (await rooted.get("/api/documents")).json()["documents"] == []


def fill(folder: Path) -> None:
    for number in range(12):
        (folder / f"{number}.md").write_text(f"{TEXT} It has {number} steps.")


def empty(folder: Path) -> None:
    for file in folder.iterdir():
        file.unlink()


async def test_what_ends_a_sync_is_on_its_source(rooted: httpx.AsyncClient, docs: Path) -> None:
    fill(docs)
    made = await rooted.post("/api/sources", json={"kind": "folder", "location": str(docs)})
    source_id = made.json()["source_id"]
    await synced(rooted, source_id)
    empty(docs)
    problem = (await synced(rooted, source_id))["report"]["problem"]
    assert (problem["code"], problem["retryable"]) == ("invalid_request", False)
    assert "13 of 13 documents" in problem["message"]
    assert "most_deleted" in problem["suggestion"]
    report = (await synced(rooted, source_id, most_deleted=1))["report"]
    assert (report["counts"]["deleted"], report["problem"]) == (13, None)
    await asyncio.to_thread(docs.rmdir)
    assert "There is no folder" in (await synced(rooted, source_id))["report"]["problem"]["message"]


async def test_what_nobody_expected_is_on_its_source_without_its_details(
    rooted: httpx.AsyncClient, docs: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    made = await rooted.post("/api/sources", json={"kind": "folder", "location": str(docs)})
    source_id = made.json()["source_id"]

    async def break_down(reader: FolderReader) -> Listing:
        raise RuntimeError("the vault is at 6262")

    with monkeypatch.context() as broken:
        broken.setattr(FolderReader, "listing", break_down)
        source = await synced(rooted, source_id)
    assert source["synced_at"] is None
    problem = source["report"]["problem"]
    assert set(problem) == {"code", "message", "suggestion", "retryable"}
    assert (problem["code"], problem["retryable"]) == ("internal", False)
    assert "6262" not in str(source)
    assert "6262" in caplog.text
    assert (await rooted.get("/api/sources")).json()["sources"] == [source]
    again = await synced(rooted, source_id)
    assert (again["documents"], again["report"]["problem"]) == (1, None)


async def test_files_of_a_source_are_read_within_the_limits_of_uploads(
    settings: Settings, docs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (docs / "long.md").write_text(TEXT * 40)
    monkeypatch.setattr("tools.library.document_reader.Reading", partial(Reading, max_characters=1000))
    configured = settings.model_copy(update={"source_roots": [str(docs.parent)]})
    async with open_citewell(configured) as opened, client_of(create_app(configured, citewell=opened)) as client:
        made = await client.post("/api/sources", json={"kind": "folder", "location": str(docs)})
        report = (await synced(client, made.json()["source_id"]))["report"]
    told = {file["path"]: (file["change"], file["reason"]) for file in report["files"]}
    assert told["lamp.md"] == ("new", None)
    assert told["long.md"][0] == "unreadable"
    assert "1,000" in told["long.md"][1]


async def test_a_source_made_for_somebody_else_is_theirs_alone(rooted: httpx.AsyncClient, docs: Path) -> None:
    wish = {"kind": "folder", "location": str(docs), "owner": "somebody"}
    made = await rooted.post("/api/sources", json=wish)  # on a machine that asks nobody who they are, all administer
    assert made.status_code == 201
    assert (await rooted.get(f"/api/sources/{made.json()['source_id']}")).status_code == 404
