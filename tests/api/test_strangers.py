"""What belongs to another user or workspace is not there: an attempt on every route, with every id that it takes."""

import asyncio
import json
import re
from base64 import b64encode
from collections.abc import AsyncIterator, Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
import pytest

from api.app import create_app
from graph.entrypoint import Citewell, open_citewell
from graph.evidence import Identity
from tests.api.conftest import new_session, with_model
from tests.api.reading import parse_frames
from tests.api.serving import client_of
from tests.api.trespasses import ATTEMPTS, FRAMES, GRAPH_RUN, QUESTION, SHARED, THREAD, TRIED_APART, Attempt
from tests.scripted_openai import Hold, Reply, Say, ScriptedOpenAI
from tests.unit.pictured_office import PNG
from tools.auth.api_keys import ApiKeys, key_id
from tools.library.ingestion import NewDocument
from tools.library.source_records import SourceOptions
from tools.settings import Settings

SECRET = "Zelda"
DIARY = "Dear diary, the zebra is called Zelda."
DIARY_FILE = f"{DIARY}\n\n![](data:image/png;base64,{b64encode(PNG).decode()})".encode()  # with a picture of it
TITLE = "Diary"
UNTOLD = (
    "job_id",
    "session_id",
    "docmost_id",
    "docs_chatbot_id",
    "run_id",
    "workspace_run_id",
    "message_id",
    "share_id",
    "note_id",
    "source_id",
    "response_id",
    "deleted_response_id",
)
DESTRUCTIVE = {"PUT": 1, "DELETE": 2}  # after all the others, in this order
FOUND = {200, 201, 202, 204}


@dataclass(frozen=True)
class Belongings:
    """What someone owns, and a stranger's client. ``stranger_ids`` are the same but for the session of one's own."""

    ids: dict[str, str]
    owner: httpx.AsyncClient
    stranger: httpx.AsyncClient
    stranger_ids: dict[str, str]
    in_another_workspace: bool

    def expects(self, attempt: Attempt) -> set[int]:
        """Give the statuses that the stranger may see."""
        if attempt.kind == "gone":
            administers = attempt.sent.get("json") == {"owner": "local"} or attempt.path == "/api/keys/{key_id}"
            if administers and not self.in_another_workspace:
                return {204}  # on a machine that asks nobody who they are, all administer
            # An id names a document within its workspace: elsewhere it makes one of the stranger's own.
            made = self.in_another_workspace and attempt.path == "/api/documents/{document_id}"
            return {{"PUT": 201, "DELETE": 204}.get(attempt.method, 404)} if made else {404}
        return FOUND | {404} if "{" in attempt.path else FOUND


STRANGERS = [("default", "stranger"), ("elsewhere", "local")]
NAMED = ["another user", "another workspace"]


@pytest.fixture
def settings(settings: Settings, tmp_path: Path) -> Settings:
    """Settings of a deployment that may read one folder, in which the owner has a secret too."""
    folder = tmp_path / "diary"
    folder.mkdir()
    (folder / "zebra.md").write_text(DIARY, encoding="utf-8")
    return settings.model_copy(update={"source_roots": [str(folder)]})


