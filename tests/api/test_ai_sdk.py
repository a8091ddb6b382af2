"""The AI SDK's chat, by what its own clients make of it: the strict releases, and the newest."""

import asyncio
import json
from typing import Any
from uuid import uuid4

import httpx
import pytest

from tests.api.conftest import HANDBOOK
from tests.api.reading import events_of, live_events
from tests.scripted_openai import Hold, Reply, Say, ScriptedOpenAI, Think, answer, status
from tests.wire.node_clients import run_client

LEAVE = "How many days of annual leave does an employee get?"
RELEASES = ["ai-6.0.0", "ai-6.0.150", "ai-7.0.15", "ai-newest"]


def asked(text: str, **fields: Any) -> dict[str, Any]:
    message = {"id": "u1", "role": "user", "parts": [{"type": "text", "text": text}]}
    return {"id": str(uuid4()), "messages": [message], "trigger": "submit-message", **fields}


async def read(client: httpx.AsyncClient, release: str, text: str, **fields: Any) -> Any:
    """Ask with a release's own transport and reader."""
    body = asked(text)
    request = json.dumps({"chatId": body["id"], "messages": body["messages"], **fields})
    return await run_client(
        "ai_sdk.mjs", release, str(client.base_url), request, client=f"DefaultChatTransport, {release}"
    )


async def act(client: httpx.AsyncClient, release: str, *actions: list[Any], chat_id: str = "") -> Any:
    """Do what a page does with ``useChat``."""
    arguments = [release, str(client.base_url), json.dumps(actions), chat_id or str(uuid4())]
    return await run_client("ai_chat.mjs", *arguments, client=f"useChat, {release}")


def parts_of(message: dict[str, Any], kind: str) -> list[dict[str, Any]]:
    return [part for part in message["parts"] if part["type"] == kind]


def text_of(message: dict[str, Any]) -> str:
    return "".join(part["text"] for part in parts_of(message, "text"))


@pytest.mark.parametrize("release", RELEASES)
async def test_every_release_reads_an_answer_with_its_proof(shared_client: httpx.AsyncClient, release: str) -> None:
    told = await read(shared_client, release, LEAVE)
    assert told["error"] is None
    message = told["message"]
    [source] = parts_of(message, "source-url")
    assert (source["sourceId"], source["url"]) == ("c1", "https://wiki.example/handbook")
    [text] = parts_of(message, "text")
    assert text["text"] == "Every employee gets 25 days of annual leave a year.[1]"
    [citation] = text["providerMetadata"]["citewell"]["citations"]
    assert citation["quote"] == "Every employee gets 25 days of annual leave a year."
    assert (citation["document_id"], citation["source_id"]) == (HANDBOOK, "c1")
    assert text["text"][citation["start_index"] : citation["end_index"]] == citation["quote"]
    [proof] = parts_of(message, "data-citations")
    assert proof["data"]["citations"] == [citation]
    assert proof["data"]["claims"][0]["verdict"] == "supported"
    assert message["metadata"]["outcome"] == "answered"
    assert message["metadata"]["assessment"]["supported"] is True
    assert message["id"] and message["metadata"]["run_id"]


@pytest.mark.parametrize("release", RELEASES)
async def test_every_release_reads_an_answer_without_retrieval(shared_client: httpx.AsyncClient, release: str) -> None:
    told = await read(shared_client, release, "Hello!")
    assert told["error"] is None
    assert text_of(told["message"])
    assert told["message"]["metadata"]["stop_reason"] == "no_retrieval_needed"


async def test_the_stream_has_the_headers_and_the_end_of_version_1(shared_client: httpx.AsyncClient) -> None:
    response = await shared_client.post("/api/chat", json=asked(LEAVE))
    assert response.headers["content-type"].startswith("text/event-stream")
    assert response.headers["x-vercel-ai-ui-message-stream"] == "v1"
    assert response.headers["cache-control"] == "no-cache"
    assert response.content.endswith(b"data: [DONE]\n\n")
    assert b"\r" not in response.content
