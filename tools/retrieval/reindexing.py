"""Re-embed every segment with another model, while search and ingestion continue, and weigh its terms anew if need be.

The new vectors are collected in a separate table, workspace by workspace; this takes most of the time and blocks
nobody. Then one transaction takes the write locks of all workspaces, embeds what was ingested meanwhile, swaps in the
new vectors and records the new model. Readers see the library of either the old or the new model. If the process is
interrupted before that transaction ends, the library is unchanged and the next attempt reuses the collected vectors.

A library that was made without pgvector gets its vectors so, too, once its server has the extension.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import LiteralString

from psycopg import errors, sql

from graph.errors import ConfigurationError, InvalidRequest, NotFound
from text.counted import counted
from tools.embeddings.embedder import Embedder
from tools.retrieval.indexing import maintain, new_version
from tools.retrieval.reweighing import weigh_all_anew
from tools.retrieval.search_sql import vector_as_text
from tools.storage.database import Connection, Database, has_vectors, only_one, value_of
from tools.storage.index_changes import begin_again, queue_all
from tools.storage.partitions import Place, ensure_view, find_place, lock_library

LOCK = 0x7265696E  # "rein", the advisory lock that allows one reindexing process at a time
PAGE = 128  # segments, which a slow encoder takes half a minute for: what is cut short loses no more
FIRST = ("00000000-0000-0000-0000-000000000000", -1)

Progress = Callable[[int, int], None]
Position = tuple[str, int]  # a document id and the index of a segment of it; pages are in their order
Elsewhere = Callable[[Sequence[int], Callable[[int], None]], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Reindexed:
    """The result: the model and dimension of all vectors, and how many segments there are."""

    model: str
    dimension: int
    segments: int


async def reindex(
    database: Database,
    embedder: Embedder,
    progress: Progress | None = None,
    *,
    elsewhere: Elsewhere | None = None,
) -> Reindexed:
    """Re-embed the whole library and record the embedder as its model; weigh terms anew that earlier rules weighed.

    ``progress`` is called with the number of embedded segments and their total. ``elsewhere`` embeds the pages of
    workspaces by other processes and reports how many segments each had; what it misses is embedded here.
    Processes that still use the old embedder search by words only if the dimension changed, and cannot ingest; those
    that were started without pgvector can do neither any more: restart them.

    Raises InvalidRequest if another reindex is running, ConfigurationError if the server has no pgvector,
    EmbeddingUnavailable, DatabaseUnavailable.
    """
    async with database.connection() as connection, only_one(connection, "%s", LOCK) as alone:
        if not alone:
            raise InvalidRequest("Another reindex is running.", suggestion="Wait for it to end.")
        if not database.has_vectors:
            await _create_extension(connection)
        model = name_of(embedder)
        await connection.execute("DELETE FROM reindexed_segments WHERE model <> %s", [model])
        workspaces = await _workspaces(connection)
        await weigh_all_anew(connection, workspaces)
        total = await value_of(connection, "SELECT coalesce(sum(segments), 0)::integer FROM library_statistics")
        done = 0

        def advance(embedded: int) -> None:
            nonlocal done
            done += embedded
            if progress is not None:
                progress(min(done, total), total)

        if elsewhere is not None:
            await elsewhere(workspaces, advance)
        for workspace in workspaces if elsewhere is None else ():
            async for embedded in _gather(connection, workspace, embedder, model):
                advance(embedded)
        for workspace in workspaces:
            await _drop_vector_indexes(connection, workspace, "DROP INDEX CONCURRENTLY IF EXISTS {}")
        segments = await _swap(connection, embedder, model)
        await connection.execute("TRUNCATE reindexed_segments")
        for workspace in workspaces:
            await maintain(connection, workspace)
    return Reindexed(embedder.model, embedder.dimension, segments)


@dataclass(frozen=True, slots=True)
class Gathered:
    """How far a reindex is: how many of all segments have their new vector, and whether a process is at work."""

    segments: int
    total: int
    is_running: bool

    def __str__(self) -> str:
        state = "is running" if self.is_running else "was interrupted"
        return f"A reindex {state}: {self.segments} of {counted(self.total, 'segment')} embedded"


async def gathered(connection: Connection, embedder: Embedder) -> Gathered | None:
    """Read how far a reindex to an embedder is; None where none has begun."""
    found = await connection.execute(_GATHERED, {"model": name_of(embedder), "lock": LOCK})
    row = await found.fetchone()
    return Gathered(*row) if row is not None and (row[0] or row[2]) else None


def name_of(embedder: Embedder) -> str:
    """Return what gathered vectors are filed under."""
    return f"{embedder.model}/{embedder.dimension}"


async def _swap(connection: Connection, embedder: Embedder, model: str) -> int:
    segments = 0
    async with connection.transaction():
        if not await has_vectors(connection):
            await _have_vectors(connection)
        async for place in _locked_libraries(connection):
            async for _ in _gather(connection, place.workspace, embedder, model):
                pass
            await _drop_vector_indexes(connection, place.workspace, "DROP INDEX IF EXISTS {}")
            for each in place.tables:
                replace = sql.SQL(_REPLACE).format(vectors=each.vectors, partition=each.segments)
                segments += (await connection.execute(replace, [place.workspace])).rowcount
            await new_version(connection, place.workspace)
        if await begin_again(connection, embedder.dimension):
            for workspace in await _workspaces(connection):
                await queue_all(connection, workspace)
        await connection.execute(_RECORD, {"model": embedder.model, "dimension": embedder.dimension})
    return segments


async def _have_vectors(connection: Connection) -> None:
    """Give the tables of a library that was made without pgvector the columns of one that was made with it."""
    places = [place async for place in _locked_libraries(connection)]
    for statement in _TO_VECTORS:
        await connection.execute(statement)
    for place in places:
        if place.own:
            await ensure_view(connection, place.workspace)


async def _gather(connection: Connection, workspace: int, embedder: Embedder, model: str) -> AsyncIterator[int]:
    """Embed the segments whose new vector is missing or outdated; yield the number of segments of each page."""
    place = FIRST
    while (page := await embed_page(connection, workspace, place, embedder, model)) is not None:
        embedded, place = page
        yield embedded


async def embed_page(
    connection: Connection, workspace: int, after: Position, embedder: Embedder, model: str
) -> tuple[int, Position] | None:
    """Embed the page of segments behind a place, as far as their new vectors are missing or outdated.

    It may be done twice. Returns the number of segments on the page and the place of the last, or None at the end.
    Raises EmbeddingUnavailable, DatabaseUnavailable.
    """
    document, index = after
    bound = {"workspace": workspace, "document": document, "index": index, "limit": PAGE, "model": model}
    found = await connection.execute(_PAGE, bound, prepare=False)
    rows = await found.fetchall()
    if not rows:
        return None
    stale = [row for row in rows if row[3] is not None]
    vectors = await embedder.embed([body for *_, body in stale])
    await connection.execute(
        _KEEP,
        {
            "workspace": workspace,
            "model": model,
            "documents": [row[0] for row in stale],
            "indexes": [row[1] for row in stale],
            "hashes": [row[2] for row in stale],
            "vectors": await asyncio.to_thread(lambda rows: [vector_as_text(row) for row in rows], vectors),
        },
    )
    return len(rows), (str(rows[-1][0]), rows[-1][1])


async def pages_of(connection: Connection, workspace: int) -> list[Position]:
    """Return the places behind which the pages of a workspace begin, as of now."""
    found = await connection.execute(_EVERY_PAGE, [workspace, PAGE])
    return [FIRST, *((str(document), index) for document, index in await found.fetchall())]


async def _workspaces(connection: Connection) -> list[int]:
    # Ordered, so that all processes take the locks in the same order.
    # One that is closed for a moment is among them, and refuses; those that are elsewhere are another database's.
    found = await connection.execute(
        "SELECT workspace FROM library_statistics"
        " WHERE workspace NOT IN (SELECT workspace FROM closed_workspaces WHERE state <> 'closed') ORDER BY workspace"
    )
    return [int(row[0]) for row in await found.fetchall()]


async def _locked_libraries(connection: Connection) -> AsyncIterator[Place]:
    """Lock the library of each workspace in turn, and yield where its segments are."""
    for workspace in await _workspaces(connection):
        try:
            place = await lock_library(connection, workspace)
        except NotFound:  # deleted since
            continue
        yield place


async def _drop_vector_indexes(connection: Connection, workspace: int, statement: LiteralString) -> None:
    # An index on the old dimension rejects the new vectors, and updating any index row by row is slow.
    place = await find_place(connection, workspace)
    tables = [] if place is None else [each.vectors.as_string() for each in place.tables]
    found = await connection.execute(_VECTOR_INDEXES, [tables])
    for (name,) in await found.fetchall():
        await connection.execute(sql.SQL(statement).format(sql.Identifier(name)))


_VECTOR_INDEXES = """
SELECT c.relname FROM pg_index AS i JOIN pg_class AS c ON c.oid = i.indexrelid JOIN pg_am AS a ON a.oid = c.relam
WHERE i.indrelid = ANY(%s::text[]::regclass[]) AND a.amname IN ('hnsw', 'ivfflat')
"""
_PAGE = """
WITH page AS MATERIALIZED (
    SELECT document_id, segment_index, body, hashtextextended(body, 0) AS body_hash FROM all_segments
    WHERE workspace = %(workspace)s AND (document_id, segment_index) > (%(document)s::uuid, %(index)s)
    ORDER BY document_id, segment_index LIMIT %(limit)s
)
SELECT p.document_id, p.segment_index, p.body_hash,
    CASE WHEN r.model = %(model)s AND r.body_hash = p.body_hash THEN NULL ELSE p.body END
