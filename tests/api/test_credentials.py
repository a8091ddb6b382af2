"""Every route, tool and stream by every kind of credential: nobody is told what their credentials don't allow."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from pathlib import Path
from uuid import uuid4

import httpx
import pytest

from api.app import create_app
from api.dependencies import UNDECLARED, Needs
from api.mcp.server import TOOLS
from graph.entrypoint import Citewell
from graph.evidence import Identity
from tests.api.conftest import new_session
from tests.api.serving import client_of
from tests.api.test_strangers import (
    DESCRIBING,
    DESTRUCTIVE,
    DIARY,
    DIARY_FILE,
    FOUND,
    SECRET,
    TITLE,
    UNTOLD,
    attempt_on,
    owned_by,
)
from tests.api.trespasses import ATTEMPTS, Attempt
from tools.auth.api_keys import ApiKeys, KeyTerms, key_id
from tools.auth.identities import EVERYTHING, Scope
from tools.library.ingestion import NewDocument
from tools.settings import AuthSettings, Settings

KEYS = {"auth": AuthSettings(mode="keys")}
SPACE = "diaries"
SPACED = "Yolanda"  # in a document of a space that another space's reader must not see
PUBLIC = {200, 303, 400, 404}  # no credentials have a part in it
ORIGIN = "https://docs.example.com"
OPEN = {"/healthz", "/readyz", "/", "/docs", "/embed.js", "/page/{version}/{path:path}"}
OPEN |= {"/login", "/login/callback", "/api/login", "/shares/{token}"}
LINKED = "/links/{token}"  # opens by what it holds, whoever asks: see test_links


@pytest.fixture
def settings(settings: Settings, tmp_path: Path) -> Settings:
    """Settings of a deployment with keys that may read one folder, in which the owner has a secret too."""
    folder = tmp_path / "diary"
    folder.mkdir()
    (folder / "zebra.md").write_text(DIARY, encoding="utf-8")
    return settings.model_copy(update={"source_roots": [str(folder)], **KEYS})


@dataclass(frozen=True)
class Kind:
    """A kind of credentials: what it sends, what it may do, and the ids that it tries."""

    name: str
    headers: dict[str, str]
    ids: dict[str, str]
    scopes: frozenset[Scope] | None = None  # None where nobody is identified
    in_another_workspace: bool = False
    in_another_space: bool = False


@dataclass(frozen=True)
class Deployment:
    """A served deployment with keys, what its owner has in it, and who else tries."""

    client: httpx.AsyncClient
    keys: ApiKeys
    owner: dict[str, str]
    ids: dict[str, str]


def bearer(key: str) -> dict[str, str]:
    return {"authorization": f"Bearer {key}"}


@pytest.fixture
async def deployment(settings: Settings, citewell: Citewell) -> AsyncIterator[Deployment]:
    keys = ApiKeys(citewell.library.database, citewell.library.workspaces)
    await citewell.library.workspaces.ensure("elsewhere")
    owner = bearer(await keys.create("default", "local", terms=KeyTerms(EVERYTHING)))
    async with client_of(create_app(settings, citewell=citewell)) as client:
        client.headers.update(owner)
        document_id = str(uuid4())
        diary = NewDocument(document_id=document_id, data=DIARY_FILE, name="diary.md", title=TITLE, owner="local")
        await citewell.library.ingestor.ingest(Identity(), replace(diary, data=DIARY_FILE + b"\n\nOlder."))
        await citewell.library.ingestor.ingest(Identity(), diary)
        folder = settings.source_roots[0]
        ids = await owned_by(client, citewell, Identity(), document_id, folder, owner="local")
        del client.headers["authorization"]
        yield Deployment(client, keys, owner, ids)


async def kinds(at: Deployment) -> AsyncIterator[Kind]:
    """Give every kind of credentials that are not the owner's."""

    async def kind(name: str, terms: KeyTerms, workspace: str = "default", user: str = "") -> Kind:
        headers = bearer(await at.keys.create(workspace, user or f"a stranger: {name}", terms=terms))
        ids = dict(at.ids)
        if "ask" in terms.scopes:
            at.client.headers.update(headers)
            ids["own_session_id"] = await new_session(at.client)
            del at.client.headers["authorization"]
        another = workspace != "default"
        return Kind(name, headers, ids, terms.scopes, another, terms.spaces is not None)

    yield Kind("nobody", {}, at.ids)
    former = await at.keys.create("default", "local", terms=KeyTerms(EVERYTHING))
    await at.keys.revoke(key_id(former))
    yield Kind("former member", bearer(former), at.ids)
    yield await kind("ask only", KeyTerms(frozenset({"ask"})))
    yield await kind("read only", KeyTerms(frozenset({"read"})))
    yield await kind("write only", KeyTerms(frozenset({"write"})))
    yield await kind("another user", KeyTerms())
    yield await kind("another space", KeyTerms(spaces=("elsewhere",)))
    yield await kind("administers another space", KeyTerms(EVERYTHING, spaces=("elsewhere",)))
    yield await kind("another workspace", KeyTerms(EVERYTHING), "elsewhere", "local")


