"""Whatever a client sends, it is answered: with a problem where it is nonsense, never with a fault of ours."""

import json
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from tests.api.reading import INSIDES
from tests.api.trespasses import ATTEMPTS, NAMES, Attempt, fill

NOBODY = "00000000-0000-4000-8000-000000000000"
IDS = dict.fromkeys(NAMES, NOBODY) | {
    "workspace_id": "default",
    "shared": "fuzz",
    "model": "extractive",
    "response_id": f"resp_{NOBODY}",
    "answer_item_id": f"msg_{NOBODY}",
    "folder": "/nowhere",
}
JSON = {"content-type": "application/json"}

NESTED = b"[" * 100_000
VALUES = ["\x00", "\ud800"]
BODIES = [
    b"",
    b"{",
    b"null",
    b"\xff\xfe",
    b'{"question": NaN}',
    b'{"question": ' + b"9" * 5000 + b"}",
    b'{"question": ' + b"9" * 30 + b', "messages": ' + b"9" * 30 + b"}",
    b'{"question": "\\ud800", "content": "\\ud800", "query": "\\ud800", "messages": "\\ud800"}',
    b'{"\\ud800": 1, "\\u0000": 2}',
    b"{" + b",".join(b'"%d": 0' % n for n in range(5000)) + b"}",
    b'{"' + b"x" * 200_000 + b'": 0}',
    b'{"metadata": ' + NESTED,
]
POSTS = sorted({(each.method, each.path) for each in ATTEMPTS if each.method in ("POST", "PUT", "PATCH")})


def assert_answered(response: httpx.Response, sent: object) -> None:
    told = f"{str(sent)[:200]} -> {response.status_code} {response.text[:500]}"
    assert response.status_code < 500, told
    for inside in INSIDES:
        assert inside not in response.text, told
    if response.status_code >= 400:
        assert len(response.content) < 5000, told
        if response.headers["content-type"] == "application/problem+json":
            assert {"code", "detail", "suggestion", "retryable"} <= set(response.json()), told
        else:
            assert response.headers["content-type"].startswith(("application/json", "text/event-stream")), told


@pytest.mark.parametrize(("method", "path"), POSTS)
async def test_a_body_that_is_no_request_is_refused(shared_client: httpx.AsyncClient, method: str, path: str) -> None:
    for body in BODIES:
        response = await shared_client.request(method, path.format(**IDS), content=body, headers=JSON)
        assert_answered(response, body)


def twisted(sent: Any) -> Iterator[Any]:
    """Give a body with one of its values, at any depth, changed into each of the strange ones; and new fields."""
    if isinstance(sent, dict):
        for name, value in sent.items():
            yield from ({**sent, name: strange} for strange in twisted(value))
        yield {**sent, "\ud800": 1, "unknown\x00": 2}
    elif isinstance(sent, list):
        for place, value in enumerate(sent):
            yield from ([*sent[:place], strange, *sent[place + 1 :]] for strange in twisted(value))
    yield from VALUES


BY_PATH = {(each.method, each.path): each for each in ATTEMPTS}


@pytest.mark.parametrize(
    "attempt", [each for each in BY_PATH.values() if "json" in each.sent], ids=lambda each: f"{each.method} {each.path}"
)
async def test_a_strange_value_anywhere_in_a_body_is_no_fault_of_ours(
    shared_client: httpx.AsyncClient, attempt: Attempt
) -> None:
    path, sent = attempt.filled(IDS)
    bodies = list(twisted(sent.pop("json")))
    for body in bodies:
        content = json.dumps(body).encode()  # as ASCII, since the client can't write half a surrogate pair
        headers = {**sent.get("headers", {}), **JSON}
        response = await shared_client.request(attempt.method, path, content=content, headers=headers)
        assert_answered(response, body)


PLACES = ["%00", "%ff", "%ed%a0%80", "%", "x" * 5000, "7"]


@pytest.mark.parametrize(
    "attempt",
    [each for each in BY_PATH.values() if "{" in each.path and "json" not in each.sent],
    ids=lambda each: f"{each.method} {each.path}",
)
async def test_a_strange_id_in_a_path_is_no_fault_of_ours(shared_client: httpx.AsyncClient, attempt: Attempt) -> None:
    for place in PLACES:
        path = attempt.path.format(**dict.fromkeys(IDS, place))
        headers = fill(attempt.sent.get("headers", {}), IDS)
        assert_answered(await shared_client.request(attempt.method, path, headers=headers), path)


@pytest.mark.parametrize("path", sorted({each.path for each in ATTEMPTS if each.method == "GET"}))
async def test_a_strange_parameter_or_header_is_no_fault_of_ours(shared_client: httpx.AsyncClient, path: str) -> None:
    path = path.format(**IDS)
    for name in ("q", "cursor", "limit", "space", "title", "min_score", "query", "conversationId"):
        query = f"query=Hello&q=a&{name}=%00"
        assert_answered(await shared_client.get(f"{path}?{query}"), query)
    for value in (b"x", b"\xff", b"%s:1" % NOBODY.encode(), b"%s:99999999999" % NOBODY.encode()):
        headers = {b"last-event-id": value, b"accept": b"text/event-stream"}
        assert_answered(await shared_client.get(f"{path}?query=Hello&q=a", headers=headers), value)
