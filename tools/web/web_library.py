"""The web as a second library: what a search returns is stored, and then searched like every document.

A citation of the web has to be provable after the page has changed or gone, so the text that it quotes is kept, for a
time, as a document of the user who asked. The library's own searcher ranks it: a score means the same in both.
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
from tools.library.ingestion import Ingestor, NewDocument, Refused
from tools.settings import Settings
from tools.web.fetching import FetchedPage, PageFetcher
from tools.web.guard import Guard
from tools.web.serper import Serper, WebResult

log = logging.getLogger(__name__)

FETCHING_SHARE = 0.5  # of the seconds a run has left; the rest is for storing and ranking
_WEB = UUID("d0f5a3a8-63c5-5b0f-8f0e-7f6d4b1c9a27")
_HOST = re.compile(r"\A\w+://(\[[^]/]*]|[^/?#:]*)")
_FAILED = "{failed} of {all} result pages could not be read, and what the search showed of them stands in: {reasons}."


@dataclass(frozen=True, slots=True)
class _FetchedResult:
    """A result with its page, or with the reason why the page is not read; None where it was not to be."""

    result: WebResult
    page: FetchedPage | None = None
    reason: str | None = None


class WebLibrary:
    """Searches the web; see ``graph.ports.WebSearcher``. Without a fetcher only what the search shows is stored."""

    def __init__(
        self,
        serper: Serper,
        fetcher: PageFetcher | None,
        ingestor: Ingestor,
        searcher: SegmentSearcher,
        *,
        results: int,
        keep_days: int,
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
        """Search, store what was found as the user's own documents with a time limit, and rank their segments.

        A page that can't be read leaves the snippet, and ``degraded`` names it with the reason. Raises WebUnavailable
        where the search fails or takes longer than ``seconds``, and what storing and searching raise.
        """
        try:
            async with asyncio.timeout(seconds):
                return await self._search(query, identity, top_k, min_score, seconds)
        except TimeoutError as error:
            log.warning("The web search was given up: its time was over")
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
        if not document_ids:
            return SearchResult((), failed)
        ranked = await self._searcher.search(
            SearchQuery(query, identity, top_k=top_k, min_score=min_score, document_ids=tuple(document_ids))
        )
        degraded = " ".join(filter(None, (ranked.degraded, failed))) or None
        return SearchResult(tuple(replace(hit, kind="web") for hit in ranked.hits), degraded)

    async def _read(self, result: WebResult, seconds: float | None) -> _FetchedResult:
        if self._fetcher is None:
            return _FetchedResult(result)
        try:
            page = await self._fetcher.fetch(result.url, seconds=None if seconds is None else seconds * FETCHING_SHARE)
        except WebUnavailable as error:
            return _FetchedResult(result, reason=error.message)
        return _FetchedResult(result, page)

    async def _store(self, identity: Identity, found: Sequence[_FetchedResult]) -> tuple[list[str], str | None]:
        """Store pages, and the snippets of those that are not there or not readable.

        Returns the ids in the order of the results, and what to say of the pages that failed.
        """
        expires_at = datetime.now(UTC) + self._keep
        documents = [_document(identity, each, expires_at) for each in found]
        refused = await self._ingest(identity, documents)
        kept = [
            replace(each, page=None, reason="it holds no text that can be read")
            if each.page is not None and document.document_id in refused
            else each
            for each, document in zip(found, documents, strict=True)
        ]
        instead = [
            _document(identity, each, expires_at)
            for each, before in zip(kept, found, strict=True)
            if each is not before
        ]
        refused |= await self._ingest(identity, instead)
        ids = [_document_id(identity, each) for each in kept]
        return [document_id for document_id in ids if document_id not in refused], _failures(kept)

    async def _ingest(self, identity: Identity, documents: Sequence[NewDocument]) -> set[str | None]:
        """Store documents; gives the ids of those that can't be. They are stored in their order."""
        reports = [report async for report in self._ingestor.ingest_many(identity, documents)]
        pairs = zip(documents, reports, strict=True)
        return {document.document_id for document, report in pairs if isinstance(report, Refused)}


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
    """Name what was found. A page keeps its id while its text changes; another snippet is another document.

    What a search shows of a page depends on the query, and must not replace what an earlier answer quotes.
    """
    text = found.result.snippet if found.page is None else None
    return str(uuid5(_WEB, json.dumps([identity.workspace, identity.user, found.result.url, text])))


def _failures(found: Sequence[_FetchedResult]) -> str | None:
    # Split by hand: among what can't be read are addresses that no parser takes.
    reasons = [f"{''.join(_HOST.findall(each.result.url))} ({each.reason})" for each in found if each.reason]
    if not reasons:
        return None
    return _FAILED.format(failed=len(reasons), all=len(found), reasons=", ".join(reasons))


@asynccontextmanager
async def open_web(
    settings: Settings, ingestor: Ingestor, searcher: SegmentSearcher
) -> AsyncIterator[WebLibrary | None]:
    """Open the web as the settings say; None where they hold no key."""
    web = settings.web
    if not web.api_key.get_secret_value():
        yield None
        return
    # No connection is kept between requests, so none is bound to an event loop. Reading certificates takes a moment.
    limits = httpx2.Limits(max_connections=100, max_keepalive_connections=0)
    client = await asyncio.to_thread(httpx2.AsyncClient, limits=limits)
    transport = await asyncio.to_thread(httpx2.AsyncHTTPTransport, limits=limits)
    fetcher = PageFetcher(Guard(), transport, max_bytes=web.max_page_bytes, seconds=web.timeout_seconds)
    async with client, transport:
        yield WebLibrary(
            Serper(web, client),
            fetcher if web.fetch_pages else None,
            ingestor,
            searcher,
            results=web.results,
            keep_days=web.keep_days,
        )
