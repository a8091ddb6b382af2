"""A shell with LangSmith's tracing on, as LangGraph's developers have it: Citewell's commands send it nothing."""

import json
import subprocess
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import anyio
import httpx
import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

from cli.command import Exit
from tests.e2e.conftest import BIN, Home, Writer
from tests.e2e.test_jobs import started
from tests.e2e.test_keys import PATIENCE
from tests.scripted_openai import ScriptedOpenAI

QUESTION = "When is the boat house locked?"
ON = ("LANGSMITH_TRACING", "LANGSMITH_TRACING_V2", "LANGCHAIN_TRACING", "LANGCHAIN_TRACING_V2")


@dataclass(frozen=True)
class Shell:
    """The variables of a shell that traces to LangSmith, and what has arrived there."""

    variables: Mapping[str, str]
    heard: list[str]


@pytest.fixture
def shell(scripted_openai: ScriptedOpenAI) -> Iterator[Shell]:
    heard: list[str] = []

    class Sink(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            heard.append(self.path)
            self.rfile.read(int(self.headers.get("content-length", 0)))
            self.send_response(202)
            self.send_header("content-length", "2")
            self.end_headers()
            self.wfile.write(b"{}")

        do_POST = do_PATCH = do_GET

        def log_message(self, format: str, *args: Any) -> None:
            """Log nothing."""

    models = [{"name": "scripted", "base_url": scripted_openai.base_url, "model": "any"}]
    with ThreadingHTTPServer(("127.0.0.1", 0), Sink) as sink:
        address = {"LANGSMITH_ENDPOINT": f"http://127.0.0.1:{sink.server_port}", "LANGSMITH_API_KEY": "lsv2_x"}
        thread = threading.Thread(target=sink.serve_forever)
        thread.start()
        yield Shell({**address, **dict.fromkeys(ON, "true"), "CITEWELL_MODELS": json.dumps(models)}, heard)
        sink.shutdown()
        thread.join()


@pytest.fixture
def boats(home: Home, write: Writer) -> str:
    """A workspace with one document."""
    write("boats/hours.md", "The boat house is locked at nine in the evening.\n")
    assert home.citewell("ingest", "boats", "-w", "boats").code == Exit.OK
    return "boats"


def test_a_question_at_the_command_line_stays_there(home: Home, shell: Shell, boats: str) -> None:
    done = subprocess.run(
        [str(BIN / "citewell"), "ask", QUESTION, "-w", boats, "--json"],
        cwd=home.folder,
        env={**home.environment, **shell.variables},
        capture_output=True,
        text=True,
    )
    assert (done.returncode, json.loads(done.stdout)["outcome"]) == (Exit.OK, "answered"), done.stderr
    assert shell.heard == []
    (told,) = [line for line in done.stderr.splitlines() if any(name in line for name in ON)]
    assert all(name in told for name in ON)


def test_what_a_server_and_its_worker_do_stays_there(home: Home, shell: Shell, boats: str) -> None:
    environment = {**shell.variables, "CITEWELL_WORKSPACE": boats, "CITEWELL_JOBS__WORKERS": "0"}
    with (
        started(home, "worker", **environment) as (worker, _),
        started(home, "serve", "--port", "0", **environment) as (server, told),
        httpx.Client(base_url=f"http://127.0.0.1:{told['port']}", trust_env=False, timeout=PATIENCE) as client,
    ):
        for model in ("extractive", "scripted"):
            asked = {"model": model, "messages": [{"role": "user", "content": QUESTION}]}
            answered = client.post("/v1/chat/completions", json=asked)
            assert "nine in the evening" in answered.json()["choices"][0]["message"]["content"]
        oars = {"title": "Oars", "text": "The oars hang on the wall."}
        assert client.post("/api/documents", json=oars, headers={"prefer": "wait=60"}).status_code == 201
    assert (server.returncode, worker.returncode) == (Exit.OK, Exit.TERMINATED)
    assert shell.heard == []


async def test_a_question_of_an_assistant_stays_there(home: Home, shell: Shell, boats: str) -> None:
    command = StdioServerParameters(
        command=str(BIN / "citewell"),
        args=["mcp", "-w", boats],
        env={**home.environment, **shell.variables},
        cwd=str(home.folder),
    )
    with anyio.fail_after(PATIENCE):
        async with Client(stdio_client(command), cache=None) as client:
            answer: Any = (await client.call_tool("ask", {"question": QUESTION})).structured_content
    assert answer["citations"]
    assert shell.heard == []
