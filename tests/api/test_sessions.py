"""Sessions over HTTP."""

import asyncio
import json
from typing import Any
from uuid import uuid4

import httpx
import pytest

from api.app import create_app
from graph.builder import build
from graph.entrypoint import Citewell, open_citewell
from graph.evidence import Identity
from tests.api.conftest import HANDBOOK, LIBRARY, TRAVEL, new_session, with_model
from tests.api.reading import parse_frames, until_no_run_is_live
from tests.api.serving import client_of
from tests.scripted_openai import Hold, Reply, Say, ScriptedOpenAI
from tools.sessions.checkpoints import RunSaver
from tools.settings import RunSettings, Settings
from tools.storage.startup import open_database


async def test_a_session_is_made_listed_read_and_deleted(client: httpx.AsyncClient) -> None:
    made = await client.post("/api/sessions", json={"title": "Leave", "page_ids": [HANDBOOK]})
    assert made.status_code == 201
    session = made.json()
    assert (session["title"], session["page_ids"]) == ("Leave", [HANDBOOK])
    assert (await client.get("/api/sessions")).json() == {"sessions": [session], "next_cursor": None, "hits": []}
    detail = (await client.get(f"/api/sessions/{session['session_id']}")).json()
    assert detail == {"session": session, "messages": [], "next_cursor": None}
    assert (await client.delete(f"/api/sessions/{session['session_id']}")).status_code == 204
    assert (await client.get(f"/api/sessions/{session['session_id']}")).status_code == 404
    assert (await client.get("/api/sessions")).json()["sessions"] == []


async def test_an_empty_body_makes_a_session_with_the_default_title(shared_client: httpx.AsyncClient) -> None:
    made = await shared_client.post("/api/sessions", json={})
    assert made.json()["title"] == "New Chat"


async def test_the_list_pages_and_leaves_ephemeral_sessions_out(client: httpx.AsyncClient) -> None:
    made = [await new_session(client) for _ in range(3)]
    await new_session(client, ephemeral=True)
    first = (await client.get("/api/sessions", params={"limit": 2})).json()
    rest = (await client.get("/api/sessions", params={"limit": 2, "cursor": first["next_cursor"]})).json()
    listed = [session["session_id"] for session in first["sessions"] + rest["sessions"]]
    assert listed == made[::-1]
    assert rest["next_cursor"] is None


async def test_ids_are_read_in_any_spelling_of_a_uuid(shared_client: httpx.AsyncClient) -> None:
    session_id = await new_session(shared_client)
    asked = await shared_client.post(
        f"/api/sessions/{session_id.upper()}/runs", json={"question": "Hello", "stream": False}
    )
    assert asked.json()["session_id"] == session_id
    assert len((await shared_client.get(f"/api/sessions/{session_id}")).json()["messages"]) == 2


async def test_a_page_that_is_not_there_is_said_and_no_error(shared_client: httpx.AsyncClient) -> None:
    session_id = await new_session(shared_client)
    body = {"question": "How many days of annual leave?", "page_ids": [str(uuid4()), HANDBOOK], "stream": False}
    asked = await shared_client.post(f"/api/sessions/{session_id}/runs", json=body)
    assert asked.json()["outcome"] == "answered"


async def test_an_old_answer_tells_what_has_become_of_its_quotes(client: httpx.AsyncClient) -> None:
    session_id = await new_session(client)
    body = {"question": "How many days of annual leave does an employee get?", "stream": False}
    [cited] = (await client.post(f"/api/sessions/{session_id}/runs", json=body)).json()["message"]["citations"]

    async def citation() -> dict[str, Any]:
        [found] = (await client.get(f"/api/sessions/{session_id}")).json()["messages"][-1]["citations"]
        return dict(found)

    async def rewrite(text: str) -> None:
        put = await client.put(f"/api/documents/{HANDBOOK}", json={"title": "Staff handbook", "text": text})
        assert put.status_code == 200

    assert await citation() == {**cited, "freshness": "fresh"}
    await rewrite(f"Preface.\n\n{cited['quote']}\n")
    place = {"segment_id": f"{HANDBOOK}:0", "segment_index": 0, "page_idx": None}
    now = {**place, "start": 10, "end": 10 + len(cited["quote"])}
    assert await citation() == {**cited, "freshness": "moved", "now": now}
    await rewrite("An employee gets 30 days of annual leave a year.")
    assert await citation() == {**cited, "freshness": "changed"}
    await client.delete(f"/api/documents/{HANDBOOK}")
    assert await citation() == {**cited, "freshness": "deleted"}


async def ask(client: httpx.AsyncClient, session_id: str, **body: Any) -> dict[str, Any]:
    asked = await client.post(f"/api/sessions/{session_id}/runs", json={**body, "stream": False})
    assert asked.status_code == 200, asked.text
    return dict(asked.json())


