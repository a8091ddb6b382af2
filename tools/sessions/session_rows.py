"""The row of a session, and the SQL statements that create, read, update and lock it."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from graph.errors import NotFound
from tools.storage.database import Connection, row_of

SESSION_COLUMNS = (
    "session_id::text, title, selected_page_ids AS page_ids, selected_collection_ids AS collection_ids, ephemeral,"
    " dialect, external_id, page_id::text, created_at, updated_at, pinned"
)


@dataclass(frozen=True, slots=True)
class Session:
    """A conversation without its messages.

    ``page_ids`` and ``collection_ids`` are the documents and collections last selected in it, ``page_id`` is the host's
    page that it was started on. One that is ``pinned`` comes before the others.
    """

    session_id: str
    title: str
    page_ids: list[str]
    ephemeral: bool
    dialect: str
    external_id: str | None
    created_at: datetime
    updated_at: datetime
    page_id: str | None = None
    pinned: bool = False
    collection_ids: list[str] = field(default_factory=list)


def unknown_session(session_id: str) -> NotFound:
    """Return the error for a session that does not exist or belongs to another identity."""
    return NotFound(f"There is no session {session_id}.")


async def own_session(connection: Connection, row: dict[str, Any]) -> Session:
    """Return a session of an owner. Raises NotFound."""
    found = await row_of(connection, Session, GET_SESSION, row)
    if found is None:
        raise unknown_session(row["session_id"])
    return found


OWN_SESSION = 'session_id = %(session_id)s AND workspace = %(workspace)s AND "user" = %(user)s'

# Returns the existing session of a known external id, even if two requests create it at once.
CREATE_SESSION = f"""
INSERT INTO sessions (session_id, workspace, "user", title, page_id, selected_page_ids, selected_collection_ids,
                      dialect, external_id, ephemeral, expires_at)
VALUES (%(session_id)s, %(workspace)s, %(user)s, %(title)s, %(page_id)s, %(page_ids)s, %(collection_ids)s, %(dialect)s,
        %(external_id)s, %(ephemeral)s, CASE WHEN %(ephemeral)s THEN now() + make_interval(hours => %(hours)s) END)
ON CONFLICT (workspace, "user", dialect, external_id) DO UPDATE SET external_id = excluded.external_id
RETURNING {SESSION_COLUMNS}
"""
GET_SESSION = f"SELECT {SESSION_COLUMNS} FROM sessions WHERE {OWN_SESSION}"
OPEN_SESSION = f"""
SELECT {SESSION_COLUMNS}, EXISTS (
    SELECT 1 FROM runs WHERE runs.session_id = sessions.session_id AND status <> 'finished' AND message_id IS NOT NULL
) AS answers
FROM sessions WHERE {OWN_SESSION}
"""
LIST_SESSIONS = f"""
WITH edge AS (
    SELECT coalesce((SELECT pinned FROM sessions WHERE session_id = %(after_id)s::uuid), false) AS pinned
)
SELECT {SESSION_COLUMNS} FROM sessions
WHERE workspace = %(workspace)s AND "user" = %(user)s AND NOT ephemeral
  AND (%(dialect)s::text IS NULL OR dialect = %(dialect)s)
  AND (%(before)s::timestamptz IS NULL OR pinned < (SELECT pinned FROM edge)
       OR pinned = (SELECT pinned FROM edge)
          AND (updated_at < %(before)s OR updated_at = %(before)s AND session_id > %(after_id)s::uuid))
ORDER BY pinned DESC, updated_at DESC, sessions.session_id LIMIT %(limit)s
"""
# A new title, selection or pin does not count as use: updated_at and the order of the list stay the same.
CHANGE_SESSION = f"""
UPDATE sessions SET title = coalesce(%(title)s, title), selected_page_ids = coalesce(%(page_ids)s, selected_page_ids),
    selected_collection_ids = coalesce(%(collection_ids)s, selected_collection_ids),
    pinned = coalesce(%(pinned)s, pinned)
WHERE {OWN_SESSION} RETURNING {SESSION_COLUMNS}
"""
FIRST_QUESTION = """
SELECT question, coalesce(request -> 'context' ->> 'model', '') FROM runs WHERE session_id = %s
ORDER BY created_at, run_id LIMIT 1
"""
# The lock prevents a run from being inserted while its session is deleted: the run's row references this one.
LOCK_SESSION = f"SELECT session_id FROM sessions WHERE {OWN_SESSION} FOR UPDATE"
HAS_ACTIVE_RUN = "SELECT 1 FROM runs WHERE session_id = %(session_id)s AND status <> 'finished' AND lease_until > now()"
