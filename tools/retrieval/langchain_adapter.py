"""LangChain adapter: a read-only vector store and a retriever over one workspace.

The vector store reads a view over the workspace's own partition, so nothing is stored twice and no caller's filter can
reach another tenant. It contains only documents that the whole workspace may read, since a vector store has no notion
of a user and private documents are for their owners. The retriever knows its user, and searches as the graph does.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Annotated

import psycopg
from langchain_core.callbacks import AsyncCallbackManagerForRetrieverRun, CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings
from langchain_core.retrievers import BaseRetriever
from pydantic import Field, SkipValidation

from graph.errors import ConfigurationError
from graph.evidence import Hit, Identity
from graph.ports import SearchQuery, SegmentSearcher
from tools.embeddings.embedder import Embedder
from tools.storage.database import Database
from tools.storage.partitions import Place, ensure_view, view_name
from tools.storage.tenants import Workspaces

if TYPE_CHECKING:
    from langchain_postgres import PGVectorStore

METADATA = [
    "document_id", "segment_index", "start_offset", "end_offset", "page_idx", "heading", "title", "slug", "url",
    "source_type",
]  # fmt: skip
_OPTIONS = "-c default_transaction_read_only=on -c jit=off -c hnsw.ef_search=100 -c hnsw.iterative_scan=strict_order"


@asynccontextmanager
async def library_vector_store(
    database: Database, workspaces: Workspaces, embedder: Embedder, workspace: str = "default"
) -> AsyncIterator["PGVectorStore"]:
    """Open a workspace as a ``PGVectorStore``: similarity search, scores, and reading by segment id.

    Its connections are read-only, so methods that add or delete raise. Documents have the metadata fields ``METADATA``.
    Raises NotFound for an unknown workspace, ConfigurationError if the database has no pgvector.
    """
    if not database.has_vectors:
        raise ConfigurationError(
            "The database has no pgvector, so the library has no vectors.",
            suggestion="Install it on the server, then run `citewell reindex`.",
        )
    from langchain_postgres import PGEngine, PGVectorStore

    number = await workspaces.number(workspace)
    async with database.connection() as conn:

        async def open_view(place: Place) -> None:
            if not place.own:
                await ensure_view(conn, place.workspace, embedder.dimension)
            await conn.execute(f"SELECT FROM {view_name(number)} LIMIT 0")

        await workspaces.read(conn, workspace, open_view)

    async def connect() -> psycopg.AsyncConnection:
        return await psycopg.AsyncConnection.connect(database.url, options=_OPTIONS)

    engine = PGEngine.from_connection_string("postgresql+psycopg://", async_creator=connect)
    try:
        yield await PGVectorStore.create(
            engine,
            LibraryEmbeddings(embedder),
            view_name(number),
            content_column="content",
            embedding_column="embedding",
            id_column="segment_id",
            metadata_columns=METADATA,
            metadata_json_column=None,
        )
    finally:
        await engine.close()


class LibraryEmbeddings(Embeddings):
    """The deployment's embedder as LangChain's ``Embeddings``."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder

    async def aembed_documents(self, texts: list[str]) -> list[list[float]]:
        """Embed each text as a unit vector. Raises EmbeddingUnavailable."""
        return [row.tolist() for row in await self._embedder.embed(texts)]

    async def aembed_query(self, text: str) -> list[float]:
        """Embed a question. Raises EmbeddingUnavailable."""
        return (await self.aembed_documents([text]))[0]

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """Embed texts from synchronous code, outside of an event loop."""
        return asyncio.run(self.aembed_documents(texts))

    def embed_query(self, text: str) -> list[float]:
        """Embed a question from synchronous code, outside of an event loop."""
        return asyncio.run(self.aembed_query(text))


class LibraryRetriever(BaseRetriever):
    """Hybrid search as a LangChain retriever, restricted to what ``identity`` may read. Asynchronous only."""

    searcher: Annotated[SegmentSearcher, SkipValidation]
    identity: Identity = Identity()
    top_k: int = Field(default=10, ge=1, le=30)
    min_score: float = Field(default=0.3, ge=0, le=1)
    spaces: tuple[str, ...] = ()
    document_ids: tuple[str, ...] = ()
    expand: int = Field(default=0, ge=0)

    async def _aget_relevant_documents(
        self, query: str, *, run_manager: AsyncCallbackManagerForRetrieverRun
    ) -> list[Document]:
        found = await self.searcher.search(
            SearchQuery(
                text=query,
                identity=self.identity,
                top_k=self.top_k,
                min_score=self.min_score,
                spaces=self.spaces,
                document_ids=self.document_ids,
                expand=self.expand,
            )
        )
        return [_as_document(hit) for hit in found.hits]

    def _get_relevant_documents(self, query: str, *, run_manager: CallbackManagerForRetrieverRun) -> list[Document]:
        raise NotImplementedError("The retriever is asynchronous only: use ainvoke.")


def _as_document(hit: Hit) -> Document:
    segment = hit.segment
    return Document(
        id=segment.segment_id,
        page_content=segment.text,
        metadata={
            "segment_id": segment.segment_id,
            "document_id": segment.document_id,
            "segment_index": segment.segment_index,
            "start": segment.start,
            "end": segment.end,
            "page_idx": segment.page_idx,
            "heading": segment.heading,
            "title": segment.title,
            "url": segment.url,
            "source_type": segment.source_type,
            "score": hit.score,
        },
    )
