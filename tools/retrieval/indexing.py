"""Write segments into the library and delete them, and keep its statistics and indexes at the size it has grown to.

Terms and statistics change in the transaction of their segments. Rows are written in PostgreSQL's binary COPY format,
several times faster than dumping each value by its type.
"""

import asyncio
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from struct import Struct
from typing import LiteralString
from uuid import UUID

import numpy as np
from numpy.typing import NDArray
from psycopg import sql

from text.terms import TermVector, weigh_segment
from tools.library.segmenting import SegmentSpan
from tools.library.structure import named_and_around, pack_blocks
from tools.retrieval.partitions import ensure_view, partition_name, vectors_name
from tools.storage.database import Connection

COPIED_SEGMENT_COLUMNS = (
    "workspace, segment_index, document_id, start_offset, end_offset, page_idx, tokens, weights, terms, heading, body,"
    " structure"
)
COPIED_VECTOR_COLUMNS = "workspace, segment_index, document_id, embedding"
HEADER = b"PGCOPY\n\xff\r\n\0" + bytes(8)
TRAILER = b"\xff\xff"
SPARSE_DIMENSIONS = 1_000_000_000
INTEGER_OID = 23

_FIXED = Struct(">h iiii i16s iiii")  # field count; workspace, segment_index, document_id, start_offset, end_offset
_VECTOR = Struct(">h ii ii i16s ihh")
_INTEGER = Struct(">ii")
_LENGTH = Struct(">i")
_SPARSE = Struct(">iiii")
_ARRAY = Struct(">iiiiii")
_NULL = _LENGTH.pack(-1)
_JSONB = b"\x01"  # the version of its binary format
_SEGMENT_FIELDS = 12
_VECTOR_FIELDS = 4


def segment_row(workspace: int, document_id: UUID, span: SegmentSpan, terms: TermVector, body: str) -> bytes:
    """Lay out a segment in the order of ``SEGMENT_COLUMNS``."""
    count = len(terms.ids)
    ids = terms.ids.astype(">i4")
    elements = np.empty((count, 2), ">i4")
    elements[:, 0] = 4
    elements[:, 1] = ids
    heading, text = span.heading.encode(), body.encode()
    structure = json.dumps(pack_blocks(span.blocks), ensure_ascii=False, separators=(",", ":")).encode()
    return b"".join((
        _FIXED.pack(
            _SEGMENT_FIELDS, 4, workspace, 4, span.segment_index, 16, document_id.bytes, 4, span.start, 4, span.end
        ),
        _NULL if span.page_idx is None else _INTEGER.pack(4, span.page_idx),
        _INTEGER.pack(4, span.tokens),
        # Indices of a sparse vector count from 0 on the wire and from 1 in text.
        _SPARSE.pack(12 + 8 * count, SPARSE_DIMENSIONS, count, 0), (ids - 1).astype(">i4").tobytes(),
        terms.weights.astype(">f4").tobytes(),
        _ARRAY.pack(20 + 8 * count, 1, 0, INTEGER_OID, count, 1) if count else _EMPTY_ARRAY, elements.tobytes(),
        _LENGTH.pack(len(heading)), heading, _LENGTH.pack(len(text)), text,
        _LENGTH.pack(1 + len(structure)), _JSONB, structure,
    ))  # fmt: skip


def vector_rows(
    workspace: int, document_id: UUID, spans: Sequence[SegmentSpan], embeddings: NDArray[np.float32]
) -> bytes:
    """Lay out vectors, shape (segments, dimension), rounded to halfs, as ``VECTOR_COLUMNS`` orders them."""
    halves = embeddings.astype(">f2")
    dimension = halves.shape[1] if len(halves) else 0
    rows = [
        _VECTOR.pack(
            _VECTOR_FIELDS, 4, workspace, 4, span.segment_index, 16, document_id.bytes, 4 + 2 * dimension, dimension, 0
        )
        + vector.tobytes()
        for span, vector in zip(spans, halves, strict=True)
    ]
    return b"".join(rows)


_EMPTY_ARRAY = Struct(">iiii").pack(12, 0, 0, INTEGER_OID)


