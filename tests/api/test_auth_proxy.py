"""A trusted proxy says who asks, in headers; from anybody else these are refused."""

import logging
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from api.app import create_app
from cli.http_server import server_config
from graph.entrypoint import Citewell
from graph.errors import NotAuthenticated, UntrustedProxy
from tests.api.serving import client_of, served
from tests.api.test_errors import assert_problem
from tests.conftest import NO_FILE
from tools.auth.proxies import AuthProxy
from tools.settings import AuthProxySettings, AuthSettings, HttpSettings, Settings

HERE = ("127.0.0.1/32",)
NOWHERE = Settings(**NO_FILE)
USABLE = {"auth": {"mode": "proxy", "default_workspace": "default"}, "http": {"trusted_proxies": HERE}}


def proxied(settings: Settings, trusted: Sequence[str] = HERE, **changes: Any) -> Settings:
    """Settings of a deployment behind a proxy on this machine, or elsewhere, as changed."""
    update = {
        "auth": AuthSettings(mode="proxy", default_workspace="default"),
        "auth_proxy": AuthProxySettings(**changes),
        "http": HttpSettings.model_validate({"trusted_proxies": list(trusted)}),
    }
    return settings.model_copy(update=update)


@asynccontextmanager
async def behind(settings: Settings, citewell: Citewell, **changes: Any) -> AsyncIterator[httpx.AsyncClient]:
    """A client of a deployment that believes a proxy on this machine, or elsewhere, as changed."""
    configured = proxied(settings, **changes)
    app = create_app(configured, citewell=citewell)
    # As `citewell serve` serves it: whether the socket's peer is told as it is depends on the server.
    async with (
        served(app, configured=server_config(app, configured)) as url,
        httpx.AsyncClient(base_url=url, timeout=60, trust_env=False) as client,
    ):
        yield client


async def test_the_proxy_says_who_asks(settings: Settings, citewell: Citewell) -> None:
    async with behind(settings, citewell, workspace_header="X-Forwarded-Team") as client:
        said = {
            "X-Forwarded-User": "Nguyễn An",
            "X-Forwarded-Groups": "guests, staff,,guests",
            "X-Forwarded-Team": "a,b",
        }
        headers = {name: value.encode() for name, value in said.items()}
        account = (await client.get("/api/me", headers=headers)).json()
        assert account == {
            "user": "Nguyễn An",
            "name": "Nguyễn An",
            "workspace": "a",
            "groups": ["guests", "staff"],
            "by": "proxy",
            "scopes": ["ask", "read", "write"],
            "web": False,
        }
        chosen = await client.get("/api/me", headers={**headers, "X-Citewell-Workspace": b"b"})
        assert chosen.json()["workspace"] == "b"
        assert (await client.get("/api/me", headers={**headers, "X-Citewell-Workspace": b"c"})).status_code == 404
        assert (await client.get("/api/me", headers={"x-forwarded-user": "ann"})).json()["workspace"] == "default"
        session = (await client.post("/api/sessions", json={}, headers={"x-forwarded-user": "ann"})).json()[
            "session_id"
        ]
        path = f"/api/sessions/{session}"
        assert (await client.get(path, headers={"x-forwarded-user": "ann"})).status_code == 200
        assert (await client.get(path, headers={"x-forwarded-user": "bob"})).status_code == 404
        assert (await client.get("/healthz")).status_code == 200


async def test_without_a_user_or_with_two_nobody_is_let_in(settings: Settings, citewell: Citewell) -> None:
    async with behind(settings, citewell) as client:
        twice = [("X-Forwarded-User", "ann"), ("x-forwarded-user", "bob")]
        groups_twice = [("X-Forwarded-User", "ann"), ("X-Forwarded-Groups", "a"), ("X-Forwarded-Groups", "b")]
        for headers in ([], twice, groups_twice, [("X-Forwarded-User", "")], [("X-Forwarded-Groups", "staff")]):
            assert_problem(await client.get("/api/sessions", headers=headers), 401, "not_authenticated")
        broken = [(b"x-forwarded-user", b"ann\xff")]
        assert (
            "UTF-8"
            in assert_problem(await client.get("/api/sessions", headers=broken), 401, "not_authenticated")["detail"]
        )


async def test_a_stranger_is_refused_and_noted(
    settings: Settings, citewell: Citewell, caplog: pytest.LogCaptureFixture
) -> None:
    async with behind(settings, citewell, trusted=["10.0.0.0/8", "fd00::/8"]) as client:
        for name in ("X-Forwarded-User", "X-Forwarded-Groups"):
            # What a chain of proxies says of addresses counts for nothing: the socket's own does.
            forwarded = {"X-Forwarded-For": "10.0.0.1:443", "X-Real-Ip": "10.0.0.1", "Forwarded": "for=10.0.0.1"}
            with caplog.at_level(logging.WARNING, "citewell.identity"):
                reply = await client.get("/api/sessions", headers={name: "ann", **forwarded})
            assert name in assert_problem(reply, 403, "untrusted_proxy")["detail"]
            assert f"refused {name} from 127.0.0.1" in caplog.text
        assert_problem(await client.get("/api/sessions"), 401, "not_authenticated")


