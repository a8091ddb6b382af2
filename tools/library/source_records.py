"""The sources that a library is kept in step with, as records: list, add, read and delete them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal
from uuid import UUID, uuid4

from psycopg.rows import class_row
from psycopg.types.json import Jsonb

from graph.errors import InvalidRequest, NotFound
from graph.evidence import Identity
from tools.retrieval.scope import reading_as
from tools.storage.database import Connection, Database
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
class Source:
    """A source. ``documents`` is the number of its documents, ``report`` what its last sync did.

    Every place of it was there at ``synced_at``. Only ``owner`` may read it and its documents; None means everybody.
    """

    source_id: str
    kind: Kind
    location: str
    owner: str | None
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
    "s.workspace = %(workspace)s AND (s.owner IS NULL OR s.owner = %(user)s)"
    " AND (%(allowed_spaces)s::text[] IS NULL OR s.options ->> 'space' = ANY(%(allowed_spaces)s))"
)
_COLUMNS = """
s.source_id::text, s.kind, s.location, s.owner, s.options, s.created_at, s.synced_at, s.report,
(SELECT count(DISTINCT p.document_id) FROM places AS p
 WHERE p.workspace = %(workspace)s AND p.source_id = s.source_id) AS documents,
EXISTS (SELECT FROM pg_locks AS l WHERE l.locktype = 'advisory' AND l.objsubid = 2 AND l.granted
        AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())
        AND l.classid = %(lock)s AND l.objid = (hashtext(s.source_id::text)::bigint & 4294967295)::oid) AS syncing
"""
_LIST = f"SELECT {_COLUMNS} FROM sources AS s WHERE {_REACHED} ORDER BY s.location, s.source_id"
_GET = f"SELECT {_COLUMNS} FROM sources AS s WHERE {_REACHED} AND s.source_id = %(source_id)s"
_ADD = """
INSERT INTO sources (workspace, source_id, owner, kind, location, options)
VALUES (%(workspace)s, %(source_id)s, %(owner)s, %(kind)s, %(location)s, %(options)s)
ON CONFLICT (workspace, kind, location, (options ->> 'folder'), (options ->> 'ref'), owner)
DO UPDATE SET options = excluded.options
RETURNING source_id::text, source_id = %(source_id)s
"""
_FIND = """
SELECT source_id::text FROM sources
WHERE workspace = %(workspace)s AND kind = %(kind)s AND location = %(location)s AND owner IS NOT DISTINCT FROM %(owner)s
  AND options ->> 'folder' IS NOT DISTINCT FROM %(folder)s AND options ->> 'ref' IS NOT DISTINCT FROM %(ref)s
"""
_DELETE_DOCUMENTS = """
UPDATE documents AS d SET deleted_at = now()
FROM places AS p
WHERE p.workspace = %(workspace)s AND p.source_id = %(source_id)s
  AND d.workspace = %(workspace)s AND d.document_id = p.document_id AND d.deleted_at IS NULL
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

    async def list(self, identity: Identity) -> list[Source]:
        """List the sources, ordered by their location."""
        row = await self._scope(identity)
        async with (
            self._database.connection() as connection,
            connection.cursor(row_factory=class_row(Source)) as rows,
        ):
            return await (await rows.execute(_LIST, row)).fetchall()

    async def get(self, identity: Identity, source_id: str) -> Source:
        """Read a source. Raises NotFound."""
        row = {**await self._scope(identity), "source_id": _as_id(source_id)}
        async with (
            self._database.connection() as connection,
            connection.cursor(row_factory=class_row(Source)) as rows,
        ):
            found = await (await rows.execute(_GET, row)).fetchone()
        if found is None:
            raise _unknown(source_id)
        return found

    async def find(
        self, identity: Identity, kind: Kind, location: str, options: SourceOptions, owner: str | None
    ) -> Source | None:
        """Read the source of a location, or return None."""
        row = {
            **await self._scope(identity),
            "kind": kind,
            "location": location,
            "owner": owner,
            "folder": options.folder or None,
            "ref": options.ref or None,
        }
        async with self._database.connection() as connection:
            found = await (await connection.execute(_FIND, row)).fetchone()
        return None if found is None else await self.get(Identity(identity.workspace, owner or identity.user), found[0])

    async def add(
        self, identity: Identity, kind: Kind, location: str, options: SourceOptions, *, owner: str | None = None
    ) -> tuple[Source, bool]:
        """Add a source, or give the one of the same location other options; return it and whether it is new.

        Raises InvalidRequest for an option that can't be.
        """
        found = await self.find(identity, kind, location, options, owner)
        if found is not None and found.options == options.stored():
            return found, False
        row = {
            **await self._scope(identity),
            "source_id": str(uuid4()),
            "kind": kind,
            "location": location,
            "owner": owner,
            "options": Jsonb(options.stored()),
        }
        async with self._database.connection() as connection:
            added = await (await connection.execute(_ADD, row)).fetchone()
        assert added is not None
        return await self.get(Identity(identity.workspace, owner or identity.user), added[0]), added[1]

    async def delete(self, identity: Identity, source_id: str, *, with_documents: bool) -> int:
        """Delete a source, and where told its documents that no other source has; return how many of these there were.

        Documents that are kept have no place any more. Raises NotFound.
        """
        row = {**await self._scope(identity), "source_id": _as_id(source_id)}
        async with self._database.connection() as connection, connection.transaction():
            gone = await connection.execute(
                f"SELECT FROM sources AS s WHERE {_REACHED} AND s.source_id = %(source_id)s FOR UPDATE", row
            )
            if gone.rowcount == 0:
                raise _unknown(source_id)
            deleted = await connection.execute(_DELETE_DOCUMENTS, row) if with_documents else None
            await connection.execute(
                "DELETE FROM sources WHERE workspace = %(workspace)s AND source_id = %(source_id)s", row
            )
        return deleted.rowcount if deleted is not None else 0

    async def _scope(self, identity: Identity) -> dict[str, Any]:
        number = await self._workspaces.number(identity.workspace)
        return {"workspace": number, **reading_as(identity), "lock": LOCK}


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
