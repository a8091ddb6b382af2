"""Rows of the documents table: read to compare, written where something changed."""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

from psycopg.types.json import Jsonb

from tools.database import Connection
from tools.new_documents import DocumentFields, ReadyDocument


@dataclass(frozen=True, slots=True)
class StoredDocument:
    """What is stored of a document, as far as a new version is compared with it."""

    content_hash: str
    deleted: bool
    segments: int
    fields: DocumentFields

    def holds(self, document: ReadyDocument) -> bool:
        """Tell whether the document's segments are those of the new version."""
        return self.content_hash == document.content_hash

    def is_same(self, document: ReadyDocument) -> bool:
        """Tell whether the new version would change nothing at all."""
        return self.holds(document) and self.fields == document.fields and not self.deleted


async def read_stored(connection: Connection, workspace: int, document_ids: Sequence[str]) -> dict[str, StoredDocument]:
    """Read what is stored under these ids in a workspace, deleted documents and those of others too."""
    found = await connection.execute(_READ, {"workspace": workspace, "ids": list(document_ids)})
    return {
        str(document_id): StoredDocument(content_hash, deleted, segments, DocumentFields(*values))
        for document_id, content_hash, deleted, segments, *values in await found.fetchall()
    }


async def write_rows(connection: Connection, workspace: int, documents: Sequence[ReadyDocument]) -> None:
    """Insert documents, or update everything of theirs but the date of their making; a deleted one is back."""
    rows = [
        [workspace, document.document_id, document.content_hash, *_values(document.fields)] for document in documents
    ]
    async with connection.cursor() as cursor:
        await cursor.executemany(_WRITE, rows)


def _values(values: DocumentFields) -> list[Any]:
    inner = [getattr(values, name) for name in _FIELDS]
    return [Jsonb(value) if isinstance(value, dict) else value for value in inner]


_FIELDS = [field.name for field in fields(DocumentFields)]
_READ = f"""
SELECT document_id, content_hash, deleted_at IS NOT NULL,
       (SELECT count(*) FROM segments AS s WHERE s.workspace = %(workspace)s AND s.document_id = d.document_id),
       {", ".join(_FIELDS)}
FROM documents AS d WHERE workspace = %(workspace)s AND document_id = ANY(%(ids)s::uuid[])
"""
_WRITTEN = ["content_hash", *_FIELDS]
_WRITE = f"""
INSERT INTO documents (workspace, document_id, {", ".join(_WRITTEN)})
VALUES (%s, %s, {", ".join(["%s"] * len(_WRITTEN))})
ON CONFLICT (workspace, document_id) DO UPDATE
SET {", ".join(f"{name} = excluded.{name}" for name in _WRITTEN)}, updated_at = now(), deleted_at = NULL
"""
