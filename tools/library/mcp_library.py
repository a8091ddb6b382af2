"""MCP servers as a further library: what their tools return is stored, and then searched like every document.

As of the web, what is quoted must stay provable, so it is stored for a limited time as a document of the user who
asked. The library's own searcher ranks it, so a score means the same everywhere.
"""

import asyncio
import json
import logging
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from time import monotonic
from uuid import UUID, uuid5

from graph.errors import McpUnavailable, WebUnavailable
from graph.evidence import Identity
from graph.ports import McpSearchResult, SearchQuery, SegmentSearcher, ServerFailure
from graph.reasons import Reason
from tools.library.ingestion import Ingestor, NewDocument
from tools.library.marked_passages import KEEP_DAYS
from tools.library.web_library import opened_fetcher, rank_found, store_found
from tools.mcp_search.results import FoundLink, FoundText
from tools.mcp_search.search_server import MOST_BYTES, McpServer
from tools.retrieval.withholding import FROM_SERVERS
from tools.settings import Settings
from tools.telemetry.tracing import retrieval_span
from tools.web.fetching import PageFetcher

log = logging.getLogger(__name__)

ASKING_SHARE = 0.7  # of the run's remaining seconds; the rest is for storing and ranking
LONGEST_HEAD = 80  # characters of a text that stand for its title
_MCP = UUID("5b0d1c8e-2f0e-5d0a-9c39-6e1f1f0f7a53")


@dataclass(frozen=True, slots=True)
class _Answered:
    """What a server returned, with what was left out of it; or why it failed."""

    server: McpServer
    documents: tuple[NewDocument, ...] = ()
    notes: tuple[str, ...] = ()
    failure: ServerFailure | None = None


class McpLibrary:
    """Search by MCP servers; see ``graph.ports.McpSearcher``. Without a fetcher, no linked web page is fetched."""

    def __init__(
        self,
        servers: Sequence[McpServer],
        fetcher: PageFetcher | None,
        ingestor: Ingestor,
        searcher: SegmentSearcher,
    ) -> None:
        self._servers = servers
        self._fetcher = fetcher
        self._ingestor = ingestor
        self._searcher = searcher

    @property
    def servers(self) -> tuple[str, ...]:
        return tuple(server.name for server in self._servers)

    async def search_mcp(
        self, query: str, identity: Identity, *, top_k: int, min_score: float, seconds: float | None
    ) -> McpSearchResult:
        """Ask all servers at once, store what they return, and rank it. Raises what storing and searching raise."""
        with retrieval_span("mcp", query, top_k=top_k) as found:
            result = await self._search(query, identity, top_k, min_score, seconds)
            found(result)
            return result

    async def _search(
        self, query: str, identity: Identity, top_k: int, min_score: float, seconds: float | None
    ) -> McpSearchResult:
        answered = await asyncio.gather(*(self._ask(server, query, identity, seconds) for server in self._servers))
        failures = tuple(each.failure for each in answered if each.failure is not None)
        names = tuple(each.server.name for each in answered if each.failure is None)
        documents = [document for each in answered for document in each.documents]
        notes = [note for each in answered for note in each.notes]
        unique = list({each.document_id: each for each in documents}.values())
        refused = await store_found(self._ingestor, identity, unique)
        if refused:
            notes.append(Reason("results_unreadable", len(refused), len(documents)))
        stored = tuple(str(each.document_id) for each in unique if each.document_id not in refused)
        among = SearchQuery(query, identity, top_k=top_k, min_score=min_score, document_ids=stored)
        ranked = await rank_found(self._searcher, among, notes)
        return McpSearchResult(ranked.hits, ranked.degraded, failures, names)

    async def _ask(self, server: McpServer, query: str, identity: Identity, seconds: float | None) -> _Answered:
        allowed = server.seconds
        if seconds is not None:
            allowed = min(allowed, seconds * ASKING_SHARE)
        began = monotonic()
        try:
            async with asyncio.timeout(allowed):
                found = await server.search(query)
        except TimeoutError:
            error = McpUnavailable(f"{server.name}: its server did not answer within {allowed:.1f} seconds.")
            return self._failed(server, error)
        except McpUnavailable as error:
            return self._failed(server, error)
        texts: list[FoundText] = []
        unread, cut = found.without_text, 0
        for each in found.results:
            left = allowed - (monotonic() - began)
            text = await self.fetched(each, left) if isinstance(each, FoundLink) else each
            if text is None:
                unread += 1
            else:
                cut += len(text.text) > MOST_BYTES
                texts.append(replace(text, text=text.text[:MOST_BYTES]))
        notes = [Reason("results_without_text", server.name, unread)] if unread else []
        notes += [Reason("results_cut", server.name, cut, MOST_BYTES)] if cut else []
        expires_at = datetime.now(UTC) + timedelta(days=KEEP_DAYS)
        documents = tuple(_document(identity, server, each, expires_at) for each in texts)
        return _Answered(server, documents, tuple(notes))

    async def fetched(self, link: FoundLink, seconds: float) -> FoundText | None:
        """Fetch a linked web page, behind the guard of all fetched pages; else take what was said of the link."""
        if self._fetcher is not None and link.uri.lower().startswith(("http://", "https://")) and seconds > 0:
            try:
                page = await self._fetcher.fetch(link.uri, seconds=seconds)
            except WebUnavailable as error:
                log.info("a link of an MCP server was not fetched: %s", error.message)
            else:
                text = page.data.decode("utf-8", "surrogateescape")
                return FoundText(text, link.title, page.url, page.media_type)
        return FoundText(link.description, link.title) if link.description.strip() else None

    def _failed(self, server: McpServer, error: McpUnavailable) -> _Answered:
        log.warning("MCP search: %s", error.message)
        return _Answered(server, failure=ServerFailure(server.name, error.code, error.message))


def _document(identity: Identity, server: McpServer, found: FoundText, expires_at: datetime) -> NewDocument:
    """Return a result as a document of the asker. Its id depends on its text, which earlier answers may quote."""
    key = json.dumps([identity.workspace, identity.user, server.name, found.url, found.title, found.text])
    return NewDocument(
        document_id=str(uuid5(_MCP, key)),
        text=None if found.media_type else found.text,
        data=found.text.encode("utf-8", "surrogateescape") if found.media_type else None,
        media_type=found.media_type or None,
        title=found.title or _head(server.name, found),
        url=found.url,
        owner=identity.user,
        source_type=FROM_SERVERS,
        metadata={
            "server": server.name,
            "tool": server.settings.tool,
            "found_at": datetime.now(UTC).isoformat(timespec="seconds"),
        },
        expires_at=expires_at,
    )


def _head(server: str, found: FoundText) -> str | None:
    """Return a title for a result without one: how its text begins. A page may have a title of its own."""
    if found.media_type not in ("", "text/plain"):
        return None
    first = " ".join(found.text[: 4 * LONGEST_HEAD].split())
    return f"{server}: {first if len(first) <= LONGEST_HEAD else f'{first[:LONGEST_HEAD]}…'}"


@asynccontextmanager
async def open_mcp_search(
    settings: Settings, ingestor: Ingestor, searcher: SegmentSearcher
) -> AsyncIterator[McpLibrary | None]:
    """Open the search by the MCP servers of the settings; None if they name none. No server is asked yet."""
    if not settings.mcp_search:
        yield None
        return
    async with opened_fetcher(settings.web) as fetcher:
        servers = [McpServer(each) for each in settings.mcp_search]
        yield McpLibrary(servers, fetcher, ingestor, searcher)
