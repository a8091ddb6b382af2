"""A read-only LangChain vector store over one workspace.

It reads a view over the workspace's own partition, so nothing is stored twice and no caller's filter can reach another
tenant. It contains only documents that the whole workspace may read, since a vector store has no notion of a user and
private documents are for their owners.
"""

import asyncio
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, TypeVar

import psycopg
from langchain_core.embeddings import Embeddings

from graph.errors import ConfigurationError
from tools.embeddings.embedder import Embedder
from tools.storage.database import Database
from tools.storage.partitions import Place, ensure_view, view_name
from tools.storage.tenants import Workspaces

if TYPE_CHECKING:
    from langchain_postgres import PGVectorStore

T = TypeVar("T")
METADATA = [
    "document_id", "segment_index", "start_offset", "end_offset", "page_idx", "heading", "title", "slug", "url",
    "source_type",
]  # fmt: skip
_OPTIONS = "-c default_transaction_read_only=on -c jit=off -c hnsw.ef_search=100 -c hnsw.iterative_scan=strict_order"


def wait_on(loop: asyncio.AbstractEventLoop, work: Coroutine[Any, Any, T]) -> T:
    """Do work on the event loop of another thread and block until it is done.

    Raises RuntimeError on the loop itself, which would wait for itself, and what the work raises.
    """
    if asyncio._get_running_loop() is loop:
        work.close()
        raise RuntimeError("This would wait for itself: await the asynchronous method instead.")
    doing = asyncio.run_coroutine_threadsafe(work, loop)
    try:
        return doing.result()
    finally:
        doing.cancel()  # where the wait was interrupted


async def await_on(loop: asyncio.AbstractEventLoop, work: Coroutine[Any, Any, T]) -> T:
    """Do work on the event loop of another thread, or this one's, and await it. Raises what the work raises."""
    return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(work, loop))


@asynccontextmanager
async def library_vector_store(
    database: Database, workspaces: Workspaces, embedder: Embedder, workspace: str = "default"
) -> AsyncIterator["PGVectorStore"]:
    """Open a workspace as a ``PGVectorStore``: similarity search, scores, and reading by segment id.

    It lives on the running event loop, through which other loops and synchronous code may use it as well. Its
    connections are read-only, so methods that add or delete raise. Documents have the metadata fields ``METADATA``.
    Raises NotFound for an unknown workspace, ConfigurationError if the database has no pgvector.
    """
    if not database.has_vectors:
        raise ConfigurationError(
            "The database has no pgvector, so the library has no vectors.",
            suggestion="Install it on the server, then run `citewell reindex`.",
        )
    from langchain_postgres import PGEngine, PGVectorStore
    from sqlalchemy.ext.asyncio import create_async_engine

    number = await workspaces.number(workspace)
    async with database.connection() as conn:

        async def open_view(place: Place) -> None:
            if not place.own:
                await ensure_view(conn, place.workspace, embedder.dimension)
            await conn.execute(f"SELECT FROM {view_name(number)} LIMIT 0")

        await workspaces.read(conn, workspace, open_view)

    async def connect() -> psycopg.AsyncConnection:
        return await psycopg.AsyncConnection.connect(database.url, options=_OPTIONS)

    engine = PGEngine.from_engine(
        create_async_engine("postgresql+psycopg://", async_creator=connect), asyncio.get_running_loop()
    )
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
    """The deployment's embedder as LangChain's ``Embeddings``, made on the event loop that the embedder belongs to.

    Its asynchronous methods take no thread: those of LangChain's default would all wait for the embedder, which needs
    one too.
    """

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._loop = asyncio.get_running_loop()

    async def aembed_documents(self, texts: list[str]) -> list[list[float]]:
        """Embed each text as a unit vector. Raises EmbeddingUnavailable."""
        return await await_on(self._loop, self._embed(texts))

    async def aembed_query(self, text: str) -> list[float]:
        """Embed a question. Raises EmbeddingUnavailable."""
        return await await_on(self._loop, self._embed_question(text))

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """Embed texts from synchronous code."""
        return wait_on(self._loop, self._embed(texts))

    def embed_query(self, text: str) -> list[float]:
        """Embed a question from synchronous code."""
        return wait_on(self._loop, self._embed_question(text))

    async def _embed(self, texts: list[str]) -> list[list[float]]:
        return [row.tolist() for row in await self._embedder.embed(texts)]

    async def _embed_question(self, text: str) -> list[float]:
        vector: list[float] = (await self._embedder.embed_question(text)).tolist()
        return vector
