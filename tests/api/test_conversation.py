"""The conversation dialect over HTTP: asked, refused, left, followed again, and stopped."""

import asyncio
import json
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any

import httpx
import pytest

from api.app import create_app
from graph.entrypoint import Citewell, open_citewell
from graph.errors import InvalidRequest
from tests.api.conftest import HANDBOOK, with_model
from tests.api.reading import events_of, live_events, parse_frames, sweep_logs
from tests.api.serving import client_of
from tests.scripted_openai import Hold, Reply, Say, ScriptedOpenAI, Step, Think, answer, status
from tools.settings import Settings

PATH = "/api/rag/query-stream"
LEAVE = "How many days of annual leave does an employee get?"
FRAMES = {"accept": "text/event-stream"}


async def ask(client: httpx.AsyncClient, query: str = LEAVE, **fields: Any) -> list[dict[str, Any]]:
    return events_of(await client.get(PATH, params={"query": query, **fields}))


async def messages_of(client: httpx.AsyncClient, conversation_id: str) -> list[dict[str, Any]]:
    sessions = (await client.get("/api/sessions", params={"limit": 200})).json()["sessions"]
    [session] = [s for s in sessions if (s["dialect"], s["external_id"]) == ("conversation", conversation_id)]
    messages: list[dict[str, Any]] = (await client.get(f"/api/sessions/{session['session_id']}")).json()["messages"]
    return messages


@pytest.mark.parametrize("method", ["GET", "POST"])
async def test_a_question_is_told_from_connected_to_done(shared_client: httpx.AsyncClient, method: str) -> None:
    asked = {"query": LEAVE, "conversationId": f"{method}-1", "userId": "somebody-else"}
    sent: dict[str, Any] = {"params" if method == "GET" else "json": asked}
    response = await shared_client.request(method, PATH, **sent)
    assert response.headers["cache-control"] == "no-cache"
    assert response.headers["x-accel-buffering"] == "no"
    connected, content, done = events_of(response)
    assert connected == {"type": "connected", "conversationId": f"{method}-1"}
    passage = "Every employee gets 25 days of annual leave a year. Unused leave lapses in March."
    assert content == {"type": "content", "content": f"{passage}[1]"}
    question, reply = await messages_of(shared_client, f"{method}-1")
    [source] = done.pop("sources")
    assert done == {
        "type": "done",
        "formattedAnswer": content["content"],
        "userMessageId": question["message_id"],
        "assistantMessageId": reply["message_id"],
        "contextId": "rag-query",
        "intent": "content_query",
        "confidence": reply["assessment"]["utility"],
        "actions": [],
        "conversationId": f"{method}-1",
    }
    assert source == {
        "documentId": HANDBOOK,
        "documentName": "Staff handbook",
        "pageNumber": None,
        "relevanceScore": reply["sources"][0]["score"],
        "excerpt": reply["sources"][0]["excerpt"],
        "quotes": source["quotes"],
    }
    assert [quote["quote"] for quote in source["quotes"]] == [passage]


async def test_frames_have_no_name_and_the_id_of_their_event(shared_client: httpx.AsyncClient) -> None:
    frames = parse_frames((await shared_client.get(PATH, params={"query": LEAVE})).text)
    assert all(set(frame) == {"id", "data"} for frame in frames)
    runs, places = zip(*(frame["id"].split(":") for frame in frames), strict=True)
    assert len(set(runs)) == 1
    assert list(map(int, places)) == sorted(map(int, places))


@pytest.mark.parametrize("external", ["test-conv-id", "42", "会话/1?x=y&z", "a" * 500])
async def test_a_hosts_own_id_of_any_shape_names_a_conversation(
    shared_client: httpx.AsyncClient, external: str
) -> None:
    for query in ("Hello!", "Thanks!"):
        told = await ask(shared_client, query, conversationId=external)
        assert [told[0]["conversationId"], told[-1]["conversationId"]] == [external, external]
    assert [message["content"] for message in await messages_of(shared_client, external)][::2] == ["Hello!", "Thanks!"]


async def test_a_number_is_an_id_too(shared_client: httpx.AsyncClient) -> None:
    response = await shared_client.post(PATH, json={"query": "Hello!", "conversationId": 1729})
    assert events_of(response)[0]["conversationId"] == "1729"


