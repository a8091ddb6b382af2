"""Pages of a loopback web in the library: their ids and links, what a second time costs, and failures as reports."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

import httpx2
import pytest

from answers.citations import landing_url
from graph.errors import NotFound, UnreadableDocument, WebUnavailable
from graph.evidence import Identity
from tests.reading_here import ReadHere
from tests.scripted_web import Reply, ScriptedWeb, page, serve_web
from tests.unit.pdf_files import pdf
from tools.embeddings.embedder import Embedder, open_embedder
from tools.library.catalogue import Document, Documents
from tools.library.ingestion import Ingestor, NewDocument, Report
from tools.library.source_records import SourceOptions, Sources
from tools.library.syncing import Syncer, checked_location
from tools.library.web_pages import Extent, WebPages
from tools.originals.originals import Originals
from tools.retrieval.segment_store import SegmentStore
from tools.settings import Settings
from tools.storage.database import Database
from tools.storage.tenants import Workspaces
from tools.web.addresses import document_id_of
from tools.web.sites import WebReader

ME = Identity()
TAG = {"etag": '"one"', "last-modified": "Mon, 05 Jan 2026 10:00:00 GMT"}


@pytest.fixture
async def web() -> AsyncIterator[ScriptedWeb]:
    async with serve_web() as script:
        yield script


@dataclass
class Deployment:
    documents: Documents
    originals: Originals
    pages: WebPages
    segments: SegmentStore

    async def ingest(self, url: str, extent: Extent = "page", **options: Any) -> list[Report]:
        return [report async for report in self.pages.ingest_web(ME, url, extent, **options)]

    async def document(self, url: str) -> Document:
        return await self.documents.get(ME, document_id_of("default", url))


async def deployed(database: Database, embedder: Embedder, settings: Settings, reader: WebReader) -> Deployment:
    workspaces = Workspaces(database)
    originals = Originals.of(settings, database, workspaces)
    documents = Documents(database, workspaces, originals)
    ingestor = Ingestor(database, workspaces, embedder, settings)
    pages = WebPages(reader, ingestor, documents, originals)
    return Deployment(documents, originals, pages, SegmentStore(database, workspaces))


@pytest.fixture
async def reader(settings: Settings, web: ScriptedWeb, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[WebReader]:
    monkeypatch.setattr("tools.web.sites.SECONDS_BETWEEN", 0.0)
    opened = WebReader(settings, ReadHere(), guard=web.guard, transport=httpx2.AsyncHTTPTransport(verify=False))
    yield opened
    await opened.close()


@pytest.fixture
async def deployment(database: Database, settings: Settings, reader: WebReader) -> Deployment:
    return await deployed(database, await open_embedder(settings), settings, reader)


def manual(text: str, **headers: str) -> Reply:
    html = (
        f"<html><head><title>Lamps</title></head><body><main><h1>Lamps</h1><p id='use'>{text}</p></main></body></html>"
    )
    return Reply(html.encode(), headers={"content-type": "text/html; charset=utf-8", **headers})


async def test_a_page_is_a_document_that_its_citations_lead_to(deployment: Deployment, web: ScriptedWeb) -> None:
    url = web.serve("docs.test/lamps.html", manual("The lamp turns.", **TAG))
    [report] = await deployment.ingest(f"{url}?utm_source=mail#use", space={"id": None, "slug": "light"})
    assert (report.status, report.name) == ("created", url)
    document = await deployment.document(url)
    assert (document.title, document.url, document.source_type) == ("Lamps", url, "url")
    assert document.space == {"id": None, "slug": "light"}
    assert document.metadata["source"] == {"address": url, "etag": '"one"', "modified": TAG["last-modified"]}
    [segment] = await deployment.segments.read_segments([f"{document.document_id}:0"], ME)
    anchor = segment.blocks[-1].anchor
    assert landing_url(document.url or "", anchor) == f"{url}#use"
    stored = await deployment.originals.find(ME, document.document_id)
    assert await deployment.originals.read_whole(stored) == web.pages["docs.test/lamps.html"].body


async def test_a_page_that_did_not_change_is_asked_for_and_not_sent(deployment: Deployment, web: ScriptedWeb) -> None:
    url = web.serve("docs.test/lamps.html", manual("The lamp turns.", **TAG))
    await deployment.ingest(url)
    web.serve("docs.test/lamps.html", Reply(status=304, headers={}))
    [again] = await deployment.ingest(url)
    assert (again.status, again.name) == ("unchanged", url)
    assert web.asked[-1].headers["if-none-match"] == '"one"'
    [owned] = await deployment.ingest(url, owner="local")
    assert owned.status == "updated"  # what the caller says has changed
    web.serve("docs.test/lamps.html", manual("The lamp stands still.", etag='"two"'))
    [changed] = await deployment.ingest(url, owner="local")
    assert changed.status == "updated"
    assert (await deployment.document(url)).metadata["source"]["etag"] == '"two"'


async def test_without_the_bytes_a_page_is_sent_again(
    database: Database, settings: Settings, reader: WebReader, web: ScriptedWeb
) -> None:
    off = settings.model_copy(update={"originals": "off"})
    deployment = await deployed(database, await open_embedder(off), off, reader)
    url = web.serve("docs.test/lamps.html", manual("The lamp turns.", **TAG))
    assert [report.status for report in await deployment.ingest(url)] == ["created"]
    assert [report.status for report in await deployment.ingest(url)] == ["unchanged"]
    assert "if-none-match" not in web.asked[-1].headers


async def test_a_site_is_ingested_and_one_failure_ends_nothing(deployment: Deployment, web: ScriptedWeb) -> None:
    links = '<p><a href="a.html">a</a> <a href="b.pdf">b</a> <a href="gone">c</a> <a href="scan.pdf">d</a></p>'
    web.serve("docs.test/docs/", Reply(f"<html><body><main><p>Start.</p>{links}</main></body></html>".encode()))
    web.serve("docs.test/docs/a.html", page("Lamps turn.", title="A"))
    web.serve("docs.test/docs/b.pdf", Reply(pdf([["Lamps stand."]]), headers={"content-type": "application/pdf"}))
    web.serve("docs.test/docs/scan.pdf", Reply(pdf([[]]), headers={"content-type": "application/pdf"}))
    found = await deployment.ingest(web.url("docs.test/docs/"), "site")
    told = {report.name.rpartition("/")[2]: report for report in found}
    assert {name: report.status for name, report in told.items()} == {
        "": "created",
        "a.html": "created",
        "b.pdf": "created",
        "gone": "refused",
        "scan.pdf": "refused",
    }
    assert {getattr(told[name], "code", None) for name in ("gone", "scan.pdf")} == {"unreadable_document"}
    again = await deployment.ingest(web.url("docs.test/docs/"), "site")
    assert sorted(report.status for report in again) == ["refused", "refused", "unchanged", "unchanged", "unchanged"]


async def test_a_site_that_did_not_change_is_crawled_from_what_is_kept(
    deployment: Deployment, web: ScriptedWeb
) -> None:
    first = '<html><body><main><p>Start. <a href="/a">a</a></p></main></body></html>'
    web.serve("docs.test/", Reply(first.encode(), headers={"content-type": "text/html", **TAG}))
    web.serve("docs.test/a", manual("The lamp turns.", **TAG))
    assert [report.status for report in await deployment.ingest(web.url("docs.test/"), "site")] == ["created"] * 2
    for place in ("docs.test/", "docs.test/a"):
        web.serve(place, Reply(status=304, headers={}))
    again = await deployment.ingest(web.url("docs.test/"), "site")
    assert [report.status for report in again] == ["unchanged"] * 2


async def test_pages_of_a_sitemap_are_ingested_once(deployment: Deployment, web: ScriptedWeb) -> None:
    own = '<html><head><link rel="canonical" href="/a"></head><body><main><p>The lamp turns.</p></main></body></html>'
    for place in ("docs.test/a", "docs.test/b"):
        web.serve(place, Reply(own.encode()))
    lines = "\n".join(web.url(f"docs.test/{name}") for name in "ab")
    url = web.serve("docs.test/map.txt", Reply(lines.encode(), headers={"content-type": "text/plain"}))
    assert [report.name for report in await deployment.ingest(url, "sitemap")] == [web.url("docs.test/a")]


async def test_one_page_for_the_api_keeps_what_the_caller_says(deployment: Deployment, web: ScriptedWeb) -> None:
    url = web.serve("docs.test/notes.md", Reply(b"# Notes\n\nLamps turn.", headers={"content-type": "text/markdown"}))
    new = NewDocument(url=url, title="Mine", metadata={"team": "light"})
    report = await deployment.pages.ingest_page(ME, new)
    assert (report.status, report.document_id) == ("created", document_id_of("default", url))
    document = await deployment.document(url)
    assert (document.title, document.media_type) == ("Mine", "text/markdown")
    assert document.metadata == {"team": "light", "source": {"address": url}}
    own_id = "7a9e0f3c-5a55-4b0e-9b0c-0d3f1f6d2a77"
    assert (await deployment.pages.ingest_page(ME, NewDocument(url=url, document_id=own_id))).document_id == own_id


async def test_one_page_that_cannot_be_read_is_an_error(deployment: Deployment, web: ScriptedWeb) -> None:
    with pytest.raises(UnreadableDocument, match="no such page"):
        await deployment.pages.ingest_page(ME, NewDocument(url=web.url("docs.test/gone")))
    with pytest.raises(WebUnavailable, match="answers with 500"):
        await deployment.pages.ingest_page(ME, NewDocument(url=web.serve("docs.test/broken", Reply(status=500))))


async def test_a_page_of_another_user_is_refused(deployment: Deployment, web: ScriptedWeb) -> None:
    url = web.serve("docs.test/lamps.html", manual("The lamp turns."))
    theirs = [each async for each in deployment.pages.ingest_web(Identity(user="ann"), url, owner="ann")]
    assert [report.status for report in theirs] == ["created"]
    [mine] = await deployment.ingest(url)
    assert (mine.status, getattr(mine, "code", "")) == ("refused", "not_found")


async def test_a_library_follows_a_site(
    database: Database, settings: Settings, deployment: Deployment, web: ScriptedWeb
) -> None:
    workspaces = Workspaces(database)
    ingestor = Ingestor(database, workspaces, await open_embedder(settings), settings)
    syncer = Syncer(database, workspaces, ingestor, settings, roots=[], pages=deployment.pages)
    index = "<p><a href='lamps.html'>Lamps</a> <a href='horns.html'>Horns</a></p>"
    start = web.serve("docs.test/", manual(index, etag='"index"'))
    lamps = web.serve("docs.test/lamps.html", manual("The lamp turns.", **TAG))
    horns = web.serve("docs.test/horns.html", manual("The horn sounds.", etag='"horns"'))
    location = checked_location("site", start, [])
    source, _ = await Sources(database, workspaces).add(ME, "site", location, SourceOptions(extent="site"))

    async def synced() -> dict[str, int]:
        report = await syncer.sync(ME, source)
        return {name: number for name, number in report.counts.items() if number}

    assert await synced() == {"new": 3}
    assert (await deployment.document(lamps)).places[0]["path"] == lamps
    for name in ("", "lamps.html", "horns.html"):
        web.serve(f"docs.test/{name}", Reply(status=304, headers={}))
    assert await synced() == {"unchanged": 3}
    web.serve("docs.test/lamps.html", manual("The lamp stands still.", etag='"two"'))
    web.serve("docs.test/horns.html", Reply(status=503))
    counts = await synced()
    assert (counts["changed"], counts["unchanged"], counts.get("gone", 0)) == (1, 1, 0)
    assert (await deployment.document(horns)).places[0]["trouble"]
    web.serve("docs.test/horns.html", Reply(status=404))
    assert (await synced())["deleted"] == 1
    with pytest.raises(NotFound):
        await deployment.document(horns)
