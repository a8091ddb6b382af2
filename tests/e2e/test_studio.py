"""The server that `make studio` starts runs the graph, shows every step of it and blocks nowhere.

It is driven by the LangGraph SDK, as Studio's page would drive it.
"""

import asyncio
import json
import shutil
import socket
import subprocess
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from langgraph_sdk import get_client
from langgraph_sdk.client import LangGraphClient

from evals.scripted_endpoint import ModelRequest, Reply, answer, say
from evals.scripted_replies import claims_to_judge, judged, sensible
from graph.routing import NEXT, ROUTES
from tests.api.serving import served
from tests.e2e.conftest import BIN, Home
from tests.e2e.test_judge import knowing
from tests.manual_programs import STUDIO, STUDIO_PROGRAMS, Program
from tests.scripted_mcp import mcp_app
from tests.scripted_openai import ScriptedOpenAI
from tests.scripted_web import KEY, ScriptedWeb, found, result, serve_web
from tests.wire.node_clients import run_client

ROOT = Path(__file__).resolve().parents[2]
STARTUP_SECONDS = 90
QUESTION = "How long does the harbour ferry take?"
ANSWER = "The harbour ferry takes 25 minutes. It leaves the north pier every hour from 6:00 to 22:00.[1]"
LAMP = "The lamp of the old lighthouse turns every twelve seconds."
INVENTED = "It never leaves on Sundays."
ANSWERED = [
    "decide_retrieval", "search_segments", "grade_segments", "generate_answer", "check_claims", "assess_quality",
]  # fmt: skip


@pytest.fixture(scope="module")
async def web() -> AsyncIterator[ScriptedWeb]:
    async with serve_web() as script:
        script.searches = [found(result("https://harbour.test/lamp", LAMP, "The lighthouse"))]
        yield script


def writing(request: ModelRequest) -> Reply:
    """Reply as a model that adds a sentence to each section, finds that no source bears it, and leaves it out."""
    if request.prompt == "judge_claims":
        claims = claims_to_judge(request)
        said = {number: judged("unsupported" if INVENTED in claim else "supported") for number, claim in claims.items()}
        return say(json.dumps(said))
    if request.prompt != "generate_answer":
        return say(sensible(request))
    sections = [] if "moon" in request.text else json.loads(sensible(request))["sections"]
    return answer(*({**each, "text": f"{each['text']} {INVENTED}"} for each in sections))


@pytest.fixture(scope="module")
def model() -> Iterator[ScriptedOpenAI]:
    with ScriptedOpenAI() as server:
        yield server


@pytest.fixture(scope="module")
def ferry(home: Home) -> str:
    """Ingest a document and return its id."""
    (home.folder / "ferry.md").write_text(
        "# Ferry\n\nThe harbour ferry takes 25 minutes. It leaves the north pier every hour from 6:00 to 22:00.\n",
        encoding="utf-8",
    )
    [told] = home.citewell("ingest", "ferry.md", "--json").json["documents"]
    return str(told["document_id"])


@pytest.fixture(scope="module")
async def mcp() -> AsyncIterator[str]:
    async with served(mcp_app()) as url:
        lamps = {"name": "lamps", "tool": "look_up", "arguments": {"words": "{query}", "how": "texts"}}
        yield json.dumps([{**lamps, "url": f"{url}/mcp"}])


@pytest.fixture(scope="module")
def studio(home: Home, ferry: str, web: ScriptedWeb, mcp: str, model: ScriptedOpenAI) -> Iterator[str]:
    shutil.copy(ROOT / "langgraph.json", home.folder)
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    log = home.folder / "studio.log"
    command = ["dev", "--no-browser", "--no-reload", "--host", "127.0.0.1", "--port", str(port)]
    searching = {
        "CITEWELL_WEB__API_KEY": KEY,
        "CITEWELL_WEB__BASE_URL": web.settings.base_url,
        "CITEWELL_MCP_SEARCH": mcp,
    }
    asking = {"CITEWELL_MODELS": json.dumps([{"name": "scripted", "base_url": model.base_url, "model": "scripted"}])}
    model.respond = knowing
    assert home.citewell("judge", "exam", "--model", "scripted", "--language", "en", **asking).code == 0
    model.respond = writing
    quiet = {"LANGSMITH_TRACING": "false", "LANGGRAPH_CLI_NO_ANALYTICS": "1"}
    environment = {**home.environment, **searching, **asking, **quiet}
    with log.open("wb") as out:
        server = subprocess.Popen(
            [str(BIN / "langgraph"), *command], cwd=home.folder, env=environment, stdout=out, stderr=subprocess.STDOUT
        )
    yield f"http://127.0.0.1:{port}"
    server.terminate()
    server.wait(timeout=30)
    shutil.rmtree(home.folder / ".langgraph_api")
    told = log.read_text(encoding="utf-8")
    assert "BlockingError" not in told
    # The library is closed in order when the server ends; a run that fails on purpose is logged with its error.
    failed = told.count("RunFailure: messages: ") + told.count("RunFailure: context.top_k: ")
    assert told.count("Traceback") == failed > 0


