"""Whoever asks is who the credentials say, in each mode, and without good ones gets nowhere."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx
import openai
import pytest
from pydantic import SecretStr

from api.app import create_app
from api.dependencies import check_bind
from graph.entrypoint import Citewell, open_citewell
from graph.errors import ConfigurationError
from tests.api.conftest import new_session
from tests.api.serving import client_of, served
from tests.api.test_errors import assert_problem
from tests.api.trespasses import ATTEMPTS, NAMES
from tests.issuer import Issuer, claims, signed
from tools.auth.api_keys import ApiKeys, key_id
from tools.settings import AuthSettings, Settings

SECRET = "not a word of it is known to anybody"
KEYS = AuthSettings(mode="keys")
JWT = AuthSettings(mode="jwt", jwt_secret=SecretStr(SECRET))
OPEN = ["/", "/healthz", "/readyz", "/docs", "/openapi.json", "/api/login", "/page/any/main.js", "/embed.js"]
SHUT = [
    "/nowhere",
    "/v1/nowhere",
    "/page",
    "/pages/any/main.js",
    "//",
    "/healthz/",
    "//healthz",
    "/docs/x",
    "/OPENAPI.json",
]


def by(settings: Settings, auth: AuthSettings) -> Settings:
    return settings.model_copy(update={"auth": auth})


def hs256(**changes: Any) -> dict[str, str]:
    import jwt

    return {"authorization": f"Bearer {jwt.encode(claims(**changes), SECRET, algorithm='HS256')}"}


@asynccontextmanager
async def client_by(settings: Settings, citewell: Citewell, auth: AuthSettings) -> AsyncIterator[httpx.AsyncClient]:
    async with client_of(create_app(by(settings, auth), citewell=citewell)) as client:
        yield client


@pytest.fixture
def keys(citewell: Citewell) -> ApiKeys:
    return ApiKeys(citewell.library.database, citewell.library.workspaces)


@pytest.fixture
async def keyed(settings: Settings, citewell: Citewell) -> AsyncIterator[httpx.AsyncClient]:
    """A client without a key of a deployment that asks for one."""
    async with client_by(settings, citewell, KEYS) as client:
        yield client


def bearer(key: str) -> dict[str, str]:
    return {"authorization": f"Bearer {key}"}


@pytest.mark.parametrize("auth", [KEYS, JWT], ids=["keys", "jwt"])
async def test_without_credentials_nothing_answers_but_what_is_open(
    settings: Settings, citewell: Citewell, auth: AuthSettings
) -> None:
    ids = dict.fromkeys(NAMES, "00000000-0000-4000-8000-000000000000") | {"version": "any", "page_file": "main.js"}
    async with client_by(settings, citewell, auth) as client:
        for attempt in ATTEMPTS:
            path, sent = attempt.filled(ids)
            response = await client.request(attempt.method, path, **sent)
            assert response.status_code == (200 if path in OPEN else 401), (attempt.name, response.text)
        for path in SHUT:
            # Sent as it stands: a client would take "//healthz" for the name of a host.
            assert (await client.get("/", extensions={"target": path.encode()})).status_code == 401, path
        for path in OPEN:
            assert (await client.get(path)).status_code == 200, path
        response = await client.post("/api/sessions", content=b"{", headers={"content-type": "application/json"})
        assert_problem(response, 401, "not_authenticated")
        assert response.headers["www-authenticate"] == 'Bearer realm="citewell"'
        assert (await client.get("/v1/models")).json()["error"]["code"] == "invalid_api_key"


async def test_a_key_is_its_user_in_either_header(keyed: httpx.AsyncClient, keys: ApiKeys) -> None:
    ann, bob = await keys.create("default", "ann"), await keys.create("default", "bob")
    made = await keyed.post("/api/sessions", json={}, headers=bearer(ann))
    path = f"/api/sessions/{made.json()['session_id']}"
    for headers in (
        bearer(ann),
        {"x-api-key": ann},
        {"authorization": f"bearer  {ann}"},
        bearer(ann) | {"x-api-key": ann},
    ):
        assert (await keyed.get(path, headers=headers)).status_code == 200, headers
    proxied = {"authorization": "Basic cHJveHk6c2VjcmV0", "x-api-key": ann}
    assert (await keyed.get(path, headers=proxied)).status_code == 200
    for claimed in ({}, {"x-user": "ann"}):
        assert (await keyed.get(path, headers=bearer(bob) | claimed, params={"user": "ann"})).status_code == 404


WRONG: list[dict[str, str]] = [
    bearer("cw_" + "x" * 43),
    bearer("local"),
    {"authorization": "Bearer"},
    {"x-api-key": ""},
    {"x-api-key": "cw_"},
    bearer("cw_" + "x" * 30_000),
    bearer("\u00e9\u00e9"),
]


async def test_wrong_credentials_are_refused_without_a_reason(keyed: httpx.AsyncClient) -> None:
    details = set()
    for credentials in WRONG:
        headers = {name.encode(): value.encode() for name, value in credentials.items()}
        response = await keyed.get("/api/sessions", headers=headers)
        details.add(assert_problem(response, 401, "not_authenticated")["detail"])
        assert response.headers["www-authenticate"] == 'Bearer realm="citewell", error="invalid_token"'
    assert len(details) == 1


async def test_credentials_count_in_headers_alone(keyed: httpx.AsyncClient, keys: ApiKeys) -> None:
    key = await keys.create("default", "ann")
    for name in ("access_token", "api_key", "key", "token"):
        assert (await keyed.get("/api/sessions", params={name: key})).status_code == 401
        assert (await keyed.get("/api/sessions", headers={"cookie": f"{name}={key}"})).status_code == 401
        assert (await keyed.post("/api/sessions", json={name: key})).status_code == 401
    several = [("authorization", f"Bearer {key}"), ("x-api-key", await keys.create("default", "bob"))]
    response = await keyed.get("/api/sessions", headers=several)
    assert "several" in assert_problem(response, 401, "not_authenticated")["detail"]


async def test_a_revoked_key_is_refused_at_once_by_every_process(
    settings: Settings, citewell: Citewell, keyed: httpx.AsyncClient, keys: ApiKeys
) -> None:
    key = await keys.create("default", "ann")
    async with open_citewell(settings) as another, client_by(settings, another, KEYS) as elsewhere:
        for client in (keyed, elsewhere):
            assert (await client.get("/api/sessions", headers=bearer(key))).status_code == 200
        await keys.revoke(key_id(key))
        unknown = (await keyed.get("/api/sessions", headers=bearer("cw_" + "x" * 43))).json()
        for client in (keyed, elsewhere):
            response = await client.get("/api/sessions", headers=bearer(key))
            assert (response.status_code, response.json()) == (401, unknown)


async def test_an_openai_client_brings_its_key_as_it_always_does(
    settings: Settings, citewell: Citewell, keys: ApiKeys
) -> None:
    key = await keys.create("default", "ann")
    async with served(create_app(by(settings, KEYS), citewell=citewell)) as url:
        async with openai.AsyncOpenAI(base_url=f"{url}/v1", api_key=key, max_retries=0) as client:
            assert [model.id async for model in client.models.list()] == ["extractive"]
        async with openai.AsyncOpenAI(base_url=f"{url}/v1", api_key="sk-wrong", max_retries=0) as client:
            with pytest.raises(openai.AuthenticationError, match="not valid"):
                await client.models.list()


async def test_a_token_is_its_user_and_its_workspace_is_made_at_its_first_use(
    settings: Settings, citewell: Citewell
) -> None:
    async with client_by(settings, citewell, JWT) as client:
        team, others = hs256(workspace="team"), hs256(workspace="others")
        assert (await client.get("/api/sessions", headers=team)).json()["sessions"] == []
        assert (await client.get("/api/documents", headers=team)).json()["documents"] == []
        put = await client.post("/api/documents", json={"text": "The office is in Bonn."}, headers=team)
        path = f"/api/documents/{put.json()['document_id']}"
        assert (await client.get(path, headers=hs256(workspace="team", sub="bob"))).status_code == 200
        for stranger in (others, hs256()):
            assert (await client.get(path, headers=stranger)).status_code == 404
        stale = assert_problem(await client.get(path, headers=hs256(exp=1)), 401, "not_authenticated")
        assert stale["detail"] == "The token has expired."
        assert (await client.get(path, headers={"x-api-key": team["authorization"][7:]})).status_code == 401


async def test_a_key_set_out_of_reach_is_503_with_a_time_to_try_again(settings: Settings, citewell: Citewell) -> None:
    issuer = Issuer(status=500)
    async with served(issuer) as url:
        auth = AuthSettings(mode="jwt", jwks_url=f"{url}/keys.json")
        async with client_by(settings, citewell, auth) as client:
            response = await client.get("/api/sessions", headers=bearer(signed()))
            assert assert_problem(response, 503, "dependency_failed")["retryable"]
            assert int(response.headers["retry-after"]) > 0
            assert url.removeprefix("http://") not in response.text
            issuer.status = 200
        async with client_by(settings, citewell, auth) as client:
            assert (await client.get("/api/sessions", headers=bearer(signed()))).status_code == 200
            assert (await client.get("/api/sessions", headers=hs256())).status_code == 401


async def test_a_busy_database_is_no_fault_of_the_key(settings: Settings, citewell: Citewell, keys: ApiKeys) -> None:
    key = await keys.create("default", "ann")
    tight = settings.model_copy(update={"pool_size": 2})
    async with open_citewell(tight) as opened, client_by(tight, opened, KEYS) as client:
        async with opened.library.database.connection(), opened.library.database.connection():
            opened.library.database.pool.timeout = 0.2
            response = await client.get("/api/sessions", headers=bearer(key))
        assert_problem(response, 503, "database_busy")
        assert "retry-after" in response.headers


async def test_with_keys_the_service_has_any_name(keyed: httpx.AsyncClient, keys: ApiKeys) -> None:
    key = await keys.create("default", "ann")
    headers = bearer(key) | {"host": "citewell.example.com", "origin": "https://wiki.example.com"}
    assert (await keyed.post("/api/sessions", json={}, headers=headers)).status_code == 201


async def test_without_keys_every_request_without_a_key_of_ours_is_the_user_of_the_settings(
    settings: Settings, citewell: Citewell, keys: ApiKeys
) -> None:
    key = await keys.create("default", "ann")
    async with client_of(create_app(settings, citewell=citewell)) as client:
        session_id = await new_session(client)
        for headers, status in ({}, 200), (bearer("none"), 200), (bearer(key), 404):
            assert (await client.get(f"/api/sessions/{session_id}", headers=headers)).status_code == status


@pytest.mark.parametrize(
    ("auth", "schemes"),
    [
        (AuthSettings(), {}),
        (KEYS, {"key": ("http", "bearer"), "keyHeader": ("apiKey", "X-Api-Key")}),
        (JWT, {"token": ("http", "bearer")}),
    ],
    ids=["none", "keys", "jwt"],
)
def test_the_description_says_what_to_send(settings: Settings, auth: AuthSettings, schemes: dict[str, Any]) -> None:
    described = create_app(by(settings, auth)).openapi()
    given = described["components"].get("securitySchemes", {})
    assert {name: (s["type"], s.get("scheme") or s["name"]) for name, s in given.items()} == schemes
    assert described.get("security", []) == [{name: []} for name in schemes]
    for path, methods in described["paths"].items():
        for operation in methods.values():
            assert ("401" in operation["responses"]) == bool(schemes and path not in OPEN), path
            assert operation.get("security") == ([] if schemes and path in OPEN else None), path


def test_other_machines_may_call_only_where_they_are_asked_who_they_are(settings: Settings) -> None:
    everywhere = settings.model_copy(update={"host": "0.0.0.0"})
    for auth in (KEYS, JWT):
        check_bind(by(everywhere, auth))
    with pytest.raises(ConfigurationError, match="not authenticated"):
        check_bind(everywhere)


@pytest.mark.parametrize("auth", [{"jwt_secret": "short"}, {"jwks_url": "http://id.example/keys"}], ids=str)
def test_a_service_that_could_trust_anybody_does_not_start(settings: Settings, auth: dict[str, Any]) -> None:
    with pytest.raises(ConfigurationError, match="auth"):
        create_app(by(settings, AuthSettings(mode="jwt", **auth)))
