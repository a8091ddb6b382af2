"""Sessions over HTTP."""

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
