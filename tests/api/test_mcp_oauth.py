"""A client of MCP that only knows OAuth finds the issuer by itself, logs in there, and comes back with its token."""

import time
from collections.abc import AsyncIterator
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx
import httpx2
import pytest
from mcp import Client
from mcp.client.auth import AuthorizationCodeResult, OAuthClientProvider, OAuthRegistrationError
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import OAuthClientInformationFull, OAuthClientMetadata, OAuthToken, ProtectedResourceMetadata
from pydantic import AnyUrl, SecretStr

from api.app import create_app
from graph.entrypoint import Citewell
from tests.api.serving import client_of, served
from tests.api.test_errors import assert_problem
from tests.issuer import CLIENT, LoginIssuer, by_login
from tools.settings import AuthSettings, Settings

WELL_KNOWN = "/.well-known/oauth-protected-resource"
BACK = "http://127.0.0.1:1/callback"


class Kept:
    """What a client keeps between its runs."""

    tokens: OAuthToken | None = None
    registered: OAuthClientInformationFull | None = None

    async def get_tokens(self) -> OAuthToken | None:
        return self.tokens

    async def set_tokens(self, tokens: OAuthToken) -> None:
        self.tokens = tokens

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        return self.registered

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        self.registered = client_info


def logging_in(url: str, kept: Kept) -> OAuthClientProvider:
    """The SDK's own login, with a person who follows the issuer's redirects."""
    came_back: dict[str, list[str]] = {}

    async def follow(address: str) -> None:
        async with httpx.AsyncClient(trust_env=False) as browser:
            came_back.update(parse_qs(urlsplit((await browser.get(address)).headers["location"]).query))

    async def callback() -> AuthorizationCodeResult:
        return AuthorizationCodeResult(code=came_back["code"][0], state=came_back["state"][0])

    asking = OAuthClientMetadata(client_name="a client", redirect_uris=[AnyUrl(BACK)])
    return OAuthClientProvider(f"{url}/mcp", asking, kept, follow, callback)


@pytest.fixture
async def issuer() -> AsyncIterator[LoginIssuer]:
    issuer = LoginIssuer()
    async with served(issuer) as issuer.url:
        issuer.discovery = {"registration_endpoint": f"{issuer.url}/register"}
        yield issuer


@pytest.fixture
async def url(settings: Settings, citewell: Citewell, issuer: LoginIssuer) -> AsyncIterator[str]:
    async with served(create_app(by_login(settings, issuer), citewell=citewell)) as address:
        yield address


async def test_a_client_that_knows_the_address_alone_logs_in_and_asks(url: str, issuer: LoginIssuer) -> None:
    kept = Kept()
    async with (
        httpx2.AsyncClient(auth=logging_in(url, kept), timeout=60, trust_env=False) as http,
        Client(streamable_http_client(f"{url}/mcp", http_client=http), cache=None) as client,
    ):
        answer: Any = (await client.call_tool("ask", {"question": "When does unused leave lapse?"})).structured_content
    assert answer["citations"]
    [asked] = issuer.departed
    assert (asked["resource"], asked["scope"]) == (f"{url}/mcp", "openid profile email")
    assert kept.tokens is not None
    async with httpx.AsyncClient(base_url=url, trust_env=False) as program:
        me = await program.get("/api/me", headers={"authorization": f"Bearer {kept.tokens.access_token}"})
    assert (me.json()["user"], me.json()["groups"]) == ("ann", ["staff"])


async def test_a_refusal_names_the_metadata_and_the_metadata_the_issuer(url: str, issuer: LoginIssuer) -> None:
    async with httpx.AsyncClient(base_url=url, trust_env=False) as http:
        refused = await http.post("/mcp", json={})
        assert refused.status_code == 401
        assert refused.headers["www-authenticate"].endswith(f'resource_metadata="{url}{WELL_KNOWN}/mcp"')
        for part in ("", "/mcp"):
            told = ProtectedResourceMetadata.model_validate_json((await http.get(f"{WELL_KNOWN}{part}")).content)
            assert (str(told.resource), list(map(str, told.authorization_servers))) == (f"{url}{part}", [issuer.url])


@pytest.mark.parametrize(
    ("audience", "changes", "status"),
    [
        ("https://another.example/mcp", {}, 401),
        (CLIENT, {}, 401),  # as an ID token has it
        ("", {"nonce": "of a login"}, 401),
        ("", {"events": {"http://schemas.openid.net/event/backchannel-logout": {}}}, 401),
        ("", {"iss": "https://another.example"}, 401),
        ("", {"exp": int(time.time()) - 60}, 401),
        ("", {"exp": None}, 401),
        ("", {"sub": None}, 401),
        ("", {"groups": ["guests"]}, 403),
    ],
)
async def test_a_token_that_is_not_for_this_service_lets_nobody_in(
    settings: Settings, citewell: Citewell, issuer: LoginIssuer, audience: str, changes: dict[str, Any], status: int
) -> None:
    configured = by_login(settings, issuer, required_claims={"groups": ["staff"]})
    async with client_of(create_app(configured, citewell=citewell)) as client:
        ours = str(client.base_url).rstrip("/")
        good = {"authorization": f"Bearer {issuer.access_token(ours)}"}
        assert (await client.get("/api/me", headers=good)).status_code == 200
        bad = {"authorization": f"Bearer {issuer.access_token(audience or ours, **changes)}"}
        assert (await client.get("/api/me", headers=bad)).status_code == status


async def test_a_token_that_the_issuer_did_not_sign_lets_nobody_in(url: str, issuer: LoginIssuer) -> None:
    good = issuer.access_token(url)
    issuer.kid = "another"
    async with httpx.AsyncClient(base_url=url, trust_env=False) as http:
        for token in (issuer.access_token(url), good[:-4] + "AAAA", "a.b.c", "x" * 20_000 + ".."):
            refused = await http.get("/api/me", headers={"authorization": f"Bearer {token}"})
            assert_problem(refused, 401, "not_authenticated")


async def test_tokens_of_another_issuer_have_metadata_too(settings: Settings, citewell: Citewell) -> None:
    """In mode jwt it is the issuer of the tokens; one that is no address can't be found by a client."""
    for issuer, status in (("https://tokens.example", 200), ("tokens", 404)):
        auth = AuthSettings(mode="jwt", jwt_secret=SecretStr("x" * 32), issuer=issuer)
        async with client_of(create_app(settings.model_copy(update={"auth": auth}), citewell=citewell)) as client:
            told = await client.get(f"{WELL_KNOWN}/mcp")
            challenge = (await client.post("/mcp", json={})).headers["www-authenticate"]
        assert told.status_code == status
        assert ("resource_metadata" in challenge) is (status == 200)
        assert status == 404 or told.json()["authorization_servers"] == [issuer]


async def test_where_requests_have_keys_alone_a_client_is_told_so(settings: Settings, citewell: Citewell) -> None:
    keyed = settings.model_copy(update={"auth": AuthSettings(mode="keys")})
    async with served(create_app(keyed, citewell=citewell)) as url:
        async with httpx.AsyncClient(base_url=url, trust_env=False) as http:
            assert_problem(await http.get(f"{WELL_KNOWN}/mcp"), 404, "not_found")
        async with httpx2.AsyncClient(auth=logging_in(url, Kept()), timeout=60, trust_env=False) as http2:
            with pytest.raises(OAuthRegistrationError, match=r"not_authenticated.*keys create"):
                await http2.post(f"{url}/mcp", json={})
