"""The ledger of runs: a row before the graph starts, and the finished messages in the transaction of a run's end."""

from dataclasses import dataclass
from typing import Any
from uuid import uuid4

import psycopg
from psycopg.types.json import Jsonb

from graph.errors import NotFound, SessionBusy
from graph.events import RunFailed, RunFinished
from graph.evidence import Identity
from tools.database import Connection, Database
from tools.workspaces import Workspaces

LEASE_SECONDS = 45

_ABANDONED = """
UPDATE runs SET status = 'finished', outcome = 'failed', stop_reason = 'error', finished_at = now()
WHERE session_id = %s AND status <> 'finished' AND lease_until < now()
"""
_OPEN = """
INSERT INTO runs (run_id, session_id, workspace, "user", question, request, status, lease_until, started_at)
SELECT %(run_id)s, session_id, workspace, "user", %(question)s, %(request)s, 'running',
       now() + make_interval(secs => %(lease)s), now()
FROM sessions WHERE session_id = %(session_id)s AND workspace = %(workspace)s AND "user" = %(user)s
RETURNING run_id
"""
_EXTEND = """
UPDATE runs SET lease_until = now() + make_interval(secs => %s) WHERE run_id = ANY(%s::uuid[]) AND status = 'running'
"""
_CLOSE = """
UPDATE runs SET status = 'finished', outcome = %s, stop_reason = %s, finished_at = now()
WHERE run_id = %s AND status <> 'finished' RETURNING session_id, question, request->>'selected_text'
"""
_SAY = """
INSERT INTO messages (message_id, session_id, run_id, parent_message_id, checkpoint_id, role, content, body, outcome,
                      stop_reason)
VALUES (%(message_id)s, %(session_id)s, %(run_id)s, %(parent)s,
        (SELECT max(checkpoint_id) FROM checkpoints WHERE thread_id = %(session_id)s::text AND checkpoint_ns = ''),
        %(role)s, %(content)s, %(body)s, %(outcome)s, %(stop_reason)s)
"""
_LAST_MESSAGE = (
    "SELECT message_id FROM messages WHERE session_id = %s ORDER BY created_at DESC, message_id DESC LIMIT 1"
)
_TOUCH = "UPDATE sessions SET updated_at = now(), selected_page_ids = %s WHERE session_id = %s"


@dataclass(frozen=True, slots=True)
class LedgerEntry:
    """A run as it is entered before it starts; ``request`` is what a later process would need to do it again."""

    run_id: str
    session_id: str
    question: str
    request: dict[str, Any]


class Ledger:
    """Writes the rows of runs, and the messages that they end with."""

    def __init__(self, database: Database, workspaces: Workspaces) -> None:
        self._database = database
        self._workspaces = workspaces

    async def open(self, entry: LedgerEntry, identity: Identity) -> None:
        """Enter a run, committed, before its graph starts.

        Raises NotFound where the session is not the identity's, SessionBusy where it has a run in progress. A run
        whose process has died is closed as failed once its lease is over.
        """
        row = {
            "run_id": entry.run_id,
            "session_id": entry.session_id,
            "question": entry.question,
            "request": Jsonb(entry.request),
            "workspace": await self._workspaces.number(identity.workspace),
            "user": identity.user,
            "lease": LEASE_SECONDS,
        }
        async with self._database.connection() as connection:
            try:
                entered = await (await connection.execute(_OPEN, row)).fetchone()
            except psycopg.errors.UniqueViolation:
                await connection.execute(_ABANDONED, [entry.session_id])
                try:
                    entered = await (await connection.execute(_OPEN, row)).fetchone()
                except psycopg.errors.UniqueViolation:
                    raise SessionBusy("The session is answering another question.") from None
        if entered is None:
            raise NotFound(f"There is no session {entry.session_id}.")

    async def extend(self, run_ids: list[str]) -> None:
        """Keep the leases of runs that go on."""
        async with self._database.connection() as connection:
            await connection.execute(_EXTEND, [LEASE_SECONDS, run_ids])

    async def finish(self, run_id: str, message_id: str, end: RunFinished, *, page_ids: tuple[str, ...]) -> None:
        """Close a run and write its question and answer, in one transaction.

        The message's body holds sections, citations, sources and what was spent, as the terminal event tells them.
        """
        async with self._database.connection() as connection, connection.transaction():
            asked = await self._close(connection, run_id, end.outcome, end.stop_reason, page_ids)
            answered = {
                **asked,
                "message_id": message_id,
                "parent": asked["message_id"],
                "role": "assistant",
                "content": end.message["answer"],
                "body": Jsonb({**end.message, "spent": end.spent}),
                "outcome": end.outcome,
                "stop_reason": end.stop_reason,
            }
            await connection.execute(_SAY, answered)

    async def fail(self, run_id: str, end: RunFailed, *, page_ids: tuple[str, ...]) -> None:
        """Close a run as failed, its code as the stop reason; its question stays in the session."""
        async with self._database.connection() as connection, connection.transaction():
            await self._close(connection, run_id, "failed", end.code, page_ids)

    async def _close(
        self, connection: Connection, run_id: str, outcome: str, stop_reason: str, page_ids: tuple[str, ...]
    ) -> dict[str, Any]:
        closed = await (await connection.execute(_CLOSE, [outcome, stop_reason, run_id])).fetchone()
        if closed is None:
            raise NotFound(f"There is no open run {run_id}.")
        session_id, question, selected_text = closed
        body: dict[str, Any] = {"page_ids": list(page_ids)}
        if selected_text:
            body["selected_text"] = selected_text
        before = await (await connection.execute(_LAST_MESSAGE, [session_id])).fetchone()
        asked: dict[str, Any] = {
            "message_id": uuid4(),
            "session_id": session_id,
            "run_id": run_id,
            "parent": before and before[0],
            "role": "user",
            "content": question,
            "body": Jsonb(body),
            "outcome": None,
            "stop_reason": None,
        }
        await connection.execute(_SAY, asked)
        await connection.execute(_TOUCH, [Jsonb(list(page_ids)), session_id])
        return asked
