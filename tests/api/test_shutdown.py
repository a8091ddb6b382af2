"""A server that is told to stop tells its readers how their runs ended, and records it."""

import asyncio
import json
import os
import sys
from asyncio.subprocess import PIPE
from pathlib import Path

import httpx
import psycopg

from tests.api.conftest import new_session
from tests.api.reading import live_events
from tests.scripted_openai import Hold, Reply, Say, ScriptedOpenAI
from tools.settings import Settings

ROOT = Path(__file__).parents[2]
SERVE = "from cli.main import main; main()"


async def test_sigterm_ends_an_open_stream_with_its_last_event(
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
    }
    command = [sys.executable, "-c", SERVE, "serve", "--port", "0", "--json"]
    server = await asyncio.create_subprocess_exec(*command, stdout=PIPE, env=environment, cwd=tmp_path)
    assert server.stdout is not None
    said = b""
    while not said.rstrip().endswith(b"}"):
        said += await server.stdout.readline()
    hold = Hold()
    scripted_openai.script(Reply(steps=[Say("Hello"), hold]), to="answer_directly")
    async with httpx.AsyncClient(base_url=json.loads(said)["url"], timeout=20, trust_env=False) as client:
        session_id = await new_session(client)
        asked = {"question": "Hello there", "search": "off"}
        async with client.stream("POST", f"/api/sessions/{session_id}/runs", json=asked) as response:
            events = []
            async for event in live_events(response):
                events.append(event)
                if event["type"] == "run_started":
                    await asyncio.to_thread(hold.wait_reached)
                    server.terminate()
    await server.wait()
    assert (events[-1]["type"], events[-1]["stop_reason"]) == ("run_finished", "server_stopped")
    async with await psycopg.AsyncConnection.connect(settings.database_url.get_secret_value()) as connection:
        found = await connection.execute("SELECT outcome, stop_reason FROM runs")
        assert await found.fetchall() == [("cancelled", "server_stopped")]
