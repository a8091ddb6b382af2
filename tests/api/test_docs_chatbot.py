"""The docs_chatbot dialect over HTTP: replies as JSON or in parts, sessions, and every limit of its contract."""

import asyncio
import json
import re
from collections.abc import AsyncIterator
from datetime import datetime
from typing import Any
from uuid import UUID, uuid1, uuid4

import httpx
import psycopg
import pytest
from pydantic import SecretStr

from api.app import create_app
from api.dialects.citation_marks import bracket
from api.dialects.docs_chatbot.encoder import LONGEST_CONTENT, ContentLimit, content
from api.dialects.section_buffer import FinalSection
from graph.entrypoint import Citewell, open_citewell
from graph.evidence import Claim, Identity, Message, Section
from tests.api.conftest import HANDBOOK, LIBRARY, with_model
from tests.api.reading import events_of
from tests.api.serving import client_of
from tests.scripted_openai import Hold, Reply, Say, ScriptedOpenAI, answer, status
from tests.wire.script import CITATION, SOURCE
from tools.library.found_files import unread_files
from tools.library.ingestion import NewDocument
from tools.process.expiry import Retention, expire
from tools.settings import Settings
from tools.storage.embedded import EmbeddedServer

PATH = "/api/docs-chat/messages"
STREAMED = {"accept": "text/event-stream"}
MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")
NODES = "A ROS 2 node is a process that performs computation."
QUESTION = "What is a ROS 2 node?"
COLCON = "Colcon builds every package of a workspace in the order of its dependencies."
RUNNING = """# Running

Run `colcon build` in the **root of the workspace**, then [source](https://docs.example/setup "how") the setup file.

- A *late* reading is worth less than a fresh one.
"""
GUIDE = NewDocument(
    document_id=str(uuid4()),
    title="ROS 2 fundamentals",
    metadata={"file_path": "docs/ros2/fundamentals.md", "tags": ["ROS2"]},
    text=f"{NODES} " + "Nodes talk to each other over topics, services and actions. " * 20,
)


