"""Create and drop the partition that holds a workspace's segments, without blocking readers."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import LiteralString

from psycopg import errors, sql

from graph.errors import NotFound
from tools.storage.database import Connection, has_vectors

# Rows are inline up to here: weights and vectors are read by the hundred, and fetching them from TOAST costs more.
TOAST_TARGET = 4080
# Of library_statistics AS l: another one after each transaction that changed segments or vectors, for all of them write
# this row. A number of segments stands in the middle.
LIBRARY_VERSION: LiteralString = "l.xmin::text || ':' || l.segments || ':' || l.documents"


def partition_name(workspace: int) -> str:
    """Name the table that holds a workspace's segments."""
    return f"segments_{workspace:d}"


def vectors_name(workspace: int) -> str:
    """Name the table that holds the vectors of a workspace's segments."""
    return f"segment_vectors_{workspace:d}"


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
    async with conn.transaction():
        await conn.execute("SELECT pg_advisory_xact_lock(hashtext('library partitions'))")
        found = await conn.execute("SELECT to_regclass(%s) IS NOT NULL", [partition_name(workspace)])
        row = await found.fetchone()
        if row is not None and row[0]:
            return
        for parent, name in (("segments", partition_name(workspace)), ("segment_vectors", vectors_name(workspace))):
            names = {
                "parent": sql.Identifier(parent),
                "name": sql.Identifier(name),
                "check": sql.Identifier(f"{name}_workspace"),
                "workspace": sql.Literal(workspace),
                "target": sql.Literal(TOAST_TARGET),
            }
            for statement in _CREATE:
                await conn.execute(sql.SQL(statement).format(**names))
        await ensure_view(conn, workspace)
        await conn.execute("INSERT INTO library_statistics (workspace) VALUES (%s) ON CONFLICT DO NOTHING", [workspace])


async def ensure_view(conn: Connection, workspace: int, dimension: int | None = None) -> None:
    """Make the view of a workspace's segments that are for everybody, their vectors of the given dimension.

    The vector index is on vectors of one dimension, and the table takes any: the view has to name it as the index does.
    Without pgvector there is no view.
    """
    view = sql.Identifier(view_name(workspace))
    halfvec = sql.SQL("halfvec") if dimension is None else sql.SQL("halfvec({})").format(sql.Literal(dimension))
    if not await has_vectors(conn):
        return
    async with conn.transaction():
        found = await conn.execute(
            "SELECT format_type(atttypid, atttypmod) FROM pg_attribute"
            " WHERE attrelid = to_regclass(%s) AND attname = 'embedding'",
            [view_name(workspace)],
        )
        row = await found.fetchone()
        if row is not None and row[0] == halfvec.as_string():
            return
        await conn.execute(sql.SQL("DROP VIEW IF EXISTS {}").format(view))
        await conn.execute(
            sql.SQL(_VIEW).format(
                view=view,
                halfvec=halfvec,
                vectors=sql.Identifier(vectors_name(workspace)),
                workspace=sql.Literal(workspace),
                partition=sql.Identifier(partition_name(workspace)),
            )
        )


# The constraint spares ATTACH the scan, and is of no use after it.
_CREATE: tuple[LiteralString, ...] = (
    "CREATE TABLE {name} (LIKE {parent} INCLUDING ALL) WITH (toast_tuple_target = {target})",
    "ALTER TABLE {name} ADD CONSTRAINT {check} CHECK (workspace = {workspace})",
    "ALTER TABLE {parent} ATTACH PARTITION {name} FOR VALUES IN ({workspace})",
    "ALTER TABLE {name} DROP CONSTRAINT {check}",
)
_VIEW = """
CREATE VIEW {view} AS
SELECT s.document_id || ':' || s.segment_index AS segment_id, s.body AS content, v.embedding::{halfvec} AS embedding,
    s.document_id::text, s.segment_index, s.start_offset, s.end_offset, s.page_idx, s.heading,
    d.title, d.slug, d.url, d.source_type
FROM {vectors} AS v
JOIN {partition} AS s
    ON s.workspace = {workspace} AND s.document_id = v.document_id AND s.segment_index = v.segment_index
JOIN documents AS d ON d.workspace = {workspace} AND d.document_id = v.document_id
WHERE d.owner IS NULL AND d.readers IS NULL AND d.deleted_at IS NULL AND (d.expires_at IS NULL OR d.expires_at > now())
"""


async def drop_partition(conn: Connection, workspace: int) -> None:
    """Drop a workspace's segments and what was counted of them. Safe to repeat where it was cut short.

    Needs an autocommit connection outside of a transaction: a concurrent detach commits half-way, so that readers of
    other workspaces go on.
    """
    await conn.execute(sql.SQL("DROP VIEW IF EXISTS {}").format(sql.Identifier(view_name(workspace))))
    for parent, name in (("segments", partition_name(workspace)), ("segment_vectors", vectors_name(workspace))):
        await _detach(conn, sql.Identifier(parent), sql.Identifier(name))
        await conn.execute(sql.SQL("DROP TABLE IF EXISTS {}").format(sql.Identifier(name)))
    async with conn.transaction():
        await conn.execute("DELETE FROM term_statistics WHERE workspace = %s", [workspace])
        await conn.execute("DELETE FROM term_changes WHERE workspace = %s", [workspace])
        await conn.execute("DELETE FROM library_statistics WHERE workspace = %s", [workspace])


async def _detach(conn: Connection, parent: sql.Identifier, name: sql.Identifier) -> None:
    try:
        await conn.execute(sql.SQL("ALTER TABLE {} DETACH PARTITION {} CONCURRENTLY").format(parent, name))
    except errors.ObjectNotInPrerequisiteState:  # an earlier detach was cut short
        await conn.execute(sql.SQL("ALTER TABLE {} DETACH PARTITION {} FINALIZE").format(parent, name))
    except (errors.UndefinedTable, errors.WrongObjectType):
        pass  # never made, or detached before
