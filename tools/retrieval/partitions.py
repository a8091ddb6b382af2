"""Where a workspace's segments are: in partitions of its own, or in tables that small workspaces share.

Partitions are created and dropped without blocking readers. docs/adr/0033 says why there are both.
"""

from dataclasses import dataclass
from typing import LiteralString

from psycopg import errors, sql

from graph.errors import NotFound
from tools.retrieval.index_changes import queue_deleted_workspace
from tools.storage.database import Connection, has_vectors

# Rows are inline up to here: weights and vectors are read by the hundred, and fetching them from TOAST costs more.
TOAST_TARGET = 4080
SHARED_SEGMENTS = "shared_segments"
SHARED_VECTORS = "shared_segment_vectors"
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


@dataclass(frozen=True, slots=True)
class Place:
    """Where the segments of a workspace are: ``own`` says whether in partitions of its own, or in the shared tables."""

    workspace: int
    own: bool

    @property
    def segments(self) -> sql.Identifier:
        """The table of its segments. A statement on it says whose rows it means: others may be in it, too."""
        return sql.Identifier(partition_name(self.workspace) if self.own else SHARED_SEGMENTS)

    @property
    def vectors(self) -> sql.Identifier:
        """The table of its vectors. A statement on it says whose rows it means: others may be in it, too."""
        return sql.Identifier(vectors_name(self.workspace) if self.own else SHARED_VECTORS)

    @property
    def read(self) -> "ReadTables":
        """How a statement reads it."""
        return ReadTables.of(self.workspace if self.own else None)


@dataclass(frozen=True, slots=True)
class ReadTables:
    """What stands in a statement that reads a workspace's segments. Nothing of it reaches another workspace.

    ``segments`` and ``vectors`` stand after FROM and need an alias. ``indexed`` does too, up to the operator of a
    condition on terms, each of which has ``term_key`` before it. ``here`` is a condition that every statement has:
    it fails with UndefinedTable where the workspace is elsewhere by now. In the shared tables ``workspace`` is the
    parameter of that name, so that all who share them share the plan of a statement.
    """

    workspace: str
    segments: str
    vectors: str
    indexed: str
    term_key: str
    here: str

    @classmethod
    def of(cls, own: int | None) -> "ReadTables":
        """Return those of a workspace with partitions of its own; None: of any workspace in the shared tables."""
        if own is not None:
            return cls(
                workspace=f"{own:d}",
                segments=partition_name(own),
                vectors=vectors_name(own),
                indexed=f"{partition_name(own)} WHERE terms",
                term_key="",
                here=f"library_is_in({own:d}, true)",
            )
        number = "%(workspace)s::integer"
        return cls(
            workspace=number,
            segments=f"(SELECT * FROM {SHARED_SEGMENTS} WHERE workspace = {number})",
            vectors=f"(SELECT * FROM {SHARED_VECTORS} WHERE workspace = {number})",
            indexed=f"{SHARED_SEGMENTS} WHERE tenant_terms(workspace, terms)",
            term_key=f"({number}::bigint << 32) + ",
            here=f"library_is_in({number}, false)",
        )


async def find_place(conn: Connection, workspace: int) -> Place | None:
    """Return where a workspace's segments are, or None where there is no such workspace."""
    found = await conn.execute("SELECT own_tables FROM library_statistics WHERE workspace = %s", [workspace])
    row = await found.fetchone()
    return None if row is None else Place(workspace, row[0])


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


async def share_tables(conn: Connection, workspaces: list[int]) -> None:
    """Give new workspaces room in the shared tables."""
    await conn.execute(
        "INSERT INTO library_statistics (workspace, own_tables) SELECT unnest(%s::integer[]), false", [workspaces]
    )


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
        await create_tables(conn, workspace)
        await attach_tables(conn, workspace)
        await ensure_view(conn, Place(workspace, own=True))
        await conn.execute("INSERT INTO library_statistics (workspace) VALUES (%s) ON CONFLICT DO NOTHING", [workspace])


