"""Keys over HTTP: made within what their maker may do, listed without what they are, revoked in one's own workspace."""

from collections.abc import AsyncIterator

import httpx
import pytest

from api.app import create_app
from graph.entrypoint import Citewell
from tests.api.serving import client_of
from tests.api.test_scopes import JWT, KEYS, bearer, scoped, token
from tools.auth.api_keys import ApiKeys, KeyTerms, key_id
from tools.auth.audit_log import AuditLog
from tools.auth.identities import EVERYTHING
from tools.settings import Settings

ORIGIN = "https://docs.example.com"


@pytest.fixture
def keys(citewell: Citewell) -> ApiKeys:
    return ApiKeys(citewell.library.database, citewell.library.workspaces)


@pytest.fixture
async def client(settings: Settings, citewell: Citewell) -> AsyncIterator[httpx.AsyncClient]:
    async with client_of(create_app(settings.model_copy(update={"auth": KEYS}), citewell=citewell)) as client:
        yield client


async def test_a_key_is_told_once_works_and_is_refused_once_it_is_revoked(
    client: httpx.AsyncClient, keys: ApiKeys
) -> None:
    admin = bearer(await keys.create("default", "ann", terms=KeyTerms(EVERYTHING)))
    response = await client.post("/api/keys", json={"user": "bob", "label": "laptop"}, headers=admin)
    assert (response.status_code, response.headers["cache-control"]) == (201, "no-store")
    made = response.json()
    assert (made["user"], made["label"], made["scopes"]) == ("bob", "laptop", ["ask", "read", "write"])
    assert made["key_id"] == key_id(made["key"])
    me = (await client.get("/api/me", headers=bearer(made["key"]))).json()
    assert me["user"] == "bob"

    listed = await client.get("/api/keys", headers=admin)
    assert [(each["user"], each["revoked_at"]) for each in listed.json()["keys"]] == [("ann", None), ("bob", None)]
    assert made["key"] not in listed.text

    assert (await client.delete(f"/api/keys/{made['key_id']}", headers=admin)).status_code == 204
    assert (await client.get("/api/me", headers=bearer(made["key"]))).status_code == 401
    assert (await client.delete(f"/api/keys/{made['key_id']}", headers=admin)).status_code == 204
    assert (await client.get("/api/keys", headers=admin)).json()["keys"][1]["revoked_at"]
    for none in ("nonsense", "0" * 16):
        assert (await client.delete(f"/api/keys/{none}", headers=admin)).status_code == 404


async def test_a_key_for_a_public_page_has_its_limits_and_a_user_of_its_own(
    client: httpx.AsyncClient, keys: ApiKeys
) -> None:
    admin = bearer(await keys.create("default", "ann", terms=KeyTerms(EVERYTHING)))
    wanted = {"origins": [f"{ORIGIN}/"], "spaces": ["handbook"], "runs_a_day": 0}
    made = (await client.post("/api/keys", json=wanted, headers=admin)).json()
    assert made["user"].startswith("key-")
    assert (made["scopes"], made["origins"], made["is_public"]) == (["ask"], [ORIGIN], True)
    assert (made["a_minute"], made["a_minute_by_address"], made["runs_a_day"]) == (600, 60, None)
    public = bearer(made["key"])
    assert (await client.post("/api/sessions", json={}, headers=public)).status_code == 403
    assert (await client.post("/api/sessions", json={}, headers=public | {"origin": ORIGIN})).status_code == 201


@pytest.mark.parametrize(
    ("wanted", "status", "said"),
    [
        ({"scopes": ["ask", "read"]}, 403, "read"),
        ({}, 403, "read and write"),
        ({"scopes": ["ask"], "spaces": ["payroll"]}, 403, "spaces"),
        ({"scopes": ["root"]}, 422, "scopes"),
        ({"scopes": []}, 422, "scopes"),
        ({"scopes": ["ask", "admin"], "origins": [ORIGIN]}, 422, "public key"),
        ({"scopes": ["ask"], "origins": ["docs.example.com"]}, 422, "origin"),
        ({"scopes": ["ask"], "a_minute": -1}, 422, "a_minute"),
        ({"scopes": ["ask"], "user": " "}, 422, "user"),
    ],
)
async def test_nobody_gives_what_they_have_not(
    client: httpx.AsyncClient, keys: ApiKeys, wanted: dict[str, object], status: int, said: str
) -> None:
    """A key of one space would else make itself one of all."""
    narrow = scoped("ask", "admin", spaces=("handbook",))
    admin = bearer(await keys.create("default", "ann", terms=narrow))
    refused = await client.post("/api/keys", json=wanted, headers=admin)
    assert refused.status_code == status, refused.text
    assert said in refused.text
    (only,) = (await client.get("/api/keys", headers=admin)).json()["keys"]
    assert only["user"] == "ann"


async def test_a_key_that_names_no_space_is_for_those_of_its_maker(client: httpx.AsyncClient, keys: ApiKeys) -> None:
    admin = bearer(await keys.create("default", "ann", terms=scoped("ask", "admin", spaces=("handbook", "it"))))
    made = (await client.post("/api/keys", json={"scopes": ["ask"]}, headers=admin)).json()
    assert made["spaces"] == ["handbook", "it"]
    assert made["user"].startswith("key-")
    fewer = (await client.post("/api/keys", json={"scopes": ["ask"], "spaces": ["it"]}, headers=admin)).json()
    assert fewer["spaces"] == ["it"]


