"""The docmost dialect over HTTP: the checklist of Docmost's own document, and every rule of its contract."""

import asyncio
import json
import re
from collections import OrderedDict
from collections.abc import AsyncIterator
from typing import Any
from uuid import uuid4

import httpx
import pytest

import prompts
from api.app import create_app
from evals.scripted_replies import judged
from graph.entrypoint import Citewell, open_citewell
from graph.errors import NotFound
from graph.evidence import Identity
from graph.reasons import Reason
from tests.api.conftest import HANDBOOK, LIBRARY, TRAVEL, new_session, script_repair, with_model
from tests.api.reading import parse_frames
from tests.api.serving import client_of
from tests.api.test_identity import JWT, by, hs256
from tests.postgres.conversing import store_turn
from tests.scripted_openai import Fail, Hold, Reply, Say, ScriptedOpenAI, Think, answer, say, status
from tests.scripted_web import Reply as WebReply
from tests.scripted_web import found, result, serve_web
from tests.wire.node_clients import run_client
from tools.backends import backend_registry
from tools.library.ingestion import NewDocument
from tools.settings import ModelSettings, Settings

LEAVE = "How many days of annual leave does an employee get?"
LEAVE_ANSWER = "Every employee gets 25 days of annual leave a year."
LEAVE_PASSAGE = f"{LEAVE_ANSWER} Unused leave lapses in March."
MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")
UUID_TEXT = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")


def asking(question: str, session: str | None = None, **fields: Any) -> dict[str, Any]:
    """Make the body that the client sends."""
    body: dict[str, Any] = {"messages": [{"role": "user", "content": question}], "sessionId": session}
    return {"json": {**body, "model": "", "thinking": False, **fields}}


async def chat(client: httpx.AsyncClient, question: str, session: str | None = None, **fields: Any) -> "Told":
    response = await client.post("/api/ai/chat/stream", **asking(question, session, **fields))
    assert response.status_code == 200, response.text
    return Told(response)


class Told:
    """A finished chat stream, as a client takes it apart."""

    def __init__(self, response: httpx.Response) -> None:
        assert response.headers["content-type"].startswith("text/event-stream")
        assert b"\r" not in response.content
        frames = parse_frames(response.text)
        assert all(list(frame) == ["data"] for frame in frames)
        assert frames[-1]["data"] == "[DONE]"
        assert [frame["data"] for frame in frames].count("[DONE]") == 1
        self.frames: list[dict[str, Any]] = [json.loads(frame["data"]) for frame in frames[:-1]]
        self.kinds = [frame["type"] for frame in self.frames]

    def data(self, kind: str) -> list[Any]:
        return [frame["data"] for frame in self.frames if frame["type"] == kind]

    @property
    def text(self) -> str:
        return "".join(self.data("chunk"))

    @property
    def sources(self) -> list[dict[str, Any]]:
        return list(self.data("sources")[-1])


async def ai_session(client: httpx.AsyncClient, **fields: Any) -> dict[str, Any]:
    made = await client.post("/api/ai/sessions", json=fields)
    assert made.status_code == 200, made.text
    session: dict[str, Any] = made.json()["session"]
    return session


