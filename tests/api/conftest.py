"""An open Citewell over the test's own database, and a client of its API over real HTTP."""

import json
from collections.abc import AsyncIterator
from dataclasses import dataclass
from itertools import count
from typing import Any

import httpx
import psycopg
import pytest

from api.app import create_app
from evals.scripted_replies import judged
from graph.entrypoint import Citewell, open_citewell
from graph.evidence import Identity
from tests.api.serving import client_of
from tests.conftest import fresh_database, settings_over
from tests.judging import pass_exam
from tests.scripted_openai import ScriptedOpenAI, answer, say, scripted_openai
from tools.library.ingestion import NewDocument
from tools.settings import ModelSettings, Settings
from tools.storage.embedded import EmbeddedServer

__all__ = ["scripted_openai"]

_numbers = count(1)

HANDBOOK = "7a9e0f3c-5a55-4b0e-9b0c-0d3f1f6d2a01"
TRAVEL = "7a9e0f3c-5a55-4b0e-9b0c-0d3f1f6d2a02"
LIBRARY = [
    NewDocument(
        document_id=HANDBOOK,
        name="handbook.md",
        title="Staff handbook",
        slug="staff-handbook",
        url="https://wiki.example/handbook",
        space={"id": "s1", "slug": "people"},
        metadata={"team": "people"},
        text=(
            "# Leave\n\nEvery employee gets 25 days of annual leave a year. Unused leave lapses in March.\n\n"
            "# Notice\n\nThe notice period is three months. It is one month during probation.\n"
        ),
    ),
    NewDocument(
        document_id=TRAVEL,
        name="travel.md",
        title="Travel policy",
        text="# Trains\n\nSecond class is booked for trains. Journeys above four hours may be in first class.\n",
    ),
]


HOLD_THE_LIBRARY = {"citewell", "model_client", "judged_client"}  # fixtures


@pytest.fixture(scope="session")
async def library(postgres: EmbeddedServer, template: str, tmp_path_factory: pytest.TempPathFactory) -> str:
    """A template of databases that hold the library, which is ingested once."""
    name = f"citewell_library_{next(_numbers)}"  # tests elsewhere that import this fixture have one of their own
    async with await psycopg.AsyncConnection.connect(postgres.url(), autocommit=True) as connection:
        await connection.execute(f"CREATE DATABASE {name} TEMPLATE {template}")
    async with open_citewell(settings_over(postgres.url(name), tmp_path_factory.mktemp("library"))) as opened:
        for document in LIBRARY:
            await opened.library.ingestor.ingest(Identity(), document)
    return name


@pytest.fixture
async def database_url(
    request: pytest.FixtureRequest, postgres: EmbeddedServer, template: str, library: str
) -> AsyncIterator[str]:
    """The address of a fresh database, which holds the library where the test's deployment does."""
    holds = not HOLD_THE_LIBRARY.isdisjoint(request.fixturenames)
    async for url in fresh_database(postgres, library if holds else template):
        yield url


@pytest.fixture
async def citewell(settings: Settings) -> AsyncIterator[Citewell]:
    async with open_citewell(settings) as opened:
        yield opened


@pytest.fixture
async def client(settings: Settings, citewell: Citewell) -> AsyncIterator[httpx.AsyncClient]:
    async with client_of(create_app(settings, citewell=citewell)) as opened:
        yield opened


@dataclass(frozen=True)
class Deployment:
    """A served deployment that holds the library."""

    settings: Settings
    citewell: Citewell
    client: httpx.AsyncClient


@pytest.fixture(scope="module")
async def deployment_of_module(
    postgres: EmbeddedServer, library: str, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Deployment]:
    """A deployment for all tests of a module: each has to keep to documents and sessions of its own."""
    async for url in fresh_database(postgres, library):
        settings = settings_over(url, tmp_path_factory.mktemp("module"))
        async with open_citewell(settings) as opened, client_of(create_app(settings, citewell=opened)) as client:
            yield Deployment(settings, opened, client)


@pytest.fixture(scope="session")
async def shared_client(
    postgres: EmbeddedServer, library: str, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[httpx.AsyncClient]:
    """A client of one deployment for all tests that leave its library as it is."""
    async for url in fresh_database(postgres, library):
        settings = settings_over(url, tmp_path_factory.mktemp("shared"))
        async with open_citewell(settings) as opened, client_of(create_app(settings, citewell=opened)) as client:
            yield client


def with_model(settings: Settings, server: ScriptedOpenAI) -> Settings:
    """Settings of a deployment that answers by the scripted model."""
    model = ModelSettings(name="scripted", base_url=server.base_url, model="any", timeout_seconds=60)
    return settings.model_copy(update={"models": [model], "default_model": "scripted"})


@pytest.fixture
async def model_client(settings: Settings, scripted_openai: ScriptedOpenAI) -> AsyncIterator[httpx.AsyncClient]:
    """A client of a deployment whose model says what the test scripts."""
    configured = with_model(settings, scripted_openai)
    async with open_citewell(configured) as opened, client_of(create_app(configured, citewell=opened)) as client:
        yield client


@pytest.fixture
async def judged_client(settings: Settings, scripted_openai: ScriptedOpenAI) -> AsyncIterator[httpx.AsyncClient]:
    """A client of a deployment whose model has passed the exam of judges, so that a claim it doubts fails."""
    configured = with_model(settings, scripted_openai)
    async with open_citewell(configured) as opened, client_of(create_app(configured, citewell=opened)) as client:
        await pass_exam(opened, configured)
        yield client


def script_repair(server: ScriptedOpenAI, right: str, wrong: str) -> None:
    """Have two sentences on leave written as a section, of which the judge contradicts the second, and one again."""
    ids = [f"{HANDBOOK}:0"]
    server.script(answer({"text": f"{right} {wrong}", "source_ids": ids}), to="generate_answer")
    verdicts = {"1": judged("supported"), "2": judged("contradicted")}
    server.script(say(json.dumps(verdicts)), to="judge_claims")
    revised = {"section": 1, "text": right, "source_ids": ids}
    server.script(say(json.dumps({"sections": [revised]})), to="revise_sections")


async def new_session(client: httpx.AsyncClient, **fields: Any) -> str:
    response = await client.post("/api/sessions", json=fields)
    assert response.status_code == 201, response.text
    return str(response.json()["session_id"])