async def test_a_session_is_renamed_and_other_pages_are_selected(client: httpx.AsyncClient) -> None:
    session_id = await new_session(client, page_id=TRAVEL)
    path = f"/api/sessions/{session_id}"
    renamed = (await client.patch(path, json={"title": "Leave"})).json()
    assert (renamed["title"], renamed["page_ids"], renamed["page_id"]) == ("Leave", [], TRAVEL)
    changed = (await client.patch(path, json={"page_ids": [HANDBOOK]})).json()
    assert changed == {**renamed, "page_ids": [HANDBOOK]}
    assert (await client.get("/api/sessions")).json()["sessions"] == [changed]
    assert (await client.get(path)).json()["session"] == changed
    for body in ({"title": ""}, {"title": "x" * 256}, {"name": "Leave"}, {"page_ids": ["one"]}):
        refused = await client.patch(path, json=body)
        assert (refused.status_code, refused.json()["detail"].partition(":")[0].partition(".")[0]) == (422, *body)


async def test_selected_pages_are_given_back_once_a_message_is_complete(client: httpx.AsyncClient) -> None:
    session_id = await new_session(client)
    await ask(client, session_id, question="How long is the notice period?", page_ids=[HANDBOOK, TRAVEL])
    [listed] = (await client.get("/api/sessions")).json()["sessions"]
    detail = (await client.get(f"/api/sessions/{session_id}")).json()
    assert listed["page_ids"] == detail["session"]["page_ids"] == [HANDBOOK, TRAVEL]
    assert detail["messages"][0]["page_ids"] == [HANDBOOK, TRAVEL]


async def test_a_session_is_titled_after_its_first_question_but_never_over_a_name(
    shared_client: httpx.AsyncClient,
) -> None:
    session_id = await new_session(shared_client)
    path = f"/api/sessions/{session_id}/auto-title"
    untitled = {"session_id": session_id, "title": "New Chat"}
    assert (await shared_client.post(path)).json() == untitled
    await ask(shared_client, session_id, question="How long is the notice period?")
    titled = {"session_id": session_id, "title": "How long is the notice period?"}
    assert (await shared_client.post(path)).json() == titled
    await ask(shared_client, session_id, question="And during probation?")
    assert (await shared_client.post(path)).json() == titled
    await shared_client.patch(f"/api/sessions/{session_id}", json={"title": "Notice"})
    assert (await shared_client.post(path)).json()["title"] == "Notice"


async def test_runs_are_listed_by_session_and_by_where_they_stand(client: httpx.AsyncClient) -> None:
    one, other = [await new_session(client) for _ in range(2)]
    asked = [
        await ask(client, session_id, question="How long is the notice period?") for session_id in (one, other, one)
    ]
    expected = [run["run_id"] for run in reversed(asked)]

    async def listed(path: str, **params: Any) -> list[str]:
        found = await client.get(path, params=params)
        assert found.status_code == 200
        return [run["run_id"] for run in found.json()["runs"]]

    assert await listed("/api/runs") == expected
    assert await listed("/api/runs", status="finished") == expected
    assert await listed("/api/runs", status="running") == []
    assert await listed(f"/api/sessions/{one}/runs") == [expected[0], expected[2]]
    first = (await client.get("/api/runs", params={"limit": 2})).json()
    assert await listed("/api/runs", limit=2, cursor=first["next_cursor"]) == expected[2:]
    assert first["runs"][0] == (await client.get(f"/api/runs/{expected[0]}")).json()
    assert (await client.get("/api/runs", params={"status": "lost"})).status_code == 422
    assert (await client.get(f"/api/sessions/{uuid4()}/runs")).status_code == 404


async def test_an_answer_is_given_anew_beside_the_old_one(shared_client: httpx.AsyncClient) -> None:
    session_id = await new_session(shared_client)
    path = f"/api/sessions/{session_id}"
    first = await ask(shared_client, session_id, question="How long is the notice period?", page_ids=[HANDBOOK])
    again = await ask(shared_client, session_id, regenerate=first["message_id"])
    assert again["message"]["answer"] == first["message"]["answer"]

    question, answer = (await shared_client.get(path)).json()["messages"]
    assert (question["content"], question["page_ids"]) == ("How long is the notice period?", [HANDBOOK])
    assert question["versions"] == []
    assert answer["message_id"] == again["message_id"]
    assert answer["versions"] == [first["message_id"], again["message_id"]]
    old = (await shared_client.get(path, params={"branch": first["message_id"]})).json()["messages"]
    assert [message["message_id"] for message in old] == [question["message_id"], first["message_id"]]


