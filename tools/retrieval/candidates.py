"""Candidates of a search that an index outside of PostgreSQL names.

They are names and nothing else. Which of them exist, who may read them, what they say and how well they answer is
PostgreSQL's word alone, so that such an index may lose a hit, and can never make one up.
"""

import asyncio
import logging
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from graph.errors import IndexUnavailable
from tools.retrieval.search_sql import planned, question_part
from tools.storage.database import Connection
from tools.storage.index_changes import SearchIndex
from tools.storage.partitions import Place
from tools.telemetry.metrics import INDEX_SEARCHES, UNKNOWN_CANDIDATES

log = logging.getLogger(__name__)

FRESH_DOCUMENTS = 50  # of those that the index does not have yet, the newest are read by PostgreSQL itself
FRESH_SEGMENTS = 2_000  # that they have together, at most


LEAST_SEGMENTS = 40_000  # of a workspace; below, PostgreSQL compares all vectors itself
DEADLINE_SECONDS = 0.5  # that an index which is slow costs a question, before PostgreSQL searches alone
REST_SECONDS = 5.0  # without asking an index that has just failed
LEAST_SHARE = 0.5  # of the names that there must be; below, the index has lost a part of the library


@dataclass(frozen=True, slots=True)
class CandidateList:
    """The segments that a leg of an index names, the best first, as arrays of PostgreSQL or their literals.

    ``complete`` says that it has no others; ``foreign`` counts names that are none of the workspace's.
    """

    document_ids: Sequence[UUID] | str = field(default_factory=list)
    indexes: Sequence[int] | str = field(default_factory=list)
    complete: bool = True
    foreign: int = 0


class CandidateIndex(Protocol):
    """Names segments by sparse weights and by vectors."""

    engine: str

    async def by_words(self, collection: str, workspace: int, idfs: Mapping[int, float], count: int) -> CandidateList:
        """Name the segments of the greatest inner product with the question's IDFs. Raises IndexUnavailable."""
        ...

    async def by_vector(
        self, collection: str, workspace: int, vector: NDArray[np.float32], count: int
    ) -> CandidateList:
        """Name the segments of the greatest cosine similarity. Raises IndexUnavailable."""
        ...


class CandidateEngine(CandidateIndex, Protocol):
    """An engine that holds such an index."""

    async def warm(self) -> None:
        """Load what the first search would wait for."""
        ...

    async def ping(self) -> None:
        """Raise IndexUnavailable where it does not answer."""
        ...

    async def close(self) -> None:
        """Close its connections."""
        ...


class IndexFollower(Protocol):
    """Keeps an index up to date with the library, once it is started."""

    def start(self) -> None:
        """Start working, unless it has begun."""
        ...

    async def close(self) -> None:
        """Stop working; changes that were being followed are left to others at once."""
        ...


@dataclass(frozen=True, slots=True)
class QueryWeights:
    """What PostgreSQL says before an index is asked.

    ``idfs`` are those of the question's terms that the workspace holds; the most common of them is in ``max_df`` of its
    ``segments``. ``fresh`` are documents that the index may not have yet.
    """

    index: SearchIndex | None
    segments: int
    idfs: Mapping[int, float]
    max_df: int
    fresh: Sequence[UUID]


class Candidates:
    """The candidates of an index for workspaces of at least ``least_segments``, within ``deadline`` seconds.

    An index that failed is left in peace for ``rest`` seconds, so that not every search waits for it.
    """

    def __init__(
        self, index: CandidateIndex, *, least_segments: int, deadline: float, rest: float = REST_SECONDS
    ) -> None:
        self._index = index
        self._least_segments = least_segments
        self._deadline = deadline
        self._rest = rest
        self._not_before = 0.0

    def is_usable(self, weights: QueryWeights, dimension: int) -> bool:
        """Whether the index is filled, with vectors as the question's, and the workspace is large enough for it."""
        index = weights.index
        return (
            index is not None
            and index.state == "serving"
            and (index.engine, index.dimension) == (self._index.engine, dimension)
            and weights.segments >= self._least_segments
        )

    async def fetch(
        self, workspace: int, weights: QueryWeights, embedding: NDArray[np.float32] | None, count: int
    ) -> tuple[CandidateList, CandidateList]:
        """Fetch ``count`` candidates by words and as many by vector, without an ``embedding`` by words alone.

        Raises IndexUnavailable, also where there are fewer than the library tells that there must be.
        """
        assert weights.index is not None
        if time.monotonic() < self._not_before:
            INDEX_SEARCHES.labels("resting").inc()
            raise IndexUnavailable("The index failed a moment ago.")
        try:
            lexical, dense = await self._ask(weights.index.collection, workspace, weights.idfs, embedding, count)
        except IndexUnavailable as error:
            INDEX_SEARCHES.labels("failed").inc()
            log.warning("The index of candidates is left in peace for %g s: %s", self._rest, error)
            self._not_before = time.monotonic() + self._rest
            raise
        expected = [(lexical, weights.max_df)] + ([] if embedding is None else [(dense, weights.segments)])
        if any(len(each.indexes) < LEAST_SHARE * min(count, most) for each, most in expected):
            INDEX_SEARCHES.labels("lacking").inc()
            raise IndexUnavailable("The index lacks a part of the library.")
        return lexical, dense

    async def _ask(
        self,
        collection: str,
        workspace: int,
        idfs: Mapping[int, float],
        embedding: NDArray[np.float32] | None,
        count: int,
    ) -> tuple[CandidateList, CandidateList]:
        async def nobody() -> CandidateList:
            return CandidateList()

        lexical = self._index.by_words(collection, workspace, idfs, count) if idfs else nobody()
        dense = nobody() if embedding is None else self._index.by_vector(collection, workspace, embedding, count)
        try:
            async with asyncio.timeout(self._deadline):
                found = await asyncio.gather(lexical, dense)
        except TimeoutError:
            raise IndexUnavailable(f"The index did not answer in {self._deadline:g} s.") from None
        return found[0], found[1]


