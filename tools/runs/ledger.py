"""Ledger of runs: a row before the graph starts, and the messages in the transaction that ends the run."""

from collections.abc import Sequence
from hashlib import sha256
from time import monotonic
from typing import Any, Literal, NamedTuple

import psycopg
from psycopg.types.json import Jsonb
from psycopg.types.numeric import Int4

from graph.errors import CitewellError, NotFound, SessionBusy
from graph.events import RunFailed, RunFinished
from tools.rules.question_rules import DEFAULT_TITLE
from tools.runs.live_run import LogLine, Run
from tools.sessions.checkpoints import RUN_ID_KEY, STORE_BLOBS, STORE_STEP, CheckpointRow
from tools.sessions.run_request import (
    APART,
    AlreadyAsked,
    Fork,
    RunRequest,
    Superseded,
    question_body,
    question_id,
    request_to_json,
    resolve_fork,
)
from tools.sessions.settled_claims import JUDGED_EARLY
from tools.spending.charges import RECORD_RUN, RECORD_USE, Spending
from tools.storage.database import Connection, Database
from tools.storage.tenants import Workspaces

EntryStatus = Literal["running", "queued"]
Titled = Literal["before", "now", "not yet"]  # whether a session has its title before a run is entered, or by that

# One statement, so that the row and the first event are committed together.
_OPEN = f"""
WITH asked AS (
    SELECT session_id, workspace, "user",
           title = '{DEFAULT_TITLE}' AND NOT ephemeral
           AND NOT EXISTS (SELECT 1 FROM runs WHERE runs.session_id = sessions.session_id) AS untitled,
           EXISTS (
               SELECT 1 FROM checkpoints WHERE thread_id = sessions.session_id::text AND checkpoint_ns = ''
           ) AS remembers,
           %(assumed)s AND EXISTS ({APART}) AS apart
    FROM sessions WHERE session_id = %(session_id)s AND workspace = %(workspace)s AND "user" = %(user)s
    FOR KEY SHARE OF sessions  -- a session that is being deleted is not found
), entered AS (
    INSERT INTO runs (run_id, session_id, workspace, "user", question, request, status, lease_owner, lease_until,
                      started_at, message_id, parent_message_id, fork_checkpoint, asked_once)
    SELECT %(run_id)s, session_id, workspace, "user", %(question)s, %(request)s, %(status)s, %(owner)s,
           now() + make_interval(secs => %(lease)s), CASE WHEN %(status)s = 'running' THEN now() END, %(message_id)s,
           %(parent)s, %(fork)s, %(asked_once)s
    FROM asked WHERE NOT apart AND (%(status)s = 'queued' AND %(may_wait)s OR NOT EXISTS (
        SELECT 1 FROM runs WHERE runs.session_id = %(session_id)s AND runs.status <> 'finished'))
    RETURNING run_id
), logged AS (
    INSERT INTO run_events (run_id, seq, type, payload) SELECT run_id, %(seq)s, %(type)s, %(payload)s FROM entered
), counted AS ({RECORD_RUN}), titled AS (
    UPDATE sessions SET title = %(title)s FROM entered, asked
    WHERE sessions.session_id = asked.session_id AND untitled AND title = '{DEFAULT_TITLE}'
      AND %(title)s::text IS NOT NULL
    RETURNING 1
)
SELECT untitled, remembers, EXISTS (SELECT 1 FROM entered), EXISTS (SELECT 1 FROM titled), apart FROM asked
"""
_ASKED_ONCE = """
SELECT run_id::text FROM runs
WHERE session_id = %(session_id)s AND asked_once = %(asked_once)s ORDER BY created_at DESC LIMIT 1
"""
# The session's row is locked until the end is committed: of two runs that end at once, the second sees the messages of
# the first, and the next statement then reads its parent among them.
_CLOSE = """
WITH closed AS (
    UPDATE runs SET status = 'finished', outcome = %(outcome)s, stop_reason = %(stop_reason)s, last_seq = %(seq)s,
                    finished_at = now()
    WHERE run_id = %(run_id)s AND attempt = %(attempt)s AND status <> 'finished'
    RETURNING session_id, parent_message_id, fork_checkpoint
)
UPDATE sessions SET updated_at = now(), selected_page_ids = %(page_ids)s, selected_collection_ids = %(collection_ids)s
FROM closed WHERE sessions.session_id = closed.session_id
RETURNING closed.parent_message_id::text, closed.fork_checkpoint
"""
# A question is dated when it was asked, but never before a message that is stored already: the newest message ends the
# branch used last. The answer is dated a microsecond later than its end, so that it sorts behind its question.
_WRITE_MESSAGES = f"""
WITH {{checkpoint}}, asked AS (
    INSERT INTO messages (message_id, session_id, run_id, parent_message_id, checkpoint_id, created_at, role, content,
                          body)
    SELECT %(question_id)s::uuid, %(session_id)s::uuid, %(run_id)s::uuid,
           CASE WHEN %(at_the_end)s::boolean THEN (
               SELECT message_id FROM messages WHERE session_id = %(session_id)s::uuid
               ORDER BY created_at DESC, message_id DESC LIMIT 1
           ) ELSE %(parent)s::uuid END,
           checkpoint_id, greatest(
               (SELECT created_at FROM runs WHERE run_id = %(run_id)s::uuid),
               (SELECT max(created_at) + interval '1 microsecond' FROM messages WHERE session_id = %(session_id)s::uuid)
           ), 'user', %(question)s::text, %(question_body)s::jsonb
    FROM checkpoint WHERE %(question_id)s::uuid IS NOT NULL
), answered AS (
    INSERT INTO messages (message_id, session_id, run_id, parent_message_id, checkpoint_id, created_at, role, content,
                          body, judged_early, outcome, stop_reason)
    SELECT %(message_id)s::uuid, %(session_id)s::uuid, %(run_id)s::uuid,
           coalesce(%(question_id)s::uuid, %(parent)s::uuid), checkpoint_id, at + interval '1 microsecond', 'assistant',
           %(answer)s::text, %(body)s::jsonb, {JUDGED_EARLY}, %(outcome)s::text, %(stop_reason)s::text
    FROM checkpoint WHERE %(answer)s::text IS NOT NULL
), logged AS (
    INSERT INTO run_events (run_id, seq, type, payload)
    SELECT %(run_id)s::uuid, seq, type, payload
    FROM unnest(%(seqs)b::int4[], %(types)b::text[], %(payloads)b::text[]) AS line (seq, type, payload)
    ON CONFLICT (run_id, seq) DO NOTHING
)
{RECORD_USE}
"""
# ``checkpoint`` is the one that the messages fork at: what is stored with them, else the run's last.
_WRITE_WITH_CHECKPOINT = _WRITE_MESSAGES.format(
    checkpoint=f"""stored AS ({STORE_BLOBS}), saved AS ({STORE_STEP}), checkpoint AS MATERIALIZED (
    SELECT %(checkpoint_id)s::text AS checkpoint_id, clock_timestamp() AS at
)"""
)
_WRITE_AFTER_CHECKPOINT = _WRITE_MESSAGES.format(
    checkpoint=f"""checkpoint AS MATERIALIZED (
    SELECT max(checkpoint_id) AS checkpoint_id, clock_timestamp() AS at FROM checkpoints
    WHERE thread_id = %(session_id)s::text AND checkpoint_ns = '' AND metadata ->> '{RUN_ID_KEY}' = %(run_id)s::text
)"""
)
# Longer than a busy process, or the database in a failover, is silent; the runs of a dead one wait that long.
LEASE_SECONDS = 30.0
_BUSY = "The session is answering another question."


