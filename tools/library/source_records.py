"""The sources that a library is kept in step with, as records: list, add, read and delete them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal
from uuid import UUID, uuid4

from psycopg import errors
from psycopg.types.json import Jsonb

from graph.errors import InvalidRequest, NotFound
from graph.evidence import Identity
from tools.library.new_documents import checked_readers, readers_with, stored_readers
from tools.retrieval.scope import readable, reading_as
from tools.retrieval.withholding import find_unreadable
from tools.storage.database import Connection, Database, row_of, rows_of
from tools.storage.partitions import lock_library
from tools.storage.tenants import Workspaces

Kind = Literal["folder", "git", "site", "s3"]
LOCK = 0x73796E63  # "sync", the first key of the advisory lock of a source that is being synced
LONGEST_OPTION = 500


@dataclass(frozen=True, slots=True)
class SourceOptions:
    """How a source is read and its documents are described.

    ``space`` is the slug of the documents' space. ``link`` is the address of a document, with ``{path}`` for its path.
    ``ref`` and ``folder`` are the branch and the folder of a git repository. ``extent`` is how much of a site is read:
    one page, the pages of a sitemap, or those below its path, which is the default.
    """

    space: str | None = None
    link: str | None = None
    ref: str | None = None
    folder: str | None = None
    extent: Literal["page", "sitemap", "site"] | None = None

    def stored(self) -> dict[str, str]:
        """Return the options that are set. Raises InvalidRequest."""
        options = {name: getattr(self, name) for name in self.__slots__ if getattr(self, name)}
        for name, value in options.items():
            if len(value) > LONGEST_OPTION or not value.isprintable():
                raise InvalidRequest(f"{name}: at most {LONGEST_OPTION} printable characters.")
        if self.link and not self.link.startswith(("http://", "https://", "/")):
            raise InvalidRequest("link: must begin with http://, https:// or a single slash.")
        return options


@dataclass(frozen=True, slots=True)
class SyncedSource:
    """A source. ``documents`` is the number of its documents, ``report`` what its last sync did.

    Every place of it was there at ``synced_at``. ``owner`` and ``readers`` say who may read it and its documents.
    """

    source_id: str
    kind: Kind
    location: str
    owner: str | None
    readers: list[str] | None
    options: dict[str, Any]
    created_at: datetime
    synced_at: datetime | None
    report: dict[str, Any] | None
    documents: int
    syncing: bool = field(default=False)

    def option(self) -> SourceOptions:
        """Return the options with their names."""
        return SourceOptions(**{name: self.options.get(name) for name in SourceOptions.__slots__})


_REACHED = (
    f"s.workspace = %(workspace)s AND {readable('s')}"
    " AND (%(allowed_spaces)s::text[] IS NULL OR s.options ->> 'space' = ANY(%(allowed_spaces)s))"
)
_COLUMNS = """
s.source_id::text, s.kind, s.location, s.owner, s.readers, s.options, s.created_at, s.synced_at, s.report,
(SELECT count(DISTINCT p.document_id) FROM places AS p
 WHERE p.workspace = %(workspace)s AND p.source_id = s.source_id) AS documents,
EXISTS (SELECT FROM pg_locks AS l WHERE l.locktype = 'advisory' AND l.objsubid = 2 AND l.granted
        AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())
        AND l.classid = %(lock)s AND l.objid = (hashtext(s.source_id::text)::bigint & 4294967295)::oid) AS syncing
"""
_LIST = f"SELECT {_COLUMNS} FROM sources AS s WHERE {_REACHED} ORDER BY s.location, s.source_id"
_GET = f"SELECT {_COLUMNS} FROM sources AS s WHERE {_REACHED} AND s.source_id = %(source_id)s"
_ADD = """
INSERT INTO sources (workspace, source_id, owner, readers, kind, location, options)
VALUES (%(workspace)s, %(source_id)s, %(owner)s, %(readers)s, %(kind)s, %(location)s, %(options)s)
ON CONFLICT (workspace, kind, location, (options ->> 'folder'), (options ->> 'ref'), owner, readers)
DO UPDATE SET options = excluded.options
RETURNING source_id::text, source_id = %(source_id)s
"""
_FIND = f"""
SELECT {_COLUMNS} FROM sources AS s
WHERE workspace = %(workspace)s AND kind = %(kind)s AND location = %(location)s AND owner IS NOT DISTINCT FROM %(owner)s
  AND options ->> 'folder' IS NOT DISTINCT FROM %(folder)s AND options ->> 'ref' IS NOT DISTINCT FROM %(ref)s
