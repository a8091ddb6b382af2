"""The originals of documents: stored with them, read under their permission, and removed with the last that has them.

In PostgreSQL the bytes are written in the transaction of their document. Elsewhere they are stored before it: a row
announces them first, so that what a failure leaves behind is found and removed by ``citewell purge``.
"""

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from typing_extensions import TypedDict

from graph.errors import NotFound
from graph.evidence import Identity
from tools.originals.new_original import NewOriginal
from tools.originals.stores import OFF, POSTGRESQL, S3, DatabaseStore, OriginalKey, OriginalStore, open_object_store
from tools.retrieval.scope import VISIBLE, as_uuid, reading_as
from tools.settings import Settings
from tools.storage.database import Connection, Database
from tools.storage.partitions import lock_library
from tools.storage.tenants import Workspaces

STAGED_FOR = "1 day"  # an ingestion is over by then; what no document refers to after it is removed
COLLECTED_AT_ONCE = 500


class Original(TypedDict):
    """The file that a document was read from; ``name`` is "" where it came without one."""

    sha256: str
    size: int
    media_type: str
    name: str


@dataclass(frozen=True, slots=True)
class StoredText:
    """A document that may be read, whether its original is kept or not."""

    workspace: int
    media_type: str
    content_hash: str


@dataclass(frozen=True, slots=True)
class StoredOriginal:
    """An original that may be read: what it is, and where. ``content_hash`` is that of the text that was read of it."""

    key: OriginalKey
    place: str
    original: Original
    content_hash: str


class Originals:
    """The originals of a deployment. New ones go to ``store``, or nowhere where it is None."""

    def __init__(
        self, database: Database, workspaces: Workspaces, *, place: str = POSTGRESQL, store: OriginalStore | None = None
    ) -> None:
        self._database = database
        self._workspaces = workspaces
        self._here = DatabaseStore(database)
        self._place = place
        self._outside = store

    @classmethod
    def of(cls, settings: Settings, database: Database, workspaces: Workspaces) -> "Originals":
        """Return the originals of the settings. Raises ConfigurationError if their store can't be opened."""
        place = place_of(settings)
        if place in (POSTGRESQL, OFF):
            return cls(database, workspaces, place=place)
        return cls(database, workspaces, place=place, store=open_object_store(place))

    @property
    def keeps(self) -> bool:
        """Whether new documents keep the files that they were read from."""
        return self._place != OFF

    async def stage(self, workspace: int, originals: Sequence[NewOriginal | None]) -> None:
        """Store originals outside of PostgreSQL, before the transaction that refers to them."""
        found = _by_hash(originals)
        if self._outside is None or not found:
            return
        rows = {
            "workspace": workspace,
            "place": self._place,
            "hashes": list(found),
            "sizes": [len(data) for data in found.values()],
        }
        await self._database.execute(_STAGE, rows)
        for digest, data in found.items():
            key = OriginalKey(workspace, digest)
            if not await self._outside.exists(key):
                await self._outside.put(key, data)

    async def write(self, connection: Connection, workspace: int, originals: Sequence[NewOriginal | None]) -> bool:
        """Store originals in PostgreSQL, or claim those that are staged, within the caller's transaction.

        The caller holds the library's lock. Returns False if some were collected meanwhile and have to be staged again.
        """
        found = _by_hash(originals)
        if not found:
            return True
        if self._outside is None:
            await self._here.write(connection, [(OriginalKey(workspace, key), data) for key, data in found.items()])
            return True
        claimed = await connection.execute(_CLAIM, [self._place, workspace, list(found)])
        await connection.execute(_DROP_CHUNKS, [workspace, list(found)])
        return claimed.rowcount == len(found)

    async def find(self, identity: Identity, document_id: str) -> StoredOriginal:
        """Find the original of a document that the identity may read. Raises NotFound."""
        workspace, _, digest, size, media_type, name, place, content_hash = await self._row(identity, document_id)
        if digest is None or place is None:
            raise NotFound(
                "The document has no original.",
                suggestion="It was given as text, or ingested before originals were kept: ingest its file again.",
            )
        original = Original(sha256=digest, size=size, media_type=media_type, name=name or "")
        return StoredOriginal(OriginalKey(workspace, digest), place, original, content_hash)

    async def text(self, identity: Identity, document_id: str) -> StoredText:
        """Find a document that the identity may read. Raises NotFound."""
        row = await self._row(identity, document_id)
        return StoredText(workspace=row[0], media_type=row[1], content_hash=row[-1])

    async def _row(self, identity: Identity, document_id: str) -> Sequence[Any]:
        number = await self._workspaces.number(identity.workspace)
        row = {"workspace": number, **reading_as(identity), "document_id": as_uuid(document_id)}
        if (found := await self._database.fetch_one(_FIND, row)) is None:
            raise NotFound(f"There is no document {document_id}.")
        return found

    def read(self, stored: StoredOriginal, start: int = 0, end: int | None = None) -> AsyncIterator[bytes]:
        """Read an original's bytes from ``start`` to ``end``, exclusive, in pieces of a megabyte at most.

        Raises NotFound if it is gone, or in a store that the deployment no longer names.
        """
        store: OriginalStore | None = self._here
        if stored.place != POSTGRESQL:
            store = self._outside if stored.place == self._place else None
        if store is None:
            raise NotFound(
                "The original is in a store that this deployment no longer uses.",
                suggestion="Set CITEWELL_ORIGINALS to that store, or ingest the document again.",
            )
        return store.read(stored.key, start, stored.original["size"] if end is None else end)

    async def read_whole(self, stored: StoredOriginal) -> bytes:
        """Read a whole original, which is at most as large as a document may be."""
        return b"".join([piece async for piece in self.read(stored)])

    async def collect(self, workspace: str) -> int:
        """Remove the originals of a workspace that no document refers to; return how many."""
        number = await self._workspaces.number(workspace)
        row: dict[str, Any] = {"workspace": number, "places": [POSTGRESQL, self._place], "limit": COLLECTED_AT_ONCE}
        collected = 0
        async with self._database.connection() as connection:
            while True:
                async with connection.transaction():
                    await lock_library(connection, number)
                    gone = await (await connection.execute(_UNUSED, row)).fetchall()
                    outside = [OriginalKey(number, digest) for digest, place in gone if place != POSTGRESQL]
                    if outside and self._outside is not None:
                        await self._outside.delete(outside)
                    await connection.execute(_REMOVE, [number, [digest for digest, _ in gone]])
                collected += len(gone)
                if len(gone) < COLLECTED_AT_ONCE:
                    return collected

    async def delete_workspace(self, workspace: str) -> None:
        """Remove all originals of a workspace that is about to be deleted. Raises NotFound."""
        number = await self._workspaces.number_anywhere(workspace)
        await self._here.delete_workspace(number)
        if self._outside is not None:
            await self._outside.delete_workspace(number)


