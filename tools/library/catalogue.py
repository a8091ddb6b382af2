"""The documents of a library: their rows, and listing, reading, deletion and purging."""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from psycopg.types.json import Jsonb
from typing_extensions import TypedDict

from graph.errors import InvalidRequest, NotFound
from graph.evidence import Identity, Space
from tools.library.document_filters import (
    COUNT,
    FILE_NAME,
    FILTERED,
    FOLDER,
    MOST_FOLDERS,
    SUMMARY,
    DocumentFilter,
    LibrarySummary,
    Order,
    Sort,
    ordered_by,
)
from tools.library.likeness import SimilarDocument, find_similar
from tools.library.new_documents import DocumentFields, ReadyDocument, readers_with, stored_readers
from tools.originals.originals import Original, Originals
from tools.retrieval.indexing import forget_segments, new_version
from tools.retrieval.scope import NOT_EXPIRED, READABLE, VISIBLE, readable, reading_as
from tools.storage.database import Connection, Database, row_of, rows_of, value_of
from tools.storage.pagination import decode_cursor, encode_cursor
from tools.storage.partitions import lock_library
from tools.storage.tenants import Workspaces


@dataclass(frozen=True, slots=True)
class StoredDocument:
    """A stored document, with the values that a new version is compared with."""

    content_hash: str
    deleted: bool
    segments: int
    fields: DocumentFields

    def holds(self, document: ReadyDocument) -> bool:
        """Whether the stored segments are those of the new version."""
        return self.content_hash == document.content_hash

    def is_same(self, document: ReadyDocument) -> bool:
        """Whether the new version would change nothing at all."""
        return self.holds(document) and self.fields == document.fields and not self.deleted


async def read_stored_documents(
    connection: Connection, workspace: int, document_ids: Sequence[str]
) -> dict[str, StoredDocument]:
    """Read the stored documents with some ids, including deleted ones and those of other users."""
    found = await connection.execute(_READ, {"workspace": workspace, "ids": list(document_ids)})
    return {
        str(document_id): StoredDocument(content_hash, deleted, segments, DocumentFields(*values))
        for document_id, content_hash, deleted, segments, *values in await found.fetchall()
    }


async def write_document_rows(connection: Connection, workspace: int, documents: Sequence[ReadyDocument]) -> None:
    """Insert documents, or update everything except their creation date; a deleted document is restored."""
    rows = []
    for document in documents:
        values = [getattr(document.fields, name) for name in _FIELDS]
        jsons = [Jsonb(value) if isinstance(value, dict) else value for value in values]
        rows.append([workspace, document.document_id, document.content_hash, *jsons])
    if await value_of(connection, _ANY_DELETED, [workspace, [document.document_id for document in documents]]):
        await new_version(connection, workspace)
    async with connection.cursor() as cursor:
        await cursor.executemany(_WRITE, rows)


_FIELDS = [field.name for field in fields(DocumentFields)]
_READ = f"""
SELECT document_id, content_hash, deleted_at IS NOT NULL,
       (SELECT count(*) FROM all_segments AS s WHERE s.workspace = %(workspace)s AND s.document_id = d.document_id),
       {", ".join(_FIELDS)}
FROM documents AS d WHERE workspace = %(workspace)s AND document_id = ANY(%(ids)s::uuid[])
"""
_ANY_DELETED = (
    "SELECT 1 FROM documents WHERE workspace = %s AND document_id = ANY(%s::uuid[]) AND deleted_at IS NOT NULL LIMIT 1"
)
_WRITTEN = ["content_hash", *_FIELDS]
_WRITE = f"""
INSERT INTO documents (workspace, document_id, {", ".join(_WRITTEN)})
VALUES (%s, %s, {", ".join(["%s"] * len(_WRITTEN))})
ON CONFLICT (workspace, document_id) DO UPDATE
SET {", ".join(f"{name} = excluded.{name}" for name in _WRITTEN)}, updated_at = now(), deleted_at = NULL
"""

LONGEST_PAGE = 200
PURGED_AT_ONCE = 200
RESTORED_WITHIN = timedelta(hours=1)  # after it was deleted

