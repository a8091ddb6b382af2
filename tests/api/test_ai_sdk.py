"""The AI SDK's chat, by what its own clients make of it: the strict releases, and the newest."""

import asyncio
import json
import re
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from api.dialects.ai_sdk.encoder import AiSdkEncoder
from api.dialects.citation_marks import JOINER, bracket, marked_text
from evals.scripted_replies import judged
from graph.events import Envelope, RunFinished
from tests.api.conftest import HANDBOOK, script_repair
from tests.api.reading import parse_frames
from tests.scripted_openai import Hold, Reply, Say, ScriptedOpenAI, Think, answer, say, status
from tests.wire.node_clients import run_client
from tests.wire.runs import broken_runs, cancelled_runs, is_revised, runs

LEAVE = "How many days of annual leave does an employee get?"
GOLDEN = Path(__file__).parents[1] / "wire" / "golden"
DRAFTED = "ai_sdk_repaired"  # told to a client that accepts newer parts
RELEASES = ["ai-6.0.0", "ai-6.0.150", "ai-7.0.15", "ai-newest"]


def asked(text: str, **fields: Any) -> dict[str, Any]:
    message = {"id": "u1", "role": "user", "parts": [{"type": "text", "text": text}]}
    return {"id": str(uuid4()), "messages": [message], "trigger": "submit-message", **fields}


async def read(client: httpx.AsyncClient, release: str, *texts: str, **fields: Any) -> list[Any]:
    """Ask questions, each in a chat of its own, with a release's own transport and reader."""
    bodies = [asked(text) for text in texts]
    requests = [{"chatId": body["id"], "messages": body["messages"], **fields} for body in bodies]
    told: list[Any] = await run_client(
        "ai_sdk.mjs", release, str(client.base_url), json.dumps(requests), client=f"DefaultChatTransport, {release}"
    )
    return told


async def act(client: httpx.AsyncClient, release: str, *actions: list[Any], chat_id: str = "") -> Any:
    """Do what a page does with ``useChat``."""
    arguments = [release, str(client.base_url), json.dumps(actions), chat_id or str(uuid4())]
    return await run_client("ai_chat.mjs", *arguments, client=f"useChat, {release}")


def told_by(response: httpx.Response) -> list[dict[str, Any]]:
    """Read a stream to its end as it is written."""
    assert response.headers["content-type"].startswith("text/event-stream"), response.text
    *parts, done = [frame["data"] for frame in parse_frames(response.text)]
    assert done == "[DONE]"
    return [json.loads(part) for part in parts]


def parts_of(message: dict[str, Any], kind: str) -> list[dict[str, Any]]:
    return [part for part in message["parts"] if part["type"] == kind]


def text_of(message: dict[str, Any]) -> str:
    return "".join(part["text"] for part in parts_of(message, "text"))


@pytest.mark.parametrize("release", RELEASES)
async def test_every_release_reads_every_outcome(shared_client: httpx.AsyncClient, release: str) -> None:
    answered, trains, small_talk, abstained = await read(
        shared_client, release, LEAVE, "Which class is booked for trains?", "Hello!", "Who won the chess cup of 1972?"
    )
    assert [told["error"] for told in (answered, trains, small_talk, abstained)] == [None] * 4

    message = answered["message"]
    [source] = parts_of(message, "source-url")
    assert (source["sourceId"], source["url"]) == ("c1", "https://wiki.example/handbook")
    [text] = parts_of(message, "text")
    assert text["text"] == "Every employee gets 25 days of annual leave a year. Unused leave lapses in March.[1]"
    [citation] = text["providerMetadata"]["citewell"]["citations"]
    start, end = (citation["highlight"][edge] - citation["start"] for edge in ("start", "end"))
    assert citation["quote"][start:end] == "Every employee gets 25 days of annual leave a year."
    assert (citation["document_id"], citation["source_id"]) == (HANDBOOK, "c1")
    assert text["text"][citation["start_index"] : citation["end_index"]] == citation["quote"]
    [proof] = parts_of(message, "data-citations")
    assert proof["data"]["citations"] == [citation]
    assert proof["data"]["claims"][0]["verdict"] == "supported"
    assert message["metadata"]["outcome"] == "answered"
    assert message["metadata"]["assessment"]["supported"] is True
    assert message["metadata"]["run_id"]

    [source] = parts_of(trains["message"], "source-document")
    assert (source["title"], source["mediaType"]) == ("Travel policy", "text/plain")
    assert text_of(small_talk["message"])
    assert small_talk["message"]["metadata"]["stop_reason"] == "no_retrieval_needed"
    assert text_of(abstained["message"])
    assert abstained["message"]["metadata"]["outcome"] == "abstained"
    assert parts_of(abstained["message"], "source-url") == []


