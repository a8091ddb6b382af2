"""Bring an index up to date with the library: take documents from the queue, and make their rows what PostgreSQL has.

A change says only which document it was. What its rows have to be is read when it is taken, so that it can be done
twice, late, or for several changes at once; rows that are right already, by the hash of their content, are not
written again. The changes stay locked, in an open transaction, until Milvus has the rows: when a worker dies they are
free at once.
"""

from collections.abc import AsyncIterator, Sequence
from struct import Struct
from typing import Any
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from tools.milvus.collection import Milvus, Row
from tools.storage.database import Connection, Database
from tools.storage.index_changes import SearchIndex
from tools.storage.partitions import OWN_SEGMENTS, OWN_VECTORS
from tools.telemetry.metrics import INDEX_ROWS

CHANGES_AT_ONCE = 100
SEGMENTS_AT_ONCE = 1_000  # that are held in memory
LOCK = 0x6D696C76  # "milv", of the advisory locks on documents that are being brought up to date

_CLAIM = """
WITH next AS MATERIALIZED (
    SELECT change, workspace, document_id FROM index_changes ORDER BY is_refill, change
    LIMIT %(limit)s FOR UPDATE SKIP LOCKED
)
SELECT change, workspace, document_id FROM next
WHERE pg_try_advisory_xact_lock(%(lock)s, hashtext(workspace || ':' || coalesce(document_id::text, '')))
ORDER BY change
"""
_DONE = "DELETE FROM index_changes WHERE change = ANY(%s)"
# Eight bytes of a digest tell two contents apart as well as all of them, where nobody means to mistake them.
VERSION = "substr(sha256(sparsevec_send(s.weights) || coalesce(halfvec_send(v.embedding), ''::bytea)), 1, 8)"
_SEGMENTS = f"""
SELECT s.document_id, s.segment_index, {VERSION}, sparsevec_send(s.weights), halfvec_send(v.embedding)
FROM {OWN_SEGMENTS} AS s LEFT JOIN {OWN_VECTORS} AS v
    ON v.workspace = %(workspace)s AND v.document_id = s.document_id AND v.segment_index = s.segment_index
WHERE s.workspace = %(workspace)s AND s.document_id = ANY(%(documents)s)
    AND (s.document_id, s.segment_index) > (%(after)s, %(after_index)s)
ORDER BY s.document_id, s.segment_index LIMIT %(limit)s
"""
_FIRST = UUID(int=0), -1
VERSION_BYTES = Struct(">q")
_SPARSE = Struct(">iii")  # dimensions, number of terms, unused
_VECTOR = Struct(">hh")  # dimensions, unused


class IndexFiller:
    """Takes changes from the queue, for any number of processes at once."""

    def __init__(self, database: Database, milvus: Milvus) -> None:
        self._database = database
        self._milvus = milvus

    async def follow(self, index: SearchIndex) -> int:
        """Bring some documents up to date; return how many changes. Raises IndexUnavailable, DatabaseUnavailable."""
        async with self._database.connection() as connection, connection.transaction():
            found = await connection.execute(_CLAIM, {"limit": CHANGES_AT_ONCE, "lock": LOCK})
            claimed = await found.fetchall()
            for workspace in sorted({each[1] for each in claimed}):
                documents = {each[2] for each in claimed if each[1] == workspace}
                if None in documents:
                    await self._milvus.delete_workspace(index.collection, workspace)
                await self._follow_documents(connection, index, workspace, sorted(documents - {None}))
            await connection.execute(_DONE, [[each[0] for each in claimed]])
        return len(claimed)

    async def _follow_documents(
        self, connection: Connection, index: SearchIndex, workspace: int, documents: list[UUID]
    ) -> None:
        if not documents:
            return
        there = await self._milvus.versions(index.collection, workspace, documents)
        async for page in _segments(connection, workspace, documents):
            rows = [
                _row(segment, index.dimension)
                for segment in page
                if there.pop((str(segment[0]), segment[1]), None) != VERSION_BYTES.unpack(segment[2])[0]
            ]
            await self._milvus.write(index.collection, workspace, rows)
            INDEX_ROWS.labels("written").inc(len(rows))
        await self._milvus.delete(index.collection, workspace, there)
        INDEX_ROWS.labels("deleted").inc(len(there))


async def _segments(
    connection: Connection, workspace: int, documents: Sequence[UUID]
) -> AsyncIterator[list[tuple[Any, ...]]]:
    """Read the segments of documents, a page at a time; those of a workspace that is gone are none."""
    after, after_index = _FIRST
    while True:
        bound = {"workspace": workspace, "documents": documents, "after": after, "after_index": after_index}
        found = await connection.execute(_SEGMENTS, {**bound, "limit": SEGMENTS_AT_ONCE}, binary=True)
        page = await found.fetchall()
        if not page:
            return
        yield page
        after, after_index = page[-1][:2]


def _row(segment: tuple[Any, ...], dimension: int) -> Row:
    document_id, segment_index, version, weights, embedding = segment
    number: int = VERSION_BYTES.unpack(version)[0]
    return Row(str(document_id), segment_index, number, _words(weights), _vector(embedding, dimension))


def _words(packed: bytes) -> dict[int, float]:
    """Read a sparse vector as pgvector sends it: its indices count from 0, those of terms from 1."""
    _, count, _ = _SPARSE.unpack_from(packed)
    terms = np.frombuffer(packed, ">i4", count, _SPARSE.size) + 1
    weights = np.frombuffer(packed, ">f4", count, _SPARSE.size + 4 * count)
    return dict(zip(terms.tolist(), weights.tolist(), strict=True))


def _vector(packed: bytes | None, dimension: int) -> NDArray[np.float32]:
    """Read a vector as pgvector sends it; a segment without one, or with one of another model, is near to nothing."""
    if packed is None or _VECTOR.unpack_from(packed)[0] != dimension:
        return np.zeros(dimension, np.float32)
    return np.frombuffer(packed, ">f2", dimension, _VECTOR.size).astype(np.float32)