class Ledger:
    """Writes the rows of runs and their messages."""

    def __init__(
        self,
        database: Database,
        workspaces: Workspaces,
        spending: Spending | None = None,
        *,
        owner: str = "",
        lease_seconds: float = LEASE_SECONDS,
    ):
        self._database = database
        self._workspaces = workspaces
        self.spending = spending or Spending(database, workspaces)
        self._owner = owner
        self._lease_seconds = lease_seconds

    async def resolve_position(self, session_id: str, request: RunRequest) -> Fork:
        """Return the request with the question it resolves to, and where it continues the session.

        Where it names no message, that is the end of the session, which ``open`` corrects where it has to.
        Raises NotFound for a message that is not in the session, InvalidRequest for one of the wrong kind.
        """
        if request.names_no_message:
            return Fork(request)
        async with self._database.connection() as connection:
            return await resolve_fork(connection, session_id, request)

    async def open(
        self, run: Run, first: LogLine, *, entry: EntryStatus, fork: Fork, title: str | None = None
    ) -> Titled:
        """Insert a run with its first event, committed, before its graph starts.

        A ``queued`` run waits for its turn where the request allows it. The run gets the checkpoint that it forks from.
        The first run of a session that still has the default title sets it, if there is one. Returns when that has one.
        Raises NotFound where the session is not the identity's, SessionBusy where it has an unfinished run and the
        entry is ``running`` or the request may not wait, AlreadyAsked where the request asks once and another one has
        asked.
        """
        workspace = await self._workspaces.number(run.request.context.identity.workspace)
        row = {**self._open_parameters(run, first, entry, fork, title), "workspace": workspace}
        async with self._database.connection() as connection:
            found = await _insert(connection, row)
            if found.apart:
                fork = await resolve_fork(connection, run.session_id, run.request)
                found = await _insert(connection, {**row, **_position(fork), "assumed": False})
        run.fork_checkpoint = fork.fork_checkpoint
        run.remembers = found.remembers or entry == "queued"  # who waits for another run goes on from its checkpoint
        if run.account is not None:
            run.account.recorded_at = monotonic()
        if found.titled:
            return "now"
        return "not yet" if found.untitled and title is None else "before"

    def _open_parameters(
        self, run: Run, first: LogLine, entry: EntryStatus, fork: Fork, title: str | None
    ) -> dict[str, Any]:
        request = run.request
        return {
            **self.spending.run_fields(run.account),
            **_position(fork),
            "run_id": run.run_id,
            "session_id": run.session_id,
            "message_id": run.message_id,
            "question": request.question,
            "request": Jsonb(request_to_json(request)),
            "user": request.context.identity.user,
            "owner": self._owner,
            "lease": self._lease_seconds,
            "status": entry,
            "may_wait": request.while_running != "reject",
            "title": title,
            "assumed": request.names_no_message,
            "asked_once": sha256(request.question.encode()).digest() if request.once else None,
            "seq": first.envelope.seq,
            "type": first.envelope.event.type,
            "payload": first.text,
        }

    async def finish(
        self, run: Run, end: RunFinished, lines: Sequence[LogLine], checkpoint: CheckpointRow | None = None
    ) -> None:
        """Close a run, and write its question, answer, last events and what it used, in one transaction.

        The terminal event is the last of the lines. A ``checkpoint`` becomes the one that the messages fork at. The
        message's body holds the sections, citations, sources, usage and cost of the terminal event.
        Raises Superseded where another process has the run.
        """
        answer = {
            "outcome": end.outcome,
            "stop_reason": end.stop_reason,
            "answer": end.message["answer"],
            "body": Jsonb({**end.message, "spent": end.spent, **({"cost": end.cost} if end.cost else {})}),
        }
        await self._close(run, answer, lines, checkpoint)

    async def fail(self, run: Run, end: RunFailed, lines: Sequence[LogLine]) -> None:
        """Close a run as failed, with the error code as stop reason; its question stays in the session.

        Raises Superseded where another process has the run.
        """
        await self._close(run, {"outcome": "failed", "stop_reason": end.code, "answer": None, "body": None}, lines)

    async def _close(
        self, run: Run, answer: dict[str, Any], lines: Sequence[LogLine], checkpoint: CheckpointRow | None = None
    ) -> None:
        """Close the row, and write the question if it is new, the answer if there is one, and the events."""
        use = run.account.unstored() if run.account is not None else {}
        row = {**_question(run), **answer, **_events(lines), **self.spending.use_fields(use)}
        # In a pipeline, the statements that begin and end the transaction go along with those in it. Without them it
        # would commit what was sent before an error of this process.
        async with self._database.connection() as connection, connection.pipeline(), connection.transaction():
            found = await (await connection.execute(_CLOSE, {**row, "attempt": run.attempt})).fetchone()
            if found is not None:
                parent, fork = found
                at_the_end = fork is None and run.request.regenerate is None
                written = {**row, **(checkpoint or {}), "parent": parent, "at_the_end": at_the_end}
                await connection.execute(_WRITE_WITH_CHECKPOINT if checkpoint else _WRITE_AFTER_CHECKPOINT, written)
        if found is None:
            raise Superseded("Another process has taken this run over.")
        if run.account is not None:
            run.account.settle(use)


