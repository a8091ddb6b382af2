"""The turns of a session as somebody may still know them, for the prompts of the next question.

A session remembers its answers as text. Where a document that they show may no longer be read, their text is taken from
the stored messages instead, without the sections that are withheld in these.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from graph.evidence import Identity, answer_text
from graph.rows import TURNS_KEPT, Turn
from tools.retrieval.scope import READABLE, reading_as
from tools.retrieval.withholding import WITHHELD, hidden_in, uncited_in, withhold
from tools.storage.database import Connection, Database

MESSAGES = 4 * TURNS_KEPT  # that are looked at: a turn that is kept may repeat one that no longer is
_UUID = "^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$"
# From the newest message of the session, or from the one that an edited question follows.
_BRANCH = """
WITH RECURSIVE branch AS (
    SELECT message_id, parent_message_id, 1 AS depth FROM messages
    WHERE session_id = %(session_id)s AND message_id = coalesce(
        (SELECT parent_message_id FROM runs WHERE run_id = %(run_id)s AND fork_checkpoint IS NOT NULL),
        (SELECT message_id FROM messages WHERE session_id = %(session_id)s
         ORDER BY created_at DESC, messages.message_id DESC LIMIT 1)
    )
    UNION ALL
    SELECT m.message_id, m.parent_message_id, depth + 1 FROM branch
    JOIN messages AS m ON m.message_id = branch.parent_message_id
    WHERE depth < %(most)s
)
"""
_HIDDEN = f"""{_BRANCH}, shown AS (
    SELECT DISTINCT sessions.workspace, jsonb_path_query(body, '$.*[*].document_id') #>> '{{}}' AS id FROM branch
    JOIN messages USING (message_id) JOIN sessions USING (session_id)
)
SELECT id, d.document_id IS NULL FROM shown
LEFT JOIN documents AS d ON d.workspace = shown.workspace AND d.document_id = CASE WHEN id ~ %(uuid)s THEN id::uuid END
WHERE id ~ %(uuid)s AND NOT coalesce({READABLE}, false)
"""
_MESSAGES = f"{_BRANCH} SELECT role, content, body, outcome FROM branch JOIN messages USING (message_id) ORDER BY depth"


async def turns_without_withheld(
    database: Database, session_id: str, run_id: str, identity: Identity
) -> list[Turn] | None:
    """Return the turns before a run's question without what its asker may no longer read, None where they may all."""
    row = {"session_id": session_id, "run_id": run_id, "most": MESSAGES, "uuid": _UUID, **reading_as(identity)}
    async with database.connection() as connection:
        hidden: dict[str, bool] = dict(await (await connection.execute(_HIDDEN, row)).fetchall())
        return await _turns(connection, row, hidden) if hidden else None


async def _turns(connection: Connection, row: dict[str, Any], unreadable: Mapping[str, bool]) -> list[Turn] | None:
    gone = {document_id for document_id, is_gone in unreadable.items() if is_gone}
    refused = unreadable.keys() - gone
    messages: Sequence[Any] = (await (await connection.execute(_MESSAGES, row)).fetchall())[::-1]
    turns: list[Turn] = []
    question, secret = "", False
    for role, content, body, outcome in messages:
        if role == "user":
            question = content
            continue
        hidden = hidden_in(body, refused, gone)
        secret = secret or bool(hidden)
        # What was said later without a source may repeat it.
        sections = withhold(body, hidden, also=uncited_in(body) if secret else ())["sections"] if secret else None
        kept = None if sections is None else [each for each in sections if each["text"] != WITHHELD]
        answer = content if kept is None else answer_text(kept) or WITHHELD
        turns.append(Turn(question=question, standalone_question=question, answer=answer))
        if outcome == "abstained":
            turns[-1]["refused"] = True
    return turns[-TURNS_KEPT:] if secret else None
