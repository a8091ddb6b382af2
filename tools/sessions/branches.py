"""Find where a run continues: at the end of its session, or where a question is edited or asked again."""

from dataclasses import asdict, dataclass
from typing import Any
from uuid import UUID

from graph.errors import InvalidRequest, NotFound
from graph.evidence import Identity
from tools.runs.run_request import RunRequest
from tools.storage.database import Connection

_MESSAGE = """
SELECT role, content, body, parent_message_id::text
FROM messages JOIN sessions USING (session_id) JOIN workspaces ON number = workspace
WHERE session_id = %(session_id)s AND message_id = %(message_id)s AND name = %(workspace)s AND "user" = %(user)s
"""
# The newest message, and whether the thread's last checkpoint is its own.
_END = """
SELECT message_id::text, role = 'assistant' AND checkpoint_id = (
    SELECT max(checkpoint_id) FROM checkpoints WHERE thread_id = %(session_id)s::text AND checkpoint_ns = '')
FROM messages
WHERE session_id = %(session_id)s::uuid
  AND NOT EXISTS (SELECT 1 FROM runs WHERE runs.session_id = %(session_id)s::uuid AND status <> 'finished')
ORDER BY created_at DESC, messages.message_id DESC LIMIT 1
"""
# A question that was never answered is no part of what a session remembers.
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
FROM_NOTHING = ""


@dataclass(frozen=True, slots=True)
class Fork:
    """What a run is asked, and where it goes on from.

    ``fork_checkpoint`` is the checkpoint to go on from: "" for an empty memory, None for the thread's last, after the
    last message of the session. Where it is not None, ``parent_message_id`` is the message that the run's first one
    follows, and None makes that one the first of a branch. Where ``existing_question_id`` is given, that question is
    stored already, and only an answer is to be added, under it.
    """

    question: str
    page_ids: tuple[str, ...]
    selected_text: str
    parent_message_id: str | None = None
    fork_checkpoint: str | None = None
    existing_question_id: str | None = None


async def resolve_fork(connection: Connection, session_id: str, request: RunRequest) -> Fork:
    """Return where a request goes on from in its session.

    ``regenerate`` names an answer, or a question that was left without one: the question is asked again with the pages
    and the passage that it came with. ``edit`` names a question, whose place the new one takes.
    Raises NotFound for a message that the identity's session does not have, InvalidRequest for one of the wrong kind.
    """
    if request.edit is not None and request.regenerate is not None:
        raise InvalidRequest("edit: a request either edits a question or regenerates an answer.")
    if request.regenerate is not None:
        return await _regenerated(connection, session_id, request)
    asked = request.question, request.page_ids, request.selected_text
    if request.edit is not None:
        edited = await _message(connection, session_id, request.edit, "edit", request.context.identity)
        if edited["role"] != "user":
            raise InvalidRequest("edit: it must name a question, not an answer.")
        parent = edited["parent_message_id"]
        return Fork(*asked, parent, await _memory_at(connection, session_id, parent))
    return Fork(*asked, *await _end(connection, session_id))


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


async def _end(connection: Connection, session_id: str) -> tuple[str | None, str | None]:
    """Return the last message and what was remembered there, where the thread's last checkpoint is not that anyway.

    A fork that failed leaves checkpoints that are newer, and remember another past. While a run goes on, what follows
    it goes on from its checkpoints.
    """
    row = await (await connection.execute(_END, {"session_id": session_id})).fetchone()
    if row is None or row[1]:
        return None, None
    return row[0], await _memory_at(connection, session_id, row[0])


async def _memory_at(connection: Connection, session_id: str, message_id: str | None) -> str:
    asked = {"session_id": session_id, "message_id": message_id}
    row = await (await connection.execute(_LAST_ANSWER, asked)).fetchone()
    return FROM_NOTHING if row is None else str(row[0])


async def _message(
    connection: Connection, session_id: str, message_id: str, field: str, identity: Identity
) -> dict[str, Any]:
    unknown = NotFound(f"{field}: there is no message {message_id} in the session.")
    try:
        asked = {"session_id": session_id, "message_id": UUID(message_id), **asdict(identity)}
    except ValueError:
        raise unknown from None
    found = await (await connection.execute(_MESSAGE, asked)).fetchone()
    if found is None:
        raise unknown
    return dict(zip(("role", "content", "body", "parent_message_id"), found, strict=True))
