"""Write segments into the library and delete them, and keep its statistics and indexes at the size it has grown to.

Terms and statistics change in the transaction of their segments.
"""

import asyncio
import logging
import math
from collections.abc import Collection, Sequence
from contextlib import suppress
from typing import LiteralString

import numpy as np
from psycopg import errors, sql

from text.terms import term_of
from tools.retrieval.segment_rows import HEADER, TRAILER, PackedDocument, TermCounts
from tools.retrieval.term_counting import COMMON, count_common_terms
from tools.storage.database import Connection, has_vectors, only_one, value_of
from tools.storage.index_changes import QUEUE_CHANGES
from tools.storage.partitions import (
    MOST_LOOKS,
    SEGMENT_COLUMNS,
    VECTOR_COLUMNS,
    Place,
    Tables,
    ensure_view,
    find_place,
    lock_library,
    partition_name,
    room_for,
    vectors_name,
)

log = logging.getLogger(__name__)

__all__ = ["COMMON", "drop_segments", "forget_segments", "index_documents", "index_terms_anew", "maintain"]


async def new_version(conn: Connection, workspace: int) -> None:
    """Write the row that is the library's version, for a change of vectors alone, or a document that is back."""
    await conn.execute("UPDATE library_statistics SET segments = segments WHERE workspace = %s", [workspace])


async def index_documents(
    conn: Connection,
    workspace: int,
    documents: Sequence[PackedDocument],
    *,
    part_segments: int | None = None,
) -> None:
    """Index the segments of many documents by one COPY, in one transaction with their statistics.

    The title counts among the terms of every segment, so a new title means indexing again. They go to a part of the
    workspace that has room for them below ``part_segments``, by default ``PART_SEGMENTS``, to a new one where none has.
    Within a transaction of the caller's it becomes part of that. Call ``maintenance.maintain`` afterwards. Raises
    UniqueViolation where a segment is indexed already.
    """
    segments = sum(document.segments for document in documents)
    if segments == 0:
        return
    async with conn.transaction():
        place = await room_for(conn, await lock_library(conn, workspace), segments, part_segments)
        new = [document.document_id for document in documents if document.segments]
        await _refuse_doubled(conn, place, new)
        tables = place.tables[place.emptiest]
        await _copy(conn, tables.segments, SEGMENT_COLUMNS, [document.rows for document in documents])
        vectors = [document.vectors for document in documents if document.vectors]
        if vectors:
            await _copy(conn, tables.vectors, VECTOR_COLUMNS, vectors)
        await _add_counts(conn, workspace, [document.terms for document in documents])
        await add_words(conn, workspace, set().union(*(document.words for document in documents)))
        in_part = _COUNT_IN_PART.format(place.emptiest + 1) if place.parts > 1 else ""
        added = {"workspace": workspace, "document_ids": new, "segments": segments}
        await conn.execute(_ADD.format(in_part=in_part), added)


async def drop_segments(conn: Connection, workspace: int, document_ids: Sequence[str]) -> int:
    """Take the segments of documents out of the library, and out of its statistics. Returns how many there were."""
    async with conn.transaction():
        place = await lock_library(conn, workspace)
        named = {"workspace": workspace, "document_ids": list(document_ids)}
        return int(await value_of(conn, _dropping(place.tables), named))


async def forget_segments(conn: Connection, workspace: int, document_ids: Sequence[str]) -> int:
    """Drop the segments of documents as ``drop_segments`` does, and the words that no other segment has.

    It takes time for each word, so a document that another version replaces leaves its old words, which nobody is told.
    """
    async with conn.transaction():
        place = await lock_library(conn, workspace)
        bound = {"workspace": workspace, "document_ids": list(document_ids)}
        words = sql.SQL(_WORDS.format(segments=place.read.segments))
        bound["words"] = [word for (word,) in await (await conn.execute(words, bound)).fetchall()]
        dropped = await drop_segments(conn, workspace, document_ids)
        await conn.execute(sql.SQL(_FORGET.format(indexed=place.read.indexed, term_key=place.read.term_key)), bound)
        return dropped


