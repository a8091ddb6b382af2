"""Somebody leaves a group: from the next request on, nothing tells what the group's documents say."""

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
import jwt
import pytest
from pydantic import SecretStr

from api.app import create_app
from graph.entrypoint import Citewell, open_citewell
from graph.evidence import Identity
from tests.api.conftest import with_model
from tests.api.serving import client_of
from tests.api.test_errors import assert_problem
from tests.api.test_strangers import DIARY, DIARY_FILE, QUESTION, SECRET, TITLE, attempt_on, owned_by
from tests.api.trespasses import ATTEMPTS
from tests.issuer import claims
from tests.scripted_openai import ScriptedOpenAI, answer, say
from tools.library.ingestion import NewDocument
from tools.settings import AuthSettings, Settings

KEY = "not a word of it is known to anybody"
LEGAL = ["group:legal"]
CHANGING = {"PUT": 1, "DELETE": 2}


def token(user: str, *groups: str, **changes: Any) -> dict[str, str]:
    named = claims(sub=user, workspace="default", groups=list(groups), **changes)
    return {"authorization": f"Bearer {jwt.encode(named, KEY, algorithm='HS256')}"}


@pytest.fixture
def settings(settings: Settings, tmp_path: Path) -> Settings:
    folder = tmp_path / "diary"
    folder.mkdir()
    (folder / "zebra.md").write_text(DIARY, encoding="utf-8")
    auth = AuthSettings(mode="jwt", jwt_secret=SecretStr(KEY))
    return settings.model_copy(update={"auth": auth, "source_roots": [str(folder)]})


@pytest.fixture
async def anyone(settings: Settings, citewell: Citewell) -> AsyncIterator[httpx.AsyncClient]:
    async with client_of(create_app(settings, citewell=citewell)) as client:
        yield client


async def test_who_left_a_group_is_told_nothing_more_of_its_documents(
    settings: Settings, citewell: Citewell, anyone: httpx.AsyncClient
) -> None:
    member = Identity(user="ann", groups=("legal",))
    document_id = str(uuid4())
    diary = NewDocument(document_id=document_id, data=DIARY_FILE, name="diary.md", title=TITLE, readers=LEGAL)
    await citewell.library.ingestor.ingest(member, diary)
    anyone.headers.update(token("ann", "legal"))
    ids = await owned_by(anyone, citewell, member, document_id, settings.source_roots[0], readers=LEGAL)
    for attempt in (each for each in ATTEMPTS if each.first):
        assert SECRET in (await attempt_on(anyone, attempt, ids)).text
    before = (await anyone.get(f"/api/sessions/{ids['session_id']}")).json()["messages"][1]
    assert SECRET in before["content"]
    assert before["citations"][0]["freshness"] == "fresh"

    anyone.headers.update(token("ann", "sales"))
    for attempt in sorted(ATTEMPTS, key=lambda attempt: CHANGING.get(attempt.method, 0)):
        if attempt.path.startswith("/api/sources") and attempt.method == "POST" and "sync" not in attempt.path:
            continue  # adds a source of one's own over the same folder
        response = await attempt_on(anyone, attempt, ids)
        assert response.status_code < 500, (attempt.name, response.text)
        sent = str(attempt.filled(ids))
        own_file = attempt.path.startswith("/api/jobs")  # that this user sent, and named so
        for secret in (SECRET,) if own_file else (SECRET, TITLE):
            assert secret in sent or secret not in response.text, (attempt.name, secret, response.text)
        if "{document_id}" in attempt.path or "{source_id}" in attempt.path:
            assert response.status_code == 404, (attempt.name, response.text)
    assert (await anyone.get(f"/api/documents/{document_id}", headers=token("ann", "legal"))).status_code == 200


