"""What a data set is searched with: our own hybrid search, or LangChain's vector store over the same library."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal

from graph.entrypoint import Citewell, open_runner
from graph.errors import InvalidRequest
from graph.evidence import Hit
from graph.ports import SearchQuery, SearchResult, SegmentSearcher
from tools.embeddings.langchain_adapter import library_vector_store
from tools.library.library import Library, open_library
from tools.runs.executor import Durability
from tools.settings import Settings

if TYPE_CHECKING:
    from langchain_postgres import PGVectorStore

RetrieverName = Literal["ours", "langchain"]


@dataclass(frozen=True, slots=True)
class VectorStoreSearcher:
    """SegmentSearcher over LangChain's ``PGVectorStore``: one vector search, scored by cosine similarity.

    A workspace's store is opened at its first search, and closed with ``stores``. Neighbours are not added.
    """

    library: Library
    stores: AsyncExitStack
    _opened: "dict[str, PGVectorStore]" = field(default_factory=dict)
    _opening: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def search(self, query: SearchQuery) -> SearchResult:
        """Return the segments closest to the question; see ``graph.ports.SegmentSearcher``.

        Raises InvalidRequest for a query of some spaces alone, which the store has no column for.
        """
        if query.spaces:
            raise InvalidRequest("LangChain's vector store cannot be searched by space.")
        store = await self._store(query.identity.workspace)
        within = {"document_id": {"$in": list(query.document_ids)}} if query.document_ids else None
        found = await store.asimilarity_search_with_score(query.text, k=query.top_k, filter=within)
        scores = {str(document.id): min(1.0, max(0.0, 1.0 - distance)) for document, distance in found}
        kept = [segment_id for segment_id, score in scores.items() if score >= query.min_score]
        segments = await self.library.reader.read_segments(kept, query.identity)
        return SearchResult(tuple(Hit(segment, scores[segment.segment_id]) for segment in segments))

    async def _store(self, workspace: str) -> "PGVectorStore":
        async with self._opening:
            if workspace not in self._opened:
                library = self.library
                opening = library_vector_store(library.database, library.workspaces, library.embedder, workspace)
                self._opened[workspace] = await self.stores.enter_async_context(opening)
            return self._opened[workspace]


@asynccontextmanager
async def open_searcher(library: Library, retriever: RetrieverName) -> AsyncIterator[SegmentSearcher]:
    """Open the searcher of a retriever over a library."""
    async with AsyncExitStack() as stores:
        yield library.searcher if retriever == "ours" else VectorStoreSearcher(library, stores)


@asynccontextmanager
async def open_with_retriever(
    settings: Settings, retriever: RetrieverName, *, durability: Durability | None = None
) -> AsyncIterator[Citewell]:
    """Open Citewell with a retriever in place of its own search.

    Raises ConfigurationError, DatabaseUnavailable, EmbeddingMismatch.
    """
    async with (
        open_library(settings) as library,
        open_searcher(library, retriever) as searcher,
        open_runner(replace(library, searcher=searcher), settings, durability=durability) as citewell,
    ):
        yield citewell
