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
