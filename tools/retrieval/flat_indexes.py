"""Flat indexes of the workspaces that a process searches: read in the background, and let go where memory ends.

A search never waits for one, and never trusts one: the statement tells the library's version, and where it is not that
of the index, what it found is thrown away and the tables are searched.
"""

import asyncio
import logging
import time
from contextlib import suppress
from contextvars import Context
from dataclasses import dataclass, field
from functools import partial
from struct import Struct

import numpy as np
import psycopg
from numpy.typing import NDArray
from psycopg import sql

from graph.errors import CitewellError
from text.terms import QueryTerms
from tools.retrieval.candidates import CandidateList
from tools.retrieval.flat_index import (
    DOCUMENT_MEMORY,
    SEGMENTS_PACKED,
    FlatIndex,
    ReadSegments,
    Stamp,
    row_memory,
)
from tools.storage.batches import in_batches
from tools.storage.database import Connection, Database
from tools.storage.partitions import LIBRARY_VERSION, ReadTables, joined, partition_name, vectors_name
from tools.telemetry.metrics import VECTOR_MEMORY

log = logging.getLogger(__name__)

MOST_BYTES = 256_000_000  # of a process: room for some 200,000 segments of the bundled model
LEAST_SEGMENTS = 2_000  # below, PostgreSQL compares all vectors about as fast
LEAST_SEARCHES = 2  # the first question of a process may be its only one
BATCH_ROWS = 8_000  # of segments and of vectors that are read at a time
INLINE_VALUES = 10_000_000  # compared in some milliseconds; more of them are left to another thread
REST = 4  # times what reading took, until what changed is read again
IDLE_SECONDS = 60.0  # without a search, before a workspace makes room for another
RETRY_SECONDS = 60.0  # after a failure, or where there was no room


@dataclass(slots=True)
class _Workspace:
    """What is known of a workspace: the ``version`` that a search saw last, and the index, if there is one."""

    version: str = ""
    index: FlatIndex | None = None
    searches: int = 0
    used_at: float = field(default_factory=time.monotonic)
    not_before: float = 0.0
    reading: asyncio.Task[None] | None = None


