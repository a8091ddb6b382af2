"""The versions of a document: texts that were replaced, kept for a while so that a wrong one can be seen and undone.

A version is stored by its segments, so that restoring it needs neither its file nor a parser. It goes with its
document.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from graph.errors import NotFound
from graph.evidence import Identity
from tools.library.catalogue import RawSegment, RawText
from tools.retrieval.scope import LASTING, VISIBLE, as_uuid, readable, reading_as
from tools.retrieval.segmenting import SegmentSpan
from tools.retrieval.structure import unpack_blocks
from tools.storage.database import TAKES_CHANGES, Connection, Database, rows_of
from tools.storage.tenants import Workspaces

# What a version says of its text. Who reads a document and where it belongs is not restored with a version.
TEXT_FIELDS = ("title", "media_type", "page_count", "left_out", "likeness")
ORIGINAL_FIELDS = ("original_sha256", "original_size", "original_media_type", "original_name")
KEPT_FIELDS = (*TEXT_FIELDS, *ORIGINAL_FIELDS)

VERSION_DAYS = 30  # after a text was replaced: somebody has noticed by then

_FIELDS = f"""jsonb_build_object({", ".join(f"'{name}', d.{name}" for name in KEPT_FIELDS)})"""
_SEGMENTS = """
SELECT jsonb_agg(jsonb_build_array(s.segment_index, s.start_offset, s.end_offset, s.page_idx, s.heading, s.tokens,
                                   s.structure, s.body) ORDER BY s.segment_index) AS segments
FROM all_segments AS s WHERE s.workspace = %(workspace)s AND s.document_id = d.document_id
"""
_KEEP = f"""
INSERT INTO document_versions (workspace, document_id, version, title, owner, readers, space_id, space_slug, fields,
                               content_hash, original_sha256, segments, changed_at, changed_by, replaced_by)
SELECT d.workspace, d.document_id, d.version, d.title, d.owner, d.readers, d.space_id, d.space_slug,
       {_FIELDS}, d.content_hash, d.original_sha256, kept.segments, d.updated_at, d.changed_by, %(user)s
FROM documents AS d CROSS JOIN LATERAL ({_SEGMENTS}) AS kept
WHERE d.workspace = %(workspace)s AND d.document_id = ANY(%(replaced)s::uuid[]) AND d.expires_at IS NULL
  AND kept.segments IS NOT NULL AND %(keep)s > 0
"""
_CROWD_OUT = """
DELETE FROM document_versions AS v USING documents AS d
WHERE v.workspace = %(workspace)s AND v.document_id = ANY(%(replaced)s::uuid[])
  AND d.workspace = v.workspace AND d.document_id = v.document_id AND v.version < d.version - %(keep)s
"""
_COUNT = """
UPDATE documents SET version = version + 1 WHERE workspace = %(workspace)s AND document_id = ANY(%(replaced)s::uuid[])
"""
_NOTE = """
UPDATE documents SET changed_by = %(user)s WHERE workspace = %(workspace)s AND document_id = ANY(%(changed)s::uuid[])
"""
# Besides today's rights, those of when the text was replaced: a document may have been opened to more readers by taking
# something out of it. Where they are not known, the text is its author's; see migration 0027.
_THEN = (
    f"({readable('v')} OR v.owner IS NULL AND v.readers = '{{}}' AND v.changed_by = %(user)s)"
    " AND (%(allowed_spaces)s::text[] IS NULL"
    " OR v.space_id = ANY(%(allowed_spaces)s) OR v.space_slug = ANY(%(allowed_spaces)s))"
)
_OF = f"d.workspace = %(workspace)s AND d.document_id = %(document_id)s AND {VISIBLE}"
_LIST = f"""
SELECT d.version, d.title, d.updated_at AS changed_at, d.changed_by, NULL AS replaced_at, NULL AS replaced_by,
       true AS current
