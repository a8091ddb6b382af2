"""Which web pages may call the service from a browser."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx
import pytest
from pydantic import SecretStr

from api.app import create_app
from graph.entrypoint import Citewell
from graph.errors import ConfigurationError
from tests.api.serving import client_of
from tools.auth.api_keys import ApiKeys, KeyTerms
from tools.settings import AuthSettings, Settings

WIKI = "https://wiki.example.com"
KEYS = {"auth": AuthSettings(mode="keys")}
PREFLIGHT = {
    "access-control-request-method": "POST",
    "access-control-request-headers": "authorization, content-type, last-event-id, x-stainless-os",
}


@asynccontextmanager
async def client_with(settings: Settings, citewell: Citewell, **changes: Any) -> AsyncIterator[httpx.AsyncClient]:
    async with client_of(create_app(settings.model_copy(update=changes), citewell=citewell)) as client:
        yield client


@pytest.mark.parametrize("changes", [{}, KEYS], ids=["none", "keys"])
async def test_a_page_of_a_listed_origin_may_call_and_read_and_no_other(
    settings: Settings, citewell: Citewell, changes: dict[str, Any]
) -> None:
    listed = {"cors_origins": [f"{WIKI}/", "http://localhost:3000"], **changes}
    async with client_with(settings, citewell, **listed) as client:
        asked = {"origin": WIKI, "access-control-request-private-network": "true", **PREFLIGHT}
        preflight = await client.options("/api/sessions", headers=asked)
        assert preflight.status_code == 200
        assert preflight.headers["access-control-allow-origin"] == WIKI
        assert preflight.headers["access-control-allow-private-network"] == "true"
        assert "x-stainless-os" in preflight.headers["access-control-allow-headers"]
        reply = await client.get("/api/sessions", headers={"origin": WIKI})
        assert reply.status_code == (401 if changes else 200)
        assert reply.headers["access-control-allow-origin"] == WIKI
        assert "Retry-After" in reply.headers["access-control-expose-headers"]
        assert "access-control-allow-credentials" not in reply.headers

        for origin in ("https://evil.example", f"{WIKI}.evil.example", "http://wiki.example.com", "null"):
            preflight = await client.options("/api/sessions", headers={"origin": origin, **PREFLIGHT})
            reply = await client.get("/api/sessions", headers={"origin": origin})
            assert (preflight.status_code, reply.status_code) == (400, 401 if changes else 403)
            for response in (preflight, reply):
                assert "access-control-allow-origin" not in response.headers


async def test_a_listed_origin_does_not_excuse_another_host(settings: Settings, citewell: Citewell) -> None:
    async with client_with(settings, citewell, cors_origins=[WIKI]) as client:
        reply = await client.get("/healthz", headers={"origin": WIKI, "host": "wiki.example.com"})
        assert reply.status_code == 403


async def test_without_listed_origins_browsers_are_told_nothing(shared_client: httpx.AsyncClient) -> None:
    reply = await shared_client.get("/healthz", headers={"origin": "http://localhost:3000"})
    assert reply.status_code == 200
    assert not [name for name in reply.headers if name.startswith("access-control")]


@pytest.mark.parametrize("origin", ["wiki.example.com", "ftp://wiki.example.com", f"{WIKI}/path", "https://", "null"])
def test_what_is_no_origin_is_refused_at_the_start(settings: Settings, origin: str) -> None:
    with pytest.raises(ConfigurationError, match="cors_origins"):
        create_app(settings.model_copy(update={"cors_origins": [origin]}))


def test_every_origin_at_all_may_call_only_where_callers_are_identified(settings: Settings) -> None:
    with pytest.raises(ConfigurationError, match="every web page"):
        create_app(settings.model_copy(update={"cors_origins": ["*"]}))
    for auth in (KEYS["auth"], AuthSettings(mode="jwt", jwt_secret=SecretStr("s" * 32))):
        create_app(settings.model_copy(update={"cors_origins": ["*"], "auth": auth}))


QUERY = "/api/rag/query-stream?query=What+is+the+notice+period%3F"
OF_ANOTHER_SITE: list[dict[str, str]] = [
    {"sec-fetch-site": "cross-site", "sec-fetch-mode": "no-cors", "sec-fetch-dest": "image"},
    {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate", "sec-fetch-dest": "document"},
    {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate", "sec-fetch-dest": "iframe"},
    {"sec-fetch-site": "same-site", "sec-fetch-mode": "no-cors", "sec-fetch-dest": "script"},
]


async def test_without_authentication_no_other_sites_page_asks_anything(client: httpx.AsyncClient) -> None:
    for hostile in OF_ANOTHER_SITE:
        for method, path in (("GET", QUERY), ("GET", "/api/sessions"), ("POST", "/api/sessions")):
            reply = await client.request(method, path, headers=hostile)
            assert (reply.status_code, reply.json()["code"]) == (403, "cross_site_request"), (method, path, hostile)
    assert (await client.get("/api/sessions")).json()["sessions"] == []


async def test_without_authentication_pages_of_this_machine_programs_and_links_are_served(
    client: httpx.AsyncClient,
) -> None:
    ours = {"sec-fetch-site": "same-origin", "sec-fetch-mode": "cors"}
    beside = {"sec-fetch-site": "same-site", "sec-fetch-mode": "cors", "origin": "http://localhost:3000"}
    typed = {"sec-fetch-site": "none", "sec-fetch-mode": "navigate", "sec-fetch-dest": "document"}
    for served in ({}, ours, beside, typed):
        assert (await client.get(QUERY, headers=served)).status_code == 200
    link = {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate", "sec-fetch-dest": "document"}
    for path in ("/", "/docs"):
        assert (await client.get(path, headers=link)).status_code == 200
    framed = link | {"sec-fetch-dest": "iframe"}
    assert (await client.get("/", headers=framed)).status_code == 403


async def test_without_authentication_a_key_of_ours_counts_and_a_wrong_one_is_refused(
    client: httpx.AsyncClient, citewell: Citewell
) -> None:
    keys = ApiKeys(citewell.library.database, citewell.library.workspaces)
    key = await keys.create("default", "ann", terms=KeyTerms(frozenset({"ask"})))
    for headers in ({"authorization": f"Bearer {key}x"}, {"x-api-key": "cw_wrong"}):
        refused = await client.get("/api/sessions", headers=headers)
        assert (refused.status_code, refused.json()["code"]) == (401, "not_authenticated")
        assert refused.headers["www-authenticate"]
    me = await client.get("/api/me", headers={"authorization": f"Bearer {key}"})
    assert me.json()["user"] == "ann"
    assert (await client.get("/api/keys", headers={"authorization": f"Bearer {key}"})).status_code == 403
    for placeholder in ("none", "sk-1234"):
        assert (await client.get("/api/sessions", headers={"authorization": f"Bearer {placeholder}"})).is_success