@pytest.fixture(scope="module")
async def docs(
    postgres: EmbeddedServer, template: str, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[httpx.AsyncClient]:
    """A client of one deployment for all tests here, with a page of documentation in its library."""
    async with await psycopg.AsyncConnection.connect(postgres.url(), autocommit=True) as connection:
        await connection.execute(f"CREATE DATABASE docs_chatbot TEMPLATE {template}")
    url = SecretStr(postgres.url("docs_chatbot"))
    settings = Settings(_env_file=None, database_url=url, data_dir=tmp_path_factory.mktemp("docs"), pool_size=4)
    async with open_citewell(settings) as opened:
        for document in (*LIBRARY, GUIDE):
            await opened.library.ingestor.ingest(Identity(), document)
        folder = tmp_path_factory.mktemp("site") / "docs"
        folder.joinpath("build").mkdir(parents=True)
        folder.joinpath("build", "colcon.md").write_text(f"# Workspaces\n\n{COLCON}\n")
        folder.joinpath("build", "running.md").write_text(RUNNING)
        files = unread_files([folder], Identity().workspace, NewDocument(source_type="file"))
        reports = [report async for report in opened.library.ingestor.ingest_many(Identity(), files)]
        assert [report.status for report in reports] == ["created", "created"]
        async with client_of(create_app(settings, citewell=opened)) as client:
            yield client


async def ask(client: httpx.AsyncClient, query: str, **fields: Any) -> dict[str, Any]:
    response = await client.post(PATH, json={"query": query, **fields})
    assert response.status_code == 200, response.text
    reply: dict[str, Any] = response.json()
    return reply


class TestReply:
    async def test_the_first_message_makes_a_session_and_is_answered(self, docs: httpx.AsyncClient) -> None:
        reply = await ask(docs, QUESTION)
        assert UUID(reply["session_id"]).version == 4
        message, [source, *_] = reply["message"], reply["sources"]
        assert message["content"].startswith(NODES)
        assert (message["role"], message["session_id"]) == ("assistant", reply["session_id"])
        assert (reply["outcome"], reply["stop_reason"]) == ("answered", "answer_complete")
        assert source == {
            "document_id": GUIDE.document_id,
            "title": "ROS 2 fundamentals",
            "file_path": "docs/ros2/fundamentals.md",
            "relevance_score": source["relevance_score"],
            "excerpt": source["excerpt"],
            "quotes": source["quotes"],
        }
        assert source["quotes"][0]["quote"].startswith(NODES)
        assert message["content"].count("[1]") == len(source["quotes"])
        assert 0.7 <= source["relevance_score"] <= 1
        assert len(source["excerpt"]) <= 500
        assert source["excerpt"].endswith("...")
        assert message["context_used"]["chunks"] == reply["sources"]
        assert MOMENT.fullmatch(message["context_used"]["retrieval_timestamp"])
        assert MOMENT.fullmatch(message["created_at"])

    async def test_small_talk_uses_no_context(self, docs: httpx.AsyncClient) -> None:
        reply = await ask(docs, "Hello!")
        assert reply["message"]["content"]
        assert (reply["message"]["context_used"], reply["sources"]) == (None, [])

    async def test_a_refusal_is_an_answer_without_chunks(self, docs: httpx.AsyncClient) -> None:
        reply = await ask(docs, "Who won the chess championship of 1972?")
        assert reply["outcome"] == "abstained"
        assert reply["message"]["context_used"]["chunks"] == reply["sources"] == []
        assert reply["message"]["content"]

    async def test_only_what_scores_seven_tenths_is_a_source_unless_asked_otherwise(
        self, docs: httpx.AsyncClient
    ) -> None:
        query = "How do nodes talk and when does unused leave lapse?"
        assert all(source["relevance_score"] >= 0.7 for source in (await ask(docs, query))["sources"])
        wider = await ask(docs, query, threshold=0.1, top_k=2)
        assert any(source["relevance_score"] < 0.7 for source in wider["sources"])

    async def test_a_marked_passage_is_read_and_cited(self, docs: httpx.AsyncClient) -> None:
        marked = "The zorble sensor reports its distance in furlongs."
        reply = await ask(docs, "Which unit does the zorble sensor report?", selected_text=marked)
        assert reply["message"]["content"] == f"{marked}[1]"
        assert reply["sources"][0]["excerpt"] == marked
        assert (reply["sources"][0]["selection"], reply["sources"][0]["file_path"]) == (True, ""), "it is on no page"
        session = (await docs.get(f"/api/docs-chat/sessions/{reply['session_id']}")).json()
        assert session["messages"][0]["selected_text"] == marked

    @pytest.mark.parametrize(
        "selected",
        [
            "Run colcon build in the root of the workspace, then source the setup file",
            "Run colcon build in the root of\r\nthe workspace",
            "source the setup file.\nA late reading is worth less",
        ],
    )
    async def test_a_marked_passage_is_cited_from_the_page_that_it_stands_in(
        self, docs: httpx.AsyncClient, selected: str
    ) -> None:
        told = await ask(docs, "What does this mean?", selected_text=selected)
        assert {source["file_path"] for source in told["sources"]} == {"docs/build/running.md"}
        assert not any("selection" in source for source in told["sources"])
        assert "[1]" in told["message"]["content"]

    async def test_a_model_explains_a_marked_passage(
        self, model_client: httpx.AsyncClient, scripted_openai: ScriptedOpenAI
    ) -> None:
        marked, explained = "Unused leave lapses in March.", "Days that nobody took by March are lost."
        scripted_openai.script(answer({"text": explained, "source_ids": [f"{HANDBOOK}:0"]}), to="generate_answer")
        reply = await ask(model_client, "Explain this", selected_text=marked)
        assert reply["message"]["content"] == f"{explained}[1]"
        assert [source["document_id"] for source in reply["sources"]] == [HANDBOOK]
        [written] = scripted_openai.asked("generate_answer")
        assert f"Explain this\n\n“{marked}”" in written.text

    async def test_an_ingested_file_is_named_by_its_path(self, docs: httpx.AsyncClient) -> None:
        reply = await ask(docs, "In which order does colcon build the packages of a workspace?")
        assert reply["message"]["content"].startswith(f"{COLCON}[1]")
        assert reply["sources"][0]["file_path"] == "docs/build/colcon.md"

    async def test_a_document_without_a_path_is_named_by_its_address(self, docs: httpx.AsyncClient) -> None:
        leave = await ask(docs, "How many days of annual leave does an employee get?", threshold=0.1)
        [path] = {source["file_path"] for source in leave["sources"] if source["document_id"] == HANDBOOK}
        assert path == "https://wiki.example/handbook"
        trains = await ask(docs, "Which class is booked for trains?", threshold=0.1)
        assert f"/documents/{trains['sources'][0]['document_id']}" in [s["file_path"] for s in trains["sources"]]


class TestStream:
    async def test_parts_tell_the_same_as_the_session(self, docs: httpx.AsyncClient) -> None:
        response = await docs.post(PATH, json={"query": QUESTION}, headers=STREAMED)
        told = events_of(response)
        assert b"\r" not in response.content
        assert list(dict.fromkeys(part["type"] for part in told)) == ["started", "sources", "content", "done"]
        started, sources, done = told[0], told[-2], told[-1]
        ids = {"session_id": started["session_id"], "message_id": started["message_id"]}
        assert done == {"type": "done", **ids, "outcome": "answered", "stop_reason": "answer_complete"}
        session = (await docs.get(f"/api/docs-chat/sessions/{ids['session_id']}")).json()
        stored = session["messages"][-1]
        assert stored["message_id"] == ids["message_id"]
        assert stored["content"] == "".join(part["delta"] for part in told if part["type"] == "content")
        assert stored["context_used"]["chunks"] == sources["sources"]

    async def test_a_failure_ends_the_stream(
        self, model_client: httpx.AsyncClient, scripted_openai: ScriptedOpenAI
    ) -> None:
        for _ in range(4):
            scripted_openai.script(status(401, "wrong key sk-1"), to="generate_answer")
        asked = {"query": "How many days of annual leave?", "threshold": 0}
        response = await model_client.post(PATH, json=asked, headers=STREAMED)
        last = events_of(response)[-1]
        assert (last["type"], last["code"]) == ("error", "model_refused")
        assert set(last) == {"type", "session_id", "message_id", "code", "message", "suggestion", "retryable"}
        assert "sk-1" not in response.text

    async def test_a_failure_is_a_problem_where_json_was_asked_for(
        self, model_client: httpx.AsyncClient, scripted_openai: ScriptedOpenAI
    ) -> None:
        for _ in range(4):
            scripted_openai.script(status(401, "wrong key sk-1"), to="generate_answer")
        asked = {"query": "How many days of annual leave?", "threshold": 0}
        response = await model_client.post(PATH, json=asked)
        assert (response.status_code, response.json()["code"]) == (503, "model_refused")
        assert response.headers["content-type"] == "application/problem+json"
        assert response.json()["instance"].startswith("urn:uuid:")
        assert "sk-1" not in response.text

    @pytest.mark.parametrize("headers", [{}, STREAMED], ids=["json", "stream"])
    async def test_a_reader_that_leaves_stops_the_run(
        self, model_client: httpx.AsyncClient, scripted_openai: ScriptedOpenAI, headers: dict[str, str]
    ) -> None:
        hold = Hold()
        scripted_openai.script(Reply([Say('{"sections":['), hold]), to="generate_answer")
        asked = {"query": "How many days of annual leave?", "threshold": 0}
        reading = asyncio.create_task(model_client.post(PATH, json=asked, headers=headers))
        await asyncio.to_thread(hold.wait_reached)
        reading.cancel()
        await asyncio.gather(reading, return_exceptions=True)
        [exchange] = scripted_openai.asked("generate_answer")
        assert await asyncio.to_thread(exchange.wait_disconnected)


class TestSessions:
    async def test_a_session_is_read_back_and_its_messages_never_change(self, docs: httpx.AsyncClient) -> None:
        first = await ask(docs, QUESTION)
        session_id = first["session_id"]
        path = f"/api/docs-chat/sessions/{session_id}"
        before = (await docs.get(path)).json()
        assert set(before) == {"session_id", "created_at", "last_activity_at", "messages", "next_cursor"}
        asked, answered = before["messages"]
        assert asked["content"] == QUESTION
        assert (asked["role"], asked["selected_text"], asked["context_used"]) == ("user", None, None)
        assert answered == first["message"]
        second = await ask(docs, "Thanks!", session_id=session_id)
        assert second["session_id"] == session_id
        after = (await docs.get(path)).json()
        assert after["messages"][:2] == before["messages"]
        assert len(after["messages"]) == 4
        assert after["created_at"] == before["created_at"]
        moments = [after["created_at"], before["last_activity_at"], after["last_activity_at"]]
        assert all(map(MOMENT.fullmatch, moments))
        assert moments == sorted(moments, key=datetime.fromisoformat)

    async def test_a_session_is_deleted_with_its_messages(self, docs: httpx.AsyncClient) -> None:
        path = f"/api/docs-chat/sessions/{(await ask(docs, 'Hello!'))['session_id']}"
        assert (await docs.delete(path)).status_code == 204
        assert (await docs.get(path)).status_code == 404
        assert (await docs.delete(path)).status_code == 404

    async def test_long_histories_page(self, docs: httpx.AsyncClient) -> None:
        session_id = (await ask(docs, "Hello!"))["session_id"]
        await ask(docs, "Thanks!", session_id=session_id)
        path = f"/api/docs-chat/sessions/{session_id}"
        newest = (await docs.get(path, params={"limit": 2})).json()
        earlier = (await docs.get(path, params={"limit": 2, "cursor": newest["next_cursor"]})).json()
        assert newest["messages"][0]["content"] == "Thanks!"
        assert earlier["messages"][0]["content"] == "Hello!"

    async def test_what_belongs_to_another_is_not_there(self, settings: Settings, citewell: Citewell) -> None:
        theirs = settings.model_copy(update={"user": "stranger"})
        async with (
            client_of(create_app(settings, citewell=citewell)) as owner,
            client_of(create_app(theirs, citewell=citewell)) as stranger,
        ):
            session_id = (await ask(owner, "Hello!"))["session_id"]
            path = f"/api/docs-chat/sessions/{session_id}"
            asked = await stranger.post(PATH, json={"query": "Hi", "session_id": session_id})
            answers = [asked, await stranger.get(path), await stranger.delete(path)]
            assert [response.status_code for response in answers] == [404, 404, 404]
            assert len((await owner.get(path)).json()["messages"]) == 2


class TestLimits:
    @pytest.mark.parametrize(
        ("fields", "named"),
        [
            ({"query": ""}, "query: "),
            ({"query": "x" * 1001}, "query: "),
            ({"query": "a\x07b"}, "query: control characters"),
            ({"query": "  "}, "query: blank"),
            ({}, "query: "),
            ({"query": "x", "selected_text": ""}, "selected_text: "),
            ({"query": "x", "selected_text": "x" * 1001}, "selected_text: "),
            ({"query": "x", "selected_text": "a\x1bb"}, "selected_text: control characters"),
            ({"query": "x", "session_id": "mine"}, "session_id: "),
            ({"query": "x", "session_id": str(uuid1())}, "session_id: UUID version 4 expected"),
            ({"query": "x", "threshold": 1.5}, "threshold: "),
            ({"query": "x", "top_k": 31}, "top_k: "),
        ],
    )
    async def test_a_wrong_field_is_named(self, fields: dict[str, Any], named: str, docs: httpx.AsyncClient) -> None:
        response = await docs.post(PATH, json=fields)
        assert (response.status_code, response.json()["code"]) == (422, "invalid_request")
        assert named in response.json()["detail"]

    async def test_the_longest_texts_are_taken(self, docs: httpx.AsyncClient) -> None:
        reply = await ask(docs, "Hello! " + "x" * 993, selected_text="A note. " + "x" * 992, unknown="ignored")
        assert reply["message"]["content"]

    async def test_ids_in_paths_are_version_4_too(self, docs: httpx.AsyncClient) -> None:
        for method in ("GET", "DELETE"):
            wrong = await docs.request(method, f"/api/docs-chat/sessions/{uuid1()}")
            assert wrong.status_code == 422
            assert "session_id: UUID version 4 expected" in wrong.json()["detail"]
            unknown = await docs.request(method, f"/api/docs-chat/sessions/{uuid4()}")
            assert unknown.status_code == 404
        assert (await docs.post(PATH, json={"query": "Hi", "session_id": str(uuid4())})).status_code == 404


def claim(start: int, end: int, text: str) -> Claim:
    return Claim(start=start, end=end, text=text[start:end], verdict="supported", reasons=[], citations=[CITATION])


class TestLongAnswers:
    def test_an_answer_is_cut_at_the_end_of_a_section(self) -> None:
        texts = ["a" * 4000, "b" * 4000, "c" * 4000, "d"]
        message = Message(
            answer="", sections=[Section(text=text, source_ids=[]) for text in texts], citations=[], sources=[SOURCE]
        )
        assert content(message) == f"{texts[0]}\n\n{texts[1]}"

    def test_a_first_section_that_is_too_long_is_cut_behind_a_claim_and_its_mark(self) -> None:
        text = f"{'a' * 5999}. {'b' * 3999}. "
        told = FinalSection(0, text, [], [claim(0, 6000, text), claim(6001, 10_001, text)])
        assert "".join(ContentLimit().take(told, bracket)) == f"{'a' * 5999}.[1]"

    def test_a_claim_that_is_too_long_is_cut_at_a_word(self) -> None:
        text = "word " * 3000
        cut = "".join(ContentLimit().take(FinalSection(0, text, [], []), bracket))
        assert len(cut) <= LONGEST_CONTENT
        assert cut.endswith("word...")

    def test_nothing_follows_what_was_cut(self) -> None:
        limit = ContentLimit(10)
        assert limit.take(FinalSection(0, "x" * 8, [], []), bracket)
        assert limit.take(FinalSection(1, "y" * 8, [], []), bracket) == []
        assert limit.take(FinalSection(2, "z", [], []), bracket) == []

    async def test_a_long_answer_of_a_model_is_cut_alike_in_both_forms(
        self, model_client: httpx.AsyncClient, scripted_openai: ScriptedOpenAI
    ) -> None:
        sentence = "Every employee gets 25 days of annual leave a year."
        sections = [{"text": " ".join([sentence] * 80), "source_ids": [f"{HANDBOOK}:0"]} for _ in range(3)]
        asked = {"query": "How many days of annual leave?", "threshold": 0}
        scripted_openai.script(*(answer(*sections, cut=2000) for _ in range(2)), to="generate_answer")
        reply = (await model_client.post(PATH, json=asked)).json()
        told = events_of(await model_client.post(PATH, json=asked, headers=STREAMED))
        assert 1 <= len(reply["message"]["content"]) <= LONGEST_CONTENT
        assert reply["message"]["content"] == "".join(part["delta"] for part in told if part["type"] == "content")
        assert json.dumps(reply).count(sentence) < 240


async def test_a_reply_that_was_stopped_before_any_text_says_so(
    settings: Settings, scripted_openai: ScriptedOpenAI
) -> None:
    hold = Hold()
    scripted_openai.script(Reply([Say('{"sections":['), hold]), to="generate_answer")
    configured = with_model(settings, scripted_openai)
    async with (
        open_citewell(configured) as citewell,
        client_of(create_app(configured, citewell=citewell)) as client,
    ):
        await citewell.library.ingestor.ingest(Identity(), GUIDE)
        reading = asyncio.create_task(client.post(PATH, json={"query": QUESTION, "threshold": 0}))
        await asyncio.to_thread(hold.wait_reached)
        [session] = (await client.get("/api/sessions")).json()["sessions"]
        run = await citewell.runner.current(Identity(), session["session_id"])
        assert run is not None
        await client.post(f"/api/runs/{run.run_id}/cancel")
        response = await reading
    assert (response.status_code, response.json()["code"]) == (409, "session_busy")
    assert "stopped" in response.json()["detail"]


@pytest.mark.parametrize("ended", ["deleted", "expired"])
async def test_a_marked_passage_that_stands_nowhere_lives_and_dies_with_its_session(
    citewell: Citewell, client: httpx.AsyncClient, ended: str
) -> None:
    marked = "My address is jane@mail.example, and the zorbulator is rated for 42 newtons."
    query = "For how many newtons is the zorbulator rated?"
    reply, other = [await ask(client, query, selected_text=marked) for _ in range(2)]
    mine, theirs = (each["sources"][0]["document_id"] for each in (reply, other))
    assert mine != theirs
    listed = (await client.get("/api/documents", params={"limit": 200})).json()["documents"]
    assert not [each for each in listed if each["source_type"] == "selection"]
    assert (await client.get("/api/library")).json()["documents"] == len(listed)
    session = reply["session_id"]
    if ended == "deleted":
        assert (await client.delete(f"/api/docs-chat/sessions/{session}")).status_code == 204
    else:
        database = citewell.library.database
        async with database.connection() as connection:
            aged = "UPDATE sessions SET updated_at = now() - interval '8 days' WHERE session_id = %s"
            await connection.execute(aged, [session])
        await expire(database, retention=Retention(7))
    assert (await client.get(f"/api/documents/{mine}")).status_code == 404
    assert (await client.get(f"/api/documents/{mine}/raw-text")).status_code == 404
    assert (await client.get(f"/api/documents/{theirs}")).status_code == 200
