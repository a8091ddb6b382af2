"""The web as a second library: search results are stored, and then searched like every document.

A web citation must stay provable after the page has changed or disappeared, so the quoted text is stored for a limited
time as a document of the user who asked. The library's own searcher ranks it, so a score means the same in both.
"""

import asyncio
import json
import logging
import re
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from time import monotonic
from typing import Any
from uuid import UUID, uuid5

import httpx2

from graph.errors import WebUnavailable
from graph.evidence import Identity
from graph.ports import SearchQuery, SearchResult, SegmentSearcher
from graph.reasons import Reason, Reasons
from tools.library.ingestion import Ingestor, NewDocument, Refused
from tools.library.marked_passages import KEEP_DAYS
from tools.settings import Settings, WebSettings
from tools.telemetry.tracing import retrieval_span
from tools.web.fetching import MOST_PAGE_BYTES, PAGE_SECONDS, FetchedPage, PageFetcher
from tools.web.guard import Guard
from tools.web.serper import Serper, WebResult

log = logging.getLogger(__name__)

RESULTS = 5  # of a search that are stored and ranked beside the library's: the first ones are about the question
# Connections are not kept alive, so none is bound to an event loop. Opened in threads: loading certificates is slow.
LIMITS = httpx2.Limits(max_connections=100, max_keepalive_connections=0)
FETCHING_SHARE = 0.5  # of the run's remaining seconds; the rest is for storing and ranking
_WEB = UUID("d0f5a3a8-63c5-5b0f-8f0e-7f6d4b1c9a27")
_HOST = re.compile(r"\A\w+://(\[[^]/]*]|[^/?#:]*)")


@dataclass(frozen=True, slots=True)
class _FetchedResult:
    """A search result, its fetched page or None, and the reason if fetching failed."""

    result: WebResult
    page: FetchedPage | None = None
    reason: str | None = None


class WebLibrary:
    """Web search; see ``graph.ports.WebSearcher``. Without a fetcher only the search snippets are stored."""

    def __init__(
        self,
        serper: Serper,
        fetcher: PageFetcher | None,
        ingestor: Ingestor,
        searcher: SegmentSearcher,
        *,
        keep_days: int = KEEP_DAYS,
        results: int = RESULTS,
    ) -> None:
        self._serper = serper
        self._fetcher = fetcher
        self._ingestor = ingestor
        self._searcher = searcher
        self._results = results
        self._keep = timedelta(days=keep_days)

    async def search_web(
        self, query: str, identity: Identity, *, top_k: int, min_score: float, seconds: float | None
    ) -> SearchResult:
        """Search, store the results as the user's own documents with an expiry date, and rank their segments.

        If a page can't be read, its snippet is stored, and ``degraded`` names its host and the reason. Raises
        WebUnavailable if the search fails or takes longer than ``seconds``, and what storing and searching raise.
        """
        try:
            with retrieval_span("web", query, top_k=top_k) as found:
                async with asyncio.timeout(seconds):
                    return found(await self._search(query, identity, top_k, min_score, seconds))
        except TimeoutError as error:
            log.warning("The web search was cancelled: it ran out of time")
            raise WebUnavailable("The web search took longer than the run had left.") from error
        except WebUnavailable as error:
            log.warning("The web search failed: %s", error.message)
            raise

    async def _search(
        self, query: str, identity: Identity, top_k: int, min_score: float, seconds: float | None
    ) -> SearchResult:
        started = monotonic()
        results = await self._serper.search(query, results=self._results)
        left = None if seconds is None else seconds - (monotonic() - started)
        found = await asyncio.gather(*(self._read(result, left) for result in results))
        document_ids, failed = await self._store(identity, found)
        among = SearchQuery(query, identity, top_k=top_k, min_score=min_score, document_ids=tuple(document_ids))
        return await rank_found(self._searcher, among, [failed] if failed else [])

    async def _read(self, result: WebResult, seconds: float | None) -> _FetchedResult:
        if self._fetcher is None:
            return _FetchedResult(result)
        try:
            page = await self._fetcher.fetch(result.url, seconds=None if seconds is None else seconds * FETCHING_SHARE)
        except WebUnavailable as error:
            return _FetchedResult(result, reason=error.message)
        return _FetchedResult(result, page)

    async def _store(self, identity: Identity, found: Sequence[_FetchedResult]) -> tuple[list[str], str | None]:
        """Store the pages, and the snippets of those that are missing or unreadable.

        Returns the document ids in the order of the results, and a message about the pages that failed.
        """
        expires_at = datetime.now(UTC) + self._keep
        documents = [_document(identity, each, expires_at) for each in found]
        refused = await store_found(self._ingestor, identity, documents)
        kept = [
            replace(each, page=None, reason="it contains no readable text")
            if each.page is not None and document.document_id in refused
            else each
            for each, document in zip(found, documents, strict=True)
        ]
        snippets = [
            _document(identity, each, expires_at)
            for each, before in zip(kept, found, strict=True)
            if each is not before
        ]
        refused |= await store_found(self._ingestor, identity, snippets)
        ids = [_document_id(identity, each) for each in kept]
        return [document_id for document_id in ids if document_id not in refused], _failures(kept)