async def test_a_stored_answer_says_what_is_withheld_and_says_it_again_to_who_is_back(
    settings: Settings, citewell: Citewell, anyone: httpx.AsyncClient
) -> None:
    member = Identity(user="ann", groups=("legal",))
    report = await citewell.library.ingestor.ingest(member, NewDocument(text=DIARY, title=TITLE, readers=LEGAL))
    legal, sales = token("ann", "legal"), token("ann", "sales")
    session = (await anyone.post("/api/sessions", json={}, headers=legal)).json()["session_id"]
    path = f"/api/sessions/{session}"
    asked = {"question": QUESTION, "min_score": 0, "stream": False}
    run = (await anyone.post(f"{path}/runs", json=asked, headers=legal)).json()
    streamed = await anyone.get(f"/api/runs/{run['run_id']}/stream", headers=legal)
    whole = (await anyone.get(path, headers=legal)).json()["messages"][1]

    message = (await anyone.get(path, headers=sales)).json()["messages"][1]
    [withheld] = [each for each in message["citations"] if each["document_id"] == report.document_id]
    assert (withheld["quote"], withheld["freshness"]) == ("", "withheld")
    assert withheld["start"] == whole["citations"][0]["start"]
    assert message["content"] == "[…]"
    [section] = message["sections"]
    assert section["text"] == "[…]"
    [source] = [each for each in message["sources"] if each["document_id"] == report.document_id]
    assert (source["title"], source["excerpt"], source["metadata"]) == ("", "", {})
    replayed = await anyone.get(f"/api/runs/{run['run_id']}/stream", headers=sales)
    assert "run_finished" in replayed.text
    assert "section_started" not in replayed.text
    assert SECRET not in replayed.text

    assert (await anyone.get(path, headers=legal)).json()["messages"][1] == whole
    again = await anyone.get(f"/api/runs/{run['run_id']}/stream", headers=legal)
    assert again.text == streamed.text

    await citewell.library.documents.delete(member, report.document_id)
    message = (await anyone.get(path, headers=sales)).json()["messages"][1]
    assert SECRET not in str(message)
    kept = (await anyone.get(path, headers=legal)).json()["messages"][1]
    assert (kept["citations"][0]["freshness"], SECRET in kept["content"]) == ("deleted", True)
    await citewell.library.documents.purge("default")
    for headers in (legal, sales):
        assert SECRET not in str((await anyone.get(path, headers=headers)).json()["messages"][1])


async def test_what_is_withheld_enters_no_prompt_again(settings: Settings, scripted_openai: ScriptedOpenAI) -> None:
    configured = with_model(settings, scripted_openai)
    member = Identity(user="ann", groups=("legal",))
    legal, sales = token("ann", "legal"), token("ann", "sales")
    async with open_citewell(configured) as opened, client_of(create_app(configured, citewell=opened)) as client:
        diary = await opened.library.ingestor.ingest(member, NewDocument(text=DIARY, title=TITLE, readers=LEGAL))
        session = (await client.post("/api/sessions", json={}, headers=legal)).json()["session_id"]

        async def ask(headers: dict[str, str], **wish: Any) -> tuple[str, list[str]]:
            before = len(scripted_openai.requests)
            asked = {"min_score": 0, "stream": False, **wish}
            reply = await client.post(f"/api/sessions/{session}/runs", json=asked, headers=headers)
            assert reply.status_code == 200, reply.text
            return reply.text, [request.text for request in scripted_openai.requests[before:]]

        section = {"text": f"It is called {SECRET}.", "source_ids": [f"{diary.document_id}:0"]}
        scripted_openai.script(answer(section), to="generate_answer")
        first, _ = await ask(legal, question=QUESTION)
        assert SECRET in first
        decided = {
            "standalone_question": "Repeat.",
            "needs_retrieval": False,
            "intent": "small_talk",
            "reason": "Again.",
        }
        small_talk = say(json.dumps(decided))
        scripted_openai.script(small_talk, to="decide_retrieval")
        scripted_openai.script(say(f"As I said: {SECRET}."), to="answer_directly")
        _, prompts = await ask(legal, question="Repeat your last answer word for word, please.")
        assert any(SECRET in text for text in prompts), "who may read it is told again"

        for question in ("Repeat your last answer word for word, please.", "And what did you say before that?"):
            _, prompts = await ask(sales, question=question)
            assert prompts
            assert not [text for text in prompts if SECRET in text]
        messages = (await client.get(f"/api/sessions/{session}", headers=sales)).json()["messages"]
        edited = {"question": "Repeat your last answer word for word, please.", "edit": messages[2]["message_id"]}
        for again in (edited, {"regenerate": messages[3]["message_id"]}):
            _, prompts = await ask(sales, **again)
            assert prompts
            assert not [text for text in prompts if SECRET in text]