async def owned_by(
    client: httpx.AsyncClient,
    citewell: Citewell,
    who: Identity,
    document_id: str,
    folder: str,
    **of_source: Any,
) -> dict[str, str]:
    """Let the owner of a diary ask of it in every way; give the ids of all that this makes."""
    keys = ApiKeys(citewell.library.database, citewell.library.workspaces)
    source, _ = await citewell.library.sources.add(who, "folder", folder, SourceOptions(), **of_source)
    session_id, own_session_id = await new_session(client), await new_session(client)
    docmost = [(await client.post("/api/ai/sessions", json={})).json()["session"]["id"] for _ in range(2)]
    docs_chat = await client.post("/api/docs-chat/messages", json={"query": QUESTION, "threshold": 0})
    asked = {"question": QUESTION, "min_score": 0, "stream": False}
    run = (await client.post(f"/api/sessions/{session_id}/runs", json=asked)).json()
    assert SECRET in run["message"]["answer"]
    messages = "/api/workspaces/default/messages"
    frames = (await client.post(messages, json={"content": QUESTION}, headers=FRAMES)).text
    assert SECRET in frames
    graph_run = await client.post(f"/langgraph/threads/{THREAD}/runs/stream", json=GRAPH_RUN)
    broken = {"file": (f"{TITLE}.pdf", b"%PDF-broken")}
    job = (await client.post("/api/jobs", files=broken)).json()
    share = (await client.post(f"/api/sessions/{session_id}/shares", json={})).json()
    named = {"name": "Mine", "document_ids": [document_id]}
    collection = (await client.post("/api/collections", json=named)).json()
    pinned = {"session_id": session_id, "message_id": run["message_id"]}
    passage = {"document_id": document_id, "quote": SECRET}
    note = (await client.post("/api/notes", json={"entry": passage})).json()
    assert note["title"] == TITLE
    await client.post(f"/api/notes/{note['note_id']}/entries", json=pinned)
    entries = (await client.get(f"/api/notes/{note['note_id']}")).json()["entries"]
    responded = {"input": QUESTION, "citewell": {"min_score": 0}}
    responses = [(await client.post("/v1/responses", json=responded)).json()["id"] for _ in range(2)]
    return {
        "graph_run_id": graph_run.headers["content-location"].rpartition("/")[2],
        "key_id": key_id(await keys.create(who.workspace, who.user)),
        "response_id": responses[0],
        "deleted_response_id": responses[1],
        "answer_item_id": responses[0].replace("resp_", "msg_"),
        "session_id": session_id,
        "own_session_id": own_session_id,
        "docmost_id": docmost[0],
        "docmost_deleted_id": docmost[1],
        "docs_chatbot_id": docs_chat.json()["session_id"],
        "run_id": run["run_id"],
        "workspace_run_id": re.findall(r"^id: (.+):\d+$", frames, re.MULTILINE)[0],
        "message_id": run["message_id"],
        "document_id": document_id,
        "share_id": share["share_id"],
        "collection_id": collection["collection_id"],
        "note_id": note["note_id"],
        "entry_id": entries[0]["entry_id"],
        "quote": SECRET,
        "source_id": source.source_id,
        "folder": folder,
        "segment_index": "0",
        "picture_number": "0",
        "text_version": "1",
        "workspace_id": "default",
        "job_id": job["job_id"],
        "action": "pause",
        "shared": SHARED,
        "thread": THREAD,
        "model": "extractive",
        "version": "any",
        "page_file": "main.js",
    }


@pytest.fixture(params=STRANGERS, ids=NAMED)
async def belongings(
    request: pytest.FixtureRequest, settings: Settings, citewell: Citewell
) -> AsyncIterator[Belongings]:
    workspace, user = request.param
    await citewell.library.workspaces.ensure(workspace)
    document_id = str(uuid4())
    diary = NewDocument(document_id=document_id, data=DIARY_FILE, name="diary.md", title=TITLE, owner="local")
    await citewell.library.ingestor.ingest(Identity(), replace(diary, data=DIARY_FILE + b"\n\nOlder."))
    await citewell.library.ingestor.ingest(Identity(), diary)
    theirs = settings.model_copy(update={"workspace": workspace, "user": user})
    async with (
        client_of(create_app(settings, citewell=citewell)) as owner,
        client_of(create_app(theirs, citewell=citewell)) as stranger,
    ):
        ids = await owned_by(owner, citewell, Identity(), document_id, settings.source_roots[0], owner="local")
        strangers = ids | {"own_session_id": await new_session(stranger)}
        yield Belongings(ids, owner, stranger, strangers, workspace != "default")


async def attempt_on(client: httpx.AsyncClient, attempt: Attempt, ids: dict[str, str]) -> httpx.Response:
    path, sent = attempt.filled(ids)
    return await client.request(attempt.method, path, **sent)


def walk(routes: Iterable[Any]) -> Iterator[tuple[str, str]]:
    for route in routes:
        if hasattr(route, "original_router"):
            yield from walk(route.original_router.routes)
        else:
            yield from ((method, re.sub(r":path\}", "}", route.path)) for method in route.methods if method != "HEAD")


def shape(path: str) -> str:
    return re.sub(r"\{[^}]*\}", "{}", path)


DESCRIBING = {"/openapi.json", "/docs"}
# They open by what they hold: see test_links and test_shares.
LINKED = ("/links/{token}", "/shares/{token}")
LOGGING_IN = {"/login", "/login/callback", "/logout"}  # there is none here; tests of logins try them


def test_every_route_is_attempted(settings: Settings) -> None:
    served = {
        (method, shape(path))
        for method, path in walk(create_app(settings).routes)
        if path not in {*DESCRIBING, *LOGGING_IN} and not path.startswith(LINKED)
    }
    assert served - TRIED_APART == {(attempt.method, shape(attempt.path)) for attempt in ATTEMPTS}


