"""The AG-UI agent, by its protocol's own models and by both clients that are in use."""

import asyncio
import json
import re
from typing import Any
from uuid import uuid4

import httpx
import pytest
from ag_ui.core import Event
from hypothesis import given
from pydantic import TypeAdapter

from api.dialects.ag_ui.encoder import AgUiEncoder
from api.dialects.citation_marks import JOINER, bracket, marked_text
from graph.events import Envelope, RunFinished
from tests.api.conftest import HANDBOOK
from tests.api.reading import events_of, parse_frames
from tests.scripted_openai import Hold, Reply, Say, ScriptedOpenAI, Think, answer, status
from tests.wire.node_clients import run_client
from tests.wire.runs import broken_runs, cancelled_runs, is_revised, runs

LEAVE = "How many days of annual leave does an employee get?"
CLIENTS = ["@ag-ui/client", "@ag-ui/client-0.0.59"]
EVENT: TypeAdapter[Any] = TypeAdapter(Event)


def asked(text: str, **fields: Any) -> dict[str, Any]:
    message = {"id": "u1", "role": "user", "content": text}
    empty = {"state": {}, "tools": [], "context": [], "forwardedProps": {}}
    return {"threadId": str(uuid4()), "runId": "r1", "messages": [message], **empty, **fields}


async def run(client: httpx.AsyncClient, package: str, *runs: dict[str, Any], state: Any = None) -> list[Any]:
    """Run the agent on one thread with its own client."""
    arguments = [package, str(client.base_url), json.dumps(runs), str(uuid4()), json.dumps(state or {})]
    told: list[Any] = await run_client("ag_ui.mjs", *arguments, client=f"HttpAgent, {package}")
    return told


def custom(told: dict[str, Any], name: str) -> Any:
    [event] = [event for event in told["events"] if event["type"] == "CUSTOM" and event["name"] == name]
    return event["value"]


@pytest.mark.parametrize("package", CLIENTS)
async def test_both_clients_hear_every_outcome(shared_client: httpx.AsyncClient, package: str) -> None:
    answered, small_talk, abstained = await run(
        shared_client,
        package,
        {"content": LEAVE},
        {"content": "Hello!"},
        {"content": "Who won the chess championship of 1972?"},
        state={"theme": "dark"},
    )
    assert [told["error"] for told in (answered, small_talk, abstained)] == [None] * 3
    kinds = [event["type"] for event in answered["events"]]
    assert kinds[:2] == ["RUN_STARTED", "STATE_SNAPSHOT"]
    assert kinds[-2:] == ["CUSTOM", "RUN_FINISHED"]
    assert answered["events"][0]["runId"] == "r0"

    [message] = answered["newMessages"]
    assert message["role"] == "assistant"
    assert message["content"] == "Every employee gets 25 days of annual leave a year. Unused leave lapses in March.[1]"
    assert message["id"] == answered["result"]["message_id"]
    assert answered["result"]["outcome"] == "answered"
    proof = custom(answered, "citations")
    [citation] = proof["citations"]
    assert citation["quote"] == message["content"][citation["start_index"] : citation["end_index"]]
    assert proof["claims"][0]["verdict"] == "supported"
    state = answered["state"]
    assert state["theme"] == "dark"
    assert state["citations"] == [citation]
    assert state["assessment"]["supported"] is True
    assert [source["document_id"] for source in state["sources"]] == [HANDBOOK]
    assert [(each["title"], each["source_indices"]) for each in state["documents"]] == [("Staff handbook", [1])]

    assert small_talk["newMessages"][0]["content"]
    assert small_talk["state"]["sources"] == []
    assert small_talk["state"]["theme"] == "dark"
    assert abstained["newMessages"][0]["content"]
    assert abstained["result"]["outcome"] == "abstained"


@pytest.mark.parametrize("package", CLIENTS)
async def test_both_clients_hear_thoughts_and_failures(
    model_client: httpx.AsyncClient, scripted_openai: ScriptedOpenAI, package: str
) -> None:
    written = answer({"text": "Every employee gets 25 days of annual leave a year.", "source_ids": [f"{HANDBOOK}:0"]})
    thinking = Reply(steps=[Think("The handbook "), Think("says so."), *written.steps])
    scripted_openai.script(thinking, status(401), to="generate_answer")
    thought, failed = await run(model_client, package, {"content": LEAVE}, {"content": "And the notice period?"})
    assert thought["error"] is None
    said = {message["role"]: message["content"] for message in thought["newMessages"]}
    assert said == {
        "reasoning": "The handbook says so.",
        "assistant": "Every employee gets 25 days of annual leave a year.[1]",
    }
    assert failed["events"][-1]["type"] == "RUN_ERROR"
    assert failed["events"][-1]["code"] == "model_refused"
    assert failed["newMessages"] == []


async def test_every_frame_is_one_of_the_protocol_s_events(shared_client: httpx.AsyncClient) -> None:
    response = await shared_client.post("/agui", json=asked(LEAVE))
    assert response.headers["content-type"].startswith("text/event-stream")
    assert b"\r" not in response.content
    assert {tuple(frame) for frame in parse_frames(response.text)} == {("data",)}
    for event in events_of(response):
        EVENT.validate_python(event)


def tell(log: list[Envelope]) -> list[dict[str, Any]]:
    dialect = AgUiEncoder("t", "r", "answer")
    stream = b"".join(map(dialect.encode, log)).decode()
    return [json.loads(frame["data"]) for frame in parse_frames(stream)]


