"""Search a workspace's segments by words and vectors at once."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

import numpy as np
import psycopg
from numpy.typing import NDArray

from answers.fusion import join_hits, repeated_texts, without_copies
from graph.errors import EmbeddingUnavailable, IndexUnavailable
from graph.evidence import Hit
from graph.ports import SearchQuery, SearchResult
from graph.reasons import Reason, Reasons
from text.terms import QueryTerms, weigh_question
from tools.embeddings.embedder import Embedder
from tools.embeddings.similarity_scale import FITTED, SimilarityScale
from tools.retrieval.candidates import (
    CandidateCounts,
    CandidateList,
    Candidates,
    has_enough,
    read_query_weights,
    record_search,
)
from tools.retrieval.common_terms import Combinations, CommonTerms, boxes_as_arrays
from tools.retrieval.flat_index import FlatIndex
from tools.retrieval.flat_indexes import FlatIndexes, candidates_of
from tools.retrieval.scope import CANDIDATES, ReadableShares, Scope, as_array, find_scope, reading_as
from tools.retrieval.search_sql import (
    NEAR,
    Reach,
    as_hit,
    dense_coverage,
    explored_in,
    planned,
    search_statement,
    vector_as_text,
)
from tools.retrieval.title_hop import follow_titles
from tools.retrieval.typical_vectors import TypicalVectors
from tools.retrieval.vocabulary import Vocabulary
from tools.storage.database import Connection, Database
from tools.storage.partitions import Place, has_gone
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
NO_INDEX = Reason("no_index")


@dataclass(frozen=True, slots=True)
class BoundQuery:
    """A query as the statements take it. ``embedding`` is None where the dense leg takes no part."""

    place: Place
    query: SearchQuery
    terms: QueryTerms
    scope: Scope = WHOLE_LIBRARY
    common: Combinations = NOTHING_COMMON
    coverage: float = 0.0
    scale: SimilarityScale = FITTED
    embedding: NDArray[np.float32] | None = None
    candidates: Candidates | None = None


class HybridSearcher:
    """Finds segments by BM25 over language-neutral terms, and by vectors as far as the model knows the language.

    Documents that the question or the best hits name by their titles join what is found: see ``title_hop``. A text
    that was ingested twice is found once. With ``indexes``, vectors of large workspaces are compared in the process.
    With ``candidates``, an index outside of the database names what it scores.
    """

    def __init__(
        self,
        database: Database,
        workspaces: Workspaces,
        embedder: Embedder,
        indexes: FlatIndexes | None = None,
        candidates: Candidates | None = None,
    ) -> None:
        self._database = database
        self._workspaces = workspaces
        self._embedder = embedder
        self._indexes = indexes
        self._candidates = candidates
        self._shares = ReadableShares()
        self._common_terms = CommonTerms()
        self._vocabulary = Vocabulary()
        self._typical = TypicalVectors()

    async def search(self, query: SearchQuery) -> SearchResult:
        """Find the segments that bear on a query; see ``graph.ports.SegmentSearcher``.

        A question that the embedder does not answer for, or a dense leg that fails, leaves the lexical leg, and
        ``degraded`` says so. A workspace that has nothing yet has no hits. Raises NotFound, DatabaseUnavailable.
        """
        with retrieval_span("library", query.text, top_k=query.top_k) as found, RETRIEVALS.time():
            return found(await self._answer(query))

    async def _answer(self, query: SearchQuery) -> SearchResult:
        await self._workspaces.number(query.identity.workspace)  # before anything is embedded
        coverage = dense_coverage(self._embedder.coverage(query.text))
        embedding, degraded = None, None
        if coverage > 0 and not self._database.has_vectors:
            degraded = NO_PGVECTOR
        elif coverage > 0:
            try:
                embedding = _as_stored(await self._embedder.embed_question(query.text))
            except EmbeddingUnavailable as error:
                log.warning("Searching by words alone: %s", error)
                degraded = NO_EMBEDDING

        async def search_on(conn: Connection) -> SearchResult:
            async def search_in(place: Place) -> SearchResult:
                respelled = await self._vocabulary.respell(conn, place, query.text, query.identity)
                asked = BoundQuery(
                    place,
                    query,
                    weigh_question(query.text, respelled.respelling),
                    coverage=coverage,
                    scale=self._embedder.scale,
                    embedding=embedding,
                )
                return replace(await self._answer_in(conn, asked, degraded), also_searched=respelled.also)

            return await self._workspaces.read(conn, query.identity.workspace, search_in)

        return await self._database.read(search_on)

    async def _answer_in(self, conn: Connection, asked: BoundQuery, degraded: str | None) -> SearchResult:
        place = asked.place
        scope = await find_scope(conn, place.workspace, asked.query, self._shares)
        if scope.document_ids == []:
            return SearchResult((), degraded)
        asked = replace(asked, scope=scope, candidates=self._candidates if place.own else None)
        if asked.embedding is not None and asked.embedding.any():
            try:
                if asked.scale.is_relative:
                    scale = await self._typical.scaled(conn, place, asked.embedding, asked.scale)
                    asked = replace(asked, scale=scale)
                return await self._search(conn, asked, None)
            except (psycopg.errors.DataError, psycopg.errors.InternalError, psycopg.errors.NotSupportedError) as error:
                if has_gone(error):
                    raise
                log.exception("Searching by words alone: the dense leg failed")
                degraded = NO_VECTORS
        return await self._search(conn, replace(asked, coverage=0.0, embedding=None), degraded)

    async def _search(self, conn: Connection, asked: BoundQuery, degraded: str | None) -> SearchResult:
        try:
            found = await self._find_apart(conn, asked)
        except IndexUnavailable as error:
            log.info("The database searches alone: %s", error.message)
            found = await self._find_apart(conn, replace(asked, candidates=None))
            degraded = Reasons([degraded, NO_INDEX]) if degraded else NO_INDEX
        return SearchResult(tuple(found), degraded)

    async def _find_apart(self, conn: Connection, asked: BoundQuery) -> list[Hit]:
        """Find hits of different texts."""
        found = await self._find(conn, asked)
        if repeated := repeated_texts([hit.segment for hit in found], question=asked.query.text):
            query = asked.query
            if sum(hit.own_score > 0 for hit in found) >= query.top_k:  # copies have taken places of others
                found = await self._find(conn, replace(asked, query=replace(query, top_k=COPIES * query.top_k)))
                repeated = repeated_texts([hit.segment for hit in found], question=query.text)
            found = join_hits(without_copies(found, repeated), query)
        return found

    async def _find(self, conn: Connection, asked: BoundQuery) -> list[Hit]:
        async def search_documents(document_ids: list[UUID], least: float) -> list[Hit]:
            rows = await self._rows(conn, asked, "titles", {"document_ids": document_ids, "min_score": least})
            return [as_hit(row) for row in rows]

        named = None
        if asked.candidates is not None and asked.scope.document_ids is None:
            named = await self._run_named(conn, asked, asked.candidates)
        async with planned(conn, explored=explored_in(asked.place.parts)):
            if asked.scope.document_ids is not None:
                first = [as_hit(row) for row in await self._rows(conn, asked, "documents", {})]
            else:
                first = await self._run_library(conn, asked) if named is None else named
            return list(await follow_titles(conn, asked.place.workspace, asked.query, first, search_documents))

    async def _run_library(self, conn: Connection, asked: BoundQuery) -> list[Hit]:
        place, dimension = asked.place, self._embedder.dimension
        indexes = self._indexes if place.own and self._database.has_vectors else None
        index = None if indexes is None else indexes.of(place.workspace, dimension)
        try:
            if index is not None and (found := await self._run_held(conn, asked, index)) is not None:
                return found
            rows = await self._search_tables(conn, asked)
        except psycopg.Error as error:
            if indexes is not None and has_gone(error):
                indexes.forget(place.workspace)
            raise
        if indexes is not None and rows:
            indexes.observe_version(place.workspace, rows[0][-1], dimension)
        return [as_hit(row) for row in rows]

    async def _search_tables(self, conn: Connection, asked: BoundQuery) -> list[tuple[Any, ...]]:
        if asked.place.own:
            found = self._common_terms.combinations(conn, asked.place.workspace, asked.terms, asked.scope.candidates)
            asked = replace(asked, common=await found)
        return await self._rows(conn, asked, "library", {})

    async def _run_held(self, conn: Connection, asked: BoundQuery, index: FlatIndex) -> list[Hit] | None:
        """Search by the segments that the process holds; None where their version has passed, or too few are left."""
        leg, count = asked.query.top_k + SPARE, _named_count(asked.query.top_k + SPARE, asked.scope)
        lexical, dense = await candidates_of(index, asked.terms, asked.embedding, count)
        rows = await self._rows(conn, asked, "named", _named(lexical, dense))
        if not rows or rows[0][-5] != index.version:
            return None
        is_widest = count == NEAR
        counts = CandidateCounts(*rows[0][-4:])
        if not has_enough(counts, leg, lexical=lexical.complete or is_widest, dense=dense.complete or is_widest):
            return None
        return [as_hit(row) for row in rows]

    async def _run_named(self, conn: Connection, asked: BoundQuery, candidates: Candidates) -> list[Hit] | None:
        """Search by the candidates that an index names; None where they are not enough. Raises IndexUnavailable."""
        leg, dimension, bound = asked.query.top_k + SPARE, self._embedder.dimension, bound_parameters(asked)
        weights = await read_query_weights(conn, asked.place, bound)
        if not candidates.is_usable(weights, dimension):
            return None
        lexical, dense = await candidates.fetch(
            asked.place.workspace, weights, asked.embedding, _named_count(leg, asked.scope)
        )
        async with planned(conn):
            rows = await self._rows(conn, asked, "named", _named(lexical, dense, weights.fresh))
        # Without a row nothing is known of the candidates, so that the database has to look for itself.
        counts = CandidateCounts(*rows[0][-4:]) if rows else CandidateCounts()
        enough = has_enough(counts, leg, lexical=lexical.complete, dense=dense.complete)
        record_search(lexical, dense, counts, enough=enough)
        return [as_hit(row) for row in rows] if enough else None

    async def _rows(
        self, conn: Connection, asked: BoundQuery, reach: Reach, others: dict[str, Any]
    ) -> list[tuple[Any, ...]]:
        statement = search_statement(
            asked.place.workspace if asked.place.own else None,
            self._embedder.dimension,
            leg=asked.query.top_k + SPARE,
            dense=asked.embedding is not None,
            reach=reach,
            vectors=self._database.has_vectors,
            parts=asked.place.parts,
        )
        return await statement.execute(conn, bound_parameters(asked) | others)


def _named(lexical: CandidateList, dense: CandidateList, fresh: Sequence[UUID] = ()) -> dict[str, Any]:
    """Return the parameters of reach ``named``: the candidates of each leg, and documents to read beside them."""
    return {
        "document_ids": list(fresh),
        "lexical_documents": lexical.document_ids,
        "lexical_indexes": lexical.indexes,
        "dense_documents": dense.document_ids,
        "dense_indexes": dense.indexes,
    }


def _named_count(leg: int, scope: Scope) -> int:
    """Return how many candidates are named to the database: as many more as the filters leave out."""
    return min(NEAREST * leg * scope.candidates // CANDIDATES, NEAR)


def _as_stored(embedding: NDArray[np.float32]) -> NDArray[np.float32]:
    """Round a question's vector as the library's are, so that it is the same here and in a statement."""
    return embedding.astype(np.float16).astype(np.float32)


def bound_parameters(asked: BoundQuery) -> dict[str, Any]:
    """Return the parameters of ``search_statement``, but for those of vectors that the process holds."""
    query, scope, terms = asked.query, asked.scope, asked.terms
    ids = terms.ids.tolist()
    return {
        "workspace": asked.place.workspace,
        "terms": as_array(map(str, ids)),
        "weights": as_array(map(str, terms.weights.tolist())),
        "expected": as_array(map(str, terms.expected.tolist())),
        "unspaced": as_array(map(str, terms.unspaced.tolist())),
        "common": as_array(str(term in asked.common.terms) for term in ids),
        # Without vectors nothing else finds what holds the least telling words alone.
        "covered_weight": 1.0 if asked.embedding is None else asked.common.covered_weight,
        **boxes_as_arrays(asked.common.boxes),
        "budget": scope.candidates if asked.common.budget is None else asked.common.budget,
        **reading_as(query.identity),
        "spaces": list(query.spaces) or None,
        "document_ids": scope.document_ids,
        "top_k": query.top_k,
        "min_score": query.min_score,
        "expand": query.expand,
        "dense_slope": asked.coverage * asked.scale.slope,
        "dense_offset": asked.coverage * asked.scale.offset,
        "embedding": None if asked.embedding is None else vector_as_text(asked.embedding),
    }
