"""Streams of a seed's dialect as they go over the wire, with names in the place of what differs from run to run."""

import re
from collections.abc import AsyncIterator
from itertools import count

import httpx
import psycopg
import pytest
from pydantic import SecretStr

from api.app import create_app
from graph.entrypoint import open_citewell
from graph.evidence import Identity
from tests.api.conftest import LIBRARY, with_model
from tests.api.serving import client_of
from tests.scripted_openai import ScriptedOpenAI, status
from tools.embedded import EmbeddedServer
from tools.settings import Settings

LEAVE = "How many days of annual leave does an employee get?"
QUESTIONS = {"answered": LEAVE, "small_talk": "Hello!", "abstained": "Who won the chess championship of 1972?"}
_UUID = re.compile(rb"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_numbers = count(1)


@pytest.fixture(scope="module")
async def client(
    postgres: EmbeddedServer, template: str, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[httpx.AsyncClient]:
    """A client of a deployment of the extractive family, for all tests of a module."""
    name = f"wire_{next(_numbers)}"
    async with await psycopg.AsyncConnection.connect(postgres.url(), autocommit=True) as connection:
        await connection.execute(f"CREATE DATABASE {name} TEMPLATE {template}")
    url = SecretStr(postgres.url(name))
    settings = Settings(_env_file=None, database_url=url, data_dir=tmp_path_factory.mktemp(name), pool_size=4)
    async with open_citewell(settings) as citewell:
        for document in LIBRARY:
            await citewell.library.ingestor.ingest(Identity(), document)
        async with client_of(create_app(settings, citewell=citewell)) as opened:
            yield opened


@pytest.fixture
async def failing_client(settings: Settings) -> AsyncIterator[httpx.AsyncClient]:
    """A client of a deployment whose model's endpoint refuses to write an answer."""
    with ScriptedOpenAI() as model:
        model.script(status(401), to="generate_answer")
        configured = with_model(settings, model)
        async with open_citewell(configured) as citewell:
            await citewell.library.ingestor.ingest(Identity(), LIBRARY[0])
            async with client_of(create_app(configured, citewell=citewell)) as opened:
                yield opened


def named(stream: bytes) -> bytes:
    """Name the ids of a stream in the order in which they come, but for those of the library.

    Scores are left out, and so are places in the log, which depend on how many deltas have become one.
    """
    known = {str(document.document_id).encode() for document in LIBRARY}
    for number, found in enumerate(dict.fromkeys(_UUID.findall(stream)), start=1):
        if found not in known:
            stream = stream.replace(found, b"ID%d" % number)
    stream = re.sub(rb"(?m)^(id: ID\d+):\d+$", rb"\1:SEQ", stream)
    return re.sub(rb'"(score|relevanceScore)":[\d.]+', rb'"\1":0', stream)