FROM documents AS d WHERE {_OF}
UNION ALL
SELECT v.version, v.title, v.changed_at, v.changed_by, v.replaced_at, v.replaced_by, false
FROM document_versions AS v JOIN documents AS d USING (workspace, document_id) WHERE {_OF} AND {_THEN}
ORDER BY version DESC
"""
_READ = f"""
SELECT v.title, v.content_hash, v.fields, v.segments
FROM document_versions AS v JOIN documents AS d USING (workspace, document_id)
WHERE {_OF} AND {_THEN} AND v.version = %(version)s
"""
_READ_CURRENT = f"""
SELECT d.title, d.content_hash, {_FIELDS}, ({_SEGMENTS}) FROM documents AS d WHERE {_OF} AND {LASTING}
"""
_EXPIRE = f"DELETE FROM document_versions WHERE replaced_at < now() - make_interval(days => %s) AND {TAKES_CHANGES}"


@dataclass(frozen=True, slots=True)
class Version:
    """A text that a document has, or had until ``replaced_at``.

    ``changed_by`` is the user who stored it, None if that was before it was kept.
    """

    version: int
    title: str
    changed_at: datetime
    changed_by: str | None
    replaced_at: datetime | None
    replaced_by: str | None
    current: bool


@dataclass(frozen=True, slots=True)
class KeptText:
    """A text that was replaced, with the fields and the segments that it was stored with."""

    content_hash: str
    fields: dict[str, Any]
    text: str
    spans: tuple[SegmentSpan, ...]


async def keep_replaced(
    connection: Connection, workspace: int, document_ids: Sequence[str], *, user: str, keep: int
) -> None:
    """Keep the texts of documents that are about to be replaced, at most ``keep`` of each, and count the next ones.

    Documents that expire, such as web pages, keep none.
    """
    row = {"workspace": workspace, "replaced": list(document_ids), "user": user, "keep": keep}
    for statement in (_KEEP, _COUNT, _CROWD_OUT):
        await connection.execute(statement, row)


async def note_authors(connection: Connection, workspace: int, document_ids: Sequence[str], *, user: str) -> None:
    """Note who stored the texts of documents."""
    if document_ids:
        await connection.execute(_NOTE, {"workspace": workspace, "changed": list(document_ids), "user": user})


async def expire_versions(database: Database, *, days: int) -> int:
    """Remove the versions that were replaced more than ``days`` ago; return how many."""
    return await database.execute(_EXPIRE, [days])


class Versions:
    """The versions of documents. Those of a document that an identity may not read raise NotFound."""

    def __init__(self, database: Database, workspaces: Workspaces) -> None:
        self._database = database
        self._workspaces = workspaces

    async def list(self, identity: Identity, document_id: str) -> list[Version]:
        """List the versions of a document, the current one first. Raises NotFound."""
        row = await self._row(identity, document_id)
        async with self._database.connection() as connection:
            found = await rows_of(connection, Version, _LIST, row)
        if not found:
            raise NotFound(f"There is no document {document_id}.")
        return found

    async def read(self, identity: Identity, document_id: str, version: int) -> RawText:
        """Read the text of a version that was replaced, by segments. Raises NotFound."""
        title, _, _, segments = await self._read(identity, document_id, version)
        rows = [
            RawSegment(segment_index=index, page_idx=page, start=start, end=end, text=body)
            for index, start, end, page, *_, body in segments
        ]
        return RawText(document_id=str(as_uuid(document_id)), title=title, segments=rows)

    async def load(self, identity: Identity, document_id: str, version: int | None = None) -> KeptText:
        """Read a version that was replaced, or the current one, with all that storing it takes. Raises NotFound."""
        if version is None:
            found = await self._database.fetch_one(_READ_CURRENT, await self._row(identity, document_id))
            if found is None or found[3] is None:
                raise NotFound(f"There is no document {document_id}.")
            _, content_hash, kept, segments = found
        else:
            _, content_hash, kept, segments = await self._read(identity, document_id, version)
        spans = tuple(
            SegmentSpan(index, start, end, page, heading, tokens, unpack_blocks(structure))
            for index, start, end, page, heading, tokens, structure, _ in segments
        )
        return KeptText(content_hash, kept, "".join(row[-1] for row in segments), spans)

    async def _read(self, identity: Identity, document_id: str, version: int) -> tuple[Any, ...]:
        row = {**await self._row(identity, document_id), "version": version}
        found = await self._database.fetch_one(_READ, row)
        if found is None:
            raise NotFound(
                f"There is no earlier version {version} of the document {document_id}.",
                suggestion="List its versions; the current one is its text.",
            )
        return found

    async def _row(self, identity: Identity, document_id: str) -> dict[str, Any]:
        number = await self._workspaces.number(identity.workspace)
        return {"workspace": number, **reading_as(identity), "document_id": as_uuid(document_id)}
