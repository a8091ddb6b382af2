"""Every error is a problem that names what to mend, and nothing of our insides."""

import json
from http import HTTPStatus
from typing import Any
from uuid import uuid4

import httpx
import pytest

from api.app import create_app
from api.body_limits import BODY_BYTES
from api.problems import BY_CODE, ERROR_TABLE, LONGEST_DETAIL, ErrorKind, problem
from graph import errors
from graph.entrypoint import Citewell, open_citewell
from tests.api.conftest import new_session
from tests.api.reading import INSIDES
from tests.api.serving import client_of
from tools.settings import Settings

NOBODY = "00000000-0000-4000-8000-000000000000"
RUNS = f"/api/sessions/{NOBODY}/runs"
ASK: dict[str, Any] = {"question": "Why?"}


def assert_problem(response: httpx.Response, status: int, code: str) -> dict[str, Any]:
    assert response.headers["content-type"] == "application/problem+json", response.text
    body: dict[str, Any] = response.json()
    assert (response.status_code, body["status"], body["code"]) == (status, status, code), body
    assert body["type"] == f"urn:citewell:problem:{code}"
    assert body["title"] == HTTPStatus(status).phrase
    assert body["detail"]
    assert body["suggestion"]
    assert isinstance(body["retryable"], bool)
    return body


def test_every_error_of_ours_has_a_status() -> None:
    kinds = [kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, Exception)]
    assert {kind.code for kind in kinds if issubclass(kind, errors.CitewellError)} <= set(BY_CODE)


@pytest.mark.parametrize("kind", ERROR_TABLE, ids=lambda kind: kind.code)
def test_what_may_be_sent_again_later_says_when(kind: ErrorKind) -> None:
    told = problem(kind.code, "So.", "Wait.", retryable=kind.retryable).headers
    assert ("retry-after" in told) == (kind.retryable and kind.status in (429, 503))


def test_an_error_of_another_version_is_told_as_an_internal_one() -> None:
    assert problem("of_tomorrow", "So.", "Wait.").status_code == 500


def test_what_is_told_back_is_short_and_can_be_sent() -> None:
    response = problem("not_found", "There is no \ud800" + "x" * 10_000, "Look.")
    assert json.loads(bytes(response.body))["detail"] == "There is no ?" + "x" * (LONGEST_DETAIL - 13) + "…"


@pytest.mark.parametrize(
    ("path", "told"), [("/v1/chat/completions", "error"), ("/api/ai/chat/stream", "statusCode"), ("/api/chat", "code")]
)
async def test_refusals_before_a_route_have_the_shape_that_its_clients_read(
    shared_client: httpx.AsyncClient, path: str, told: str
) -> None:
    foreign = await shared_client.post(path, json={}, headers={"origin": "https://evil.example"})
    large = await shared_client.post(path, content=b"x" * (BODY_BYTES + 1))
    for response, status in ((foreign, 403), (large, 413)):
        assert response.status_code == status
        assert told in response.json()