@pytest.mark.parametrize("fields", [{}, {"conversationId": ""}])
async def test_without_an_id_a_conversation_is_made_that_can_be_gone_on_with(
    shared_client: httpx.AsyncClient, fields: dict[str, str]
) -> None:
    first = await ask(shared_client, "Hello!", **fields)
    made = first[0]["conversationId"]
    await ask(shared_client, "Thanks!", conversationId=made)
    assert len(await messages_of(shared_client, made)) == 4


async def test_small_talk_cites_nothing(shared_client: httpx.AsyncClient) -> None:
    done = (await ask(shared_client, "Hello!"))[-1]
    told = {name: done[name] for name in ("contextId", "intent", "confidence", "sources")}
    assert told == {"contextId": "direct-answer", "intent": "small_talk", "confidence": 1.0, "sources": []}


async def test_an_abstention_is_an_answer_without_sources(shared_client: httpx.AsyncClient) -> None:
    _, content, done = await ask(shared_client, "Who won the chess championship of 1972?")
    assert content["content"] == done["formattedAnswer"]
    assert "could not find" in content["content"]
    told = {name: done[name] for name in ("contextId", "intent", "confidence", "sources")}
    assert told == {"contextId": "rag-query", "intent": "content_query", "confidence": 0.0, "sources": []}


async def test_progress_and_previews_are_told_on_request(shared_client: httpx.AsyncClient) -> None:
    told = await ask(shared_client, progress="true")
    stages = [(event["stage"], event["percent"]) for event in told if event["type"] == "progress"]
    assert [stage for stage, _ in stages] == [
        "understanding", "retrieving", "grading", "generating", "checking", "assessing"
    ]  # fmt: skip
    percents = [percent for _, percent in stages]
    assert percents == sorted(percents)
    assert all(0 <= percent <= 100 for percent in percents)
    [preview] = [event["source"] for event in told if event["type"] == "source_preview"]
    [source] = told[-1]["sources"]
    assert preview == {name: value for name, value in source.items() if name != "quotes"}
    assert {event["type"] for event in await ask(shared_client)} == {"connected", "content", "done"}


@pytest.mark.parametrize(
    ("fields", "named"),
    [
        ({}, "query: "),
        ({"query": ""}, "query: "),
        ({"query": "x" * 10_001}, "query: "),
        ({"query": "bell \x07"}, "query: "),
        ({"query": LEAVE, "conversationId": "x" * 501}, "conversationId: "),
        ({"query": LEAVE, "conversationId": "nul \x00"}, "conversationId: "),
        ({"query": LEAVE, "progress": "perhaps"}, "progress: "),
        ({"query": LEAVE, "thinking": "perhaps"}, "thinking: "),
    ],
)
async def test_a_wrong_field_is_named_as_a_problem_or_to_an_event_source_as_a_frame(
    shared_client: httpx.AsyncClient, fields: dict[str, str], named: str
) -> None:
    ways: list[dict[str, Any]] = [{"method": "GET", "params": fields}, {"method": "POST", "json": fields}]
    for sent in ways:
        problem = await shared_client.request(url=PATH, **sent)
        assert (problem.status_code, problem.headers["content-type"]) == (422, "application/problem+json")
        assert problem.json()["detail"].startswith(named)
        framed = await shared_client.request(url=PATH, headers=FRAMES, **sent)
        assert framed.status_code == 200
        assert events_of(framed) == [
            {
                "type": "error",
                "error": problem.json()["detail"],
                "code": "invalid_request",
                "suggestion": InvalidRequest.suggestion,
                "retryable": False,
            }
        ]


async def test_what_was_refused_is_not_sent_again_by_an_event_source(shared_client: httpx.AsyncClient) -> None:
    [refused] = parse_frames((await shared_client.get(PATH, headers=FRAMES)).text)
    again = await shared_client.get(PATH, headers={**FRAMES, "last-event-id": refused["id"]})
    assert (again.status_code, again.content) == (204, b"")


async def test_a_reader_that_comes_back_is_told_the_rest_and_asks_nothing(shared_client: httpx.AsyncClient) -> None:
    asked = {"query": LEAVE, "conversationId": "comes-back", "progress": "true"}
    frames = parse_frames((await shared_client.get(PATH, params=asked)).text)
    for place, frame in enumerate(frames[:-1], start=1):
        rest = await shared_client.get(PATH, params=asked, headers={"last-event-id": frame["id"]})
        assert parse_frames(rest.text) == frames[place:]
    over = await shared_client.get(PATH, params=asked, headers={"last-event-id": frames[-1]["id"]})
    assert (over.status_code, over.content) == (204, b"")
    assert len(await messages_of(shared_client, "comes-back")) == 2


