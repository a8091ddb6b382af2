"""Collections: sets of documents that people name, to ask them alone.

A collection is its maker's alone, or shared with the workspace: then all see it, and whoever may write fills it. It
says nothing of who may read a document: each sees, counts and asks those of its documents that they may read just then.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import uuid4

from graph.errors import InvalidRequest, NotFound, NotPermitted
from graph.evidence import Identity
from tools.retrieval.scope import LASTING, VISIBLE, as_uuid, reading_as
from tools.storage.database import Connection, Database, row_of, rows_of, value_of
from tools.storage.tenants import Workspaces

MOST_COLLECTIONS = 500  # of one maker
MOST_DOCUMENTS = 1000  # of one collection, and of a question
MOST_LISTED = 2000

_READABLE = f"""
FROM collection_documents AS m JOIN documents AS d USING (workspace, document_id)
WHERE m.workspace = c.workspace AND m.collection_id = c.collection_id AND {LASTING} AND {VISIBLE}
"""
# Whoever is restricted to some spaces sees of what others share what holds something for them.
_SEEN = f"""
c.workspace = %(workspace)s
AND (c.made_by = %(user)s OR c.shared AND (%(allowed_spaces)s::text[] IS NULL OR EXISTS (SELECT {_READABLE})))
"""
_YOURS = "(c.made_by = %(user)s OR c.shared AND %(assigns_owners)s)"
_COLUMNS = f"""
c.collection_id::text, c.name, c.made_by, c.shared, {_YOURS} AS yours, (SELECT count(*) {_READABLE}) AS documents,
c.created_at, c.updated_at
"""
_LIST = f"SELECT {_COLUMNS} FROM collections AS c WHERE {_SEEN} ORDER BY lower(c.name), c.collection_id LIMIT %(most)s"
# Of one that was made or locked as seen: whoever keeps it from themselves by a change is told what became of it.
_GET = f"""
SELECT {_COLUMNS} FROM collections AS c WHERE c.workspace = %(workspace)s AND c.collection_id = %(collection_id)s
"""
_KNOWN = f"SELECT c.collection_id::text FROM collections AS c WHERE c.collection_id = ANY(%(ids)s::uuid[]) AND {_SEEN}"
_LOCK = f"SELECT {_YOURS} FROM collections AS c WHERE c.collection_id = %(collection_id)s AND {_SEEN} FOR UPDATE OF c"
_CREATE = f"""
INSERT INTO collections (workspace, collection_id, name, made_by, shared)
SELECT %(workspace)s, %(collection_id)s, %(name)s, %(user)s, %(shared)s
WHERE (SELECT count(*) FROM collections WHERE workspace = %(workspace)s AND made_by = %(user)s) < {MOST_COLLECTIONS}
RETURNING 1
"""
_OF_ONE = "workspace = %(workspace)s AND collection_id = %(collection_id)s"
_CHANGE = f"""
UPDATE collections SET name = coalesce(%(name)s, name), shared = coalesce(%(shared)s, shared), updated_at = now()
WHERE {_OF_ONE}
"""
_DELETE = f"DELETE FROM collections WHERE {_OF_ONE}"
_ADD = f"""
INSERT INTO collection_documents (workspace, collection_id, document_id)
SELECT d.workspace, %(collection_id)s, d.document_id FROM documents AS d
WHERE d.workspace = %(workspace)s AND d.document_id = ANY(%(added)s::uuid[]) AND {LASTING} AND {VISIBLE}
ON CONFLICT DO NOTHING
"""
_MADE = f"EXISTS (SELECT FROM collections WHERE {_OF_ONE} AND made_by = %(user)s)"
_REMOVE = f"""
DELETE FROM collection_documents WHERE {_OF_ONE} AND document_id = ANY(%(removed)s::uuid[]) AND ({_MADE} OR EXISTS (
    SELECT FROM documents AS d
    WHERE d.workspace = %(workspace)s AND d.document_id = collection_documents.document_id AND {LASTING} AND {VISIBLE}
))
"""
_COUNT = f"""
SELECT count(*) FROM collection_documents JOIN documents AS d USING (workspace, document_id)
WHERE {_OF_ONE} AND d.deleted_at IS NULL AND {LASTING}
"""
_RESOLVE = f"""
SELECT d.document_id::text FROM collections AS c
JOIN collection_documents AS m USING (workspace, collection_id) JOIN documents AS d USING (workspace, document_id)
WHERE c.collection_id = ANY(%(ids)s::uuid[]) AND {_SEEN} AND {LASTING} AND {VISIBLE}
ORDER BY array_position(%(ids)s::uuid[], c.collection_id), m.added_at, d.document_id
"""


@dataclass(frozen=True, slots=True)
class Collection:
    """A named set of documents as somebody sees it.

    ``documents`` is the number of those that they may read, ``yours`` whether they may rename, share and delete it.
    """

    collection_id: str
    name: str
    made_by: str
    shared: bool
    yours: bool
    documents: int
    created_at: datetime
    updated_at: datetime


class Collections:
    """The collections of a deployment. Those that an identity does not see raise NotFound."""

    def __init__(self, database: Database, workspaces: Workspaces) -> None:
        self._database = database
        self._workspaces = workspaces

    async def list(self, identity: Identity) -> list[Collection]:
        """List one's own collections and those that others share, by name. Raises NotFound for the workspace."""
        row = {**await self._scope(identity), "most": MOST_LISTED}
        async with self._database.connection() as connection:
            return await rows_of(connection, Collection, _LIST, row)

    async def create(
        self, identity: Identity, name: str, *, shared: bool = False, document_ids: Sequence[str] = ()
    ) -> Collection:
        """Make a collection of documents that the identity may read. Raises InvalidRequest for too many, DiskLow."""
        await self._database.require_room()
        collection_id = uuid4()
        row = {
            **await self._scope(identity),
            "collection_id": collection_id,
            "name": name,
            "shared": shared,
            "added": list(document_ids),
        }
        async with self._database.connection() as connection, connection.transaction():
            if await value_of(connection, _CREATE, row) is None:
                raise InvalidRequest(
                    f"You have {MOST_COLLECTIONS} collections, and can have no more.",
                    suggestion="Delete one that you do not need.",
                )
            await connection.execute(_ADD, row)
            return await _read(connection, row)

    async def change(
        self,
        identity: Identity,
        collection_id: str,
        *,
        name: str | None = None,
        shared: bool | None = None,
        add: Sequence[str] = (),
        remove: Sequence[str] = (),
    ) -> Collection:
        """Rename a collection, share it or keep it to oneself, and put documents in or take some out.

        Documents that the identity may not read are not put in, and taken out by the collection's maker alone. Raises
        NotFound, NotPermitted to rename or share what another has made, InvalidRequest for more documents than one
        holds.
        """
        named = {"name": name, "shared": shared, "added": list(add), "removed": list(remove)}
        row = {**await self._scope(identity), "collection_id": as_uuid(collection_id), **named}
        async with self._database.connection() as connection, connection.transaction():
            await _lock(connection, row, as_maker=name is not None or shared is not None)
            await connection.execute(_REMOVE, row)
            await connection.execute(_ADD, row)
            if add and await value_of(connection, _COUNT, row) > MOST_DOCUMENTS:
                raise InvalidRequest(f"add: a collection holds at most {MOST_DOCUMENTS} documents.")
            await connection.execute(_CHANGE, row)
            return await _read(connection, row)

    async def delete(self, identity: Identity, collection_id: str) -> None:
        """Delete a collection; its documents stay. Raises NotFound, NotPermitted for what another has made."""
        row = {**await self._scope(identity), "collection_id": as_uuid(collection_id)}
        async with self._database.connection() as connection, connection.transaction():
            await _lock(connection, row, as_maker=True)
            await connection.execute(_DELETE, row)

    async def resolve(
        self, identity: Identity, collection_ids: Sequence[str], *, beside: Sequence[str]
    ) -> Sequence[str]:
        """Return the documents of collections that an identity may read now, but for those named ``beside`` them.

        Raises InvalidRequest for a collection that it does not see, where nothing is in them that it may read, and
        where there are more than a question may name.
        """
        if not collection_ids:
            return []
        row = {**await self._scope(identity), "ids": list(collection_ids)}
        async with self._database.connection() as connection:
            known = {each for (each,) in await (await connection.execute(_KNOWN, row)).fetchall()}
            found = [each for (each,) in await (await connection.execute(_RESOLVE, row)).fetchall()]
        if unknown := [each for each in collection_ids if each not in known]:
            raise InvalidRequest(
                f"collection_ids: there is no collection {unknown[0]}.", suggestion="List them anew: it may be gone."
            )
        if not found:
            raise InvalidRequest(
                "collection_ids: nothing is in it that you may read.", suggestion="Put documents in, or leave it out."
            )
        further = [each for each in dict.fromkeys(found) if each not in set(beside)]
        if len(beside) + len(further) > MOST_DOCUMENTS:
            raise InvalidRequest(
                f"collection_ids: with page_ids they are {len(beside) + len(further):,} documents, but a question "
                f"names at most {MOST_DOCUMENTS:,}.",
                suggestion="Name fewer, or none to ask all documents.",
            )
        return further

    async def _scope(self, identity: Identity) -> dict[str, Any]:
        return {
            "workspace": await self._workspaces.number(identity.workspace),
            **reading_as(identity),
            "assigns_owners": identity.assigns_owners,
        }


async def _lock(connection: Connection, row: dict[str, Any], *, as_maker: bool) -> None:
    """Lock a collection that is to be changed. Raises NotFound, and NotPermitted where only its maker may."""
    yours = await value_of(connection, _LOCK, row)
    if yours is None:
        raise NotFound(f"There is no collection {row['collection_id']}.")
    if as_maker and not yours:
        raise NotPermitted(
            "Only who made the collection may rename, share or delete it.",
            suggestion="Make one of your own with the same documents.",
        )


async def _read(connection: Connection, row: dict[str, Any]) -> Collection:
    found = await row_of(connection, Collection, _GET, row)
    if found is None:
        raise NotFound(f"There is no collection {row['collection_id']}.")
    return found