async def test_an_edited_question_forgets_what_came_after_it(citewell: Citewell, client: httpx.AsyncClient) -> None:
    session_id = await new_session(client)
    path = f"/api/sessions/{session_id}"
    await ask(client, session_id, question="How long is the notice period?")
    await ask(client, session_id, question="How many days of annual leave does an employee get?")
    [_, _, question, _] = (await client.get(path)).json()["messages"]
    await ask(client, session_id, question="When does unused leave lapse?")
    edited = await ask(client, session_id, question="Which class is booked for trains?", edit=question["message_id"])
    assert edited["outcome"] == "answered"
    messages = (await client.get(path)).json()["messages"]
    assert [message["content"] for message in messages if message["role"] == "user"] == [
        "How long is the notice period?",
        "Which class is booked for trains?",
    ]
    assert messages[2]["versions"] == [question["message_id"], messages[2]["message_id"]]
    whole = (await client.get(path, params={"branch": question["message_id"]})).json()["messages"]
    assert len(whole) == 6

    await ask(client, session_id, question="How long is probation?")
    graph = build(citewell.library.resources).compile(checkpointer=RunSaver(citewell.library.database.pool))
    state = await graph.aget_state({"configurable": {"thread_id": session_id}})
    assert [turn["question"] for turn in state.values["turns"]] == [
        "How long is the notice period?",
        "Which class is booked for trains?",
    ]


@pytest.mark.parametrize(
    ("body", "status", "named"),
    [
        ({"regenerate": "{question}", "question": "Why?"}, 422, "question: leave it out"),
        ({"regenerate": "{answer}", "page_ids": [HANDBOOK]}, 422, "page_ids: leave it out"),
        ({"regenerate": "{answer}", "edit": "{question}", "question": "Why?"}, 422, "regenerate: send either"),
        ({"edit": "{question}"}, 422, "question: Field required"),
        ({}, 422, "question: Field required"),
        ({"edit": "{answer}", "question": "Why?"}, 422, "edit: it must name"),
        ({"edit": HANDBOOK, "question": "Why?"}, 404, "edit: "),
        ({"regenerate": HANDBOOK}, 404, "regenerate: "),
        ({"regenerate": "answer"}, 422, "regenerate: Input should be a valid UUID"),
    ],
)
async def test_a_branch_from_nowhere_is_refused_by_name(
    shared_client: httpx.AsyncClient, body: dict[str, Any], status: int, named: str
) -> None:
    session_id = await new_session(shared_client)
    await ask(shared_client, session_id, question="Hello")
    question, answer = (await shared_client.get(f"/api/sessions/{session_id}")).json()["messages"]
    ids = {"{question}": question["message_id"], "{answer}": answer["message_id"]}
    sent = {name: ids.get(value, value) if isinstance(value, str) else value for name, value in body.items()}
    refused = await shared_client.post(f"/api/sessions/{session_id}/runs", json=sent)
    assert (refused.status_code, refused.json()["detail"][: len(named)]) == (status, named)


async def test_the_first_answer_brings_a_title(shared_client: httpx.AsyncClient) -> None:
    session_id = await new_session(shared_client)
    answered = await ask(shared_client, session_id, question="How long is the notice period?")
    assert answered["outcome"] == "answered"

    async with asyncio.timeout(60):
        while True:
            session = (await shared_client.get(f"/api/sessions/{session_id}")).json()["session"]
            if session["title"] != "New Chat":
                break
            await asyncio.sleep(0.01)  # it comes beside the answer, and may come after it
    assert session["title"] == "How long is the notice period?"


async def test_what_a_thread_keeps_after_its_runs(citewell: Citewell, client: httpx.AsyncClient) -> None:
    session_id = await new_session(client)
    for _ in range(3):
        await ask(client, session_id, question="How long is the notice period?")
    query = "SELECT (SELECT count(*) FROM checkpoints), (SELECT count(*) FROM checkpoint_writes)"
    async with asyncio.timeout(60):
        while True:
            async with citewell.library.database.connection() as connection:
                if await (await connection.execute(query)).fetchone() == (3, 0):
                    return
            await asyncio.sleep(0.01)  # deleting comes after the answer is out


