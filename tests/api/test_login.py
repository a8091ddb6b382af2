"""People log in by an issuer, are known by a cookie, and log out; whatever is not quite right lets nobody in."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import httpx
import jwt
import pytest
from fastapi import FastAPI
from pydantic import SecretStr

from api.app import create_app
from api.browsers import ATTEMPT_COOKIE, LOGIN_COOKIE
from cli.checks import check_login
from cli.command import Exit
from graph.entrypoint import Citewell, open_citewell
from graph.errors import ConfigurationError, IssuerUnavailable
from graph.evidence import Identity
from tests.api.conftest import HANDBOOK, LIBRARY
from tests.api.serving import client_of, served
from tests.api.test_errors import assert_problem
from tests.conftest import NO_FILE, QUICKLY
from tests.issuer import CLIENT, LoginIssuer, by_login, private_key, published
from tools.auth.api_keys import ApiKeys
from tools.auth.issuer_documents import ASK_AGAIN_SECONDS, KEPT_SECONDS
from tools.auth.login_store import Logins
from tools.auth.oidc import RelyingParty
from tools.settings import AuthSettings, OidcSettings, Settings

PAGE = {"sec-fetch-site": "same-origin", "sec-fetch-mode": "cors", "sec-fetch-dest": "empty"}
LINK = {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate", "sec-fetch-dest": "document"}
BROWSER = {"accept": "text/html,application/xhtml+xml"}


@dataclass(frozen=True)
class Deployed:
    """An issuer, and a deployment in which people log in by it."""

    issuer: LoginIssuer
    app: FastAPI
    url: str


@pytest.fixture(scope="module")
async def deployed(settings: Settings, opened: Citewell) -> AsyncIterator[Deployed]:
    issuer = LoginIssuer()
    async with served(issuer) as issuer.url:
        app = create_app(by_login(settings, issuer), citewell=opened)
        async with served(app) as url:
            yield Deployed(issuer, app, url)


@pytest.fixture
def issuer(deployed: Deployed) -> LoginIssuer:
    """The issuer as it is at first, of which nothing is cached."""
    vars(deployed.issuer).update(vars(LoginIssuer(url=deployed.issuer.url)))
    deployed.app.state.relying_party = RelyingParty(deployed.app.state.settings.oidc, deployed.app.state.settings.auth)
    return deployed.issuer


@asynccontextmanager
async def browser_of(settings: Settings, citewell: Citewell) -> AsyncIterator[httpx.AsyncClient]:
    """A client that keeps cookies, over a deployment of these settings."""
    async with client_of(create_app(settings, citewell=citewell)) as client:
        yield client


@pytest.fixture
async def browser(deployed: Deployed, issuer: LoginIssuer, citewell: Citewell) -> AsyncIterator[httpx.AsyncClient]:
    async with httpx.AsyncClient(base_url=deployed.url, timeout=60, trust_env=False) as client:
        yield client


@pytest.fixture
def logins(citewell: Citewell) -> Logins:
    return Logins(citewell.library.database, OidcSettings())


@pytest.fixture(scope="module")
def settings(shared_database_url: str, tmp_path_factory: pytest.TempPathFactory) -> Settings:
    """Settings of one deployment for all tests here, whose logins each begins anew."""
    url = SecretStr(shared_database_url)
    return Settings(**NO_FILE, database_url=url, data_dir=tmp_path_factory.mktemp("data"), pool_size=4, runs=QUICKLY)


@pytest.fixture(scope="module")
async def opened(settings: Settings) -> AsyncIterator[Citewell]:
    async with open_citewell(settings) as opened:
        for document in LIBRARY:
            await opened.library.ingestor.ingest(Identity(), document)
        yield opened


@pytest.fixture
async def citewell(opened: Citewell) -> Citewell:
    async with opened.library.database.connection() as connection:
        await connection.execute("DELETE FROM logins")
    return opened


async def depart(client: httpx.AsyncClient, **query: str) -> str:
    """Begin a login; give the address with which the issuer sends the browser back."""
    leaving = await client.get("/login", params=query)
    assert leaving.status_code == 303, leaving.text
    assert leaving.headers["cache-control"] == "no-store"
    async with httpx.AsyncClient(trust_env=False) as elsewhere:
        at_issuer = await elsewhere.get(leaving.headers["location"])
    return at_issuer.headers["location"]


async def log_in(client: httpx.AsyncClient, **query: str) -> httpx.Response:
    return await client.get(await depart(client, **query), headers=LINK)


async def me(client: httpx.AsyncClient) -> httpx.Response:
    return await client.get("/api/me", headers=PAGE)


async def test_a_person_logs_in_asks_and_logs_out(browser: httpx.AsyncClient, issuer: LoginIssuer) -> None:
    assert (await browser.get("/api/login")).json() == {"offered": True}
    assert_problem(await me(browser), 401, "not_authenticated")
    arrived = await log_in(browser, next="/?a=b#/sessions/1")
    assert (arrived.status_code, arrived.headers["location"]) == (303, "/?a=b#/sessions/1")
    set_cookies = arrived.headers.get_list("set-cookie")
    (made,) = [cookie for cookie in set_cookies if cookie.startswith(f"{LOGIN_COOKIE}=")]
    assert {"HttpOnly", "Path=/", "SameSite=lax", "Max-Age=86400"} <= set(made.split("; "))
    assert not [name for name in browser.cookies if name.startswith(ATTEMPT_COOKIE)]
    assert (await me(browser)).json() == {
        "user": "ann",
        "name": "Ann Lee",
        "workspace": "default",
        "groups": ["staff"],
        "by": "login",
        "scopes": ["ask", "read", "write"],
        "web": False,
    }
    session = (await browser.post("/api/sessions", json={}, headers=PAGE)).json()["session_id"]
    asked = {"question": "How long is the notice period?", "stream": True}
    answer = await browser.post(f"/api/sessions/{session}/runs", json=asked, headers=PAGE)
    assert '"outcome":"answered"' in answer.text

    kept = dict(browser.cookies)
    left = await browser.post("/logout", headers=PAGE)
    onward = urlsplit(left.json()["continue_at"])
    assert f"{onward.scheme}://{onward.netloc}{onward.path}" == f"{issuer.url}/logout"
    sent = parse_qs(onward.query)
    assert sent["post_logout_redirect_uri"] == [f"{browser.base_url}/"]
    assert jwt.decode(sent["id_token_hint"][0], options={"verify_signature": False})["sub"] == "ann"
    assert LOGIN_COOKIE not in browser.cookies
    browser.cookies.update(kept)
    assert_problem(await me(browser), 401, "not_authenticated")
    asked_for = issuer.departed[0]
    assert asked_for["redirect_uri"] == f"{browser.base_url}/login/callback"
    assert asked_for["scope"] == "openid profile email"
    assert len({asked_for["state"], asked_for["nonce"], asked_for["code_challenge"]}) == 3


async def test_each_login_is_another_and_ends_the_one_before(browser: httpx.AsyncClient, logins: Logins) -> None:
    browser.cookies.set(LOGIN_COOKIE, "planted" + "x" * 36, domain="127.0.0.1")
    await log_in(browser)
    first = browser.cookies[LOGIN_COOKIE]
    assert first != "planted" + "x" * 36
    await log_in(browser)
    second = browser.cookies[LOGIN_COOKIE]
    assert first != second
    assert await logins.find(first) is None
    assert [login.user for login in await logins.list()] == ["ann"]
    browser.cookies.set(LOGIN_COOKIE, "planted" + "x" * 36, domain="127.0.0.1")
    assert (await me(browser)).status_code == 401


async def test_the_database_holds_neither_the_cookie_nor_the_id_token(
    browser: httpx.AsyncClient, citewell: Citewell
) -> None:
    await log_in(browser)
    async with citewell.library.database.connection() as connection:
        (row,) = await (
            await connection.execute("SELECT logins::text, encode(id_token, 'escape') FROM logins")
        ).fetchall()
    held = "".join(row)
    assert browser.cookies[LOGIN_COOKIE] not in held
    assert "eyJ" not in held


async def test_two_tabs_log_in_side_by_side(browser: httpx.AsyncClient) -> None:
    first, second = await depart(browser, next="/?first"), await depart(browser, next="/?second")
    for back, place in ((first, "/?first"), (second, "/?second")):
        assert (await browser.get(back)).headers["location"] == place


@pytest.mark.parametrize(
    "wanted",
    [
        "https://evil.example",
        "//evil.example",
        "/\\evil.example",
        "\\\\evil.example",
        "javascript:alert(1)",
        "/\t/evil.example",
        "/a\r\nlocation: https://evil.example",
        " /x",
        "/" + "x" * 1000,
        "",
        "/trang-chủ",
    ],
)
async def test_nobody_is_sent_elsewhere_after_the_login(browser: httpx.AsyncClient, wanted: str) -> None:
    arrived = await log_in(browser, next=wanted)
    assert arrived.headers["location"] == "/"


async def refused(client: httpx.AsyncClient, back: str, status: int = 401, code: str = "login_failed") -> str:
    reply = await client.get(back)
    assert LOGIN_COOKIE not in reply.cookies
    assert reply.headers["cache-control"] == "no-store"
    detail: str = assert_problem(reply, status, code)["detail"]
    assert_problem(await me(client), 401, "not_authenticated")
    return detail


async def test_a_reply_counts_only_in_the_browser_that_asked(browser: httpx.AsyncClient) -> None:
    back = await depart(browser)
    state = parse_qs(urlsplit(back).query)["state"][0]
    for wrong in ("x" * 43, state[:-1], "", "a b; c=d"):
        assert "no such login" in await refused(browser, back.replace(state, wrong))
    kept = dict(browser.cookies)
    browser.cookies.clear()
    assert "no such login" in await refused(browser, back)
    browser.cookies.update(kept)
    assert (await browser.get(back)).status_code == 303


async def test_a_code_counts_once(browser: httpx.AsyncClient) -> None:
    back = await depart(browser)
    kept = dict(browser.cookies)
    assert (await browser.get(back)).status_code == 303
    browser.cookies.clear()
    assert "no such login" in await refused(browser, back)
    browser.cookies.update(kept)
    assert "used already" in await refused(browser, back)


async def test_somebody_elses_code_is_of_no_use(browser: httpx.AsyncClient) -> None:
    theirs, mine = await depart(browser), await depart(browser)
    code_of = {name: parse_qs(urlsplit(back).query)["code"][0] for name, back in (("their", theirs), ("my", mine))}
    assert "used already" in await refused(browser, mine.replace(code_of["my"], code_of["their"]))


def by_secret(claims: dict[str, Any]) -> str:
    """Sign with the public key as if it were a secret, as an attacker who confuses algorithms does."""
    return jwt.encode(claims, published("one")["n"], "HS256", {"kid": "one"})


def by_nobody(claims: dict[str, Any]) -> str:
    return jwt.encode(claims, None, "none")


def by_a_stranger(claims: dict[str, Any]) -> str:
    return jwt.encode(claims, private_key("two", 2048), "RS256", {"kid": "one"})


def by_an_unknown_key(claims: dict[str, Any]) -> str:
    return jwt.encode(claims, private_key("two", 2048), "RS256", {"kid": "two"})


WRONG = [
    ({"nonce": "another"}, "nonce"),
    ({"nonce": None}, "nonce"),
    ({"exp": 1}, "expired"),
    ({"exp": None}, "exp"),
    ({"iat": 4_000_000_000}, "iat"),
    ({"aud": "another"}, "aud"),
    ({"aud": None}, "aud"),
    ({"aud": [CLIENT, "another"]}, "azp"),
    ({"azp": "another"}, "azp"),
    ({"iss": "https://another.example"}, "iss"),
    ({"sub": None}, "sub"),
    ({"at_hash": "another"}, "at_hash"),
    ({"workspace": ""}, "workspace"),
    ({"sub": "a\nb"}, "sub"),
    ({"groups": [""]}, "groups"),
]


@pytest.mark.parametrize(("claims", "why"), WRONG, ids=str)
async def test_an_id_token_with_a_wrong_claim_lets_nobody_in(
    browser: httpx.AsyncClient, issuer: LoginIssuer, claims: dict[str, Any], why: str
) -> None:
    issuer.claims = claims
    assert why in await refused(browser, await depart(browser))


@pytest.mark.parametrize(
    "sign", [by_secret, by_nobody, by_a_stranger, by_an_unknown_key, lambda claims: "no.token.this"]
)
async def test_an_id_token_with_a_wrong_signature_lets_nobody_in(
    browser: httpx.AsyncClient, issuer: LoginIssuer, sign: Any
) -> None:
    issuer.sign = sign
    assert "signature" in await refused(browser, await depart(browser))


async def test_what_the_issuer_refuses_is_told(browser: httpx.AsyncClient, issuer: LoginIssuer) -> None:
    issuer.refusal = "access_denied"
    back = await depart(browser)
    assert "access_denied" in await refused(browser, back)
    told = await browser.get(await depart(browser), headers=BROWSER)
    assert (told.status_code, told.headers["content-type"]) == (401, "text/html; charset=utf-8")
    assert "default-src 'none'" in told.headers["content-security-policy"]
    assert '<a href="/login">Log in</a>' in told.text
    scripted = back.replace("access_denied", "%3Cscript%3E")
    assert "<script>" not in (await browser.get(scripted, headers=BROWSER)).text


async def test_a_reply_of_another_issuer_is_refused(browser: httpx.AsyncClient, issuer: LoginIssuer) -> None:
    issuer.names_itself = True
    back = await depart(browser)
    named = parse_qs(urlsplit(back).query)["iss"][0]
    assert named == issuer.url
    other = back.replace(urlencode({"iss": named}), "iss=https://another.example")
    assert "configured issuer" in await refused(browser, other)
    silent = (await depart(browser)).replace(urlencode({"iss": named}), "")
    assert "configured issuer" in await refused(browser, silent)
    assert (await log_in(browser)).status_code == 303


async def test_claims_may_come_from_the_user_info(browser: httpx.AsyncClient, issuer: LoginIssuer) -> None:
    issuer.thin = True
    await log_in(browser)
    assert (await me(browser)).json()["name"] == "Ann Lee"
    issuer.person = {**issuer.person, "sub": "bob"}
    issuer.claims = {"sub": "ann"}
    assert "somebody else" in assert_problem(await log_in(browser), 401, "login_failed")["detail"]


async def test_doctor_says_whether_the_issuer_answers(settings: Settings, issuer: LoginIssuer) -> None:
    configured = by_login(settings, issuer)
    assert (await check_login(configured)).ok
    unreachable = await check_login(configured.model_copy(update={"host": "0.0.0.0"}))
    assert (unreachable.ok, unreachable.exit_code) == (False, Exit.CONFIGURATION)
    issuer.down = True
    down = await check_login(configured)
    assert (down.ok, down.exit_code) == (False, Exit.UNAVAILABLE)


async def test_who_may_come_in_is_for_the_claims_to_say(
    settings: Settings, citewell: Citewell, issuer: LoginIssuer
) -> None:
    wanted = {"required_claims": {"groups": ["staff", "guests"]}, "claims": {"user_claim": "email"}}
    issuer.person |= {"email": "ann@example.com", "email_verified": True}
    async with browser_of(by_login(settings, issuer, **wanted), citewell) as browser:
        await log_in(browser)
        assert (await me(browser)).json()["user"] == "ann@example.com"
        browser.cookies.clear()
        issuer.person["groups"] = ["visitors"]
        assert "claim groups" in await refused(browser, await depart(browser))
        issuer.person |= {"groups": "guests", "email_verified": False}
        assert "not verified" in await refused(browser, await depart(browser))


async def test_without_a_workspace_nobody_comes_in_unless_there_is_a_default(
    settings: Settings, citewell: Citewell, issuer: LoginIssuer
) -> None:
    del issuer.person["workspace"]
    async with browser_of(by_login(settings, issuer), citewell) as browser:
        assert "workspace" in await refused(browser, await depart(browser))
    async with browser_of(by_login(settings, issuer, claims={"default_workspace": "team"}), citewell) as browser:
        await log_in(browser)
        assert (await me(browser)).json()["workspace"] == "team"


async def test_an_issuer_that_is_down_is_told_as_such(browser: httpx.AsyncClient, issuer: LoginIssuer) -> None:
    issuer.down = True
    told = assert_problem(await browser.get("/login"), 503, "issuer_unavailable")
    assert told["retryable"]
    assert "CITEWELL_OIDC__ISSUER" in told["suggestion"]
    assert (await browser.get("/login", headers=BROWSER)).status_code == 503


async def test_an_issuer_that_goes_down_meanwhile_is_told_and_logs_nobody_out(
    browser: httpx.AsyncClient, issuer: LoginIssuer
) -> None:
    await log_in(browser)
    back = await depart(browser)
    issuer.down = True
    assert assert_problem(await browser.get(back), 503, "issuer_unavailable")["retryable"]
    assert (await me(browser)).status_code == 200
    assert (await browser.post("/logout", headers=PAGE)).status_code == 200
    assert (await me(browser)).status_code == 401


async def test_a_client_that_the_issuer_refuses_is_the_deployments_fault(
    settings: Settings, citewell: Citewell, issuer: LoginIssuer
) -> None:
    configured = by_login(settings, issuer)
    wrong = configured.oidc.model_copy(update={"client_secret": SecretStr("another")})
    async with browser_of(configured.model_copy(update={"oidc": wrong}), citewell) as browser:
        told = assert_problem(await browser.get(await depart(browser)), 500, "configuration")
        assert "CITEWELL_OIDC__CLIENT_SECRET" in told["suggestion"]


class Clock:
    now = 1000.0

    def __call__(self) -> float:
        return self.now


async def arrives(party: RelyingParty) -> str:
    url, attempt = await party.begin("http://127.0.0.1/login/callback")
    async with httpx.AsyncClient(trust_env=False) as browser:
        back = (await browser.get(url)).headers["location"]
    return (
        await party.finish(attempt, parse_qs(urlsplit(back).query)["code"][0], "http://127.0.0.1/login/callback")
    ).name


async def test_keys_are_rotated_and_documents_kept(settings: Settings, issuer: LoginIssuer) -> None:
    clock = Clock()
    party = RelyingParty(by_login(settings, issuer).oidc, AuthSettings(), clock=clock)
    assert await arrives(party) == await arrives(party) == "Ann Lee"
    assert sorted(issuer.asked).count("/keys") == issuer.asked.count("/.well-known/openid-configuration") == 1
    issuer.kid, issuer.keys = "two", [published("two")]
    clock.now += ASK_AGAIN_SECONDS
    assert await arrives(party) == "Ann Lee"
    issuer.down = True
    clock.now += KEPT_SECONDS + 1
    with pytest.raises(IssuerUnavailable):
        await party.begin("http://127.0.0.1/login/callback")


@pytest.mark.parametrize(
    "changes",
    [
        {"issuer": "https://another.example"},
        {"token_endpoint": "http://id.example/token"},
        {"jwks_uri": "file:///etc/passwd"},
        {"id_token_signing_alg_values_supported": ["HS256", "none"]},
        {"authorization_endpoint": None},
    ],
    ids=str,
)
async def test_a_discovery_document_that_must_not_be_trusted_is_not(
    browser: httpx.AsyncClient, issuer: LoginIssuer, changes: dict[str, Any]
) -> None:
    issuer.discovery = changes
    assert_problem(await browser.get("/login"), 503, "issuer_unavailable")


async def test_a_login_ends_when_it_is_idle_and_in_any_case(
    browser: httpx.AsyncClient, citewell: Citewell, logins: Logins
) -> None:
    async def wind(column: str, seconds: int) -> None:
        async with citewell.library.database.connection() as connection:
            await connection.execute(f"UPDATE logins SET {column} = {column} - make_interval(secs => {seconds})")

    await log_in(browser)
    await wind("last_seen_at", 28_700)
    assert (await me(browser)).status_code == 200  # which counts as use
    await wind("last_seen_at", 28_700)
    assert (await me(browser)).status_code == 200
    await wind("last_seen_at", 28_801)
    assert "Your login has ended." in assert_problem(await me(browser), 401, "not_authenticated")["detail"]
    await log_in(browser)
    await wind("expires_at", 86_401)
    assert (await me(browser)).status_code == 401
    assert await logins.list() == []


async def test_a_stream_ends_with_the_login_and_not_before(
    settings: Settings, citewell: Citewell, issuer: LoginIssuer, logins: Logins
) -> None:
    app = create_app(by_login(settings, issuer), citewell=citewell)
    app.state.login_check_seconds = 0
    goes_on = asyncio.Event()

    @app.get("/api/ticks")
    async def tick() -> Any:
        from sse_starlette import EventSourceResponse

        async def ticks() -> AsyncIterator[str]:
            yield "first"
            await goes_on.wait()
            for _ in range(1000):
                yield "more"
                await asyncio.sleep(0)

        return EventSourceResponse(ticks())

    async with client_of(app) as browser:
        await log_in(browser)
        async with browser.stream("GET", "/api/ticks", headers=PAGE) as stream:
            lines = stream.aiter_lines()
            assert await anext(lines) == "data: first"
            assert await logins.revoke_user("ann") == 1
            goes_on.set()
            rest = [line async for line in lines]
        assert "data: more" not in rest
        await log_in(browser)
        assert (await browser.get("/api/ticks", headers=PAGE)).text.count("more") == 1000


async def test_keys_and_cookies_come_to_the_same(browser: httpx.AsyncClient, citewell: Citewell) -> None:
    await log_in(browser)
    session = (await browser.post("/api/sessions", json={}, headers=PAGE)).json()["session_id"]
    key = await ApiKeys(citewell.library.database, citewell.library.workspaces).create("default", "ann")
    by_key = {"authorization": f"Bearer {key}"}
    async with httpx.AsyncClient(base_url=browser.base_url, trust_env=False) as program:
        assert (await program.get(f"/api/sessions/{session}", headers=by_key)).status_code == 200
        assert (await program.get("/api/me", headers=by_key)).json()["by"] == "key"
    # What no browser sends by itself goes before the cookie, right or wrong.
    assert (await browser.get("/api/sessions", headers={"authorization": "Bearer cw_wrong"})).status_code == 401
    assert (await browser.get("/api/me", headers=by_key)).json()["by"] == "key"


async def test_a_link_to_a_document_leads_to_the_login_and_back(browser: httpx.AsyncClient) -> None:
    link = f"/documents/{HANDBOOK}"
    leaving = await browser.get(link, headers=LINK)
    assert (leaving.status_code, leaving.headers["location"]) == (
        303,
        f"/login?next=%2Fdocuments%2F{HANDBOOK}",
    )
    assert (await log_in(browser, next=link)).headers["location"] == link
    assert "Staff handbook" in (await browser.get(link, headers=LINK)).text
    assert (await browser.get("/api/sessions", headers=LINK)).status_code == 403


async def test_over_https_the_cookie_belongs_to_this_host_alone(
    settings: Settings, citewell: Citewell, issuer: LoginIssuer
) -> None:
    public = by_login(settings, issuer).model_copy(update={"public_url": "https://wiki.example/ask", "host": "0.0.0.0"})
    async with browser_of(public, citewell) as browser:
        leaving = await browser.get("/login", headers={"host": "evil.example"})
        (kept,) = leaving.headers.get_list("set-cookie")
        assert kept.startswith(f"__Host-{ATTEMPT_COOKIE}")
        assert {"Secure", "HttpOnly", "Path=/", "SameSite=lax"} <= set(kept.split("; "))
        asked = parse_qs(urlsplit(leaving.headers["location"]).query)
        assert asked["redirect_uri"] == ["https://wiki.example/ask/login/callback"]
        async with httpx.AsyncClient(trust_env=False) as elsewhere:
            back = urlsplit((await elsewhere.get(leaving.headers["location"])).headers["location"])
        name, _, value = kept.partition(";")[0].partition("=")
        arrived = await browser.get(f"/login/callback?{back.query}", headers={"cookie": f"{name}={value}"})
        assert arrived.headers["location"] == "/ask/"
        made = next(
            each for each in arrived.headers.get_list("set-cookie") if each.startswith("__Host-citewell-login=")
        )
        assert "Secure" in made.split("; ")


@pytest.mark.parametrize(
    "changes",
    [
        {"host": "0.0.0.0"},
        {"public_url": "http://wiki.example"},
        {"oidc": OidcSettings(issuer="http://id.example", client_id="c")},
    ],
    ids=str,
)
def test_a_deployment_whose_logins_could_be_read_on_the_way_does_not_start(
    settings: Settings, changes: dict[str, Any]
) -> None:
    configured = by_login(settings, LoginIssuer(url="https://id.example"))
    create_app(configured)
    with pytest.raises(ConfigurationError):
        create_app(configured.model_copy(update=changes))


async def test_without_an_issuer_nobody_logs_in(shared_client: httpx.AsyncClient) -> None:
    assert (await shared_client.get("/api/login")).json() == {"offered": False}
    for method, path in (("GET", "/login"), ("GET", "/login/callback"), ("POST", "/logout")):
        assert_problem(await shared_client.request(method, path), 404, "not_found")
    account = (await shared_client.get("/api/me")).json()
    assert (account["user"], account["by"]) == ("local", "none")