class CandidateCounts(NamedTuple):
    """How many candidates of each leg the library knows, and how many took part, as ``search_statement`` says."""

    known_lexical: int = 0
    known_dense: int = 0
    used_lexical: int = 0
    used_dense: int = 0


def has_enough(counts: CandidateCounts, leg: int, *, lexical: bool, dense: bool) -> bool:
    """Whether of each list a whole ``leg`` took part, or it is complete, as ``lexical`` and ``dense`` tell."""
    return (lexical or counts.used_lexical >= leg) and (dense or counts.used_dense >= leg)


def record_search(lexical: CandidateList, dense: CandidateList, counts: CandidateCounts, *, enough: bool) -> None:
    """Count a search by the index in the metrics, and the candidates that the library does not know."""
    listed = len(lexical.indexes) + len(dense.indexes)
    unknown = listed - counts.known_lexical - counts.known_dense + lexical.foreign + dense.foreign
    if unknown:
        UNKNOWN_CANDIDATES.inc(unknown)
    INDEX_SEARCHES.labels("answered" if enough else "narrow").inc()


async def read_query_weights(conn: Connection, place: Place, bound: Mapping[str, Any]) -> QueryWeights:
    """Ask PostgreSQL for the IDFs of a question and for what the index lacks. ``bound`` is as for a search."""
    async with planned(conn):
        statement = question_part(place.workspace, _QUERY_WEIGHTS, place.parts, fresh_segments=FRESH_SEGMENTS)
        rows = await statement.execute(conn, {**bound, "fresh_documents": FRESH_DOCUMENTS})
    [(terms, idfs, max_df, segments, fresh, engine, collection, dimension, state)] = rows
    index = None if engine is None else SearchIndex(engine, collection, dimension, state)
    return QueryWeights(index, segments or 0, dict(zip(terms or [], idfs or [], strict=True)), max_df or 0, fresh or [])


_QUERY_WEIGHTS = """
, newest AS (
    SELECT document_id, max(change) AS change FROM (
        SELECT document_id, change FROM index_changes
        WHERE workspace = {workspace} AND NOT is_refill AND document_id IS NOT NULL
        ORDER BY change DESC LIMIT 4 * %(fresh_documents)s::integer
    ) AS recent GROUP BY document_id ORDER BY change DESC LIMIT %(fresh_documents)s::integer
), fresh AS (
    SELECT document_id, sum(segments) OVER (ORDER BY change DESC) AS together FROM newest CROSS JOIN LATERAL (
        SELECT count(*) AS segments FROM (
            SELECT 1 FROM {partition} AS s WHERE s.workspace = {workspace} AND s.document_id = newest.document_id
            LIMIT {fresh_segments}
        ) AS few
    ) AS counted
)
SELECT (SELECT array_agg(term) FROM weighed WHERE df > 0 AND idf > 0),
    (SELECT array_agg(idf::float4) FROM weighed WHERE df > 0 AND idf > 0),
    (SELECT max(df)::integer FROM weighed),
    (SELECT segments FROM library_statistics WHERE workspace = {workspace}),
    (SELECT array_agg(document_id) FROM fresh WHERE together <= {fresh_segments}),
    i.engine, i.collection, i.dimension, i.state
FROM (SELECT 1) AS one LEFT JOIN (
    SELECT *, prefix || '_' || library || '_' || generation AS collection FROM search_index
) AS i ON true
WHERE {here}
"""