class TestChecklist:
    """The "Testing Checklist" of Docmost's document, line by line."""

    async def test_create_new_session_selected_pages_empty(self, shared_client: httpx.AsyncClient) -> None:
        made = await shared_client.post("/api/ai/sessions", json={})
        assert made.status_code == 200
        assert made.json()["memories"] == []
        session = made.json()["session"]
        assert MOMENT.fullmatch(session.pop("createdAt"))
        assert MOMENT.fullmatch(session.pop("updatedAt"))
        assert UUID_TEXT.fullmatch(session.pop("id"))
        assert session == {
            "workspaceId": "default",
            "userId": "local",
            "pageId": None,
            "title": "New Chat",
            "selectedPageIds": [],
        }

    async def test_select_pages_badges_appear(self, shared_client: httpx.AsyncClient) -> None:
        found = await shared_client.post("/api/ai/pages/search", json={"query": "handbook"})
        badge = {
            "pageId": HANDBOOK,
            "title": "Staff handbook",
            "slugId": "staff-handbook",
            "spaceId": "s1",
            "spaceSlug": "people",
        }
        assert (found.status_code, found.json()) == (200, [badge])
        chosen = await shared_client.post("/api/ai/pages/search", json={"pageIds": [TRAVEL, str(uuid4()), HANDBOOK]})
        assert [page["pageId"] for page in chosen.json()] == [TRAVEL, HANDBOOK]
        assert chosen.json()[1] == badge

    async def test_send_message_rag_uses_selected_pages(self, shared_client: httpx.AsyncClient) -> None:
        session = (await ai_session(shared_client))["id"]
        assert (await chat(shared_client, LEAVE, session)).sources == []
        told = await chat(shared_client, LEAVE, session, selectedPageIds=[HANDBOOK])
        assert {source["pageId"] for source in told.sources} == {HANDBOOK}
        assert told.text == f"{LEAVE_PASSAGE}[^1]"
        elsewhere = await chat(shared_client, LEAVE, session, selectedPageIds=[TRAVEL])
        assert "25 days" not in elsewhere.text

    async def test_check_citations_marks_point_into_the_sources(self, shared_client: httpx.AsyncClient) -> None:
        told = await chat(shared_client, LEAVE, selectedPageIds=[TRAVEL, HANDBOOK])
        [mark] = re.findall(r"\[\^(\d+)\]", told.text)
        cited = told.sources[int(mark) - 1]
        assert LEAVE_ANSWER in cited["excerpt"]
        assert cited == {
            "pageId": HANDBOOK,
            "title": "Staff handbook",
            "slugId": "staff-handbook",
            "spaceSlug": "people",
            "excerpt": cited["excerpt"],
            "similarity": cited["similarity"],
            "chunkIndex": cited["chunkIndex"],
            "url": "https://wiki.example/handbook",
            "quotes": cited["quotes"],
        }
        [quote] = cited["quotes"]
        start, end = (quote["highlight"][edge] - quote["start"] for edge in ("start", "end"))
        assert (quote["quote"], quote["quote"][start:end]) == (LEAVE_PASSAGE, LEAVE_ANSWER)
        assert 0 <= cited["similarity"] <= 1

    async def test_switch_to_another_session_pages_restore_from_the_session_itself(
        self, shared_client: httpx.AsyncClient
    ) -> None:
        one, other = (await ai_session(shared_client))["id"], (await ai_session(shared_client))["id"]
        await chat(shared_client, LEAVE, one, selectedPageIds=[HANDBOOK, TRAVEL])
        await chat(shared_client, LEAVE, other, selectedPageIds=[TRAVEL])
        listed = {each["id"]: each for each in (await shared_client.get("/api/ai/sessions")).json()["sessions"]}
        assert listed[one]["selectedPageIds"] == [HANDBOOK, TRAVEL]
        assert listed[other]["selectedPageIds"] == [TRAVEL]
        opened = (await shared_client.get(f"/api/ai/sessions/{one}")).json()
        assert opened["session"] == listed[one]

    async def test_create_new_chat_pages_cleared(self, shared_client: httpx.AsyncClient) -> None:
        await chat(shared_client, LEAVE, (await ai_session(shared_client))["id"], selectedPageIds=[HANDBOOK])
        assert (await ai_session(shared_client))["selectedPageIds"] == []

    async def test_reload_page_session_pages_persist(self, settings: Settings, citewell: Citewell) -> None:
        async with client_of(create_app(settings, citewell=citewell)) as before:
            session = await ai_session(before)
            told = await chat(before, LEAVE, session["id"], selectedPageIds=[HANDBOOK])
        async with client_of(create_app(settings, citewell=citewell)) as after:
            opened = (await after.get(f"/api/ai/sessions/{session['id']}")).json()
        assert opened["session"]["selectedPageIds"] == [HANDBOOK]
        assert opened["session"]["updatedAt"] > session["updatedAt"]
        asked, answered = opened["messages"]
        assert UUID_TEXT.fullmatch(asked.pop("id"))
        assert MOMENT.fullmatch(asked.pop("createdAt"))
        assert asked == {"role": "user", "content": LEAVE, "sources": []}
        assert (answered["role"], answered["content"]) == ("assistant", told.text)
        assert [{**each, "freshness": "fresh"} for each in told.sources[:1]] == answered["sources"][:1]


