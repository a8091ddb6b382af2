"""The Self-RAG chat over HTTP: decided, retrieved, written, assessed; refused, failed, and left."""

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any
from uuid import uuid4

import httpx
import pytest

import prompts
from graph.reasons import Reason
from tests.api.conftest import HANDBOOK
from tests.api.reading import parse_frames
from tests.scripted_openai import Hold, Reply, ScriptedOpenAI, answer, say, status

PATH = "/api/rag-chat/stream"
LEAVE = "How many days of annual leave does an employee get?"
FIELDS = {
    "id", "index", "content", "score", "source_type", "title", "url",
    "owner_login", "owner_avatar_url", "stargazers_count", "language", "description",
}  # fmt: skip
QUOTED = {"text": "Every employee gets 25 days of annual leave a year.", "source_ids": [f"{HANDBOOK}:0"]}


def chat(*contents: str, **fields: Any) -> dict[str, Any]:
    """Make the body of a chat in which user and assistant take turns."""
    said = [{"role": ("user", "assistant")[at % 2], "content": content} for at, content in enumerate(contents)]
    return {"messages": said, **fields}


def told_of(response: httpx.Response) -> list[tuple[str, dict[str, Any]]]:
    assert response.headers["content-type"].startswith("text/event-stream"), response.text
    return [(frame["event"], json.loads(frame["data"])) for frame in parse_frames(response.text)]


async def ask(client: httpx.AsyncClient, *contents: str, **fields: Any) -> list[tuple[str, dict[str, Any]]]:
    return told_of(await client.post(PATH, json=chat(*contents, **fields)))


def shown(told: list[tuple[str, dict[str, Any]]]) -> str:
    return "".join(data["delta"] for event, data in told if event == "content")


async def test_an_answer_is_told_in_the_five_phases(shared_client: httpx.AsyncClient) -> None:
    told = await ask(shared_client, LEAVE)
    assert [event for event, _ in told] == ["decision", "retrieval", "content", "assessment", "done"]
    data = dict(told)
    assert data["decision"] == {"needs_retrieval": True, "reason": Reason("for_library")}
    assert data["content"] == {
        "delta": "Every employee gets 25 days of annual leave a year. Unused leave lapses in March.[ref:1]"
    }
    assert set(data["assessment"]) == {"supported", "utility"}
    assert data["assessment"]["supported"] is True
    assert data["done"]["message"] == "completed"
    [quote] = data["done"]["quotes"]
    assert (quote["index"], data["content"]["delta"]) == (1, f"{quote['quote']}[ref:1]")
    sources = data["retrieval"]["sources"]
    assert data["retrieval"]["total"] == len(sources) > 0
    assert [source["index"] for source in sources] == list(range(1, len(sources) + 1))
    assert all(set(source) == FIELDS for source in sources)
    assert sources[0]["id"] == f"{HANDBOOK}:0"
    assert sources[0]["url"] == "https://wiki.example/handbook"
    assert sources[0]["source_type"] == "article"
    assert 0 < sources[0]["score"] <= 1


async def test_small_talk_is_neither_searched_for_nor_assessed(shared_client: httpx.AsyncClient) -> None:
    told = await ask(shared_client, "Hello!")
    assert [event for event, _ in told] == ["decision", "content", "done"]
    assert told[0][1]["needs_retrieval"] is False


async def test_an_abstention_says_so_in_the_content_and_lists_nothing(shared_client: httpx.AsyncClient) -> None:
    told = await ask(shared_client, "Who won the chess championship of 1972?")
    assert [event for event, _ in told] == ["decision", "retrieval", "content", "done"]
    assert told[1][1] == {"total": 0, "sources": []}
    assert "could not find" in shown(told)
    assert "[ref:" not in shown(told)


async def test_a_stream_has_names_and_data_alone(shared_client: httpx.AsyncClient) -> None:
    response = await shared_client.post(PATH, json=chat(LEAVE))
    assert b"\r" not in response.content
    assert all(set(frame) == {"event", "data"} for frame in parse_frames(response.text))


async def test_a_chat_leaves_no_session_behind_that_is_listed(shared_client: httpx.AsyncClient) -> None:
    await ask(shared_client, "Hello!")
    sessions = (await shared_client.get("/api/sessions", params={"limit": 200})).json()["sessions"]
    assert not [session for session in sessions if session["dialect"] == "self_rag"]


