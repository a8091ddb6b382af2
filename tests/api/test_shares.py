"""A share shows others what they may read of a session, until it is over, revoked, or its owner gone."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any
from uuid import uuid4

import httpx
import jwt
import pytest
from lxml import html
from pydantic import SecretStr

from api.app import create_app
from api.browsers import LOGIN_COOKIE
from graph.entrypoint import Citewell
from graph.evidence import Identity
from tests.api.serving import client_of
from tests.api.test_errors import assert_problem
from tests.api.test_readers import KEY, token
from tests.issuer import LoginIssuer, by_login, claims
from tests.postgres.test_sessions import answer
from tools.auth.api_keys import ApiKeys, KeyTerms, key_id
from tools.auth.audit_log import AuditLog
from tools.auth.identities import Grant
from tools.auth.login_store import Logins
from tools.auth.oidc import Person
from tools.library.ingestion import NewDocument
from tools.sessions.shares import SHARES_PATH, Shares, expire_shares
from tools.settings import AuthSettings, Settings, ShareSettings

SAFE = "The safe of the office opens with the code 4711.\n\nThe spare key is with Ann.\n"
PLAN = "The summer party takes place on the roof of the office.\n\nBring a hat.\n"
ABOUT_SAFE = "What does the safe of the office open with?"
ABOUT_PARTY = "Where does the summer party take place?"
JWT = AuthSettings(mode="jwt", jwt_secret=SecretStr(KEY))
KEYED = AuthSettings(mode="keys")
HEADERS = {
    "x-robots-tag": "noindex, nofollow",
    "referrer-policy": "no-referrer",
    "cache-control": "private, no-store",
    "x-content-type-options": "nosniff",
}
Headers = dict[str, str]


@asynccontextmanager
async def serving(settings: Settings, citewell: Citewell, **changes: Any) -> AsyncIterator[httpx.AsyncClient]:
    """Serve a deployment with other settings, of whose people ann is in legal and has asked two questions."""
    changed = settings.model_copy(update={"auth": JWT, **changes})
    library = citewell.library
    object.__setattr__(library, "settings", changed)
    object.__setattr__(library, "shares", Shares(library.database, library.workspaces, changed))
    ann = Identity(user="ann", groups=("legal",))
    secret = NewDocument(text=SAFE, title="Safe", media_type="text/plain", readers=["group:legal"])
    await library.ingestor.ingest(ann, secret)
    await library.ingestor.ingest(ann, NewDocument(text=PLAN, title="Party", media_type="text/plain"))
    async with client_of(create_app(changed, citewell=citewell)) as client:
        yield client


@pytest.fixture
async def closed(settings: Settings, citewell: Citewell) -> AsyncIterator[httpx.AsyncClient]:
    """A deployment that shares within workspaces alone."""
    async with serving(settings, citewell) as client:
        yield client


@pytest.fixture
async def public(settings: Settings, citewell: Citewell) -> AsyncIterator[httpx.AsyncClient]:
    """A deployment whose shares may be for anybody."""
    async with serving(settings, citewell, shares=ShareSettings(public=True)) as client:
        yield client


def elsewhere(user: str, *groups: str) -> Headers:
    """The token of somebody of another workspace."""
    named = claims(sub=user, workspace="elsewhere", groups=list(groups))
    return {"authorization": f"Bearer {jwt.encode(named, KEY, algorithm='HS256')}"}


async def asked(client: httpx.AsyncClient, headers: Headers, *questions: str) -> tuple[str, list[str]]:
    """Ask in a session; return its id and those of its answers."""
    session = (await client.post("/api/sessions", json={"title": "Office"}, headers=headers)).json()["session_id"]
    answers = []
    for question in questions or (ABOUT_SAFE, ABOUT_PARTY):
        body = {"question": question, "min_score": 0, "stream": False}
        ended = await client.post(f"/api/sessions/{session}/runs", json=body, headers=headers)
        answers.append(ended.json()["message_id"])
    return session, answers


async def shared(client: httpx.AsyncClient, headers: Headers, session: str, **body: Any) -> dict[str, Any]:
    made = await client.post(f"/api/sessions/{session}/shares", json=body, headers=headers)
    assert made.status_code == 201, made.text
    share: dict[str, Any] = made.json()
    return share


async def opened(client: httpx.AsyncClient, url: str, headers: Headers | None = None) -> str:
    """Open a share, and return what its page says."""
    response = await client.get(url, headers=headers or {})
    assert response.status_code == 200, response.text
    assert response.headers["content-type"] == "text/html; charset=utf-8"
    assert {name: response.headers[name] for name in HEADERS} == HEADERS
    policy = response.headers["content-security-policy"]
    assert policy.startswith("default-src 'none'; style-src 'sha256-")
    assert "frame-ancestors 'none'" in policy
    page = html.document_fromstring(response.content)
    assert not page.xpath("//script | //img | //form | //iframe | //@onclick")
    return " ".join(page.text_content().split())


async def assert_shut(client: httpx.AsyncClient, url: str, headers: Headers | None = None) -> None:
    response = await client.get(url, headers=headers or {})
    assert response.status_code == 404
    assert "does not open" in response.text
    assert {name: response.headers[name] for name in HEADERS} == HEADERS


async def test_each_opener_sees_what_they_may_read(closed: httpx.AsyncClient) -> None:
    ann = token("ann", "legal")
    session, answers = await asked(closed, ann)
    share = await shared(closed, ann, session)
    assert share["url"].startswith(f"{closed.base_url}{SHARES_PATH}")
    whole = await opened(closed, share["url"], token("cid", "legal"))
    assert "4711" in whole
    assert "roof of the office" in whole
    assert "left out" not in whole.replace("is left out", "")
    part = await opened(closed, share["url"], token("bob"))
    assert "4711" not in part
    assert "spare key" not in part
    assert "Safe" not in part.split("Quotes")[-1]
    assert ABOUT_SAFE in part
    assert "roof of the office" in part
    assert "Parts are left out" in part
    assert "Milliseconds" not in whole, "what a run took is its asker's business"
    one = await shared(closed, ann, session, message_id=answers[1])
    only = await opened(closed, one["url"], token("bob"))
    assert ABOUT_PARTY in only
    assert ABOUT_SAFE not in only
    assert "Parts are left out" not in only
    # Somebody who left the group since sees no more than who never was in it.
    assert "4711" not in await opened(closed, share["url"], token("cid", "sales"))


async def test_what_is_asked_later_is_not_part_of_a_share_and_an_operator_ends_those_of_a_user(
    citewell: Citewell, closed: httpx.AsyncClient
) -> None:
    ann = token("ann", "legal")
    session, _ = await asked(closed, ann, ABOUT_PARTY)
    share = await shared(closed, ann, session)
    body = {"question": ABOUT_SAFE, "min_score": 0, "stream": False}
    assert (await closed.post(f"/api/sessions/{session}/runs", json=body, headers=ann)).status_code == 200
    assert ABOUT_SAFE not in await opened(closed, share["url"], token("cid", "legal"))
    shares = citewell.library.shares
    assert [await shares.revoke_all("default", user) for user in ("bob", "ann", None)] == [0, 1, 0]
    await assert_shut(closed, share["url"], token("cid", "legal"))


async def test_nobody_else_opens_it(closed: httpx.AsyncClient, citewell: Citewell) -> None:
    await citewell.library.workspaces.create("elsewhere")
    ann = token("ann", "legal")
    session, _ = await asked(closed, ann)
    share = await shared(closed, ann, session)
    url = share["url"]
    await assert_shut(closed, url, elsewhere("ann", "legal"))
    await assert_shut(closed, url, token("bob", citewell_scopes="write"))
    await assert_shut(closed, f"{url[:-1]}{'A' if url[-1] != 'A' else 'B'}")
    for wrong in ("x", "x" * 999, "%00", "A" * 43):
        await assert_shut(closed, f"{SHARES_PATH}{wrong}")
    unknown = await closed.get(url)
    assert (unknown.status_code, "Who opens this?" in unknown.text) == (401, True)
    assert "form-action 'self'" in unknown.headers["content-security-policy"]
    bad = await closed.get(url, headers={"authorization": "Bearer nonsense"})
    assert bad.status_code == 401
    assert ABOUT_SAFE not in bad.text
    form = await closed.post(url, data={"key": token("bob")["authorization"].partition(" ")[2]})
    assert form.status_code == 200
    assert "roof of the office" in form.text
    assert "4711" not in form.text
    for given in ({"key": "nonsense"}, {"key": "ß\n"}, {}):
        refused = await closed.post(url, data=given)
        assert refused.status_code == 401
        assert "not valid" in refused.text


async def test_it_ends_by_time_by_its_owner_and_with_its_session(closed: httpx.AsyncClient, citewell: Citewell) -> None:
    ann, bob = token("ann", "legal"), token("bob")
    session, _ = await asked(closed, ann)
    path = f"/api/sessions/{session}/shares"
    revoked, over, last = [await shared(closed, ann, session, expires_in=3600) for _ in range(3)]
    listed = (await closed.get(path, headers=ann)).json()
    assert [each["share_id"] for each in listed["shares"]] == [each["share_id"] for each in (revoked, over, last)]
    assert all("url" not in each for each in listed["shares"])
    assert (listed["audiences"], listed["longest_seconds"]) == (["workspace"], 30 * 86_400)
    for method, address in (("GET", path), ("POST", path), ("DELETE", f"{path}/{revoked['share_id']}")):
        stranger = await closed.request(method, address, headers=bob, json={} if method == "POST" else None)
        assert_problem(stranger, 404, "not_found")
    assert (await closed.delete(f"{path}/{revoked['share_id']}", headers=ann)).status_code == 204
    assert_problem(await closed.delete(f"{path}/{revoked['share_id']}", headers=ann), 404, "not_found")
    await assert_shut(closed, revoked["url"], bob)
    async with citewell.library.database.connection() as connection:
        ended = "UPDATE shares SET expires_at = now() - interval '1 second' WHERE share_id = %s"
        await connection.execute(ended, [over["share_id"]])
    await assert_shut(closed, over["url"], bob)
    await expire_shares(citewell.library.database)
    async with citewell.library.database.connection() as connection:
        [left] = await (await connection.execute("SELECT share_id::text FROM shares")).fetchall()
    assert left == (last["share_id"],)
    await opened(closed, last["url"], bob)
    assert (await closed.delete(f"/api/sessions/{session}", headers=ann)).status_code == 204
    await assert_shut(closed, last["url"], bob)


async def test_anybody_sees_what_everyone_may_read_where_that_is_allowed(
    settings: Settings, citewell: Citewell, public: httpx.AsyncClient
) -> None:
    ann = token("ann", "legal")
    session, _ = await asked(public, ann)
    within = await shared(public, ann, session)
    assert (await public.get(within["url"])).status_code == 401
    share = await shared(public, ann, session, audience="link")
    for headers in ({}, elsewhere("bob"), {"authorization": "Bearer nonsense"}):
        seen = await opened(public, share["url"], headers)
        assert "roof of the office" in seen
        assert "4711" not in seen
        assert "Parts are left out" in seen
    page = html.document_fromstring((await public.get(share["url"])).content)
    assert not [each for each in page.xpath("//a/@href") if not each.startswith("#")], "nobody has links into it"
    assert "4711" in await opened(public, share["url"], token("cid", "legal"))
    # Where public sharing is switched off, links for anybody are for the workspace.
    off = settings.model_copy(update={"auth": JWT})
    object.__setattr__(citewell.library, "shares", Shares(citewell.library.database, citewell.library.workspaces, off))
    async with client_of(create_app(off, citewell=citewell)) as client:
        assert (await client.get(httpx.URL(share["url"]).path)).status_code == 401
        refused = await client.post(f"/api/sessions/{session}/shares", json={"audience": "link"}, headers=ann)
        assert_problem(refused, 403, "not_permitted")


async def test_what_a_run_brought_for_its_asker_alone_stays_the_askers(public: httpx.AsyncClient) -> None:
    ann = token("ann", "legal")
    session = (await public.post("/api/sessions", json={}, headers=ann)).json()["session_id"]
    body = {
        "question": "What is the wifi password of the guest network?",
        "selected_text": "The wifi password of the guest network is bluebird.",
        "min_score": 0,
        "stream": False,
    }
    ended = await public.post(f"/api/sessions/{session}/runs", json=body, headers=ann)
    assert "bluebird" in ended.json()["message"]["answer"]
    share = await shared(public, ann, session, audience="link")
    for headers in ({}, token("cid", "legal")):
        assert "bluebird" not in await opened(public, share["url"], headers)
    assert "bluebird" in (await public.get(f"/api/sessions/{session}/export?format=md", headers=ann)).text


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ({"expires_in": 5}, "invalid_request"),
        ({"expires_in": 31 * 86_400}, "invalid_request"),
        ({"expires_in": "soon"}, "invalid_request"),
        ({"audience": "world"}, "invalid_request"),
        ({"audience": "link"}, "not_permitted"),
        ({"message_id": str(uuid4())}, "not_found"),
        ({"for": "ever"}, "invalid_request"),
    ],
)
async def test_a_share_that_can_not_be_made_says_why(
    closed: httpx.AsyncClient, body: dict[str, Any], code: str
) -> None:
    ann = token("ann", "legal")
    session, _ = await asked(closed, ann, ABOUT_PARTY)
    made = await closed.post(f"/api/sessions/{session}/shares", json=body, headers=ann)
    assert_problem(made, {"invalid_request": 422, "not_permitted": 403, "not_found": 404}[code], code)
    empty = (await closed.post("/api/sessions", json={}, headers=ann)).json()["session_id"]
    assert_problem(await closed.post(f"/api/sessions/{empty}/shares", json={}, headers=ann), 422, "invalid_request")


async def test_the_shares_of_who_left_end_and_a_public_key_shares_nothing(
    settings: Settings, citewell: Citewell
) -> None:
    keys = ApiKeys(citewell.library.database, citewell.library.workspaces)
    ann, bob = await keys.create("default", "ann"), await keys.create("default", "bob")
    visitor = await keys.create("default", "visitors", terms=KeyTerms(frozenset({"ask"}), is_public=True))
    async with serving(settings, citewell, auth=KEYED) as client:
        by_ann, by_visitor = ({"authorization": f"Bearer {key}"} for key in (ann, visitor))
        session, _ = await asked(client, by_ann, ABOUT_PARTY)
        share = await shared(client, by_ann, session)
        await opened(client, share["url"], {"x-api-key": bob})
        await assert_shut(client, share["url"], by_visitor)
        theirs, _ = await asked(client, by_visitor, ABOUT_PARTY)
        path = f"/api/sessions/{theirs}/shares"
        assert_problem(await client.post(path, json={}, headers=by_visitor), 403, "not_permitted")
        assert_problem(await client.get(path, headers=by_visitor), 403, "not_permitted")
        await keys.revoke(key_id(bob))
        assert (await client.get(share["url"], headers={"x-api-key": bob})).status_code == 401
        carol = {"x-api-key": await keys.create("default", "carol")}
        await opened(client, share["url"], carol)
        await keys.revoke(key_id(ann))
        await assert_shut(client, share["url"], carol)


async def test_who_is_logged_in_follows_a_link_from_elsewhere(settings: Settings, citewell: Citewell) -> None:
    configured = by_login(settings, LoginIssuer(url="https://id.example"))
    grant = Grant(Identity("default", "bob"), ("default",), may_create=True)
    login = await Logins(citewell.library.database, configured.oidc).create(Person(grant, "Bob", "token"))
    session_of = Identity()
    made = await citewell.library.sessions.create(session_of, title="Office")
    object.__setattr__(
        citewell.library, "shares", Shares(citewell.library.database, citewell.library.workspaces, configured)
    )
    await answer(citewell.library.database, made.session_id, "Because.")
    _, secret = await citewell.library.shares.create(session_of, made.session_id, expires_in=3600, audience="workspace")
    link = {"sec-fetch-mode": "navigate", "sec-fetch-dest": "document", "sec-fetch-site": "cross-site"}
    async with client_of(create_app(configured, citewell=citewell)) as client:
        path = f"{SHARES_PATH}{secret}"
        asked_who = await client.get(path, headers=link)
        assert asked_who.status_code == 401
        [href] = html.document_fromstring(asked_who.content).xpath("//a/@href")
        assert href == f"/login?next=%2Fshares%2F{secret}"
        cookie = {"cookie": f"{LOGIN_COOKIE}={login}"}
        assert "Because." in await opened(client, path, {**link, **cookie})
        framed = await client.get(path, headers={**link, **cookie, "sec-fetch-dest": "iframe"})
        assert framed.status_code == 401


async def test_openings_are_limited_by_address_audited_and_never_logged_by_their_token(
    settings: Settings, citewell: Citewell, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    caplog.set_level("INFO", "citewell.access")
    monkeypatch.setattr("api.routes.share_routes.A_MINUTE_BY_ADDRESS", 3)
    async with serving(settings, citewell, shares=ShareSettings(public=True)) as client:
        ann = token("ann", "legal")
        session, _ = await asked(client, ann, ABOUT_PARTY)
        share = await shared(client, ann, session, audience="link")
        await opened(client, share["url"])
        await opened(client, share["url"], token("bob"))
        await assert_shut(client, f"{SHARES_PATH}{'A' * 43}")
        limited = await client.get(share["url"])
        assert_problem(limited, 429, "rate_limited")
        assert int(limited.headers["retry-after"]) > 0
    found = (await AuditLog(citewell.library.database).list(limit=200)).entries
    openings = [each for each in found if each.request == "GET /shares/{token}"]
    told = {(each.user, each.workspace, each.target, each.status) for each in openings}
    assert told == {
        ("", "default", share["share_id"], 200),
        ("bob", "default", share["share_id"], 200),
        (None, None, None, 429),
    }
    assert share["url"].rpartition("/")[2] not in f"{caplog.text} {found}"
    assert "/shares/{token}" in caplog.text
