"""One server serves every workspace that the credentials of a person allow; a header chooses among these."""

from typing import Any
from urllib.parse import quote

import httpx
import pytest

from api.app import create_app
from graph.entrypoint import Citewell
from graph.evidence import Identity
from tests.api.conftest import Deployment
from tests.api.serving import client_of
from tests.api.test_errors import assert_problem
from tests.api.test_identity import JWT, KEYS, bearer, by, hs256
from tools.auth.api_keys import ApiKeys, KeyTerms
from tools.library.new_documents import NewDocument
from tools.settings import Settings

LETTERS = "Thư viện 资料库 100%"


def chosen(name: str) -> dict[str, str]:
    return {"x-citewell-workspace": quote(name)}


@pytest.fixture(scope="module")
async def client(deployment_of_module: Deployment) -> httpx.AsyncClient:
    """A client of a deployment without authentication, which has a second workspace with a document."""
    library = deployment_of_module.citewell.library
    await library.workspaces.create(LETTERS)
    document = NewDocument(text="The ferry leaves at nine.", title="Ferry")
    await library.ingestor.ingest(Identity(LETTERS, deployment_of_module.settings.user), document)
    return deployment_of_module.client


async def titles(client: httpx.AsyncClient, headers: dict[str, str]) -> list[str]:
    documents: list[dict[str, Any]] = (await client.get("/api/documents", headers=headers)).json()["documents"]
    return [document["title"] for document in documents]


async def test_this_machine_chooses_among_all_workspaces(client: httpx.AsyncClient) -> None:
    listed = (await client.get("/api/workspaces")).json()
    assert listed == {"workspaces": [{"name": LETTERS}, {"name": "default"}], "current": "default"}
    assert (await client.get("/api/workspaces", headers=chosen(LETTERS))).json()["current"] == LETTERS
    assert "Ferry" not in await titles(client, {})
    assert await titles(client, chosen(LETTERS)) == ["Ferry"]


async def test_sessions_and_documents_of_one_workspace_are_not_those_of_another(client: httpx.AsyncClient) -> None:
    made = (await client.post("/api/sessions", json={}, headers=chosen(LETTERS))).json()["session_id"]
    assert (await client.get(f"/api/sessions/{made}", headers=chosen(LETTERS))).status_code == 200
    assert_problem(await client.get(f"/api/sessions/{made}"), 404, "not_found")
    assert (await client.get("/api/sessions")).json()["sessions"] == []


@pytest.mark.parametrize("name", ["no-such", "", "default\n", "%", "a" * 101, "\x00"])
async def test_a_workspace_that_does_not_exist_is_not_made(client: httpx.AsyncClient, name: str) -> None:
    assert_problem(await client.get("/api/documents", headers=chosen(name)), 404, "not_found")
    assert len((await client.get("/api/workspaces")).json()["workspaces"]) == 2


async def test_two_workspaces_at_once_are_refused(client: httpx.AsyncClient) -> None:
    headers = [("x-citewell-workspace", "default"), ("x-citewell-workspace", quote(LETTERS))]
    assert_problem(await client.get("/api/documents", headers=headers), 404, "not_found")


async def test_a_key_opens_its_own_workspace_alone(settings: Settings, citewell: Citewell) -> None:
    for name in ("mine", "theirs"):
        await citewell.library.workspaces.create(name)
    key = await ApiKeys(citewell.library.database, citewell.library.workspaces).create("mine", "ann")
    async with client_of(create_app(by(settings, KEYS), citewell=citewell)) as client:
        listed = (await client.get("/api/workspaces", headers=bearer(key))).json()
        assert listed == {"workspaces": [{"name": "mine"}], "current": "mine"}
        assert (await client.get("/api/documents", headers=bearer(key) | chosen("mine"))).status_code == 200
        refused = [
            (await client.get("/api/documents", headers=bearer(key) | chosen(name))) for name in ("theirs", "nobodys")
        ]
        for response in refused:
            assert_problem(response, 404, "not_found")
        assert refused[0].json()["detail"].replace("theirs", "nobodys") == refused[1].json()["detail"]


async def test_a_token_opens_the_workspaces_that_it_lists(settings: Settings, citewell: Citewell) -> None:
    token = hs256(workspace=["team", "notes"], sub="ann")
    async with client_of(create_app(by(settings, JWT), citewell=citewell)) as client:
        listed = (await client.get("/api/workspaces", headers=token)).json()
        assert listed == {"workspaces": [{"name": "team"}, {"name": "notes"}], "current": "team"}
        made = (await client.post("/api/sessions", json={}, headers=token | chosen("notes"))).json()["session_id"]
        assert_problem(await client.get(f"/api/sessions/{made}", headers=token), 404, "not_found")
        assert_problem(await client.get("/api/documents", headers=token | chosen("default")), 404, "not_found")
        alone = hs256(workspace="notes", sub="ann")
        assert (await client.get(f"/api/sessions/{made}", headers=alone)).status_code == 200


async def test_an_administrator_of_the_deployment_makes_a_workspace_and_gets_a_key_for_it(
    settings: Settings, citewell: Citewell
) -> None:
    library = citewell.library
    await library.workspaces.create("tenant")
    terms: Any = (None, [], False, (None, None, None))
    admin = KeyTerms.asked_for(["ask", "read", "write", "admin"], *terms)
    ordinary = KeyTerms.asked_for(["ask", "read", "write"], *terms)
    keys = ApiKeys(library.database, library.workspaces)
    mine = await keys.create("default", "ann", terms=admin)
    elsewhere = await keys.create("tenant", "bob", terms=admin)
    plain = await keys.create("default", "c", terms=ordinary)
    async with client_of(create_app(by(settings, KEYS), citewell=citewell)) as client:
        for key in (elsewhere, plain):
            refused = await client.post("/api/workspaces", json={"name": "mới"}, headers=bearer(key))
            assert_problem(refused, 403, "not_permitted")
        made = await client.post("/api/workspaces", json={"name": "mới"}, headers=bearer(mine))
        assert (made.status_code, made.json()["name"]) == (201, "mới")
        own = bearer(made.json()["key"])
        assert (await client.get("/api/me", headers=own)).json()["workspace"] == "mới"
        assert (await client.post("/api/documents", json={"title": "A", "text": "B."}, headers=own)).is_success
        assert [each["title"] for each in (await client.get("/api/documents", headers=own)).json()["documents"]] == [
            "A"
        ]
        theirs = await keys.create("default", "setup", terms=KeyTerms.asked_for(["admin"], *terms))
        provisioned = await client.post("/api/workspaces", json={"name": "for setup"}, headers=bearer(theirs))
        assert provisioned.status_code == 201
        again = await client.post("/api/workspaces", json={"name": "mới"}, headers=bearer(mine))
        assert_problem(again, 422, "invalid_request")


async def test_without_keys_a_workspace_is_made_and_chosen(citewell: Citewell, settings: Settings) -> None:
    async with client_of(create_app(settings, citewell=citewell)) as client:
        made = await client.post("/api/workspaces", json={"name": "second"})
        assert (made.status_code, made.json()) == (201, {"name": "second", "key": None})
        assert (await client.get("/api/workspaces", headers=chosen("second"))).json()["current"] == "second"
        assert_problem(await client.post("/api/workspaces", json={"name": ""}), 422, "invalid_request")
