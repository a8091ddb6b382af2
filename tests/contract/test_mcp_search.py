"""MCP servers as search sources: real ones over stdio and HTTP, whose results are proven like pages of the web."""

import os
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from cli.checks import check_mcp_server
from graph.context import Context
from graph.entrypoint import Citewell, open_citewell
from graph.events import AnyEvent, RunFinished, SearchFailed, SourcesFound, StepStarted
from graph.evidence import Identity
from graph.ports import McpSearchResult
from graph.reasons import Reason
from tests.api.serving import served
from tests.scripted_mcp import KEEPER, LAMP, mcp_app
from tests.scripted_web import Reply, found, page, result, serve_web
from tools.library.ingestion import NewDocument
from tools.library.mcp_library import McpLibrary
from tools.mcp_search.results import FoundLink, FoundText, results_of
from tools.mcp_search.search_server import McpServer
from tools.process.library import Library, open_library
from tools.sessions.run_request import RunRequest
from tools.settings import McpServerSettings, Settings
from tools.web.fetching import PageFetcher
from tools.web.guard import Guard

ME, YOU = Identity(), Identity(user="someone-else")
QUESTION = "How often does the lamp of the lighthouse turn?"
SCRIPT = str(Path(__file__).parents[1] / "scripted_mcp.py")


def over_stdio(form: str = "structured", name: str = "lamps", **fields: Any) -> McpServerSettings:
    values = {"tool": "look_up", "arguments": {"words": "{query}"}, **fields}
    return McpServerSettings(name=name, command=sys.executable, args=[SCRIPT, form], **values)


def over_http(url: str, form: str, **fields: Any) -> McpServerSettings:
    arguments = {"words": "{query}", "how": form, "most": "{top_k}"}
    return McpServerSettings(**{"name": form, "url": f"{url}/mcp", "tool": "look_up", "arguments": arguments, **fields})


@pytest.fixture
async def url() -> AsyncIterator[str]:
    async with served(mcp_app()) as address:
        yield address


@pytest.fixture
async def library(settings: Settings) -> AsyncIterator[Library]:
    async with open_library(settings) as opened:
        yield opened


async def search(
    library: Library, *servers: McpServerSettings | McpServer, seconds: float | None = None, identity: Identity = ME
) -> McpSearchResult:
    """Search by these servers, over the library that stores what they return."""
    asked = [each if isinstance(each, McpServer) else McpServer(each) for each in servers]
    mcp = McpLibrary(asked, None, library.ingestor, library.searcher)
    return await mcp.search_mcp(QUESTION, identity, top_k=10, min_score=0.0, seconds=seconds)


async def test_a_server_that_a_command_starts_gets_the_query_and_its_secrets(library: Library) -> None:
    os.environ["LAMP_SECRET"] = "xyzzy"
    server = over_stdio("asked", env={"LAMP_TOKEN": "token ${LAMP_SECRET}"})
    [hit] = (await search(library, server)).hits
    assert hit.segment.text == f"{LAMP} {QUESTION} token xyzzy"
    assert hit.segment.title.startswith("lamps: The lamp of the lighthouse")
    assert "xyzzy" not in repr(server)


async def test_a_hit_says_what_it_is_and_where_from(library: Library, url: str) -> None:
    [first, second] = (await search(library, over_http(url, "structured"))).hits
    assert (first.kind, first.segment.text, first.segment.title) == ("web", LAMP, "The lamp")
    assert (first.segment.source_type, first.segment.url) == ("mcp", "https://lamp.test/turning")
    assert (first.segment.metadata["server"], first.segment.metadata["tool"]) == ("structured", "look_up")
    assert (second.segment.text, second.segment.title) == (KEEPER, "The keeper")