async def test_the_stream_has_the_headers_and_the_end_of_version_1(shared_client: httpx.AsyncClient) -> None:
    response = await shared_client.post("/api/chat", json=asked(LEAVE))
    assert response.headers["content-type"].startswith("text/event-stream")
    assert response.headers["x-vercel-ai-ui-message-stream"] == "v1"
    assert response.headers["cache-control"] == "no-cache"
    assert response.content.endswith(b"data: [DONE]\n\n")
    assert b"\r" not in response.content


async def test_what_the_newest_release_alone_understands_comes_on_request(shared_client: httpx.AsyncClient) -> None:
    [told] = await read(shared_client, "ai-newest", LEAVE, headers={"x-citewell-accept": "text-citations, reset-step"})
    assert told["error"] is None
    [text] = parts_of(told["message"], "text")
    assert text["text"] == "Every employee gets 25 days of annual leave a year. Unused leave lapses in March.[1]"
    [citation] = text["citations"]
    assert citation["source"] == {
        "type": "source",
        "sourceType": "url",
        "id": "c1",
        "url": "https://wiki.example/handbook#leave",
        "title": "Staff handbook",
    }
    assert text["text"][citation["startIndex"] : citation["endIndex"]] == citation["citedText"]


async def test_a_release_that_does_not_know_them_refuses_them(shared_client: httpx.AsyncClient) -> None:
    """The reason why both are on request."""
    [told] = await read(shared_client, "ai-7.0.15", LEAVE, body={"accepts": ["text-citations"]})
    assert "Type validation failed" in told["error"]


async def test_a_draft_that_does_not_hold_is_dropped(
    judged_client: httpx.AsyncClient, scripted_openai: ScriptedOpenAI
) -> None:
    right, wrong = "Every employee gets 25 days of annual leave a year.", "Interns get 30 days of annual leave a year."
    for accepts in ([], ["reset-step"]):
        script_repair(scripted_openai, right, wrong)
        [told] = await read(judged_client, "ai-newest", LEAVE, body={"accepts": accepts})
        assert told["error"] is None
        drafted = "".join(chunk["delta"] for chunk in told["chunks"] if chunk["type"] == "text-delta")
        assert ("30 days" in drafted) == ("reset-step" in accepts)
        assert text_of(told["message"]) == f"{right}[1]"
        assert len(parts_of(told["message"], "source-url")) == 1


async def test_a_sentence_that_the_judge_doubts_has_no_mark_and_no_source(
    model_client: httpx.AsyncClient, scripted_openai: ScriptedOpenAI
) -> None:
    wrong = {"text": "Every employee gets 30 days of annual leave a year.", "source_ids": [f"{HANDBOOK}:0"]}
    for accepts in ([], ["reset-step"]):
        scripted_openai.script(answer(wrong), to="generate_answer")
        scripted_openai.script(say(json.dumps({"1": judged("contradicted")})), to="judge_claims")
        [told] = await read(model_client, "ai-newest", LEAVE, body={"accepts": accepts})
        assert told["error"] is None
        assert text_of(told["message"]) == wrong["text"]
        assert parts_of(told["message"], "source-url") == []
        [proof] = parts_of(told["message"], "data-citations")
        [claim] = proof["data"]["claims"]
        assert (proof["data"]["citations"], claim["mark"], claim["verdict"]) == ([], "withheld", "contradicted")
        assert claim["citations"][0]["document_id"] == HANDBOOK


