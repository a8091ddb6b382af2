"""Streams of a seed's dialect as they go over the wire, with names in the place of what differs from run to run."""

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx
import pytest

from api.app import create_app
from graph.entrypoint import open_citewell
from graph.evidence import Identity
from tests.api.conftest import LIBRARY, with_model
from tests.api.serving import client_of
from tests.scripted_openai import ScriptedOpenAI, status
from tools.settings import Settings

QUESTIONS = {
    "answered": "How many days of annual leave does an employee get?",
    "small_talk": "Hello!",
    "abstained": "Who won the chess championship of 1972?",
    "failed": "How many days of annual leave does an employee get?",
}
_UUID = re.compile(rb"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")


@asynccontextmanager
async def serving(settings: Settings) -> AsyncIterator[httpx.AsyncClient]:
    """Serve the library, and give a client."""
    async with open_citewell(settings) as citewell:
        for document in LIBRARY:
            await citewell.library.ingestor.ingest(Identity(), document)
        async with client_of(create_app(settings, citewell=citewell)) as client:
            yield client


@pytest.fixture
async def client(settings: Settings) -> AsyncIterator[httpx.AsyncClient]:
    """A client of a deployment of the extractive family."""
    async with serving(settings) as opened:
        yield opened


async def told(name: str, settings: Settings, path: str, body: dict[str, Any]) -> bytes:
    """Ask by the extractive family, or for ``failed`` by a model whose endpoint refuses to write."""
    with ScriptedOpenAI() as model:
        model.script(status(401), to="generate_answer")
        async with serving(with_model(settings, model) if name == "failed" else settings) as client:
            return named((await client.post(path, json=body)).content)


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
