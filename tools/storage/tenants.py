"""Workspaces: every stored row belongs to exactly one and is deleted with it."""

import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import TypeVar

import psycopg

from graph.errors import InvalidRequest, NotFound
from tools.storage.database import Connection, Database, elsewhere, value_of
from tools.storage.partitions import (
    MOST_LOOKS,
    Place,
    create_partition,
    drop_partition,
    find_place,
    has_gone,
    share_tables,
)

LONGEST_NAME = 100
MOVES_SECONDS = 1.0  # between two looks at which workspaces have moved, of a process that is asked for any
T = TypeVar("T")


class UnknownWorkspace(NotFound):
    """A name that no workspace has."""

    def __init__(self, name: str, *, suggestion: str | None = None) -> None:
        """By default it is told how a workspace of that name is made."""
        advice = suggestion or f"Run `citewell workspaces create {name}`."
        super().__init__(f"There is no workspace named {name!r}.", suggestion=advice)
        self.name = name


@dataclass(frozen=True, slots=True)
class WorkspaceSummary:
    """A workspace with the counts of its contents; deleted documents and ephemeral sessions are not counted.

    Its ``parts`` are several where it is large. ``move`` is the state of its move to the database ``other``, or from
    there where that is not over.
    """

    name: str
    documents: int
    segments: int
    sessions: int
    created_at: datetime
    own_tables: bool
    parts: int
    move: str | None = None
    other: str | None = None


