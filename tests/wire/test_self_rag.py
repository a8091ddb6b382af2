"""The Self-RAG chat on the wire: the seed's own parsers over reads of any size."""

import json

import httpx
import pytest

from tests.wire.deployments import QUESTIONS, client, settings_of_module
from tests.wire.node_clients import run_client

__all__ = ["client", "settings_of_module"]

CLIENT = "seeds/self_rag.mjs"
PATH = "/api/rag-chat/stream"


def body(question: str) -> dict[str, list[dict[str, str]]]:
    return {"messages": [{"role": "user", "content": question}]}


@pytest.mark.parametrize("bytes_each_read", ["1", "7", "65536"])
async def test_the_seeds_client_shows_the_answer_with_its_references(
    client: httpx.AsyncClient, bytes_each_read: str
) -> None:
    asked = json.dumps(body("How many days of annual leave does an employee get, and when does unused leave lapse?"))
    chat = await run_client(CLIENT, str(client.base_url.join(PATH)), asked, bytes_each_read, client="fetch")
    assert list(dict.fromkeys(chat["events"])) == ["decision", "retrieval", "content", "assessment", "done"]
    assert [(part["type"], part["content"]) for part in chat["segments"]] == [
        ("text", "Every employee gets 25 days of annual leave a year. Unused leave lapses in March."),
        ("reference", "①"),
    ]
    assert chat["pending"] == ""
    assert chat["sources"][0]["title"] == "Staff handbook"
    assert chat["assessment"]["supported"] is True


async def test_the_seeds_client_shows_a_refusal_to_answer_as_text(client: httpx.AsyncClient) -> None:
    asked = json.dumps(body(QUESTIONS["abstained"]))
    chat = await run_client(CLIENT, str(client.base_url.join(PATH)), asked, client="fetch")
    assert chat["events"] == ["decision", "retrieval", "content", "done"]
    assert [part["type"] for part in chat["segments"]] == ["text"]


async def test_the_seeds_client_is_told_in_json_why_it_was_refused(client: httpx.AsyncClient) -> None:
    asked = json.dumps({"messages": []})
    chat = await run_client(CLIENT, str(client.base_url.join(PATH)), asked, client="fetch")
    assert chat["refused"]["detail"].startswith("messages: ")