def vector_as_text(vector: Sequence[float] | NDArray[np.float32]) -> str:
    """Write a vector as the literal of a halfvec."""
    return "[" + ",".join([f"{value:.5g}" for value in np.asarray(vector).tolist()]) + "]"


BATCH = 256  # rows prepared in a thread at a time


@dataclass(frozen=True, slots=True)
class IndexedDocument:
    """A document to index. ``embeddings`` has shape (len(spans), dimension), normalised."""

    document_id: str
    title: str
    spans: Sequence[SegmentSpan]
    canonical_text: str
    embeddings: NDArray[np.float32]


async def lock_library(conn: Connection, workspace: int) -> None:
    """Wait until no other transaction changes the workspace's segments, and keep it so until this one ends.

    A transaction that also writes documents takes this first: two ingestions then wait for each other, and never both.
    """
    await conn.execute("SELECT 1 FROM library_statistics WHERE workspace = %s FOR UPDATE", [workspace])


async def index_segments(
    conn: Connection,
    workspace: int,
    document_id: str,
    title: str,
    spans: Sequence[SegmentSpan],
    canonical_text: str,
    embeddings: NDArray[np.float32],
) -> None:
    """Index the segments of one document, which has none in the library yet. See ``index_documents``."""
    await index_documents(conn, workspace, [IndexedDocument(document_id, title, spans, canonical_text, embeddings)])


async def index_documents(conn: Connection, workspace: int, documents: Sequence[IndexedDocument]) -> None:
    """Index the segments of many documents by one COPY, in one transaction with their statistics.

    The title counts among the terms of every segment, so a new title means indexing again. Within a transaction of
    the caller's it becomes part of that. Call ``maintenance.maintain`` afterwards. Raises UniqueViolation
    where a segment is indexed already, ValueError where a document's embeddings do not match its spans.
    """
    if any(len(document.spans) != len(document.embeddings) for document in documents):
        raise ValueError("every span needs exactly one embedding")
    segments = sum(len(document.spans) for document in documents)
    if segments == 0:
        return
    terms: list[NDArray[np.int32]] = []
    async with conn.transaction():
        await lock_library(conn, workspace)
        await _copy(conn, partition_name(workspace), COPIED_SEGMENT_COLUMNS, _segments(workspace, documents, terms))
        await _copy(conn, vectors_name(workspace), COPIED_VECTOR_COLUMNS, _vectors(workspace, documents))
        await _add_counts(conn, workspace, terms)
        await conn.execute(
            "UPDATE library_statistics SET segments = segments + %s, documents = documents + %s WHERE workspace = %s",
            [segments, sum(1 for document in documents if document.spans), workspace],
        )


async def drop_segments(conn: Connection, workspace: int, document_ids: Sequence[str]) -> int:
    """Take the segments of documents out of the library, and out of its statistics. Returns how many there were."""
    async with conn.transaction():
        await lock_library(conn, workspace)
        dropped = await conn.execute(
            sql.SQL(_DROP).format(
                partition=sql.Identifier(partition_name(workspace)), vectors=sql.Identifier(vectors_name(workspace))
            ),
            {"workspace": workspace, "document_ids": list(document_ids)},
        )
        row = await dropped.fetchone()
        assert row is not None
        return int(row[0])


async def _copy(conn: Connection, table: str, columns: LiteralString, blocks: Iterator[bytes]) -> None:
    copy = sql.SQL("COPY {} ({}) FROM STDIN (FORMAT binary)").format(sql.Identifier(table), sql.SQL(columns))
    async with conn.cursor().copy(copy) as stream:
        await stream.write(HEADER)
        while block := await asyncio.to_thread(_join, blocks):
            await stream.write(block)
        await stream.write(TRAILER)


def _segments(
    workspace: int, documents: Sequence[IndexedDocument], indexed: list[NDArray[np.int32]]
) -> Iterator[bytes]:
    for document in documents:
        document_id = UUID(document.document_id)
        for span in document.spans:
            body = document.canonical_text[span.start : span.end]
            named, around = named_and_around(span.blocks, span.start, span.end, document.canonical_text)
            terms = weigh_segment(body, title=document.title, heading=span.heading, named=named, around=around)
            indexed.append(terms.ids)
            yield segment_row(workspace, document_id, span, terms, body)