FROM page AS p LEFT JOIN reindexed_segments AS r
    ON r.workspace = %(workspace)s AND r.document_id = p.document_id AND r.segment_index = p.segment_index
ORDER BY p.document_id, p.segment_index
"""
_GATHERED = """
SELECT (SELECT count(*) FROM reindexed_segments WHERE model = %(model)s)::integer,
    (SELECT coalesce(sum(segments), 0) FROM library_statistics)::integer,
    EXISTS (
        SELECT FROM pg_locks WHERE locktype = 'advisory' AND classid = 0 AND objid = %(lock)s AND objsubid = 1
            AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
    )
"""
_EVERY_PAGE = """
SELECT document_id, segment_index FROM (
    SELECT document_id, segment_index, row_number() OVER (ORDER BY document_id, segment_index) AS number
    FROM all_segments WHERE workspace = %s
) AS numbered WHERE number %% %s = 0 ORDER BY document_id, segment_index
"""
_KEEP = """
INSERT INTO reindexed_segments (workspace, document_id, segment_index, model, body_hash, embedding)
SELECT %(workspace)s, document_id, segment_index, %(model)s, body_hash, embedding::halfvec
FROM unnest(%(documents)s::uuid[], %(indexes)s::integer[], %(hashes)s::bigint[], %(vectors)s::text[])
    AS new (document_id, segment_index, body_hash, embedding)
