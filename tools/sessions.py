"""Conversations as their owners see them: made, listed, read back page by page, and deleted with all they hold."""

import base64
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Literal
from uuid import UUID, uuid4

from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver
from psycopg.rows import class_row
from psycopg.types.json import Jsonb

from graph.errors import InvalidRequest, NotFound, SessionBusy
from graph.evidence import Identity
from tools.database import Connection, Database
from tools.freshness import check_freshness
from tools.retrieval.reading import SegmentStore
from tools.workspaces import Workspaces

DEFAULT_TITLE = "New Chat"
EPHEMERAL_HOURS = 24

_SESSION = (
    "session_id::text, title, selected_page_ids AS page_ids, ephemeral, dialect, external_id, created_at, updated_at"
)
_MINE = 'session_id = %(session_id)s AND workspace = %(workspace)s AND "user" = %(user)s'

# An external id that is known gives back its session, also where two requests bring it at once.
_CREATE = f"""
INSERT INTO sessions (session_id, workspace, "user", title, selected_page_ids, dialect, external_id, ephemeral,
                      expires_at)
VALUES (%(session_id)s, %(workspace)s, %(user)s, %(title)s, %(page_ids)s, %(dialect)s, %(external_id)s, %(ephemeral)s,
        CASE WHEN %(ephemeral)s THEN now() + make_interval(hours => %(hours)s) END)
ON CONFLICT (workspace, "user", dialect, external_id) DO UPDATE SET external_id = excluded.external_id
RETURNING {_SESSION}
"""
_LIST = f"""
SELECT {_SESSION} FROM sessions
WHERE workspace = %(workspace)s AND "user" = %(user)s AND NOT ephemeral
  AND (%(before)s::timestamptz IS NULL OR updated_at < %(before)s
       OR updated_at = %(before)s AND session_id > %(after_id)s::uuid)
ORDER BY updated_at DESC, session_id LIMIT %(limit)s
"""
_MESSAGES = """
SELECT message_id::text, run_id::text, parent_message_id::text, role, content, body, outcome, stop_reason, created_at
FROM messages
WHERE session_id = %(session_id)s
  AND (%(before)s::timestamptz IS NULL OR (created_at, message_id) < (%(before)s, %(before_id)s::uuid))
ORDER BY created_at DESC, message_id DESC LIMIT %(limit)s
"""
# The lock keeps a run from being entered while its session goes: the ledger's row refers to this one.
_LOCK = f"SELECT session_id FROM sessions WHERE {_MINE} FOR UPDATE"
_BUSY = "SELECT 1 FROM runs WHERE session_id = %(session_id)s AND status <> 'finished' AND lease_until > now()"
_RUN = """
SELECT run_id::text, session_id::text, question, status, outcome, stop_reason, created_at, started_at, finished_at
FROM runs WHERE run_id = %(run_id)s AND workspace = %(workspace)s AND "user" = %(user)s
"""


@dataclass(frozen=True, slots=True)
class Session:
    """A conversation without its messages. ``page_ids`` are the documents last selected in it."""

    session_id: str
    title: str
    page_ids: list[str]
    ephemeral: bool
    dialect: str
    external_id: str | None
    created_at: datetime
    updated_at: datetime


@dataclass(frozen=True, slots=True)
class StoredMessage:
    """A message as it was finished. An answer's ``body`` holds sections, citations, sources and what was spent."""

    message_id: str
    run_id: str | None
    parent_message_id: str | None
    role: Literal["user", "assistant"]
    content: str
    body: dict[str, Any]
    outcome: str | None
    stop_reason: str | None
    created_at: datetime


@dataclass(frozen=True, slots=True)
class RunStatus:
    """Where a run stands, as the ledger has it."""

    run_id: str
    session_id: str
    question: str
    status: Literal["queued", "running", "finished"]
    outcome: str | None
    stop_reason: str | None
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None


@dataclass(frozen=True, slots=True)
class SessionPage:
    """Sessions, newest first. ``next_cursor`` asks for those that follow, and is None at the end."""

    sessions: list[Session]
    next_cursor: str | None


@dataclass(frozen=True, slots=True)
class History:
    """A session with the newest messages of it, in the order they were said. ``next_cursor`` asks for earlier ones."""

    session: Session
    messages: list[StoredMessage]
    next_cursor: str | None