async def create_tables(conn: Connection, workspace: int) -> None:
    """Make the tables of a workspace, which are no part of the library yet."""
    await _for_both(conn, workspace, _CREATE)


async def attach_tables(conn: Connection, workspace: int) -> None:
    """Make the tables of a workspace its partitions."""
    await _for_both(conn, workspace, _ATTACH)


async def _for_both(conn: Connection, workspace: int, statements: tuple[LiteralString, ...]) -> None:
    for parent, name in (("segments", partition_name(workspace)), ("segment_vectors", vectors_name(workspace))):
        names = {
            "parent": sql.Identifier(parent),
            "name": sql.Identifier(name),
            "check": sql.Identifier(f"{name}_workspace"),
            "workspace": sql.Literal(workspace),
            "target": sql.Literal(TOAST_TARGET),
        }
        for statement in statements:
            await conn.execute(sql.SQL(statement).format(**names))


async def ensure_view(conn: Connection, place: Place, dimension: int | None = None) -> None:
    """Make the view of a workspace's segments that are for everybody, their vectors of the given dimension.

    The vector index is on vectors of one dimension, and the table takes any: the view has to name it as the index does.
    Without pgvector there is no view; a workspace in the shared tables has one from when it is first asked for.
    """
    workspace = place.workspace
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
                vectors=place.vectors,
                workspace=sql.Literal(workspace),
                partition=place.segments,
            )
        )


# The constraint spares ATTACH the scan, and is of no use after it.
_CREATE: tuple[LiteralString, ...] = (
    "CREATE TABLE {name} (LIKE {parent} INCLUDING ALL) WITH (toast_tuple_target = {target})",
    "ALTER TABLE {name} ADD CONSTRAINT {check} CHECK (workspace = {workspace})",
)
_ATTACH: tuple[LiteralString, ...] = (
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
WHERE v.workspace = {workspace} AND d.owner IS NULL AND d.readers IS NULL AND d.deleted_at IS NULL
    AND (d.expires_at IS NULL OR d.expires_at > now())
"""


async def drop_partition(conn: Connection, workspace: int) -> None:
    """Drop a workspace's segments and what was counted of them. Safe to repeat where it was cut short.

    Needs an autocommit connection outside of a transaction: a concurrent detach commits half-way, so that readers of
    other workspaces go on.
    """
    async with conn.transaction():
        await queue_deleted_workspace(conn, workspace)
        # From here on whoever waits to change its segments finds that it is gone.
        await conn.execute("DELETE FROM library_statistics WHERE workspace = %s", [workspace])
        for table in ("term_statistics", "term_changes", SHARED_SEGMENTS, SHARED_VECTORS):
            await conn.execute(
                sql.SQL("DELETE FROM {} WHERE workspace = %s").format(sql.Identifier(table)), [workspace]
            )
        await conn.execute(sql.SQL("DROP VIEW IF EXISTS {}").format(sql.Identifier(view_name(workspace))))
    await drop_tables(conn, workspace)


async def drop_tables(conn: Connection, workspace: int) -> None:
    """Drop a workspace's own tables, if it has any, as ``drop_partition`` does."""
    for parent, name in (("segments", partition_name(workspace)), ("segment_vectors", vectors_name(workspace))):
        found = await (await conn.execute("SELECT to_regclass(%s)", [name])).fetchone()
        if found is not None and found[0] is not None:
            await _detach(conn, sql.Identifier(parent), sql.Identifier(name))
            await conn.execute(sql.SQL("DROP TABLE IF EXISTS {}").format(sql.Identifier(name)))


async def _detach(conn: Connection, parent: sql.Identifier, name: sql.Identifier) -> None:
    try:
        await conn.execute(sql.SQL("ALTER TABLE {} DETACH PARTITION {} CONCURRENTLY").format(parent, name))
    except errors.ObjectNotInPrerequisiteState:  # an earlier detach was cut short
        await conn.execute(sql.SQL("ALTER TABLE {} DETACH PARTITION {} FINALIZE").format(parent, name))
    except (errors.UndefinedTable, errors.WrongObjectType):
        pass  # never made, or detached before
