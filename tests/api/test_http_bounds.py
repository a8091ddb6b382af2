"""The server that `citewell serve` starts: requests that are too large, ambiguous or slow are refused, and closed."""

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import pytest
from fastapi import FastAPI, Request

from api.document_upload import UploadedDocument
from api.problems import install_error_handlers
from cli.http_protocol import Bounds, bounded_by
from tests.api.serving import served

LIMITS = Bounds(head_bytes=65_536, head_seconds=0.3, body_seconds=0.3, body_bytes_per_second=10)
HOST = b"Host: localhost\r\n"


@pytest.fixture(scope="module")
async def port() -> AsyncIterator[int]:
    app = FastAPI()
    install_error_handlers(app)

    @app.get("/healthz")
    async def health() -> str:
        return "ok"

    @app.post("/echo")
    async def echo(request: Request) -> int:
        return len(await request.body())

    @app.post("/documents")
    async def upload(document: UploadedDocument) -> str:
        return document.name

    async with served(app, http=bounded_by(LIMITS)) as url:
        yield int(url.rpartition(":")[2])


async def sent(port: int, *pieces: bytes) -> tuple[int | None, dict[str, Any]]:
    """Send pieces of a request and read to the end of the connection; give the status and the problem."""
    async with asyncio.timeout(30):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        for piece in pieces:
            writer.write(piece)
            await asyncio.sleep(0)
        told = await reader.read()
        writer.close()
    if not told:
        return None, {}
    head, _, body = told.partition(b"\r\n\r\n")
    return int(head.split(b" ")[1]), json.loads(body) if body.startswith(b"{") else {}


@pytest.mark.parametrize(
    ("pieces", "status"),
    [
        ([b"GET /healthz HTTP/1.1\r\n", HOST, b"X-Big: ", b"x" * 1_000_000, b"\r\n\r\n"], 431),
        ([b"GET /healthz HTTP/1.1\r\n", HOST, b"X-Big: ", *[b"x" * 9_000] * 9], 431),
        ([b"GET /healthz HTTP/1.1\r\n", HOST, b"x: 1\r\n" * 20_000, b"\r\n"], 431),
        ([b"GET /healthz HTTP/1.1\r\n", HOST, b"x: 1\r\n" * 101, b"\r\n"], 431),
        ([b"GET /" + b"x" * 70_000 + b" HTTP/1.1\r\n", HOST, b"\r\n"], 431),
        ([b"GET /healthz HTTP/1.1\r\n", HOST, HOST, b"\r\n"], 400),
        ([b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\n\r\n"], 400),
        ([b"GET /healthz HTTP/1.1\r\n\r\n"], 400),
        ([b"\x16\x03\x01\x02\x00\x01\x00"], 400),
        ([b"GET /healthz HTTP/1.1\r\n", HOST], 408),
        ([b"G"], 408),
        ([b"POST /echo HTTP/1.1\r\n", HOST, b"Content-Type: application/json\r\nContent-Length: 9\r\n\r\n{"], 408),
        ([], None),
    ],
    ids=[
        *("one_of_1_mb", "one_without_end", "20000_headers", "101_headers", "long_address"),
        *("same_host_twice", "two_hosts", "no_host", "tls", "half_a_head", "one_byte", "half_a_body", "silence"),
    ],
)
async def test_what_no_client_sends_is_refused_and_its_connection_closed(
    port: int, pieces: list[bytes], status: int | None
) -> None:
    """600 half requests stayed open for as long as anybody looked, and a head of 1 MB was read."""
    answered, told = await sent(port, *pieces)
    assert answered == status
    if status is not None:
        assert (told["status"], told["code"]) == (status, "invalid_request")
        assert told["suggestion"]


async def test_a_body_may_take_the_time_of_its_bytes(port: int) -> None:
    body = b"x" * 400
    head = b"POST /echo HTTP/1.1\r\nContent-Type: application/json\r\nConnection: close\r\nContent-Length: %d\r\n"
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(head % len(body) + HOST + b"\r\n")
    for at in range(0, len(body), 40):
        writer.write(body[at : at + 40])
        await asyncio.sleep(0.04)  # more than 0.3 s in all, and each piece has earned another 4
    async with asyncio.timeout(30):
        told = await reader.read()
    writer.close()
    assert told.endswith(b"400")


async def test_a_connection_that_is_kept_alive_takes_one_request_after_another(port: int) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    for _ in range(3):
        writer.write(b"GET /healthz HTTP/1.1\r\n" + HOST + b"\r\n")
        assert (await reader.readuntil(b'"ok"')).startswith(b"HTTP/1.1 200")
    writer.write(b"GET /healthz HTTP/1.1\r\n" + HOST)
    async with asyncio.timeout(30):
        assert (await reader.read()).startswith(b"HTTP/1.1 408")
    writer.close()


@pytest.mark.parametrize("kind", ["application/json", "multipart/form-data; boundary=b"])
async def test_an_upload_that_breaks_off_is_logged_in_one_line(
    port: int, kind: str, caplog: pytest.LogCaptureFixture
) -> None:
    """Each left a trace of 73 lines."""
    caplog.set_level("INFO")
    _, writer = await asyncio.open_connection("127.0.0.1", port)
    head = b"POST /documents HTTP/1.1\r\nContent-Type: %s\r\nContent-Length: 5000\r\n" % kind.encode()
    writer.write(head + HOST + b"\r\n--b\r\nContent-Disposition: form-data; name=file; filename=x.md\r\n\r\nHello")
    await writer.drain()
    writer.transport.abort()
    async with asyncio.timeout(30):
        while "before its request was complete" not in caplog.text:  # noqa: ASYNC110 - the log tells nobody
            await asyncio.sleep(0.01)
    assert [record.levelname for record in caplog.records if record.exc_info] == []