def place_of(settings: Settings) -> str:
    """Return where new originals go: ``postgresql``, ``off``, an absolute path, or an address of S3."""
    place = settings.originals
    if place in (POSTGRESQL, OFF):
        return place
    return place.rstrip("/") if place.startswith(S3) else str(Path(place).expanduser().resolve())


def _by_hash(originals: Sequence[NewOriginal | None]) -> dict[str, bytes]:
    """Return originals by their hash, in its order, so that concurrent writers lock rows in the same order."""
    found = {each.sha256: each.data for each in originals if each is not None}
    return dict(sorted(found.items()))


_STAGE = f"""
INSERT INTO originals (workspace, sha256, size, place, staged_until)
SELECT %(workspace)s, sha256, size, %(place)s, now() + interval '{STAGED_FOR}'
FROM unnest(%(hashes)s::text[], %(sizes)s::bigint[]) AS new (sha256, size) ORDER BY sha256
ON CONFLICT (workspace, sha256) DO UPDATE SET staged_until = excluded.staged_until
"""
_CLAIM = """
UPDATE originals SET staged_until = NULL, place = %s WHERE workspace = %s AND sha256 = ANY(%s)
"""
_DROP_CHUNKS = "DELETE FROM original_chunks WHERE workspace = %s AND sha256 = ANY(%s)"
_FIND = f"""
SELECT d.workspace, d.media_type, d.original_sha256, d.original_size, d.original_media_type, d.original_name, o.place,
       d.content_hash
FROM documents AS d LEFT JOIN originals AS o ON o.workspace = d.workspace AND o.sha256 = d.original_sha256
WHERE d.workspace = %(workspace)s AND d.document_id = %(document_id)s AND {VISIBLE}
"""
_UNUSED = """
SELECT o.sha256, o.place FROM originals AS o
WHERE o.workspace = %(workspace)s AND o.place = ANY(%(places)s)
  AND (o.staged_until IS NULL OR o.staged_until < now())
  AND NOT EXISTS (
      SELECT 1 FROM documents AS d WHERE d.workspace = o.workspace AND d.original_sha256 = o.sha256
  )
  AND NOT EXISTS (
      SELECT 1 FROM document_versions AS v WHERE v.workspace = o.workspace AND v.original_sha256 = o.sha256
  )
ORDER BY o.sha256 LIMIT %(limit)s FOR UPDATE
"""
_REMOVE = "DELETE FROM originals WHERE workspace = %s AND sha256 = ANY(%s)"