_COLUMNS = f"""
d.document_id::text, d.title, d.slug,
CASE WHEN num_nonnulls(d.space_id, d.space_slug) > 0
     THEN json_build_object('id', d.space_id, 'slug', d.space_slug) END AS space,
d.url, d.source_type, d.owner, d.readers, d.metadata, d.media_type, d.page_count, d.left_out,
CASE WHEN d.original_sha256 IS NOT NULL
     THEN json_build_object('sha256', d.original_sha256, 'size', d.original_size,
                            'media_type', d.original_media_type, 'name', d.original_name) END AS original,
{FILE_NAME} AS file_name, {FOLDER} AS folder,
(SELECT count(*) FROM all_segments AS s
 WHERE s.workspace = %(workspace)s AND s.document_id = d.document_id) AS segments,
(SELECT coalesce(sum(s.tokens), 0)::int FROM all_segments AS s
 WHERE s.workspace = %(workspace)s AND s.document_id = d.document_id) AS tokens,
d.created_at, d.updated_at, d.expires_at,
(SELECT coalesce(json_agg(json_build_object(
     'source_id', s.source_id, 'kind', s.kind, 'path', p.path, 'seen_at', greatest(s.synced_at, p.read_at),
     'trouble', p.trouble) ORDER BY s.source_id, p.path), '[]')
 FROM places AS p JOIN sources AS s USING (workspace, source_id)
 WHERE p.workspace = %(workspace)s AND p.document_id = d.document_id
   AND {readable("s")}) AS places
"""
_REACHED = f"d.workspace = %(workspace)s AND {VISIBLE}"
_GET = f"SELECT {_COLUMNS} FROM documents AS d WHERE d.document_id = %(document_id)s AND {_REACHED}"
# Of those of the page alone it is looked up what their segments, files and places are.
_LIST = f"""
SELECT {_COLUMNS} FROM documents AS d
JOIN (SELECT d.document_id, row_number() OVER (ORDER BY {{order}}) AS place FROM documents AS d
      WHERE {FILTERED}
        AND (%(before)s::timestamptz IS NULL OR d.updated_at < %(before)s
             OR d.updated_at = %(before)s AND d.document_id > %(after_id)s::uuid)
      ORDER BY {{order}} LIMIT %(limit)s OFFSET %(offset)s) AS listed USING (document_id)
WHERE d.workspace = %(workspace)s
ORDER BY listed.place
"""
_SPACES = f"""
SELECT DISTINCT space FROM documents AS d, unnest(ARRAY[d.space_id, d.space_slug]) AS space
WHERE space IS NOT NULL AND {_REACHED} ORDER BY space
"""
_RAW_TEXT = f"""
SELECT d.title, s.segment_index, s.page_idx, s.start_offset, s.end_offset, s.body
FROM documents AS d JOIN all_segments AS s USING (document_id)
WHERE d.document_id = %(document_id)s AND s.workspace = %(workspace)s AND {_REACHED}
ORDER BY s.segment_index
"""
# Of a document with an owner, the others who may read it may change nothing.
_CHANGEABLE = f"{_REACHED} AND coalesce(d.owner, %(user)s) = %(user)s"
_DELETE = f"""
UPDATE documents AS d SET deleted_at = now()
WHERE d.document_id = ANY(%(ids)s::uuid[]) AND {_CHANGEABLE}
RETURNING d.document_id::text
"""
_RESTORE = f"""
UPDATE documents AS d SET deleted_at = NULL
WHERE d.workspace = %(workspace)s AND d.document_id = ANY(%(ids)s::uuid[])
  AND d.deleted_at > now() - %(within)s AND {READABLE} AND {NOT_EXPIRED}
  AND coalesce(d.owner, %(user)s) = %(user)s
RETURNING d.document_id::text
"""
_OWNER = f"SELECT d.owner FROM documents AS d WHERE d.document_id = %(document_id)s AND {_CHANGEABLE} FOR UPDATE"
_FOLLOWED = "SELECT EXISTS (SELECT FROM places WHERE workspace = %(workspace)s AND document_id = %(document_id)s)"
_SET_READERS = """
UPDATE documents SET readers = %(readers)s, updated_at = now()
WHERE workspace = %(workspace)s AND document_id = %(document_id)s AND readers IS DISTINCT FROM %(readers)s::text[]
"""
_GONE = """
SELECT document_id::text FROM documents
WHERE workspace = %(workspace)s AND (deleted_at <= now() - %(older_than)s OR expires_at <= now())
LIMIT %(limit)s
"""
_REMOVE = "DELETE FROM documents WHERE workspace = %s AND document_id = ANY(%s::uuid[])"


class DocumentPlace(TypedDict):
    """A place of a document in a source. ``seen_at`` is when its file was last there, in ISO 8601.

    ``trouble`` says why today's file could not be read; the document is then of an earlier version.
    """

    source_id: str
    kind: str
    path: str
    seen_at: str
    trouble: str | None


@dataclass(frozen=True, slots=True)
class Document:
    """A document without its text. ``segments`` is the number of its segments.

    ``left_out`` says in plain sentences what of the file is not in its text; ``original`` is the file itself, None
    where none is kept; ``places`` is where it is in sources. ``file_name`` and ``folder`` are those of its file, empty
    where they are not known. ``tokens`` is the size of its text.
    """

    document_id: str
    title: str
    slug: str | None
    space: Space | None
    url: str | None
    source_type: str
    owner: str | None
    readers: list[str] | None
    metadata: dict[str, Any]
    media_type: str
    page_count: int | None
    left_out: list[str]
    original: Original | None
    file_name: str
    folder: str
    segments: int
    tokens: int
    created_at: datetime
    updated_at: datetime
    expires_at: datetime | None
    places: list[DocumentPlace]