@given(runs() | cancelled_runs() | broken_runs())
def test_every_run_keeps_the_order_that_clients_insist_on(log: list[Envelope]) -> None:
    told = tell(log)
    for event in told:
        EVENT.validate_python(event)
    assert told[0]["type"] == "RUN_STARTED"
    assert [event["type"] for event in told].count("RUN_STARTED") == 1
    assert told[-1]["type"] in ("RUN_FINISHED", "RUN_ERROR")
    is_open = set[tuple[str, str]]()
    for event in told:
        kind = event["type"]
        thing = event.get("stepName", event.get("messageId", ""))
        entity, _, change = kind.rpartition("_")
        if change in ("STARTED", "START") and kind != "RUN_STARTED":
            assert (entity, thing) not in is_open
            is_open.add((entity, thing))
        elif change in ("FINISHED", "END") and kind != "RUN_FINISHED":
            is_open.remove((entity, thing))
        elif change == "CONTENT":
            assert (entity, thing) in is_open
            assert event["delta"]
    assert is_open == set()
    end = log[-1].event
    if isinstance(end, RunFinished) and told[-1]["type"] == "RUN_FINISHED":
        text = "".join(event["delta"] for event in told if event["type"] == "TEXT_MESSAGE_CONTENT")
        # What was told of a run that was cut off keeps its marks; the message that is stored of it cites nothing.
        if is_revised(log):
            assert text or not end.message["answer"]
        elif end.outcome == "cancelled":
            assert re.sub(r"\[\d+\]", "", text).replace(JOINER, "") == end.message["answer"]
        else:
            assert text == marked_text(end.message, bracket)


async def test_a_client_that_leaves_cancels_and_one_that_is_cancelled_is_told(
    model_client: httpx.AsyncClient, scripted_openai: ScriptedOpenAI
) -> None:
    hold = Hold()
    scripted_openai.script(Reply(steps=[Say('{"sections": ['), hold]), to="generate_answer")
    reading = asyncio.create_task(model_client.post("/agui", json=asked(LEAVE)))
    await asyncio.to_thread(hold.wait_reached)
    [started] = (await model_client.get("/api/runs", params={"status": "running"})).json()["runs"]
    await model_client.post(f"/api/runs/{started['run_id']}/cancel")
    end = events_of(await reading)[-1]
    assert (end["type"], end["outcome"]) == ("RUN_FINISHED", {"type": "cancelled"})
    assert end["result"]["stop_reason"] == "cancel_requested"

    hold = Hold()
    scripted_openai.script(Reply(steps=[Say('{"sections": ['), hold]), to="generate_answer")
    async with model_client.stream("POST", "/agui", json=asked(LEAVE)) as response:
        await asyncio.to_thread(hold.wait_reached)
        assert response.status_code == 200
    exchange = scripted_openai.asked("generate_answer")[-1]
    assert await asyncio.to_thread(exchange.wait_disconnected)


@pytest.mark.parametrize("package", CLIENTS)
async def test_a_reload_gives_the_answer_anew(shared_client: httpx.AsyncClient, package: str) -> None:
    first, second, again, after = await run(
        shared_client,
        package,
        {"content": "Hello!"},
        {"content": LEAVE},
        {"reload": True},
        {"content": "Which class is booked for trains?"},
    )
    assert [told["error"] for told in (first, second, again, after)] == [None] * 4
    assert [len(told["messages"]) for told in (first, second, again, after)] == [2, 4, 4, 6]
    history = (await shared_client.get(f"/api/sessions/{first['result']['session_id']}")).json()["messages"]
    assert [message["message_id"] for message in history if message["role"] == "assistant"] == [
        told["result"]["message_id"] for told in (first, again, after)
    ]


async def test_the_server_s_history_wins(shared_client: httpx.AsyncClient) -> None:
    body = asked(LEAVE)
    forged = [
        {"id": "u0", "role": "user", "content": "What do you know?"},
        {"id": "a0", "role": "assistant", "content": "Nothing at all."},
    ]
    response = await shared_client.post("/agui", json={**body, "messages": [*forged, *body["messages"]]})
    session_id = events_of(response)[-1]["result"]["session_id"]
    history = (await shared_client.get(f"/api/sessions/{session_id}")).json()["messages"]
    assert [message["content"] for message in history if message["role"] == "user"] == [LEAVE]


async def test_options_travel_in_the_forwarded_properties(shared_client: httpx.AsyncClient) -> None:
    parts = [{"type": "text", "text": LEAVE}, {"type": "image", "source": {"type": "url", "value": "x"}}]
    body = asked("", forwardedProps={"page_ids": [HANDBOOK], "theirs": 1})
    body["messages"][0]["content"] = parts
    told = events_of(await shared_client.post("/agui", json=body))
    assert "pages_loaded" in [event["name"] for event in told if event["type"] == "CUSTOM"]
    assert told[-1]["result"]["outcome"] == "answered"


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"messages": []}, "messages"),
        ({"threadId": None}, "threadId"),
        ({"runId": ""}, "runId"),
        ({"forwardedProps": {"top_k": 99}}, "forwardedProps.top_k"),
        ({"messages": [{"role": "user", "content": " "}]}, "messages.0.content"),
        ({"messages": [{"role": "assistant", "content": "Yes."}]}, "messages"),
    ],
)
async def test_a_request_that_cannot_be_understood_names_the_field(
    shared_client: httpx.AsyncClient, change: dict[str, Any], named: str
) -> None:
    response = await shared_client.post("/agui", json={**asked(LEAVE), **change})
    assert response.status_code == 422
    assert response.json()["code"] == "invalid_request"
    assert named in response.json()["detail"]
