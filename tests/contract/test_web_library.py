"""WebLibrary against the kit of its port, over PostgreSQL: by snippets, and by pages where they can be read."""

import json
from collections.abc import AsyncIterator
from dataclasses import dataclass

import httpx2
import pytest

from graph.evidence import Identity
from graph.ports import SearchQuery
from tests.contract.web_kit import KEEPER, LAMP, ME, QUESTION, YOU, WebContract, ask
from tests.scripted_web import Reply, ScriptedWeb, found, page, redirect, result, serve_web
from tools.embeddings.embedder import open_embedder
from tools.library.catalogue import Documents
from tools.library.ingestion import Ingestor, NewDocument
from tools.library.web_library import WebLibrary
from tools.retrieval.hybrid_search import HybridSearcher
from tools.retrieval.segment_store import SegmentStore
from tools.settings import Settings
from tools.storage.database import Database
from tools.storage.tenants import Workspaces
from tools.web.fetching import PageFetcher
from tools.web.serper import Serper

ODD = json.dumps(result("http://\uff11\uff12\uff17.0.0.1/?x", KEEPER, "odd")).encode()
WORDS = "The lamp turns every twelve seconds, day and night. " * 3


@dataclass
class Deployment:
    """A library over the test's database, and the web beside it."""

    database: Database
    documents: Documents
    ingestor: Ingestor
    searcher: HybridSearcher
    reader: SegmentStore
    script: ScriptedWeb
    client: httpx2.AsyncClient
    transport: httpx2.AsyncHTTPTransport
    keep_days: int = 30

    def web(self, *, pages: bool = False, page_seconds: float = 20.0, results: int = 5) -> WebLibrary:
        fetcher = PageFetcher(self.script.guard, self.transport, max_bytes=50_000, seconds=page_seconds)
        serper = Serper(self.script.settings, self.client, backoff=0.0)
        return WebLibrary(
            serper, fetcher if pages else None, self.ingestor, self.searcher, results=results, keep_days=self.keep_days
        )

    async def count(self, table: str) -> int:
        async with self.database.connection() as connection:
            row = await (await connection.execute(f"SELECT count(*) FROM {table}")).fetchone()
        assert row is not None
        return int(row[0])

    async def run_out(self) -> None:
        """Let the time of everything that has a limit be over."""
        async with self.database.connection() as connection:
            await connection.execute("UPDATE documents SET expires_at = now() WHERE expires_at IS NOT NULL")


@pytest.fixture
async def script() -> AsyncIterator[ScriptedWeb]:
    async with serve_web() as serving:
        yield serving


@pytest.fixture
async def deployment(database: Database, settings: Settings, script: ScriptedWeb) -> AsyncIterator[Deployment]:
    workspaces, embedder = Workspaces(database), await open_embedder(settings)
    async with httpx2.AsyncClient(verify=False) as client, httpx2.AsyncHTTPTransport(verify=False) as transport:
        yield Deployment(
            database=database,
            documents=Documents(database, workspaces),
            ingestor=Ingestor(database, workspaces, embedder, settings),
            searcher=HybridSearcher(database, workspaces, embedder),
            reader=SegmentStore(database, workspaces),
            script=script,
            client=client,
            transport=transport,
        )


@pytest.fixture
def reader(deployment: Deployment) -> SegmentStore:
    return deployment.reader


class TestSnippets(WebContract):
    @pytest.fixture
    def web(self, deployment: Deployment) -> WebLibrary:
        return deployment.web()

    async def test_no_site_is_reached(self, web: WebLibrary, script: ScriptedWeb) -> None:
        await ask(web)
        assert [asked.method for asked in script.asked] == ["POST"]

    async def test_another_snippet_of_a_page_leaves_the_first_as_it_was(
        self, web: WebLibrary, script: ScriptedWeb, reader: SegmentStore
    ) -> None:
        first = (await ask(web)).hits[0].segment
        script.searches = [found(result(script.url("lamp.test/lamp"), "Lamps are dear.", "The lamp"))]
        second = (await ask(web, "What do lamps cost?")).hits[0].segment
        assert (second.text, second.document_id != first.document_id) == ("Lamps are dear.", True)
        assert await reader.read_segments([first.segment_id], ME) == [first]