ORDER BY readers IS NOT NULL, created_at
"""
_CHANGEABLE = f"{_REACHED} AND s.source_id = %(source_id)s AND coalesce(s.owner, %(user)s) = %(user)s"
_SET_READERS = """
UPDATE sources SET readers = %(readers)s WHERE workspace = %(workspace)s AND source_id = %(source_id)s
"""
_SET_READERS_OF_DOCUMENTS = """
UPDATE documents AS d SET readers = %(readers)s, updated_at = now()
FROM places AS p JOIN sources AS s USING (workspace, source_id)
WHERE p.workspace = %(workspace)s AND p.source_id = %(source_id)s AND d.workspace = %(workspace)s
  AND d.document_id = ANY(ARRAY[p.document_id, p.next_document_id]) AND d.owner IS NOT DISTINCT FROM s.owner
"""
_DELETE_DOCUMENTS = """
UPDATE documents AS d SET deleted_at = now()
FROM places AS p
WHERE p.workspace = %(workspace)s AND p.source_id = %(source_id)s
  AND d.workspace = %(workspace)s AND d.document_id = ANY(ARRAY[p.document_id, p.next_document_id])
  AND d.deleted_at IS NULL
  AND (d.owner IS NULL OR d.owner = %(user)s)
  AND NOT EXISTS (SELECT FROM places AS o WHERE o.workspace = %(workspace)s AND o.document_id = d.document_id
                  AND o.source_id <> %(source_id)s)
