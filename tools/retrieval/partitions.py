"""Make and drop the partition that holds a workspace's segments, without making readers wait."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from psycopg import errors, sql

from graph.errors import NotFound
from tools.database import Connection

# Rows are inline up to here: weights and vectors are read by the hundred, and fetching them from TOAST costs more.
TOAST_TARGET = 4080


def partition_name(workspace: int) -> str:
    """Name the table that holds a workspace's segments."""
    return f"segments_{workspace:d}"


def view_name(workspace: int) -> str:
    """Name the view of what the whole workspace may read of its segments."""
    return f"library_{workspace:d}"


@asynccontextmanager
async def existing_partition(workspace_name: str) -> AsyncIterator[None]:
    """Say NotFound where the partition that a statement reads is gone, as after a deletion by another process."""
    try:
        yield
    except errors.UndefinedTable as error:
        raise NotFound(f"There is no workspace named {workspace_name!r} any more.") from error


async def create_partition(conn: Connection, workspace: int) -> None:
    """Make the partition of a workspace; nothing happens where it exists.

    ``PARTITION OF`` would wait for every reader of the library; a table made apart and attached does not.
    """
    name, check = sql.Identifier(partition_name(workspace)), sql.Identifier(f"segments_{workspace:d}_workspace")
    async with conn.transaction():
        await conn.execute("SELECT pg_advisory_xact_lock(hashtext('library partitions'))")
        found = await conn.execute("SELECT to_regclass(%s) IS NOT NULL", [partition_name(workspace)])
        row = await found.fetchone()
        if row is not None and row[0]:
            return
        await conn.execute(
            sql.SQL("CREATE TABLE {} (LIKE segments INCLUDING ALL) WITH (toast_tuple_target = {})").format(
                name, sql.Literal(TOAST_TARGET)
            )
        )
        # The constraint spares ATTACH the scan, and is of no use after it.
        await conn.execute(
            sql.SQL("ALTER TABLE {} ADD CONSTRAINT {} CHECK (workspace = {})").format(
                name, check, sql.Literal(workspace)
            )
        )
        await conn.execute(
            sql.SQL("ALTER TABLE segments ATTACH PARTITION {} FOR VALUES IN ({})").format(name, sql.Literal(workspace))
        )
        await conn.execute(sql.SQL("ALTER TABLE {} DROP CONSTRAINT {}").format(name, check))
        await ensure_view(conn, workspace)
        await conn.execute("INSERT INTO library_statistics (workspace) VALUES (%s) ON CONFLICT DO NOTHING", [workspace])


async def ensure_view(conn: Connection, workspace: int, dimension: int | None = None) -> None:
    """Make the view of a workspace's segments that are for everybody, their vectors of the given dimension.

    The vector index is on vectors of one dimension, and the table takes any: the view has to name it as the index does.
    """
    view = sql.Identifier(view_name(workspace))
    vectors = sql.SQL("halfvec") if dimension is None else sql.SQL("halfvec({})").format(sql.Literal(dimension))
    async with conn.transaction():
        found = await conn.execute(
            "SELECT format_type(atttypid, atttypmod) FROM pg_attribute"
            " WHERE attrelid = to_regclass(%s) AND attname = 'embedding'",
            [view_name(workspace)],
        )
        row = await found.fetchone()
        if row is not None and row[0] == vectors.as_string():
            return
        await conn.execute(sql.SQL("DROP VIEW IF EXISTS {}").format(view))
        await conn.execute(
            sql.SQL(_VIEW).format(
                view=view,
                vectors=vectors,
                workspace=sql.Literal(workspace),
                partition=sql.Identifier(partition_name(workspace)),
            )
        )


_VIEW = """
CREATE VIEW {view} AS
SELECT s.document_id || ':' || s.segment_index AS segment_id, s.body AS content, s.embedding::{vectors} AS embedding,
    s.document_id::text, s.segment_index, s.start_offset, s.end_offset, s.page_idx, s.heading,
    d.title, d.slug, d.url, d.source_type
FROM {partition} AS s JOIN documents AS d ON d.workspace = {workspace} AND d.document_id = s.document_id
WHERE d.owner IS NULL AND d.deleted_at IS NULL AND (d.expires_at IS NULL OR d.expires_at > now())
"""


async def drop_partition(conn: Connection, workspace: int) -> None:
    """Drop a workspace's segments and what was counted of them. Safe to repeat where it was cut short.

    Needs an autocommit connection outside of a transaction: a concurrent detach commits half-way, so that readers of
    other workspaces go on.
    """
    name = sql.Identifier(partition_name(workspace))
    await conn.execute(sql.SQL("DROP VIEW IF EXISTS {}").format(sql.Identifier(view_name(workspace))))
    try:
        await conn.execute(sql.SQL("ALTER TABLE segments DETACH PARTITION {} CONCURRENTLY").format(name))
    except errors.ObjectNotInPrerequisiteState:  # an earlier detach was cut short
        await conn.execute(sql.SQL("ALTER TABLE segments DETACH PARTITION {} FINALIZE").format(name))
    except (errors.UndefinedTable, errors.WrongObjectType):
        pass  # never made, or detached before
    async with conn.transaction():
        await conn.execute(sql.SQL("DROP TABLE IF EXISTS {}").format(name))
        await conn.execute("DELETE FROM term_statistics WHERE workspace = %s", [workspace])
        await conn.execute("DELETE FROM library_statistics WHERE workspace = %s", [workspace])
