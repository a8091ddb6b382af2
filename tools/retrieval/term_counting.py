"""Count the common terms of a workspace while it changes.

The count reads a snapshot and takes no lock. Whoever changes segments meanwhile notes what that changes
(``term_changes``); a change that the snapshot shows is counted already, the others are added under a short lock.
"""

from typing import LiteralString

from psycopg import sql

from text.terms import TERMS_VERSION
from tools.storage.database import Connection, only_one
from tools.storage.partitions import find_place, lock_library

COMMON = 200  # segments that hold a term before it is counted in a table rather than by the index


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
                    await conn.execute(statement, {"workspace": workspace, "common": COMMON, "rules": TERMS_VERSION})
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
    # Searches use the impact keys once all segments have them, which is known of these rules, and they are counted.
    """
    UPDATE library_statistics SET counted_at = segments, recounting = false,
        impacts_from = CASE WHEN terms_version < %(rules)s THEN impacts_from END
    WHERE workspace = %(workspace)s
    """,
)