class Workspaces:
    """The workspaces of a deployment, their numbers and places cached; ``read`` checks the place."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._places: dict[str, Place] = {}
        self._elsewhere: dict[str, bool] = {}
        self._looked_at = -MOVES_SECONDS

    async def create(self, name: str, *, own_tables: bool = False) -> int:
        """Create a workspace and return its number. Until it has grown, its segments are in the shared tables.

        Raises InvalidRequest if the name is taken, empty, or longer than 100 characters.
        """
        [number] = await self.create_many([name], own_tables=own_tables)
        return number

    async def create_many(self, names: Sequence[str], *, own_tables: bool = False) -> list[int]:
        """Create workspaces, all or none, and return their numbers in order. Raises InvalidRequest as ``create``."""
        for name in names:
            _check_name(name)
        async with self._database.connection() as connection:
            try:
                numbers = await insert_workspaces(connection, names, own_tables=own_tables)
            except psycopg.errors.UniqueViolation:
                message = (
                    f"A workspace named {names[0]!r} already exists."
                    if len(names) == 1
                    else "A workspace of one of these names already exists, or a name is given twice."
                )
                raise InvalidRequest(message, suggestion="Choose another name.") from None
        self._places.update({name: Place(number, own_tables) for name, number in zip(names, numbers, strict=True)})
        return numbers

    async def ensure(self, name: str) -> int:
        """Return the number of the workspace; create it if it does not exist."""
        try:
            return await self.number(name)
        except NotFound:
            _check_name(name)
        async with self._database.connection() as connection:
            return await ensure_workspace(connection, name)

    async def number(self, name: str) -> int:
        """Return the workspace's number, its key in all other tables. Raises what ``place`` raises."""
        return (await self.place(name)).workspace

    async def place(self, name: str) -> Place:
        """Return the workspace's number, and where its segments were when that was last looked up.

        Raises NotFound, WorkspaceMoved for one that is in another database, and WorkspaceMoving for one that is not
        yet whole in this one.
        """
        known = self._places.get(name)
        if known is not None:
            return known
        async with self._database.connection() as connection:
            return await self._look_up(connection, name)

    async def _look_up(self, connection: Connection, name: str) -> Place:
        place, move = await _find(connection, name)
        if move is not None:
            raise elsewhere(name, is_moved=move == "moved")
        self._places[name] = place
        return place

    async def number_anywhere(self, name: str) -> int:
        """Return the workspace's number, even where it has moved to another database. Raises NotFound."""
        async with self._database.connection() as connection:
            return (await _find(connection, name))[0].workspace

    async def refuse_elsewhere(self, name: str) -> None:
        """Raise WorkspaceMoved or WorkspaceMoving where a workspace that was here has moved, or is not yet whole here.

        As of a second ago at most: what is written is refused by the database, and what is searched is, at once.
        """
        now = time.monotonic()
        if now - self._looked_at >= MOVES_SECONDS:
            self._looked_at = now
            found = await self._database.fetch_all(_ELSEWHERE)
            self._elsewhere = {name: is_moved for name, is_moved in found}
        is_moved = self._elsewhere.get(name)
        if is_moved is not None:
            self.forget(name)
            raise elsewhere(name, is_moved=is_moved)

    async def read(self, connection: Connection, name: str, read: Callable[[Place], Awaitable[T]]) -> T:
        """Read a workspace's segments where they are: again where they have moved since that was looked up.

        The statements of ``read`` have the condition ``ReadTables.here``. Raises NotFound for an unknown workspace, or
        one that was deleted meanwhile, and what else ``place`` raises.
        """
        # On this connection alone: readers who hold one each and wait for another would wait for each other. And a
        # replica knows of a move when it has replayed it.
        place = self._places.get(name) or await self._look_up(connection, name)
        for _ in range(MOST_LOOKS):
            try:
                return await read(place)
            except psycopg.Error as error:
                if not has_gone(error):
                    raise
                found = await find_place(connection, place.workspace)
                if found == place:  # it is in another database, or it has gone elsewhere and come back meanwhile
                    self.forget(name)
                    found = await self._look_up(connection, name)
                if found is None:
                    break
                place = self._places[name] = found
        raise NotFound(f"There is no workspace named {name!r} any more.")

    async def names(self) -> tuple[str, ...]:
        """Return the names of all workspaces that are here, in their order."""
        return tuple([row[0] for row in await self._database.fetch_all(_NAMES)])

    async def list(self) -> list[WorkspaceSummary]:
        """List the workspaces by name, each with the counts of its contents."""
        return [WorkspaceSummary(*row) for row in await self._database.fetch_all(_LIST)]

    def forget(self, name: str) -> None:
        """Look up anew, when it is next asked for, which workspace has the name and where its segments are."""
        self._places.pop(name, None)

    async def delete(self, name: str) -> None:
        """Delete a workspace with its documents, segments, sessions, checkpoints, messages and runs.

        Safe to repeat after an interruption. Raises NotFound, and InvalidRequest where it is being moved from here.
        """
        self.forget(name)
        number = await self.number_anywhere(name)
        async with self._database.connection() as connection:
            await delete_workspace(connection, number)


async def _find(connection: Connection, name: str) -> tuple[Place, str | None]:
    """Return where the workspace's segments are, and the state of its move. Raises NotFound."""
    row = await (await connection.execute(_PLACE, [name])).fetchone()
    if row is None:
        raise UnknownWorkspace(name)
    *place, move = row
    return Place(*place), move


async def delete_workspace(connection: Connection, number: int) -> None:
    """Delete a workspace as ``Workspaces.delete`` does. Needs an autocommit connection outside of a transaction.

    Of one that was arriving from another database nobody can open what is left, from the first statement on.
    """
    await connection.execute(_GIVE_UP_ARRIVAL, [number])
    if (other := await value_of(connection, _LEAVES, [number])) is not None:
        raise InvalidRequest(
            f"The workspace is half-way to {other}.",
            suggestion="Run `citewell workspaces move` with --abandon first.",
        )
    async with may_change_closed(connection):
        await drop_partition(connection, number)
        async with connection.transaction():
            await connection.execute(_LOCK_SESSIONS, [number])
            for table in ("checkpoint_writes", "checkpoint_blobs", "checkpoints"):
                await connection.execute(_DELETE_CHECKPOINTS.format(table), [number])
            await connection.execute("DELETE FROM workspaces WHERE number = %s", [number])


