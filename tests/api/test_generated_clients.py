"""Clients that generators make of the OpenAPI description, in Python and in TypeScript, and what they are told."""

import importlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from api.app import create_app
from tests.wire.node_clients import FOLDER, run_client
from tools.settings import Settings

NOTICE = "What is the notice period?"
SAID = "three months"
PACKAGE = "citewell_client"
PARKING = {"title": "Parking", "text": "Parking is free on Sundays."}


@pytest.fixture(scope="module")
def modules(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[str]]:
    """The modules of a package that openapi-python-client makes; it warns of what it has to leave out."""
    program = shutil.which("openapi-python-client")
    if program is None:
        pytest.skip("openapi-python-client is not on the PATH: `make contract` installs it")
    folder = tmp_path_factory.mktemp("generated")
    (folder / "openapi.json").write_text(json.dumps(create_app(Settings(_env_file=None)).openapi()))
    (folder / "config.yml").write_text(f"post_hooks: []\npackage_name_override: {PACKAGE}\n")
    options = ["--path", "openapi.json", "--config", "config.yml", "--meta", "none", "--output-path", PACKAGE]
    made = subprocess.run(
        [program, "generate", *options],
        cwd=folder,
        env={**os.environ, "NO_COLOR": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert made.returncode == 0, made.stdout + made.stderr
    assert "will not be generated" not in made.stdout
    assert "Unable to process" not in made.stdout
    sys.path.insert(0, str(folder))
    paths = [path.relative_to(folder).with_suffix("") for path in (folder / PACKAGE).rglob("*.py")]
    yield [".".join(path.parts).removesuffix(".__init__") for path in paths]
    sys.path.remove(str(folder))
    for name in [name for name in sys.modules if name.partition(".")[0] == PACKAGE]:
        del sys.modules[name]


def test_every_module_of_the_python_client_can_be_imported(modules: list[str]) -> None:
    for name in modules:
        importlib.import_module(name)


async def test_the_python_client_stores_a_document_and_asks_in_three_formats(
    modules: list[str], client: httpx.AsyncClient
) -> None:
    made = importlib.import_module(f"{PACKAGE}.models")
    at = importlib.import_module(f"{PACKAGE}.client").Client(base_url=str(client.base_url))
    at.set_async_httpx_client(client)

    async def call(route: str, *ids: Any, **fields: Any) -> Any:
        return await importlib.import_module(f"{PACKAGE}.api.{route}").asyncio(*ids, client=at, **fields)

    stored = await call("documents.add_document", body=made.AddDocumentJsonDocumentText.from_dict(PARKING))
    assert (type(stored).__name__, stored.title, stored.status) == ("Ingested", "Parking", "created")
    session = await call("sessions.create_session", body=made.NewSession())
    asked = made.NewRun(question=NOTICE, stream=False)
    run = await call("runs.start_run", session.session_id, body=asked)
    assert SAID in run.message.answer
    assert run.message.citations[0].quote in run.message.answer
    response = await call("responses.create_response", body=made.ResponseRequest(input_=NOTICE, store=False))
    assert SAID in response["output"][-1]["content"][0]["text"]
    completion = await call(
        "openai.complete", body=made.CompletionRequest.from_dict({"messages": [{"role": "user", "content": NOTICE}]})
    )
    assert SAID in completion["choices"][0]["message"]["content"]
    refused = await call("documents.add_document", body=made.AddDocumentJsonDocumentText.from_dict({"title": "None"}))
    assert (type(refused).__name__, refused.code) == ("Problem", "invalid_request")


async def test_the_typescript_client_stores_a_document_and_asks_whole_and_streamed(
    client: httpx.AsyncClient, tmp_path: Path
) -> None:
    if not (FOLDER / "node_modules" / "@hey-api").exists():
        pytest.skip("without its Node.js client: @hey-api/openapi-ts")
    asked = json.dumps({"question": NOTICE, "document": PARKING})
    told = await run_client("generated.mjs", str(client.base_url), str(tmp_path), asked, seconds=120)
    assert (told["stored"]["title"], told["stored"]["status"]) == ("Parking", "created")
    assert SAID in told["whole"]["message"]["answer"]
    assert (told["events"][0], told["events"][-1]) == ("run_started", "run_finished")
    assert SAID in told["response"]["output"][-1]["content"][0]["text"]
    assert SAID in "".join(part["delta"] for part in told["chat"][:-1] if part["type"] == "text-delta")