@pytest.fixture
async def client(studio: str) -> AsyncIterator[LangGraphClient]:
    async with asyncio.timeout(STARTUP_SECONDS), httpx.AsyncClient() as probe:
        while not await _is_up(probe, studio):  # noqa: ASYNC110 - another process has no event to wait for
            await asyncio.sleep(0.2)
    async with get_client(url=studio, api_key=None) as opened:
        yield opened


async def _is_up(probe: httpx.AsyncClient, url: str) -> bool:
    try:
        return (await probe.get(f"{url}/ok")).is_success
    except httpx.TransportError:
        return False


async def test_a_run_shows_every_nodes_update_and_our_events(client: LangGraphClient) -> None:
    thread = await client.threads.create()
    parts = [
        part
        async for part in client.runs.stream(
            thread["thread_id"],
            "citewell",
            input={"question": QUESTION},
            context={"workspace": "default", "top_k": 3},
            stream_mode=["updates", "custom"],
        )
    ]
    assert "error" not in {part.event for part in parts}
    updated = [node for part in parts if part.event == "updates" for node in part.data]
    assert updated == ANSWERED
    told = [part.data for part in parts if part.event == "custom"]
    assert [event["step"] for event in told if event["type"] == "step_finished"] == ANSWERED
    finished = next(event for event in told if event["type"] == "section_finished")
    assert "25 minutes" in finished["text"]
    graded = next(event for event in told if event["type"] == "sources_graded")
    assert graded["sources"][0]["title"] == "Ferry"
    checked = next(event for event in told if event["type"] == "section_checked")
    assert [claim["verdict"] for claim in checked["claims"]] == ["supported"]


@pytest.mark.parametrize("when", ["fallback", "also", "first"])
async def test_a_run_searches_the_web(client: LangGraphClient, when: str) -> None:
    asked = {"question": "How often does the lamp of the old lighthouse turn?"}
    stream = client.runs.stream(None, "citewell", input=asked, context={"web": when}, stream_mode=["updates", "custom"])
    parts = [part async for part in stream]
    assert "error" not in {part.event for part in parts}
    assert "search_web" in [node for part in parts if part.event == "updates" for node in part.data]
    told = [part.data for part in parts if part.event == "custom"]
    graded = [source for event in told if event["type"] == "sources_graded" for source in event["sources"]]
    assert [source["source_type"] for source in graded] == ["web", "mcp"]
    finished = next(event for event in told if event["type"] == "section_finished")
    assert LAMP in finished["text"]


async def test_a_models_runs_go_through_every_node(client: LangGraphClient, ferry: str) -> None:
    """With a selected page, the web and an MCP server, a section that is repaired, and a question without an answer."""
    everywhere = {"model": "scripted", "effort": "thorough", "web": "also"}
    asked = {"question": QUESTION, "page_ids": [ferry]}
    passed: set[str] = set()
    for question in (asked, {"question": "Who built the moon?"}, {"question": "Hello!"}):
        stream = client.runs.stream(
            None, "citewell", input=question, context=everywhere, stream_mode=["updates", "custom"]
        )
        parts = [part async for part in stream]
        assert "error" not in {part.event for part in parts}
        passed |= {node for part in parts if part.event == "updates" for node in part.data}
        told = [part.data for part in parts if part.event == "custom"]
        if question is asked:
            [revised] = [event["text"] for event in told if event["type"] == "section_revised"]
            assert INVENTED not in revised
    assert passed == {*ROUTES, *NEXT}


async def test_a_marked_passage_of_no_document_is_a_source(client: LangGraphClient) -> None:
    asked = {"question": "How old is the beacon?", "selected_text": "The beacon of the harbour is ninety years old."}
    values: Any = await client.runs.wait(None, "citewell", input=asked)
    assert values["outcome"] == "answered"
    [block] = values["messages"][-1]["content"]
    assert [cited["cited_text"] for cited in block["annotations"]] == [asked["selected_text"]]


async def test_a_browser_may_reach_the_server_on_its_own_machine(client: LangGraphClient, studio: str) -> None:
    preflight = {
        "Origin": "https://smith.langchain.com",
        "Access-Control-Request-Method": "POST",
        "Access-Control-Request-Private-Network": "true",
    }
    async with httpx.AsyncClient() as browser:
        allowed = await browser.options(f"{studio}/threads", headers=preflight)
    assert allowed.status_code == 200
    assert allowed.headers["access-control-allow-private-network"] == "true"


