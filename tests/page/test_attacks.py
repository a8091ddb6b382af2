"""Attacks through every text that reaches the page: nothing runs, nothing is fetched, and the text stands as text."""

import json
import re
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from itertools import cycle
from typing import Any

import pytest
from playwright.async_api import expect

from graph.evidence import Identity
from tests.api.conftest import new_session
from tests.page.attacks import MARKUP, marked
from tests.page.browsing import Visits
from tests.page.forged import SESSION, Forgery
from tests.page.sites import Site, site_of
from tests.page.tampering import Watch, watched
from tests.scripted_openai import ScriptedOpenAI, Think, answer, say
from tools.ingestion import NewDocument
from tools.settings import ModelSettings, Settings

LONGEST_QUESTION = 10_000


def packed(texts: list[str], longest: int) -> list[str]:
    """Join texts into as few as a limit allows."""
    packs = [""]
    for text in texts:
        if len(packs[-1]) + len(text) + 1 > longest:
            packs.append("")
        packs[-1] = f"{packs[-1]} {text}".strip()
    return packs


def printable(text: str) -> str:
    """Leave out what the API refuses in a question or a title."""
    return re.sub(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]", "", text)


def line(text: str) -> str:
    return " ".join(text.split())


@pytest.fixture(scope="module")
async def site(module_settings: Settings) -> AsyncIterator[Site]:
    """A deployment with models that have room for all attacks at once; the label of one is an attack."""
    with ScriptedOpenAI() as server:
        model: dict[str, Any] = {"base_url": server.base_url, "model": "any", "context_tokens": 200_000}
        models = [
            ModelSettings(name="scripted", **model),
            ModelSettings(name="hostile", label=MARKUP["image"], **model),
        ]
        settings = module_settings.model_copy(update={"models": models, "default_model": "scripted"})
        async with site_of(settings, server) as opened:
            yield opened


@pytest.fixture(autouse=True)
def unscripted(site: Site) -> Iterator[None]:
    yield
    site.server.unscript()


async def ingested(site: Site, **fields: Any) -> str:
    done = await site.citewell.library.ingestor.ingest(Identity(), NewDocument(**fields))
    return done.document_id


async def asked(site: Site, session_id: str, **ask: Any) -> dict[str, Any]:
    response = await site.client.post(f"/api/sessions/{session_id}/runs", json={"stream": False, **ask})
    assert response.status_code == 200, response.text
    message: dict[str, Any] = response.json()
    return message


async def holds(watch: Watch, texts: list[str]) -> None:
    """Check that the page holds texts as they are, but for white space."""
    held = line(await watch.text())
    assert [text for text in texts if line(text) not in held] == []


async def test_a_conversation_of_attacks_is_text(chromium_page: Visits, site: Site) -> None:
    document_id = await ingested(site, text="\n\n".join(marked()), title="All of them")
    raw = (await site.client.get(f"/api/documents/{document_id}/raw-text")).json()
    texts = {f"{document_id}:{segment['segment_index']}": segment["text"] for segment in raw["segments"]}
    sections = [
        {"text": text, "source_ids": [segment_id for segment_id in texts if text in texts[segment_id]]}
        for text in marked()
    ]
    attack = cycle(printable(text) for text in MARKUP.values())
    decided = {"intent": "content_query", "needs_retrieval": True, "reason": next(attack)}
    standing = {"standalone_question": next(attack), **decided}
    session_id = await new_session(site.client, page_ids=[document_id])
    watch = await watched(await chromium_page(site.url, go=False), f"{site.url}/#/sessions/{session_id}")
    questions = packed([printable(text) for text in marked()], LONGEST_QUESTION)
    for number, question in enumerate(questions, 1):
        site.server.script(say(json.dumps(standing)), to="decide_retrieval")
        site.server.script(say(json.dumps({"title": next(attack)})), to="title")
        thought = [Think(f"{text}\n") for text in marked()]
        written = answer(*sections, cut=400)
        site.server.script(replace(written, steps=[*thought, *written.steps]), to="generate_answer")
        await watch.page.get_by_role("textbox").fill(question)
        await watch.page.get_by_role("textbox").press("Enter")
        await expect(watch.page.locator(".turn:not(.live)")).to_have_count(number)
    for _ in range(2):
        await expect(watch.page.locator(".turn")).to_have_count(len(questions))
        await holds(watch, questions)
        await watch.untouched()
        await watch.page.reload()


async def test_a_server_of_lies_is_believed_in_nothing(chromium_page: Visits, site: Site) -> None:
    forgery = Forgery()
    page = await chromium_page(site.url, go=False)
    await forgery.answer(page)
    watch = await watched(page, f"{site.url}/#/sessions/{SESSION}")
    await expect(page.locator(".turn")).to_have_count(1)
    await watch.untouched()