async def test_results_in_every_form_are_read(library: Library, url: str) -> None:
    unread = "{}: 1 of its results hold no text that can be read."
    for form, texts, degraded in (
        ("json", {LAMP}, None),
        ("texts", {LAMP, KEEPER}, None),
        ("embedded", {LAMP, f"Notes\n\n{KEEPER}"}, unread),
        ("links", {LAMP, KEEPER}, unread),
        ("pictures", set(), unread),
        ("nothing", set(), None),
    ):
        searched = await search(library, over_http(url, form))
        assert {hit.segment.text.strip() for hit in searched.hits} == texts, form
        assert searched.degraded == (degraded and degraded.format(form))
        assert (searched.failures, searched.servers) == ((), (form,))


async def test_a_linked_page_is_fetched_behind_the_guard_of_the_web(library: Library, url: str) -> None:
    async with serve_web() as web, httpx2.AsyncHTTPTransport() as transport:
        fetcher = PageFetcher(Guard(), transport, max_bytes=50_000, seconds=5)
        asked = [McpServer(over_http(url, "links"))]
        guarded = McpLibrary(asked, fetcher, library.ingestor, library.searcher)
        searched = await guarded.search_mcp(QUESTION, ME, top_k=10, min_score=0.0, seconds=None)
        assert {hit.segment.text for hit in searched.hits} == {LAMP, KEEPER}  # the second is its link's description
        assert {hit.segment.url for hit in searched.hits} == {None}

        web.pages["lamp.test/inside"] = page("The lamp stands inside.")
        link = FoundLink(web.url("lamp.test/inside"), "Inside")
        trusting = PageFetcher(web.guard, transport, max_bytes=50_000, seconds=5)
        opened = McpLibrary(asked, trusting, library.ingestor, library.searcher)
        fetched = await opened.fetched(link, 5.0)
        assert fetched is not None
        assert "The lamp stands inside." in fetched.text


async def test_a_linked_page_is_read_in_the_encoding_that_it_names(library: Library, url: str) -> None:
    async with serve_web() as web, httpx2.AsyncHTTPTransport() as transport:
        fetcher = PageFetcher(web.guard, transport, max_bytes=50_000, seconds=5)
        asked = [McpServer(over_http(url, web.url("lamp.test/gbk"), name="linked"))]
        mcp = McpLibrary(asked, fetcher, library.ingestor, library.searcher)
        found = []
        for words in (f"{LAMP} 灯塔的灯每十二秒转一圈。", f"{LAMP} 灯塔的灯每十三秒转一圈。"):
            html = f'<html><head><meta charset="gbk"></head><body><main><p>{words}</p></main></body></html>'
            web.pages["lamp.test/gbk"] = Reply(html.encode("gbk"), headers={"content-type": "text/html"})
            [hit] = (await mcp.search_mcp(QUESTION, ME, top_k=10, min_score=0.0, seconds=None)).hits
            assert hit.segment.text == words
            found.append(hit.segment.document_id)
        assert len(set(found)) == 2  # an answer may quote what the page said before


async def test_a_hit_can_be_read_again_by_who_asked_alone(library: Library, url: str) -> None:
    server = over_http(url, "structured")
    segment = (await search(library, server)).hits[0].segment
    assert await library.reader.read_segments([segment.segment_id], ME) == [segment]
    [page] = await library.reader.read_pages([segment.document_id], ME)
    assert "".join(part.text for part in page.segments)[segment.start : segment.end] == segment.text
    assert await library.reader.read_segments([segment.segment_id], YOU) == []
    theirs = (await search(library, server, identity=YOU)).hits[0].segment
    assert theirs.document_id != segment.document_id
    again = (await search(library, server)).hits[0].segment
    assert again.document_id == segment.document_id  # the same result is stored once
    soon = "SELECT min(expires_at) > now() + interval '29 days', count(*) FROM documents"
    async with library.database.connection() as connection:
        assert await (await connection.execute(soon)).fetchone() == (True, 4)


