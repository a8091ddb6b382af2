"""Count the common terms of a workspace, and give impact keys to segments of earlier releases, while it changes.

The count reads a snapshot and takes no lock. Whoever changes segments meanwhile notes what that changes
(``term_changes``); a change that the snapshot shows is counted already, the others are added under a short lock.
"""

from typing import LiteralString
from uuid import UUID

from psycopg import sql

from text.terms import IMPACT_LEVELS, IMPACT_SPACE, IMPACT_STEP, LEAST_IMPACT
from tools.storage.database import Connection, has_vectors, only_one, value_of
from tools.storage.partitions import find_place, lock_library, partition_name

COMMON = 200  # segments that hold a term before it is counted in a table rather than by the index
DOCUMENTS_AT_ONCE = 50  # that get impact keys in one transaction


async def count_common_terms(conn: Connection, workspace: int, *, memory: str) -> bool:
    """Count the terms of all segments, and keep those that ``COMMON`` segments hold, exactly.

    Ingestion and search go on. Needs an autocommit connection. Returns False where another process counts.
    ``memory`` is PostgreSQL's for the grouping, which goes on in files where it does not suffice.
    """
    async with only_one(conn, "hashtext('term counting'), %s", workspace) as alone:
        if not alone:
            return False
        try:
            await _start_noting(conn, workspace)
            async with conn.transaction():
                await conn.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
                await conn.execute("SELECT set_config('work_mem', %s, true)", [memory])
                place = await find_place(conn, workspace)  # where the snapshot has them
                if place is None:
                    return False
                for statement in _COUNT:
                    count = sql.SQL(statement.format(segments=place.read.segments))
                    await conn.execute(count, {"workspace": workspace})
            async with conn.transaction():
                await lock_library(conn, workspace)
                for statement in _REPLACE:
                    await conn.execute(statement, {"workspace": workspace, "common": COMMON})
            return True
        finally:
            if not conn.closed:
                await conn.execute("DROP TABLE IF EXISTS pg_temp.counted_terms, pg_temp.counted_changes")


async def _start_noting(conn: Connection, workspace: int) -> None:
    """Let every change from here on be noted; a count that was cut short may have left some."""
    async with conn.transaction():
        await lock_library(conn, workspace)
        await conn.execute("DELETE FROM term_changes WHERE workspace = %s", [workspace])
        await conn.execute("UPDATE library_statistics SET recounting = true WHERE workspace = %s", [workspace])


_COUNT: tuple[LiteralString, ...] = (
    "CREATE TEMP TABLE counted_terms AS SELECT term, count(*) AS segments FROM {segments} AS s, unnest(s.terms) AS term"
    " GROUP BY term",
    "CREATE TEMP TABLE counted_changes AS SELECT change_id FROM term_changes WHERE workspace = %(workspace)s",
)
_REPLACE: tuple[LiteralString, ...] = (
    "DELETE FROM term_statistics WHERE workspace = %(workspace)s",
    """
    WITH later AS (
        SELECT term, sum(each.segments) AS segments
        FROM term_changes AS c CROSS JOIN LATERAL unnest(c.terms, c.segments) AS each (term, segments)
        WHERE c.workspace = %(workspace)s AND c.change_id NOT IN (SELECT change_id FROM counted_changes)
        GROUP BY term
    )
    INSERT INTO term_statistics (workspace, term, segments)
    SELECT %(workspace)s, term, coalesce(c.segments, 0) + coalesce(l.segments, 0)
    FROM counted_terms AS c FULL JOIN later AS l USING (term)
    WHERE coalesce(c.segments, 0) + coalesce(l.segments, 0) >= %(common)s
    """,
    "DELETE FROM term_changes WHERE workspace = %(workspace)s",
    "UPDATE library_statistics SET counted_at = segments, recounting = false WHERE workspace = %(workspace)s",
)


async def add_missing_impacts(conn: Connection, workspace: int) -> bool:
    """Give impact keys to the segments of earlier releases, some documents a transaction; return whether any lacked.

    It goes on where it was cut short. Count the terms afterwards, then ``have_impacts``: until then searches do
    without. Needs an autocommit connection.
    """
    levels = _LEVELS if await has_vectors(conn) else _LEVELS_IN_ARRAYS
    statement = sql.SQL(_ADD).format(
        partition=sql.Identifier(partition_name(workspace)),
        weighed=sql.SQL(levels),
        least=sql.Literal(LEAST_IMPACT),
        step=sql.Literal(IMPACT_STEP),
        count=sql.Literal(IMPACT_LEVELS),
        space=sql.Literal(IMPACT_SPACE),
        first=sql.Literal(UUID(int=0)),
    )
    lacked = False
    while True:
        async with conn.transaction():
            await lock_library(conn, workspace)
            if await value_of(conn, statement, {"workspace": workspace, "documents": DOCUMENTS_AT_ONCE}) is None:
                return lacked
        lacked = True


async def have_impacts(conn: Connection, workspace: int) -> None:
    """Let searches use the impact keys, which all segments have now."""
    await conn.execute("UPDATE library_statistics SET impacts_from = NULL WHERE workspace = %s", [workspace])


# Both read a segment's terms and weights; the weights of an array are in the order of its first terms.
_LEVELS: LiteralString = """
    SELECT split_part(pair, ':', 1)::bigint AS term, split_part(pair, ':', 2)::real AS weight
    FROM string_to_table(trim(split_part(s.weights::text, '/', 1), '{{}}'), ',') AS pair WHERE pair <> ''"""
_LEVELS_IN_ARRAYS: LiteralString = (
    "SELECT term::bigint, weight FROM unnest(s.terms, s.weights) AS each (term, weight) WHERE weight IS NOT NULL"
)
_ADD: LiteralString = """
WITH batch AS MATERIALIZED (
    SELECT DISTINCT s.document_id FROM library_statistics AS l JOIN {partition} AS s ON s.document_id > l.impacts_from
    WHERE l.workspace = %(workspace)s AND s.workspace = %(workspace)s ORDER BY s.document_id LIMIT %(documents)s
), added AS (
    UPDATE {partition} AS s SET terms = s.terms || ARRAY(
        SELECT (-1 - (term * {count} + least(trunc((weight - {least}::real) / {step}::real)::integer, {count} - 1))
            %% {space})::integer
        FROM ({weighed}) AS weighed WHERE weight >= {least}::real ORDER BY term
    )
    WHERE s.workspace = %(workspace)s AND s.document_id IN (SELECT document_id FROM batch UNION ALL SELECT {first})
        AND NOT s.terms[cardinality(s.terms)] < 0
), reached AS (
    SELECT document_id FROM batch ORDER BY document_id DESC LIMIT 1
)
UPDATE library_statistics SET impacts_from = (SELECT document_id FROM reached)
WHERE workspace = %(workspace)s AND EXISTS (SELECT 1 FROM reached) RETURNING impacts_from
"""