async def test_general_knowledge_is_answered_without_a_mark(
    model_client: httpx.AsyncClient, scripted_openai: ScriptedOpenAI
) -> None:
    scripted_openai.script(answer(), to="generate_answer")
    scripted_openai.script(say("Four."), to="own_knowledge")
    told = await ask(model_client, "What is 2 plus 2?")
    events = [event for event, _ in told]
    assert (events[:2], events.index("retrieval") < events.index("content")) == (["decision", "retrieval"], True)
    assert [data for event, data in told if event == "retrieval"][-1] == {"total": 0, "sources": []}
    assert shown(told).startswith(prompts.lines("en").not_from_library)
    assert shown(told).endswith("\n\nFour.")
    assert told[-1][0] == "done"
    assert "assessment" not in dict(told)


async def test_what_is_known_without_the_sources_that_were_found_lists_none_of_them(
    model_client: httpx.AsyncClient, scripted_openai: ScriptedOpenAI
) -> None:
    scripted_openai.script(answer(), to="generate_answer")
    scripted_openai.script(say("About 25."), to="own_knowledge")
    told = await ask(model_client, LEAVE, min_score=0.0)
    lists = [data["total"] for event, data in told if event == "retrieval"]
    assert lists[0] > 0
    assert lists[-1] == 0
    assert shown(told).endswith("\n\nAbout 25.")


async def test_how_much_is_retrieved_is_for_the_request_to_say(model_client: httpx.AsyncClient) -> None:
    # The scripted model keeps whatever a search brings.
    many = dict(await ask(model_client, LEAVE, min_score=0.0))["retrieval"]
    one = dict(await ask(model_client, LEAVE, min_score=0.0, top_k=1))["retrieval"]
    none = dict(await ask(model_client, LEAVE, min_score=1.0, answer_from="library"))["retrieval"]
    assert many["total"] > one["total"] == 1
    assert none["total"] == 0


async def test_what_stands_around_a_hit_is_no_source_and_a_card_shows_what_is_quoted(
    model_client: httpx.AsyncClient, scripted_openai: ScriptedOpenAI
) -> None:
    part = "The harbour office keeps its records in the old tower, and nobody looks at them but the clerk. " * 20
    said = "Moorings on the quay are given out by lot in the first week of May."
    text = f"# Harbour\n\n{part}\n\n## Moorings\n\n{part}{said} {part}\n\n## Cranes\n\n{part}\n"
    document = str(uuid4())
    stored = await model_client.put(f"/api/documents/{document}", json={"title": "Harbour", "text": text})
    assert stored.status_code == 201
    scripted_openai.script(answer({"text": said, "source_ids": []}), to="generate_answer")
    told = await ask(model_client, "When are moorings on the quay given out by lot?", min_score=0.0, top_k=2)
    first, last = [data for event, data in told if event == "retrieval"]
    assert first["total"] == last["total"] <= 2
    assert [each["id"] for each in first["sources"]] == [each["id"] for each in last["sources"]]
    assert shown(told) == f"{said}[ref:1]"
    assert said not in first["sources"][0]["content"]
    assert said in last["sources"][0]["content"]


@pytest.mark.parametrize(
    ("body", "named"),
    [
        ({}, "messages: "),
        (chat(), "messages: "),
        (chat("Hello", "Hello."), "messages: "),
        (chat(" \n"), "messages: "),
        (chat("x" * 10_001), "messages.0.content: "),
        (chat("bell \x07"), "messages.0.content: "),
        ({"messages": [{"role": "system", "content": "Obey."}]}, "messages.0.role: "),
        ({"messages": [{"role": "user"}]}, "messages.0.content: "),
        ({"messages": "Hello"}, "messages: "),
        (chat("Hello", top_k=0), "top_k: "),
        (chat("Hello", top_k=31), "top_k: "),
        (chat("Hello", min_score=-0.1), "min_score: "),
        (chat("Hello", min_score=1.1), "min_score: "),
    ],
)
async def test_a_wrong_field_is_named(shared_client: httpx.AsyncClient, body: dict[str, Any], named: str) -> None:
    response = await shared_client.post(PATH, json=body)
    assert (response.status_code, response.json()["code"]) == (422, "invalid_request")
    assert response.json()["detail"].startswith(named)


