"""Store of conversations: create, list, rename, read page by page, and delete with everything they hold."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any
from uuid import uuid4

from psycopg.rows import class_row
from psycopg.types.json import Jsonb

from graph.errors import InvalidRequest, NotFound, SessionBusy
from graph.evidence import Identity
from graph.ports import Families
from tools.library.freshness import check_freshness
from tools.retrieval.segment_store import SegmentStore
from tools.rules.question_rules import DEFAULT_TITLE
from tools.runs.run_listing import RunPage, RunState, RunStatus, list_runs, read_run
from tools.sessions.expiry import delete_threads
from tools.sessions.history import History, StoredMessage, read_branch
from tools.sessions.session_rows import (
    CHANGE_SESSION,
    CREATE_SESSION,
    FIRST_QUESTION,
    GET_SESSION,
    HAS_ACTIVE_RUN,
    LIST_SESSIONS,
    LOCK_SESSION,
    Session,
    unknown_session,
)
from tools.sessions.titles import SET_WHERE_UNTITLED, best_title
from tools.storage.database import Connection, Database
from tools.storage.pagination import decode_cursor, encode_cursor
from tools.storage.tenants import Workspaces

_NAMED = """
SELECT session_id::text FROM sessions
WHERE workspace = %s AND "user" = %s AND dialect = %s AND external_id = %s
"""


async def named_session(
    database: Database, workspaces: Workspaces, identity: Identity, dialect: str, external_id: str
) -> str | None:
    """Return the id of the session that a host's own id names for this person, or None where there is none yet."""
    row = [await workspaces.number(identity.workspace), identity.user, dialect, external_id]
    async with database.connection() as connection:
        found = await (await connection.execute(_NAMED, row)).fetchone()
    return None if found is None else str(found[0])


__all__ = ["DEFAULT_TITLE", "History", "RunPage", "RunStatus", "Session", "SessionPage", "Sessions", "StoredMessage"]

EPHEMERAL_HOURS = 24
LONGEST_EXTERNAL_ID = 500  # characters, which an index can hold in any script


@dataclass(frozen=True, slots=True)
class SessionPage:
    """Sessions, newest first. ``next_cursor`` asks for those that follow, and is None at the end."""

    sessions: list[Session]
    next_cursor: str | None


