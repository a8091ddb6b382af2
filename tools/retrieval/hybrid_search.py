"""Search a workspace's segments by words and vectors at once."""

import logging
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

import numpy as np
import psycopg
from numpy.typing import NDArray

from answers.copies import repeated_texts
from graph.errors import EmbeddingUnavailable
from graph.evidence import Hit
from graph.ports import SearchQuery, SearchResult
from graph.reasons import Reason
from text.terms import QueryTerms, weigh_question
from tools.embeddings.embedder import Embedder
from tools.retrieval.common_terms import Combinations, CommonTerms, boxes_as_arrays
from tools.retrieval.flat_indexes import FlatIndexes, nearest
from tools.retrieval.indexing import vector_as_text
from tools.retrieval.partitions import existing_partition
from tools.retrieval.scope import CANDIDATES, ReadableShares, Scope, find_scope, reading_as
from tools.retrieval.search_sql import NEAR, Reach, as_hit, dense_coverage, join_hits, search_statement
from tools.retrieval.title_hop import follow_titles
from tools.storage.database import Connection, Database
from tools.storage.tenants import Workspaces
from tools.telemetry.metrics import RETRIEVALS
from tools.telemetry.tracing import retrieval_span

log = logging.getLogger(__name__)

SPARE = 20  # candidates of each leg beyond those asked for, so that what both find a little of can win
COPIES = 4  # of each text, for which there is room where a search finds copies
NEAREST = 2  # times a leg's candidates, named to the database where the process holds the vectors; some are hidden
WHOLE_LIBRARY = Scope()
NOTHING_COMMON = Combinations()
NO_EMBEDDING = Reason("no_embedding")
NO_PGVECTOR = Reason("no_pgvector")
NO_VECTORS = Reason("no_vectors")


@dataclass(frozen=True, slots=True)
class BoundQuery:
    """A query as the statements take it. ``embedding`` is None where the dense leg takes no part."""

    workspace: int
    query: SearchQuery
    terms: QueryTerms
    scope: Scope = WHOLE_LIBRARY
    common: Combinations = NOTHING_COMMON
    coverage: float = 0.0
    embedding: NDArray[np.float32] | None = None