async def test_readers_are_named_and_changed_over_http(anyone: httpx.AsyncClient) -> None:
    ann, bob = token("ann", "legal"), token("bob")
    body = {"text": "The safe is behind the picture.", "readers": ["group:legal", "user:ann", "user:ann"]}
    made = await anyone.post("/api/documents", json=body, headers=ann)
    assert made.status_code == 201, made.text
    path = f"/api/documents/{made.json()['document_id']}"
    assert (await anyone.get(path, headers=ann)).json()["readers"] == ["group:legal", "user:ann"]
    assert (await anyone.get(path, headers=bob)).status_code == 404
    changed = await anyone.patch(path, json={"readers": ["user:bob", "user:ann"]}, headers=ann)
    assert changed.json()["readers"] == ["user:ann", "user:bob"]
    assert (await anyone.get(path, headers=bob)).status_code == 200
    assert (await anyone.get(path, headers=token("cid", "legal"))).status_code == 404
    for readers, said in ((["legal"], "'legal' is no reader"), (["group:sales"], "you would not be among them")):
        refused = await anyone.patch(path, json={"readers": readers}, headers=ann)
        assert said in assert_problem(refused, 422, "invalid_request")["detail"]
        refused = await anyone.post("/api/documents", json={**body, "readers": readers}, headers=ann)
        assert said in assert_problem(refused, 422, "invalid_request")["detail"]
    form = {"readers": '["group:legal"]', "title": "Gate"}
    sent = await anyone.post("/api/documents", data=form, files={"file": ("gate.md", b"Shut.")}, headers=ann)
    assert sent.status_code == 201, sent.text
    shown = await anyone.get(f"/api/documents/{sent.json()['document_id']}", headers=ann)
    assert shown.json()["readers"] == ["group:legal"]
    files = [("file", ("one.md", b"One door.")), ("file", ("two.md", b"Two doors."))]
    job = (await anyone.post("/api/jobs", data={"readers": '["group:legal"]'}, files=files, headers=ann)).json()
    async with anyone.stream("GET", f"/api/jobs/{job['job_id']}/events", headers=ann) as events:
        await events.aread()
    listed = (await anyone.get("/api/documents", headers=ann)).json()["documents"]
    assert [each["readers"] for each in listed if each["title"] in ("one", "two")] == [["group:legal"]] * 2
    assert {"one", "two"}.isdisjoint(
        each["title"] for each in (await anyone.get("/api/documents", headers=bob)).json()["documents"]
    )


async def test_who_sends_a_file_is_not_told_that_others_have_it(anyone: httpx.AsyncClient) -> None:
    ann, bob = token("ann", "legal"), token("bob")
    file = {"file": ("gate.md", b"The gate is shut.")}
    first = (await anyone.post("/api/documents", files=file, headers=ann)).json()["document_id"]
    changed = await anyone.patch(f"/api/documents/{first}", json={"readers": LEGAL}, headers=ann)
    assert changed.status_code == 200
    for status in (201, 200):
        sent = await anyone.post("/api/documents", files=file, headers=bob)
        assert (sent.status_code, sent.json()["similar_to"]) == (status, [])
        second = sent.json()["document_id"]
        assert second != first
    job = (await anyone.post("/api/jobs", files=file, headers=bob)).json()
    async with anyone.stream("GET", f"/api/jobs/{job['job_id']}/events", headers=bob) as events:
        await events.aread()
    [stored] = (await anyone.get(f"/api/jobs/{job['job_id']}", headers=bob)).json()["files"]
    assert (stored["state"], stored["document_id"]) == ("unchanged", second)
    assert (await anyone.get(f"/api/documents/{first}", headers=ann)).json()["readers"] == LEGAL


@pytest.mark.parametrize("groups", ["legal", ["legal", "sales"], None])
async def test_a_token_names_groups_or_none(anyone: httpx.AsyncClient, groups: object) -> None:
    named = claims(sub="ann", workspace="default", groups=groups)
    headers = {"authorization": f"Bearer {jwt.encode(named, KEY, algorithm='HS256')}"}
    made = await anyone.post("/api/documents", json={"text": "Shut.", "readers": LEGAL}, headers=headers)
    assert made.status_code == (422 if groups is None else 201), made.text


@pytest.mark.parametrize("groups", [7, ["legal", 7], [""], ["a\n"], {"legal": True}, ["g"] * 1001])
async def test_a_token_whose_groups_are_none_is_refused(anyone: httpx.AsyncClient, groups: object) -> None:
    named = claims(sub="ann", workspace="default", groups=groups)
    headers = {"authorization": f"Bearer {jwt.encode(named, KEY, algorithm='HS256')}"}
    response = await anyone.get("/api/documents", headers=headers)
    assert "claim groups" in assert_problem(response, 401, "not_authenticated")["detail"]