async def test_a_thread_keeps_one_checkpoint_of_a_streamed_run_whose_reader_leaves_at_its_end(
    settings: Settings, scripted_openai: ScriptedOpenAI
) -> None:
    waits = {"runs": RunSettings(drain_seconds=20)}  # until what the run has begun to delete is gone
    configured = with_model(settings, scripted_openai).model_copy(update=waits)
    hold = Hold()
    sections = [{"text": "The notice period is three months.", "source_ids": [f"{HANDBOOK}:0"]}]
    scripted_openai.script(Reply(steps=[hold, Say(json.dumps({"sections": sections}))]), to="generate_answer")
    async with open_database(settings) as database:
        async with open_citewell(configured) as opened:
            for document in LIBRARY:
                await opened.library.ingestor.ingest(Identity(), document)
            async with client_of(create_app(configured, citewell=opened)) as client:
                path = f"/api/sessions/{await new_session(client)}/runs"
                body = {"question": "How long is the notice period?", "effort": "thorough", "on_disconnect": "cancel"}
                reading = asyncio.create_task(client.post(path, json=body))
                await asyncio.to_thread(hold.wait_reached)
                async with database.connection() as connection, connection.transaction():
                    held = await connection.execute("SELECT 1 FROM checkpoints FOR UPDATE")
                    assert held.rowcount > 0
                    hold.release()
                    assert parse_frames((await reading).text)[-1]["event"] == "run_finished"
                    await until_no_run_is_live(opened)  # its reader leaves just after the end is out
        async with database.connection() as connection:
            query = "SELECT (SELECT count(*) FROM checkpoints), (SELECT count(*) FROM checkpoint_writes)"
            assert await (await connection.execute(query)).fetchone() == (1, 0)


async def test_pinned_sessions_come_first_page_by_page(client: httpx.AsyncClient) -> None:
    made = [await new_session(client, title=f"Session {number}") for number in range(4)]
    for session_id in (made[0], made[2]):
        pinned = await client.patch(f"/api/sessions/{session_id}", json={"pinned": True})
        assert pinned.json()["pinned"] is True
    listed, cursor = [], None
    for _ in range(4):
        page = (await client.get("/api/sessions", params={"limit": 1, **({"cursor": cursor} if cursor else {})})).json()
        listed += [session["session_id"] for session in page["sessions"]]
        cursor = page["next_cursor"]
    assert (listed, cursor) == ([made[2], made[0], made[3], made[1]], None)
    renamed = (await client.patch(f"/api/sessions/{made[2]}", json={"title": "Still"})).json()
    assert (renamed["title"], renamed["pinned"]) == ("Still", True)
    await client.patch(f"/api/sessions/{made[2]}", json={"pinned": False})
    first = (await client.get("/api/sessions")).json()["sessions"][0]
    assert first["session_id"] == made[0]


async def test_sessions_are_found_by_what_was_asked_and_answered(client: httpx.AsyncClient) -> None:
    leave, travel = [await new_session(client, title=title) for title in ("Một", "二")]
    await ask(client, leave, question="How many days of annual leave does an employee get?")
    await ask(client, travel, question="Đi tàu thì đặt hạng nào? 火车票怎么订")

    async def found(query: str) -> tuple[list[str], list[dict[str, Any]]]:
        page = (await client.get("/api/sessions", params={"query": query})).json()
        return [session["session_id"] for session in page["sessions"]], page["hits"]

    sessions, [hit] = await found("25 ANNUAL lea")
    assert (sessions, hit["role"]) == ([leave], "assistant")
    assert hit["excerpt"][hit["start"] : hit["end"]] == "25"
    sessions, [hit] = await found("dat hang")
    assert sessions == [travel]
    assert hit["excerpt"][hit["start"] : hit["end"]] == "đặt"
    for query in ("火车票", "车票", "票"):
        sessions, [hit] = await found(query)
        assert sessions == [travel]
        assert hit["excerpt"][hit["start"] : hit["end"]] == query
    assert (await found("mot")) == ([leave], []), "a title is no excerpt"
    for query in ("nual", "票车", "penguin 火车票", "%", "':* & |"):
        assert await found(query) == ([], [])
    first = (await client.get("/api/sessions", params={"query": "h", "limit": 1})).json()
    rest = (await client.get("/api/sessions", params={"query": "h", "limit": 1, "cursor": first["next_cursor"]})).json()
    assert [each["session_id"] for each in (*first["sessions"], *rest["sessions"])] == [travel, leave]
    assert rest["next_cursor"] is None


async def test_what_may_not_be_read_any_more_is_not_found(client: httpx.AsyncClient, citewell: Citewell) -> None:
    session_id = await new_session(client, title="Leave")
    await ask(client, session_id, question="When does unused leave lapse?")
    assert (await client.get("/api/sessions", params={"query": "march"})).json()["hits"] != []
    async with citewell.library.database.connection() as connection:
        await connection.execute("UPDATE documents SET readers = '{user:ann}' WHERE document_id = %s", [HANDBOOK])
    assert (await client.get("/api/sessions", params={"query": "march"})).json()["sessions"] == []
    [hit] = (await client.get("/api/sessions", params={"query": "unused"})).json()["hits"]
    assert (hit["role"], hit["excerpt"]) == ("user", "When does unused leave lapse?")
