"""Read the status of one run, or list runs, newest first."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from graph.evidence import Outcome
from tools.storage.database import Connection, row_of, rows_of
from tools.storage.pagination import decode_cursor, encode_cursor

RunState = Literal["queued", "running", "finished"]

_RUN = "run_id::text, session_id::text, question, status, outcome, stop_reason, created_at, started_at, finished_at"
_MINE = 'workspace = %(workspace)s AND "user" = %(user)s'
_ONE = f"SELECT {_RUN} FROM runs WHERE run_id = %(run_id)s AND {_MINE}"
_LIST = f"""
SELECT {_RUN} FROM runs
WHERE {_MINE}
  AND (%(session_id)s::uuid IS NULL OR session_id = %(session_id)s)
  AND (%(status)s::text IS NULL OR status = %(status)s)
  AND (%(before)s::timestamptz IS NULL OR created_at < %(before)s
       OR created_at = %(before)s AND run_id > %(after_id)s::uuid)
ORDER BY created_at DESC, runs.run_id LIMIT %(limit)s
"""


@dataclass(frozen=True, slots=True)
class RunStatus:
    """The status of a run in the ledger."""

    run_id: str
    session_id: str
    question: str
    status: RunState
    outcome: Outcome | None
    stop_reason: str | None
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None


@dataclass(frozen=True, slots=True)
class RunPage:
    """A page of runs, newest first; ``next_cursor`` fetches the next page, and is None at the end."""

    runs: list[RunStatus]
    next_cursor: str | None


async def read_run(connection: Connection, owner: dict[str, Any], run_id: str) -> RunStatus | None:
    """Return the status of an owner's run, or None where there is no such run."""
    return await row_of(connection, RunStatus, _ONE, {**owner, "run_id": run_id})


async def list_runs(
    connection: Connection,
    owner: dict[str, Any],
    *,
    session_id: str | None,
    status: RunState | None,
    limit: int,
    cursor: str | None,
) -> RunPage:
    """Return a page of at most ``limit`` runs of an owner, of one session or of all.

    Raises InvalidRequest for a cursor that this function did not return.
    """
    before, after_id = decode_cursor(cursor)
    filters = {"session_id": session_id, "status": status, "before": before, "after_id": after_id, "limit": limit + 1}
    # Not prepared: a generic plan would read every run of the user.
    found = await rows_of(connection, RunStatus, _LIST, {**owner, **filters}, prepare=False)
    shown = found[:limit]
    return RunPage(shown, encode_cursor(shown[-1].created_at, shown[-1].run_id) if len(found) > limit else None)