class HybridSearcher:
    """Finds segments by BM25 over language-neutral terms, and by vectors as far as the model knows the language.

    Documents that the question or the best hits name by their titles join what is found: see ``title_hop``. A text
    that was ingested twice is found once. With ``indexes``, vectors of large workspaces are compared in the process.
    """

    def __init__(
        self,
        database: Database,
        workspaces: Workspaces,
        embedder: Embedder,
        indexes: FlatIndexes | None = None,
    ) -> None:
        self._database = database
        self._workspaces = workspaces
        self._embedder = embedder
        self._indexes = indexes
        self._shares = ReadableShares()
        self._common_terms = CommonTerms()

    async def search(self, query: SearchQuery) -> SearchResult:
        """Find the segments that bear on a query; see ``graph.ports.SegmentSearcher``.

        A question that the embedder does not answer for, or a dense leg that fails, leaves the lexical leg, and
        ``degraded`` says so. A workspace that has nothing yet has no hits. Raises NotFound, DatabaseUnavailable.
        """
        with retrieval_span("library", query.text, top_k=query.top_k) as found, RETRIEVALS.time():
            return found(await self._answer(query))

    async def _answer(self, query: SearchQuery) -> SearchResult:
        workspace = await self._workspaces.number(query.identity.workspace)
        coverage = dense_coverage(self._embedder.coverage(query.text))
        embedding, degraded = None, None
        if coverage > 0 and not self._database.has_vectors:
            degraded = NO_PGVECTOR
        elif coverage > 0:
            try:
                embedding = _as_stored((await self._embedder.embed([query.text]))[0])
            except EmbeddingUnavailable as error:
                log.warning("Searching by words alone: %s", error)
                degraded = NO_EMBEDDING
        async with self._database.connection() as conn, existing_partition(query.identity.workspace):
            scope = await find_scope(conn, workspace, query, self._shares)
            if scope.document_ids == []:
                return SearchResult((), degraded)
            terms, common = weigh_question(query.text), NOTHING_COMMON
            if scope.document_ids is None:
                common = await self._common_terms.combinations(conn, workspace, terms, scope.candidates)
            asked = BoundQuery(workspace, query, terms, scope, common)
            if embedding is not None and embedding.any():
                try:
                    return await self._search(conn, replace(asked, coverage=coverage, embedding=embedding), None)
                except (psycopg.errors.DataError, psycopg.errors.InternalError, psycopg.errors.NotSupportedError):
                    log.exception("Searching by words alone: the dense leg failed")
                    degraded = NO_VECTORS
            return await self._search(conn, asked, degraded)

    async def _search(self, conn: Connection, asked: BoundQuery, degraded: str | None) -> SearchResult:
        found = await self._find(conn, asked)
        if repeated := repeated_texts([hit.segment for hit in found]):
            query = asked.query
            if sum(hit.own_score > 0 for hit in found) >= query.top_k:  # copies have taken places of others
                found = await self._find(conn, replace(asked, query=replace(query, top_k=COPIES * query.top_k)))
                repeated = repeated_texts([hit.segment for hit in found])
            found = join_hits([hit for hit in found if hit.segment_id not in repeated], (), query)
        return SearchResult(tuple(found), degraded)

    async def _find(self, conn: Connection, asked: BoundQuery) -> list[Hit]:
        async def search_documents(document_ids: list[UUID], least: float) -> list[Hit]:
            return await self._run(conn, asked, "titles", {"document_ids": document_ids, "min_score": least})

        if asked.scope.document_ids is not None:
            first = await self._run(conn, asked, "documents", {})
        elif asked.embedding is not None and self._indexes is not None:
            first = await self._run_held(conn, asked, asked.embedding, self._indexes)
        else:
            first = await self._run(conn, asked, "library", {})
        return list(await follow_titles(conn, asked.workspace, asked.query, first, search_documents))

    async def _run(self, conn: Connection, asked: BoundQuery, reach: Reach, others: dict[str, Any]) -> list[Hit]:
        statement = search_statement(
            asked.workspace,
            self._embedder.dimension,
            leg=asked.query.top_k + SPARE,
            dense=asked.embedding is not None,
            reach=reach,
            vectors=self._database.has_vectors,
        )
        rows = await statement.execute(conn, bound_parameters(asked) | others)
        return [as_hit(row) for row in rows]

    async def _run_held(
        self, conn: Connection, asked: BoundQuery, embedding: NDArray[np.float32], indexes: FlatIndexes
    ) -> list[Hit]:
        """Search the library by the vectors that the process holds, if it does; tell it of the present version."""
        leg, dimension = asked.query.top_k + SPARE, self._embedder.dimension
        index = indexes.of(asked.workspace, dimension)
        held = {}
        if index is not None:
            # As many more as the filters leave out, as the lexical leg's candidates are.
            count = min(NEAREST * leg * asked.scope.candidates // CANDIDATES, NEAR)
            found = await nearest(index, embedding, count)
            held = {
                "held": index.version,
                "near_documents": found.document_ids,
                "near_indexes": found.indexes,
                "near_complete": found.complete or count == NEAR,
            }
        statement = search_statement(
            asked.workspace, dimension, leg=leg, dense=True, reach="library", held=index is not None
        )
        try:
            rows = await statement.execute(conn, bound_parameters(asked) | held)
        except psycopg.errors.UndefinedTable:
            indexes.forget(asked.workspace)
            raise
        if rows:
            indexes.saw(asked.workspace, rows[0][-1], dimension)
        return [as_hit(row) for row in rows]


def _as_stored(embedding: NDArray[np.float32]) -> NDArray[np.float32]:
    """Round a question's vector as the library's are, so that it is the same here and in a statement."""
    return embedding.astype(np.float16).astype(np.float32)


def bound_parameters(asked: BoundQuery) -> dict[str, Any]:
    """Return the parameters of ``search_statement``, but for those of vectors that the process holds."""
    query, scope, terms = asked.query, asked.scope, asked.terms
    ids = terms.ids.tolist()
    return {
        "terms": ids,
        "weights": terms.weights.tolist(),
        "expected": terms.expected.tolist(),
        "unspaced": terms.unspaced.tolist(),
        "common": [term in asked.common.terms for term in ids],
        **boxes_as_arrays(asked.common.boxes),
        "budget": scope.candidates,
        **reading_as(query.identity),
        "spaces": list(query.spaces) or None,
        "document_ids": scope.document_ids,
        "top_k": query.top_k,
        "min_score": query.min_score,
        "expand": query.expand,
        "coverage": asked.coverage,
        "embedding": None if asked.embedding is None else vector_as_text(asked.embedding),
    }