@pytest.mark.parametrize(
    ("fields", "names"),
    [
        ({}, "question: "),
        ({"question": ""}, "question: "),
        ({"question": " \n"}, "question: "),
        ({"question": "x" * 10_001}, "question: "),
        ({"question": "bell \x07"}, "question: "),
        ({"question": "return \r"}, "question: "),
        ({"question": "nul \x00"}, "question: "),
        ({"question": "half \ud800"}, "question: "),
        ({"question": 7}, "question: "),
        (ASK | {"page_ids": ["not-a-uuid"]}, "page_ids.0: "),
        (ASK | {"search": "sometimes"}, "search: "),
        (ASK | {"top_k": 0}, "top_k: "),
        (ASK | {"top_k": 31}, "top_k: "),
        (ASK | {"min_score": 1.1}, "min_score: "),
        (ASK | {"spaces": ["a\x00b"]}, "spaces.0: "),
        (ASK | {"budget": {"model_calls": 9}}, "budget.model_calls: "),
        (ASK | {"budget": {"tokens": 0}}, "budget.tokens: "),
        (ASK | {"budget": {"seconds": 0}}, "budget.seconds: "),
        (ASK | {"budget": {"seconds": 601}}, "budget.seconds: "),
        (ASK | {"budget": {"seconds": "nan"}}, "budget.seconds: "),
        (ASK | {"selected_text": ""}, "selected_text: "),
        (ASK | {"selected_text": " \n"}, "selected_text: "),
        (ASK | {"selected_text": "x" * 1001}, "selected_text: "),
        (ASK | {"selected_text": "bell \x07"}, "selected_text: "),
        (ASK | {"web": "sometimes"}, "web: "),
        (ASK | {"while_running": "wait"}, "while_running: "),
        (ASK | {"while_running": []}, "while_running: "),
        (ASK | {"on_disconnect": "wait"}, "on_disconnect: "),
        (ASK | {"workspace": "other"}, "workspace: this version"),
        (ASK | {"user": "other"}, "user: this version"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
async def test_a_field_that_is_wrong_is_named(
    shared_client: httpx.AsyncClient, fields: dict[str, Any], names: str
) -> None:
    # As ASCII, since the client itself can't write half a surrogate pair.
    sent = {"content": json.dumps(fields), "headers": {"content-type": "application/json"}}
    body = assert_problem(await shared_client.post(RUNS, **sent), 422, "invalid_request")
    assert body["detail"].startswith(names)


@pytest.mark.parametrize(
    ("content_type", "advice"),
    [("application/x-www-form-urlencoded", "Content-Type: application/json"), ("application/json", "Correct")],
)
async def test_a_body_that_is_no_object_is_told_how_to_be_sent(
    shared_client: httpx.AsyncClient, content_type: str, advice: str
) -> None:
    content = b'["x"]' if content_type == "application/json" else json.dumps(ASK).encode()
    response = await shared_client.post(RUNS, content=content, headers={"content-type": content_type})
    body = assert_problem(response, 422, "invalid_request")
    assert "JSON object" in body["detail"]
    assert advice in body["suggestion"]


async def test_a_body_that_is_left_out_is_told(shared_client: httpx.AsyncClient) -> None:
    body = assert_problem(await shared_client.post("/api/sessions"), 422, "invalid_request")
    assert body["detail"].startswith("The body is missing")


@pytest.mark.parametrize(
    ("method", "path", "request_", "status", "code"),
    [
        ("POST", RUNS, {"json": ASK}, 404, "not_found"),
        ("POST", RUNS, {"content": b"{", "headers": {"content-type": "application/json"}}, 422, "invalid_request"),
        ("POST", RUNS, {"content": b"\xff", "headers": {"content-type": "application/json"}}, 400, "invalid_request"),
        ("POST", RUNS, {"content": b"[]", "headers": {"content-type": "application/json"}}, 422, "invalid_request"),
        ("POST", RUNS, {"data": ASK}, 422, "invalid_request"),
        ("POST", RUNS, {"json": ASK | {"model": "unheard-of"}}, 400, "unknown_model"),
        ("POST", "/api/sessions/7/runs", {"json": ASK}, 422, "invalid_request"),
        ("POST", "/api/sessions", {"json": {"title": "x" * 256}}, 422, "invalid_request"),
        ("GET", "/api/sessions?cursor=made-up", {}, 422, "invalid_request"),
        ("GET", "/api/sessions?limit=0", {}, 422, "invalid_request"),
        ("GET", f"/api/sessions/{NOBODY}", {}, 404, "not_found"),
        ("DELETE", f"/api/sessions/{NOBODY}", {}, 404, "not_found"),
        ("GET", f"/api/runs/{NOBODY}", {}, 404, "not_found"),
        ("POST", f"/api/runs/{NOBODY}/cancel", {}, 404, "not_found"),
        ("GET", "/api/runs/%00", {}, 422, "invalid_request"),
        ("GET", f"/api/documents/{NOBODY}", {}, 404, "not_found"),
        ("DELETE", f"/api/documents/{NOBODY}", {}, 404, "not_found"),
        ("GET", f"/api/documents/{NOBODY}/raw-text", {}, 404, "not_found"),
        ("GET", f"/documents/{NOBODY}", {}, 404, "not_found"),
        ("GET", "/api/documents?cursor=made-up", {}, 422, "invalid_request"),
        ("POST", "/api/documents", {"content": b"text"}, 415, "invalid_request"),
        ("POST", "/api/documents", {"json": {}}, 422, "invalid_request"),
        ("POST", "/api/documents", {"json": {"text": "a", "metadata": []}}, 422, "invalid_request"),
        ("POST", "/api/documents", {"json": {"text": "a", "deleted_at": "now"}}, 422, "invalid_request"),
        ("POST", "/api/documents", {"json": {"text": "a", "url": "javascript:alert(1)"}}, 422, "invalid_request"),
        ("POST", "/api/documents", {"json": {"text": "  "}}, 422, "unreadable_document"),
        ("POST", "/api/documents", {"files": {"file": ("a.pdf", b"%PDF-broken")}}, 422, "unreadable_document"),
        (
            "POST",
            "/api/documents",
            {"files": {"file": ("a.md", b"# A")}, "data": {"metadata": "{"}},
            422,
            "invalid_request",
        ),
        (
            "POST",
            "/api/documents",
            {"content": b"--x", "headers": {"content-type": "multipart/form-data"}},
            400,
            "invalid_request",
        ),
        ("PUT", "/api/documents/7", {"json": {"text": "a"}}, 422, "invalid_request"),
        ("GET", "/api/search", {}, 422, "invalid_request"),
        ("GET", "/api/search?q=%20", {}, 422, "invalid_request"),
        ("GET", "/api/search?q=a%00b", {}, 422, "invalid_request"),
        ("GET", "/api/search?q=a&top_k=99", {}, 422, "invalid_request"),
        ("GET", "/nowhere", {}, 404, "not_found"),
        ("PATCH", "/api/sessions", {}, 405, "invalid_request"),
    ],
)
async def test_every_error_is_a_problem(
    shared_client: httpx.AsyncClient, method: str, path: str, request_: dict[str, Any], status: int, code: str
) -> None:
    response = await shared_client.request(method, path, **request_)
    assert_problem(response, status, code)
    for inside in INSIDES:
        assert inside not in response.text


async def test_an_exhausted_pool_is_busy_and_says_when_to_try_again(
    settings: Settings, citewell: Citewell, caplog: pytest.LogCaptureFixture
) -> None:
    """300 askers at once were told that the database could not be reached, though it was well."""
    tight = settings.model_copy(update={"pool_size": 2})
    async with open_citewell(tight) as opened, client_of(create_app(tight, citewell=opened)) as client:
        session_id = await new_session(client)
        pool = opened.library.database.pool
        async with opened.library.database.connection(), opened.library.database.connection():
            pool.timeout = 0.2
            asked = await client.post(f"/api/sessions/{session_id}/runs", json=ASK)
            listed = await client.get("/api/sessions")
            ready = await client.get("/readyz")
            pool.timeout = settings.pool_timeout_seconds
        for response in (asked, listed):
            assert assert_problem(response, 503, "database_busy")["retryable"]
            assert int(response.headers["retry-after"]) > 0
        assert all(record.exc_info is None for record in caplog.records if record.name == "citewell.api")
        assert_problem(ready, 503, "not_ready")
        assert (await client.get("/readyz")).status_code == 200
        assert (await client.get(f"/api/sessions/{session_id}")).json()["messages"] == []


async def test_what_nobody_foresaw_says_nothing_of_our_insides(settings: Settings, citewell: Citewell) -> None:
    app = create_app(settings, citewell=citewell)

    @app.get("/broken")
    async def broken() -> None:
        raise RuntimeError("the secret")

    async with client_of(app) as client:
        response = await client.get("/broken")
    assert_problem(response, 500, "internal")
    assert "secret" not in response.text


async def test_what_is_refused_for_want_of_room_is_logged_in_one_line(
    settings: Settings, citewell: Citewell, caplog: pytest.LogCaptureFixture
) -> None:
    app = create_app(settings, citewell=citewell)

    @app.get("/full")
    async def full() -> None:
        raise errors.Overloaded("16 runs are going.")

    @app.get("/cut")
    async def cut() -> None:
        raise errors.DatabaseUnavailable("The database can't be reached.") from OSError("no route")

    async with client_of(app) as client:
        assert_problem(await client.get("/full"), 503, "overloaded")
        assert_problem(await client.get("/cut"), 503, "database_unavailable")
    refused, failed = (record for record in caplog.records if record.name == "citewell.api")
    assert refused.getMessage() == "GET /full: overloaded: 16 runs are going."
    assert refused.exc_info is None
    assert failed.exc_info is not None, "what was behind it"


async def test_a_document_of_another_owner_is_not_overwritten(client: httpx.AsyncClient) -> None:
    document_id = str(uuid4())
    put = await client.put(f"/api/documents/{document_id}", json={"text": "Theirs.", "owner": "someone-else"})
    assert put.status_code in (201, 404)
    again = await client.put(f"/api/documents/{document_id}", json={"text": "Mine now."})
    assert_problem(again, 404, "not_found")
