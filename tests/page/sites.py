"""Deployments that browser tests visit: one in the test's own process, and one that can be killed."""

import asyncio
import json
import os
import socket
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from api.app import create_app
from api.static_files import BUNDLE_FOLDER
from evals.scripted_replies import claims_to_judge, judged
from graph.entrypoint import Citewell, open_citewell
from graph.evidence import Identity
from tests.api.conftest import LIBRARY, with_model
from tests.api.serving import served
from tests.judging import pass_exam
from tests.scripted_openai import ModelRequest, Reply, ScriptedOpenAI, say
from tools.judges.examiner import without_background_exam
from tools.settings import Settings

ROOT = Path(__file__).parents[2]
# A process of the command line whose runs others take over soon, and later than a busy machine keeps it waiting.
SERVE = "from tools.runs import runner; runner.LEASE_SECONDS = 3.0; from cli.main import main; main()"
STARTING_SECONDS = 180  # of a machine that a dozen processes share


@dataclass(frozen=True, slots=True)
class Site:
    """A served app over a real database, with its documents in it. ``server`` is its model, where it has one."""

    url: str
    client: httpx.AsyncClient
    citewell: Citewell
    settings: Settings
    model: ScriptedOpenAI | None = None

    @property
    def server(self) -> ScriptedOpenAI:
        """Give the model, to script what it says."""
        assert self.model is not None
        return self.model


class JudgingModel(ScriptedOpenAI):
    """The scripted model, which judges the claims that ``verdicts`` names and leaves the others out."""

    def __init__(self) -> None:
        super().__init__()
        self.verdicts: dict[str, str] = {}

    def _next(self, request: ModelRequest) -> Reply:
        if request.prompt != "judge_claims":
            return super()._next(request)
        known = {at: text for at, text in claims_to_judge(request).items() if text in self.verdicts}
        return say(json.dumps({at: judged(self.verdicts[text]) for at, text in known.items()}))


@asynccontextmanager
async def judged_site_of(settings: Settings, server: JudgingModel) -> AsyncIterator[Site]:
    """Serve a model that judges, and has passed its exam."""
    settings = without_background_exam(with_model(settings, server))
    model = settings.models[0].model_copy(update={"model": "examined"})  # the database has another site's exams too
    settings = settings.model_copy(update={"models": [model]})
    async with site_of(settings, server) as site:
        await pass_exam(site.citewell, settings)
        yield site


@asynccontextmanager
async def site_of(
    settings: Settings, model: ScriptedOpenAI | None = None, page: Path = BUNDLE_FOLDER
) -> AsyncIterator[Site]:
    """Serve the documents of the API's tests, under the settings."""
    async with open_citewell(settings) as opened:
        for document in LIBRARY:
            await opened.library.ingestor.ingest(Identity(), document)
        async with (
            served(create_app(settings, citewell=opened, page=page)) as url,
            httpx.AsyncClient(base_url=url, timeout=20, trust_env=False) as client,
        ):
            yield Site(url, client, opened, settings, model)


class MortalSite:
    """A `citewell serve` of its own process, killed and started again under one address and over one database."""

    def __init__(self, environment: dict[str, str], folder: Path, server: ScriptedOpenAI) -> None:
        self.server = server
        self.port = _free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.client = httpx.AsyncClient(base_url=self.url, timeout=20, trust_env=False)
        self._environment = environment
        self._folder = folder
        self._process: Process | None = None

    async def start(self) -> None:
        """Start the process, and wait until it listens."""
        command = [sys.executable, "-c", SERVE, "serve", "--port", str(self.port), "--json"]
        process = await asyncio.create_subprocess_exec(*command, stdout=PIPE, env=self._environment, cwd=self._folder)
        self._process = process
        assert process.stdout is not None
        said = b""
        async with asyncio.timeout(STARTING_SECONDS):
            while not said.rstrip().endswith(b"}"):
                line = await process.stdout.readline()
                assert line, f"citewell serve ended as it started: {said.decode()}"
                said += line
        assert json.loads(said)["url"] == self.url

    async def kill(self) -> None:
        """End the process where it stands, as a power cut would."""
        assert self._process is not None
        with suppress(ProcessLookupError):
            self._process.kill()
        await self._process.wait()

    async def end(self) -> None:
        """Leave nothing running."""
        await self.client.aclose()
        if self._process is not None and self._process.returncode is None:
            await self.kill()


def environment_of(settings: Settings, server: ScriptedOpenAI, **more: str) -> dict[str, str]:
    """Give the environment of a process under the settings, whose model is ``server``; its runs are soon taken over."""
    assert settings.database_url is not None
    model: dict[str, Any] = {"name": "scripted", "base_url": server.base_url, "model": "any", "timeout_seconds": 20}
    return {
        **os.environ,
        "PYTHONPATH": str(ROOT),
        "CITEWELL_DATABASE_URL": settings.database_url.get_secret_value(),
        "CITEWELL_DATA_DIR": str(settings.data_dir),
        "CITEWELL_POOL_SIZE": "4",
        "CITEWELL_POOL_TIMEOUT_SECONDS": "10",  # as in the tests' own process: else a busy machine is told of by 503
        "CITEWELL_MODELS": json.dumps([model]),
        "CITEWELL_DEFAULT_MODEL": "scripted",
        "CITEWELL_LOG_LEVEL": "error",
        "CITEWELL_RUNS__DRAIN_SECONDS": "0",
        **more,
    }


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        return int(listening.getsockname()[1])