@pytest.mark.parametrize("release", RELEASES)
async def test_every_release_reads_thoughts_and_failures(
    model_client: httpx.AsyncClient, scripted_openai: ScriptedOpenAI, release: str
) -> None:
    written = answer({"text": "Every employee gets 25 days of annual leave a year.", "source_ids": [f"{HANDBOOK}:0"]})
    thinking = Reply(steps=[Think("The handbook "), Think("says so."), *written.steps])
    scripted_openai.script(thinking, status(401), to="generate_answer")
    thought, failed = await read(model_client, release, LEAVE, LEAVE)

    assert thought["error"] is None
    [part] = parts_of(thought["message"], "reasoning")
    assert (part["text"], part["state"]) == ("The handbook says so.", "done")
    assert text_of(thought["message"]) == "Every employee gets 25 days of annual leave a year.[1]"

    assert "model" in failed["error"]
    assert text_of(failed["message"]) == ""
    assert failed["message"]["metadata"]["outcome"] == "failed"
    assert failed["message"]["metadata"]["code"] == "model_refused"


@pytest.mark.parametrize("release", ["ai-6.0.0", "ai-newest"])
async def test_a_page_asks_on_edits_and_has_an_answer_given_anew(model_client: httpx.AsyncClient, release: str) -> None:
    chat_id = str(uuid4())
    told = await act(
        model_client,
        release,
        ["send", LEAVE],
        ["send", "How long is the notice period?"],
        ["regenerate"],
        ["edit", 2, "How long is it during probation?"],
        ["regenerate", 0],
        chat_id=chat_id,
    )
    asked_on, second, anew, edited, first_anew = told["states"]
    assert [state["error"] for state in told["states"]] == [None] * 5
    assert [len(state["messages"]) for state in told["states"]] == [2, 4, 4, 4, 2]
    assert "data-status" in {part["type"] for part in told["heard"]}
    assert second["messages"][3]["id"] != anew["messages"][3]["id"]
    assert asked_on["messages"][1] == edited["messages"][1]
    session_id = asked_on["messages"][1]["metadata"]["session_id"]
    history = (await model_client.get(f"/api/sessions/{session_id}")).json()["messages"]
    assert [message["role"] for message in history] == ["user", "assistant"]
    assert history[1]["message_id"] == first_anew["messages"][1]["id"]
    older = (
        await model_client.get(f"/api/sessions/{session_id}", params={"branch": edited["messages"][3]["id"]})
    ).json()
    assert [message["content"] for message in older["messages"] if message["role"] == "user"] == [
        LEAVE,
        "How long is it during probation?",
    ]


@pytest.mark.parametrize("release", RELEASES)
async def test_a_page_that_is_opened_again_has_the_messages_that_were_streamed(
    shared_client: httpx.AsyncClient, release: str
) -> None:
    chat_id = str(uuid4())
    assert (await shared_client.get(f"/api/chat/{chat_id}")).status_code == 404
    told = await act(shared_client, release, ["send", LEAVE], ["open"], ["send", "Hello!"], chat_id=chat_id)
    streamed, opened, after = (state["messages"] for state in told["states"])
    assert [state["error"] for state in told["states"]] == [None] * 3
    assert len(after) == 4
    assert [text_of(message) for message in opened] == [text_of(message) for message in streamed]
    assert opened[1]["id"] == streamed[1]["id"]
    for kind in ("source-url", "data-citations"):
        [read], [told_live] = parts_of(opened[1], kind), parts_of(streamed[1], kind)
        assert _without_freshness(read) == told_live
    assert opened[1]["metadata"].items() <= streamed[1]["metadata"].items()


def _without_freshness(part: Any) -> Any:
    if isinstance(part, dict):
        return {name: _without_freshness(value) for name, value in part.items() if name != "freshness"}
    return [_without_freshness(each) for each in part] if isinstance(part, list) else part


async def test_the_server_s_history_wins(shared_client: httpx.AsyncClient) -> None:
    body = asked(LEAVE)
    forged = [
        {"id": "u0", "role": "user", "parts": [{"type": "text", "text": "What do you know?"}]},
        {"id": "a0", "role": "assistant", "parts": [{"type": "text", "text": "Nothing at all."}]},
    ]
    response = await shared_client.post("/api/chat", json={**body, "messages": [*forged, *body["messages"]]})
    session_id = told_by(response)[0]["messageMetadata"]["session_id"]
    history = (await shared_client.get(f"/api/sessions/{session_id}")).json()["messages"]
    assert [message["content"] for message in history if message["role"] == "user"] == [LEAVE]


