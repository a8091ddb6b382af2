"""Message history of a session, read one branch and one page at a time.

Messages form a tree. An edited question or a regenerated answer has siblings: its other versions, each the root of a
branch. All of them are kept. A branch is read from its newest message up to the first.
"""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

from graph.errors import NotFound
from graph.evidence import Outcome
from tools.sessions.run_request import question_body, question_id
from tools.sessions.session_rows import Session
from tools.storage.database import Connection
from tools.storage.pagination import decode_cursor, invalid_cursor

# The newest of a message and its descendants.
_NEWEST_BELOW = """
WITH RECURSIVE below AS (
    SELECT message_id, created_at FROM messages WHERE session_id = %(session_id)s AND message_id = %(message_id)s
    UNION ALL
    SELECT messages.message_id, messages.created_at FROM below
    JOIN messages ON messages.parent_message_id = below.message_id
)
SELECT message_id::text FROM below ORDER BY created_at DESC, message_id DESC LIMIT 1
"""
_PARENT = """
SELECT parent_message_id::text FROM messages WHERE session_id = %(session_id)s AND message_id = %(message_id)s
"""
# Without a message to start from, the newest one of the session. Each message's own session_id is what its siblings are
# looked up by: by the parameter, PostgreSQL would plan the statement anew for every session.
_BRANCH = """
WITH RECURSIVE branch AS (
    SELECT message_id, parent_message_id, session_id, role, xmin AS version, 1 AS depth FROM messages
    WHERE session_id = %(session_id)s AND message_id = coalesce(%(from)s::uuid, (
        SELECT message_id FROM messages WHERE session_id = %(session_id)s
        ORDER BY created_at DESC, messages.message_id DESC LIMIT 1
    ))
    UNION ALL
    SELECT m.message_id, m.parent_message_id, m.session_id, m.role, m.xmin, depth + 1 FROM branch
    JOIN messages AS m ON m.message_id = branch.parent_message_id
    WHERE depth < %(limit)s
)
SELECT message_id::text, version::text,
       CASE WHEN parent_message_id IS NULL THEN (
           SELECT array_agg(other.message_id::text ORDER BY other.created_at, other.message_id) FROM messages AS other
           WHERE other.session_id = branch.session_id AND other.parent_message_id IS NULL AND other.role = branch.role
           HAVING count(*) > 1
       ) ELSE (
           SELECT array_agg(other.message_id::text ORDER BY other.created_at, other.message_id) FROM messages AS other
           WHERE other.parent_message_id = branch.parent_message_id AND other.role = branch.role
           HAVING count(*) > 1
       ) END AS versions,
       (SELECT jsonb_build_object('rating', f.rating, 'reason_code', f.reason_code, 'text', f.note, 'claim', f.claim,
                                  'changed_at', to_char(f.changed_at AT TIME ZONE 'UTC',
                                                        'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'))
        FROM message_feedback AS f WHERE f.message_id = branch.message_id) AS feedback
FROM branch ORDER BY depth
"""
# Committed before the run begins, so that a question is there as soon as it is asked.
_ASKED = """
SELECT run_id::text, message_id::text, parent_message_id::text, fork_checkpoint IS NOT NULL, question, request,
       created_at
FROM runs WHERE session_id = %(session_id)s AND status <> 'finished' AND message_id IS NOT NULL
ORDER BY created_at, runs.run_id
"""


@dataclass(frozen=True, slots=True)
class StoredMessage:
    """A message. An answer's ``body`` holds its sections, citations, sources and usage.

    ``versions`` are the ids of this message and of its other versions on other branches, oldest first. ``answering`` is
    True for a question that is still being answered. ``feedback`` is what a reader says of the answer.
    """

    message_id: str
    run_id: str | None
    parent_message_id: str | None
    role: Literal["user", "assistant"]
    content: str
    body: dict[str, Any]
    outcome: Outcome | None
    stop_reason: str | None
    created_at: datetime
    versions: list[str] = field(default_factory=list)
    answering: bool = False
    feedback: dict[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class History:
    """A session with the newest messages of a branch, in chronological order.

    ``next_cursor`` requests earlier messages of that branch. ``asked`` are the questions after them that are still
    being answered, or wait for it.
    """

    session: Session
    messages: list[StoredMessage]
    next_cursor: str | None
    asked: list[StoredMessage] = field(default_factory=list)

    @property
    def shown(self) -> list[StoredMessage]:
        """What a reader of the session sees: its messages, then the questions that have no answer yet."""
        return [*self.messages, *self.asked]


@dataclass(frozen=True, slots=True)
class BranchMessage:
    """Where a message stands in its session, and what its reader says of it: all that may change once it is stored.

    ``version`` is another one when its row was written anew; ``versions`` are as in ``StoredMessage``.
    """

    message_id: str
    version: str
    versions: list[str]
    feedback: dict[str, Any] | None


@dataclass(frozen=True, slots=True)
class Asked:
    """The questions of a session that are still being answered.

    If ``forks``, the first of them continues from the message ``parent`` (None: from the beginning).
    """

    questions: list[StoredMessage]
    forks: bool = False
    parent: str | None = None


async def read_asked(connection: Connection, session_id: str) -> Asked:
    """Return the questions of the unfinished runs of a session, without those that were asked before and are stored."""
    rows = await (await connection.execute(_ASKED, {"session_id": session_id})).fetchall()
    fresh = [row for row in rows if row[5].get("regenerate") is None]
    questions = [
        StoredMessage(
            message_id=question_id(message_id),
            run_id=run_id,
            parent_message_id=parent,
            role="user",
            content=question,
            body=question_body(request),
            outcome=None,
            stop_reason=None,
            created_at=created_at,
            answering=True,
        )
        for run_id, message_id, parent, _, question, request, created_at in fresh
    ]
    return Asked(questions, *((fresh[0][3], fresh[0][2]) if fresh else ()))


async def read_branch(
    connection: Connection, session_id: str, *, limit: int, cursor: str | None, branch: str | None, asked: Asked
) -> list[BranchMessage]:
    """Return the newest ``limit`` messages of a branch, newest first.

    ``branch`` selects the branch through that message, down to its newest descendant; without it, the most recently
    continued branch is read, which is the one that a question is ``asked`` on. A cursor stays on the branch that it was
    made for.

    Raises NotFound if ``branch`` is not a message of the session, InvalidRequest for a cursor of another list.
    """
    newest = cursor is None and branch is None and not asked.forks
    start = asked.parent if asked.forks else await _start(connection, session_id, cursor, branch)
    if start is None and not newest:
        return []
    row = {"session_id": session_id, "from": start, "limit": limit}
    return [
        BranchMessage(message_id, version, versions or [message_id], feedback)
        for message_id, version, versions, feedback in await (await connection.execute(_BRANCH, row)).fetchall()
    ]


async def _start(connection: Connection, session_id: str, cursor: str | None, branch: str | None) -> str | None:
    """Return the message from which a branch is read upwards. None: there is none, or it is the one used last."""
    if cursor is not None:
        row = await _one(connection, _PARENT, session_id, decode_cursor(cursor)[1])
        if row is None:
            raise invalid_cursor()
        return row[0]
    if branch is None:
        return None
    row = await _one(connection, _NEWEST_BELOW, session_id, branch)
    if row is None:
        raise NotFound(f"There is no message {branch} in the session.")
    return row[0]


async def _one(connection: Connection, query: str, session_id: str, message_id: str | None) -> tuple[str | None] | None:
    values = {"session_id": session_id, "message_id": message_id}
    return await (await connection.execute(query, values)).fetchone()
