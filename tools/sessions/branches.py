"""Resolve where a run continues: at the end of its session, or at an edited or regenerated message."""

from dataclasses import asdict, dataclass, replace
from typing import Any
from uuid import UUID

from graph.errors import InvalidRequest, NotFound
from graph.evidence import Identity
from tools.sessions.run_request import RunRequest
from tools.storage.database import Connection

_MESSAGE = """
SELECT role, content, body, parent_message_id::text
FROM messages JOIN sessions USING (session_id) JOIN workspaces ON number = workspace
WHERE session_id = %(session_id)s AND message_id = %(message_id)s AND name = %(workspace)s AND "user" = %(user)s
"""
# The newest message, unless the thread's last checkpoint belongs to it, so that the next run just goes on: a failed
# fork leaves newer checkpoints, which hold the memory of another branch. While a run is in progress, the next run
# continues from the checkpoints of that run.
APART = """
SELECT message_id::text FROM (
    SELECT message_id, role, checkpoint_id FROM messages
    WHERE session_id = %(session_id)s::uuid
      AND NOT EXISTS (SELECT 1 FROM runs WHERE runs.session_id = %(session_id)s::uuid AND status <> 'finished')
    ORDER BY created_at DESC, message_id DESC LIMIT 1
) AS newest
WHERE (role = 'assistant' AND checkpoint_id = (
    SELECT max(checkpoint_id) FROM checkpoints WHERE thread_id = %(session_id)s::text AND checkpoint_ns = ''
)) IS NOT TRUE
"""
# Skips questions that were never answered: they are not part of the session's memory.
_LAST_ANSWER = """
WITH RECURSIVE branch AS (
    SELECT parent_message_id, role, checkpoint_id FROM messages
    WHERE session_id = %(session_id)s AND message_id = %(message_id)s
    UNION ALL
    SELECT messages.parent_message_id, messages.role, messages.checkpoint_id FROM branch
    JOIN messages ON messages.message_id = branch.parent_message_id
    WHERE branch.role <> 'assistant' OR branch.checkpoint_id IS NULL
)
SELECT checkpoint_id FROM branch WHERE role = 'assistant' AND checkpoint_id IS NOT NULL
"""
EMPTY_MEMORY = ""


@dataclass(frozen=True, slots=True)
class Fork:
    """The question of a run and where in its session the run continues.

    ``fork_checkpoint`` is the checkpoint to continue from: "" for an empty memory, None for the thread's last one,
    after the session's last message. If it is not None, ``parent_message_id`` is the parent of the run's first message;
    None then starts a new branch at the root. If ``existing_question_id`` is set, that question is already stored, and
    only an answer is added below it.
    """

    question: str
    page_ids: tuple[str, ...]
    selected_text: str
    parent_message_id: str | None = None
    fork_checkpoint: str | None = None
    existing_question_id: str | None = None


async def resolve_fork(connection: Connection, session_id: str, request: RunRequest) -> Fork:
    """Return where a request continues in its session.

    ``regenerate`` names an answer, or a question without an answer: the question is asked again with its original pages
    and passage. ``edit`` names a question, which the new one replaces.
    Raises NotFound for a message that is not in the identity's session, InvalidRequest for one of the wrong kind.
    """
    if request.edit is not None and request.regenerate is not None:
        raise InvalidRequest("edit: a request can either edit a question or regenerate an answer, not both.")
    if request.regenerate is not None:
        return await _regenerated(connection, session_id, request)
    if request.edit is not None:
        edited = await _message(connection, session_id, request.edit, "edit", request.context.identity)
        if edited["role"] != "user":
            raise InvalidRequest("edit: it must name a question, not an answer.")
        return await _behind(connection, session_id, edited["parent_message_id"], at_the_end(request))
    newest = await (await connection.execute(APART, {"session_id": session_id})).fetchone()
    if newest is None:
        return at_the_end(request)
    return await _behind(connection, session_id, newest[0], at_the_end(request))


def at_the_end(request: RunRequest) -> Fork:
    """Return the fork of a request that goes on from its session's last checkpoint: see ``APART``."""
    return Fork(request.question, request.page_ids, request.selected_text)


async def _behind(connection: Connection, session_id: str, message_id: str | None, fork: Fork) -> Fork:
    memory = await _memory_at(connection, session_id, message_id)
    return replace(fork, parent_message_id=message_id, fork_checkpoint=memory)


async def _regenerated(connection: Connection, session_id: str, request: RunRequest) -> Fork:
    question_id, identity = str(request.regenerate), request.context.identity
    message = await _message(connection, session_id, question_id, "regenerate", identity)
    if message["role"] == "assistant":
        question_id = message["parent_message_id"]
        message = await _message(connection, session_id, question_id, "regenerate", identity)
    body: dict[str, Any] = message["body"]
    return Fork(
        question=message["content"],
        page_ids=tuple(body.get("page_ids", ())),
        selected_text=body.get("selected_text", ""),
        parent_message_id=question_id,
        fork_checkpoint=await _memory_at(connection, session_id, message["parent_message_id"]),
        existing_question_id=question_id,
    )


async def _memory_at(connection: Connection, session_id: str, message_id: str | None) -> str:
    values = {"session_id": session_id, "message_id": message_id}
    row = await (await connection.execute(_LAST_ANSWER, values)).fetchone()
    return EMPTY_MEMORY if row is None else str(row[0])


async def _message(
    connection: Connection, session_id: str, message_id: str, field: str, identity: Identity
) -> dict[str, Any]:
    unknown = NotFound(f"{field}: there is no message {message_id} in the session.")
    try:
        values = {"session_id": session_id, "message_id": UUID(message_id), **asdict(identity)}
    except ValueError:
        raise unknown from None
    found = await (await connection.execute(_MESSAGE, values)).fetchone()
    if found is None:
        raise unknown
    return dict(zip(("role", "content", "body", "parent_message_id"), found, strict=True))