@asynccontextmanager
async def may_change_closed(connection: Connection) -> AsyncIterator[None]:
    """Let a connection change workspaces that take no changes of others. For moves, and what clears up after them."""
    await connection.execute("SET citewell.moving = 'on'")
    try:
        yield
    finally:
        if not connection.closed:
            await connection.execute("RESET citewell.moving")


async def ensure_workspace(connection: Connection, name: str, *, own_tables: bool = False) -> int:
    """Return the number of the workspace; create it if it does not exist. Safe against concurrent creation."""
    for _ in range(2):
        if (known := await value_of(connection, "SELECT number FROM workspaces WHERE name = %s", [name])) is not None:
            return int(known)
        try:
            [number] = await insert_workspaces(connection, [name], own_tables=own_tables)
            return number
        except psycopg.errors.UniqueViolation:
            continue
    raise NotFound(f"The workspace {name!r} was created and deleted at the same time.")


async def insert_workspaces(connection: Connection, names: Sequence[str], *, own_tables: bool) -> list[int]:
    """Create workspaces and return their numbers in order. Raises UniqueViolation where a name is taken."""
    async with connection.transaction():
        made = await connection.execute(
            "INSERT INTO workspaces (name) SELECT unnest(%s::text[]) RETURNING name, number", [list(names)]
        )
        made_of = {row[0]: int(row[1]) for row in await made.fetchall()}
        numbers = [made_of[name] for name in names]
        if not own_tables:
            await share_tables(connection, numbers)
        else:
            for number in numbers:
                await create_partition(connection, number)
    return numbers


def _check_name(name: str) -> None:
    if not name.strip() or len(name) > LONGEST_NAME:
        raise InvalidRequest(f"A workspace's name has 1 to {LONGEST_NAME} characters.")


# Lock the sessions before deleting their checkpoints: a run that has just ended prunes its own session's.
_LOCK_SESSIONS = "SELECT 1 FROM sessions WHERE workspace = %s ORDER BY session_id FOR UPDATE"
_DELETE_CHECKPOINTS = "DELETE FROM {} WHERE thread_id IN (SELECT session_id::text FROM sessions WHERE workspace = %s)"
_PLACE = """
SELECT number, coalesce(own_tables, false), coalesce(cardinality(part_segments), 1), closed.state
FROM workspaces LEFT JOIN library_statistics AS l ON l.workspace = number
LEFT JOIN closed_workspaces AS closed ON closed.workspace = number AND closed.state <> 'closed'
WHERE name = %s
"""
_ELSEWHERE = """
SELECT name, state = 'moved' FROM closed_workspaces JOIN workspaces ON number = workspace WHERE state <> 'closed'
"""
_NAMES = """
SELECT name FROM workspaces
WHERE number NOT IN (SELECT workspace FROM closed_workspaces WHERE state <> 'closed') ORDER BY name
"""
_GIVE_UP_ARRIVAL = "UPDATE workspace_moves SET state = 'dropped' WHERE workspace = %s AND state = 'arriving'"
_LEAVES = """
SELECT other FROM workspace_moves
WHERE workspace = %s AND state IN ('copying', 'draining', 'closed', 'sealed')
"""
_LIST = """
SELECT name, coalesce(d.documents, 0), coalesce(l.segments, 0), coalesce(s.sessions, 0), created_at,
       coalesce(l.own_tables, false), coalesce(cardinality(l.part_segments), 1), m.state, m.other
FROM workspaces LEFT JOIN library_statistics AS l ON l.workspace = number
LEFT JOIN workspace_moves AS m ON m.workspace = number AND m.state <> 'arrived'
LEFT JOIN (SELECT workspace, count(*) AS documents FROM documents WHERE deleted_at IS NULL GROUP BY workspace) AS d
    ON d.workspace = number
LEFT JOIN (SELECT workspace, count(*) AS sessions FROM sessions WHERE NOT ephemeral GROUP BY workspace) AS s
    ON s.workspace = number
ORDER BY name
"""