async def test_the_conversation_that_was_made_is_named_to_a_reader_that_comes_back(
    shared_client: httpx.AsyncClient,
) -> None:
    first, *_, last = parse_frames((await shared_client.get(PATH, params={"query": "Hello!"})).text)
    rest = await shared_client.get(PATH, params={"query": "Hello!"}, headers={"last-event-id": first["id"]})
    assert parse_frames(rest.text)[-1] == last


async def test_a_reader_that_comes_back_after_a_day_is_told_the_end_once(
    client: httpx.AsyncClient, citewell: Citewell
) -> None:
    asked = {"query": LEAVE, "conversationId": "a-day-later"}
    first, *_, last = parse_frames((await client.get(PATH, params=asked)).text)
    await sweep_logs(citewell)
    [end] = parse_frames((await client.get(PATH, params=asked, headers={"last-event-id": first["id"]})).text)
    assert end["data"] == last["data"]
    over = await client.get(PATH, params=asked, headers={"last-event-id": end["id"]})
    assert (over.status_code, over.content) == (204, b"")


@pytest.mark.parametrize(
    ("last_event_id", "code", "code_of"),
    [("00000000-0000-4000-8000-000000000000:3", 404, "not_found"), ("17", 422, "invalid_request")],
)
async def test_an_id_that_no_stream_gave_asks_nothing(
    shared_client: httpx.AsyncClient, last_event_id: str, code: int, code_of: str
) -> None:
    headers = {"last-event-id": last_event_id}
    problem = await shared_client.get(PATH, params={"query": LEAVE, "conversationId": "unknown"}, headers=headers)
    assert (problem.status_code, problem.json()["code"]) == (code, code_of)
    framed = await shared_client.get(PATH, params={"query": LEAVE}, headers={**headers, **FRAMES})
    assert events_of(framed)[0]["code"] == code_of


async def test_a_strangers_run_is_not_there(settings: Settings, citewell: Citewell) -> None:
    theirs = settings.model_copy(update={"user": "stranger"})
    async with (
        client_of(create_app(settings, citewell=citewell)) as owner,
        client_of(create_app(theirs, citewell=citewell)) as stranger,
    ):
        asked = {"query": "Hello!", "conversationId": "mine", "userId": "local"}
        [first, *_] = parse_frames((await owner.get(PATH, params=asked)).text)
        tried = await stranger.get(PATH, params=asked, headers={"last-event-id": first["id"]})
        assert (tried.status_code, tried.json()["code"]) == (404, "not_found")
        assert events_of(await stranger.get(PATH, params=asked))[0]["conversationId"] == "mine"
        assert len(await messages_of(owner, "mine")) == len(await messages_of(stranger, "mine")) == 2


async def held_back(client: httpx.AsyncClient, **asked: str) -> AsyncGenerator[dict[str, Any], None]:
    """Follow a stream as it comes, and leave when the caller does."""
    async with client.stream("GET", PATH, params=asked, headers=FRAMES) as response:
        async for event in live_events(response):
            yield event


async def test_a_run_goes_on_when_its_reader_leaves(
    model_client: httpx.AsyncClient, scripted_openai: ScriptedOpenAI
) -> None:
    hold = Hold()
    scripted_openai.script(Reply(steps=[hold, *answer(quoted()).steps]), to="generate_answer")
    asked = {"query": LEAVE, "conversationId": "left"}
    async with model_client.stream("GET", PATH, params=asked, headers=FRAMES) as response:
        [first] = parse_frames(await anext(response.aiter_text()))
        await asyncio.to_thread(hold.wait_reached)
    hold.release()
    back = await model_client.get(PATH, params=asked, headers={"last-event-id": first["id"]})
    assert _answered(events_of(back))
    assert (await messages_of(model_client, "left"))[-1]["outcome"] == "answered"