async def test_a_stranger_gets_nothing_of_the_owners_and_the_owner_keeps_it_all(belongings: Belongings) -> None:
    owner, stranger = belongings.owner, belongings.stranger
    secrets = (SECRET, TITLE, *(belongings.ids[name] for name in UNTOLD))
    if belongings.in_another_workspace:
        secrets += (belongings.ids["key_id"],)
    attempts = sorted(ATTEMPTS, key=lambda attempt: DESTRUCTIVE.get(attempt.method, 0))
    for attempt in (each for each in ATTEMPTS if each.first):
        assert SECRET in (await attempt_on(owner, attempt, belongings.ids)).text, attempt.name
    for attempt in attempts:
        response = await attempt_on(stranger, attempt, belongings.stranger_ids)
        assert response.status_code in belongings.expects(attempt), (attempt.name, response.text)
        sent = str(attempt.filled(belongings.stranger_ids))
        for secret in secrets:
            assert secret in sent or secret not in response.text, (attempt.name, secret)
    for attempt in attempts:
        response = await attempt_on(owner, attempt, belongings.ids)
        assert response.status_code in FOUND, (attempt.name, response.text)
        if attempt.kind == "apart" and not attempt.silent:
            assert any(each in response.text for each in secrets), (attempt.name, response.text)


async def test_a_message_of_anothers_can_be_neither_edited_nor_answered_anew(belongings: Belongings) -> None:
    stranger, path = belongings.stranger, "/api/sessions/{own_session_id}".format(**belongings.stranger_ids)
    read = await belongings.owner.get(f"/api/sessions/{belongings.ids['session_id']}")
    for message in read.json()["messages"]:
        for fields in ({"edit": message["message_id"], "question": "Why?"}, {"regenerate": message["message_id"]}):
            assert (await stranger.post(f"{path}/runs", json=fields)).status_code == 404, fields
        branch = await stranger.get(path, params={"branch": message["message_id"]})
        assert branch.status_code == 404
    assert (await stranger.get(path)).json()["messages"] == []


@pytest.mark.parametrize(("workspace", "user"), STRANGERS, ids=NAMED)
async def test_a_run_in_progress_is_nobody_elses_to_follow_stop_or_get_in_the_way_of(
    settings: Settings, scripted_openai: ScriptedOpenAI, workspace: str, user: str
) -> None:
    hold = Hold()
    scripted_openai.script(Reply(steps=[Say("Zelda "), hold, Say("it is.")]), to="answer_directly")
    configured = with_model(settings, scripted_openai)
    theirs = configured.model_copy(update={"workspace": workspace, "user": user})
    talk = {"id": SHARED, "messages": [{"id": "u1", "role": "user", "parts": [{"type": "text", "text": "Hello"}]}]}
    async with (
        open_citewell(configured) as opened,
        client_of(create_app(configured, citewell=opened)) as owner,
        client_of(create_app(theirs, citewell=opened)) as stranger,
    ):
        await opened.library.workspaces.ensure(workspace)
        asking = asyncio.create_task(owner.post("/api/chat", json=talk))
        await asyncio.to_thread(hold.wait_reached)
        (run,) = (await owner.get("/api/runs")).json()["runs"]
        assert (await stranger.get("/api/runs")).json()["runs"] == []
        assert (await stranger.get(f"/api/chat/{SHARED}/stream")).status_code == 204
        assert (await stranger.delete(f"/api/chat/{SHARED}/stream")).status_code == 404
        assert (await stranger.get(f"/api/runs/{run['run_id']}/stream")).status_code == 404
        assert (await stranger.post(f"/api/runs/{run['run_id']}/cancel")).status_code == 404
        left = {"last-event-id": f"{run['run_id']}:1"}
        rejoined = await stranger.get("/api/rag/query-stream", params={"query": "Hello"}, headers=left)
        assert rejoined.status_code == 404
        own = await stranger.post("/api/chat", json=talk)
        assert '"finishReason":"stop"' in own.text
        assert "Zelda" not in own.text
        hold.release()
        told = (await asking).text
    frames = [json.loads(frame["data"]) for frame in parse_frames(told) if frame["data"] != "[DONE]"]
    assert "".join(frame["delta"] for frame in frames if frame["type"] == "text-delta") == "Zelda it is."
    assert '"finishReason":"stop"' in told


async def test_identity_is_never_what_a_request_says(belongings: Belongings) -> None:
    path = f"/api/sessions/{belongings.ids['session_id']}"
    claims = {
        "x-workspace": "default",
        "x-user": "local",
        "authorization": "Bearer local",
        "x-api-key": "local",
        "x-forwarded-user": "local",
        "cookie": "user=local; workspace=default",
    }
    params = {"workspace": "default", "user": "local", "userId": "local", "access_token": "local"}
    response = await belongings.stranger.get(path, params=params, headers=claims)
    assert response.status_code == 404
