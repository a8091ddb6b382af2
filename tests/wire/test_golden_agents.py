"""Whole chats of the ai_sdk and ag_ui dialects, byte for byte: answered, talked, refused, failed."""

import re
from pathlib import Path
from typing import Any

import httpx

from api.app import create_app
from graph.entrypoint import open_citewell
from graph.evidence import Identity
from tests.api.conftest import LIBRARY, with_model
from tests.api.serving import client_of
from tests.scripted_openai import ScriptedOpenAI, Think, answer, scripted_openai, status
from tests.wire.adapters.adapter import Adapter
from tests.wire.adapters.ag_ui import AgUiAdapter
from tests.wire.adapters.ai_sdk import AiSdkAdapter
from tests.wire.test_golden import assert_golden
from tools.settings import Settings

__all__ = ["scripted_openai"]

ADAPTERS: list[type[Adapter]] = [AiSdkAdapter, AgUiAdapter]
LEAVE = "How many days of annual leave does an employee get?"
NEWER = {"x-citewell-accept": "text-citations, reset-step"}
WRONG = {"text": "Every employee gets 30 days of annual leave a year.", "source_ids": [f"{LIBRARY[0].document_id}:0"]}


async def test_every_end_of_a_chat(settings: Settings, tmp_path: Path) -> None:
    async with open_citewell(settings.model_copy(update={"auto_title": False})) as citewell:
        for document in LIBRARY:
            await citewell.library.ingestor.ingest(Identity(), document)
        async with client_of(create_app(settings, citewell=citewell)) as client:
            for adapter in ADAPTERS:
                name = adapter().name
                await tell(client, adapter(), f"{name}_answered", LEAVE, tmp_path)
                await tell(client, adapter(), f"{name}_small_talk", "Hello!", tmp_path)
                await tell(client, adapter(), f"{name}_abstained", "Who won the chess championship of 1972?", tmp_path)


async def test_drafts_thoughts_and_failures(
    settings: Settings, scripted_openai: ScriptedOpenAI, tmp_path: Path
) -> None:
    configured = with_model(settings.model_copy(update={"auto_title": False}), scripted_openai)
    async with open_citewell(configured) as citewell:
        for document in LIBRARY:
            await citewell.library.ingestor.ingest(Identity(), document)
        async with client_of(create_app(configured, citewell=citewell)) as client:
            for adapter, headers in ((AiSdkAdapter, NEWER), (AgUiAdapter, {})):
                written = answer(WRONG, cut=1000)
                thinking = type(written)(steps=[Think("The handbook says so."), *written.steps])
                scripted_openai.script(thinking, status(401, "wrong key sk-1"), to="generate_answer")
                speaking: Adapter = adapter()
                await tell(client, speaking, f"{speaking.name}_repaired", LEAVE, tmp_path, **headers)
                await tell(client, speaking, f"{speaking.name}_failed", LEAVE, tmp_path)


async def tell(
    client: httpx.AsyncClient, adapter: Adapter, name: str, question: str, scratch: Path, **headers: str
) -> None:
    response = await adapter.ask(client, question, **headers)
    assert_golden(f"{name}.sse", normal(response.content), scratch)


def normal(stream: bytes) -> bytes:
    """Put names in the place of what differs from run to run, or from processor to processor."""
    ids: dict[bytes, Any] = {}
    for key in (b"run_id", b"session_id", b"message_id", b"messageId", b"threadId"):
        found = re.search(rb'"%b":"([0-9a-f-]{36})"' % key, stream)
        ids |= {found[1]: key.upper()} if found and found[1] not in ids else {}
    for value, name in ids.items():
        stream = stream.replace(value, name)
    stream = re.sub(rb'"ms":[\d.]+', b'"ms":0', stream)
    return re.sub(rb'"score":[\d.]+', b'"score":0', stream)