class TestPages(WebContract):
    @pytest.fixture
    def web(self, deployment: Deployment, script: ScriptedWeb) -> WebLibrary:
        script.serve("lamp.test/keeper", page(KEEPER))
        script.serve("lamp.test/lamp", page(LAMP))
        return deployment.web(pages=True)


async def test_a_page_is_stored_whole_and_found_by_what_its_snippet_lacks(deployment: Deployment) -> None:
    script = deployment.script
    url = script.serve("lamp.test/", page(f"{WORDS}</p><p>{KEEPER}"))
    script.searches = [found(result(url, "All about lamps.", "Lamps", date="Nov 1, 2026"))]
    searched = await ask(deployment.web(pages=True), "Who oils the gears of the lamp?")
    segment = searched.hits[0].segment
    assert KEEPER in segment.text
    assert segment.metadata["text_of"] == "page"
    assert segment.metadata["date"] == "Nov 1, 2026"
    stored = await deployment.documents.get(ME, segment.document_id)
    assert (stored.title, stored.url, stored.media_type, stored.owner) == ("Lamps", url, "text/html", ME.user)


async def test_a_page_that_cannot_be_read_leaves_its_snippet_and_is_named(deployment: Deployment) -> None:
    script = deployment.script
    places = {
        "good.test/": page(LAMP),
        "gone.test/": Reply(status=404),
        "inside.test/": redirect("http://169.254.169.254/latest/meta-data/"),
        "empty.test/": page(""),
        "large.test/": page("x" * 60_000),
        "binary.test/": Reply(b"\x00\x01\x02 lamp", headers={"content-type": "text/plain"}),
    }
    script.searches = [
        found(*(result(script.serve(place, reply), f"{KEEPER} ({place})", place) for place, reply in places.items()))
    ]
    script.searches[0].body = script.searches[0].body.replace(b'"organic": [', b'"organic": [%b, ' % ODD, 1)
    searched = await ask(deployment.web(pages=True, results=10), top_k=30)
    by_title = {hit.segment.title: hit.segment for hit in searched.hits}
    assert set(by_title) == {"odd", *places}
    assert by_title["good.test/"].text == LAMP
    assert all(by_title[place].text == f"{KEEPER} ({place})" for place in places if place != "good.test/")
    assert by_title["gone.test/"].metadata["text_of"] == "snippet"
    assert searched.degraded is not None
    assert searched.degraded.startswith("6 of 7 ")
    for reason in (
        "\uff11\uff12\uff17.0.0.1 (its address cannot be read)",
        "gone.test (it answers with 404)",
        "inside.test (port 80 is not one of the web)",
        "large.test (it is too large)",
        "empty.test (it contains no readable text)",
        "binary.test (it contains no readable text)",
    ):
        assert reason in searched.degraded


async def test_pages_that_hang_do_not_hold_up_the_others(deployment: Deployment) -> None:
    script = deployment.script
    held = script.serve("slow.test/", Reply(b"<p>", length=100, held=True))
    script.searches = [found(result(held, KEEPER, "Slow"), result(script.serve("lamp.test/", page(LAMP)), "x", "Lamp"))]
    web = deployment.web(pages=True, page_seconds=0.3)
    searched = await web.search_web(QUESTION, ME, top_k=10, min_score=0.0, seconds=60.0)
    assert [hit.segment.text for hit in searched.hits] == [LAMP, KEEPER]
    assert searched.degraded is not None
    assert "slow.test (it took too long)" in searched.degraded


