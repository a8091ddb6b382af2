"""``citewell mcp``: the same server over stdin and stdout, started by the client of the official SDK."""

import asyncio
import json
import os
import sys
from asyncio.subprocess import PIPE
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

from graph.entrypoint import Citewell
from graph.evidence import Identity
from tests.api.conftest import HANDBOOK
from tools.library.ingestion import NewDocument
from tools.settings import Settings

ROOT = Path(__file__).parents[2]
COMMAND = ["-c", "from cli.main import main; main()", "mcp"]


def environment_of(settings: Settings) -> dict[str, str]:
    assert settings.database_url is not None
    url = settings.database_url.get_secret_value()
    return {**os.environ, "PYTHONPATH": str(ROOT), "CITEWELL_DATABASE_URL": url, "CITEWELL_DATA_DIR": "unused"}


async def test_a_client_starts_the_command_and_uses_its_tools(
    settings: Settings, citewell: Citewell, tmp_path: Path
) -> None:
    ours = NewDocument(text="The vault opens at dawn.", title="Vault", owner="another")
    await citewell.library.ingestor.ingest(Identity(), ours)
    told: list[str | None] = []

    async def progress(done: float, total: float | None, message: str | None) -> None:
        told.append(message)

    started = StdioServerParameters(
        command=sys.executable, args=COMMAND, env=environment_of(settings), cwd=str(tmp_path)
    )
    with anyio.fail_after(60):
        async with Client(stdio_client(started), cache=None) as client:
            assert [tool.name for tool in (await client.list_tools()).tools] == [
                "search", "fetch", "read", "ask", "verify",
            ]  # fmt: skip
            asked = {"question": "When does unused leave lapse?"}
            answer = await client.call_tool("ask", asked, progress_callback=progress)
            text: Any = answer.structured_content
            assert "Unused leave lapses in March." in text["citations"][0]["quote"]
            assert "Searching the library" in told
            assert f"citewell://documents/{HANDBOOK}" in {
                each.uri for each in (await client.list_resources()).resources
            }
            unseen = await client.call_tool("read", {"document_id": (await _vault(citewell)).document_id})
            assert unseen.is_error


async def _vault(citewell: Citewell) -> Any:
    found = await citewell.library.documents.list(Identity("default", "another"))
    return next(each for each in found.documents if each.title == "Vault")


async def test_a_client_may_leave_in_the_middle_of_a_call(
    settings: Settings, citewell: Citewell, tmp_path: Path
) -> None:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, *COMMAND), stdin=PIPE, stdout=PIPE, stderr=PIPE, env=environment_of(settings), cwd=tmp_path
    )
    assert process.stdin is not None
    assert process.stdout is not None
    assert process.stderr is not None
    asked = {"question": "When does unused leave lapse?"}
    meta = {"progressToken": 1}
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "one", "version": "1"}}
    for message in (
        {"method": "initialize", "id": 1, "params": hello},
        {"method": "notifications/initialized"},
        {"method": "tools/call", "id": 2, "params": {"name": "ask", "arguments": asked, "_meta": meta}},
    ):
        process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
    async with asyncio.timeout(60):
        while b"notifications/progress" not in await process.stdout.readline():
            pass
        process.stdout._transport.close()  # type: ignore[attr-defined]
        process.stdin.close()
        told = await process.stderr.read()
        assert await process.wait() == 0
    assert b"Error" not in told
    assert b"Traceback" not in told


@pytest.mark.parametrize("end", ["closed", "terminated"])
async def test_the_command_ends_with_its_client(
    settings: Settings, citewell: Citewell, tmp_path: Path, end: str
) -> None:
    process = await asyncio.create_subprocess_exec(
        sys.executable, *COMMAND, stdin=PIPE, stdout=PIPE, env=environment_of(settings), cwd=tmp_path
    )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        process.stdin.write(b'no message\n{"jsonrpc": "2.0", "id": 1, "method": "ping"}\n')
        async with asyncio.timeout(60):
            said = await process.stdout.readline()
            while b'"id":1' not in said:
                assert said.startswith(b"{")
                said = await process.stdout.readline()
            if end == "closed":
                process.stdin.close()
            else:
                process.terminate()
            rest = await process.stdout.read()
            assert await process.wait() == (0 if end == "closed" else 143)
        assert rest == b""
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
