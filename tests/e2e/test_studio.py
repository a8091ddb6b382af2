"""The server that `make studio` starts runs the graph, shows every step of it and blocks nowhere.

It is driven by the LangGraph SDK, as Studio's page would drive it.
"""

import asyncio
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

from tests.e2e.conftest import BIN, Home

ROOT = Path(__file__).resolve().parents[2]
STARTUP_SECONDS = 90
QUESTION = "How long does the harbour ferry take?"
ANSWERED = [
    "decide_retrieval", "search_segments", "grade_segments", "generate_answer", "check_claims", "assess_quality",
]  # fmt: skip


@pytest.fixture(scope="module")
def studio(home: Home) -> Iterator[str]:
    (home.folder / "ferry.md").write_text(
        "# Ferry\n\nThe harbour ferry takes 25 minutes. It leaves the north pier every hour from 6:00 to 22:00.\n",
        encoding="utf-8",
    )
    assert home.citewell("ingest", "ferry.md").code == 0
    shutil.copy(ROOT / "langgraph.json", home.folder)
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    log = home.folder / "studio.log"
    command = ["dev", "--no-browser", "--no-reload", "--host", "127.0.0.1", "--port", str(port)]
    environment = {**home.environment, "LANGSMITH_TRACING": "false", "LANGGRAPH_CLI_NO_ANALYTICS": "1"}
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
    assert "Traceback" not in told  # the library is closed in order when the server ends


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


async def test_input_and_context_can_be_filled_in_as_a_form(client: LangGraphClient) -> None:
    assistant = (await client.assistants.search(graph_id="citewell"))[0]
    schemas = await client.assistants.get_schemas(assistant["assistant_id"])
    asked: Any = schemas["input_schema"]
    assert list(asked["properties"]) == ["question", "page_ids", "selected_text", "history"]
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
