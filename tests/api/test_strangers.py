"""What belongs to another user or workspace is not there: a case for every route that takes an id."""

from collections.abc import AsyncIterator, Iterable, Iterator
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

import httpx
import pytest

from api.app import create_app
from graph.entrypoint import Citewell
from graph.evidence import Identity
from tests.api.conftest import new_session
from tests.api.serving import client_of
from tools.ingestion import NewDocument
from tools.settings import Settings

ASK = {"json": {"question": "How much leave?"}}
TEXT = {"json": {"text": "Overwritten."}}
CASES: dict[tuple[str, str], dict[str, Any]] = {
    ("GET", "/api/sessions/{session_id}"): {},
    ("DELETE", "/api/sessions/{session_id}"): {},
    ("POST", "/api/sessions/{session_id}/runs"): ASK,
    ("GET", "/api/runs/{run_id}"): {},
    ("POST", "/api/runs/{run_id}/cancel"): {},
    ("GET", "/api/documents/{document_id}"): {},
    ("PUT", "/api/documents/{document_id}"): TEXT,
    ("DELETE", "/api/documents/{document_id}"): {},
    ("GET", "/api/documents/{document_id}/raw-text"): {},
    ("GET", "/documents/{document_id}"): {},
}


@dataclass(frozen=True)
class Belongings:
    """What someone owns, and a stranger's client."""

    ids: dict[str, str]
    owner: httpx.AsyncClient
    stranger: httpx.AsyncClient
    in_another_workspace: bool


@pytest.fixture(params=[("default", "stranger"), ("elsewhere", "local")], ids=["another user", "another workspace"])
async def belongings(
    request: pytest.FixtureRequest, settings: Settings, citewell: Citewell
) -> AsyncIterator[Belongings]:
    workspace, user = request.param
    await citewell.library.workspaces.ensure(workspace)
    document_id = str(uuid4())
    diary = NewDocument(document_id=document_id, text="Dear diary.", title="Diary", owner="local")
    await citewell.library.ingestor.ingest(Identity(), diary)
    theirs = settings.model_copy(update={"workspace": workspace, "user": user})
    async with (
        client_of(create_app(settings, citewell=citewell)) as owner,
        client_of(create_app(theirs, citewell=citewell)) as stranger,
    ):
        session_id = await new_session(owner)
        run = await owner.post(f"/api/sessions/{session_id}/runs", json={"question": "Hello", "stream": False})
        ids = {"session_id": session_id, "run_id": run.json()["run_id"], "document_id": document_id}
        yield Belongings(ids, owner, stranger, workspace != "default")


def walk(routes: Iterable[Any]) -> Iterator[tuple[str, str]]:
    for route in routes:
        if hasattr(route, "original_router"):
            yield from walk(route.original_router.routes)
        else:
            yield from ((method, route.path) for method in route.methods)


def test_every_route_that_takes_an_id_has_a_case(settings: Settings) -> None:
    app = create_app(settings)
    described = {(method.upper(), path) for path, methods in app.openapi()["paths"].items() for method in methods}
    served = set(walk(app.routes))
    assert described <= served
    assert {(method, path) for method, path in served if "{" in path} == set(CASES)


async def test_a_stranger_finds_nothing_under_any_id(belongings: Belongings) -> None:
    for (method, template), sent in CASES.items():
        if belongings.in_another_workspace and method == "PUT":
            continue  # an id names a document within its workspace: there it makes one of the stranger's own
        response = await belongings.stranger.request(method, template.format(**belongings.ids), **sent)
        assert (response.status_code, response.json()["code"]) == (404, "not_found"), (method, template)
        assert "diary" not in response.text.lower()


async def test_the_owner_still_has_it_all_after_the_stranger_tried(belongings: Belongings) -> None:
    for (method, template), sent in CASES.items():
        await belongings.stranger.request(method, template.format(**belongings.ids), **sent)
    session = await belongings.owner.get(f"/api/sessions/{belongings.ids['session_id']}")
    assert len(session.json()["messages"]) == 2
    raw = await belongings.owner.get(f"/api/documents/{belongings.ids['document_id']}/raw-text")
    assert [segment["text"] for segment in raw.json()["segments"]] == ["Dear diary."]


async def test_lists_and_searches_hold_nothing_of_another(belongings: Belongings) -> None:
    for path in ("/api/sessions", "/api/documents", "/api/search?q=diary&min_score=0"):
        mine, theirs = await belongings.owner.get(path), await belongings.stranger.get(path)
        assert mine.status_code == theirs.status_code == 200
        for secret in (*belongings.ids.values(), "Diary"):
            assert secret not in theirs.text
        assert any(secret in mine.text for secret in belongings.ids.values())


async def test_identity_is_never_what_a_request_says(belongings: Belongings) -> None:
    path = f"/api/sessions/{belongings.ids['session_id']}"
    claims = {"x-workspace": "default", "x-user": "local", "authorization": "Bearer local"}
    response = await belongings.stranger.get(path, params={"workspace": "default", "user": "local"}, headers=claims)
    assert response.status_code == 404
