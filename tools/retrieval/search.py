"""Search a workspace's segments by words and vectors at once."""

import logging
from collections.abc import Mapping
from typing import Any
from uuid import UUID

import numpy as np
import psycopg
from numpy.typing import NDArray

from graph.errors import EmbeddingUnavailable
from graph.evidence import Hit
from graph.ports import SearchQuery, SearchResult
from tools.database import Connection, Database
from tools.embeddings import Embedder
from tools.retrieval.copying import as_text
from tools.retrieval.rows import as_segment
from tools.retrieval.scoring import dense_coverage
from tools.retrieval.statements import search_statement
from tools.terms import weigh_question
from tools.workspaces import Workspaces

log = logging.getLogger(__name__)

CANDIDATES = 1000  # segments that the lexical leg scores, about
EXPLORED = 100  # neighbours that HNSW keeps while it looks
# A plan made once for all parameters: planning takes longer than the search itself in a small workspace.
_SETTINGS = (
    "SELECT set_config('plan_cache_mode', 'force_generic_plan', true), set_config('enable_seqscan', 'off', true),"
    f" set_config('hnsw.ef_search', '{EXPLORED}', true), set_config('hnsw.iterative_scan', 'strict_order', true)"
)
NO_EMBEDDING = "The embedding endpoint did not answer; the words alone were searched for."
NO_VECTORS = "Vector search failed; the words alone were searched for."


class HybridSearcher:
    """Finds segments by BM25 over language-neutral terms, and by vectors as far as the model knows the language."""

    def __init__(self, database: Database, workspaces: Workspaces, embedder: Embedder) -> None:
        self._database = database
        self._workspaces = workspaces
        self._embedder = embedder

    async def search(self, query: SearchQuery) -> SearchResult:
        """Find the segments that bear on a query; see ``graph.ports.SegmentSearcher``.

        A question that embeds nowhere, or a vector index that fails, leaves the lexical leg, and ``degraded`` says so.
        Raises NotFound for an unknown workspace, DatabaseUnavailable.
        """
        workspace = await self._workspaces.number(query.identity.workspace)
        parameters = _parameters(query)
        if parameters is None:
            return SearchResult(())
        coverage = dense_coverage(self._embedder.coverage(query.text))
        embedding, degraded = None, None
        if coverage > 0:
            try:
                embedding = (await self._embedder.embed([query.text]))[0]
            except EmbeddingUnavailable as error:
                log.warning("Searching by words alone: %s", error)
                degraded = NO_EMBEDDING
        async with self._database.connection() as conn:
            if embedding is not None and embedding.any():
                try:
                    return await self._run(conn, workspace, query, parameters, coverage, embedding, None)
                except (psycopg.errors.DataError, psycopg.errors.InternalError, psycopg.errors.NotSupportedError):
                    log.exception("Searching by words alone: the dense leg failed")
                    degraded = NO_VECTORS
            return await self._run(conn, workspace, query, parameters, 0.0, None, degraded)

    async def _run(
        self,
        conn: Connection,
        workspace: int,
        query: SearchQuery,
        parameters: Mapping[str, Any],
        coverage: float,
        embedding: NDArray[np.float32] | None,
        degraded: str | None,
    ) -> SearchResult:
        statement = search_statement(
            workspace, self._embedder.dimension, dense=embedding is not None, scoped=bool(query.document_ids)
        )
        bound = {**parameters, "coverage": coverage}
        if embedding is not None:
            bound["embedding"] = as_text(embedding)
        async with conn.transaction():
            await conn.execute(_SETTINGS, prepare=True)
            found = await conn.execute(statement, bound, prepare=True, binary=True)
            rows = await found.fetchall()
        return SearchResult(tuple(Hit(as_segment(row), row[-1]) for row in rows), degraded)


def _parameters(query: SearchQuery) -> dict[str, Any] | None:
    """Bind what the query says; None where nothing can match."""
    terms = weigh_question(query.text)
    if query.document_ids:
        document_ids = [identifier for identifier in map(_as_uuid, query.document_ids) if identifier is not None]
        if not document_ids:
            return None
    else:
        document_ids = None
    return {
        "terms": terms.ids.tolist(),
        "weights": terms.weights.tolist(),
        "expected": terms.expected.tolist(),
        "budget": CANDIDATES,
        "user": query.identity.user,
        "spaces": list(query.spaces) or None,
        "document_ids": document_ids,
        "top_k": query.top_k,
        "min_score": query.min_score,
        "expand": query.expand,
    }


def _as_uuid(text: str) -> UUID | None:
    try:
        return UUID(text)
    except ValueError:
        return None
