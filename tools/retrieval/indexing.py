"""Write segments into the library and delete them, and keep its statistics and indexes at the size it has grown to.

Terms and statistics change in the transaction of their segments.
"""

import asyncio
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import LiteralString
from uuid import UUID

import numpy as np
from numpy.typing import NDArray
from psycopg import sql

from graph.errors import NotFound
from tools.library.segmenting import SegmentSpan
from tools.retrieval.index_changes import QUEUE_CHANGES
from tools.retrieval.partitions import Place, ensure_view, partition_name, vectors_name
from tools.retrieval.segment_rows import (
    COPIED_SEGMENT_COLUMNS,
    COPIED_VECTOR_COLUMNS,
    HEADER,
    TRAILER,
    IndexedDocument,
    PackedDocument,
    TermCounts,
    packed_rows,
    vector_rows,
)
from tools.storage.database import Connection, has_vectors


def vector_as_text(vector: Sequence[float] | NDArray[np.float32]) -> str:
    """Write a vector as the literal of a halfvec."""
    return "[" + ",".join([f"{value:.5g}" for value in np.asarray(vector).tolist()]) + "]"


BATCH = 256  # rows prepared in a thread at a time


async def lock_library(conn: Connection, workspace: int) -> Place:
    """Wait until no other transaction changes the workspace's segments, and keep it so until this one ends.

    A transaction that also writes documents takes this first: two ingestions then wait for each other, and never both.
    Returns where the segments are, and stay until then. Raises NotFound where the workspace is gone.
    """
    found = await conn.execute("SELECT own_tables FROM library_statistics WHERE workspace = %s FOR UPDATE", [workspace])
    row = await found.fetchone()
    if row is None:
        raise NotFound(f"The workspace with the number {workspace} was deleted.")
    return Place(workspace, row[0])


async def new_version(conn: Connection, workspace: int) -> None:
    """Write the row that is the library's version, where a transaction changed nothing but its vectors."""
    await conn.execute("UPDATE library_statistics SET segments = segments WHERE workspace = %s", [workspace])


async def index_segments(
    conn: Connection,
    workspace: int,
    document_id: str,
    title: str,
    spans: Sequence[SegmentSpan],
    canonical_text: str,
    embeddings: NDArray[np.float32] | None,
) -> None:
    """Index the segments of one document, which has none in the library yet. See ``index_documents``."""
    await index_documents(conn, workspace, [IndexedDocument(document_id, title, spans, canonical_text, embeddings)])


async def index_documents(
    conn: Connection, workspace: int, documents: Sequence[IndexedDocument | PackedDocument]
) -> None:
    """Index the segments of many documents by one COPY, in one transaction with their statistics.

    The title counts among the terms of every segment, so a new title means indexing again. Within a transaction of
    the caller's it becomes part of that. Call ``maintenance.maintain`` afterwards. Raises UniqueViolation
    where a segment is indexed already, ValueError where a document's embeddings do not match its spans.
    """
    for document in documents:
        document.check()
    segments = sum(document.segments for document in documents)
    if segments == 0:
        return
    terms: list[TermCounts] = []
    async with conn.transaction():
        place = await lock_library(conn, workspace)
        await _copy(conn, place.segments, COPIED_SEGMENT_COLUMNS, _segments(workspace, documents, terms))
        if any(document.has_vectors for document in documents):
            await _copy(conn, place.vectors, COPIED_VECTOR_COLUMNS, _vectors(workspace, documents))
        await _add_counts(conn, workspace, terms)
        new = [document.document_id for document in documents if document.segments]
        await conn.execute(_ADD, {"workspace": workspace, "document_ids": new, "segments": segments})


async def drop_segments(conn: Connection, workspace: int, document_ids: Sequence[str]) -> int:
    """Take the segments of documents out of the library, and out of its statistics. Returns how many there were."""
    async with conn.transaction():
        place = await lock_library(conn, workspace)
        dropped = await conn.execute(
            sql.SQL(_DROP).format(partition=place.segments, vectors=place.vectors),
            {"workspace": workspace, "document_ids": list(document_ids)},
        )
        row = await dropped.fetchone()
        assert row is not None
        return int(row[0])


