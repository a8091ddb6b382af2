"""Maintenance after ingestion: count terms that have become common, and build vector indexes."""

from psycopg import sql

from tools.retrieval.indexing import lock_library
from tools.retrieval.partitions import ensure_view, partition_name, vectors_name
from tools.storage.database import Connection

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