def expected(kind: Kind, attempt: Attempt, needed: tuple[Scope, ...]) -> set[int]:
    """Give the statuses that a kind of credentials may see."""
    if not needed:
        return PUBLIC
    if kind.scopes is None:
        return {401}
    if not kind.scopes.intersection(needed):
        return {403}
    if attempt.kind == "gone":
        made = kind.in_another_workspace and attempt.path == "/api/documents/{document_id}"
        return {{"PUT": 201, "DELETE": 204}.get(attempt.method, 404)} if made else {404}
    of_all = attempt.path == "/metrics" or (attempt.method == "POST" and needed in (("write",), ("admin",)))
    refused = {403} if kind.in_another_space and of_all else set()
    return FOUND | refused | ({404} if "{" in attempt.path else set())


@pytest.mark.timeout(600)  # some eight hundred requests
async def test_no_route_tool_or_stream_tells_any_kind_of_credentials_what_is_not_theirs(
    citewell: Citewell, deployment: Deployment
) -> None:
    await citewell.library.ingestor.ingest(
        Identity(),
        NewDocument(
            data=f"The zebra in my diary is the twin of {SPACED}.".encode(),
            name="twin.md",
            title=f"Twin {SPACED}",
            space={"id": None, "slug": SPACE},
        ),
    )
    table = create_app(Settings(_env_file=None)).state.route_table
    attempts = sorted(ATTEMPTS, key=lambda attempt: DESTRUCTIVE.get(attempt.method, 0))
    shared_seen: set[str] = set()
    async for kind in kinds(deployment):
        hidden = [SECRET, TITLE, *(deployment.ids[name] for name in (*UNTOLD, "key_id"))]
        if kind.in_another_space or kind.in_another_workspace or kind.scopes is None:
            hidden.append(SPACED)
        deployment.client.headers.update(kind.headers)
        for attempt in attempts:
            path, _ = attempt.filled(kind.ids)
            route = table.find(attempt.method, path)
            assert route is not None, attempt.name
            response = await attempt_on(deployment.client, attempt, kind.ids)
            statuses = expected(kind, attempt, route.needs.scopes)
            assert response.status_code in statuses, (kind.name, attempt.name, response.status_code, response.text)
            if response.status_code == 403:
                assert "not_permitted" in response.text
            sent = str(attempt.filled(kind.ids))
            if attempt.path == "/api/audit":  # it names the ids that this administrator has tried so far
                sent = " ".join(deployment.ids.values())
            for secret in hidden:
                assert secret in sent or secret not in response.text, (kind.name, attempt.name, secret)
            if SPACED in response.text:
                shared_seen.add(kind.name)
        if kind.headers:
            del deployment.client.headers["authorization"]
    # The same requests do find what is shared, so that silence above means something.
    assert {"another user", "ask only", "read only"} <= shared_seen
    deployment.client.headers.update(deployment.owner)
    for attempt in attempts:
        response = await attempt_on(deployment.client, attempt, deployment.ids)
        assert response.status_code in FOUND, (attempt.name, response.text)


def test_every_route_says_what_it_needs_and_every_tool_is_tried(settings: Settings) -> None:
    routes = create_app(settings).state.route_table.routes
    undeclared = [f"{route.methods} {route.named.template}" for route in routes if route.named.needs == UNDECLARED]
    assert all(any(path in each for path in DESCRIBING) for each in undeclared), undeclared
    open_ones = {route.named.template for route in routes if not route.named.needs.scopes}
    assert {path for path in open_ones if not path.startswith(LINKED)} == OPEN
    called = {attempt.sent["json"]["params"].get("name") for attempt in ATTEMPTS if attempt.path == "/mcp"}
    assert called - {None} == set(TOOLS)


