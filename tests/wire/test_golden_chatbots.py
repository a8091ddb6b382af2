"""Whole chats of the docmost and docs_chatbot dialects, byte for byte: answered, talked, refused, failed."""

import re
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest

from api.app import create_app
from graph.entrypoint import open_citewell
from graph.evidence import Identity
from tests.api.conftest import LIBRARY, with_model
from tests.api.serving import client_of
from tests.scripted_openai import ScriptedOpenAI, scripted_openai, status
from tests.wire.adapters.adapter import Adapter
from tests.wire.adapters.docmost import DocmostAdapter
from tests.wire.adapters.docs_chatbot import DocsChatbotAdapter
from tests.wire.test_golden import assert_golden
from tools.settings import Settings

__all__ = ["scripted_openai"]

ADAPTERS: list[type[Adapter]] = [DocmostAdapter, DocsChatbotAdapter]
LEAVE = "How many days of annual leave does an employee get?"
ANSWER = "Every employee gets 25 days of annual leave a year."
CHATS = [
    ("answered", LEAVE, "extractive"),
    ("small_talk", "Hello!", "extractive"),
    ("abstained", "Who won the chess championship of 1972?", "extractive"),
    ("failed", LEAVE, "scripted"),
]


@pytest.fixture
async def clients(settings: Settings, scripted_openai: ScriptedOpenAI) -> AsyncIterator[dict[str, httpx.AsyncClient]]:
    """Clients of two deployments of one library, by what they answer with."""
    for _ in range(8):
        scripted_openai.script(status(401, "wrong key sk-1"), to="generate_answer")
    modelled = with_model(settings, scripted_openai)
    async with open_citewell(settings) as citewell, open_citewell(modelled) as with_a_model:
        for document in LIBRARY:
            await citewell.library.ingestor.ingest(Identity(), document)
        async with (
            client_of(create_app(settings, citewell=citewell)) as extractive,
            client_of(create_app(modelled, citewell=with_a_model)) as scripted,
        ):
            yield {"extractive": extractive, "scripted": scripted}


async def test_every_end_of_a_chat(clients: dict[str, httpx.AsyncClient], tmp_path: Path) -> None:
    for adapter in ADAPTERS:
        for name, question, family in CHATS:
            speaking = adapter()
            response = await speaking.ask(clients[family], question)
            assert_golden(f"{speaking.name}_{name}.sse", normal(response.content), tmp_path)
            heard = speaking.heard(response.content)
            assert heard.ended == ("error" if name == "failed" else "done")
            assert name != "answered" or (heard.answer, len(heard.cited)) == (ANSWER, 1)


def normal(stream: bytes) -> bytes:
    """Put names in the place of what differs from run to run, or from processor to processor."""
    for key in (b"session_id", b"message_id"):
        stream = re.sub(rb'"%b":"[0-9a-f-]{36}"' % key, b'"%b":"%b"' % (key, key.upper()), stream)
    return re.sub(rb'"(similarity|relevance_score)":[\d.]+', rb'"\1":0', stream)
