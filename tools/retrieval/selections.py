"""Passages that readers marked and that stand in no document: each is stored for one session, and deleted with it."""

from collections import defaultdict
from collections.abc import Sequence
from uuid import UUID, uuid5

from text.normal_forms import compose
from tools.retrieval.withholding import MARKED
from tools.storage.database import Connection

_NAMESPACE = UUID("5b0c5d4e-6e0b-5b7e-9f0a-3f4de1c4b8f2")
_MARKED_IN = """
SELECT s.session_id::text, s.workspace, m.body ->> 'selected_text'
FROM messages AS m JOIN sessions AS s USING (session_id)
WHERE m.session_id = ANY(%s::uuid[]) AND m.role = 'user' AND m.body ? 'selected_text'
"""
_STORED = f"""
SELECT document_id::text FROM documents
WHERE workspace = %s AND document_id = ANY(%s::uuid[]) AND source_type = '{MARKED}'
"""
_REMOVE = "DELETE FROM documents WHERE workspace = %s AND document_id = ANY(%s::uuid[])"


def passage_of(text: str) -> str:
    """Return a marked text as it is looked for and stored."""
    return compose(text).strip()


def selection_id(owner: str, passage: str) -> str:
    """Return the id of a passage's document; ``owner`` is a session's id, or who marked it outside of any."""
    return str(uuid5(_NAMESPACE, f"{owner}\0{passage}"))


async def delete_selections(connection: Connection, session_ids: Sequence[str]) -> None:
    """Delete what was marked in some sessions; call it in the transaction that deletes these, before it does."""
    marked: defaultdict[int, list[str]] = defaultdict(list)
    for session_id, workspace, text in await (await connection.execute(_MARKED_IN, [list(session_ids)])).fetchall():
        marked[workspace].append(selection_id(session_id, passage_of(text)))
    for workspace, ids in marked.items():
        found = await (await connection.execute(_STORED, [workspace, ids])).fetchall()
        if stored := [document_id for (document_id,) in found]:
            from tools.retrieval.indexing import forget_segments  # which needs NumPy, as nothing else of sessions does

            await forget_segments(connection, workspace, stored)
            await connection.execute(_REMOVE, [workspace, stored])