async def test_a_route_of_an_installed_dialect_that_says_nothing_needs_unrestricted_credentials(
    settings: Settings, citewell: Citewell
) -> None:
    app = create_app(settings, citewell=citewell)

    @app.get("/api/undeclared")
    async def undeclared() -> str:
        return "reached"

    app.state.route_table = type(app.state.route_table)(app.routes)
    keys = ApiKeys(citewell.library.database, citewell.library.workspaces)
    ordinary = await keys.create("default", "ann")
    async with client_of(app) as client:
        assert (await client.get("/api/undeclared", headers=bearer(ordinary))).status_code == 200
        for scope in ("ask", "read", "write", "admin"):
            narrow = await keys.create("default", "ann", terms=KeyTerms(frozenset({scope})))
            assert (await client.get("/api/undeclared", headers=bearer(narrow))).status_code == 403


def expected_of_visitors(needs: Needs) -> set[int]:
    if not needs.scopes:
        return PUBLIC
    if "ask" not in needs.scopes or needs.lists or needs.opens:
        return {403}
    # An id that a host made up, and that others could guess, opens nothing: 422, or OpenAI's 400.
    return FOUND | {404, 422, 400}


async def test_visitors_who_share_a_public_key_see_nothing_of_each_other(deployment: Deployment) -> None:
    client = deployment.client
    terms = KeyTerms(frozenset({"ask"}), origins=(ORIGIN,))
    public = bearer(await deployment.keys.create("default", "visitors", terms=terms)) | {"origin": ORIGIN}
    marker = "Wilhelmina"
    question = f"What is the notice period, asks {marker}?"
    client.headers.update(public)
    session_id = await new_session(client)
    asked = await client.post(f"/api/sessions/{session_id}/runs", json={"question": question, "stream": False})
    run = asked.json()
    chat_id, thread_id = str(uuid4()), str(uuid4())
    message = {"id": "u1", "role": "user", "parts": [{"type": "text", "text": question}]}
    assert (await client.post("/api/chat", json={"id": chat_id, "messages": [message]})).status_code == 200
    assert marker in (await client.get(f"/api/chat/{chat_id}")).text
    hidden = [marker, session_id, run["run_id"], run["message_id"], chat_id]

    # The id is the capability: whoever has it reads the session, and so does a second visit of the same person.
    assert marker in (await client.get(f"/api/sessions/{session_id}")).text
    guessed = deployment.ids | {"own_session_id": await new_session(client), "workspace_id": thread_id}
    table = create_app(Settings(_env_file=None)).state.route_table
    for attempt in ATTEMPTS:
        path, _ = attempt.filled(guessed)
        route = table.find(attempt.method, path)
        response = await attempt_on(client, attempt, guessed)
        statuses = expected_of_visitors(route.needs)
        assert response.status_code in statuses, (attempt.name, response.status_code, response.text)
        for secret in [*hidden, SECRET, TITLE]:
            assert secret not in response.text or secret in str(attempt.filled(guessed)), (attempt.name, secret)
    for guess in ("c1", "1", chat_id.upper()[:8], "00000000-0000-0000-0000-000000000000"):
        refused = await client.post("/api/chat", json={"id": guess, "messages": [message]})
        assert refused.status_code == 422, guess
        assert "random UUID" in refused.json()["detail"]


async def test_two_visitors_can_not_cancel_each_others_calls(deployment: Deployment) -> None:
    """Without a session, the ids of calls are small numbers that all clients share."""
    client = deployment.client
    public = bearer(
        await deployment.keys.create("default", "visitors", terms=KeyTerms(frozenset({"ask"}), is_public=True))
    )
    sent = {"accept": "application/json, text/event-stream", "mcp-protocol-version": "2025-06-18", **public}
    ask = {"name": "ask", "arguments": {"question": "What is the notice period?"}}
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": ask}
    cancel = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}}
    calling = asyncio.create_task(client.post("/mcp", json=call, headers=sent))
    while not calling.done():
        assert (await client.post("/mcp", json=cancel, headers=sent)).status_code == 202
    answer = (await calling).text
    assert "three months" in answer
    assert "cancelled" not in answer
