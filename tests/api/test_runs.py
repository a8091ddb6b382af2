"""Runs over real HTTP: told, given whole, left, continued, cancelled, carried over a restart."""

import asyncio
from typing import Any

import httpx
import pytest

from api.app import create_app
from graph.entrypoint import Citewell, open_citewell
from tests.api.conftest import HANDBOOK, new_session
from tests.api.reading import events_of, live_events
from tests.api.serving import client_of
from tests.scripted_openai import Hold, Reply, Say, ScriptedOpenAI
from tools.settings import Settings

ASKED = {"question": "How many days of annual leave does an employee get?"}


async def ask(client: httpx.AsyncClient, session_id: str, **fields: Any) -> httpx.Response:
    return await client.post(f"/api/sessions/{session_id}/runs", json={**ASKED, **fields})


async def end_in_ledger(client: httpx.AsyncClient, run_id: str) -> dict[str, Any]:
    """Wait until the ledger has the run's end."""
    async with asyncio.timeout(60):
        while True:
            status: dict[str, Any] = (await client.get(f"/api/runs/{run_id}")).json()
            if status["status"] == "finished":
                return status
            await asyncio.sleep(0.01)


async def test_a_run_is_told_from_start_to_one_end(client: httpx.AsyncClient) -> None:
    session_id = await new_session(client)
    events = events_of(await ask(client, session_id))
    assert [event["seq"] for event in events] == list(range(1, len(events) + 1))
    assert {event["session_id"] for event in events} == {session_id}
    assert events[0]["type"] == "run_started"
    assert [e["type"] for e in events if e["type"] in ("run_finished", "run_failed")] == ["run_finished"]
    end = events[-1]
    assert end["outcome"] == "answered"
    citation = end["message"]["citations"][0]
    assert citation["document_id"] == HANDBOOK
    assert "25 days" in citation["quote"]
    raw = (await client.get(f"/api/documents/{HANDBOOK}/raw-text")).json()
    text = "".join(segment["text"] for segment in raw["segments"])
    assert text[citation["start"] : citation["end"]] == citation["quote"]


async def test_a_passage_names_the_older_documents_that_hold_a_copy_of_it(client: httpx.AsyncClient) -> None:
    rule = "A member who leaves the rowing club gives back the key of the boat house within ten days."
    texts = {"2024": rule, "2025": f"{rule} Please.", "2026": rule}
    for year, text in texts.items():
        document = {"title": "Rules", "text": f"# Leaving\n\n{text}", "name": f"{year}.md", "metadata": {"date": year}}
        assert (await client.post("/api/documents", json=document)).status_code == 201
    session_id = await new_session(client)
    question = "When does a member who leaves the rowing club give back the key?"
    events = events_of(await ask(client, session_id, question=question))
    checked = next(event for event in events if event["type"] == "section_checked")
    stored = (await client.get(f"/api/sessions/{session_id}")).json()["messages"][1]
    for [citation, *_] in (checked["claims"][0]["citations"], events[-1]["message"]["citations"], stored["citations"]):
        assert (citation["quote"], citation["date"], citation["dated_by"]) == (rule, "2026", "document")
        assert [(each["date"], each["title"]) for each in citation["copies"]] == [("2025", "Rules"), ("2024", "Rules")]


async def test_the_finished_message_is_in_the_session(client: httpx.AsyncClient) -> None:
    session_id = await new_session(client)
    events = events_of(await ask(client, session_id, page_ids=[HANDBOOK]))
    session = (await client.get(f"/api/sessions/{session_id}")).json()
    asked, answered = session["messages"]
    assert (asked["role"], asked["content"], asked["page_ids"]) == ("user", ASKED["question"], [HANDBOOK])
    assert answered["message_id"] == events[0]["message_id"]
    assert answered["outcome"] == "answered"
    end = events[-1]
    for field in ("sections", "sources"):
        assert answered[field] == end["message"][field]
    fresh = [{**citation, "freshness": "fresh"} for citation in end["message"]["citations"]]
    assert answered["citations"] == fresh
    of_claims = [{**each, "mark": claim["mark"]} for claim in answered["claims"] for each in claim["citations"]]
    assert of_claims == fresh
    assert answered["content"] == end["message"]["answer"]
    assert answered["spent"] == end["spent"]
    assert session["session"]["page_ids"] == [HANDBOOK]


async def test_a_marked_passage_is_cited_and_kept_with_the_question(client: httpx.AsyncClient) -> None:
    session_id = await new_session(client)
    marked = "Unused leave lapses in March."
    fields = {"question": "When does unused leave lapse?", "selected_text": marked, "page_ids": [HANDBOOK]}
    end = events_of(await ask(client, session_id, **fields))[-1]
    [citation] = end["message"]["citations"]
    highlight, start = citation["highlight"], citation["start"]
    assert citation["quote"][highlight["start"] - start : highlight["end"] - start] == marked
    asked, answered = (await client.get(f"/api/sessions/{session_id}")).json()["messages"]
    assert (asked["selected_text"], answered["selected_text"]) == (marked, None)