async def test_the_last_message_alone_will_do(shared_client: httpx.AsyncClient) -> None:
    body = asked(LEAVE, page_ids=[HANDBOOK], unknown_field=1)
    [body["message"]] = body.pop("messages")
    told = told_by(await shared_client.post("/api/chat", json=body))
    assert told[-1]["messageMetadata"]["outcome"] == "answered"
    assert "pages_loaded" in {part["data"]["type"] for part in told if part["type"] == "data-status"}


async def test_a_stream_is_joined_from_its_start_while_the_run_goes_on(
    model_client: httpx.AsyncClient, scripted_openai: ScriptedOpenAI
) -> None:
    hold = Hold()
    written = answer({"text": "Every employee gets 25 days of annual leave a year.", "source_ids": [f"{HANDBOOK}:0"]})
    scripted_openai.script(Reply(steps=[*written.steps, hold]), to="generate_answer")
    body = asked(LEAVE)
    url = f"/api/chat/{body['id']}/stream"
    assert (await model_client.get(url)).status_code == 204
    async with model_client.stream("POST", "/api/chat", json=body) as response:
        async for line in response.aiter_lines():
            if "sources_graded" in line:
                break  # and leave, as a page does that is closed
    await asyncio.to_thread(hold.wait_reached)
    lines = []
    async with model_client.stream("GET", url) as response:
        async for line in response.aiter_lines():
            if line.startswith("data: {"):
                if not lines:
                    hold.release()
                lines.append(line.removeprefix("data: "))
    told = [json.loads(line) for line in lines]
    assert told[0]["type"] == "start"
    assert told[-1]["messageMetadata"]["outcome"] == "answered"
    assert (await model_client.get(url)).status_code == 204


@pytest.mark.parametrize("release", RELEASES)
async def test_a_page_joins_an_answer_and_stops_it(
    model_client: httpx.AsyncClient, scripted_openai: ScriptedOpenAI, release: str
) -> None:
    hold = Hold()
    scripted_openai.script(Reply(steps=[Say('{"sections": ['), hold]), to="generate_answer")
    body = asked(LEAVE)
    reading = asyncio.create_task(model_client.post("/api/chat", json=body))
    await asyncio.to_thread(hold.wait_reached)
    told = await act(model_client, release, ["stopAtNextData"], ["resume"], ["resume"], chat_id=body["id"])
    _, stopped, nothing_left = told["states"]
    assert [state["error"] for state in told["states"]] == [None] * 3
    assert [state["status"] for state in told["states"]] == ["ready"] * 3
    assert stopped["messages"][-1]["metadata"]["outcome"] == "cancelled"
    assert len(nothing_left["messages"]) == len(stopped["messages"])
    assert told["heard"][0]["data"] == {"type": "step_started", "step": "decide_retrieval"}
    await reading


@pytest.mark.parametrize("release", RELEASES)
async def test_every_golden_stream_is_read_by_every_release_that_it_is_for(release: str) -> None:
    streams = [path for path in sorted(GOLDEN.glob("ai_sdk_*.sse")) if release == "ai-newest" or path.stem != DRAFTED]
    replays = [{"chatId": "c1", "messages": [], "replay": str(path)} for path in streams]
    told = await run_client(
        "ai_sdk.mjs", release, "http://localhost", json.dumps(replays), client=f"DefaultChatTransport, {release}"
    )
    for path, each in zip(streams, told, strict=True):
        text = path.read_text("utf-8")
        failures = re.findall(r'"errorText":("(?:[^"\\]|\\.)*")', text)
        assert each["error"] == (json.loads(failures[0]) if failures else None), path.name
        assert len(each["chunks"]) == text.count("\ndata: {") + 1, path.name


