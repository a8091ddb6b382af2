"""How much a request may bring, and from where."""

from collections.abc import AsyncIterator

import httpx
import pytest

from api import document_upload
from api.app import create_app
from api.body_limits import BODY_BYTES, FORM_BYTES
from api.dependencies import check_bind
from graph.entrypoint import Citewell
from graph.errors import ConfigurationError
from tests.api.serving import client_of
from tools.settings import Settings

SMALL = 50_000
UNKNOWN = "00000000-0000-4000-8000-000000000000"


@pytest.fixture
async def small_client(settings: Settings, citewell: Citewell) -> AsyncIterator[httpx.AsyncClient]:
    small = settings.model_copy(update={"max_document_bytes": SMALL})
    async with client_of(create_app(small, citewell=citewell)) as client:
        yield client


async def drip(size: int) -> AsyncIterator[bytes]:
    """A body whose length is not declared."""
    yield b'{"text": "'
    for _ in range(size // 1000):
        yield b"x" * 1000
    yield b'"}'


@pytest.mark.parametrize(("path", "limit"), [("/api/sessions", BODY_BYTES), ("/api/documents", SMALL + FORM_BYTES)])
@pytest.mark.parametrize("declared", [True, False], ids=["declared", "chunked"])
async def test_a_body_beyond_the_limit_is_refused(
    small_client: httpx.AsyncClient, path: str, limit: int, declared: bool
) -> None:
    content = b"x" * (limit + 1) if declared else drip(limit + 1000)
    response = await small_client.post(path, content=content, headers={"content-type": "application/json"})
    assert (response.status_code, response.json()["code"]) == (413, "request_too_large")
    assert str(limit) in response.json()["detail"]


async def test_a_large_document_passes_where_a_large_question_would_not(client: httpx.AsyncClient) -> None:
    sentence = 'The word \\"lamp\\" is in \\u0022text\\u0022: \\\\. '  # as JSON spells it
    content = (
        '{"title": "Lamps", "text": "' + sentence * (BODY_BYTES // 30) + '", "metadata": {"text": "n"}}'
    ).encode()
    assert len(content) > BODY_BYTES
    response = await client.post("/api/documents", content=content, headers={"content-type": "application/json"})
    assert response.status_code in (201, 202), response.text  # 202 where a busy machine still reads it


MEMBERS = ",".join(f'"k{number}":{number}' for number in range(100_000))


@pytest.mark.parametrize("path", [f"/api/documents/{UNKNOWN}", f"/api/documents/{UNKNOWN}/versions/1/restore"])
async def test_a_route_below_documents_takes_no_more_than_others(client: httpx.AsyncClient, path: str) -> None:
    headers, body = {"content-type": "application/json"}, f'{{"metadata":{{{MEMBERS}}}}}'.encode()
    response = await client.request("POST" if "restore" in path else "PATCH", path, content=body, headers=headers)
    assert (response.status_code, response.json()["code"]) == (413, "request_too_large")


@pytest.mark.parametrize(
    "body",
    [
        f'{{"text":"A word.","metadata":{{{MEMBERS}}}}}',
        f'{{"text":"{"A word. " * 200_000}","metadata":{{{MEMBERS}}}}}',
        f'{{"metadata":{{"text":"{"A word. " * 200_000}"}},"text":"A word."}}',
        f'{{"text":[{"0," * 600_000}0]}}',
        f'["{"A word. " * 200_000}"]',
        "[" * 1_200_000,
        '{"text":"' + "A word. " * 200_000,
    ],
    ids=["members", "members and text", "text below", "no text", "array", "deep", "unfinished"],
)
async def test_large_json_has_one_large_text(
    client: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch, body: str
) -> None:
    def read_here(_: bytes) -> None:
        raise AssertionError("it is read in the process that serves")

    monkeypatch.setattr(document_upload, "_from_json", read_here)
    response = await client.post("/api/documents", content=body.encode(), headers={"content-type": "application/json"})
    assert (response.status_code, response.json()["code"]) == (422, "invalid_request")


@pytest.mark.parametrize(
    "headers",
    [
        {"host": "evil.example"},
        {"host": "localhost.evil.example"},
        {"host": "127.0.0.1.evil.example:80"},
        {"host": ""},
        {"origin": "https://evil.example"},
        {"origin": "null"},
        {"origin": "http://localhost.evil.example"},
    ],
    ids=str,
)
async def test_a_page_of_another_site_is_refused(shared_client: httpx.AsyncClient, headers: dict[str, str]) -> None:
    response = await shared_client.post("/api/sessions", json={}, headers=headers)
    assert response.status_code == 403
    assert response.headers["content-type"] == "application/problem+json"


@pytest.mark.parametrize("headers", [{"host": "localhost:99"}, {"host": "[::1]"}, {"origin": "http://localhost:3000"}])
async def test_this_machine_is_served_under_all_its_names(
    shared_client: httpx.AsyncClient, headers: dict[str, str]
) -> None:
    assert (await shared_client.get("/healthz", headers=headers)).status_code == 200


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.5", "example.com", "127.0.0.1.example.com"])
def test_listening_where_others_reach_it_is_refused(settings: Settings, host: str) -> None:
    with pytest.raises(ConfigurationError, match="host"):
        check_bind(settings.model_copy(update={"host": host}))


@pytest.mark.parametrize("host", ["127.0.0.1", "127.9.9.9", "::1", "localhost"])
def test_listening_on_this_machine_is_fine(settings: Settings, host: str) -> None:
    check_bind(settings.model_copy(update={"host": host}))