async def test_a_page_that_has_changed_is_replaced_in_its_place(deployment: Deployment) -> None:
    script = deployment.script
    web = deployment.web(pages=True)
    script.searches = [found(result(script.serve("lamp.test/", page(LAMP)), "x", "Lamp"))]
    before = (await ask(web)).hits[0].segment
    script.serve("lamp.test/", page("The lamp turns every ten seconds."))
    after = (await ask(web)).hits[0].segment
    assert before.document_id == after.document_id
    assert after.text == "The lamp turns every ten seconds."
    script.serve("lamp.test/", Reply(status=500))
    await ask(web)
    assert await deployment.reader.read_segments([after.segment_id], ME) == [after]


async def test_meeting_it_again_moves_its_expiry_on_and_nothing_else(deployment: Deployment) -> None:
    deployment.script.searches = [found(result("https://lamp.test/", LAMP))]
    deployment.keep_days = 1
    first = (await ask(deployment.web())).hits[0].segment
    short = await deployment.documents.get(ME, first.document_id)
    deployment.keep_days = 9
    second = (await ask(deployment.web())).hits[0].segment
    long = await deployment.documents.get(ME, first.document_id)
    assert short.expires_at is not None
    assert long.expires_at is not None
    assert 7.9 < (long.expires_at - short.expires_at).total_seconds() / 86400 < 8.1
    assert (second.segment_id, second.text) == (first.segment_id, first.text)
    assert await deployment.count("documents") == 1


async def test_the_web_is_no_part_of_the_library(deployment: Deployment) -> None:
    own = await deployment.ingestor.ingest(
        ME, NewDocument(text=f"Our own lamp. {LAMP}", title="Own", source_type="web", space={"id": "s", "slug": None})
    )
    deployment.script.searches = [found(result("https://lamp.test/", LAMP, "Theirs"))]
    theirs = (await ask(deployment.web())).hits[0].segment
    for identity in (ME, YOU, Identity(user="third")):
        for spaces in ((), ("s",)):
            query = SearchQuery(QUESTION, identity, min_score=0.0, spaces=spaces)
            searched = await deployment.searcher.search(query)
            assert {hit.segment.document_id for hit in searched.hits} == {own.document_id}
    named = SearchQuery(QUESTION, ME, min_score=0.0, document_ids=(theirs.document_id,))
    assert [hit.segment for hit in (await deployment.searcher.search(named)).hits] == [theirs]
    for_you = SearchQuery(QUESTION, YOU, min_score=0.0, document_ids=(theirs.document_id,))
    assert (await deployment.searcher.search(for_you)).hits == ()
    assert {each.title for each in (await deployment.documents.list(YOU)).documents} == {"Own"}
    assert {each.title for each in (await deployment.documents.list(ME)).documents} == {"Own", "Theirs"}


async def test_what_has_run_out_is_read_by_nothing_and_purged_with_its_segments(deployment: Deployment) -> None:
    await deployment.ingestor.ingest(ME, NewDocument(text="A document that stays.", title="Own"))
    deployment.script.searches = [found(result("https://lamp.test/", LAMP))]
    segment = (await ask(deployment.web())).hits[0].segment
    await deployment.run_out()
    assert await deployment.reader.read_segments([segment.segment_id], ME) == []
    assert await deployment.reader.read_pages([segment.document_id], ME) == []
    named = SearchQuery(QUESTION, ME, min_score=0.0, document_ids=(segment.document_id,))
    assert (await deployment.searcher.search(named)).hits == ()
    assert [each.title for each in (await deployment.documents.list(ME)).documents] == ["Own"]
    assert await deployment.documents.purge("default") == 1
    assert await deployment.count("documents") == await deployment.count("segments") == 1
    assert await deployment.count("segment_vectors") == 1


async def test_what_has_run_out_and_is_found_again_is_back(deployment: Deployment) -> None:
    deployment.script.searches = [found(result("https://lamp.test/", LAMP))]
    segment = (await ask(deployment.web())).hits[0].segment
    await deployment.run_out()
    again = (await ask(deployment.web())).hits[0].segment
    assert (again.segment_id, again.text) == (segment.segment_id, segment.text)
    assert await deployment.reader.read_segments([segment.segment_id], ME) == [again]