async def test_a_reader_comes_back_to_another_server_while_the_first_one_answers(
    settings: Settings, model_client: httpx.AsyncClient, scripted_openai: ScriptedOpenAI
) -> None:
    hold = Hold()
    scripted_openai.script(Reply(steps=[hold, *answer(quoted()).steps]), to="generate_answer")
    asked = {"query": LEAVE, "conversationId": "moves"}
    configured = with_model(settings, scripted_openai)
    async with open_citewell(configured) as opened, client_of(create_app(configured, citewell=opened)) as other:
        async with model_client.stream("GET", PATH, params=asked, headers=FRAMES) as response:
            [first] = parse_frames(await anext(response.aiter_text()))
            await asyncio.to_thread(hold.wait_reached)
        headers = {**FRAMES, "last-event-id": first["id"]}
        async with other.stream("GET", PATH, params=asked, headers=headers) as response:
            assert response.status_code == 200
            hold.release()
            assert _answered([event async for event in live_events(response)])
        assert len(await messages_of(other, "moves")) == 2


async def test_a_page_that_opens_its_event_source_twice_asks_once(
    model_client: httpx.AsyncClient, scripted_openai: ScriptedOpenAI
) -> None:
    hold = Hold()
    scripted_openai.script(Reply(steps=[hold, *answer(quoted()).steps]), to="generate_answer")
    asked = {"query": LEAVE, "conversationId": "twice"}
    async with aclosing(held_back(model_client, **asked)) as once, aclosing(held_back(model_client, **asked)) as twice:
        assert await anext(once) == await anext(twice) == {"type": "connected", "conversationId": "twice"}
        await asyncio.to_thread(hold.wait_reached)
        hold.release()
        assert [event async for event in once] == [event async for event in twice]
    assert len(await messages_of(model_client, "twice")) == 2


async def test_two_event_sources_of_one_moment_ask_once_also_in_two_servers(
    settings: Settings, model_client: httpx.AsyncClient, scripted_openai: ScriptedOpenAI
) -> None:
    configured = with_model(settings, scripted_openai)
    async with open_citewell(configured) as opened, client_of(create_app(configured, citewell=opened)) as other:
        for number in range(3):
            hold, asked = Hold(), {"query": LEAVE, "conversationId": f"moment {number}"}
            scripted_openai.script(Reply(steps=[hold, *answer(quoted()).steps]), to="generate_answer")
            opened_at_once = [held_back(client, **asked) for client in (model_client, other, model_client, other)]
            assert [each["type"] for each in await asyncio.gather(*map(anext, opened_at_once))] == ["connected"] * 4
            hold.release()
            ends = [[event async for event in each][-1] for each in opened_at_once]
            assert ends == [{**ends[0], "type": "done"}] * 4
            assert len(await messages_of(model_client, asked["conversationId"])) == 2
    assert len(scripted_openai.asked("generate_answer")) == 3


@pytest.mark.parametrize("noticed", [True, False])
async def test_a_question_that_was_closed_does_not_hold_up_the_next(
    model_client: httpx.AsyncClient, scripted_openai: ScriptedOpenAI, noticed: bool
) -> None:
    hold, conversation = Hold(), "closed"
    scripted_openai.script(Reply(steps=[hold]), to="generate_answer")
    async with (
        aclosing(held_back(model_client, query=LEAVE, conversationId=conversation)) as closed,
        aclosing(held_back(model_client, query="Hello!", conversationId=conversation)) as then,
    ):
        await anext(closed)
        await asyncio.to_thread(hold.wait_reached)
        if noticed:
            await closed.aclose()
        assert (await anext(then))["type"] == "connected"
        await closed.aclose()
        assert [event["type"] async for event in then][-1] == "done"
    [exchange] = scripted_openai.asked("generate_answer")
    assert await asyncio.to_thread(exchange.wait_disconnected)
    said = await messages_of(model_client, conversation)
    assert [(each["role"], each["content"]) for each in said[:1]] == [("user", LEAVE)]
    assert said[1]["outcome"] == "cancelled"
    assert said[1]["stop_reason"] == "interrupted"


async def test_a_document_is_named_by_its_file(client: httpx.AsyncClient) -> None:
    file = {
        "file": ("q3-report.md", b"# Q3\n\nThe zorble plant sold 812 zorbles in the third quarter.\n", "text/markdown")
    }
    uploaded = await client.post("/api/documents", data={"title": "Quarterly Report"}, files=file)
    assert uploaded.status_code == 201
    done = (await ask(client, "How many zorbles did the plant sell?"))[-1]
    assert [source["documentName"] for source in done["sources"]] == ["q3-report.md"]
    done = (await ask(client))[-1]
    assert [source["documentName"] for source in done["sources"]] == ["Staff handbook"], "there is no file"