async def _copy(conn: Connection, table: sql.Identifier, columns: LiteralString, blocks: Iterator[bytes]) -> None:
    copy = sql.SQL("COPY {} ({}) FROM STDIN (FORMAT binary)").format(table, sql.SQL(columns))
    async with conn.cursor().copy(copy) as stream:
        await stream.write(HEADER)
        while block := await asyncio.to_thread(_join, blocks):
            await stream.write(block)
        await stream.write(TRAILER)


def _segments(
    workspace: int, documents: Sequence[IndexedDocument | PackedDocument], terms: list[TermCounts]
) -> Iterator[bytes]:
    for document in documents:
        if isinstance(document, PackedDocument):
            terms.append(document.terms)
            yield document.rows
        else:
            indexed: list[NDArray[np.int32]] = []
            yield from packed_rows(
                workspace,
                document.document_id,
                document.title,
                document.spans,
                document.canonical_text,
                indexed,
                vectors=document.has_vectors,
            )
            terms.append(TermCounts.of(indexed))


def _vectors(workspace: int, documents: Sequence[IndexedDocument | PackedDocument]) -> Iterator[bytes]:
    for document in documents:
        if isinstance(document, PackedDocument):
            yield document.vectors
            continue
        if document.embeddings is None:
            continue
        for start in range(0, len(document.spans), BATCH):
            part = slice(start, start + BATCH)
            yield vector_rows(workspace, UUID(document.document_id), start, document.embeddings[part])


def _join(blocks: Iterator[bytes]) -> bytes:
    return b"".join(islice(blocks, BATCH))


async def _add_counts(conn: Connection, workspace: int, counts: Sequence[TermCounts]) -> None:
    """Count the new segments under those terms that are counted; which ones are is maintain's business."""
    new = TermCounts.summed(counts)
    await conn.execute(
        "UPDATE term_statistics AS s SET segments = s.segments + new.segments"
        " FROM unnest(%s::integer[], %s::integer[]) AS new (term, segments)"
        " WHERE s.workspace = %s AND s.term = new.term",
        [new.terms.tolist(), new.segments.tolist(), workspace],
    )


# In one statement with their count, so that a queue costs no round trip.
_ADD = (
    "WITH queued AS ("
    + QUEUE_CHANGES.format(workspace="%(workspace)s", documents="unnest(%(document_ids)s::uuid[]) AS document_id")
    + """)
UPDATE library_statistics SET segments = segments + %(segments)s,
    documents = documents + cardinality(%(document_ids)s::uuid[]) WHERE workspace = %(workspace)s
"""
)
_DROP = (
    """
WITH gone AS (
    DELETE FROM {partition} WHERE workspace = %(workspace)s AND document_id = ANY(%(document_ids)s::uuid[])
    RETURNING document_id, terms
), vectors AS (
    DELETE FROM {vectors} WHERE workspace = %(workspace)s AND document_id = ANY(%(document_ids)s::uuid[])
), fewer AS (
    SELECT term, count(*)::integer AS segments FROM gone, unnest(terms) AS term GROUP BY term
), counted AS (
    UPDATE term_statistics AS s SET segments = s.segments - fewer.segments
    FROM fewer WHERE s.workspace = %(workspace)s AND s.term = fewer.term
), total AS (
    SELECT count(*)::integer AS segments, count(DISTINCT document_id)::integer AS documents FROM gone
), less AS (
    UPDATE library_statistics AS l SET segments = l.segments - total.segments,
        documents = l.documents - total.documents FROM total WHERE l.workspace = %(workspace)s
), queued AS ("""
    + QUEUE_CHANGES.format(workspace="%(workspace)s", documents="(SELECT DISTINCT document_id FROM gone) AS gone")
    + """)
SELECT segments FROM total
"""
)