async def test_a_passage_of_no_document_is_cited_from_a_document_of_its_own(client: httpx.AsyncClient) -> None:
    session_id = await new_session(client)
    marked = "The canteen closes at nine on Fridays."
    body = {"question": "When does the canteen close?", "selected_text": marked, "search": "off", "stream": False}
    message = (await ask(client, session_id, **body)).json()["message"]
    [citation] = message["citations"]
    raw = (await client.get(f"/api/documents/{citation['document_id']}/raw-text")).json()
    assert "".join(segment["text"] for segment in raw["segments"])[citation["start"] : citation["end"]] == marked
    assert {source["source_type"] for source in message["sources"]} == {"selection"}


async def test_a_page_named_by_its_number_alone_answers(client: httpx.AsyncClient) -> None:
    pages = ["The fee is 10 euros for adults.", "The club opens at nine.", "The fee is 30 euros for members."]
    body = {"title": "Club rules", "text": "\f".join(pages)}
    document_id = (await client.post("/api/documents", json=body)).json()["document_id"]
    for question in ("What is the fee on page 3?", "What does page three say?"):
        asked = await ask(client, await new_session(client), question=question, page_ids=[document_id], stream=False)
        quotes = [(citation["page_idx"], citation["quote"]) for citation in asked.json()["message"]["citations"]]
        assert quotes == [(2, pages[2])], question


async def test_a_web_that_is_not_configured_is_said_and_the_library_answers(client: httpx.AsyncClient) -> None:
    events = events_of(await ask(client, await new_session(client), web="also"))
    assert [event["kind"] for event in events if event["type"] == "search_failed"] == ["web"]
    assert events[-1]["outcome"] == "answered"


async def test_a_run_is_told_its_seconds(client: httpx.AsyncClient) -> None:
    session_id = await new_session(client)
    assert events_of(await ask(client, session_id))[0]["budget"]["seconds"] == 120
    assert events_of(await ask(client, session_id, budget={"seconds": 7.5}))[0]["budget"]["seconds"] == 7.5


async def test_without_a_stream_the_end_comes_as_json(client: httpx.AsyncClient) -> None:
    session_id = await new_session(client)
    response = await ask(client, session_id, stream=False)
    assert response.status_code == 200
    end = response.json()
    assert end["session_id"] == session_id
    assert end["outcome"] == "answered"
    assert "25 days" in end["message"]["answer"]
    assert (await client.get(f"/api/runs/{end['run_id']}")).json()["outcome"] == "answered"


async def test_a_question_beyond_the_library_is_an_abstention_with_the_nearest(client: httpx.AsyncClient) -> None:
    session_id = await new_session(client)
    response = await ask(client, session_id, stream=False, question="Who won the chess championship of 1972?")
    assert response.json()["outcome"] == "abstained"
    assert response.json()["message"]["citations"] == []


async def test_a_session_survives_a_restart(settings: Settings, citewell: Citewell) -> None:
    async with client_of(create_app(settings, citewell=citewell)) as client:
        session_id = await new_session(client)
        await ask(client, session_id, stream=False, question="What is the notice period?")
    async with open_citewell(settings) as again, client_of(create_app(settings, citewell=again)) as client:
        events = events_of(await ask(client, session_id, question="And during probation?"))
        decided = next(event for event in events if event["type"] == "retrieval_decided")
        assert "notice" in decided["standalone_question"].lower()
        assert "one month" in events[-1]["message"]["answer"]
        assert len((await client.get(f"/api/sessions/{session_id}")).json()["messages"]) == 4


def held_reply(hold: Hold) -> Reply:
    """A reply that stops in the middle of its first section."""
    return Reply(
        steps=[Say('{"sections": [{"text": "Every employee gets 25'), hold, Say(' days.", "source_ids": []}]}')]
    )


@pytest.mark.parametrize("stream", [True, False], ids=["stream", "json"])
async def test_a_client_that_leaves_cancels_the_run_and_the_model_call(
    model_client: httpx.AsyncClient, scripted_openai: ScriptedOpenAI, stream: bool
) -> None:
    hold = Hold()
    scripted_openai.script(held_reply(hold), to="generate_answer")
    session_id = await new_session(model_client)
    leaving = asyncio.create_task(ask(model_client, session_id, stream=stream, search="always"))
    await asyncio.to_thread(hold.wait_reached)
    leaving.cancel()
    await asyncio.gather(leaving, return_exceptions=True)
    exchange = scripted_openai.asked("generate_answer")[0]
    assert await asyncio.to_thread(exchange.wait_disconnected)
    [message] = await answers_of(model_client, session_id)
    status = await end_in_ledger(model_client, message["run_id"])
    assert (status["outcome"], status["stop_reason"]) == ("cancelled", "client_disconnected")


