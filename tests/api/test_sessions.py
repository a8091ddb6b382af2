"""Sessions over HTTP."""

from typing import Any
from uuid import uuid4

import httpx

from tests.api.conftest import HANDBOOK, new_session


async def test_a_session_is_made_listed_read_and_deleted(client: httpx.AsyncClient) -> None:
    made = await client.post("/api/sessions", json={"title": "Leave", "page_ids": [HANDBOOK]})
    assert made.status_code == 201
    session = made.json()
    assert (session["title"], session["page_ids"]) == ("Leave", [HANDBOOK])
    assert (await client.get("/api/sessions")).json() == {"sessions": [session], "next_cursor": None}
    detail = (await client.get(f"/api/sessions/{session['session_id']}")).json()
    assert detail == {"session": session, "messages": [], "next_cursor": None}
    assert (await client.delete(f"/api/sessions/{session['session_id']}")).status_code == 204
    assert (await client.get(f"/api/sessions/{session['session_id']}")).status_code == 404
    assert (await client.get("/api/sessions")).json()["sessions"] == []


async def test_an_empty_body_makes_a_session_with_the_default_title(client: httpx.AsyncClient) -> None:
    made = await client.post("/api/sessions", json={})
    assert made.json()["title"] == "New Chat"


async def test_the_list_pages_and_leaves_ephemeral_sessions_out(client: httpx.AsyncClient) -> None:
    made = [await new_session(client) for _ in range(3)]
    await new_session(client, ephemeral=True)
    first = (await client.get("/api/sessions", params={"limit": 2})).json()
    rest = (await client.get("/api/sessions", params={"limit": 2, "cursor": first["next_cursor"]})).json()
    listed = [session["session_id"] for session in first["sessions"] + rest["sessions"]]
    assert listed == made[::-1]
    assert rest["next_cursor"] is None


async def test_ids_are_read_in_any_spelling_of_a_uuid(client: httpx.AsyncClient) -> None:
    session_id = await new_session(client)
    asked = await client.post(f"/api/sessions/{session_id.upper()}/runs", json={"question": "Hello", "stream": False})
    assert asked.json()["session_id"] == session_id
    assert len((await client.get(f"/api/sessions/{session_id}")).json()["messages"]) == 2


async def test_a_page_that_is_not_there_is_said_and_no_error(client: httpx.AsyncClient) -> None:
    session_id = await new_session(client)
    body = {"question": "How many days of annual leave?", "page_ids": [str(uuid4()), HANDBOOK], "stream": False}
    asked = await client.post(f"/api/sessions/{session_id}/runs", json=body)
    assert asked.json()["outcome"] == "answered"


async def test_an_old_answer_tells_what_has_become_of_its_quotes(client: httpx.AsyncClient) -> None:
    session_id = await new_session(client)
    body = {"question": "How many days of annual leave does an employee get?", "stream": False}
    [cited] = (await client.post(f"/api/sessions/{session_id}/runs", json=body)).json()["message"]["citations"]

    async def citation() -> dict[str, Any]:
        [found] = (await client.get(f"/api/sessions/{session_id}")).json()["messages"][-1]["citations"]
        return dict(found)

    async def rewrite(text: str) -> None:
        put = await client.put(f"/api/documents/{HANDBOOK}", json={"title": "Staff handbook", "text": text})
        assert put.status_code == 200

    assert await citation() == {**cited, "freshness": "fresh"}
    await rewrite(f"Preface.\n\n{cited['quote']}\n")
    place = {"segment_id": f"{HANDBOOK}:0", "segment_index": 0, "page_idx": None}
    now = {**place, "start": 10, "end": 10 + len(cited["quote"])}
    assert await citation() == {**cited, "freshness": "moved", "now": now}
    await rewrite("An employee gets 30 days of annual leave a year.")
    assert await citation() == {**cited, "freshness": "changed"}
    await client.delete(f"/api/documents/{HANDBOOK}")
    assert await citation() == {**cited, "freshness": "deleted"}