@dataclass(frozen=True, slots=True)
class DocumentDetails(Document):
    """A document without its text, with those that share most of their text with it."""

    similar_to: list[SimilarDocument]


@dataclass(frozen=True, slots=True)
class DocumentPage:
    """A page of documents. ``next_cursor`` requests the next page; None at the end, and where they are sorted.

    ``total`` is the number of all that match, where it was asked for.
    """

    documents: list[Document]
    next_cursor: str | None
    total: int | None = None


class RawSegment(TypedDict):
    """A segment of canonical text; ``start`` and ``end`` are offsets in code points, ``end`` exclusive."""

    segment_index: int
    page_idx: int | None
    start: int
    end: int
    text: str


class RawText(TypedDict):
    """A document's canonical text, as segments; joined in order they are the text."""

    document_id: str
    title: str
    segments: list[RawSegment]


class Documents:
    """The documents of a deployment. Those that an identity may not read raise NotFound, as if they did not exist."""

    def __init__(self, database: Database, workspaces: Workspaces, originals: Originals | None = None) -> None:
        self._database = database
        self._workspaces = workspaces
        self._originals = originals or Originals(database, workspaces)

    async def list(
        self,
        identity: Identity,
        shown: DocumentFilter | None = None,
        *,
        limit: int = 50,
        cursor: str | None = None,
        sort: Sort = "changed",
        order: Order | None = None,
        offset: int = 0,
        count: bool = False,
        **narrowed: Any,
    ) -> DocumentPage:
        """List documents, at most 200 per page, the last changed first unless told otherwise.

        ``narrowed`` are fields of a ``DocumentFilter``. Where another order or an ``offset`` is asked for, the pages
        are told apart by their offset alone. ``count`` counts all that match.

        Raises NotFound for an unknown workspace, InvalidRequest for a limit out of range or a cursor that does not come
        from this method, or not from this order.
        """
        if not 1 <= limit <= LONGEST_PAGE:
            raise InvalidRequest(f"limit: must be from 1 to {LONGEST_PAGE}.")
        by_cursor = sort == "changed" and order in (None, "desc") and not offset
        if cursor is not None and not by_cursor:
            raise InvalidRequest("cursor: it goes with the last changed first.", suggestion="Send an offset instead.")
        before, after_id = decode_cursor(cursor)
        shown = shown or DocumentFilter(**narrowed)
        if shown.is_empty:
            return DocumentPage([], None, 0 if count else None)
        matching = {**await self._scope(identity), **shown.parameters()}
        row = matching | {"before": before, "after_id": after_id, "limit": limit + 1, "offset": offset}
        query = _LIST.format(order=ordered_by(sort, order))

        async def read(connection: Connection) -> tuple[list[Document], int | None]:
            found = await rows_of(connection, Document, query.encode(), row)
            return found, await value_of(connection, COUNT, matching) if count else None

        found, total = await self._database.read(read)
        page = found[:limit]
        more = by_cursor and len(found) > limit
        return DocumentPage(
            page,
            encode_cursor(page[-1].updated_at, page[-1].document_id) if more else None,
            total,
        )

    async def summarise(self, identity: Identity, shown: DocumentFilter) -> LibrarySummary:
        """Count the documents of a list by type, folder and source. Raises NotFound for an unknown workspace."""
        if shown.is_empty:
            return LibrarySummary(0, [], [], 0, [])
        row = {**await self._scope(identity), **shown.parameters(), "most": MOST_FOLDERS}

        async def read(connection: Connection) -> LibrarySummary:
            found = await (await connection.execute(SUMMARY, row)).fetchone()
            assert found is not None
            return LibrarySummary(*found)

        return await self._database.read(read)

    async def spaces(self, identity: Identity) -> tuple[str, ...]:
        """Return the ids and slugs of the spaces of documents that the identity may read. Raises NotFound."""
        scope = await self._scope(identity)
        return tuple([row[0] for row in await self._database.fetch_all(_SPACES, scope)])

    async def get(self, identity: Identity, document_id: str) -> DocumentDetails:
        """Read a document without its text. Raises NotFound."""
        row = await self._document_key(identity, document_id)
        async with self._database.connection() as connection:
            found = await row_of(connection, Document, _GET, row)
            if found is None:
                raise _unknown(document_id)
            similar = await find_similar(connection, row["workspace"], identity, [found.document_id])
        values = {each.name: getattr(found, each.name) for each in fields(Document)}
        return DocumentDetails(**values, similar_to=similar.get(found.document_id, []))

    async def raw_text(self, identity: Identity, document_id: str) -> RawText:
        """Read a document's canonical text as segments. Raises NotFound."""
        row = await self._document_key(identity, document_id)
        found = await self._database.fetch_all(_RAW_TEXT, row)
        if not found:
            raise _unknown(document_id)
        segments = [RawSegment(segment_index=i, page_idx=page, start=a, end=b, text=t) for _, i, page, a, b, t in found]
        return RawText(document_id=row["document_id"], title=found[0][0], segments=segments)

    async def delete(self, identity: Identity, document_id: str) -> None:
        """Hide a document at once; ``purge`` removes it later. Raises NotFound."""
        key = await self._document_key(identity, document_id)
        if not await self.delete_some(identity, [key["document_id"]]):
            raise _unknown(document_id)

    async def delete_some(self, identity: Identity, document_ids: Sequence[str]) -> Sequence[str]:
        """Hide documents at once, and return which; others than these the identity may not delete."""
        row = {**await self._scope(identity), "ids": list(document_ids)}
        return [found[0] for found in await self._database.fetch_all(_DELETE, row)]

    async def restore(self, identity: Identity, document_ids: Sequence[str]) -> Sequence[str]:
        """Bring documents back that were deleted within the last hour and are not purged; return which."""
        row = {**await self._scope(identity), "ids": list(document_ids), "within": RESTORED_WITHIN}
        async with self._database.connection() as connection, connection.transaction():
            await lock_library(connection, row["workspace"])
            restored = [found[0] for found in await (await connection.execute(_RESTORE, row)).fetchall()]
            if restored:
                await new_version(connection, row["workspace"])
        return restored

    async def taken_ids(self, identity: Identity, document_ids: Sequence[str]) -> set[str]:
        """Return those of some ids that are of documents which the identity may not change, deleted ones included."""
        workspace = await self._workspaces.number(identity.workspace)
        async with self._database.connection() as connection:
            stored = await read_stored_documents(connection, workspace, document_ids)
        return {document_id for document_id, each in stored.items() if not each.fields.may_be_changed_by(identity)}

    async def set_readers(self, identity: Identity, document_id: str, readers: Sequence[str]) -> None:
        """Change who may read a document, from the next request on; see ``checked_readers``.

        Raises NotFound, and InvalidRequest for readers that are none, for ones without the identity, and for a document
        of a source, which has the readers of that.
        """
        row = await self._document_key(identity, document_id)
        async with self._database.connection() as connection, connection.transaction():
            found = await (await connection.execute(_OWNER, row)).fetchone()
            if found is None:
                raise _unknown(document_id)
            row["readers"] = stored_readers(readers_with(identity, readers, found[0]), found[0])
            if await value_of(connection, _FOLLOWED, row):
                raise InvalidRequest(
                    "readers: the document comes from a source, and has its readers.",
                    suggestion="Change the readers of the source.",
                )
            await connection.execute(_SET_READERS, row)

    async def purge(self, workspace: str, *, older_than: timedelta = timedelta(0)) -> int:
        """Remove a workspace's expired documents, and those deleted at least ``older_than`` ago, with their segments.

        Originals that no document refers to any more go with them. Returns how many documents were removed, of all
        owners: this is for operators of the deployment. Raises NotFound for an unknown workspace.
        """
        row = {"workspace": await self._workspaces.number(workspace), "older_than": older_than, "limit": PURGED_AT_ONCE}
        purged = 0
        async with self._database.connection() as connection:
            while gone := await self._purge_some(connection, row):
                purged += gone
        await self._originals.collect(workspace)
        return purged

    async def _purge_some(self, connection: Connection, row: dict[str, Any]) -> int:
        async with connection.transaction():
            await lock_library(connection, row["workspace"])
            gone = [found[0] for found in await (await connection.execute(_GONE, row)).fetchall()]
            if gone:
                await forget_segments(connection, row["workspace"], gone)
                await connection.execute(_REMOVE, [row["workspace"], gone])
        return len(gone)

    async def _scope(self, identity: Identity) -> dict[str, Any]:
        return {"workspace": await self._workspaces.number(identity.workspace), **reading_as(identity)}

    async def _document_key(self, identity: Identity, document_id: str) -> dict[str, Any]:
        """Return the SQL parameters of a document's query. Raises NotFound if the id is not a UUID."""
        try:
            return {**await self._scope(identity), "document_id": str(UUID(document_id))}
        except ValueError:
            raise _unknown(document_id) from None


def _unknown(document_id: str) -> NotFound:
    return NotFound(f"There is no document {document_id}.")
