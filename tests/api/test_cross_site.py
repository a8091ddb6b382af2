"""No other site's page acts with a person's cookie: every route of the app, by every way that a browser has."""

import re
from collections.abc import AsyncIterator

import httpx
import pytest
from fastapi import FastAPI
from fastapi.routing import iter_route_contexts

from api.app import create_app
from api.browsers import LOGIN_COOKIE
from api.middleware import LOGIN_PATHS, OPEN_PATHS, PAGE_FILES_PATH
from api.protected_resource import METADATA_PATHS
from graph.entrypoint import Citewell
from graph.evidence import Identity
from tests.api.serving import client_of
from tests.issuer import LoginIssuer, by_login
from tools.auth.document_links import LINKS_PATH
from tools.auth.identities import Grant
from tools.auth.login_store import Logins
from tools.auth.oidc import Person
from tools.sessions.shares import SHARES_PATH
from tools.settings import AuthSettings, HttpSettings, Settings

UNKNOWN = "00000000-0000-4000-8000-000000000000"
SAFE = {"GET", "HEAD", "OPTIONS"}
OURS = {"sec-fetch-site": "same-origin", "sec-fetch-mode": "cors", "sec-fetch-dest": "empty"}
NAVIGATES = {"sec-fetch-mode": "navigate", "sec-fetch-dest": "document"}
FOREIGN: list[dict[str, str]] = [
    {"sec-fetch-site": "cross-site", "sec-fetch-mode": "no-cors", "origin": "https://evil.example"},
    {"sec-fetch-site": "cross-site", **NAVIGATES},
    {"sec-fetch-site": "same-site", "origin": "https://blog.wiki.example"},
    {"sec-fetch-site": "same-site", **NAVIGATES},
    {"sec-fetch-site": ""},
    {"origin": "https://evil.example"},
    {"origin": "null"},
    {"origin": "http://["},
    {"origin": "https://wiki.example"},  # of a listed origin: it may call, but never with the cookie
]
SILENT: list[dict[str, str]] = [{}, {"referer": "https://evil.example/"}]
OPENABLE = {"/documents/{document_id}", "/api/documents/{document_id}/original"}


def routes_of(app: FastAPI) -> list[tuple[str, str]]:
    """List each method and path of the app that asks who calls."""
    found = {
        (method, context.path or "")
        for context in iter_route_contexts(app.router.routes)
        for method in context.methods or {"GET", "POST", "DELETE"}
    }
    shut = {
        each
        for each in found
        if each[1] not in OPEN_PATHS | LOGIN_PATHS | METADATA_PATHS
        and not each[1].startswith((PAGE_FILES_PATH, LINKS_PATH, SHARES_PATH))
    }
    assert len([each for each in shut if each[0] not in SAFE]) > 30
    return sorted(shut)


def ways_to(method: str, path: str, ways: list[dict[str, str]]) -> list[dict[str, str]]:
    """List those that must be refused: a link may show a document. What reads is asked in two of the ways."""
    if method not in SAFE:
        return ways
    return [way for way in ways if path not in OPENABLE or way.get("sec-fetch-mode") != "navigate"][:2]


def filled(path: str) -> str:
    return re.sub(r"\{[^}]*\}", UNKNOWN, path)


@pytest.fixture
async def person(settings: Settings, citewell: Citewell) -> str:
    """The cookie of somebody who is logged in."""
    configured = by_login(settings, LoginIssuer(url="https://id.example"))
    grant = Grant(Identity("default", "ann"), ("default",), may_create=True)
    login = await Logins(citewell.library.database, configured.oidc).create(Person(grant, "Ann", "token"))
    return f"{LOGIN_COOKIE}={login}"


@pytest.fixture
def app(settings: Settings, citewell: Citewell) -> FastAPI:
    configured = by_login(settings, LoginIssuer(url="http://127.0.0.1:9"))
    return create_app(configured.model_copy(update={"cors_origins": ["https://wiki.example"]}), citewell=citewell)


@pytest.fixture
async def client(app: FastAPI) -> AsyncIterator[httpx.AsyncClient]:
    async with client_of(app) as opened:
        yield opened


async def test_no_route_obeys_another_sites_page(app: FastAPI, client: httpx.AsyncClient, person: str) -> None:
    for method, path in routes_of(app):
        for hostile in ways_to(method, path, [*FOREIGN, *SILENT]):
            reply = await client.request(method, filled(path), headers={"cookie": person, **hostile})
            assert reply.status_code == 403, (method, path, hostile, reply.text)
            if method != "HEAD" and not path.startswith("/v1/"):
                assert "cross_site_request" in reply.text, (method, path)


async def test_every_change_is_open_to_our_own_page(app: FastAPI, client: httpx.AsyncClient, person: str) -> None:
    origin = str(client.base_url)
    for method, path in routes_of(app):
        if method in SAFE or path == "/logout":
            continue
        for ours in (OURS, {"origin": origin}):
            reply = await client.request(method, filled(path), headers={"cookie": person, **ours})
            wants_more = "--scope admin" in reply.text  # refused by what she may do, not by where it comes from
            assert reply.status_code not in (401, 403) or wants_more, (method, path, ours, reply.text)
    left = await client.post("/logout", headers={"cookie": person, **OURS})
    assert left.json() == {"continue_at": "/"}  # its issuer is away


async def test_two_cookies_of_the_name_are_none(client: httpx.AsyncClient, person: str) -> None:
    both = {"cookie": f"{person}; {LOGIN_COOKIE}=another", **OURS}
    assert (await client.get("/api/sessions", headers=both)).status_code == 401
    twice = {"cookie": f"{person}; {person}", **OURS}
    assert (await client.get("/api/sessions", headers=twice)).status_code == 200


async def test_no_other_sites_page_acts_through_the_proxys_cookie(settings: Settings, citewell: Citewell) -> None:
    http = HttpSettings.model_validate({"trusted_proxies": ["127.0.0.1"]})
    auth = AuthSettings(mode="proxy", default_workspace="default")
    changes = {"auth": auth, "http": http, "public_url": "https://ask.example"}
    app = create_app(settings.model_copy(update=changes), citewell=citewell)
    ann = {"x-forwarded-user": "ann"}
    async with client_of(app) as client:
        for method, path in routes_of(app):
            for hostile in ways_to(method, path, FOREIGN)[:2]:
                reply = await client.request(method, filled(path), headers={**ann, **hostile})
                assert reply.status_code == 403, (method, path, hostile, reply.text)
        for ours in (*SILENT, OURS, {"origin": "https://ask.example"}):
            assert (await client.post("/api/sessions", json={}, headers={**ann, **ours})).status_code == 201