ON CONFLICT (workspace, document_id, segment_index)
DO UPDATE SET model = excluded.model, body_hash = excluded.body_hash, embedding = excluded.embedding
"""
_REPLACE = """
INSERT INTO {vectors} (workspace, document_id, segment_index, embedding)
SELECT r.workspace, r.document_id, r.segment_index, r.embedding FROM reindexed_segments AS r
JOIN {partition} AS s
    ON s.workspace = r.workspace AND s.document_id = r.document_id AND s.segment_index = r.segment_index
WHERE r.workspace = %s
ON CONFLICT (workspace, document_id, segment_index) DO UPDATE SET embedding = excluded.embedding
"""
# From what migrations/__init__.py creates without pgvector to what it creates with it.
_TO_VECTORS: tuple[LiteralString, ...] = (
    "CREATE FUNCTION pg_temp.as_sparse(terms integer[], weights real[]) RETURNS text LANGUAGE sql IMMUTABLE AS"
    " $$ SELECT '{' || coalesce(string_agg(term || ':' || weight, ','), '') || '}/1000000000'"
    " FROM unnest(terms, weights) AS each (term, weight) $$",
    *(
        statement.format(table)
        for table in ("segments", "further_segments", "shared_segments")
        for statement in (
            "ALTER TABLE {} ALTER COLUMN weights TYPE sparsevec(1000000000)"
            " USING pg_temp.as_sparse(terms, weights)::sparsevec",
            "ALTER TABLE {} ALTER COLUMN weights SET STORAGE MAIN",
        )
    ),
    *(
        statement.format(table)
        for table in ("segment_vectors", "further_segment_vectors", "shared_segment_vectors")
        for statement in (
            "ALTER TABLE {} ALTER COLUMN embedding TYPE halfvec USING NULL::halfvec",
            "ALTER TABLE {} ALTER COLUMN embedding SET STORAGE PLAIN",
        )
    ),
)


async def _create_extension(connection: Connection) -> None:
    try:
        await connection.execute("CREATE EXTENSION IF NOT EXISTS vector")
        # Empty, or vectors already that an earlier attempt has gathered.
        await connection.execute(
            "ALTER TABLE reindexed_segments ALTER COLUMN embedding TYPE halfvec USING embedding::text::halfvec"
        )
    except _UNAVAILABLE as error:
        raise ConfigurationError(
            f"There are no vectors without pgvector, which can't be used: {str(error).splitlines()[0]}",
            suggestion="Install pgvector 0.7 or later on the database server, and run `CREATE EXTENSION vector` in "
            "this database, in a schema that search_path names.",
        ) from error


_UNAVAILABLE = (
    errors.FeatureNotSupported,
    errors.UndefinedFile,
    errors.InsufficientPrivilege,
    errors.UndefinedObject,
)
_RECORD = """
INSERT INTO embedding_models (model, dimension) VALUES (%(model)s, %(dimension)s)
ON CONFLICT (only_one) DO UPDATE SET model = excluded.model, dimension = excluded.dimension, recorded_at = now()
"""