RETURNING d.document_id
"""


class Sources:
    """The sources of a deployment. Those that an identity may not read raise NotFound, as if they did not exist."""

    def __init__(self, database: Database, workspaces: Workspaces) -> None:
        self._database = database
        self._workspaces = workspaces

    async def list(self, identity: Identity) -> list[SyncedSource]:
        """List the sources, ordered by their location."""
        row = await self._scope(identity)
        async with self._database.connection() as connection:
            found = await rows_of(connection, SyncedSource, _LIST, row)
            return await _without_hidden(connection, row["workspace"], identity, found)

    async def get(self, identity: Identity, source_id: str) -> SyncedSource:
        """Read a source. Raises NotFound."""
        row = {**await self._scope(identity), "source_id": _as_id(source_id)}
        async with self._database.connection() as connection:
            found = await row_of(connection, SyncedSource, _GET, row)
            if found is None:
                raise _unknown(source_id)
            [shown] = await _without_hidden(connection, row["workspace"], identity, [found])
        return shown

    async def at(
        self, identity: Identity, kind: Kind, location: str, options: SourceOptions, owner: str | None
    ) -> Sequence[SyncedSource]:
        """Read the sources of a location, whoever their readers are: this is for operators of the deployment."""
        row = {
            **await self._scope(identity),
            "kind": kind,
            "location": location,
            "owner": owner,
            "folder": options.folder or None,
            "ref": options.ref or None,
        }
        async with self._database.connection() as connection:
            return await rows_of(connection, SyncedSource, _FIND, row)

    async def add(
        self,
        identity: Identity,
        kind: Kind,
        location: str,
        options: SourceOptions,
        *,
        owner: str | None = None,
        readers: Sequence[str] | None = None,
    ) -> tuple[SyncedSource, bool]:
        """Add a source, or give the one of the same location, owner and readers other options.

        Returns it and whether it is new. Raises InvalidRequest for an option or readers that can't be.
        """
        checked = stored_readers(checked_readers(readers, owner), owner)
        known = await self.at(identity, kind, location, options, owner)
        found = next((each for each in known if each.readers == checked), None)
        if found is not None and found.options == options.stored():
            return await self._shown(identity, found), False
        row = {
            **await self._scope(identity),
            "source_id": str(uuid4()),
            "kind": kind,
            "location": location,
            "owner": owner,
            "readers": checked,
            "options": Jsonb(options.stored()),
        }
        added = await self._database.fetch_one(_ADD, row)
        assert added is not None
        now = await self.at(identity, kind, location, options, owner)
        source = next(each for each in now if each.source_id == added[0])
        return await self._shown(identity, source), added[1]

    async def set_readers(
        self, identity: Identity, source_id: str, readers: Sequence[str], *, operator: bool = False
    ) -> None:
        """Change who may read a source and its documents, from the next request on.

        An ``operator`` may change any source, and need not be a reader. Raises NotFound, and InvalidRequest for readers
        that can't be, or that another source of the same location has.
        """
        row = {**await self._scope(identity), "source_id": _as_id(source_id)}
        which = "s.workspace = %(workspace)s AND s.source_id = %(source_id)s" if operator else _CHANGEABLE
        async with self._database.connection() as connection, connection.transaction():
            await lock_library(connection, row["workspace"])
            query = f"SELECT s.owner FROM sources AS s WHERE {which} FOR UPDATE"
            found = await (await connection.execute(query, row)).fetchone()
            if found is None:
                raise _unknown(source_id)
            owner = found[0]
            checked = checked_readers(readers, owner) if operator else readers_with(identity, readers, owner)
            row["readers"] = stored_readers(checked, owner)
            try:
                await connection.execute(_SET_READERS, row)
            except errors.UniqueViolation:
                raise InvalidRequest(
                    "readers: another source of the same location has these.",
                    suggestion="Delete one of the two.",
                ) from None
            await connection.execute(_SET_READERS_OF_DOCUMENTS, row)

    async def delete(self, identity: Identity, source_id: str, *, with_documents: bool) -> int:
        """Delete a source, and where told its documents that no other source has; return how many of these there were.

        Documents that are kept have no place any more. Raises NotFound.
        """
        row = {**await self._scope(identity), "source_id": _as_id(source_id)}
        async with self._database.connection() as connection, connection.transaction():
            await lock_library(connection, row["workspace"])
            gone = await connection.execute(f"SELECT FROM sources AS s WHERE {_CHANGEABLE} FOR UPDATE", row)
            if gone.rowcount == 0:
                raise _unknown(source_id)
            deleted = await connection.execute(_DELETE_DOCUMENTS, row) if with_documents else None
            await connection.execute(
                "DELETE FROM sources WHERE workspace = %(workspace)s AND source_id = %(source_id)s", row
            )
        return deleted.rowcount if deleted is not None else 0

    async def _shown(self, identity: Identity, source: SyncedSource) -> SyncedSource:
        number = await self._workspaces.number(identity.workspace)
        async with self._database.connection() as connection:
            return (await _without_hidden(connection, number, identity, [source]))[0]

    async def _scope(self, identity: Identity) -> dict[str, Any]:
        number = await self._workspaces.number(identity.workspace)
        return {"workspace": number, **reading_as(identity), "lock": LOCK}


async def _without_hidden(
    connection: Connection, workspace: int, identity: Identity, sources: Sequence[SyncedSource]
) -> "list[SyncedSource]":
    """Leave similar documents out of reports that the identity may not read any more, or never could."""
    files = [file for source in sources for file in (source.report or {}).get("files", ())]
    similar = {other["document_id"] for file in files for other in file.get("similar_to", ())}
    if not similar:
        return list(sources)
    refused, gone = await find_unreadable(connection, workspace, identity, similar)
    hidden = refused | gone
    for file in files:
        if "similar_to" in file:
            file["similar_to"] = [other for other in file["similar_to"] if other["document_id"] not in hidden]
    return list(sources)


async def record_sync(
    connection: Connection, workspace: int, source_id: str, report: Mapping[str, Any] | None, *, followed: bool
) -> None:
    """Store what a sync did; where it ``followed`` its source, every place of that has been seen now."""
    await connection.execute(
        "UPDATE sources SET report = %s, synced_at = CASE WHEN %s THEN now() ELSE synced_at END"
        " WHERE workspace = %s AND source_id = %s",
        [Jsonb(report), followed, workspace, source_id],
    )


def _as_id(source_id: str) -> str:
    try:
        return str(UUID(source_id))
    except ValueError:
        raise _unknown(source_id) from None


def _unknown(source_id: str) -> NotFound:
    return NotFound(f"There is no source {source_id}.")