async def test_with_a_secret_an_address_is_not_enough(settings: Settings, citewell: Citewell) -> None:
    async with behind(settings, citewell, secret="between us") as client:
        ann = {"x-forwarded-user": "ann"}
        good = await client.get("/api/sessions", headers={**ann, "x-proxy-secret": "between us"})
        assert good.status_code == 200
        twice = [*ann.items(), ("x-proxy-secret", "between us"), ("x-proxy-secret", "between us")]
        for headers in (ann, {**ann, "x-proxy-secret": "guessed"}, {**ann, "x-proxy-secret": "é".encode()}, twice):
            assert_problem(await client.get("/api/sessions", headers=headers), 403, "untrusted_proxy")


@pytest.mark.parametrize("mode", ["none", "keys"])
async def test_other_modes_take_nobodys_word(settings: Settings, citewell: Citewell, mode: Any) -> None:
    configured = proxied(settings).model_copy(update={"auth": AuthSettings(mode=mode)})
    async with client_of(create_app(configured, citewell=citewell)) as client:
        reply = await client.get("/api/me", headers={"x-forwarded-user": "ann"})
        assert reply.status_code == 401 if mode == "keys" else reply.json()["user"] == "local"


@pytest.mark.parametrize(
    ("peer", "trusted", "good"),
    [
        ("127.0.0.1", "127.0.0.1", True),
        ("10.1.2.3", "10.0.0.0/8", True),
        ("::ffff:10.1.2.3", "10.0.0.0/8", True),
        ("fd00::1", "fd00::/8", True),
        ("11.1.2.3", "10.0.0.0/8", False),
        ("::1", "127.0.0.1", False),
        ("testclient", "127.0.0.1", False),
        ("", "127.0.0.1", False),
        (None, "127.0.0.1", False),
    ],
)
def test_the_sockets_peer_decides(peer: str | None, trusted: str, good: bool) -> None:
    proxy = AuthProxy(proxied(NOWHERE, [trusted]))
    sent = {"X-Forwarded-User": ["ann"]}
    if good:
        assert proxy.identify(peer, lambda name: sent.get(name, [])).identity.user == "ann"
    else:
        with pytest.raises(UntrustedProxy):
            proxy.identify(peer, lambda name: sent.get(name, []))


def test_a_placeholder_that_the_proxy_did_not_fill_names_nobody() -> None:
    proxy = AuthProxy(proxied(NOWHERE))
    unfilled = "{http.reverse_proxy.header.X-Auth-Request-User}"
    sent = {"X-Forwarded-User": ["ann"], "X-Forwarded-Groups": [unfilled]}
    assert proxy.identify("127.0.0.1", lambda name: sent.get(name, [])).identity.groups == ()
    with pytest.raises(NotAuthenticated, match="X-Forwarded-User"):
        proxy.identify("127.0.0.1", lambda name: [unfilled] if name == "X-Forwarded-User" else [])


@given(st.binary(max_size=300), st.binary(max_size=300))
def test_whatever_the_headers_hold_it_is_a_user_or_a_refusal(user: bytes, groups: bytes) -> None:
    sent = {"X-Forwarded-User": [user.decode("latin-1")], "X-Forwarded-Groups": [groups.decode("latin-1")]}
    try:
        grant = AuthProxy(proxied(NOWHERE)).identify("127.0.0.1", lambda name: sent.get(name, []))
    except NotAuthenticated:
        return
    assert grant.identity.user == user.decode().strip()
    assert all(group.strip() == group and group and "," not in group for group in grant.identity.groups)


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"http": {}}, "trusted_proxies is required"),
        ({"http": {"trusted_proxies": ["0.0.0.0/0"]}}, "lets everybody say"),
        ({"http": {"trusted_proxies": ["::/0"]}}, "lets everybody say"),
        ({"http": {"trusted_proxies": ["10.0.0.1/8"]}}, "host bits"),
        ({"auth": {"mode": "proxy"}}, "default_workspace"),
        ({"auth_proxy": {"user_header": "X_Forwarded_User"}}, "user_header"),
    ],
    ids=str,
)
def test_a_deployment_that_would_believe_anybody_does_not_start(changes: dict[str, Any], named: str) -> None:
    with pytest.raises(ValidationError, match=named):
        Settings(**NO_FILE | USABLE | changes)