async def test_the_history_of_a_thread_can_be_read(client: LangGraphClient) -> None:
    thread = await client.threads.create()
    await client.runs.wait(thread["thread_id"], "citewell", input={"question": "Hello there!"})
    values = (await client.threads.get_state(thread["thread_id"]))["values"]
    assert values["outcome"] == "answered"
    history = await client.threads.get_history(thread["thread_id"])
    assert [state["next"] for state in reversed(history)] == [
        ["__start__"],
        ["decide_retrieval"],
        ["answer_directly"],
        [],
    ]


async def test_a_follow_up_goes_on_in_its_thread(client: LangGraphClient) -> None:
    thread = await client.threads.create()
    await client.runs.wait(thread["thread_id"], "citewell", input={"question": QUESTION})
    values: Any = await client.runs.wait(
        thread["thread_id"], "citewell", input={"question": "And how often does it leave?"}
    )
    assert values["outcome"] == "answered"
    assert [turn["question"] for turn in values["turns"]] == [QUESTION]


async def test_messages_are_taken_and_given(client: LangGraphClient) -> None:
    asked = {"messages": [{"role": "user", "content": QUESTION}]}
    stream = client.runs.stream(None, "citewell", input=asked, stream_mode=["messages-tuple", "values"])
    parts = [part async for part in stream]
    pieces = [part.data[0] for part in parts if part.event == "messages" and part.data[0]["type"] == "AIMessageChunk"]
    human, answer = parts[-1].data["messages"]
    assert (human["type"], human["content"]) == ("human", QUESTION)
    assert "".join(block["text"] for piece in pieces for block in piece["content"]) == ANSWER
    assert {piece["id"] for piece in pieces} == {answer["id"]}
    [block] = answer["content"]
    [cited] = block["annotations"]
    assert (block["text"], cited["title"], cited["cited_text"]) == (ANSWER, "Ferry", ANSWER.removesuffix("[1]"))
    assert answer["additional_kwargs"]["metadata"]["citewell"]["outcome"] == "answered"


@pytest.mark.parametrize(
    ("asked", "context", "fault"),
    [({}, {}, "messages: end them with "), ({"question": QUESTION}, {"top_k": 99}, "context.top_k: ")],
)
async def test_a_run_that_can_not_be_asked_fails_and_says_why(
    client: LangGraphClient, asked: dict[str, Any], context: dict[str, Any], fault: str
) -> None:
    parts = [part async for part in client.runs.stream(None, "citewell", input=asked, context=context)]
    [error] = [part.data for part in parts if part.event == "error"]
    assert error["error"] == "invalid_request"
    assert error["message"].startswith(fault)
    assert error["suggestion"]


async def test_a_run_is_stepped_through_edited_and_forked(client: LangGraphClient) -> None:
    thread_id = (await client.threads.create())["thread_id"]
    seen: list[Any] = [
        part.data
        async for part in client.runs.stream(
            thread_id,
            "citewell",
            input={"question": QUESTION},
            stream_mode="updates",
            interrupt_after=["grade_segments"],
        )
    ]
    graded = next(update["grade_segments"] for update in seen if "grade_segments" in update)
    assert "25 minutes" in next(iter(graded["passages"].values()))
    state: Any = await client.threads.get_state(thread_id)
    assert state["next"] == ["generate_answer"]
    assert not state["values"].get("passages")
    row = state["values"]["candidates"][0]
    edited = await client.threads.update_state(
        thread_id, {"sources": [], "candidates": [row]}, as_node="grade_segments"
    )
    fork: Any = await client.threads.get_state(thread_id, checkpoint=edited["checkpoint"])
    assert (fork["next"], fork["values"]["candidates"]) == (["rewrite_query"], [row])
    ends: list[Any] = [
        await client.runs.wait(thread_id, "citewell", input=None, checkpoint=place["checkpoint"])
        for place in (edited, state)
    ]
    assert [end["outcome"] for end in ends] == ["abstained", "answered"]


@pytest.fixture
def session_id(home: Home, studio: str) -> str:
    """The session of a question that was asked at the command line."""
    return str(home.citewell("ask", QUESTION, "--json").json["session_id"])


async def test_a_session_of_citewell_is_read_and_forked(client: LangGraphClient, session_id: str) -> None:
    await client.threads.create(thread_id=session_id, graph_id="citewell")
    opened: Any = await client.threads.get_state(session_id)
    assert [message["content"] for message in opened["values"]["messages"]] == [QUESTION, ANSWER.removesuffix("[1]")]
    again = {"messages": [{"role": "user", "content": "And how often does it leave?"}]}
    forked: Any = await client.runs.wait(session_id, "citewell", input=again)
    assert [turn["question"] for turn in forked["turns"]] == [QUESTION]
    assert "every hour" in forked["messages"][-1]["content"][0]["text"]
    history = await client.threads.get_history(session_id, limit=50)
    assert opened["checkpoint"]["checkpoint_id"] in {state["checkpoint"]["checkpoint_id"] for state in history}