async def test_what_a_hostile_server_says_is_text_and_nothing_else(library: Library, url: str) -> None:
    searched = await search(library, over_http(url, "hostile"))
    [hit] = searched.hits
    assert "\x00" not in hit.segment.text
    assert LAMP in hit.segment.text
    assert hit.segment.url is None  # no address of the web
    assert len(hit.segment.title) == 300
    assert searched.degraded == Reason("results_without_text", "hostile", 1)


async def test_a_reply_that_is_too_large_fails_over_http_and_is_cut_over_stdio(
    library: Library, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tools.mcp_search.search_server.MOST_BYTES", 100_000)
    monkeypatch.setattr("tools.library.mcp_library.MOST_BYTES", 100_000)
    searched = await search(library, over_http(url, "huge"), over_stdio("huge"))
    [failure] = searched.failures
    assert (failure.server, failure.code) == ("huge", "mcp_unavailable")
    assert searched.servers == ("lamps",)
    assert searched.degraded == Reason("results_cut", "lamps", 1, 100_000)
    assert searched.hits
    assert sum(len(hit.segment.text) for hit in searched.hits) <= 100_000


async def test_a_server_that_fails_is_named_and_stops_no_other(library: Library, url: str) -> None:
    servers = [
        over_http(url, "error"),
        McpServer(over_http(url, "slow"), seconds=0.3),
        over_http(url, "no-tool", tool="nothing_of_that_name"),
        McpServerSettings(name="gone", url="http://127.0.0.1:9/mcp", tool="look_up"),
        McpServerSettings(name="no-command", command="/nowhere/at/all", tool="look_up"),
        McpServerSettings(name="no-server", command=sys.executable, args=["-c", "print('hello')"], tool="look_up"),
        over_http(url, "structured"),
    ]
    searched = await search(library, *servers)
    told = {failure.server: failure.message for failure in searched.failures}
    assert told["error"].endswith(": the lamp is out.")
    assert "within 0.3 seconds" in told["slow"]
    assert set(told) == {"error", "slow", "no-tool", "gone", "no-command", "no-server"}
    assert all(message.startswith(f"{name}: ") for name, message in told.items())
    assert searched.servers == ("structured",)
    assert len(searched.hits) == 2


async def test_doctor_says_whether_a_server_answers_and_has_its_tool(url: str) -> None:
    good = await check_mcp_server(over_http(url, "structured"))
    assert (good.ok, "look_up" in good.detail) == (True, True)
    other = await check_mcp_server(over_http(url, "structured", tool="look_down"))
    assert not other.ok
    assert other.detail.endswith("look_down; it has: look_up.")
    gone = await check_mcp_server(McpServerSettings(name="gone", url="http://127.0.0.1:9/mcp", tool="look_up"))
    assert (gone.ok, gone.facts) == (False, {"code": "mcp_unavailable"})


async def test_the_runs_own_time_bounds_a_search(library: Library, url: str) -> None:
    searched = await search(library, McpServer(over_http(url, "slow"), seconds=60), seconds=0.5)
    assert [failure.server for failure in searched.failures] == ["slow"]


@pytest.mark.parametrize(
    ("fields", "named"),
    [
        ({}, "url or a command"),
        ({"url": "http://a.test", "command": "x"}, "url or a command"),
        ({"url": "ftp://a.test"}, "url"),
        ({"url": "http://a.test", "env": {"A": "b"}}, "args and env"),
        ({"command": "x", "headers": {"A": "b"}}, "headers are for"),
        ({"url": "http://a.test", "headers": {"A": "${NOT_THERE}"}}, "no variable NOT_THERE"),
        ({"url": "http://a.test", "headers": {"A": "b\nc"}}, "printable ASCII"),
        ({"command": "x", "tools": "y"}, "tools"),
    ],
    ids=str,
)
def test_settings_that_can_not_work_are_refused(fields: dict[str, Any], named: str) -> None:
    with pytest.raises(ValidationError) as raised:
        McpServerSettings(name="a", tool="t", **fields)
    assert named in str(raised.value)


async def events_of(citewell: Citewell, **knobs: Any) -> list[AnyEvent]:
    session = await citewell.library.sessions.create(ME)
    run = await citewell.runner.start(session.session_id, RunRequest(QUESTION, Context(search="always", **knobs)))
    return [envelope.event async for envelope in run.events(0)]


def steps(events: list[AnyEvent]) -> list[str]:
    return [event.step for event in events if isinstance(event, StepStarted)]


async def test_an_answer_from_a_server_is_proven_like_any_other(settings: Settings, url: str) -> None:
    configured = settings.model_copy(update={"mcp_search": [over_http(url, "structured"), over_http(url, "error")]})
    async with open_citewell(configured) as citewell:
        events = await events_of(citewell, web="also")
        end = events[-1]
        assert isinstance(end, RunFinished)
        [source], [citation] = end.message["sources"], end.message["citations"]
        [segment] = await citewell.library.reader.read_segments([citation["segment_id"]], ME)
    assert "search_mcp" in steps(events)
    assert "search_web" not in steps(events)  # without a key there is no web to search
    [told] = [event for event in events if isinstance(event, SourcesFound) and event.servers]
    assert (told.kind, told.servers, told.count) == ("web", ["structured"], 2)
    [failed] = [event for event in events if isinstance(event, SearchFailed)]
    assert (failed.servers, failed.code) == (["error"], "mcp_unavailable")
    assert end.outcome == "answered"
    assert (source["kind"], source["source_type"], source["url"]) == ("web", "mcp", "https://lamp.test/turning")
    assert (
        citation["quote"] == LAMP == segment.text[citation["start"] - segment.start : citation["end"] - segment.start]
    )


async def test_servers_are_searched_beside_the_web(settings: Settings, url: str) -> None:
    async with serve_web() as web:
        web.searches = [found(result("https://lamp.test/web", KEEPER, "The keeper"))]
        configured = settings.model_copy(update={"mcp_search": [over_http(url, "json")], "web": web.settings})
        async with open_citewell(configured) as citewell:
            events = await events_of(citewell, web="first")
    assert {"search_web", "search_mcp"} <= set(steps(events))
    assert [event.servers for event in events if isinstance(event, SourcesFound)] in ([[], ["json"]], [["json"], []])


async def test_a_server_that_fails_leaves_the_library_to_answer(settings: Settings, url: str) -> None:
    configured = settings.model_copy(update={"mcp_search": [over_http(url, "error")]})
    async with open_citewell(configured) as citewell:
        await citewell.library.ingestor.ingest(ME, NewDocument(text=LAMP, title="Lighthouse"))
        first = await events_of(citewell, web="first")
        off = await events_of(citewell)
        alone = await events_of(citewell, web="also", spaces=["nowhere"])
    for events in (first, off):
        assert isinstance(events[-1], RunFinished)
        assert events[-1].outcome == "answered"
    assert "search_mcp" not in steps(off)  # `web: off` asks nobody outside
    assert isinstance(alone[-1], RunFinished)
    assert (alone[-1].outcome, alone[-1].stop_reason) == ("abstained", "search_failed")


SCALARS = st.none() | st.booleans() | st.integers() | st.text(max_size=20) | st.sampled_from(["text", "resource"])
NAMES = st.sampled_from(["content", "structuredContent", "results", "type", "text", "resource", "uri", "url", "title"])
JSON = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(NAMES | st.text(max_size=5), inner, max_size=5),
    max_leaves=25,
)


@given(st.dictionaries(NAMES, JSON, max_size=5))
def test_no_reply_breaks_the_reading_of_results(reply: dict[str, Any]) -> None:
    for each in results_of(reply).results:
        match each:
            case FoundText(text, title, url):
                assert text.strip()
                assert "\0" not in text + title
                assert url is None or url.lower().startswith(("http://", "https://"))
            case FoundLink(uri):
                assert uri