async def index_terms_anew(conn: Connection, workspace: int, document: PackedDocument) -> None:
    """Index a document by other terms, such as those of another title; its segments keep the vectors that they have."""
    async with conn.transaction():
        place = await lock_library(conn, workspace)
        if await has_vectors(conn):
            statement = sql.SQL(_VECTORS.format(vectors=place.read.vectors))
            found = await conn.execute(statement, [workspace, document.document_id])
            vectors = [embedding for (embedding,) in await found.fetchall()]
            if len(vectors) == document.segments:  # else they are still to be made
                document = document.with_vectors(workspace, np.asarray(vectors, np.float32))
        await drop_segments(conn, workspace, [document.document_id])
        await index_documents(conn, workspace, [document])


_VECTORS: LiteralString = """
SELECT embedding::real[] FROM {vectors} AS v
WHERE v.workspace = %s AND v.document_id = %s::uuid AND v.embedding IS NOT NULL ORDER BY v.segment_index
"""


async def _refuse_doubled(conn: Connection, place: Place, document_ids: Sequence[str]) -> None:
    """Raise UniqueViolation where a document is in the library: the key of a part tells nothing of the others."""
    if place.parts == 1:
        return
    one = "SELECT document_id FROM {} AS s WHERE s.workspace = %s AND s.document_id = ANY(%s::uuid[]) LIMIT 1"
    statement = sql.SQL(one).format(sql.SQL(place.read.segments))
    if (doubled := await value_of(conn, statement, [place.workspace, list(document_ids)])) is not None:
        raise errors.UniqueViolation(f"The segments of the document {doubled} are indexed already.")


async def _copy(conn: Connection, table: sql.Identifier, columns: LiteralString, blocks: Sequence[bytes]) -> None:
    copy = sql.SQL("COPY {} ({}) FROM STDIN (FORMAT binary)").format(table, sql.SQL(columns))
    async with conn.cursor().copy(copy) as stream:
        await stream.write(HEADER)
        await stream.write(await asyncio.to_thread(b"".join, blocks))
        await stream.write(TRAILER)


async def add_words(conn: Connection, workspace: int, words: Collection[str]) -> None:
    """Add words to a library's vocabulary."""
    # As two texts: psycopg escapes a list word by word, which took longer than to insert them. No word has a space.
    listed = sorted(" ".join(words).split())
    new = {"workspace": workspace, "words": " ".join(listed), "terms": " ".join(str(term_of(word)) for word in listed)}
    await conn.execute(_ADD_WORDS, new)


_ADD_WORDS = """
INSERT INTO vocabulary (workspace, word, term)
SELECT %(workspace)s, word, term
FROM unnest(string_to_array(%(words)s, ' '), string_to_array(%(terms)s, ' ')::integer[]) AS new (word, term)
ON CONFLICT DO NOTHING
"""


_WORDS: LiteralString = """
SELECT v.word FROM vocabulary AS v WHERE v.workspace = %(workspace)s AND v.term IN (
    SELECT unnest(terms) FROM {segments} AS s
    WHERE s.workspace = %(workspace)s AND s.document_id = ANY(%(document_ids)s::uuid[])
)
"""
_FORGET: LiteralString = """
DELETE FROM vocabulary AS v WHERE v.workspace = %(workspace)s AND v.word = ANY(%(words)s::text[])
    AND NOT EXISTS (SELECT FROM {indexed} @> ARRAY[{term_key}v.term])
"""


async def _add_counts(conn: Connection, workspace: int, counts: Sequence[TermCounts]) -> None:
    """Count the new segments under those terms that are counted; which ones are is maintain's business.

    Impact keys are counted with all terms alone: they are many, and searches need no more than their shares.
    """
    new = TermCounts.summed(counts)
    terms, segments = (f"{{{','.join(map(str, each.tolist()))}}}" for each in (new.terms, new.segments))
    await conn.execute(_ADD_COUNTS, {"workspace": workspace, "terms": terms, "segments": segments})