class TestSessions:
    async def test_the_page_a_chat_was_opened_on_is_given_back_and_read_only_where_it_is_selected(
        self, shared_client: httpx.AsyncClient
    ) -> None:
        session = await ai_session(shared_client, pageId=HANDBOOK)
        assert (session["pageId"], session["selectedPageIds"]) == (HANDBOOK, [])
        assert (await shared_client.get("/api/ai/sessions")).json()["sessions"][0] == session
        assert (await chat(shared_client, LEAVE, session["id"])).sources == []
        assert (await shared_client.get(f"/api/ai/sessions/{session['id']}")).json()["session"]["pageId"] == HANDBOOK

    async def test_ids_are_the_hosts_own_where_its_tokens_name_them(
        self, settings: Settings, citewell: Citewell
    ) -> None:
        host = {"workspace": str(uuid4()), "sub": str(uuid4())}
        async with client_of(create_app(by(settings, JWT), citewell=citewell)) as client:
            client.headers.update(hs256(**host))
            session = await ai_session(client)
            named = {"workspace": session["workspaceId"], "sub": session["userId"]}
            assert named == host
            assert UUID_TEXT.fullmatch(session["id"])
            assert (await client.get("/api/ai/sessions")).json()["sessions"] == [session]

    async def test_a_session_is_made_without_a_body(self, shared_client: httpx.AsyncClient) -> None:
        assert (await shared_client.post("/api/ai/sessions")).json()["session"]["title"] == "New Chat"

    async def test_the_list_is_newest_first_and_pages(self, client: httpx.AsyncClient) -> None:
        made = [(await ai_session(client))["id"] for _ in range(3)]
        await chat(client, "Hello", made[0])
        first = (await client.get("/api/ai/sessions", params={"limit": 2})).json()
        rest = (await client.get("/api/ai/sessions", params={"limit": 2, "cursor": first["nextCursor"]})).json()
        listed = [session["id"] for session in first["sessions"] + rest["sessions"]]
        assert listed == [made[0], made[2], made[1]]
        assert rest["nextCursor"] is None

    async def test_the_list_holds_the_chats_of_docmost_alone(self, client: httpx.AsyncClient) -> None:
        mine = (await ai_session(client))["id"]
        await new_session(client)
        assert [each["id"] for each in (await client.get("/api/ai/sessions")).json()["sessions"]] == [mine]

    async def test_a_session_is_renamed_and_its_pages_changed(self, shared_client: httpx.AsyncClient) -> None:
        path = f"/api/ai/sessions/{(await ai_session(shared_client))['id']}"
        renamed = await shared_client.patch(path, json={"title": "x" * 255})
        assert (renamed.status_code, renamed.json()["session"]["title"]) == (200, "x" * 255)
        changed = await shared_client.patch(path, json={"selectedPageIds": [TRAVEL]})
        assert changed.json()["session"]["selectedPageIds"] == [TRAVEL]
        assert changed.json()["session"]["title"] == "x" * 255
        long = await shared_client.patch(path, json={"title": "x" * 256})
        assert (long.status_code, long.json()["statusCode"]) == (422, 422)
        assert "title: " in long.json()["message"]

    async def test_the_first_question_gives_the_title(self, shared_client: httpx.AsyncClient) -> None:
        session = (await ai_session(shared_client))["id"]
        await chat(shared_client, LEAVE, session, selectedPageIds=[HANDBOOK])
        titled = await shared_client.post(f"/api/ai/sessions/{session}/auto-title")
        assert titled.status_code == 200
        assert titled.json()["title"] not in ("", "New Chat")
        assert titled.json()["session"]["title"] == titled.json()["title"]
        assert titled.json()["session"]["selectedPageIds"] == [HANDBOOK]

    async def test_a_session_is_deleted(self, shared_client: httpx.AsyncClient) -> None:
        path = f"/api/ai/sessions/{(await ai_session(shared_client))['id']}"
        gone = await shared_client.delete(path)
        assert (gone.status_code, gone.json()) == (200, {"success": True})
        assert (await shared_client.get(path)).status_code == 404

    async def test_an_unknown_session_is_not_found(self, shared_client: httpx.AsyncClient) -> None:
        session = str(uuid4())
        path = f"/api/ai/sessions/{session}"
        answers = [
            await shared_client.get(path),
            await shared_client.patch(path, json={"title": "A"}),
            await shared_client.delete(path),
            await shared_client.post(f"{path}/auto-title"),
            await shared_client.post("/api/ai/chat/stream", **asking("Hello", session)),
        ]
        for response in answers:
            assert response.headers["content-type"] == "application/json"
            assert response.json() == {
                "statusCode": 404,
                "message": f"There is no session {session}.",
                "error": "Not Found",
                "code": "not_found",
                "suggestion": NotFound.suggestion,
                "retryable": False,
            }

    async def test_a_source_that_is_gone_is_told_with_the_old_answer(self, client: httpx.AsyncClient) -> None:
        session = (await ai_session(client))["id"]
        await chat(client, LEAVE, session, selectedPageIds=[HANDBOOK])
        await client.delete(f"/api/documents/{HANDBOOK}")
        messages = (await client.get(f"/api/ai/sessions/{session}")).json()["messages"]
        assert messages[-1]["content"] == f"{LEAVE_PASSAGE}[^1]"
        assert messages[-1]["sources"][0]["freshness"] == "deleted"


class TestChat:
    async def test_the_sources_come_before_the_text_and_nothing_is_remembered(
        self, shared_client: httpx.AsyncClient
    ) -> None:
        told = await chat(shared_client, LEAVE, selectedPageIds=[HANDBOOK])
        assert told.kinds == ["sources", "memory", "chunk", "sources"]
        assert told.data("memory") == [{"enabled": False, "loaded": False}]

    async def test_searching_the_workspace_is_opted_into(self, shared_client: httpx.AsyncClient) -> None:
        unsearched = await chat(shared_client, LEAVE)
        assert (unsearched.sources, "25 days" in unsearched.text) == ([], False)
        searched = await chat(shared_client, LEAVE, isSemanticSearchEnabled=True)
        assert searched.text == f"{LEAVE_PASSAGE}[^1]"
        both = await chat(shared_client, LEAVE, isSemanticSearchEnabled=True, selectedPageIds=[TRAVEL])
        assert "25 days" in both.text

    async def test_a_refusal_has_no_sources(self, shared_client: httpx.AsyncClient) -> None:
        told = await chat(shared_client, "Who won the chess championship of 1972?", selectedPageIds=[TRAVEL])
        assert told.sources == []
        assert told.text
        assert "[^" not in told.text

    async def test_small_talk_is_answered_without_pages(self, shared_client: httpx.AsyncClient) -> None:
        told = await chat(shared_client, "Hello!")
        assert told.kinds == ["sources", "memory", "chunk"]
        assert told.text

    async def test_a_chat_without_a_session_is_of_no_list(self, client: httpx.AsyncClient) -> None:
        await chat(client, LEAVE, selectedPageIds=[HANDBOOK])
        assert (await client.get("/api/ai/sessions")).json()["sessions"] == []

    async def test_fields_left_out_null_or_unknown_are_no_error(self, shared_client: httpx.AsyncClient) -> None:
        body: dict[str, Any] = {"messages": [{"id": "m1", "role": "user", "content": "Hello", "sources": []}]}
        await chat_as(shared_client, body)
        await chat_as(shared_client, {**body, "model": None, "selectedPageIds": None, "temperature": 0.2})
        await chat_as(shared_client, {**body, "model": "extractive", "thinking": True})

    @pytest.mark.parametrize(
        ("fields", "named"),
        [
            ({"messages": []}, "messages"),
            ({"messages": [{"role": "assistant", "content": "Hi"}]}, "messages: the last one"),
            ({"messages": [{"role": "user", "content": " "}]}, "messages: "),
            (
                {"messages": [{"role": "user", "content": "x" * 10_001}]},
                "messages.0.content: String should have at most 10000",
            ),
            ({"messages": [{"role": "user", "content": "a\x00b"}]}, "messages.0.content: control characters"),
            ({"messages": [{"role": "robot", "content": "x"}]}, "messages.0.role"),
            ({"sessionId": "mine"}, "sessionId"),
            ({"selectedPageIds": ["page-1"]}, "selectedPageIds.0"),
            ({"isWebSearchEnabled": "perhaps"}, "isWebSearchEnabled"),
        ],
    )
    async def test_a_wrong_field_is_named(
        self, fields: dict[str, Any], named: str, shared_client: httpx.AsyncClient
    ) -> None:
        body = {"messages": [{"role": "user", "content": "Hello"}], **fields}
        response = await shared_client.post("/api/ai/chat/stream", json=body)
        assert (response.status_code, response.json()["code"]) == (422, "invalid_request")
        assert named in response.json()["message"]

    async def test_a_model_where_none_is_configured_is_unavailable(self, shared_client: httpx.AsyncClient) -> None:
        response = await shared_client.post("/api/ai/chat/stream", **asking("Hello", model="glm-4.7-flash"))
        assert response.status_code == 503
        problem = response.json()
        assert "'glm-4.7-flash'" in problem["message"]
        assert (problem["code"], problem["retryable"]) == ("model_unavailable", False)


