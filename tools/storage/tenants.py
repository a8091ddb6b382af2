"""Workspaces: every stored row belongs to exactly one and is deleted with it."""

from dataclasses import dataclass
from datetime import datetime

import psycopg

from graph.errors import InvalidRequest, NotFound
from tools.retrieval.partitions import create_partition, drop_partition
from tools.storage.database import Connection, Database

LONGEST_NAME = 100


@dataclass(frozen=True, slots=True)
class WorkspaceSummary:
    """A workspace with the counts of its contents; deleted documents and ephemeral sessions are not counted."""

    name: str
    documents: int
    segments: int
    sessions: int
    created_at: datetime


class Workspaces:
    """The workspaces of a deployment. Their numbers are cached, since a number is never reused."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._numbers: dict[str, int] = {}

    async def create(self, name: str) -> int:
        """Create a workspace with its own partition of the library and return its number.

        Raises InvalidRequest if the name is taken, empty, or longer than 100 characters.
        """
        _check_name(name)
        async with self._database.connection() as connection:
            try:
                number = await _insert(connection, name)
            except psycopg.errors.UniqueViolation:
                message = f"A workspace named {name!r} already exists."
                raise InvalidRequest(message, suggestion="Choose another name.") from None
        self._numbers[name] = number
        return number

    async def ensure(self, name: str) -> int:
        """Return the number of the workspace; create it if it does not exist."""
        try:
            return await self.number(name)
        except NotFound:
            _check_name(name)
        async with self._database.connection() as connection:
            self._numbers[name] = await ensure_workspace(connection, name)
        return self._numbers[name]

    async def number(self, name: str) -> int:
        """Return the workspace's number, its key in all other tables. Raises NotFound."""
        known = self._numbers.get(name)
        if known is not None:
            return known
        async with self._database.connection() as connection:
            found = await connection.execute("SELECT number FROM workspaces WHERE name = %s", [name])
            row = await found.fetchone()
        if row is None:
            raise NotFound(
                f"There is no workspace named {name!r}.", suggestion=f"Run `citewell workspaces create {name}`."
            )
        self._numbers[name] = row[0]
        return self._numbers[name]

    async def names(self) -> tuple[str, ...]:
        """Return the names of all workspaces, in their order."""
        async with self._database.connection() as connection:
            found = await connection.execute("SELECT name FROM workspaces ORDER BY name")
            return tuple([row[0] for row in await found.fetchall()])

    async def list(self) -> list[WorkspaceSummary]:
        """List the workspaces by name, each with the counts of its contents."""
        async with self._database.connection() as connection:
            found = await connection.execute(_LIST)
            return [WorkspaceSummary(*row) for row in await found.fetchall()]

    async def delete(self, name: str) -> None:
        """Delete a workspace with its documents, segments, sessions, checkpoints, messages and runs.

        Safe to repeat after an interruption. Raises NotFound.
        """
        self._numbers.pop(name, None)
        number = await self.number(name)
        self._numbers.pop(name, None)
        async with self._database.connection() as connection:
            await drop_partition(connection, number)
            async with connection.transaction():
                await connection.execute(_LOCK_SESSIONS, [number])
                for table in ("checkpoint_writes", "checkpoint_blobs", "checkpoints"):
                    await connection.execute(_DELETE_CHECKPOINTS.format(table), [number])
                await connection.execute("DELETE FROM workspaces WHERE number = %s", [number])


async def ensure_workspace(connection: Connection, name: str) -> int:
    """Return the number of the workspace; create it if it does not exist. Safe against concurrent creation."""
    for _ in range(2):
        found = await connection.execute("SELECT number FROM workspaces WHERE name = %s", [name])
        row = await found.fetchone()
        if row is not None:
            return int(row[0])
        try:
            return await _insert(connection, name)
        except psycopg.errors.UniqueViolation:
            continue
    raise NotFound(f"The workspace {name!r} was created and deleted at the same time.")


async def _insert(connection: Connection, name: str) -> int:
    async with connection.transaction():
        made = await connection.execute("INSERT INTO workspaces (name) VALUES (%s) RETURNING number", [name])
        row = await made.fetchone()
        assert row is not None
        await create_partition(connection, row[0])
    return int(row[0])


def _check_name(name: str) -> None:
    if not name.strip() or len(name) > LONGEST_NAME:
        raise InvalidRequest(f"A workspace's name has 1 to {LONGEST_NAME} characters.")


# Lock the sessions before deleting their checkpoints: a run that has just ended prunes its own session's.
_LOCK_SESSIONS = "SELECT 1 FROM sessions WHERE workspace = %s ORDER BY session_id FOR UPDATE"
_DELETE_CHECKPOINTS = "DELETE FROM {} WHERE thread_id IN (SELECT session_id::text FROM sessions WHERE workspace = %s)"
_LIST = """
SELECT name,
       (SELECT count(*) FROM documents WHERE workspace = number AND deleted_at IS NULL),
       (SELECT count(*) FROM segments WHERE workspace = number),
       (SELECT count(*) FROM sessions WHERE workspace = number AND NOT ephemeral),
       created_at
FROM workspaces ORDER BY name
"""