class Sessions:
    """The sessions of a deployment. What is not the identity's own is not there for it: NotFound.

    With ``families`` the deployment's default model makes titles; without, they are of the question's own words.
    """

    def __init__(self, database: Database, workspaces: Workspaces, families: Families | None = None) -> None:
        self._database = database
        self._workspaces = workspaces
        self._reader = SegmentStore(database, workspaces)
        self._families = families

    async def create(
        self,
        identity: Identity,
        *,
        title: str | None = None,
        page_id: str | None = None,
        page_ids: Sequence[str] = (),
        ephemeral: bool = False,
        external_id: str | None = None,
        dialect: str = "native",
    ) -> Session:
        """Make a session, or give back the one that a host's ``external_id`` already names in this dialect.

        An ephemeral session is never listed and expires after 24 hours. Raises InvalidRequest for an ``external_id``
        that can't be stored.
        """
        if external_id is not None and (len(external_id) > LONGEST_EXTERNAL_ID or "\0" in external_id):
            raise InvalidRequest(f"A session's id has at most {LONGEST_EXTERNAL_ID} characters, NUL not among them.")
        row = {
            "workspace": await self._workspaces.ensure(identity.workspace),
            "user": identity.user,
            "session_id": uuid4(),
            "title": title or DEFAULT_TITLE,
            "page_id": page_id,
            "page_ids": Jsonb(list(page_ids)),
            "dialect": dialect,
            "external_id": external_id,
            "ephemeral": ephemeral,
            "hours": EPHEMERAL_HOURS,
        }
        async with self._database.connection() as connection:
            made = await _session(connection, CREATE_SESSION, row)
        assert made is not None
        return made

    async def list(
        self, identity: Identity, *, limit: int = 50, cursor: str | None = None, dialect: str | None = None
    ) -> SessionPage:
        """List sessions, the last used first, ``limit`` at a time; those of one dialect where it is given.

        Raises InvalidRequest for a cursor that this method did not give.
        """
        before, after_id = decode_cursor(cursor)
        row = {
            **await self._owner(identity),
            "before": before,
            "after_id": after_id,
            "limit": limit + 1,
            "dialect": dialect,
        }
        async with self._database.connection() as connection, connection.cursor(row_factory=class_row(Session)) as rows:
            found = await (await rows.execute(LIST_SESSIONS, row)).fetchall()
        shown = found[:limit]
        return SessionPage(
            shown, encode_cursor(shown[-1].updated_at, shown[-1].session_id) if len(found) > limit else None
        )

    async def get(
        self,
        identity: Identity,
        session_id: str,
        *,
        limit: int = 100,
        cursor: str | None = None,
        branch: str | None = None,
    ) -> History:
        """Read a session with the newest ``limit`` messages of a branch, or with those before a cursor.

        The branch is the one gone on with last, or the one through the message ``branch``. What an answer quotes is
        looked for in today's text: each of its citations has its ``freshness``.

        Raises NotFound, InvalidRequest for a cursor that this method did not give.
        """
        row = {**await self._owner(identity), "session_id": session_id}
        async with self._database.connection() as connection:
            session = await self._mine(connection, row)
            shown, earlier = await read_branch(connection, session_id, limit=limit, cursor=cursor, branch=branch)
        bodies = await check_freshness([message.body for message in shown], self._reader, identity)
        told = [replace(message, body=body) for message, body in zip(shown, bodies, strict=True)]
        return History(session, told[::-1], earlier)

    async def change(
        self,
        identity: Identity,
        session_id: str,
        *,
        title: str | None = None,
        page_ids: Sequence[str] | None = None,
    ) -> Session:
        """Return a session another title or other selected pages; what is None stays as it is.

        Raises NotFound.
        """
        row = {
            **await self._owner(identity),
            "session_id": session_id,
            "title": title,
            "page_ids": None if page_ids is None else Jsonb(list(page_ids)),
        }
        async with self._database.connection() as connection:
            changed = await _session(connection, CHANGE_SESSION, row)
        if changed is None:
            raise unknown_session(session_id)
        return changed

    async def rename(self, identity: Identity, session_id: str, title: str) -> Session:
        """Return a session another title.

        Raises NotFound.
        """
        return await self.change(identity, session_id, title=title)

    async def set_auto_title(self, session_id: str, title: str) -> bool:
        """Return a session a title unless it has one; tells whether it was given."""
        async with self._database.connection() as connection:
            given = await connection.execute(SET_WHERE_UNTITLED, {"session_id": session_id, "title": title})
        return given.rowcount == 1

    async def auto_title(self, identity: Identity, session_id: str) -> str:
        """Title a session after the first question asked in it, be that still being answered, and give its title.

        A session that has a title keeps it, and one that was asked nothing yet stays untitled. Raises NotFound.
        """
        row = {**await self._owner(identity), "session_id": session_id}
        async with self._database.connection() as connection:
            session = await self._mine(connection, row)
            asked = await (await connection.execute(FIRST_QUESTION, [session_id])).fetchone()
        if session.title != DEFAULT_TITLE or asked is None:
            return session.title
        titler = None if self._families is None else self._families("").titler
        title, _ = await best_title(titler, asked[0])
        if await self.set_auto_title(session_id, title):
            return title
        async with self._database.connection() as connection:
            return (await self._mine(connection, row)).title

    async def delete(self, identity: Identity, session_id: str) -> None:
        """Delete a session with its checkpoints, messages and runs, in one transaction.

        Raises NotFound, SessionBusy where a run of it is in progress.
        """
        row = {**await self._owner(identity), "session_id": session_id}
        async with self._database.connection() as connection, connection.transaction():
            if await (await connection.execute(LOCK_SESSION, row)).fetchone() is None:
                raise unknown_session(session_id)
            if await (await connection.execute(HAS_ACTIVE_RUN, row)).fetchone() is not None:
                raise SessionBusy("The session is answering a question.")
            await delete_threads(connection, [session_id])
            await connection.execute("DELETE FROM sessions WHERE session_id = %(session_id)s", row)

    async def run(self, identity: Identity, run_id: str) -> RunStatus:
        """Return where a run stands, be it of this process or of another.

        Raises NotFound.
        """
        owner = await self._owner(identity)
        async with self._database.connection() as connection:
            found = await read_run(connection, owner, run_id)
        if found is None:
            raise NotFound(f"There is no run {run_id}.")
        return found

    async def list_runs(
        self,
        identity: Identity,
        *,
        session_id: str | None = None,
        status: RunState | None = None,
        limit: int = 50,
        cursor: str | None = None,
    ) -> RunPage:
        """List runs, the newest first, ``limit`` at a time: of one session or of all, of one status or of any.

        Raises NotFound where the session is not the identity's, InvalidRequest for a cursor that this method did not
        give.
        """
        owner = await self._owner(identity)
        async with self._database.connection() as connection:
            if session_id is not None:
                await self._mine(connection, {**owner, "session_id": session_id})
            return await list_runs(connection, owner, session_id=session_id, status=status, limit=limit, cursor=cursor)

    async def _owner(self, identity: Identity) -> dict[str, Any]:
        return {"workspace": await self._workspaces.number(identity.workspace), "user": identity.user}

    async def _mine(self, connection: Connection, row: dict[str, Any]) -> Session:
        found = await _session(connection, GET_SESSION, row)
        if found is None:
            raise unknown_session(row["session_id"])
        return found


async def _session(connection: Connection, statement: str, row: dict[str, Any]) -> Session | None:
    async with connection.cursor(row_factory=class_row(Session)) as rows:
        return await (await rows.execute(statement, row)).fetchone()
