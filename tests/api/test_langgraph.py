"""The API of LangGraph's server as its own clients use it: the SDK for Python, and ``useStream`` in a page."""

import json
from collections.abc import AsyncIterator
from itertools import pairwise
from typing import Any

import httpx
import pytest
from langgraph_sdk import get_client
from langgraph_sdk.client import LangGraphClient

from api.app import create_app
from graph.entrypoint import Citewell
from tests.api.conftest import HANDBOOK
from tests.api.serving import served
from tests.api.test_errors import assert_problem
from tests.wire.node_clients import run_client
from tools.settings import Settings

LEAVE = "When does unused leave lapse?"
NOTICE = "And the notice period?"
QUOTE = "Unused leave lapses in March."


@pytest.fixture
async def url(settings: Settings, citewell: Citewell) -> AsyncIterator[str]:
    async with served(create_app(settings, citewell=citewell)) as address:
        yield f"{address}/langgraph"


@pytest.fixture
async def client(url: str) -> AsyncIterator[LangGraphClient]:
    async with get_client(url=url, api_key=None) as opened:
        yield opened


def asked(text: str) -> dict[str, Any]:
    return {"messages": [{"type": "human", "content": text}]}


async def streamed(client: LangGraphClient, thread_id: str, **run: Any) -> list[tuple[str, Any]]:
    """Run in a thread; give the events with their data."""
    return [(part.event, part.data) async for part in client.runs.stream(thread_id, "citewell", **run)]


async def ask(client: LangGraphClient, thread_id: str, text: str, **run: Any) -> list[dict[str, Any]]:
    """Ask in a thread; give its messages as the last values have them."""
    event, last = (await streamed(client, thread_id, input=asked(text), **run))[-1]
    assert event == "values", last
    messages: list[dict[str, Any]] = last["messages"]
    return messages


def text_of(message: dict[str, Any]) -> str:
    return "".join(block["text"] for block in message["content"])


async def test_an_answer_is_streamed_and_is_the_same_in_the_state(client: LangGraphClient, citewell: Citewell) -> None:
    thread = (await client.threads.create())["thread_id"]
    modes: Any = ["values", "messages-tuple", "updates", "custom"]
    parts = await streamed(client, thread, input=asked(LEAVE), stream_mode=modes)
    assert parts[0][0] == "metadata"
    pieces = [data[0] for event, data in parts if event == "messages"]
    event, last = parts[-1]
    human, answer = last["messages"]
    assert (event, human["type"], human["content"]) == ("values", "human", LEAVE)
    assert "".join(map(text_of, pieces)) == text_of(answer)
    assert {piece["id"] for piece in pieces} == {answer["id"]}
    [cited] = answer["content"][0]["annotations"]
    assert QUOTE in cited["cited_text"]
    assert text_of(answer)[cited["start_index"] : cited["end_index"]] == cited["cited_text"]
    assert (cited["url"], cited["extras"]["citewell"]["segment_id"]) == (
        "https://wiki.example/handbook#leave",
        f"{HANDBOOK}:0",
    )
    assert answer["additional_kwargs"]["metadata"]["citewell"]["outcome"] == "answered"
    [updated] = [data for event, data in parts if event == "updates"]
    assert updated == {"citewell": {"messages": [answer]}}
    assert "run_finished" in [data["type"] for event, data in parts if event == "custom"]
    state: Any = await client.threads.get_state(thread)
    assert state["values"] == {"messages": [human, answer]}


async def test_a_thread_goes_on_and_is_read_state_by_state(client: LangGraphClient) -> None:
    thread = (await client.threads.create())["thread_id"]
    await ask(client, thread, LEAVE)
    messages = await ask(client, thread, NOTICE)
    assert [message["type"] for message in messages] == ["human", "ai"] * 2
    assert "three months" in text_of(messages[3])
    history: list[Any] = await client.threads.get_history(thread, limit=10)
    assert [len(state["values"]["messages"]) for state in history] == [4, 3, 2, 1, 0]
    for state, parent in pairwise(history):
        assert state["parent_checkpoint"] == parent["checkpoint"]
    assert len(await client.threads.get_history(thread, limit=2)) == 2
    found: Any = await client.threads.search(limit=5)
    assert [each["thread_id"] for each in found] == [thread]
    read: Any = await client.threads.get(thread)
    assert read["values"]["messages"] == messages