async def test_stopping_a_chat_aborts_its_message(
    model_client: httpx.AsyncClient, scripted_openai: ScriptedOpenAI
) -> None:
    hold = Hold()
    scripted_openai.script(Reply(steps=[Say('{"sections": ['), hold]), to="generate_answer")
    body = asked(LEAVE)
    reading = asyncio.create_task(model_client.post("/api/chat", json=body))
    await asyncio.to_thread(hold.wait_reached)
    assert (await model_client.delete(f"/api/chat/{body['id']}/stream")).status_code == 204
    told = told_by(await reading)
    assert [part["type"] for part in told[-2:]] == ["message-metadata", "abort"]
    assert told[-2]["messageMetadata"]["stop_reason"] == "cancel_requested"
    assert (await model_client.delete(f"/api/chat/{body['id']}/stream")).status_code == 204
    assert (await model_client.delete(f"/api/chat/{uuid4()}/stream")).status_code == 404


async def test_the_next_question_interrupts_a_run_that_nobody_stopped(
    model_client: httpx.AsyncClient, scripted_openai: ScriptedOpenAI
) -> None:
    """A page's own ``stop`` does no more than close the connection, and here a run outlives that."""
    hold = Hold()
    scripted_openai.script(Reply(steps=[Say('{"sections": ['), hold]), to="generate_answer")
    body = asked(LEAVE)
    reading = asyncio.create_task(model_client.post("/api/chat", json=body))
    await asyncio.to_thread(hold.wait_reached)
    refused = await model_client.post("/api/chat", json={**asked(LEAVE), "id": body["id"], "while_running": "reject"})
    assert (refused.status_code, refused.json()["code"]) == (409, "session_busy")
    told = told_by(await model_client.post("/api/chat", json={**asked(LEAVE), "id": body["id"]}))
    assert told[-1]["messageMetadata"]["outcome"] == "answered"
    interrupted = told_by(await reading)
    assert interrupted[-2]["messageMetadata"]["stop_reason"] == "interrupted"


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"messages": []}, "messages"),
        ({"id": ""}, "id"),
        ({"trigger": "resume"}, "trigger"),
        ({"top_k": 99}, "top_k"),
        ({"accepts": ["everything"]}, "accepts"),
        ({"messages": [{"role": "user", "parts": [{"type": "file", "url": "x"}]}]}, "messages.0: "),
        ({"messages": [{"role": "user", "content": [{"type": "image", "image": "x"}]}]}, "messages.0: "),
        ({"messages": [{"role": "user", "content": "a" * 10_001}]}, "messages.0.content"),
        ({"messages": [{"role": "assistant", "parts": [{"type": "text", "text": "x"}]}]}, "messages.0"),
    ],
)
async def test_a_request_that_cannot_be_understood_names_the_field(
    shared_client: httpx.AsyncClient, change: dict[str, Any], named: str
) -> None:
    response = await shared_client.post("/api/chat", json={**asked(LEAVE), **change})
    assert response.status_code == 422
    assert response.json()["code"] == "invalid_request"
    assert named in response.json()["detail"]


@pytest.mark.parametrize(
    "content",
    [LEAVE, [{"type": "text", "text": LEAVE}, {"type": "image", "image": "x"}]],
    ids=["as AI SDK 4 has it", "as models are sent it"],
)
async def test_messages_may_have_content_instead_of_parts(shared_client: httpx.AsyncClient, content: Any) -> None:
    before = [
        {"role": "user", "content": "Hi"},
        {"role": "assistant", "content": "Hello"},
        {"role": "data", "content": ""},
    ]
    messages = [*before, {"role": "user", "content": content}]
    told = told_by(await shared_client.post("/api/chat", json={"id": str(uuid4()), "messages": messages}))
    assert "25 days" in "".join(part["delta"] for part in told if part["type"] == "text-delta")


async def test_a_chat_without_an_id_is_answered_from_its_messages_and_not_kept(
    shared_client: httpx.AsyncClient,
) -> None:
    """Clients that keep their chats themselves have no id of one: assistant-ui's data stream, other people's pages."""
    said = [
        ("user", "How long is the notice period?"),
        ("assistant", "Three months.[1]"),
        ("user", "And during probation?"),
    ]
    messages = [{"role": role, "parts": [{"type": "text", "text": text}]} for role, text in said]
    before = (await shared_client.get("/api/sessions")).json()["sessions"]
    told = told_by(await shared_client.post("/api/chat", json={"messages": messages, "threadId": "main"}))
    assert "one month" in "".join(part["delta"] for part in told if part["type"] == "text-delta")
    assert (await shared_client.get("/api/sessions")).json()["sessions"] == before
    regenerated = {"messages": messages, "trigger": "regenerate-message", "messageId": "a1"}
    assert told_by(await shared_client.post("/api/chat", json=regenerated))[-1]["type"] == "finish"


