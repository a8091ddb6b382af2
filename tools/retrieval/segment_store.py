"""Read segments and whole documents by id."""

from collections.abc import Sequence
from itertools import groupby
from typing import Any
from uuid import UUID

from psycopg import sql

from graph.evidence import Identity, Page, Segment
from tools.retrieval.partitions import existing_partition, partition_name
from tools.retrieval.scope import SEGMENT_COLUMNS, VISIBLE, as_segment, as_uuid
from tools.storage.database import Database
from tools.storage.tenants import Workspaces


class SegmentStore:
    """Reads what is stored, within an identity's reach."""

    def __init__(self, database: Database, workspaces: Workspaces) -> None:
        self._database = database
        self._workspaces = workspaces

    async def read_segments(self, segment_ids: Sequence[str], identity: Identity) -> list[Segment]:
        """Read segments by id, in the order asked; ids out of the identity's reach are left out.

        Raises NotFound for an unknown workspace, DatabaseUnavailable.
        """
        wanted = [key for key in map(_key, segment_ids) if key is not None]
        rows = await self._read(
            _SEGMENTS, identity, {"documents": [key[0] for key in wanted], "indices": [key[1] for key in wanted]}
        )
        return [as_segment(row) for row in rows]

    async def read_pages(self, document_ids: Sequence[str], identity: Identity) -> list[Page]:
        """Read whole documents in the order asked; ids out of the identity's reach are left out.

        Raises NotFound for an unknown workspace, DatabaseUnavailable.
        """
        wanted = [uuid for uuid in map(as_uuid, document_ids) if uuid is not None]
        rows = await self._read(_PAGES, identity, {"documents": wanted})
        return [
            Page(document_id, segments[0].title, segments)
            for document_id, group in groupby(map(as_segment, rows), key=lambda segment: segment.document_id)
            for segments in [tuple(group)]
        ]

    async def _read(self, statement: str, identity: Identity, parameters: dict[str, Any]) -> list[tuple[Any, ...]]:
        workspace = await self._workspaces.number(identity.workspace)
        query = sql.SQL(statement).format(
            partition=sql.Identifier(partition_name(workspace)), workspace=sql.Literal(workspace)
        )
        async with self._database.connection() as conn, existing_partition(identity.workspace):
            found = await conn.execute(query, {**parameters, "user": identity.user}, binary=True)
            return await found.fetchall()


def _key(segment_id: str) -> tuple[UUID, int] | None:
    document_id, _, index = segment_id.rpartition(":")
    uuid = as_uuid(document_id)
    return (uuid, int(index)) if uuid is not None and index.isascii() and index.isdigit() and len(index) < 10 else None


_FROM = (
    " JOIN documents AS d ON d.workspace = {workspace} AND d.document_id = w.document_id AND "
    + VISIBLE
    + " JOIN {partition} AS s ON s.workspace = {workspace} AND s.document_id = w.document_id"
)
_SEGMENTS = (
    f"SELECT {SEGMENT_COLUMNS}"
    " FROM unnest(%(documents)s::uuid[], %(indices)s::integer[]) WITH ORDINALITY AS w (document_id, index, place)"
    + _FROM
    + " AND s.segment_index = w.index ORDER BY w.place"
)
_PAGES = (
    f"SELECT {SEGMENT_COLUMNS}"
    " FROM unnest(%(documents)s::uuid[]) WITH ORDINALITY AS w (document_id, place)"
    + _FROM
    + " ORDER BY w.place, s.segment_index"
)