def _vectors(workspace: int, documents: Sequence[IndexedDocument]) -> Iterator[bytes]:
    for document in documents:
        for start in range(0, len(document.spans), BATCH):
            part = slice(start, start + BATCH)
            yield vector_rows(workspace, UUID(document.document_id), document.spans[part], document.embeddings[part])


def _join(blocks: Iterator[bytes]) -> bytes:
    return b"".join(islice(blocks, BATCH))


async def _add_counts(conn: Connection, workspace: int, indexed: Sequence[NDArray[np.int32]]) -> None:
    """Count the new segments under those terms that are counted; which ones are is maintain's business."""
    terms, segments = np.unique(np.concatenate(indexed), return_counts=True)
    await conn.execute(
        "UPDATE term_statistics AS s SET segments = s.segments + new.segments"
        " FROM unnest(%s::integer[], %s::integer[]) AS new (term, segments)"
        " WHERE s.workspace = %s AND s.term = new.term",
        [terms.tolist(), segments.tolist(), workspace],
    )


_DROP = """
WITH gone AS (
    DELETE FROM {partition} WHERE document_id = ANY(%(document_ids)s::uuid[]) RETURNING document_id, terms
), vectors AS (
    DELETE FROM {vectors} WHERE document_id = ANY(%(document_ids)s::uuid[])
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
)
SELECT segments FROM total
"""


COMMON = 200  # segments that hold a term before it is counted in a table rather than by the index
GROWTH = 1.25  # of the library since the last count, before terms are looked through again
VECTOR_INDEX_SEGMENTS = 40_000  # below, reading every vector is exact, and as fast as an index of recall 0.99
BUILD_MEMORY = "256MB"


async def maintain(conn: Connection, workspace: int, *, index_vectors_above: int = VECTOR_INDEX_SEGMENTS) -> None:
    """Bring a workspace's indexes and statistics to the size it has grown to. Cheap where it has not grown.

    Call it after ingestion, on an autocommit connection outside of a transaction: the vector index is built while
    search and other ingestions go on.
    """
    found = await conn.execute("SELECT segments, counted_at FROM library_statistics WHERE workspace = %s", [workspace])
    row = await found.fetchone()
    if row is None:
        return
    segments, counted_at = row
    partition, vectors = sql.Identifier(partition_name(workspace)), sql.Identifier(vectors_name(workspace))
    await conn.execute(
        "SELECT gin_clean_pending_list(i.indexrelid) FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid"
        " JOIN pg_am a ON a.oid = c.relam WHERE i.indrelid = %s::regclass AND a.amname = 'gin'",
        [partition_name(workspace)],
    )
    if segments > GROWTH * max(counted_at, COMMON):
        await _count_common_terms(conn, workspace, partition)
        # Beside the planner's statistics this marks pages that everybody sees, which are read faster.
        await conn.execute(sql.SQL("VACUUM (ANALYZE) {}, {}").format(partition, vectors))
    found = await conn.execute(sql.SQL("SELECT vector_dims(embedding) FROM {} LIMIT 1").format(vectors))
    row = await found.fetchone()
    if row is None:
        return
    await ensure_view(conn, workspace, row[0])
    if segments > index_vectors_above:
        await _ensure_vector_index(conn, workspace, vectors, row[0])


async def _count_common_terms(conn: Connection, workspace: int, partition: sql.Identifier) -> None:
    async with conn.transaction():
        await lock_library(conn, workspace)
        await conn.execute("SELECT set_config('work_mem', %s, true)", [BUILD_MEMORY])
        await conn.execute("DELETE FROM term_statistics WHERE workspace = %s", [workspace])
        await conn.execute(
            sql.SQL(
                "INSERT INTO term_statistics SELECT %s, term, count(*) FROM {}, unnest(terms) AS term"
                " GROUP BY term HAVING count(*) >= %s"
            ).format(partition),
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