async def test_a_run_of_ag_ui_is_sent_on_to_its_route(shared_client: httpx.AsyncClient) -> None:
    """TanStack's client speaks AG-UI, at whatever address it is given."""
    run = {"threadId": str(uuid4()), "runId": "r1", "messages": [{"id": "m1", "role": "user", "content": LEAVE}]}
    sent_on = await shared_client.post("/api/chat", json=run)
    assert (sent_on.status_code, sent_on.headers["location"]) == (307, "../agui")
    told = await shared_client.post("/api/chat", json=run, follow_redirects=True)
    assert (told.url.path, told.status_code) == ("/agui", 200)
    assert "25 days" in told.text
    own = await shared_client.post("/api/chat", json=asked(LEAVE, runId="r1"))
    assert own.status_code == 200


async def test_an_unknown_name_of_what_is_accepted_is_told(shared_client: httpx.AsyncClient) -> None:
    response = await shared_client.post("/api/chat", json=asked(LEAVE), headers={"x-citewell-accept": "everything"})
    assert response.status_code == 422
    assert "x-citewell-accept" in response.json()["detail"]
    for listed in ("", ",", "text-citations , ,reset-step"):
        told = await shared_client.post("/api/chat", json=asked(LEAVE), headers={"x-citewell-accept": listed})
        assert told.status_code == 200, listed


def shown_of(told: list[dict[str, Any]]) -> str:
    """Show a message's text as the clients build it, and refuse what they refuse."""
    shown = ""
    is_open = set[tuple[str, str]]()
    for part in told:
        entity, _, change = part["type"].rpartition("-")
        thing = (entity, part.get("id", ""))
        if entity in ("text", "reasoning") and change == "start":
            assert thing not in is_open
            is_open.add(thing)
        elif entity in ("text", "reasoning") and change == "delta":
            assert thing in is_open
            shown += part["delta"] if entity == "text" else ""
        elif entity in ("text", "reasoning") and change == "end":
            is_open.remove(thing)
        elif part["type"] == "reset-step":
            shown = ""
            is_open.clear()
        elif part["type"] in ("finish-step", "finish", "abort"):
            assert is_open == set()
    return shown


@given(runs() | cancelled_runs() | broken_runs(), st.booleans())
def test_every_run_keeps_the_order_that_clients_insist_on(log: list[Envelope], live: bool) -> None:
    dialect = AiSdkEncoder(["reset-step"] if live else [])
    stream = b"".join(map(dialect.encode, log)).decode()
    *parts, done = [frame["data"] for frame in parse_frames(stream)]
    assert done == "[DONE]"
    told = [json.loads(part) for part in parts]
    kinds = [part["type"] for part in told if part["type"] != "data-status"]
    assert kinds[0] == "start"
    assert kinds[-1] in ("finish", "abort")
    assert [kinds.count("start-step"), kinds.count("start")] == [kinds.count("finish-step"), 1]
    end = log[-1].event
    shown = shown_of(told)
    if not isinstance(end, RunFinished):
        assert not live or shown == ""
    elif "error" not in kinds:
        # What was told of a run that was cut off keeps its marks; the message that is stored of it cites nothing.
        if is_revised(log):
            assert not live or shown == marked_text(end.message, bracket) or end.outcome == "cancelled"
        elif end.outcome == "cancelled":
            assert re.sub(r"\[\d+\]", "", shown).replace(JOINER, "") == end.message["answer"]
        else:
            assert shown == marked_text(end.message, bracket)
        sources = {part["sourceId"] for part in told if part["type"].startswith("source-")}
        assert {f"c{number}" for number in re.findall(r"\[(\d+)\]", shown)} <= sources
