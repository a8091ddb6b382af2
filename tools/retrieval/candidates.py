"""Candidates of a search that an index outside of PostgreSQL names.

They are names and nothing else. Which of them exist, who may read them, what they say and how well they answer is
PostgreSQL's word alone, so that such an index may lose a hit, and can never make one up.
"""

import asyncio
import logging
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from graph.errors import IndexUnavailable
from tools.retrieval.index_changes import SearchIndex
from tools.retrieval.partitions import Place
from tools.retrieval.search_sql import Statement, planned, question_part
from tools.storage.database import Connection
from tools.telemetry.metrics import INDEX_SEARCHES, UNKNOWN_CANDIDATES

log = logging.getLogger(__name__)

FRESH_DOCUMENTS = 50  # of those that the index does not have yet, the newest are read by PostgreSQL itself
FRESH_SEGMENTS = 2_000  # that they have together, at most


REST_SECONDS = 5.0  # without asking an index that has just failed
LEAST_SHARE = 0.5  # of the names that there must be; below, the index has lost a part of the library


@dataclass(frozen=True, slots=True)
class Named:
    """Segments that a leg of the index names, the best first.

    ``complete`` says that it has no others; ``foreign`` counts names that are none of the workspace's.
    """

    document_ids: Sequence[UUID] = ()
    indexes: Sequence[int] = ()
    complete: bool = True
    foreign: int = 0


class CandidateIndex(Protocol):
    """Names segments by sparse weights and by vectors."""

    engine: str

    async def by_words(self, collection: str, workspace: int, idfs: Mapping[int, float], count: int) -> Named:
        """Name the segments of the greatest inner product with the question's IDFs. Raises IndexUnavailable."""
        ...

    async def by_vector(self, collection: str, workspace: int, vector: NDArray[np.float32], count: int) -> Named:
        """Name the segments of the greatest cosine similarity. Raises IndexUnavailable."""
        ...


@dataclass(frozen=True, slots=True)
class Weighed:
    """What PostgreSQL says before an index is asked.

    ``idfs`` are those of the question's terms that the workspace holds, the most common of which ``most`` of its
    ``segments`` do. ``fresh`` are documents that the index may not have yet.
    """

    index: SearchIndex | None
    segments: int
    idfs: Mapping[int, float]
    most: int
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

    def serve(self, weighed: Weighed, dimension: int) -> bool:
        """Whether the index is filled, with vectors as the question's, and the workspace is large enough for it."""
        index = weighed.index
        return (
            index is not None
            and index.state == "serving"
            and (index.engine, index.dimension) == (self._index.engine, dimension)
            and weighed.segments >= self._least_segments
        )

    async def name(
        self, workspace: int, weighed: Weighed, embedding: NDArray[np.float32] | None, count: int
    ) -> tuple[Named, Named]:
        """Name ``count`` candidates by words and as many by vector, those without an ``embedding`` by words alone.

        Raises IndexUnavailable, also where there are fewer than the library tells that there must be.
        """
        assert weighed.index is not None
        if time.monotonic() < self._not_before:
            INDEX_SEARCHES.labels("resting").inc()
            raise IndexUnavailable("The index failed a moment ago.")
        try:
            words, near = await self._ask(weighed.index.collection, workspace, weighed.idfs, embedding, count)
        except IndexUnavailable as error:
            INDEX_SEARCHES.labels("failed").inc()
            log.warning("The index of candidates is left in peace for %g s: %s", self._rest, error)
            self._not_before = time.monotonic() + self._rest
            raise
        expected = [(words, weighed.most)] + ([] if embedding is None else [(near, weighed.segments)])
        if any(len(each.indexes) < LEAST_SHARE * min(count, most) for each, most in expected):
            INDEX_SEARCHES.labels("lacking").inc()
            raise IndexUnavailable("The index lacks a part of the library.")
        return words, near

    async def _ask(
        self,
        collection: str,
        workspace: int,
        idfs: Mapping[int, float],
        embedding: NDArray[np.float32] | None,
        count: int,
    ) -> tuple[Named, Named]:
        async def nobody() -> Named:
            return Named()

        words = self._index.by_words(collection, workspace, idfs, count) if idfs else nobody()
        near = nobody() if embedding is None else self._index.by_vector(collection, workspace, embedding, count)
        try:
            async with asyncio.timeout(self._deadline):
                found = await asyncio.gather(words, near)
        except TimeoutError:
            raise IndexUnavailable(f"The index did not answer in {self._deadline:g} s.") from None
        return found[0], found[1]


def suffice(words: Named, near: Named, counts: Sequence[int], leg: int) -> bool:
    """Whether enough of what was named took part, after ``counts`` of ``search_statement``; count what is unknown."""
    known_words, known_near, worded, neared = counts
    unknown = len(words.indexes) + len(near.indexes) - known_words - known_near + words.foreign + near.foreign
    if unknown:
        UNKNOWN_CANDIDATES.inc(unknown)
    enough = all(named.complete or kept >= leg for named, kept in ((words, worded), (near, neared)))
    INDEX_SEARCHES.labels("answered" if enough else "narrow").inc()
    return enough


async def weigh(conn: Connection, place: Place, bound: Mapping[str, Any]) -> Weighed:
    """Ask PostgreSQL for the IDFs of a question and for what the index lacks. ``bound`` is as for a search."""
    async with planned(conn):
        rows = await _statement(place).execute(conn, {**bound, "fresh_documents": FRESH_DOCUMENTS})
    [(terms, idfs, most, segments, fresh, engine, collection, dimension, state)] = rows
    index = None if engine is None else SearchIndex(engine, collection, dimension, state, None, None)
    return Weighed(index, segments or 0, dict(zip(terms or [], idfs or [], strict=True)), most or 0, fresh or [])


def _statement(place: Place) -> Statement:
    return question_part(place.workspace, _WEIGHED, place.parts, fresh_segments=FRESH_SEGMENTS)


_WEIGHED = """
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
