"""A reader says what an answer is worth, changes it, takes it back; it goes with the answer."""

from typing import Any
from uuid import uuid4

import httpx
import pytest

from graph.entrypoint import Citewell
from tests.api.scraping import grown, scrape
from tests.api.test_errors import assert_problem
from tools.process.expiry import Retention, expire

QUESTION = {"question": "How many days of annual leave does an employee get?", "min_score": 0, "stream": False}


async def answered(client: httpx.AsyncClient) -> tuple[str, str, dict[str, Any]]:
    """Ask; return the ids of the session and the answer, and the place of its first claim."""
    session = (await client.post("/api/sessions", json={})).json()["session_id"]
    ended = (await client.post(f"/api/sessions/{session}/runs", json=QUESTION)).json()
    claim = ended["message"]["claims"][0]
    return session, ended["message_id"], {name: claim[name] for name in ("section_index", "start", "end")}


async def told(client: httpx.AsyncClient, session: str) -> Any:
    """Return the feedback that a reader of the session sees on its answer."""
    question, answer = (await client.get(f"/api/sessions/{session}")).json()["messages"]
    assert question["feedback"] is None
    return answer["feedback"]


async def test_it_is_given_changed_withdrawn_and_counted(shared_client: httpx.AsyncClient) -> None:
    session, message, claim = await answered(shared_client)
    path = f"/api/sessions/{session}/messages/{message}/feedback"
    assert await told(shared_client, session) is None
    up = await shared_client.post(path, json={"rating": "up"})
    assert up.status_code == 200
    assert up.json() == await told(shared_client, session)
    assert {**up.json(), "changed_at": ""} == {
        "rating": "up", "reason_code": None, "text": None, "claim": None, "changed_at": ""
    }  # fmt: skip
    before = await scrape(shared_client)
    down = {"rating": "down", "reason_code": "wrong", "text": "It is 28 days.\nSee the handbook.", "claim": claim}
    assert (await shared_client.post(path, json=down)).status_code == 200
    said = await told(shared_client, session)
    assert {name: said[name] for name in down} == down
    counted = grown(before, await scrape(shared_client), "citewell_feedback_total", "rating", "reason")
    assert counted == {("down", "wrong"): 1}
    for _ in range(2):
        assert (await shared_client.delete(path)).status_code == 204
        assert await told(shared_client, session) is None


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "rating"),
        ({"rating": "fine"}, "rating"),
        ({"rating": "up", "reason_code": "wrong"}, "reason_code"),
        ({"rating": "down", "reason_code": "ugly"}, "reason_code"),
        ({"rating": "down", "text": " "}, "text"),
        ({"rating": "down", "text": "x" * 2001}, "text"),
        ({"rating": "down", "text": "\x00"}, "text"),
        ({"rating": "down", "claim": {"section_index": 0, "start": 1, "end": 2}}, "claim"),
        ({"rating": "down", "claim": {"section_index": 0}}, "claim"),
        ({"rating": "up", "stars": 5}, "stars"),
    ],
)
async def test_what_is_no_feedback_is_refused_by_field(
    shared_client: httpx.AsyncClient, body: dict[str, Any], field: str
) -> None:
    session, message, _ = await answered(shared_client)
    refused = await shared_client.post(f"/api/sessions/{session}/messages/{message}/feedback", json=body)
    assert field in assert_problem(refused, 422, "invalid_request")["detail"]
    assert await told(shared_client, session) is None


async def test_it_is_of_answers_of_the_session(shared_client: httpx.AsyncClient) -> None:
    session, message, _ = await answered(shared_client)
    other, _, _ = await answered(shared_client)
    [question, _] = (await shared_client.get(f"/api/sessions/{session}")).json()["messages"]
    up = {"rating": "up"}
    refused = await shared_client.post(f"/api/sessions/{session}/messages/{question['message_id']}/feedback", json=up)
    assert "a question" in assert_problem(refused, 422, "invalid_request")["detail"]
    for path in (f"{other}/messages/{message}", f"{session}/messages/{uuid4()}", f"{uuid4()}/messages/{message}"):
        assert_problem(await shared_client.post(f"/api/sessions/{path}/feedback", json=up), 404, "not_found")
        assert_problem(await shared_client.delete(f"/api/sessions/{path}/feedback"), 404, "not_found")


async def test_it_goes_with_its_session_and_by_retention(citewell: Citewell, client: httpx.AsyncClient) -> None:
    database = citewell.library.database

    async def kept() -> int:
        async with database.connection() as connection:
            [row] = await (await connection.execute("SELECT count(*) FROM message_feedback")).fetchall()
        return int(row[0])

    sessions = []
    for _ in range(2):
        session, message, _ = await answered(client)
        sessions.append(session)
        await client.post(f"/api/sessions/{session}/messages/{message}/feedback", json={"rating": "up"})
    assert await kept() == 2
    assert (await client.delete(f"/api/sessions/{sessions[0]}")).status_code == 204
    assert await kept() == 1
    async with database.connection() as connection:
        await connection.execute("UPDATE sessions SET updated_at = now() - interval '30 days'")
    await expire(database, retention=Retention(7))
    assert await kept() == 0