class FlatIndexes:
    """The flat indexes of a process, of at most ``most_bytes`` together. Close it before the database.

    While an index is renewed, what changed is held twice, and all of it where much was deleted.
    """

    def __init__(
        self,
        database: Database,
        most_bytes: int = MOST_BYTES,
        *,
        least_segments: int = LEAST_SEGMENTS,
        idle_seconds: float = IDLE_SECONDS,
        rest: float = REST,
    ) -> None:
        self._database = database
        self._most_bytes = most_bytes
        self._least_segments = least_segments
        self._idle_seconds = idle_seconds
        self._rest = rest
        self._workspaces: dict[int, _Workspace] = {}
        self._one_at_a_time = asyncio.Semaphore(1)
        self._closed = False

    @property
    def memory(self) -> int:
        """About how many bytes the indexes take."""
        return sum(each.index.memory for each in self._workspaces.values() if each.index is not None)

    def of(self, workspace: int, dimension: int) -> FlatIndex | None:
        """Return the index of a workspace, unless there is none, or it is known to be behind."""
        known = self._workspaces.get(workspace)
        if known is None:
            return None
        known.used_at = time.monotonic()
        index = known.index
        return index if index is not None and (index.version, index.dimension) == (known.version, dimension) else None

    def observe_version(self, workspace: int, version: str, dimension: int) -> None:
        """Take note of the version that a search saw, and read what changed in the background where that pays."""
        known = self._workspaces.get(workspace)
        if known is None:
            segments = int(version.split(":")[1])
            if self._closed or self._most_bytes == 0 or segments < self._least_segments:
                return
            known = self._workspaces[workspace] = _Workspace()
        known.version = version
        known.searches += 1
        if known.index is not None and (known.index.version, known.index.dimension) == (version, dimension):
            return
        if self._closed or known.reading is not None or known.searches < LEAST_SEARCHES:
            return
        if time.monotonic() >= known.not_before:
            # In a context of its own: it is no part of the run that searched.
            known.reading = asyncio.create_task(self._read(workspace, known, dimension), context=Context())

    def forget(self, workspace: int) -> None:
        """Let go of a workspace that is gone."""
        if (known := self._workspaces.pop(workspace, None)) is not None and known.reading is not None:
            known.reading.cancel()
        VECTOR_MEMORY.set(self.memory)

    async def settled(self) -> None:
        """Wait until nothing is being read."""
        while reading := [each.reading for each in self._workspaces.values() if each.reading is not None]:
            await asyncio.wait(reading)

    async def close(self) -> None:
        """Stop reading, and let go of everything."""
        self._closed = True
        reading = [each.reading for each in self._workspaces.values() if each.reading is not None]
        for task in reading:
            task.cancel()
        for task in reading:
            with suppress(asyncio.CancelledError):
                await task
        self._workspaces.clear()
        VECTOR_MEMORY.set(0)

    async def _read(self, workspace: int, known: _Workspace, dimension: int) -> None:
        async with self._one_at_a_time:
            began = time.monotonic()
            try:
                index = known.index
                if index is None or index.dimension != dimension:
                    index = known.index = FlatIndex("", dimension)
                read = partial(self._renewed, workspace, index)
                known.index = await self._database.read(read, seconds=None)
                rest = RETRY_SECONDS if known.index is None else self._rest * (time.monotonic() - began)
                known.not_before = time.monotonic() + rest
            except psycopg.errors.UndefinedTable:  # the workspace was deleted
                self._workspaces.pop(workspace, None)
            except (CitewellError, psycopg.Error, ValueError, MemoryError) as error:
                log.warning("The vectors of workspace %d are searched by the database alone: %s", workspace, error)
                known.index = None
                known.not_before = time.monotonic() + RETRY_SECONDS
            finally:
                known.reading = None
                VECTOR_MEMORY.set(self.memory)

    async def _renewed(self, workspace: int, index: FlatIndex, conn: Connection) -> FlatIndex | None:
        """Return the index as of now, or None where there is no room for it."""
        async with conn.transaction():
            await conn.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
            found = await conn.execute(_VERSION, [workspace])
            row = await found.fetchone()
            if row is None:
                return None
            version, segments, documents, parts = row
            names = [name(workspace, part) for name in (partition_name, vectors_name) for part in range(parts)]
            if not self._make_room(workspace, segments, documents, index.dimension):
                return None
            found = await conn.execute(
                sql.SQL(_STAMPS).format(rows=sql.SQL(joined(names, "document_id, xmin"))), [workspace], binary=True
            )
            row = await found.fetchone()
            assert row is not None
            stamps = await asyncio.to_thread(_stamps, row[0])
            outdated = await asyncio.to_thread(index.outdated, stamps)
            read = ReadSegments(index.dimension)
            tables = ReadTables.of(workspace, parts)
            statement = sql.SQL(_DOCUMENTS.format(segments=tables.segments, vectors=tables.vectors))
            for batch in in_batches(outdated, lambda each: stamps[each].rows, BATCH_ROWS):
                found = await conn.execute(statement, [[each.hex() for each in batch]], prepare=False, binary=True)
                await asyncio.to_thread(read.add, await found.fetchall())
        return await asyncio.to_thread(index.renewed, version, stamps, read)

    def _make_room(self, workspace: int, segments: int, documents: int, dimension: int) -> bool:
        """Whether an index of this size may be held. Lets go of others that were not searched lately, oldest first."""
        wanted = segments * row_memory(dimension) + documents * DOCUMENT_MEMORY
        if wanted > self._most_bytes:
            return False
        others = {n: each for n, each in self._workspaces.items() if each.index is not None and n != workspace}
        taken = wanted + sum(each.index.memory for each in others.values() if each.index is not None)
        idle_since = time.monotonic() - self._idle_seconds
        for other in sorted(others.values(), key=lambda each: each.used_at):
            if taken <= self._most_bytes or other.used_at > idle_since:
                break
            assert other.index is not None
            taken -= other.index.memory
            other.index = None
        return taken <= self._most_bytes


async def candidates_of(
    index: FlatIndex, asked: QueryTerms, question: NDArray[np.float32] | None, count: int
) -> tuple[CandidateList, CandidateList]:
    """Find the best of an index by words and by vector, if there is one, in a large index in another thread."""

    def find() -> tuple[CandidateList, CandidateList]:
        nearest = CandidateList() if question is None else index.nearest(question, count)
        return index.heaviest(asked, count), nearest

    return find() if index.size <= INLINE_VALUES else await asyncio.to_thread(find)


def _stamps(packed: bytes | None) -> dict[bytes, Stamp]:
    return {row[0]: Stamp(*row[1:]) for row in _STAMP.iter_unpack(packed or b"")}


_VERSION = f"""
SELECT {LIBRARY_VERSION}, l.segments, l.documents, coalesce(cardinality(l.part_segments), 1)
FROM library_statistics AS l WHERE l.workspace = %s
"""
# As one value: a row for each document would keep the event loop from all else while it is read. Deleted documents are
# left out, though their vectors stay until they are purged; whoever brings one back writes a new version.
_STAMP = Struct(">16sqqq")
_STAMPS = """
SELECT string_agg(uuid_send(document_id) || int8send(rows) || int8send(oldest) || int8send(newest), ''::bytea)
FROM (
    SELECT document_id, count(*) AS rows, min(xmin::text::bigint) AS oldest, max(xmin::text::bigint) AS newest
    FROM {rows} AS r GROUP BY document_id
) AS held
JOIN documents AS d USING (document_id) WHERE d.workspace = %s AND num_nulls(d.deleted_at) = 1
"""
_DOCUMENTS = f"""
SELECT uuid_send(s.document_id), {SEGMENTS_PACKED}
FROM {{segments}} AS s LEFT JOIN {{vectors}} AS v
    ON v.workspace = s.workspace AND v.document_id = s.document_id AND v.segment_index = s.segment_index
WHERE s.document_id = ANY(%s::uuid[]) GROUP BY s.document_id
"""