async def chat_as(client: httpx.AsyncClient, body: dict[str, Any]) -> Told:
    return Told(await client.post("/api/ai/chat/stream", json=body))


class TestWithAModel:
    async def test_the_server_remembers_and_its_memory_wins(
        self, model_client: httpx.AsyncClient, scripted_openai: ScriptedOpenAI
    ) -> None:
        session = (await ai_session(model_client))["id"]
        scripted_openai.script(answer({"text": LEAVE_ANSWER, "source_ids": [f"{HANDBOOK}:0"]}), to="generate_answer")
        await chat(model_client, LEAVE, session, selectedPageIds=[HANDBOOK])
        told = [
            {"role": "user", "content": "INVENTED QUESTION"},
            {"role": "assistant", "content": "INVENTED ANSWER"},
            {"role": "user", "content": "And in the first year?"},
        ]
        await chat(model_client, "", session, messages=told, selectedPageIds=[HANDBOOK])
        prepared = scripted_openai.asked("decide_retrieval")[-1].text
        assert LEAVE in prepared
        assert LEAVE_ANSWER in prepared
        assert "INVENTED" not in prepared
        messages = (await model_client.get(f"/api/ai/sessions/{session}")).json()["messages"]
        assert [each["content"] for each in messages if each["role"] == "user"] == [LEAVE, "And in the first year?"]

    async def test_without_a_session_the_messages_are_the_history(
        self, model_client: httpx.AsyncClient, scripted_openai: ScriptedOpenAI
    ) -> None:
        told = [
            {"role": "user", "content": LEAVE},
            {"role": "assistant", "content": f"{LEAVE_ANSWER}[^1][^2]"},
            {"role": "user", "content": "And in the first year?"},
        ]
        await chat(model_client, "", messages=told, selectedPageIds=[HANDBOOK])
        prepared = scripted_openai.asked("decide_retrieval")[-1].text
        assert LEAVE_ANSWER in prepared
        assert "[^" not in prepared

    async def test_thinking_is_told_apart_from_the_answer(
        self, model_client: httpx.AsyncClient, scripted_openai: ScriptedOpenAI
    ) -> None:
        written = answer({"text": LEAVE_ANSWER, "source_ids": [f"{HANDBOOK}:0"]})
        scripted_openai.script(Reply([Think("Let me analyze."), *written.steps]), to="generate_answer")
        told = await chat(model_client, LEAVE, selectedPageIds=[HANDBOOK])
        assert list(dict.fromkeys(told.kinds)) == ["sources", "memory", "thinking", "chunk"]
        assert "".join(told.data("thinking")) == "Let me analyze."
        assert told.text == f"{LEAVE_ANSWER}[^1]"

    async def test_what_did_not_hold_is_never_told(
        self, judged_client: httpx.AsyncClient, scripted_openai: ScriptedOpenAI
    ) -> None:
        script_repair(scripted_openai, LEAVE_ANSWER, "Interns get 40 days of annual leave a year.")
        session = (await ai_session(judged_client))["id"]
        told = await chat(judged_client, LEAVE, session, selectedPageIds=[HANDBOOK])
        assert told.text == f"{LEAVE_ANSWER}[^1]"
        messages = (await judged_client.get(f"/api/ai/sessions/{session}")).json()["messages"]
        assert messages[-1]["content"] == told.text

    async def test_a_sentence_that_the_judge_doubts_stands_without_a_footnote(
        self, model_client: httpx.AsyncClient, scripted_openai: ScriptedOpenAI
    ) -> None:
        wrong = "Every employee gets 40 days of annual leave a year."
        scripted_openai.script(answer({"text": wrong, "source_ids": [f"{HANDBOOK}:0"]}), to="generate_answer")
        scripted_openai.script(say(json.dumps({"1": judged("contradicted")})), to="judge_claims")
        session = (await ai_session(model_client))["id"]
        told = await chat(model_client, LEAVE, session, selectedPageIds=[HANDBOOK])
        assert told.text == wrong
        messages = (await model_client.get(f"/api/ai/sessions/{session}")).json()["messages"]
        assert messages[-1]["content"] == told.text

    async def test_a_failure_is_words_for_the_chat_and_the_stream_ends(
        self, model_client: httpx.AsyncClient, scripted_openai: ScriptedOpenAI
    ) -> None:
        for _ in range(4):
            scripted_openai.script(Reply([Say('{"sections":['), Fail()]), to="generate_answer")
        told = await chat(model_client, LEAVE, selectedPageIds=[HANDBOOK])
        error = told.frames[-1]
        assert (error["type"], told.kinds.count("error")) == ("error", 1)
        assert isinstance(error["data"], str)
        assert error["code"].startswith("model_")
        assert "fell over" not in json.dumps(told.frames)

    async def test_a_reader_that_leaves_stops_the_run(
        self, model_client: httpx.AsyncClient, scripted_openai: ScriptedOpenAI
    ) -> None:
        hold = Hold()
        scripted_openai.script(Reply([Think("Hm."), hold]), to="generate_answer")
        asked = asking(LEAVE, selectedPageIds=[HANDBOOK])
        reading = asyncio.create_task(model_client.post("/api/ai/chat/stream", **asked))
        await asyncio.to_thread(hold.wait_reached)
        reading.cancel()
        await asyncio.gather(reading, return_exceptions=True)
        [exchange] = scripted_openai.asked("generate_answer")
        assert await asyncio.to_thread(exchange.wait_disconnected)

    async def test_without_pages_or_search_the_model_answers_directly(self, model_client: httpx.AsyncClient) -> None:
        told = await chat(model_client, LEAVE)
        assert (told.sources, told.text) == ([], "Hello.")

    async def test_the_extractive_family_can_be_asked_for_by_name(
        self, model_client: httpx.AsyncClient, scripted_openai: ScriptedOpenAI
    ) -> None:
        told = await chat(model_client, LEAVE, model="extractive", selectedPageIds=[HANDBOOK])
        assert told.text == f"{LEAVE_PASSAGE}[^1]"
        assert scripted_openai.requests == []

    async def test_a_question_waits_for_the_one_before_it_and_a_session_that_is_answering_is_not_deleted(
        self, model_client: httpx.AsyncClient, scripted_openai: ScriptedOpenAI
    ) -> None:
        hold, session = Hold(), (await ai_session(model_client))["id"]
        scripted_openai.script(Reply([Say('{"sections":['), hold, Say("]}")]), to="generate_answer")
        asked = asking(LEAVE, session, selectedPageIds=[HANDBOOK])
        reading = asyncio.create_task(model_client.post("/api/ai/chat/stream", **asked))
        await asyncio.to_thread(hold.wait_reached)
        busy = await model_client.delete(f"/api/ai/sessions/{session}")
        assert (busy.status_code, busy.json()["statusCode"], busy.json()["code"]) == (409, 409, "session_busy")
        titled = (await model_client.post(f"/api/ai/sessions/{session}/auto-title")).json()
        assert titled["title"] not in ("", "New Chat")
        waiting = asyncio.create_task(model_client.post("/api/ai/chat/stream", **asked))
        hold.release()
        assert Told(await reading).text
        assert Told(await waiting).text

    async def test_what_is_sent_while_the_last_answer_is_aborted_is_answered(
        self, model_client: httpx.AsyncClient, scripted_openai: ScriptedOpenAI
    ) -> None:
        hold, session = Hold(), (await ai_session(model_client))["id"]
        scripted_openai.script(Reply([Say('{"sections":['), hold]), to="generate_answer")
        asked = asking(LEAVE, session, selectedPageIds=[HANDBOOK])
        reading = asyncio.create_task(model_client.post("/api/ai/chat/stream", **asked))
        await asyncio.to_thread(hold.wait_reached)
        reading.cancel()
        assert (await chat(model_client, "When does unused leave lapse?", session)).text
        await asyncio.gather(reading, return_exceptions=True)

    async def test_an_answer_from_a_part_of_a_page_says_so_to_who_sees_the_text_alone(
        self, client: httpx.AsyncClient
    ) -> None:
        page, session = str(uuid4()), (await ai_session(client))["id"]
        long = "\n\n".join(f"## Part {n}\n\n{'The clerk keeps the records of the tower. ' * 40}" for n in range(40))
        stored = await client.put(f"/api/documents/{page}", json={"title": "Tower [^7]", "text": long})
        assert stored.status_code == 201
        told = await chat(client, "Who keeps the records of the tower?", session, selectedPageIds=[page])
        [cut] = next(frame["cutPages"] for frame in told.frames if "cutPages" in frame)
        assert 0 < cut["segments"] < cut["of"]
        assert f"({cut['segments']}/{cut['of']})" in told.text.rpartition("\n\n")[2]
        assert "[^7]" not in told.text
        [_, answered] = (await client.get(f"/api/ai/sessions/{session}")).json()["messages"]
        assert answered["content"] == told.text

    async def test_another_model_than_the_one_configured_is_answered_by_that_one(
        self, model_client: httpx.AsyncClient, scripted_openai: ScriptedOpenAI
    ) -> None:
        told = await chat(model_client, LEAVE, model="glm-4.7-flash", thinking=True)
        assert told.text == "Hello."
        assert scripted_openai.requests[-1].body["model"] == "any"
        [run] = (await model_client.get("/api/runs")).json()["runs"]
        log = (await model_client.get(f"/api/runs/{run['run_id']}/stream")).text
        started = json.loads(log.split("data: ", 1)[1].split("\n", 1)[0])
        assert started["model"] == "scripted"
        assert {name: started["fallback"][name] for name in ("code", "message")} == {
            "code": "unknown_model",
            "message": f"{Reason('other_model', 'glm-4.7-flash', 'scripted')} {Reason('no_thinking', 'scripted')}",
        }
        assert [each["code"] for each in started["fallback"]["why"]] == ["other_model", "no_thinking"]

    async def test_with_another_stacks_names_a_model_that_the_picker_names_answers_if_the_endpoint_has_it(
        self, settings: Settings, scripted_openai: ScriptedOpenAI, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(backend_registry, "_ANSWERED", OrderedDict())
        configured = with_model(settings, scripted_openai).model_copy(update={"auto_title": False})
        configured._aliases["models"] = "OPENAI_COMPATIBLE_COMPLETION_MODEL"
        async with open_citewell(configured) as opened, client_of(create_app(configured, citewell=opened)) as client:
            scripted_openai.script(status(404, "no such model"), when="Hi")
            for name, answers in (("glm-9", "any"), ("glm-4.5", "glm-4.5")):
                assert (await chat(client, LEAVE, model=name)).text == "Hello."
                assert scripted_openai.requests[-1].body["model"] == answers

    async def test_among_several_endpoints_another_model_is_refused_by_name(
        self, settings: Settings, citewell: Citewell, scripted_openai: ScriptedOpenAI
    ) -> None:
        one = with_model(settings, scripted_openai)
        other = ModelSettings(name="other", base_url="http://127.0.0.1:9/v1", model="other")
        both = one.model_copy(update={"models": [*one.models, other]})
        async with open_citewell(both) as opened, client_of(create_app(both, citewell=opened)) as client:
            response = await client.post("/api/ai/chat/stream", **asking("Hello", model="glm-5"))
        assert (response.status_code, response.json()["code"]) == (400, "unknown_model")
        assert "glm-5" in response.json()["message"]

    async def test_a_plain_chat_is_as_long_as_the_model_writes_and_comes_in_pieces(
        self, model_client: httpx.AsyncClient, scripted_openai: ScriptedOpenAI
    ) -> None:
        plan = "\n".join(f"{n}. Step {n} takes a **day** or two." for n in range(1, 11))
        hold, received = Hold(), b""
        scripted_openai.script(Reply([Say(plan[:50]), hold, Say(plan[50:])]), to="own_knowledge")
        asked = asking("Write me a plan in ten steps.")
        async with model_client.stream("POST", "/api/ai/chat/stream", **asked) as response:
            async for piece in response.aiter_bytes():
                is_first = b'"chunk"' not in received
                received += piece
                if is_first and b'"chunk"' in received:
                    hold.release()
        told = Told(httpx.Response(200, headers=response.headers, content=received))
        assert (told.sources, told.text) == ([], plan)

    async def test_pages_that_do_not_answer_leave_it_to_the_model(
        self, model_client: httpx.AsyncClient, scripted_openai: ScriptedOpenAI
    ) -> None:
        scripted_openai.script(answer(), to="generate_answer")
        scripted_openai.script(say("Nobody knows."), to="own_knowledge")
        told = await chat(model_client, LEAVE, selectedPageIds=[HANDBOOK])
        assert told.sources == []
        assert told.text.startswith(prompts.lines("en").not_from_library)
        assert told.text.endswith("\n\nNobody knows.")

    async def test_a_request_may_insist_on_the_library(self, model_client: httpx.AsyncClient) -> None:
        told = await chat(model_client, "zzyzx?", isSemanticSearchEnabled=True, answerFrom="library")
        assert "in the library" in told.text

    async def test_pages_that_a_question_does_not_name_stay_selected_and_are_read(
        self, model_client: httpx.AsyncClient
    ) -> None:
        session = (await ai_session(model_client))["id"]
        for fields, selected, cited in (
            ({"selectedPageIds": [HANDBOOK]}, [HANDBOOK], [HANDBOOK]),
            ({}, [HANDBOOK], [HANDBOOK]),
            ({"selectedPageIds": None}, [HANDBOOK], [HANDBOOK]),
            ({"selectedPageIds": []}, [], []),
            ({}, [], []),
        ):
            told = await chat(model_client, "When does unused leave lapse?", session, **fields)
            assert [source["pageId"] for source in told.sources] == cited, fields
            kept = (await model_client.get(f"/api/ai/sessions/{session}")).json()["session"]
            assert kept["selectedPageIds"] == selected, fields

    async def test_a_session_is_read_whole_unless_a_limit_is_named(
        self, citewell: Citewell, client: httpx.AsyncClient
    ) -> None:
        session = (await ai_session(client))["id"]
        for _ in range(101):
            body = {"sections": [{"text": "A", "source_ids": []}], "sources": [], "citations": [], "claims": []}
            await store_turn(citewell.library.database, session, "Q", "A", body=body)
        whole = (await client.get(f"/api/ai/sessions/{session}")).json()
        assert (len(whole["messages"]), whole["nextCursor"]) == (202, None)
        page = (await client.get(f"/api/ai/sessions/{session}", params={"limit": 2})).json()
        assert page["messages"] == whole["messages"][-2:]
        assert page["nextCursor"]

    async def test_the_model_of_the_chat_makes_its_title(
        self, settings: Settings, scripted_openai: ScriptedOpenAI
    ) -> None:
        models = [
            ModelSettings(name=name, base_url=scripted_openai.base_url, model=f"{name}-model")
            for name in ("usual", "other")
        ]
        configured = settings.model_copy(update={"models": models, "default_model": "usual", "auto_title": False})
        async with open_citewell(configured) as opened, client_of(create_app(configured, citewell=opened)) as client:
            session = (await ai_session(client))["id"]
            await chat(client, "How do zorbles sleep?", session, model="other")
            titled = await client.post(f"/api/ai/sessions/{session}/auto-title")
            assert titled.json()["title"] == titled.json()["session"]["title"] != "New Chat"
        assert {request.body["model"] for request in scripted_openai.requests} == {"other-model"}

    async def test_a_stopped_answer_without_text_leaves_no_message(
        self, model_client: httpx.AsyncClient, scripted_openai: ScriptedOpenAI
    ) -> None:
        hold, session = Hold(), (await ai_session(model_client))["id"]
        scripted_openai.script(Reply([hold, Say("Never.")]), to="own_knowledge")
        reading = asyncio.create_task(model_client.post("/api/ai/chat/stream", **asking("Hello there, you", session)))
        await asyncio.to_thread(hold.wait_reached)
        asked = (await model_client.get(f"/api/ai/sessions/{session}")).json()["messages"]
        assert [(each["role"], each["content"]) for each in asked] == [("user", "Hello there, you")]
        [run] = (await model_client.get("/api/runs")).json()["runs"]
        await model_client.post(f"/api/runs/{run['run_id']}/cancel")
        await reading
        kept = (await model_client.get(f"/api/ai/sessions/{session}")).json()["messages"]
        assert kept == asked


class TestWeb:
    URL = "https://lamp.test/turning"
    LAMP = "The lamp of the lighthouse turns every twelve seconds."
    QUESTION = "How often does the lamp of the lighthouse turn?"

    @pytest.fixture
    async def web(self, settings: Settings) -> AsyncIterator[tuple[httpx.AsyncClient, Any]]:
        async with serve_web() as script:
            configured = settings.model_copy(update={"web": script.settings})
            async with open_citewell(configured) as citewell:
                for document in LIBRARY:
                    await citewell.library.ingestor.ingest(Identity(), document)
                async with client_of(create_app(configured, citewell=citewell)) as client:
                    yield client, script

    async def test_the_web_is_asked_first_and_the_pages_where_it_has_nothing(
        self, web: tuple[httpx.AsyncClient, Any]
    ) -> None:
        client, script = web
        script.searches = [found(result(self.URL, self.LAMP, "The lamp"))]
        enabled = {"isWebSearchEnabled": True, "selectedPageIds": [HANDBOOK]}
        told = await chat(client, self.QUESTION, **enabled)
        [source] = told.sources
        assert (source["url"], source["title"], source["slugId"], source["spaceSlug"]) == (self.URL, "The lamp", "", "")
        assert told.text == f"{self.LAMP}[^1]"
        script.searches = [found()]
        assert (await chat(client, LEAVE, **enabled)).text == f"{LEAVE_PASSAGE}[^1]"

    async def test_the_web_is_asked_again_in_a_models_words_where_it_had_nothing(
        self, settings: Settings, scripted_openai: ScriptedOpenAI
    ) -> None:
        reworded = "lighthouse lamp rotation period"
        scripted_openai.script(say(json.dumps({"query": reworded, "reason": "key words"})), to="rewrite_query")
        async with serve_web() as script:
            script.searches = [found(), found(result(self.URL, self.LAMP, "The lamp"))]
            configured = with_model(settings, scripted_openai).model_copy(update={"web": script.settings})
            async with (
                open_citewell(configured) as citewell,
                client_of(create_app(configured, citewell=citewell)) as client,
            ):
                told = await chat(client, self.QUESTION, isWebSearchEnabled=True)
        assert [each.json["q"] for each in script.asked if each.method == "POST"] == [self.QUESTION, reworded]
        assert [source["url"] for source in told.sources] == [self.URL]

    async def test_a_web_that_fails_leaves_the_pages(self, web: tuple[httpx.AsyncClient, Any]) -> None:
        client, script = web
        script.searches = [WebReply(status=403)]
        told = await chat(client, LEAVE, isWebSearchEnabled=True, selectedPageIds=[HANDBOOK])
        assert told.text == f"{LEAVE_PASSAGE}[^1]"

    async def test_what_the_web_brought_is_no_page_to_select(self, web: tuple[httpx.AsyncClient, Any]) -> None:
        client, script = web
        script.searches = [found(result(self.URL, self.LAMP, "The lamp"))]
        [source] = (await chat(client, self.QUESTION, isWebSearchEnabled=True)).sources
        for wanted in ({"query": "lamp"}, {"pageIds": [source["pageId"]]}, {}):
            pages = (await client.post("/api/ai/pages/search", json=wanted)).json()
            assert source["pageId"] not in [page["pageId"] for page in pages]


class TestPageSearch:
    async def titles(self, client: httpx.AsyncClient, **wanted: Any) -> list[str]:
        response = await client.post("/api/ai/pages/search", json=wanted)
        assert response.status_code == 200, response.text
        return [page["title"] for page in response.json()]

    async def test_titles_come_before_texts(self, citewell: Citewell, client: httpx.AsyncClient) -> None:
        notice = NewDocument(text="Trains are announced here.", title="Notice board")
        await citewell.library.ingestor.ingest(Identity(), notice)
        assert (await self.titles(client, query="notice"))[0] == "Notice board"
        assert "Staff handbook" in await self.titles(client, query="notice period during probation")

    async def test_a_space_limits_the_search(self, shared_client: httpx.AsyncClient) -> None:
        assert await self.titles(shared_client, spaceId="s1") == ["Staff handbook"]
        assert await self.titles(shared_client, spaceId="people", query="") == ["Staff handbook"]
        assert await self.titles(shared_client, spaceId="s1", query="travel") == []
        assert sorted(await self.titles(shared_client)) == ["Staff handbook", "Travel policy"]
        assert await self.titles(shared_client, query="zzzz") == []

    async def test_deleted_pages_are_left_out(self, client: httpx.AsyncClient) -> None:
        await client.delete(f"/api/documents/{HANDBOOK}")
        assert await self.titles(client, query="handbook") == []
        assert await self.titles(client, pageIds=[HANDBOOK, TRAVEL]) == ["Travel policy"]
        assert await self.titles(client, spaceId="s1") == []
        assert await self.titles(client, query="annual leave") == []

    async def test_a_page_without_address_has_empty_strings(self, shared_client: httpx.AsyncClient) -> None:
        [page] = (await shared_client.post("/api/ai/pages/search", json={"pageIds": [TRAVEL]})).json()
        assert page == {"pageId": TRAVEL, "title": "Travel policy", "slugId": "", "spaceId": "", "spaceSlug": ""}

    async def test_a_wrong_field_is_named(self, shared_client: httpx.AsyncClient) -> None:
        for wanted, named in [({"pageIds": ["x"]}, "pageIds.0"), ({"query": "\x00"}, "query: control")]:
            response = await shared_client.post("/api/ai/pages/search", json=wanted)
            assert (response.status_code, response.json()["code"]) == (422, "invalid_request")
            assert named in response.json()["message"]


async def test_what_belongs_to_another_is_not_there(settings: Settings, citewell: Citewell) -> None:
    async with (
        client_of(create_app(settings, citewell=citewell)) as owner,
        client_of(create_app(settings.model_copy(update={"user": "stranger"}), citewell=citewell)) as stranger,
    ):
        diary = NewDocument(document_id=str(uuid4()), text="Dear diary.", title="Diary", owner="local")
        await citewell.library.ingestor.ingest(Identity(), diary)
        session = (await ai_session(owner))["id"]
        claims = {"x-user": "local", "authorization": "Bearer local"}
        asked = await stranger.post("/api/ai/chat/stream", **asking("Hi", session, userId="local"), headers=claims)
        assert asked.status_code == 404
        assert (await stranger.get("/api/ai/sessions")).json()["sessions"] == []
        for wanted in ({"query": "diary"}, {"pageIds": [diary.document_id]}):
            assert (await owner.post("/api/ai/pages/search", json=wanted)).json()
            assert (await stranger.post("/api/ai/pages/search", json=wanted)).json() == []
        told = await chat(stranger, "What is in the diary?", selectedPageIds=[diary.document_id])
        assert told.sources == []


async def test_the_page_of_docmost_works_unchanged(shared_client: httpx.AsyncClient) -> None:
    shown = await run_client("seeds/docmost.mjs", str(shared_client.base_url), client="the Docmost AI page")
    rendered = f"{LEAVE_PASSAGE}<people/p/staff-handbook>"
    assert shown["newChat"] == {"title": "New Chat", "selectedPageIds": [], "badges": 0}
    assert shown["badge"] == "Staff handbook"
    assert shown["events"] == ["sources", "memory", "chunk", "sources"]
    assert shown["answer"] == rendered
    assert LEAVE_ANSWER in shown["popover"]
    assert shown["autoTitle"] == shown["title"] != "New Chat"
    assert (shown["cleared"], shown["greeted"], shown["order"]) == (0, True, [1, 0])
    assert (shown["restored"], shown["other"]) == (["Staff handbook"], [])
    assert shown["history"] == [["user", LEAVE], ["assistant", rendered]]
    assert shown["unknown"].startswith("404 ")
    assert "00000000-0000-4000-8000-00000000dead" in shown["unknown"]