class Sessions:
    """The sessions of a deployment. What is not the identity's own is not there for it: NotFound."""

    def __init__(self, database: Database, workspaces: Workspaces) -> None:
        self._database = database
        self._workspaces = workspaces
        self._reader = SegmentStore(database, workspaces)

    async def create(
        self,
        identity: Identity,
        *,
        title: str | None = None,
        page_ids: Sequence[str] = (),
        ephemeral: bool = False,
        external_id: str | None = None,
        dialect: str = "native",
    ) -> Session:
        """Make a session, or give back the one that a host's ``external_id`` already names in this dialect.

        An ephemeral session is never listed and expires after 24 hours.
        """
        row = {
            "workspace": await self._workspaces.ensure(identity.workspace),
            "user": identity.user,
            "session_id": uuid4(),
            "title": title or DEFAULT_TITLE,
            "page_ids": Jsonb(list(page_ids)),
            "dialect": dialect,
            "external_id": external_id,
            "ephemeral": ephemeral,
            "hours": EPHEMERAL_HOURS,
        }
        async with self._database.connection() as connection, connection.cursor(row_factory=class_row(Session)) as rows:
            made = await (await rows.execute(_CREATE, row)).fetchone()
        assert made is not None
        return made

    async def list(self, identity: Identity, *, limit: int = 50, cursor: str | None = None) -> SessionPage:
        """List sessions, the last used first, ``limit`` at a time.

        Raises InvalidRequest for a cursor that this method did not give.
        """
        before, after_id = _place(cursor)
        row = {**await self._owner(identity), "before": before, "after_id": after_id, "limit": limit + 1}
        async with self._database.connection() as connection, connection.cursor(row_factory=class_row(Session)) as rows:
            found = await (await rows.execute(_LIST, row)).fetchall()
        shown = found[:limit]
        return SessionPage(shown, _cursor(shown[-1].updated_at, shown[-1].session_id) if len(found) > limit else None)

    async def get(self, identity: Identity, session_id: str, *, limit: int = 100, cursor: str | None = None) -> History:
        """Read a session with its newest ``limit`` messages, or with those before a cursor.

        What an answer quotes is looked for in today's text: each of its citations has its ``freshness``.

        Raises NotFound, InvalidRequest for a cursor that this method did not give.
        """
        before, before_id = _place(cursor)
        row = {"session_id": session_id, "before": before, "before_id": before_id, "limit": limit + 1}
        async with self._database.connection() as connection:
            session = await self._mine(connection, identity, session_id)
            async with connection.cursor(row_factory=class_row(StoredMessage)) as rows:
                found = await (await rows.execute(_MESSAGES, row)).fetchall()
        shown = found[:limit]
        earlier = _cursor(shown[-1].created_at, shown[-1].message_id) if len(found) > limit else None
        bodies = await check_freshness([message.body for message in shown], self._reader, identity)
        told = [replace(message, body=body) for message, body in zip(shown, bodies, strict=True)]
        return History(session, told[::-1], earlier)

    async def delete(self, identity: Identity, session_id: str) -> None:
        """Delete a session with its checkpoints, messages and runs, in one transaction.

        Raises NotFound, SessionBusy where a run of it is in progress.
        """
        row = {**await self._owner(identity), "session_id": session_id}
        async with self._database.connection() as connection, connection.transaction():
            if await (await connection.execute(_LOCK, row)).fetchone() is None:
                raise _unknown(session_id)
            if await (await connection.execute(_BUSY, row)).fetchone() is not None:
                raise SessionBusy("The session is answering a question.")
            await AsyncPostgresSaver(connection).adelete_thread(session_id)  # type: ignore[arg-type]
            await connection.execute("DELETE FROM sessions WHERE session_id = %(session_id)s", row)

    async def run(self, identity: Identity, run_id: str) -> RunStatus:
        """Say where a run stands, be it of this process or of another.

        Raises NotFound.
        """
        row = {**await self._owner(identity), "run_id": run_id}
        async with (
            self._database.connection() as connection,
            connection.cursor(row_factory=class_row(RunStatus)) as rows,
        ):
            found = await (await rows.execute(_RUN, row)).fetchone()
        if found is None:
            raise NotFound(f"There is no run {run_id}.")
        return found

    async def _owner(self, identity: Identity) -> dict[str, Any]:
        return {"workspace": await self._workspaces.number(identity.workspace), "user": identity.user}

    async def _mine(self, connection: Connection, identity: Identity, session_id: str) -> Session:
        row = {**await self._owner(identity), "session_id": session_id}
        async with connection.cursor(row_factory=class_row(Session)) as rows:
            found = await (await rows.execute(f"SELECT {_SESSION} FROM sessions WHERE {_MINE}", row)).fetchone()
        if found is None:
            raise _unknown(session_id)
        return found


def _unknown(session_id: str) -> NotFound:
    return NotFound(f"There is no session {session_id}.")


def _cursor(at: datetime, row_id: str) -> str:
    return base64.urlsafe_b64encode(json.dumps([at.isoformat(), row_id]).encode()).decode()


def _place(cursor: str | None) -> tuple[datetime | None, str | None]:
    if cursor is None:
        return None, None
    try:
        at, row_id = json.loads(base64.urlsafe_b64decode(cursor))
        return datetime.fromisoformat(at), str(UUID(row_id))
    except (ValueError, TypeError, AttributeError):
        raise InvalidRequest("cursor: it is not one that this list gave.") from None