class _Entered(NamedTuple):
    """What was found of a session as a run was to be entered, and whether it was."""

    untitled: bool  # the session has the default title, and had no run
    remembers: bool  # it has a checkpoint
    entered: bool
    titled: bool  # it has got its title
    apart: bool  # its end is not where it was assumed to be, and the run was not entered


async def _insert(connection: Connection, row: dict[str, Any]) -> _Entered:
    """Insert a run with its first event, unless its session is apart from what the request assumed.

    Raises NotFound, SessionBusy and AlreadyAsked as ``Ledger.open`` does.
    """
    try:
        row_found = await (await connection.execute(_OPEN, row)).fetchone()
    except psycopg.errors.UniqueViolation as error:
        if error.diag.constraint_name == "runs_asked_once":
            raise await _already_asked(connection, row) from error
        raise SessionBusy(_BUSY) from error
    if row_found is None:
        raise NotFound(f"There is no session {row['session_id']}.")
    found = _Entered(*row_found)
    if not (found.entered or found.apart):
        raise SessionBusy(_BUSY)
    return found


def _position(fork: Fork) -> dict[str, str | None]:
    return {"parent": fork.parent_message_id, "fork": fork.fork_checkpoint}


async def _already_asked(connection: Connection, row: dict[str, Any]) -> CitewellError:
    """Return the error that names the other run, which may have ended just now."""
    found = await (await connection.execute(_ASKED_ONCE, row)).fetchone()
    return AlreadyAsked(found[0]) if found is not None else NotFound(f"There is no session {row['session_id']}.")


def _question(run: Run) -> dict[str, Any]:
    """Return the statement parameters of a run and its question; a question asked again gets no new row."""
    request = run.request
    return {
        "run_id": run.run_id,
        "session_id": run.session_id,
        "message_id": run.message_id,
        "question_id": question_id(run.message_id) if request.regenerate is None else None,
        "question": request.question,
        "question_body": Jsonb(question_body(request_to_json(request))),
        "page_ids": Jsonb(list(request.page_ids)),
        "collection_ids": Jsonb(list(request.collection_ids)),
    }


def _events(lines: Sequence[LogLine]) -> dict[str, Any]:
    return {
        "seq": lines[-1].envelope.seq,
        "seqs": [Int4(line.envelope.seq) for line in lines],
        "types": [line.envelope.event.type for line in lines],
        "payloads": [line.text for line in lines],
    }