async def test_keys_of_another_workspace_are_not_there(
    client: httpx.AsyncClient, citewell: Citewell, keys: ApiKeys
) -> None:
    await citewell.library.workspaces.ensure("elsewhere")
    ours = await keys.create("default", "ann", terms=KeyTerms(EVERYTHING))
    theirs = bearer(await keys.create("elsewhere", "ann", terms=KeyTerms(EVERYTHING)))
    assert key_id(ours) not in (await client.get("/api/keys", headers=theirs)).text
    assert (await client.delete(f"/api/keys/{key_id(ours)}", headers=theirs)).status_code == 404
    assert (await client.get("/api/me", headers=bearer(ours))).status_code == 200


async def test_who_made_and_revoked_which_key_is_in_the_audit_log(
    settings: Settings, citewell: Citewell, keys: ApiKeys
) -> None:
    admin = bearer(await keys.create("default", "ann", terms=KeyTerms(EVERYTHING)))
    ordinary = bearer(await keys.create("default", "bob"))
    async with client_of(create_app(settings.model_copy(update={"auth": KEYS}), citewell=citewell)) as client:
        made = (await client.post("/api/keys", json={}, headers=admin)).json()
        await client.delete(f"/api/keys/{made['key_id']}", headers=admin)
        assert (await client.post("/api/keys", json={}, headers=ordinary)).status_code == 403
    told = [
        (each.user, each.action, each.request, each.target, each.outcome)
        for each in (await AuditLog(citewell.library.database).list(limit=200)).entries[::-1]
    ]
    assert told == [
        ("ann", "change", "POST /api/keys", made["key_id"], "done"),
        ("ann", "change", "DELETE /api/keys/{key_id}", made["key_id"], "done"),
        ("bob", "change", "POST /api/keys", None, "refused"),
    ]


async def test_a_deployment_that_takes_no_keys_makes_none(settings: Settings, citewell: Citewell) -> None:
    async with client_of(create_app(settings.model_copy(update={"auth": JWT}), citewell=citewell)) as client:
        headers = token(workspace="default", citewell_scopes="ask read write admin")
        refused = await client.post("/api/keys", json={}, headers=headers)
    assert refused.status_code == 422
    assert "takes no keys" in refused.json()["detail"]


async def test_who_administers_a_space_rules_the_keys_of_that_space_alone(
    settings: Settings, citewell: Citewell, keys: ApiKeys
) -> None:
    over_all = await keys.create("default", "ann", terms=KeyTerms(EVERYTHING))
    beside = await keys.create("default", "bob", terms=scoped("ask", spaces=("payroll",)))
    partly = await keys.create("default", "cy", terms=scoped("ask", spaces=("handbook", "payroll")))
    below = await keys.create("default", "dan", terms=scoped("ask", spaces=("handbook",)))
    own = await keys.create("default", "eve", terms=scoped("ask", "admin", spaces=("handbook", "it")))
    eve = bearer(own)
    async with client_of(create_app(settings.model_copy(update={"auth": KEYS}), citewell=citewell)) as client:
        listed = (await client.get("/api/keys", headers=eve)).json()["keys"]
        assert [each["user"] for each in listed] == ["dan", "eve"]
        for key in (over_all, beside, partly):
            assert (await client.delete(f"/api/keys/{key_id(key)}", headers=eve)).status_code == 404
            assert (await client.get("/api/me", headers=bearer(key))).status_code == 200
        for user in ("ann", "dan", "somebody new"):
            asked = {"user": user, "scopes": ["ask"]}
            assert (await client.post("/api/keys", json=asked, headers=eve)).status_code == 403
        for asked in ({"scopes": ["ask"]}, {"user": "eve", "scopes": ["ask"]}):
            assert (await client.post("/api/keys", json=asked, headers=eve)).status_code == 201
        assert (await client.delete(f"/api/keys/{key_id(below)}", headers=eve)).status_code == 204
        assert (await client.get("/api/me", headers=bearer(below))).status_code == 401


async def test_who_administers_a_space_sees_what_its_keys_did_and_spent(
    settings: Settings, citewell: Citewell, keys: ApiKeys
) -> None:
    over_all = bearer(await keys.create("default", "ann", terms=KeyTerms(EVERYTHING)))
    below = bearer(await keys.create("default", "dan", terms=scoped("ask", spaces=("handbook",))))
    eve = bearer(await keys.create("default", "eve", terms=scoped("ask", "admin", spaces=("handbook",))))
    async with client_of(create_app(settings.model_copy(update={"auth": KEYS}), citewell=citewell)) as client:
        for headers in (over_all, below, eve):
            session = (await client.post("/api/sessions", json={}, headers=headers)).json()["session_id"]
            asked = {"question": "What is the notice period?", "stream": False}
            run = await client.post(f"/api/sessions/{session}/runs", json=asked, headers=headers)
            assert run.status_code == 200

        async def spent(headers: dict[str, str]) -> tuple[int, list[str]]:
            found = await client.get("/api/spending", params={"of": "everyone", "by": "user"}, headers=headers)
            return found.json()["total"]["runs"], sorted(row["name"] for row in found.json()["rows"])

        assert await spent(over_all) == (3, ["ann", "dan", "eve"])
        assert await spent(eve) == (2, ["dan", "eve"])
    # The server has stopped, so that all of its log is written.
    async with client_of(create_app(settings.model_copy(update={"auth": KEYS}), citewell=citewell)) as client:
        for headers, users in ((over_all, {"ann", "dan", "eve"}), (eve, {"dan", "eve"})):
            told = (await client.get("/api/audit", params={"limit": 200}, headers=headers)).json()["entries"]
            assert {each["user"] for each in told} == users
