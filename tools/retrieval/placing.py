"""Move a workspace between the shared tables and partitions of its own, while it is searched and read.

A move is one transaction, which holds the lock that every change of the workspace's segments takes first: changes wait
for it, and what ends in its middle undoes all of it. Readers see the library before it or after. A statement that was
told the old place fails as one whose table is gone, and its caller looks the place up again: see ``Workspaces.read``.
"""

from contextlib import AbstractAsyncContextManager

from psycopg import sql

from graph.errors import InvalidRequest
from tools.storage.database import Connection, has_vectors, only_one, value_of
from tools.storage.index_changes import queue_all, queue_deleted_workspace
from tools.storage.partitions import (
    SEGMENT_COLUMNS,
    VECTOR_COLUMNS,
    Place,
    attach_tables,
    create_tables,
    drop_tables,
    ensure_view,
    find_place,
    lock_library,
    view_name,
)

OWN_TABLES_ABOVE = 2_000  # segments
LARGEST_SHARED = 20_000  # segments that are moved back into the shared tables, which all of their indexes are for


async def move_if_outgrown(conn: Connection, workspace: int) -> bool:
    """Give a workspace of more than ``OWN_TABLES_ABOVE`` segments tables of its own. Returns whether it was moved.

    Like ``maintain``, it needs an autocommit connection outside of a transaction.
    """
    segments = await value_of(
        conn, "SELECT segments FROM library_statistics WHERE workspace = %s AND NOT own_tables", [workspace]
    )
    return segments is not None and segments > OWN_TABLES_ABOVE and await give_own_tables(conn, workspace)


async def give_own_tables(conn: Connection, workspace: int) -> bool:
    """Move a workspace out of the shared tables. Returns False where it is not in them, or being moved already."""
    async with only_mover(conn, workspace) as alone:
        place = await find_place(conn, workspace)
        if not alone or place is None or place.own:
            return False
        await drop_tables(conn, workspace)  # which a move back that was cut short has emptied and left
        async with conn.transaction():
            shared, own = await lock_library(conn, workspace), Place(workspace, own=True)
            await create_tables(conn, workspace)
            await _move_rows(conn, shared, own)
            # Last, for it locks the parent tables against other moves.
            await attach_tables(conn, workspace)
            await queue_all(conn, workspace)
            await _settle(conn, own)
        for each in own.tables:
            await conn.execute(sql.SQL("VACUUM (ANALYZE) {}, {}").format(each.segments, each.vectors))
    return True


async def share_tables_again(conn: Connection, workspace: int) -> bool:
    """Move a workspace back into the shared tables. Returns False where it is in them, or being moved already.

    Raises InvalidRequest where it has more than ``LARGEST_SHARED`` segments.
    """
    async with only_mover(conn, workspace) as alone:
        place = await find_place(conn, workspace)
        if not alone or place is None or not place.own:
            return False
        async with conn.transaction():
            own, shared = await lock_library(conn, workspace), Place(workspace, own=False)
            if sum(own.filled) > LARGEST_SHARED:
                raise InvalidRequest(
                    f"A workspace of {sum(own.filled)} segments is too large for the shared tables.",
                    suggestion=f"They are for workspaces of at most {LARGEST_SHARED} segments.",
                )
            await _move_rows(conn, own, shared)
            await queue_deleted_workspace(conn, workspace)
            await _settle(conn, shared)
        await drop_tables(conn, workspace)
    return True


async def _move_rows(conn: Connection, source: Place, target: Place) -> None:
    """Copy the rows of a workspace from all tables that they are in, and delete them there."""
    [into] = target.tables
    for each in source.tables:
        for columns, old, new in (
            (SEGMENT_COLUMNS, each.segments, into.segments),
            (VECTOR_COLUMNS, each.vectors, into.vectors),
        ):
            copy = sql.SQL(_COPY).format(target=new, source=old, columns=sql.SQL(columns))
            await conn.execute(copy, [source.workspace])
            await conn.execute(sql.SQL(_DELETE).format(old), [source.workspace])


def only_mover(conn: Connection, workspace: int) -> AbstractAsyncContextManager[bool]:
    """Keep others from moving a workspace between tables; yields False where somebody does already."""
    return only_one(conn, "hashtext('move between tables'), %s", workspace)


async def _settle(conn: Connection, place: Place) -> None:
    await conn.execute(
        "UPDATE library_statistics SET own_tables = %s, part_segments = NULL WHERE workspace = %s",
        [place.own, place.workspace],
    )
    view = sql.Identifier(view_name(place.workspace))
    in_use = await value_of(conn, "SELECT to_regclass(%s)", [view_name(place.workspace)]) is not None
    await conn.execute(sql.SQL("DROP VIEW IF EXISTS {}").format(view))
    if (in_use or place.own) and await has_vectors(conn):
        dimension = sql.SQL("SELECT vector_dims(embedding) FROM {} WHERE workspace = %s LIMIT 1")
        vectors = place.tables[0].vectors
        await ensure_view(conn, place.workspace, await value_of(conn, dimension.format(vectors), [place.workspace]))


_COPY = "INSERT INTO {target} ({columns}) SELECT {columns} FROM {source} WHERE workspace = %s"
_DELETE = "DELETE FROM {} WHERE workspace = %s"
