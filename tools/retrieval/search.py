"""Search a workspace's segments by words and vectors at once."""

import logging
from collections.abc import Mapping
from typing import Any

import numpy as np
import psycopg
from numpy.typing import NDArray

from graph.errors import EmbeddingUnavailable
from graph.evidence import Hit
from graph.ports import SearchQuery, SearchResult
from tools.database import Connection, Database
from tools.embeddings import Embedder
from tools.retrieval.copying import as_text
from tools.retrieval.partitions import existing_partition
from tools.retrieval.rows import as_segment
from tools.retrieval.scope import Scope, find_scope
from tools.retrieval.scoring import dense_coverage
from tools.retrieval.statements import search_statement
from tools.terms import weigh_question
from tools.workspaces import Workspaces

log = logging.getLogger(__name__)

SPARE = 20  # candidates of each leg beyond those asked for, so that what both find a little of can win
EXPLORED = 450  # neighbours that HNSW keeps while it looks
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

        A question that the embedder does not answer for, or a dense leg that fails, leaves the lexical leg, and
        ``degraded`` says so. A workspace that has nothing yet has no hits. Raises NotFound, DatabaseUnavailable.
        """
        workspace = await self._workspaces.number(query.identity.workspace)
        coverage = dense_coverage(self._embedder.coverage(query.text))
        embedding, degraded = None, None
        if coverage > 0:
            try:
                embedding = (await self._embedder.embed([query.text]))[0]
            except EmbeddingUnavailable as error:
                log.warning("Searching by words alone: %s", error)
                degraded = NO_EMBEDDING
        async with self._database.connection() as conn, existing_partition(query.identity.workspace):
            scope = await find_scope(conn, workspace, query)
            if scope.document_ids == []:
                return SearchResult((), degraded)
            parameters = _parameters(query, scope)
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
            workspace,
            self._embedder.dimension,
            leg=query.top_k + SPARE,
            dense=embedding is not None,
            scoped=parameters["document_ids"] is not None,
        )
        bound = {**parameters, "coverage": coverage}
        if embedding is not None:
            bound["embedding"] = as_text(embedding)
        async with conn.pipeline():  # one round trip and, up to its end, one transaction
            await conn.execute(_SETTINGS, prepare=True)
            cursor = psycopg.AsyncRawCursor(conn)
            values = [bound[name] for name in statement.parameters]
            await cursor.execute(statement.text, values, prepare=True, binary=True)
            rows = await cursor.fetchall()
        return SearchResult(tuple(Hit(as_segment(row), row[-1]) for row in rows), degraded)


def _parameters(query: SearchQuery, scope: Scope) -> dict[str, Any]:
    terms = weigh_question(query.text)
    return {
        "terms": terms.ids.tolist(),
        "weights": terms.weights.tolist(),
        "expected": terms.expected.tolist(),
        "budget": scope.candidates,
        "user": query.identity.user,
        "spaces": list(query.spaces) or None,
        "document_ids": scope.document_ids,
        "top_k": query.top_k,
        "min_score": query.min_score,
        "expand": query.expand,
    }
