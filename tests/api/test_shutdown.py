"""A server that is told to stop leaves its runs where they stand, and the next one finishes them."""

import asyncio
import json
import os
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import httpx
import psycopg

from tests.api.conftest import new_session
from tests.api.reading import events_of, live_events
from tests.scripted_openai import Hold, Reply, Say, ScriptedOpenAI
from tools.settings import Settings

ROOT = Path(__file__).parents[2]
SERVE = "from cli.main import main; main()"


async def test_sigterm_leaves_a_run_that_the_next_process_finishes_for_whoever_joins_it_again(
    settings: Settings, scripted_openai: ScriptedOpenAI, tmp_path: Path
) -> None:
    assert settings.database_url is not None
    models = [{"name": "scripted", "base_url": scripted_openai.base_url, "model": "any"}]
    environment = {
        **os.environ,
        "PYTHONPATH": str(ROOT),
        "CITEWELL_DATABASE_URL": settings.database_url.get_secret_value(),
        "CITEWELL_MODELS": json.dumps(models),
        "CITEWELL_DEFAULT_MODEL": "scripted",
        "CITEWELL_LOG_LEVEL": "warning",
        "CITEWELL_RUNS__DRAIN_SECONDS": "0.1",
    }
    hold = Hold()
    scripted_openai.script(Reply(steps=[Say("Hello"), hold]), to="answer_directly")
    scripted_openai.script(Reply(steps=[Say("Hello again.")]), to="answer_directly")
    async with serving(environment, tmp_path) as (server, client):
        session_id = await new_session(client)
        asked = {"question": "Hello there", "search": "off"}
        async with client.stream("POST", f"/api/sessions/{session_id}/runs", json=asked) as response:
            before = []
            async for event in live_events(response):
                before.append(event)
                if event["type"] == "run_started":
                    await asyncio.to_thread(hold.wait_reached)
                    server.terminate()
    assert not {"run_finished", "run_failed"} & {event["type"] for event in before}
    async with serving(environment, tmp_path) as (_, client):
        last = f"{before[-1]['run_id']}:{before[-1]['seq']}"
        path = f"/api/runs/{before[-1]['run_id']}/stream"
        after = events_of(await client.get(path, headers={"last-event-id": last}))
    assert [event["seq"] for event in [*before, *after]] == list(range(1, len(before) + len(after) + 1))
    assert next(event for event in after if event["type"] == "run_resumed")["attempt"] == 2
    assert (after[-1]["type"], after[-1]["message"]["answer"]) == ("run_finished", "Hello again.")
    async with await psycopg.AsyncConnection.connect(settings.database_url.get_secret_value()) as connection:
        found = await connection.execute("SELECT outcome, stop_reason FROM runs")
        assert await found.fetchall() == [("answered", "no_retrieval_needed")]


@asynccontextmanager
async def serving(environment: dict[str, str], folder: Path) -> AsyncIterator[tuple[Process, httpx.AsyncClient]]:
    command = [sys.executable, "-c", SERVE, "serve", "--port", "0", "--json"]
    server = await asyncio.create_subprocess_exec(*command, stdout=PIPE, env=environment, cwd=folder)
    assert server.stdout is not None
    said = b""
    while not said.rstrip().endswith(b"}"):
        said += await server.stdout.readline()
    try:
        async with httpx.AsyncClient(base_url=json.loads(said)["url"], timeout=60, trust_env=False) as client:
            yield server, client
    finally:
        if server.returncode is None:
            with suppress(ProcessLookupError):
                server.terminate()
        await server.wait()