async def test_a_question_is_edited_and_an_answer_regenerated_by_checkpoint(client: LangGraphClient) -> None:
    thread = (await client.threads.create())["thread_id"]
    first = await ask(client, thread, LEAVE)
    await ask(client, thread, NOTICE)
    history: list[Any] = await client.threads.get_history(thread)
    by_length = {len(state["values"]["messages"]): state["checkpoint"] for state in history}
    made: list[Any] = []
    again = (await streamed(client, thread, checkpoint=by_length[3], on_run_created=made.append))[-1][1]["messages"]
    joined = [part.data async for part in client.runs.join_stream(thread, made[0]["run_id"])]
    assert joined[-1]["messages"] == again
    assert again[:2] == first
    assert (again[2]["content"], len(again)) == (NOTICE, 4)
    edited = await ask(client, thread, "Which class is booked for trains?", checkpoint=by_length[0])
    assert [message["type"] for message in edited] == ["human", "ai"]
    state: Any = await client.threads.get_state(thread)
    assert state["values"]["messages"] == edited


async def test_earlier_messages_of_a_new_thread_are_its_history(client: LangGraphClient) -> None:
    told = [("human", LEAVE), ("ai", QUOTE), ("human", "And what else of it?")]
    sent = {"messages": [{"type": kind, "content": [{"type": "text", "text": text}]} for kind, text in told]}
    thread = "5eed0000-0000-4000-8000-00000000000f"
    parts = await streamed(client, thread, input=sent, if_not_exists="create", stream_mode=["values", "custom"])
    [decided] = [data for event, data in parts if event == "custom" and data["type"] == "retrieval_decided"]
    assert "leave" in decided["standalone_question"]


async def test_a_run_is_joined_from_its_beginning_and_cancelled(client: LangGraphClient, url: str) -> None:
    thread = (await client.threads.create())["thread_id"]
    made: list[Any] = []
    async for _ in client.runs.stream(thread, "citewell", input=asked(LEAVE), on_run_created=made.append):
        pass
    run_id = made[0]["run_id"]
    joined = [part async for part in client.runs.join_stream(thread, run_id)]
    state: Any = await client.threads.get_state(thread)
    assert joined[-1].data == state["values"]
    for modes in (["values", "custom"], '["values","custom"]'):  # as each SDK sends it
        parts = [part.event async for part in client.runs.join_stream(thread, run_id, stream_mode=modes)]  # type: ignore[arg-type]
        assert set(parts) == {"metadata", "values", "custom"}
    await client.runs.cancel(thread, run_id)
    other = (await client.threads.create())["thread_id"]
    async with httpx.AsyncClient(trust_env=False) as http:
        assert_problem(await http.get(f"{url}/threads/{other}/runs/{run_id}/stream"), 404, "not_found")


async def test_assistants_are_models(client: LangGraphClient) -> None:
    assert [each["assistant_id"] for each in await client.assistants.search()] == ["citewell", "extractive"]


@pytest.mark.parametrize(
    ("body", "status", "code", "named"),
    [
        ({}, 422, "invalid_request", "input.messages"),
        ({"input": asked(" ")}, 422, "invalid_request", "input.messages"),
        ({"input": asked(LEAVE), "context": {"depth": 3}}, 422, "invalid_request", "depth"),
        ({"input": asked(LEAVE), "context": {"top_k": 99}}, 422, "invalid_request", "top_k"),
        ({"input": asked(LEAVE), "checkpoint": {"checkpoint_id": "none"}}, 404, "not_found", "checkpoint"),
        ({"input": asked(LEAVE), "interrupt_before": ["grade_segments"]}, 422, "invalid_request", "interrupt_before"),
        ({"input": asked(LEAVE), "assistant_id": "agent"}, 400, "unknown_model", "agent"),
    ],
)
async def test_what_can_not_be_asked_is_refused_by_name(
    client: LangGraphClient, url: str, body: dict[str, Any], status: int, code: str, named: str
) -> None:
    thread = (await client.threads.create())["thread_id"]
    async with httpx.AsyncClient(trust_env=False) as http:
        refused = await http.post(f"{url}/threads/{thread}/runs/stream", json=body)
    assert_problem(refused, status, code)
    assert named in refused.text


async def test_a_page_with_langgraphs_hook_asks_edits_and_regenerates(url: str, client: LangGraphClient) -> None:
    release = "@langchain/langgraph-sdk/react"
    actions = [["send", LEAVE], ["send", NOTICE], ["regenerate"], ["edit", 0, "Which class is booked for trains?"]]
    first, second, again, edited = await run_client(
        "langgraph_chat.mjs", release, url, json.dumps(actions), client=release
    )
    assert [each["error"] for each in (first, second, again, edited)] == [None] * 4
    [human, answer] = first["messages"]
    assert (human["content"], QUOTE in text_of(answer)) == (LEAVE, True)
    assert QUOTE in answer["content"][0]["annotations"][0]["cited_text"]
    assert second["messages"][:2] == first["messages"]
    assert [message["type"] for message in again["messages"]] == ["human", "ai"] * 2
    assert again["messages"][2] == second["messages"][2]
    assert again["messages"][3]["id"] != second["messages"][3]["id"]
    assert [message["content"] for message in edited["messages"] if message["type"] == "human"] == [
        "Which class is booked for trains?"
    ]
    assert len(edited["messages"]) == 2