_ADD_COUNTS = """
WITH noted AS (
    INSERT INTO term_changes (workspace, terms, segments)
    SELECT workspace, %(terms)s::integer[], %(segments)s::integer[] FROM library_statistics
    WHERE workspace = %(workspace)s AND recounting
)
UPDATE term_statistics AS s SET segments = s.segments + new.segments
FROM unnest(%(terms)s::integer[], %(segments)s::integer[]) AS new (term, segments)
WHERE s.workspace = %(workspace)s AND s.term = new.term
"""
# In one statement with their count, so that a queue costs no round trip.
_ADD: LiteralString = (
    "WITH queued AS ("
    + QUEUE_CHANGES.format(workspace="%(workspace)s", documents="unnest(%(document_ids)s::uuid[]) AS document_id")
    + """)
UPDATE library_statistics SET segments = segments + %(segments)s,{in_part}
    documents = documents + cardinality(%(document_ids)s::uuid[]) WHERE workspace = %(workspace)s
"""
)
_COUNT_IN_PART: LiteralString = " part_segments[{0}] = part_segments[{0}] + %(segments)s,"
_OF_DOCUMENTS: LiteralString = "WHERE workspace = %(workspace)s AND document_id = ANY(%(document_ids)s::uuid[])"
_DROP_PART: LiteralString = f"""gone_{{place}} AS (
    DELETE FROM {{segments}} {_OF_DOCUMENTS} RETURNING document_id, terms
), vectors_{{place}} AS (
    DELETE FROM {{vectors}} {_OF_DOCUMENTS}
), """
_DROP: LiteralString = (
    """
WITH {parts} gone AS (
    {gone}
), fewer AS (
    SELECT term, count(*)::integer AS segments FROM gone, unnest(terms) AS term WHERE term > 0 GROUP BY term
), noted AS (
    INSERT INTO term_changes (workspace, terms, segments)
    SELECT %(workspace)s, array_agg(term), array_agg(-segments) FROM fewer
    WHERE (SELECT recounting FROM library_statistics WHERE workspace = %(workspace)s) HAVING count(*) > 0
), counted AS (
    UPDATE term_statistics AS s SET segments = s.segments - fewer.segments
    FROM fewer WHERE s.workspace = %(workspace)s AND s.term = fewer.term
), total AS (
    SELECT count(*)::integer AS segments, count(DISTINCT document_id)::integer AS documents FROM gone
), less AS (
    UPDATE library_statistics AS l SET segments = l.segments - total.segments,
        documents = l.documents - total.documents, part_segments = (
            SELECT array_agg(before - coalesce(fewer, 0) ORDER BY place)
            FROM unnest(l.part_segments) WITH ORDINALITY AS part (before, place)
            LEFT JOIN (SELECT place, count(*)::integer AS fewer FROM gone GROUP BY place) AS lost USING (place)
        ) FROM total WHERE l.workspace = %(workspace)s
), queued AS ("""
    + QUEUE_CHANGES.format(workspace="%(workspace)s", documents="(SELECT DISTINCT document_id FROM gone) AS gone")
    + """)
SELECT segments FROM total
"""
)


def _dropping(tables: Sequence[Tables]) -> sql.Composed:
    parts = [
        sql.SQL(_DROP_PART).format(place=sql.SQL(str(place)), segments=each.segments, vectors=each.vectors)
        for place, each in enumerate(tables, start=1)
    ]
    gone = [
        sql.SQL("SELECT document_id, terms, {place} AS place FROM gone_{place}").format(place=sql.SQL(str(place)))
        for place in range(1, len(tables) + 1)
    ]
    return sql.SQL(_DROP).format(parts=sql.SQL("").join(parts), gone=sql.SQL(" UNION ALL ").join(gone))


GROWTH = 1.25  # of the library since the last count, before terms are looked through again
VECTOR_INDEX_SEGMENTS = 40_000  # below, reading every vector is exact, and as fast as an index of recall 0.99
GRAPH_BYTES = 370  # of a vector's place in the graph, beside its numbers of two bytes
ROOM = 1.2  # of what an index takes, that building it takes in memory
GROUPING_BYTES = 1_000  # a segment, that counting its terms takes in memory
LEAST_MEGABYTES = 64
MOST_MEGABYTES = 1024  # of the database server, where its own maintenance_work_mem is no more than that
BUILD_WORKERS = 2  # processes of the database beside the one that builds
SECONDS = 0.0012  # a segment, that building took on two busy cores where memory sufficed


def _memory(needed: float, most: int = MOST_MEGABYTES) -> str:
    """Return what to give to a build that needs so many bytes, as PostgreSQL reads it."""
    return f"{min(max(math.ceil(needed / 1e6), LEAST_MEGABYTES), most)}MB"


def counting_memory(segments: int) -> str:
    """Return what to give to a count of the terms of so many segments, as PostgreSQL reads it."""
    return _memory(segments * GROUPING_BYTES)