async def test_another_question_waits_for_the_one_before_it(
    model_client: httpx.AsyncClient, scripted_openai: ScriptedOpenAI
) -> None:
    hold = Hold()
    scripted_openai.script(Reply(steps=[hold, *answer(quoted()).steps]), to="generate_answer")
    async with (
        aclosing(held_back(model_client, query=LEAVE, conversationId="two")) as one,
        aclosing(held_back(model_client, query="Hello!", conversationId="two")) as other,
    ):
        await anext(one)
        await asyncio.to_thread(hold.wait_reached)
        assert (await anext(other))["type"] == "connected"
        hold.release()
        assert [[event["type"] async for event in told][-1] for told in (one, other)] == ["done", "done"]
    said = [message["content"] for message in await messages_of(model_client, "two")]
    assert said[::2] == [LEAVE, "Hello!"]


async def test_a_host_stops_a_run_by_the_id_of_its_frames(
    model_client: httpx.AsyncClient, scripted_openai: ScriptedOpenAI
) -> None:
    hold = Hold()
    scripted_openai.script(Reply(steps=[hold]), to="generate_answer")
    async with model_client.stream("GET", PATH, params={"query": LEAVE}, headers=FRAMES) as response:
        frames = (frame async for text in response.aiter_text() for frame in parse_frames(text))
        run_id = (await anext(frames))["id"].partition(":")[0]
        await asyncio.to_thread(hold.wait_reached)
        stopped = await model_client.post(f"/api/runs/{run_id}/cancel")
        assert stopped.json()["outcome"] == "cancelled"
        [error] = [json.loads(frame["data"]) async for frame in frames]
    assert (error["type"], error["code"], error["retryable"]) == ("error", "cancel_requested", True)


async def test_a_failure_is_told_in_the_stream_in_words_for_whoever_asks(
    model_client: httpx.AsyncClient, scripted_openai: ScriptedOpenAI
) -> None:
    scripted_openai.script(status(401, "key sk-secret is wrong"), to="generate_answer")
    connected, error = await ask(model_client, conversationId="fails")
    assert connected["type"] == "connected"
    assert (error["type"], error["code"], error["retryable"]) == ("error", "model_refused", False)
    assert set(error) == {"type", "error", "code", "suggestion", "retryable"}
    assert "sk-secret" not in str(error)
    assert "whoever runs" in error["suggestion"]


async def test_thinking_is_told_on_request_and_is_no_part_of_the_answer(
    settings: Settings, scripted_openai: ScriptedOpenAI
) -> None:
    configured = with_model(settings, scripted_openai)
    models = [model.model_copy(update={"thinking_model": "thinker"}) for model in configured.models]
    configured = configured.model_copy(update={"models": models})
    thoughts: list[Step] = [Think("Is it a greeting? "), Think("It is."), Say("Good day.")]
    async with open_citewell(configured) as opened, client_of(create_app(configured, citewell=opened)) as client:
        scripted_openai.script(Reply(steps=thoughts), Reply(steps=thoughts), to="answer_directly")
        told = await ask(client, "Hello!", thinking="true")
    thinking = [event for event in told if event["type"] == "thinking"]
    assert "".join(event["content"] for event in thinking) == "Is it a greeting? It is."
    assert all(event["duration"] >= 0 for event in thinking)
    assert "greeting" not in told[-1]["formattedAnswer"]


async def test_a_comment_keeps_an_idle_stream_open(
    model_client: httpx.AsyncClient, scripted_openai: ScriptedOpenAI, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("api.dialects.conversation.routes.PING_SECONDS", 0.05)
    hold = Hold()
    scripted_openai.script(Reply(steps=[hold, *answer(quoted()).steps]), to="generate_answer")
    async with model_client.stream("GET", PATH, params={"query": LEAVE}) as response:
        heard = ""
        async for text in response.aiter_text():
            heard += text
            if ": ping\n\n" in heard and not hold._released.done():
                hold.release()
    assert parse_frames(heard)[-1]["data"].startswith('{"type":"done"')


def quoted() -> dict[str, Any]:
    return {"text": "Every employee gets 25 days of annual leave a year.", "source_ids": [f"{HANDBOOK}:0"]}


def _answered(events: list[dict[str, Any]]) -> bool:
    """Whether events are those of ``quoted``, each part told once: the text, and its mark once the judge has spoken."""
    *told, done = events
    text = "".join(event["content"] for event in told)
    return (done["type"], text, done["formattedAnswer"]) == ("done", *[f"{quoted()['text']}[1]"] * 2)
