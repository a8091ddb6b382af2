"""What credentials may do: scopes, spaces, owners, and the limits and origins of public keys."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from datetime import UTC, datetime
from typing import Any

import httpx
import jwt
import pytest
from pydantic import SecretStr

from api.app import create_app
from graph.context import Context
from graph.entrypoint import Citewell, open_citewell
from graph.errors import InvalidRequest
from graph.evidence import Identity
from graph.ports import SearchQuery
from tests.api.conftest import HANDBOOK, TRAVEL, new_session
from tests.api.serving import client_of
from tests.api.test_errors import assert_problem
from tests.issuer import claims
from tests.unit.placed_pdf import column, placed_pdf
from tools.auth.api_keys import ApiKeys, KeyTerms
from tools.auth.identities import EVERYTHING, ORDINARY, Limits, Scope
from tools.sessions.run_request import RunRequest, request_from_json, request_to_json
from tools.settings import AuthSettings, Settings

SECRET = "not a word of it is known to anybody"
KEYS = AuthSettings(mode="keys")
JWT = AuthSettings(mode="jwt", jwt_secret=SecretStr(SECRET))
OTHER = '{"id": null, "slug": "other"}'
PAGE = "https://docs.example.com"
ASKED = {"question": "How many days of annual leave are there?", "stream": False}


def bearer(key: str) -> dict[str, str]:
    return {"authorization": f"Bearer {key}"}


def token(**changes: Any) -> dict[str, str]:
    return bearer(jwt.encode(claims(**changes), SECRET, algorithm="HS256"))


def scoped(*scopes: Scope, **terms: Any) -> KeyTerms:
    return KeyTerms(frozenset(scopes), **terms)


@pytest.fixture
def keys(citewell: Citewell) -> ApiKeys:
    return ApiKeys(citewell.library.database, citewell.library.workspaces)


@pytest.fixture
async def keyed(settings: Settings, citewell: Citewell) -> AsyncIterator[httpx.AsyncClient]:
    app = create_app(settings.model_copy(update={"auth": KEYS}), citewell=citewell)
    async with client_of(app) as client:
        yield client


async def test_a_refusal_says_what_is_missing_before_a_body_is_read(keyed: httpx.AsyncClient, keys: ApiKeys) -> None:
    ask = bearer(await keys.create("default", "ann", terms=scoped("ask")))
    unread = {"content": b"{", "headers": ask | {"content-type": "application/json"}}
    refused = assert_problem(await keyed.post("/api/documents", **unread), 403, "not_permitted")
    assert "scope write; these credentials have ask" in refused["detail"]
    assert "--scope write" in refused["suggestion"]
    opened = await keyed.get(f"/api/documents/{HANDBOOK}/raw-text", headers=ask)
    assert "annual leave" in opened.text
    assert (await keyed.get(f"/api/documents/{HANDBOOK}/original", headers=ask)).status_code == 403
    openai = await keyed.get("/v1/models", headers=ask)
    assert openai.status_code == 200
    write = bearer(await keys.create("default", "ann", terms=scoped("write")))
    shaped = await keyed.post("/v1/chat/completions", json={}, headers=write)
    assert (shaped.status_code, shaped.json()["error"]["code"]) == (403, "not_permitted")


async def test_no_original_is_opened_for_who_may_only_ask(keyed: httpx.AsyncClient, keys: ApiKeys) -> None:
    both, ask = [bearer(await keys.create("default", "ann", terms=scoped(*named))) for named in (ORDINARY, ("ask",))]
    file = placed_pdf([column(72, 700, ["Lamps are lit at dusk."])])
    made = await keyed.post("/api/documents", files={"file": ("lamps.pdf", file)}, headers=both)
    place = f"/api/documents/{made.json()['document_id']}/segments/0/place"
    for _ in "again":
        told = (await keyed.get(place, headers=ask)).json()
        assert (told["page_idx"], told["boxes"]) == (0, [])
        assert len((await keyed.get(place, headers=both)).json()["boxes"]) == 1


async def test_tools_that_the_credentials_do_not_allow_are_neither_listed_nor_called(
    keyed: httpx.AsyncClient, keys: ApiKeys
) -> None:
    headers = bearer(await keys.create("default", "ann", terms=scoped("ask")))
    headers |= {"accept": "application/json, text/event-stream"}

    async def call(method: str, **params: Any) -> str:
        message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        return (await keyed.post("/mcp", json=message, headers=headers)).text

    listed = await call("tools/list")
    assert '"ask"' in listed
    assert '"read"' in listed
    assert '"verify"' not in listed
    refused = await call("tools/call", name="search", arguments={"query": "leave"})
    assert "not_permitted: " in refused
    assert "scope read; these credentials have ask" in refused
    assert "annual leave" not in refused
    assert "needs the scope read" in await call("resources/list")


@pytest.mark.parametrize(
    ("scopes", "statuses"),
    [
        (None, {"handbook": [200, 200, 201, 403], "plant": [200, 200, 201, 403]}),
        ("ask openid citewell:read", {"handbook": [200, 200, 403, 403], "plant": [200, 200, 403, 403]}),
        (["write", 7], {"handbook": [403, 403, 201, 403], "plant": [403, 403, 201, 403]}),
        (
            {"handbook": "ask read write admin", "plant": ["ask"]},
            {"handbook": [200, 200, 201, 200], "plant": [200, 403, 403, 403]},
        ),
        ({"handbook": "read"}, {"handbook": [403, 200, 403, 403], "plant": [403, 403, 403, 403]}),
        ("openid profile", {"handbook": [403, 403, 403, 403], "plant": [403, 403, 403, 403]}),
        (7, {"handbook": [403, 403, 403, 403], "plant": [403, 403, 403, 403]}),
    ],
)  # fmt: skip
async def test_a_token_says_its_scopes_for_all_its_workspaces_or_for_each(
    settings: Settings, citewell: Citewell, scopes: Any, statuses: dict[str, list[int]]
) -> None:
    headers = token(workspace=["handbook", "plant"], citewell_scopes=scopes)
    async with client_of(create_app(settings.model_copy(update={"auth": JWT}), citewell=citewell)) as client:
        for workspace, expected in statuses.items():
            chosen = headers | {"x-citewell-workspace": workspace}
            found = [
                (await client.get("/api/sessions", headers=chosen)).status_code,
                (await client.get("/api/documents", headers=chosen)).status_code,
                (await client.post("/api/documents", json={"text": "Mine."}, headers=chosen)).status_code,
                (await client.get("/api/audit", headers=chosen)).status_code,
            ]
            assert found == expected, workspace
        outside = await client.get("/api/documents", headers=headers | {"x-citewell-workspace": "default"})
        assert outside.status_code == 404
        # A token that may do nothing in a workspace does not make it either.
        stranger = token(workspace="never-made", citewell_scopes={"handbook": "ask"})
        assert (await client.get("/api/sessions", headers=stranger)).status_code == 403
    assert "never-made" not in await citewell.library.workspaces.names()


async def test_spaces_of_a_token_are_told_for_each_workspace(settings: Settings, citewell: Citewell) -> None:
    spaces = {"default": ["people"]}
    async with client_of(create_app(settings.model_copy(update={"auth": JWT}), citewell=citewell)) as client:
        listed = await client.get("/api/documents", headers=token(citewell_spaces=spaces))
        assert [each["document_id"] for each in listed.json()["documents"]] == [HANDBOOK]
        nothing = await client.get("/api/documents", headers=token(citewell_spaces={"plant": "shifts"}))
        assert nothing.json()["documents"] == []
        assert (await client.get("/api/documents", headers=token(citewell_spaces=[""]))).status_code == 401


async def test_a_key_of_a_space_finds_asks_reads_and_writes_there_alone(
    citewell: Citewell, keyed: httpx.AsyncClient, keys: ApiKeys
) -> None:
    both: tuple[Scope, ...] = ("ask", "read", "write", "admin")
    for named in ("s1", "people"):  # its id, its slug
        keyed.headers.update(bearer(await keys.create("default", named, terms=scoped(*both, spaces=(named,)))))
        listed = (await keyed.get("/api/documents")).json()["documents"]
        assert HANDBOOK in {each["document_id"] for each in listed}
        assert {each["space"]["slug"] for each in listed} == {"people"}
        for query in ("annual leave", "class of trains"):
            results = (await keyed.get("/api/search", params={"q": query, "min_score": 0})).json()["results"]
            assert TRAVEL not in {each["document_id"] for each in results}
        for path in ("", "/raw-text", "/original", "/segments/0/place"):
            assert (await keyed.get(f"/api/documents/{TRAVEL}{path}")).status_code == 404
        for change in (keyed.delete, lambda path: keyed.patch(path, json={"owner": None})):
            assert (await change(f"/api/documents/{TRAVEL}")).status_code == 404
        assert (await keyed.put(f"/api/documents/{TRAVEL}", json={"text": "No."})).status_code == 404
        session_id = await new_session(keyed)
        for fields in ({}, {"spaces": ["travel"]}, {"page_ids": [TRAVEL], "only_selected_pages": True}):
            asked = {"question": "Which class is booked for trains?", "min_score": 0, "stream": False, **fields}
            run = (await keyed.post(f"/api/sessions/{session_id}/runs", json=asked)).json()
            assert "Second class" not in str(run), fields
        asked = {"question": "Which documents do you have?", "stream": False}
        answer = (await keyed.post(f"/api/sessions/{session_id}/runs", json=asked)).text
        assert "Staff handbook" in answer
        assert "Travel policy" not in answer
        outside = await keyed.post("/api/documents", json={"text": "Out.", "space": {"id": None, "slug": "other"}})
        assert assert_problem(outside, 403, "not_permitted")["detail"].startswith("space:")
        inside = {"text": f"Written by {named}.", "space": {"id": "s1", "slug": "people"}}
        assert (await keyed.post("/api/documents", json=inside)).status_code == 201
        moved = await keyed.put(f"/api/documents/{HANDBOOK}", json={"text": "Gone.", "space": {"id": "x", "slug": "x"}})
        assert moved.status_code == 403
    assert (await citewell.library.documents.get(Identity(), HANDBOOK)).title == "Staff handbook"
    found = await citewell.library.searcher.search(SearchQuery("class of trains", Identity(spaces=("people",))))
    assert TRAVEL not in {hit.segment.document_id for hit in found.hits}


async def test_nobody_takes_a_document_or_gives_one_away(
    citewell: Citewell, keyed: httpx.AsyncClient, keys: ApiKeys
) -> None:
    amy, ann = bearer(await keys.create("default", "amy")), bearer(await keys.create("default", "ann"))
    admin = bearer(await keys.create("default", "root", terms=KeyTerms(EVERYTHING)))
    path = f"/api/documents/{HANDBOOK}"
    for owner in ("amy", "nobody"):
        taken = await keyed.put(path, json={"text": "Mine now.", "owner": owner}, headers=amy)
        assert assert_problem(taken, 403, "not_permitted")["detail"].startswith("owner:"), owner
        assert (await keyed.patch(path, json={"owner": owner}, headers=amy)).status_code == 403
    new = await keyed.post("/api/documents", json={"text": "For bob.", "owner": "bob"}, headers=amy)
    assert new.status_code == 403
    assert "annual leave" in (await keyed.get(f"{path}/raw-text", headers=ann)).text
    assert (await keyed.put(path, json={"text": "Leave is 26 days."}, headers=amy)).status_code == 200

    own = await keyed.post("/api/documents", json={"text": "My diary.", "owner": "amy"}, headers=amy)
    diary = f"/api/documents/{own.json()['document_id']}"
    for attempt in (
        keyed.get(diary, headers=ann),
        keyed.put(diary, json={"text": "Not yours."}, headers=ann),
        keyed.put(diary, json={"text": "Not yours.", "owner": "ann"}, headers=ann),
        keyed.patch(diary, json={"owner": None}, headers=ann),
        keyed.delete(diary, headers=ann),
    ):
        assert (await attempt).status_code == 404
    assert (await keyed.patch(diary, json={"owner": "ann"}, headers=amy)).status_code == 403
    assert (await keyed.patch(diary, json={"owner": "ann"}, headers=admin)).status_code in (200, 204)
    assert (await keyed.get(diary, headers=amy)).status_code == 404
    assert (await keyed.patch(diary, json={"owner": None}, headers=ann)).status_code in (200, 204)
    assert (await keyed.get(diary, headers=amy)).status_code == 200
    given = await keyed.post("/api/documents", json={"text": "For bob.", "owner": "bob"}, headers=admin)
    assert given.status_code == 201
    source = {"kind": "folder", "location": "/srv", "owner": "bob"}
    assert (await keyed.post("/api/sources", json=source, headers=amy)).status_code == 403


async def test_files_of_a_job_are_stored_with_the_rights_that_they_were_sent_with(
    keyed: httpx.AsyncClient, keys: ApiKeys
) -> None:
    headers = bearer(await keys.create("default", "amy", terms=scoped("write", spaces=("people",))))
    for data, refused in (({"owner": "bob"}, "not_permitted"), ({"space": OTHER}, "not_permitted")):
        files = {"file": ("note.md", b"A note.")}
        job = (await keyed.post("/api/jobs", files=files, data=data, headers=headers)).json()
        path = f"/api/jobs/{job['job_id']}"
        await keyed.get(f"{path}/events", headers=headers)  # up to its end
        told = (await keyed.get(path, headers=headers)).json()
        assert told["files"][0]["problem"]["code"] == refused


async def test_a_key_of_a_page_is_good_from_its_origin_alone_and_browsers_are_told(
    keyed: httpx.AsyncClient, keys: ApiKeys
) -> None:
    key = await keys.create("default", "visitors", terms=scoped("ask", origins=(f"{PAGE.upper()}:443/",)))
    preflight = {"access-control-request-method": "POST", "access-control-request-headers": "authorization"}
    allowed = await keyed.options("/api/sessions", headers={"origin": PAGE, **preflight})
    assert (allowed.status_code, allowed.headers["access-control-allow-origin"]) == (200, PAGE)
    assert "access-control-allow-credentials" not in allowed.headers
    made = await keyed.post("/api/sessions", json={}, headers=bearer(key) | {"origin": PAGE})
    assert (made.status_code, made.headers["access-control-allow-origin"]) == (201, PAGE)
    for origin in ({"origin": "https://evil.example"}, {"origin": "null"}, {}, {"origin": "http://docs.example.com"}):
        refused = await keyed.post("/api/sessions", json={}, headers=bearer(key) | origin)
        assert_problem(refused, 403, "not_permitted")
        assert "access-control-allow-origin" not in refused.headers
    evil = await keyed.options("/api/sessions", headers={"origin": "https://evil.example", **preflight})
    assert evil.status_code == 400
    path = f"/api/sessions/{made.json()['session_id']}"
    same = bearer(key) | {"host": "docs.example.com", "sec-fetch-site": "same-origin"}
    assert (await keyed.get(path, headers=same)).status_code == 200
    assert (await keyed.get("/api/sessions", headers=bearer(key) | {"origin": PAGE})).status_code == 403


async def test_preflights_that_come_at_once_all_wait_for_the_origins_of_keys(
    keyed: httpx.AsyncClient, keys: ApiKeys
) -> None:
    await keys.create("default", "visitors", terms=scoped("ask", origins=(PAGE,)))
    preflight = {"origin": PAGE, "access-control-request-method": "POST"}
    replies = await asyncio.gather(*(keyed.options("/api/sessions", headers=preflight) for _ in range(8)))
    assert [reply.status_code for reply in replies] == [200] * 8


async def test_origins_that_could_not_be_read_are_read_for_the_next_preflight(settings: Settings) -> None:
    configured = settings.model_copy(update={"auth": KEYS})
    preflight = {"origin": PAGE, "access-control-request-method": "POST"}
    async with open_citewell(configured) as opened, client_of(create_app(configured, citewell=opened)) as client:
        database = opened.library.database
        await ApiKeys(database, opened.library.workspaces).create(
            "default", "visitors", terms=scoped("ask", origins=(PAGE,))
        )
        async with AsyncExitStack() as held:
            for _ in range(configured.pool_size):
                await held.enter_async_context(database.connection())
            database.pool.timeout = 0.2
            assert (await client.options("/api/sessions", headers=preflight)).status_code == 400
        database.pool.timeout = settings.pool_timeout_seconds
        assert (await client.options("/api/sessions", headers=preflight)).status_code == 200


async def test_requests_over_a_limit_are_told_when_to_come_again(
    settings: Settings, citewell: Citewell, keyed: httpx.AsyncClient, keys: ApiKeys
) -> None:
    limits = Limits(a_minute_by_address=3)
    headers = bearer(await keys.create("default", "visitors", terms=scoped("ask", is_public=True, limits=limits)))
    # Another process over the same database shares the counts.
    app = create_app(settings.model_copy(update={"auth": KEYS}), citewell=citewell)
    async with client_of(app) as another:
        for client in (keyed, another, keyed):
            assert (await client.post("/api/sessions", json={}, headers=headers)).status_code == 201
        for client in (keyed, another):
            refused = await client.post("/api/sessions", json={}, headers=headers)
            assert assert_problem(refused, 429, "rate_limited")["retryable"]
            assert 1 <= int(refused.headers["retry-after"]) <= 20
    ann = bearer(await keys.create("default", "ann"))
    assert (await keyed.post("/api/sessions", json={}, headers=ann)).status_code == 201


@pytest.mark.usefixtures("same_day")
async def test_a_days_questions_are_counted_where_a_run_begins(
    citewell: Citewell, keyed: httpx.AsyncClient, keys: ApiKeys
) -> None:
    limits = Limits(runs_a_day=2)
    terms = scoped("ask", is_public=True, limits=limits)
    keyed.headers.update(bearer(await keys.create("default", "visitors", terms=terms)))
    session_id = await new_session(keyed)
    unknown = {**ASKED, "model": "no-such-model"}  # what does not begin does not count
    assert (await keyed.post(f"/api/sessions/{session_id}/runs", json=unknown)).status_code == 400
    assert (await keyed.post(f"/api/sessions/{session_id}/runs", json=ASKED)).status_code == 200
    chat = {"messages": [{"role": "user", "content": ASKED["question"]}]}
    assert (await keyed.post("/v1/chat/completions", json=chat)).status_code == 200
    left = 86_400 - (datetime.now(UTC) - datetime.now(UTC).replace(hour=0, minute=0, second=0)).total_seconds()
    refused = await keyed.post("/v1/chat/completions", json=chat)
    assert refused.status_code == 429
    assert abs(int(refused.headers["retry-after"]) - left) < 120 or left < 120
    assert (await keyed.get(f"/api/sessions/{session_id}")).status_code == 200
    async with citewell.library.database.connection() as connection:
        await connection.execute(
            "UPDATE used_limits SET full_at = full_at - interval '1 day'"
        )  # as if it were tomorrow
    assert (await keyed.post("/v1/chat/completions", json=chat)).status_code == 200


@pytest.mark.parametrize(
    ("terms", "message"),
    [
        (scoped("ask", "write", origins=(PAGE,)), "may only ask"),
        (scoped("read", is_public=True), "may only ask"),
        (scoped(), "scope"),
        (scoped("ask", origins=("docs.example.com",)), "not an origin"),
        (scoped("ask", origins=("https://docs.example.com/path",)), "not an origin"),
        (scoped("ask", origins=("https://u@docs.example.com",)), "not an origin"),
        (scoped("ask", origins=("*",)), "not an origin"),
        (scoped("ask", spaces=()), "spaces"),
        (scoped("ask", spaces=("",)), "spaces"),
    ],
)
def test_terms_that_a_key_can_not_have_are_refused(terms: KeyTerms, message: str) -> None:
    with pytest.raises(InvalidRequest, match=message):
        terms.checked()


def test_a_run_that_another_process_goes_on_with_stays_in_the_spaces_of_its_asker() -> None:
    request = RunRequest("Why?", Context(user="ann", allowed_spaces=["people"]))
    assert request_from_json(request_to_json(request)).context.identity == Identity(user="ann", spaces=("people",))