@pytest.mark.parametrize("release", ["@langchain/langgraph-sdk/react", "@langchain/react"])
async def test_a_page_with_langgraphs_hook_shows_answers_and_citations(
    client: LangGraphClient, studio: str, release: str
) -> None:
    actions = [["send", QUESTION], ["send", "And how often does it leave?"], ["send", ""]]
    first, second, blank = await run_client("langgraph_chat.mjs", release, studio, json.dumps(actions), client=release)
    [_, answer] = first["messages"]
    [block] = answer["content"]
    assert (block["text"], block["annotations"][0]["cited_text"]) == (ANSWER, ANSWER.removesuffix("[1]"))
    assert [message["type"] for message in second["messages"]] == ["human", "ai", "human", "ai"]
    assert second["messages"][1] == answer
    assert "every hour" in second["messages"][3]["content"][0]["text"]
    assert (first["error"], second["error"]) == (None, None)
    assert blank["error"].startswith("messages: end them with ")


async def test_a_page_edits_a_question_and_regenerates_an_answer(client: LangGraphClient, studio: str) -> None:
    release = "@langchain/langgraph-sdk/react"
    actions = [["send", QUESTION], ["regenerate"], ["edit", 0, "When does the ferry leave the north pier?"]]
    first, again, edited = await run_client("langgraph_chat.mjs", release, studio, json.dumps(actions), client=release)
    assert again["messages"][0] == first["messages"][0]
    assert again["messages"][1]["content"] == first["messages"][1]["content"]
    assert again["messages"][1]["id"] != first["messages"][1]["id"]
    [question, answer] = edited["messages"]
    assert question["content"] == "When does the ferry leave the north pier?"
    assert "every hour" in answer["content"][0]["text"]


async def test_input_and_context_can_be_filled_in_as_a_form(client: LangGraphClient) -> None:
    assistant = (await client.assistants.search(graph_id="citewell"))[0]
    schemas = await client.assistants.get_schemas(assistant["assistant_id"])
    asked: Any = schemas["input_schema"]
    assert list(asked["properties"]) == ["question", "messages", "page_ids", "selected_text", "history"]
    assert asked["properties"]["question"]["type"] == "string"
    knobs: Any = schemas["context_schema"]
    assert knobs["properties"]["top_k"] == {
        "default": 10, "maximum": 30, "minimum": 1, "title": "Top K", "type": "integer",
    }  # fmt: skip
    assert knobs["properties"]["search"]["enum"] == ["auto", "always", "off"]
    assert knobs["properties"]["web"]["enum"] == ["off", "fallback", "also", "first"]
    assert all("type" in knob or "anyOf" in knob for knob in knobs["properties"].values())


async def test_the_event_streaming_protocol_tells_updates_and_our_events(client: LangGraphClient) -> None:
    told: list[Any] = []
    updated: list[str] = []
    async with client.threads.stream(assistant_id="citewell") as thread:
        await thread.run.start(input={"question": QUESTION})
        async for event in thread.subscribe(["custom", "updates", "lifecycle"]):
            data: Any = event["params"]["data"]
            if event["method"] == "custom":
                told.append(data)
            elif event["method"] == "updates":
                updated.extend(data)
            elif event["method"] == "lifecycle" and data["event"] in ("completed", "failed"):
                break
    assert updated == ANSWERED
    assert [event["step"] for event in told if event["type"] == "step_finished"] == ANSWERED
    assert any("25 minutes" in event["text"] for event in told if event["type"] == "section_finished")


async def test_a_page_of_assistant_ui_shows_answers_and_citations(client: LangGraphClient, studio: str) -> None:
    asked = [QUESTION, "And how often does it leave?"]
    shown = await run_client("assistant_ui.mjs", studio, json.dumps(asked), client="assistant-ui")
    assert [message["role"] for message in shown] == ["user", "assistant"] * 2
    assert shown[1]["content"] == [{"type": "text", "text": ANSWER}]
    [cited] = shown[1]["custom"]["citewell"]["citations"]
    assert (cited["quote"], cited["verdict"]) == (ANSWER.removesuffix("[1]"), "supported")
    assert "every hour" in shown[3]["content"][0]["text"]


@pytest.mark.parametrize("program", STUDIO_PROGRAMS, ids=str)
async def test_a_program_of_the_manual_runs(client: LangGraphClient, studio: str, program: Program) -> None:
    there = {STUDIO: studio, "What is a segment?": QUESTION, '"workspace": "demo"': '"workspace": "default"'}
    _, printed = await asyncio.to_thread(program.run, there)
    assert printed.strip()
    assert "update_state" in program.code or ANSWER.removesuffix("[1]") in printed
