"""Where a workspace's segments are: in partitions of its own, or in tables that small workspaces share.

Partitions are created and dropped without blocking readers. docs/adr/0033 says why there are both. The partition of a
large workspace is the first of several parts, each of bounded size with indexes of its own; docs/adr/0035 says why.
"""

import logging
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import LiteralString

from psycopg import Error, errors, sql

from graph.errors import NotFound
from tools.storage.database import Connection, has_vectors, value_of
from tools.storage.index_changes import queue_deleted_workspace

# In the order in which they are copied. A table of another release may have them in another order, and the table of a
# further part has one more: what moves or joins rows of several tables names them.
SEGMENT_COLUMNS: LiteralString = (
    "workspace, segment_index, document_id, start_offset, end_offset, page_idx, tokens, weights, terms, heading, body,"
    " structure"
)
VECTOR_COLUMNS: LiteralString = "workspace, segment_index, document_id, embedding"


log = logging.getLogger(__name__)

# Rows are inline up to here: weights and vectors are read by the hundred, and fetching them from TOAST costs more.
TOAST_TARGET = 4080
SHARED_SEGMENTS = "shared_segments"
SHARED_VECTORS = "shared_segment_vectors"
MOST_LOOKS = 10  # for a workspace that moves to other tables while something is done with it
PART_SEGMENTS = 1_000_000  # of a workspace's part, before the next one is opened
# Of library_statistics AS l: another one after each transaction that changed segments or vectors, for all of them write
# this row. A number of segments stands in the middle.
LIBRARY_VERSION: LiteralString = "l.xmin::text || ':' || l.segments || ':' || l.documents"


def partition_name(workspace: int, part: int = 0) -> str:
    """Name the table that holds a part of a workspace's segments; the first is 0, and mostly the only one."""
    return f"segments_{workspace:d}" + (f"_{part:d}" if part else "")


def vectors_name(workspace: int, part: int = 0) -> str:
    """Name the table that holds the vectors of a part of a workspace's segments."""
    return f"segment_vectors_{workspace:d}" + (f"_{part:d}" if part else "")


def view_name(workspace: int) -> str:
    """Name the view of what the whole workspace may read of its segments."""
    return f"library_{workspace:d}"


@dataclass(frozen=True, slots=True)
class Tables:
    """A table of segments and that of their vectors; statements say whose rows they mean, as others may be in them."""

    segments: sql.Identifier
    vectors: sql.Identifier


@dataclass(frozen=True, slots=True)
class Place:
    """Where the segments of a workspace are: ``own`` says whether in ``parts`` of its own, or in the shared tables.

    ``filled`` has the number of segments of each part, as of when it was looked up in the library.
    """

    workspace: int
    own: bool
    parts: int = 1
    filled: tuple[int, ...] = field(default=(), compare=False)

    @property
    def tables(self) -> list[Tables]:
        """The tables of each part, the first one first."""
        if not self.own:
            return [Tables(sql.Identifier(SHARED_SEGMENTS), sql.Identifier(SHARED_VECTORS))]
        return [
            Tables(
                sql.Identifier(partition_name(self.workspace, part)), sql.Identifier(vectors_name(self.workspace, part))
            )
            for part in range(self.parts)
        ]

    @property
    def emptiest(self) -> int:
        """The part that has the most room."""
        return self.filled.index(min(self.filled))

    @property
    def read(self) -> "ReadTables":
        """How a statement reads it."""
        return ReadTables.of(self.workspace if self.own else None, self.parts)


def joined(names: Sequence[str], columns: str) -> str:
    """Return what stands after FROM to read several tables of the same columns as one."""
    if len(names) == 1:
        return names[0]
    return "(" + " UNION ALL ".join(f"SELECT {columns} FROM {name}" for name in names) + ")"


def _all_of(tables: Sequence[sql.Identifier], columns: str) -> sql.SQL:
    return sql.SQL(joined([each.as_string() for each in tables], columns))