COMMON = 200  # segments that hold a term before it is counted in a table rather than by the index
GROWTH = 1.25  # of the library since the last count, before terms are looked through again
VECTOR_INDEX_SEGMENTS = 40_000  # below, reading every vector is exact, and as fast as an index of recall 0.99
BUILD_MEMORY = "256MB"


async def maintain(conn: Connection, workspace: int, *, index_vectors_above: int = VECTOR_INDEX_SEGMENTS) -> None:
    """Bring a workspace's indexes and statistics to the size it has grown to. Cheap where it has not grown.

    The indexes of the shared tables are all workspaces', and no single one's to keep.
    Call it after ingestion, on an autocommit connection outside of a transaction: the vector index is built while
    search and other ingestions go on.
    """
    found = await conn.execute(
        "SELECT segments, counted_at, own_tables FROM library_statistics WHERE workspace = %s", [workspace]
    )
    row = await found.fetchone()
    if row is None:
        return
    segments, counted_at, own = row
    has_grown = segments > GROWTH * max(counted_at, COMMON)
    if not own:
        if has_grown:
            await _count_common_terms(conn, workspace)
        return
    place = Place(workspace, own=True)
    await conn.execute(
        "SELECT gin_clean_pending_list(i.indexrelid) FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid"
        " JOIN pg_am a ON a.oid = c.relam WHERE i.indrelid = %s::regclass AND a.amname = 'gin'",
        [partition_name(workspace)],
    )
    if has_grown:
        await _count_common_terms(conn, workspace)
        # Beside the planner's statistics this marks pages that everybody sees, which are read faster.
        await conn.execute(sql.SQL("VACUUM (ANALYZE) {}, {}").format(place.segments, place.vectors))
    if not await has_vectors(conn):
        return
    found = await conn.execute(sql.SQL("SELECT vector_dims(embedding) FROM {} LIMIT 1").format(place.vectors))
    row = await found.fetchone()
    if row is None:
        return
    await ensure_view(conn, place, row[0])
    if segments > index_vectors_above:
        await _ensure_vector_index(conn, workspace, place.vectors, row[0])


async def _count_common_terms(conn: Connection, workspace: int) -> None:
    async with conn.transaction():
        place = await lock_library(conn, workspace)
        await conn.execute("SELECT set_config('work_mem', %s, true)", [BUILD_MEMORY])
        await conn.execute("DELETE FROM term_statistics WHERE workspace = %s", [workspace])
        await conn.execute(
            sql.SQL(
                "INSERT INTO term_statistics SELECT workspace, term, count(*) FROM {}, unnest(terms) AS term"
                " WHERE workspace = %s GROUP BY workspace, term HAVING count(*) >= %s"
            ).format(place.segments),
            [workspace, COMMON],
        )
        await conn.execute("UPDATE library_statistics SET counted_at = segments WHERE workspace = %s", [workspace])


async def _ensure_vector_index(conn: Connection, workspace: int, vectors: sql.Identifier, dimension: int) -> None:
    name = f"{vectors_name(workspace)}_hnsw"
    locked = await conn.execute("SELECT pg_try_advisory_lock(hashtext(%s))", [name])
    row = await locked.fetchone()
    if row is None or not row[0]:
        return  # another process builds it
    try:
        found = await conn.execute("SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass(%s)", [name])
        row = await found.fetchone()
        if row is not None and row[0]:
            return
        if row is not None:  # a build that was cut short
            await conn.execute(sql.SQL("DROP INDEX CONCURRENTLY {}").format(sql.Identifier(name)))
        await conn.execute("SELECT set_config('maintenance_work_mem', %s, false)", [BUILD_MEMORY])
        await conn.execute(
            sql.SQL(
                "CREATE INDEX CONCURRENTLY {} ON {} USING hnsw ((embedding::halfvec({})) halfvec_cosine_ops)"
                " WITH (m = 16, ef_construction = 128)"
            ).format(sql.Identifier(name), vectors, sql.Literal(dimension))
        )
    finally:
        await conn.execute("RESET maintenance_work_mem")
        await conn.execute("SELECT pg_advisory_unlock(hashtext(%s))", [name])