async def answers_of(client: httpx.AsyncClient, session_id: str) -> list[dict[str, Any]]:
    """Wait for the session's answer."""
    async with asyncio.timeout(60):
        while True:
            messages = (await client.get(f"/api/sessions/{session_id}")).json()["messages"]
            if answers := [message for message in messages if message["role"] == "assistant"]:
                return answers
            await asyncio.sleep(0.01)


async def test_text_of_a_half_written_section_is_already_at_the_client(
    model_client: httpx.AsyncClient, scripted_openai: ScriptedOpenAI
) -> None:
    hold = Hold()
    scripted_openai.script(held_reply(hold), to="generate_answer")
    session_id = await new_session(model_client)
    url = f"/api/sessions/{session_id}/runs"
    async with model_client.stream("POST", url, json={**ASKED, "search": "always"}) as response:
        text = ""
        async for event in live_events(response):
            if event["type"] == "text_delta":
                text += event["delta"]
                if text.strip() == "Every employee":  # a word waits for its end: it could become an address, or an id
                    hold.release()
            elif event["type"] == "run_finished":
                break
    assert text == "Every employee gets 25 days."


async def test_a_run_that_shall_continue_ends_without_its_client(
    model_client: httpx.AsyncClient, scripted_openai: ScriptedOpenAI
) -> None:
    hold = Hold()
    scripted_openai.script(held_reply(hold), to="generate_answer")
    session_id = await new_session(model_client)
    url = f"/api/sessions/{session_id}/runs"
    fields = {**ASKED, "search": "always", "on_disconnect": "continue"}
    async with model_client.stream("POST", url, json=fields) as response:
        await asyncio.to_thread(hold.wait_reached)
        assert response.status_code == 200
    hold.release()
    [message] = await answers_of(model_client, session_id)
    assert (message["outcome"], message["content"]) == ("answered", "Every employee gets 25 days.")


async def test_a_session_answers_one_question_at_a_time(
    model_client: httpx.AsyncClient, scripted_openai: ScriptedOpenAI
) -> None:
    hold = Hold()
    scripted_openai.script(held_reply(hold), to="generate_answer")
    session_id = await new_session(model_client)
    first = asyncio.create_task(ask(model_client, session_id, search="always"))
    await asyncio.to_thread(hold.wait_reached)
    second = await ask(model_client, session_id)
    assert (second.status_code, second.json()["code"]) == (409, "session_busy")
    assert (await model_client.delete(f"/api/sessions/{session_id}")).status_code == 409
    hold.release()
    assert events_of(await first)[-1]["type"] == "run_finished"
    assert events_of(await ask(model_client, session_id))[-1]["type"] == "run_finished"


async def test_a_run_is_cancelled_on_request(model_client: httpx.AsyncClient, scripted_openai: ScriptedOpenAI) -> None:
    hold = Hold()
    scripted_openai.script(held_reply(hold), to="generate_answer")
    session_id = await new_session(model_client)
    url = f"/api/sessions/{session_id}/runs"
    events = []
    async with model_client.stream("POST", url, json={**ASKED, "search": "always"}) as response:
        async for event in live_events(response):
            events.append(event)
            if event["type"] == "run_started":
                await asyncio.to_thread(hold.wait_reached)
                cancelled = await model_client.post(f"/api/runs/{event['run_id']}/cancel")
    assert (cancelled.status_code, cancelled.json()["outcome"]) == (200, "cancelled")
    assert [e["type"] for e in events].count("run_finished") == 1
    assert (events[-1]["type"], events[-1]["stop_reason"]) == ("run_finished", "cancel_requested")
    assert await asyncio.to_thread(scripted_openai.asked("generate_answer")[0].wait_disconnected)
    again = await model_client.post(f"/api/runs/{events[0]['run_id']}/cancel")
    assert (again.status_code, again.json()["stop_reason"]) == (200, "cancel_requested")


async def test_a_failed_model_is_told_as_the_runs_failure(
    model_client: httpx.AsyncClient, scripted_openai: ScriptedOpenAI
) -> None:
    session_id = await new_session(model_client)
    broken = [Reply(status=400, error={"message": "secret internals", "type": "error"})] * 8
    scripted_openai.script(*broken, to="generate_answer")
    response = await ask(model_client, session_id, stream=False, search="always")
    problem = response.json()
    assert response.headers["content-type"] == "application/problem+json"
    assert response.status_code in (502, 503)
    assert problem["instance"].startswith("urn:uuid:")
    assert "secret" not in response.text
    status = await end_in_ledger(model_client, problem["instance"].removeprefix("urn:uuid:"))
    assert (status["outcome"], status["stop_reason"]) == ("failed", problem["code"])