async def store_found(ingestor: Ingestor, identity: Identity, documents: Sequence[NewDocument]) -> set[str | None]:
    """Store what was found elsewhere, in order; return the ids of the documents that were refused."""
    reports = [report async for report in ingestor.ingest_many(identity, documents)]
    pairs = zip(documents, reports, strict=True)
    return {document.document_id for document, report in pairs if isinstance(report, Refused)}


async def rank_found(searcher: SegmentSearcher, among: SearchQuery, notes: Sequence[str]) -> SearchResult:
    """Rank the segments of what was found elsewhere and stored; ``notes`` are told beside what the search tells."""
    ranked = await searcher.search(among) if among.document_ids else SearchResult((), None)
    degraded = Reasons(filter(None, (ranked.degraded, *notes))) or None
    return SearchResult(tuple(replace(hit, kind="web") for hit in ranked.hits), degraded)


def _document(identity: Identity, found: _FetchedResult, expires_at: datetime) -> NewDocument:
    result, page = found.result, found.page
    metadata: dict[str, Any] = {
        "text_of": "snippet" if page is None else "page",
        "found_at": datetime.now(UTC).isoformat(timespec="seconds"),
    }
    if result.date is not None:
        metadata["date"] = result.date
    return NewDocument(
        document_id=_document_id(identity, found),
        text=result.snippet if page is None else None,
        data=None if page is None else page.data,
        media_type=None if page is None else page.media_type,
        title=result.title,
        url=result.url,
        owner=identity.user,
        source_type="web",
        metadata=metadata,
        expires_at=expires_at,
    )


def _document_id(identity: Identity, found: _FetchedResult) -> str:
    """Return the document id of a result. A page keeps its id when its text changes; each snippet has its own.

    A snippet depends on the query, so a new one must not replace the text that an earlier answer quotes.
    """
    text = found.result.snippet if found.page is None else None
    return str(uuid5(_WEB, json.dumps([identity.workspace, identity.user, found.result.url, text])))


def _failures(found: Sequence[_FetchedResult]) -> Reason | None:
    # Matched with a regular expression: the failed URLs include some that no URL parser accepts.
    reasons = [f"{''.join(_HOST.findall(each.result.url))} ({each.reason})" for each in found if each.reason]
    if not reasons:
        return None
    return Reason("pages_unread", len(reasons), len(found), ", ".join(reasons))


@asynccontextmanager
async def open_web(
    settings: Settings, ingestor: Ingestor, searcher: SegmentSearcher
) -> AsyncIterator[WebLibrary | None]:
    """Open the web library of the settings; None if they have no key."""
    web = settings.web
    if not web.api_key.get_secret_value():
        yield None
        return
    async with await asyncio.to_thread(httpx2.AsyncClient, limits=LIMITS) as client, opened_fetcher(web) as pages:
        yield WebLibrary(Serper(web, client), pages, ingestor, searcher)


@asynccontextmanager
async def opened_fetcher(web: WebSettings) -> AsyncIterator[PageFetcher | None]:
    """Open what fetches web pages behind the guard; None where the settings say that none is fetched."""
    if not web.fetch_pages:
        yield None
        return
    async with await asyncio.to_thread(httpx2.AsyncHTTPTransport, limits=LIMITS) as transport:
        yield PageFetcher(Guard(), transport, max_bytes=MOST_PAGE_BYTES, seconds=PAGE_SECONDS)
