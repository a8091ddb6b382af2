"""Store of guides, and of questions that follow answers: each is kept as long as the text that it is proven on.

Everything is read with the rights of today: what is of a document that the reader may not read, or of an earlier text
of it, is not there; nor is what was made when other questions were wanted, such as a model's.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from psycopg.types.json import Jsonb

from graph.errors import NotFound
from graph.evidence import Identity
from tools.guides.own_questions import RULES
from tools.retrieval.scope import LASTING, VISIBLE, as_uuid, reading_as
from tools.storage.database import Database
from tools.storage.tenants import Workspaces

_REACHED = f"d.workspace = %(workspace)s AND {VISIBLE}"
_VERSIONS = (
    f"SELECT d.document_id::text, d.version FROM documents AS d WHERE d.document_id = ANY(%(ids)s) AND {_REACHED}"
)
_NEWEST = f"""
SELECT d.document_id::text, d.title, g.body
FROM documents AS d LEFT JOIN document_guides AS g
    ON g.workspace = d.workspace AND g.document_id = d.document_id AND g.version = d.version
        AND g.made_by = %(made_by)s
WHERE {_REACHED} AND {LASTING}
ORDER BY d.updated_at DESC, d.document_id LIMIT %(limit)s
"""
_GUIDE = f"""
SELECT g.body FROM document_guides AS g JOIN documents AS d USING (workspace, document_id, version)
WHERE d.document_id = ANY(%(ids)s) AND g.made_by = %(made_by)s AND {_REACHED}
"""
# A text that was replaced while its guide was made keeps none.
_KEEP_GUIDE = """
INSERT INTO document_guides (workspace, document_id, version, body, made_by)
SELECT workspace, document_id, version, %(body)s, %(made_by)s FROM documents
WHERE workspace = %(workspace)s AND document_id = %(document_id)s AND version = %(version)s
ON CONFLICT (workspace, document_id) DO UPDATE
SET version = excluded.version, body = excluded.body, made_by = excluded.made_by, made_at = now()
"""
_FOLLOW_UPS = """
SELECT f.questions FROM follow_ups AS f JOIN messages AS m USING (message_id) JOIN sessions AS s USING (session_id)
WHERE f.message_id = %(message_id)s AND f.made_by = %(made_by)s AND s.workspace = %(workspace)s AND s."user" = %(user)s
"""
_KEEP_FOLLOW_UPS = """
INSERT INTO follow_ups (message_id, questions, made_by)
SELECT message_id, %(questions)s, %(made_by)s FROM messages WHERE message_id = %(message_id)s
ON CONFLICT (message_id) DO UPDATE
SET questions = excluded.questions, made_by = excluded.made_by, made_at = now()
"""


class GuideStore:
    """The stored guides of documents, and the questions that follow answers; ``made_by`` says whose questions."""

    def __init__(self, database: Database, workspaces: Workspaces, made_by: str) -> None:
        self._database = database
        self._workspaces = workspaces
        self._made_by = f"{made_by} {RULES}"

    async def version(self, identity: Identity, document_id: str) -> int:
        """Return the version of a document's text. Raises NotFound."""
        found = (await self.versions(identity, [document_id])).get(document_id)
        if found is None:
            raise NotFound(f"There is no document {document_id}.")
        return found

    async def versions(self, identity: Identity, document_ids: Sequence[str]) -> dict[str, int]:
        """Return the versions of those of some documents that the identity may read."""
        rows = await self._rows(_VERSIONS, await self._scope(identity, document_ids))
        return {str(document_id): int(version) for document_id, version in rows}

    async def guide(self, identity: Identity, document_id: str) -> dict[str, Any] | None:
        """Return the guide of a document's present text, None where none is stored or the document can't be read."""
        rows = await self._rows(_GUIDE, await self._scope(identity, [document_id]))
        return rows[0][0] if rows else None

    async def newest(self, identity: Identity, limit: int) -> list[tuple[str, str, dict[str, Any] | None]]:
        """Return the id, the title and the guide, if it has one, of the last changed documents of the library."""
        row = {**await self._scope(identity, ()), "limit": limit}
        return [(str(document_id), str(title), body) for document_id, title, body in await self._rows(_NEWEST, row)]

    async def keep_guide(self, identity: Identity, document_id: str, version: int, body: Mapping[str, Any]) -> None:
        """Store the guide of a text, unless the document has another text by now."""
        workspace = await self._workspaces.number(identity.workspace)
        named = {"workspace": workspace, "document_id": document_id, "version": version}
        row = {**named, "body": Jsonb(dict(body)), "made_by": self._made_by}
        await self._database.execute(_KEEP_GUIDE, row)

    async def follow_ups(self, identity: Identity, message_id: str) -> list[dict[str, Any]] | None:
        """Return the questions that follow an answer of the identity's, None where none were made."""
        row = {**await self._scope(identity, ()), "message_id": message_id}
        rows = await self._rows(_FOLLOW_UPS, row)
        return rows[0][0] if rows else None

    async def keep_follow_ups(self, message_id: str, questions: Sequence[Mapping[str, Any]]) -> None:
        """Store the questions that follow an answer; none is one of the findings."""
        found = Jsonb([dict(each) for each in questions])
        row = {"message_id": message_id, "questions": found, "made_by": self._made_by}
        await self._database.execute(_KEEP_FOLLOW_UPS, row)

    async def _scope(self, identity: Identity, document_ids: Sequence[str]) -> dict[str, Any]:
        ids = [each for each in map(as_uuid, document_ids) if each is not None]
        workspace = await self._workspaces.number(identity.workspace)
        return {"workspace": workspace, **reading_as(identity), "ids": ids, "made_by": self._made_by}

    async def _rows(self, statement: str, row: Mapping[str, Any]) -> list[tuple[Any, ...]]:
        return await self._database.fetch_all(statement.encode(), row)
