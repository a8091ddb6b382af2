"""Put segments into the library and take them out, their terms and statistics in the same transaction."""

import asyncio
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import LiteralString
from uuid import UUID

import numpy as np
from numpy.typing import NDArray
from psycopg import sql

from tools.database import Connection
from tools.retrieval.copying import HEADER, SEGMENT_COLUMNS, TRAILER, VECTOR_COLUMNS, segment_row, vector_rows
from tools.retrieval.partitions import partition_name, vectors_name
from tools.segmenting import SegmentSpan
from tools.terms import weigh_segment

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
    counts: Counter[int] = Counter()
    async with conn.transaction():
        await lock_library(conn, workspace)
        await _copy(conn, partition_name(workspace), SEGMENT_COLUMNS, _segments(workspace, documents, counts))
        await _copy(conn, vectors_name(workspace), VECTOR_COLUMNS, _vectors(workspace, documents))
        await _add_counts(conn, workspace, counts)
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


def _segments(workspace: int, documents: Sequence[IndexedDocument], counts: Counter[int]) -> Iterator[bytes]:
    for document in documents:
        document_id = UUID(document.document_id)
        for span in document.spans:
            body = document.canonical_text[span.start : span.end]
            terms = weigh_segment(body, title=document.title, heading=span.heading)
            counts.update(terms.ids.tolist())
            yield segment_row(workspace, document_id, span, terms, body)


def _vectors(workspace: int, documents: Sequence[IndexedDocument]) -> Iterator[bytes]:
    for document in documents:
        for start in range(0, len(document.spans), BATCH):
            part = slice(start, start + BATCH)
            yield vector_rows(workspace, UUID(document.document_id), document.spans[part], document.embeddings[part])


def _join(blocks: Iterator[bytes]) -> bytes:
    return b"".join(islice(blocks, BATCH))


async def _add_counts(conn: Connection, workspace: int, counts: Counter[int]) -> None:
    """Count the new segments under those terms that are counted; which ones are is maintain's business."""
    await conn.execute(
        "UPDATE term_statistics AS s SET segments = s.segments + new.segments"
        " FROM unnest(%s::integer[], %s::integer[]) AS new (term, segments)"
        " WHERE s.workspace = %s AND s.term = new.term",
        [list(counts.keys()), list(counts.values()), workspace],
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