async def maintain(conn: Connection, workspace: int, *, index_vectors_above: int = VECTOR_INDEX_SEGMENTS) -> None:
    """Bring a workspace's indexes and statistics to the size it has grown to. Cheap where it has not grown.

    The indexes of the shared tables are all workspaces', and no single one's to keep.
    Call it after ingestion, on an autocommit connection outside of a transaction: the vector index is built while
    search and other ingestions go on. Where the workspace moves to other tables meanwhile, these are kept instead.
    """
    for _ in range(MOST_LOOKS - 1):
        with suppress(errors.UndefinedTable):
            return await _maintain(conn, workspace, index_vectors_above)
    return await _maintain(conn, workspace, index_vectors_above)


async def _maintain(conn: Connection, workspace: int, index_vectors_above: int) -> None:
    place = await find_place(conn, workspace)
    found = await conn.execute(
        "SELECT segments, counted_at, reltuples < 0 FROM library_statistics, pg_class"
        " WHERE workspace = %s AND oid = 'documents'::regclass",
        [workspace],
    )
    row = await found.fetchone()
    if row is None or place is None:
        return
    segments, counted_at, is_unknown = row
    if is_unknown:  # else a search would look documents up by any index of the workspace, until autovacuum comes by
        await conn.execute("ANALYZE documents")
    has_grown, memory = segments > GROWTH * max(counted_at, COMMON), counting_memory(segments)
    if not place.own:
        if has_grown:
            await count_common_terms(conn, workspace, memory=memory)
        return
    await conn.execute(
        "SELECT gin_clean_pending_list(i.indexrelid) FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid"
        " JOIN pg_am a ON a.oid = c.relam WHERE i.indrelid = ANY(%s::text[]::regclass[]) AND a.amname = 'gin'",
        [[partition_name(workspace, part) for part in range(place.parts)]],
    )
    if has_grown:
        await count_common_terms(conn, workspace, memory=memory)
        # Beside the planner's statistics this marks pages that everybody sees, which are read faster.
        for each in place.tables:
            await conn.execute(sql.SQL("VACUUM (ANALYZE) {}, {}").format(each.segments, each.vectors))
    if await has_vectors(conn):
        await _maintain_vectors(conn, place, index_vectors_above)


async def _maintain_vectors(conn: Connection, place: Place, index_above: int) -> None:
    statement = sql.SQL("SELECT vector_dims(embedding) FROM {} AS v LIMIT 1").format(sql.SQL(place.read.vectors))
    dimension = await value_of(conn, statement)
    if dimension is None:
        return
    await ensure_view(conn, place.workspace, dimension)
    for part, held in enumerate(place.filled):
        if held > index_above:
            await _ensure_vector_index(conn, vectors_name(place.workspace, part), held, dimension)


async def _ensure_vector_index(conn: Connection, vectors: str, segments: int, dimension: int) -> None:
    name = f"{vectors}_hnsw"
    async with only_one(conn, "hashtext(%s)", name) as alone:
        valid = await value_of(conn, "SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass(%s)", [name])
        if valid or not alone:  # another process builds it
            return
        if valid is not None:  # a build that was cut short
            await conn.execute(sql.SQL("DROP INDEX CONCURRENTLY {}").format(sql.Identifier(name)))
        of_server = await value_of(conn, "SELECT pg_size_bytes(current_setting('maintenance_work_mem')) / 1000000")
        most = max(MOST_MEGABYTES, of_server or 0)
        # In which it is built fast; beyond its memory pgvector goes on row by row on disk.
        needed = segments * (2 * dimension + GRAPH_BYTES) * ROOM
        log.info(
            "Building the vector index of %d segments with %s of memory for the %d MB that it takes: about %d min%s",
            segments,
            _memory(needed, most),
            needed / 1e6,
            math.ceil(segments * SECONDS / 60),
            "" if needed <= most * 1e6 else ", and several times that for want of memory",
        )
        try:
            await conn.execute(
                "SELECT set_config('maintenance_work_mem', %s, false),"
                " set_config('max_parallel_maintenance_workers', %s, false)",
                [_memory(needed, most), str(BUILD_WORKERS)],
            )
            await conn.execute(
                sql.SQL(
                    "CREATE INDEX CONCURRENTLY {} ON {} USING hnsw ((embedding::halfvec({})) halfvec_cosine_ops)"
                    " WITH (m = 16, ef_construction = 128)"
                ).format(sql.Identifier(name), sql.Identifier(vectors), sql.Literal(dimension))
            )
        finally:
            await conn.execute("RESET maintenance_work_mem")
            await conn.execute("RESET max_parallel_maintenance_workers")