# All segments of workspaces with their own tables, and their vectors. They need an alias.
OWN_SEGMENTS = joined(("segments", "further_segments"), SEGMENT_COLUMNS)
OWN_VECTORS = joined(("segment_vectors", "further_segment_vectors"), VECTOR_COLUMNS)


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
    def of(cls, own: int | None, parts: int = 1) -> "ReadTables":
        """Return those of a workspace with so many parts of its own; None: of any workspace in the shared tables."""
        if own is not None:
            segments = joined([partition_name(own, part) for part in range(parts)], SEGMENT_COLUMNS)
            return cls(
                workspace=f"{own:d}",
                segments=segments,
                vectors=joined([vectors_name(own, part) for part in range(parts)], VECTOR_COLUMNS),
                indexed=f"{segments} AS indexed WHERE terms",
                term_key="",
                here=f"library_is_in({own:d}, true, {parts:d})",
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


def has_gone(error: Error) -> bool:
    """Whether a statement failed since its table had been dropped, or was dropped between its plan and its locks."""
    return isinstance(error, errors.UndefinedTable) or error.diag.source_function == "relation_open"


_PLACE: LiteralString = (
    "SELECT own_tables, coalesce(part_segments, ARRAY[segments]) FROM library_statistics WHERE workspace = %s"
)


async def find_place(conn: Connection, workspace: int) -> Place | None:
    """Return where a workspace's segments are, or None where there is no such workspace."""
    return _place(workspace, await (await conn.execute(_PLACE, [workspace])).fetchone())


async def lock_library(conn: Connection, workspace: int) -> Place:
    """Wait until no other transaction changes the workspace's segments, and keep it so until this one ends.

    A transaction that also writes documents takes this first: two ingestions then wait for each other, and never both.
    Returns where the segments are, and stay until then. Raises NotFound where the workspace is gone.
    """
    place = _place(workspace, await (await conn.execute(_PLACE + " FOR UPDATE", [workspace])).fetchone())
    if place is None:
        raise NotFound(f"The workspace with the number {workspace} was deleted.")
    return place


def _place(workspace: int, row: tuple[bool, list[int]] | None) -> Place | None:
    return None if row is None else Place(workspace, row[0], len(row[1]), tuple(row[1]))


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
        if await value_of(conn, "SELECT to_regclass(%s) IS NOT NULL", [partition_name(workspace)]):
            return
        await create_tables(conn, workspace)
        await attach_tables(conn, workspace)
        await conn.execute("INSERT INTO library_statistics (workspace) VALUES (%s) ON CONFLICT DO NOTHING", [workspace])
        await ensure_view(conn, workspace)


async def create_tables(conn: Connection, workspace: int, part: int = 0) -> None:
    """Make the tables of a workspace, or of a further part of it, which are no part of the library yet."""
    await _for_both(conn, workspace, part, _CREATE_FURTHER if part else _CREATE)


async def attach_tables(conn: Connection, workspace: int, part: int = 0) -> None:
    """Make the tables of a workspace, or of a further part of it, its partitions."""
    await _for_both(conn, workspace, part, _ATTACH_FURTHER if part else _ATTACH)


def _parents(workspace: int, part: int) -> tuple[tuple[str, str], tuple[str, str]]:
    """Return the name of each of a part's tables, and that of the table that it is a partition of."""
    further = "further_" if part else ""
    return (
        (partition_name(workspace, part), f"{further}segments"),
        (vectors_name(workspace, part), f"{further}segment_vectors"),
    )


async def _for_both(conn: Connection, workspace: int, part: int, statements: tuple[LiteralString, ...]) -> None:
    for name, parent in _parents(workspace, part):
        names = {
            "parent": sql.Identifier(parent),
            "name": sql.Identifier(name),
            "check": sql.Identifier(f"{name}_workspace"),
            "workspace": sql.Literal(workspace),
            "part": sql.Literal(part),
            "next_part": sql.Literal(part + 1),
            "target": sql.Literal(TOAST_TARGET),
        }
        for statement in statements:
            await conn.execute(sql.SQL(statement).format(**names))


async def room_for(conn: Connection, place: Place, segments: int, part_segments: int | None = None) -> Place:
    """Return the place with a part, its ``emptiest``, that has room for more segments; open one where none has.

    An empty part takes more than ``part_segments``, by default ``PART_SEGMENTS``, where they come at once. Within
    the transaction that holds the lock of the library. Readers that know of fewer parts look again: see
    ``ReadTables.here``.
    """
    least = min(place.filled)
    most = PART_SEGMENTS if part_segments is None else part_segments
    if not place.own or least == 0 or least + segments <= most:
        return place
    log.info(
        "Opening part %d of workspace %d, whose parts have %s segments", place.parts, place.workspace, place.filled
    )
    return await open_part(conn, place)


async def open_part(conn: Connection, place: Place) -> Place:
    """Open a further part, which is empty, within the transaction that holds the lock of the library."""
    opened = replace(place, parts=place.parts + 1, filled=(*place.filled, 0))
    await create_tables(conn, place.workspace, place.parts)
    await conn.execute(_OPEN, [list(opened.filled), place.workspace])
    await ensure_view(conn, place.workspace, anew=True)
    # Last, for it locks the parent tables against the opening of others.
    await attach_tables(conn, place.workspace, place.parts)
    return opened


async def ensure_view(conn: Connection, workspace: int, dimension: int | None = None, *, anew: bool = False) -> None:
    """Make the view of a workspace's segments that are for everybody, their vectors of the given dimension.

    The vector index is on vectors of one dimension, and the table takes any: the view has to name it as the index does.
    One that is made ``anew``, of other tables, keeps its dimension. Without pgvector there is no view; a workspace in
    the shared tables has one from when it is first asked for. Raises NotFound where the workspace is gone.
    """
    view = sql.Identifier(view_name(workspace))
    halfvec = sql.SQL("halfvec") if dimension is None else sql.SQL("halfvec({})").format(sql.Literal(dimension))
    if not await has_vectors(conn):
        return
    async with conn.transaction():
        known = await value_of(
            conn,
            "SELECT format_type(atttypid, atttypmod) FROM pg_attribute"
            " WHERE attrelid = to_regclass(%s) AND attname = 'embedding'",
            [view_name(workspace)],
        )
        if known is not None and anew:
            halfvec = sql.SQL(known)
        elif known == halfvec.as_string():
            return
        place = await lock_library(conn, workspace)
        await conn.execute(sql.SQL("DROP VIEW IF EXISTS {}").format(view))
        await conn.execute(
            sql.SQL(_VIEW).format(
                view=view,
                halfvec=halfvec,
                vectors=_all_of([each.vectors for each in place.tables], VECTOR_COLUMNS),
                workspace=sql.Literal(workspace),
                partition=_all_of([each.segments for each in place.tables], SEGMENT_COLUMNS),
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
_CREATE_FURTHER: tuple[LiteralString, ...] = (
    "CREATE TABLE {name} (LIKE {parent} INCLUDING ALL, PRIMARY KEY (workspace, document_id, segment_index))"
    " WITH (toast_tuple_target = {target})",
    # What is copied names no part.
    "ALTER TABLE {name} ALTER COLUMN part SET DEFAULT {part},"
    " ADD CONSTRAINT {check} CHECK (workspace = {workspace} AND part = {part})",
)
_ATTACH_FURTHER: tuple[LiteralString, ...] = (
    "ALTER TABLE {parent} ATTACH PARTITION {name} FOR VALUES FROM ({workspace}, {part}) TO ({workspace}, {next_part})",
    "ALTER TABLE {name} DROP CONSTRAINT {check}",
)
_OPEN: LiteralString = "UPDATE library_statistics SET part_segments = %s WHERE workspace = %s"
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
        for table in ("term_statistics", "term_changes", "vocabulary", SHARED_SEGMENTS, SHARED_VECTORS):
            await conn.execute(
                sql.SQL("DELETE FROM {} WHERE workspace = %s").format(sql.Identifier(table)), [workspace]
            )
        await conn.execute(sql.SQL("DROP VIEW IF EXISTS {}").format(sql.Identifier(view_name(workspace))))
    await drop_tables(conn, workspace)


async def drop_tables(conn: Connection, workspace: int) -> None:
    """Drop a workspace's own tables, if it has any, as ``drop_partition`` does."""
    found = await conn.execute(_PARTS_THERE, [partition_name(workspace), vectors_name(workspace)])
    for (part,) in await found.fetchall():
        for name, parent in _parents(workspace, part):
            if await value_of(conn, "SELECT to_regclass(%s)", [name]) is not None:
                await _detach(conn, sql.Identifier(parent), sql.Identifier(name))
                await conn.execute(sql.SQL("DROP TABLE IF EXISTS {}").format(sql.Identifier(name)))


# By their names, for what was cut short has left some, and the library no longer says how many.
_PARTS_THERE: LiteralString = """
SELECT DISTINCT coalesce(substring(relname::text FROM '_\\d+_(\\d+)$'), '0')::integer FROM pg_class
WHERE relkind = 'r' AND pg_table_is_visible(oid)
AND regexp_replace(relname::text, '^([a-z_]+_\\d+)_\\d+$', '\\1') IN (%s, %s) ORDER BY 1 DESC
"""


async def _detach(conn: Connection, parent: sql.Identifier, name: sql.Identifier) -> None:
    try:
        await conn.execute(sql.SQL("ALTER TABLE {} DETACH PARTITION {} CONCURRENTLY").format(parent, name))
    except errors.ObjectNotInPrerequisiteState:  # an earlier detach was cut short
        await conn.execute(sql.SQL("ALTER TABLE {} DETACH PARTITION {} FINALIZE").format(parent, name))
    except (errors.UndefinedTable, errors.WrongObjectType):
        pass  # never made, or detached before
