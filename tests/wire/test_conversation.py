"""The conversation dialect on the wire: the seed's own client over a connection that breaks anywhere."""

import json
from urllib.parse import urlencode

import httpx
import pytest

from tests.wire.deployments import LEAVE, client, settings_of_module
from tests.wire.node_clients import run_client

__all__ = ["client", "settings_of_module"]

CLIENT = "seeds/conversation.mjs"
EVENT_SOURCE = "eventsource"
PATH = "/api/rag/query-stream"


def address(client: httpx.AsyncClient, **asked: str) -> str:
    return f"{client.base_url.join(PATH)}?{urlencode(asked)}"


async def test_the_seeds_client_shows_answer_and_sources(client: httpx.AsyncClient) -> None:
    asked = {"query": LEAVE, "conversationId": "node"}
    heard = await run_client(CLIENT, address(client, **asked), client=EVENT_SOURCE)
    assert heard["types"] == ["connected", "content", "done"]
    assert heard["connected"] == ["node"]
    assert heard["shown"] == heard["done"]["formattedAnswer"]
    assert [source["documentName"] for source in heard["done"]["sources"]] == ["Staff handbook"]
    assert (heard["broken"], len(heard["requests"])) == (0, 1)


async def test_the_seeds_client_is_told_why_it_was_refused(client: httpx.AsyncClient) -> None:
    heard = await run_client(CLIENT, address(client, query=""), client=EVENT_SOURCE)
    assert heard["types"] == ["error"]
    assert heard["error"]["code"] == "invalid_request"


@pytest.mark.parametrize(
    ("query", "types"), [("", ["error"]), ("Hello!", ["connected", "content", "done"])], ids=["refused", "answered"]
)
async def test_an_event_source_that_nobody_closes_is_told_to_stop(
    client: httpx.AsyncClient, query: str, types: list[str]
) -> None:
    patient = json.dumps({"patient": True})
    heard = await run_client(CLIENT, address(client, query=query), patient, client=EVENT_SOURCE)
    assert heard["types"] == types
    assert [request["status"] for request in heard["requests"]] == [200, 204]


@pytest.mark.parametrize("bytes_each", [210, 333, 700])
async def test_wherever_the_connection_breaks_the_answer_is_shown_once(
    client: httpx.AsyncClient, bytes_each: int
) -> None:
    asked = {"query": LEAVE, "conversationId": f"breaks-{bytes_each}", "progress": "true"}
    breaking = json.dumps({"patient": True, "cuts": [bytes_each] * 8})
    heard = await run_client(CLIENT, address(client, **asked), breaking, client=EVENT_SOURCE)
    assert len(heard["requests"]) > 3
    assert heard["shown"] == heard["done"]["formattedAnswer"]
    assert [heard["types"].count(kind) for kind in ("connected", "content", "done", "error")] == [1, 1, 1, 0]
    sessions = (await client.get("/api/sessions", params={"limit": 200})).json()["sessions"]
    [session] = [session for session in sessions if session["external_id"] == asked["conversationId"]]
    detail = (await client.get(f"/api/sessions/{session['session_id']}")).json()
    assert len(detail["messages"]) == 2
