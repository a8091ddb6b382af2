"""Whole runs over the web: an answer proven by what was found there, and a web that fails while the library answers."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from graph.context import Context
from graph.entrypoint import Citewell, open_citewell
from graph.events import AnyEvent, RunFinished, SearchFailed, SourcesFound
from graph.evidence import Identity
from tests.scripted_web import Reply, ScriptedWeb, found, result, serve_web
from tools.library.ingestion import NewDocument
from tools.process.library import open_library
from tools.sessions.run_request import RunRequest
from tools.settings import Settings

ME = Identity()
LAMP = "The lamp of the lighthouse turns every twelve seconds."
QUESTION = "How often does the lamp of the lighthouse turn?"


@pytest.fixture
async def script() -> AsyncIterator[ScriptedWeb]:
    async with serve_web() as serving:
        yield serving


@pytest.fixture
async def citewell(settings: Settings, script: ScriptedWeb) -> AsyncIterator[Citewell]:
    async with open_citewell(settings.model_copy(update={"web": script.settings})) as opened:
        yield opened


async def ask(citewell: Citewell, **knobs: Any) -> list[AnyEvent]:
    session = await citewell.library.sessions.create(ME)
    run = await citewell.runner.start(session.session_id, RunRequest(QUESTION, Context(search="always", **knobs)))
    return [envelope.event async for envelope in run.events(0)]


async def test_an_answer_from_the_web_is_proven_like_any_other(citewell: Citewell, script: ScriptedWeb) -> None:
    url = "https://lamp.test/turning"
    script.searches = [found(result(url, LAMP, "The lamp"))]
    events = await ask(citewell, web="first")
    [told] = [event for event in events if isinstance(event, SourcesFound) and event.kind == "web"]
    assert (told.count, told.degraded) == (1, None)
    end = events[-1]
    assert isinstance(end, RunFinished)
    assert end.outcome == "answered"
    [source], [citation] = end.message["sources"], end.message["citations"]
    assert (source["kind"], source["source_type"], source["url"]) == ("web", "web", url)
    raw = await citewell.library.documents.raw_text(ME, citation["document_id"])
    text = "".join(segment["text"] for segment in raw["segments"])
    assert text[citation["start"] : citation["end"]] == citation["quote"] == LAMP
    assert citation["verdict"] == "supported"


async def test_a_web_that_fails_is_told_and_the_library_answers(citewell: Citewell, script: ScriptedWeb) -> None:
    await citewell.library.ingestor.ingest(ME, NewDocument(text=LAMP, title="Our lamp"))
    script.searches = [Reply(status=403)]
    events = await ask(citewell, web="also")
    [failed] = [event for event in events if isinstance(event, SearchFailed)]
    assert (failed.kind, failed.code) == ("web", "web_unavailable")
    assert "(403)" in failed.message
    end = events[-1]
    assert isinstance(end, RunFinished)
    assert (end.outcome, end.message["sources"][0]["kind"]) == ("answered", "search")


async def test_without_a_key_there_is_no_web(settings: Settings) -> None:
    async with open_library(settings) as library:
        assert library.web is None
        assert library.resources.web is None