async def test_a_model_that_is_not_configured_is_400(shared_client: httpx.AsyncClient) -> None:
    response = await shared_client.post(PATH, json=chat("Hello", model="glm-4-flash"))
    assert (response.status_code, response.json()["code"]) == (400, "unknown_model")
    assert "glm-4-flash" in response.json()["detail"]


async def test_unknown_fields_are_passed_over(shared_client: httpx.AsyncClient) -> None:
    body = {"messages": [{"role": "user", "content": "Hello!", "id": "m1"}], "stream": True, "user_id": "another"}
    assert told_of(await shared_client.post(PATH, json=body))[-1] == ("done", {"message": "completed"})


async def test_what_was_said_before_is_remembered_without_its_marks(
    model_client: httpx.AsyncClient, scripted_openai: ScriptedOpenAI
) -> None:
    failed = ["And sick leave?", " "]
    before = ["How much leave do I get?", "25 days.[ref:1][ref:12] A year, says [\u2060ref:3].", *failed]
    await ask(model_client, *before, "And when does it lapse?\tSoon?")
    asked = scripted_openai.asked("decide_retrieval")[-1].text
    assert "How much leave do I get?" in asked
    assert "25 days. A year, says [ref:3]." in asked
    assert "sick leave" not in asked


async def test_line_ends_of_earlier_answers_are_no_reason_to_refuse(shared_client: httpx.AsyncClient) -> None:
    told = await ask(shared_client, "Hello!", "Hello.\r\nAsk me.\x00", "Thanks!")
    assert told[-1][0] == "done"


async def test_the_card_of_a_repository_is_drawn_from_its_metadata(client: httpx.AsyncClient) -> None:
    repository = {
        "title": "acme/parser",
        "url": "https://git.example/acme/parser",
        "source_type": "repository",
        "text": "# parser\n\nThe parser reads tables from PDF files in constant memory.\n",
        "metadata": {
            "owner_login": "acme",
            "repository_owner_avatar_url": "https://git.example/acme.png",
            "stargazers_count": 1520,
            "language": 7,
        },
    }
    assert (await client.put(f"/api/documents/{uuid4()}", json=repository)).status_code == 201
    told = await ask(client, "What does the parser read tables from?")
    [source] = dict(told)["retrieval"]["sources"]
    assert {name: source[name] for name in FIELDS - {"id", "index", "content", "score"}} == {
        "source_type": "repository",
        "title": "acme/parser",
        "url": "https://git.example/acme/parser",
        "owner_login": "acme",
        "owner_avatar_url": "https://git.example/acme.png",
        "stargazers_count": 1520,
        "language": None,  # a card can't show a number there
        "description": None,
    }


async def test_a_failure_ends_the_stream_with_a_message(
    model_client: httpx.AsyncClient, scripted_openai: ScriptedOpenAI
) -> None:
    scripted_openai.script(status(401, "key sk-secret is wrong"), to="generate_answer")
    told = await ask(model_client, LEAVE)
    assert [event for event, _ in told] == ["decision", "retrieval", "error"]
    assert set(told[-1][1]) == {"message"}
    assert "sk-secret" not in told[-1][1]["message"]


async def live(response: httpx.Response) -> AsyncIterator[str]:
    async for text in response.aiter_text():
        for frame in parse_frames(text):
            yield frame["event"]


async def test_sources_are_there_before_the_model_has_written_and_a_reader_that_leaves_stops_it(
    model_client: httpx.AsyncClient, scripted_openai: ScriptedOpenAI
) -> None:
    hold = Hold()
    scripted_openai.script(Reply(steps=[hold, *answer(QUOTED).steps]), to="generate_answer")
    async with model_client.stream("POST", PATH, json=chat(LEAVE)) as response:
        events = live(response)
        assert [await anext(events), await anext(events)] == ["decision", "retrieval"]
        await asyncio.to_thread(hold.wait_reached)
    [writing] = scripted_openai.asked("generate_answer")
    assert await asyncio.to_thread(writing.wait_disconnected)
