"""Begin, fill, compare, switch and end an index: what of it is true stands in PostgreSQL, and Milvus can be lost.

An index begins with every document queued. It is asked once the queue is done and a comparison found nothing to
repair; until then, and whenever it has to be filled anew, PostgreSQL searches alone. Workers in any number of processes
follow the library from then on.
"""

import asyncio
import logging
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from uuid import UUID

from graph.errors import CitewellError, ConfigurationError, IndexUnavailable, NotFound
from tools.concurrency.tasks import cancel_and_wait
from tools.milvus.collection import Milvus, Place
from tools.milvus.filling import LOCK, VERSION, VERSION_BYTES, IndexFiller
from tools.storage.database import Connection, Database, only_one, value_of
from tools.storage.index_changes import (
    SearchIndex,
    begin_index,
    end_index,
    queue_all,
    queue_deleted_workspace,
    queue_documents,
    read_backlog,
    read_index,
)
from tools.storage.partitions import OWN_SEGMENTS, OWN_VECTORS, lock_library
from tools.telemetry.tracing import background_context

log = logging.getLogger("citewell.index")

COLLECTIONS = "citewell"  # what their names begin with; deployments that share a Milvus have a database each
DOCUMENTS_AT_ONCE = 200
WAIT_SECONDS = 0.2
MOST_COMPARISONS = 5  # that find something to repair, one after another, before a fill is given up

Progress = Callable[[int, int], None]  # documents done, and of how many

# Those in the shared tables are read by PostgreSQL alone.
_LIBRARIES = "SELECT workspace FROM library_statistics WHERE own_tables ORDER BY workspace"
_DOCUMENTS = f"""
SELECT DISTINCT document_id FROM {OWN_SEGMENTS} AS s WHERE workspace = %(workspace)s AND document_id > %(after)s
ORDER BY document_id LIMIT %(limit)s
"""
_VERSIONS = f"""
SELECT s.document_id::text, s.segment_index, {VERSION}
FROM {OWN_SEGMENTS} AS s LEFT JOIN {OWN_VECTORS} AS v
    ON v.workspace = %(workspace)s AND v.document_id = s.document_id AND v.segment_index = s.segment_index
WHERE s.workspace = %(workspace)s AND s.document_id = ANY(%(documents)s)
"""
_QUEUED = "SELECT DISTINCT document_id::text FROM index_changes WHERE workspace = %s AND document_id = ANY(%s::uuid[])"
_REFILLING = "SELECT EXISTS (SELECT FROM index_changes WHERE is_refill)"
_SERVE = "UPDATE search_index SET state = 'serving', filled_at = coalesce(filled_at, now())"
_COMPARED = "UPDATE search_index SET compared_at = now()"
_SEGMENTS = "SELECT coalesce(sum(segments), 0)::bigint FROM library_statistics WHERE own_tables"


class IndexKeeper:
    """Keeps the index of a deployment; any number of processes may."""

    def __init__(self, database: Database, milvus: Milvus) -> None:
        self._database = database
        self._milvus = milvus
        self._filler = IndexFiller(database, milvus)

    async def read(self) -> SearchIndex | None:
        """Return the index, or None where PostgreSQL searches alone."""
        async with self._database.connection() as connection:
            return await read_index(connection)

    async def begin(self, dimension: int) -> SearchIndex:
        """Begin an index, or go on with the one there is; every document is queued that is not.

        Raises ConfigurationError where the library has no vectors, IndexUnavailable, DatabaseUnavailable.
        """
        if not self._database.has_vectors:
            raise ConfigurationError(
                "An index of candidates is filled from vectors, which this PostgreSQL has none of.",
                suggestion="Install pgvector on the server, and run `citewell reindex` first.",
            )
        await self._milvus.ping()
        async with self._database.connection() as connection:
            await begin_index(connection, COLLECTIONS, dimension)
            await self._queue_everything(connection)
            index = await read_index(connection)
        assert index is not None
        await self._milvus.create(index.collection, index.dimension)
        return index

    async def fill(self, dimension: int, progress: Progress | None = None) -> SearchIndex:
        """Fill an index to its end, or go on with it, and switch searches to it. Raises as ``begin`` does."""
        index = await self.begin(dimension)
        async with self._database.connection() as connection:
            total = (await read_backlog(connection)).documents
        comparisons = 0
        while True:
            while await self._filler.follow(index):
                if progress is not None:
                    async with self._database.connection() as connection:
                        left = (await read_backlog(connection)).documents
                    progress(max(total - left, 0), max(total, left))
            found = await self.settle(index)
            if found == 0:
                return index
            if found < 0:  # a worker is at the rest of it
                await asyncio.sleep(WAIT_SECONDS)
                continue
            comparisons += 1
            if comparisons == MOST_COMPARISONS:
                raise IndexUnavailable(f"Milvus does not keep what is written: {found} documents differ again.")

    async def end(self) -> None:
        """Let PostgreSQL search alone, and drop the collections. Raises IndexUnavailable, with the switch done."""
        async with self._database.connection() as connection:
            index = await read_index(connection)
            await end_index(connection)
        if index is not None:
            await self._drop_others(index, keep=False)

    async def follow(self, index: SearchIndex) -> int:
        """Bring some documents up to date; see ``IndexFiller``."""
        return await self._filler.follow(index)

    async def restore(self, index: SearchIndex) -> None:
        """Load the collection; where it is lost, or lost what it held, make it anew and queue every document."""
        async with self._database.connection() as connection:
            if await self._milvus.load(index.collection):
                if not await value_of(connection, _SEGMENTS) or index.state == "filling":
                    return
                if await self._milvus.count(index.collection):
                    return
            else:
                await self._milvus.create(index.collection, index.dimension)
            await connection.execute("UPDATE search_index SET state = 'filling'")
            await self._queue_everything(connection)

    async def settle(self, index: SearchIndex) -> int:
        """Compare an index whose queue is done with the library, and let it be asked where nothing differs.

        Returns the number of documents that were queued to be repaired; -1 where another process is at it, or the
        queue is not done.
        """
        async with self._database.connection() as connection, only_one(connection, "%s", LOCK) as alone:
            if await value_of(connection, _REFILLING) or not alone:
                return -1
            found = await self._compare(connection, index)
            await connection.execute(_COMPARED)
            if found == 0:
                await connection.execute(_SERVE)
        if found == 0:
            await self._drop_others(index, keep=True)
        return found

    async def _compare(self, connection: Connection, index: SearchIndex) -> int:
        """Compare ids and versions both ways, and queue what differs; return how many documents that are."""
        workspaces = [row[0] for row in await (await connection.execute(_LIBRARIES)).fetchall()]
        differing = 0
        for workspace in workspaces:
            after: UUID | None = None
            while True:
                bound = {"workspace": workspace, "after": after or UUID(int=0), "limit": DOCUMENTS_AT_ONCE}
                found = await connection.execute(_DOCUMENTS, bound)
                documents = [row[0] for row in await found.fetchall()]
                upto = documents[-1] if len(documents) == DOCUMENTS_AT_ONCE else None
                there = await self._milvus.versions_between(index.collection, workspace, after, upto)
                here = await _versions(connection, workspace, documents)
                differing += await _queue_differing(connection, workspace, here, there)
                if upto is None:
                    break
                after = upto
        for gone in await self._milvus.workspaces(index.collection) - set(workspaces):
            await queue_deleted_workspace(connection, gone)
            differing += 1
        return differing

    async def _queue_everything(self, connection: Connection) -> None:
        for (workspace,) in await (await connection.execute(_LIBRARIES)).fetchall():
            with suppress(NotFound):  # of a workspace that was deleted meanwhile nothing is left to queue
                async with connection.transaction():
                    await lock_library(connection, workspace)
                    await queue_all(connection, workspace)

    async def _drop_others(self, index: SearchIndex, *, keep: bool) -> None:
        own = index.collection.rpartition("_")[0] + "_"
        for name in await self._milvus.collections(own):
            if not (keep and name == index.collection):
                await self._milvus.drop(name)


async def _versions(connection: Connection, workspace: int, documents: list[UUID]) -> dict[Place, int]:
    if not documents:
        return {}
    found = await connection.execute(_VERSIONS, {"workspace": workspace, "documents": documents}, binary=True)
    return {(row[0], row[1]): VERSION_BYTES.unpack(row[2])[0] for row in await found.fetchall()}


async def _queue_differing(
    connection: Connection, workspace: int, here: dict[Place, int], there: dict[Place, int]
) -> int:
    """Queue documents that differ, but for those that are queued anyway."""
    differing = {place[0] for place, _ in here.items() ^ there.items()}
    if not differing:
        return 0
    found = await connection.execute(_QUEUED, [workspace, list(differing)])
    differing -= {row[0] for row in await found.fetchall()}
    await queue_documents(connection, workspace, sorted(differing))
    return len(differing)


@dataclass(frozen=True, slots=True)
class Pace:
    """How often a worker looks, in seconds: for changes, for a collection that is lost, for rows that differ."""

    changes: float = 1.0
    lost: float = 10.0
    differing: float = 3600.0
    after_failure: float = 5.0


class IndexWorker:
    """Follows the library, once it is started. Close it before the database and Milvus."""

    def __init__(self, database: Database, milvus: Milvus, pace: Pace | None = None) -> None:
        self._keeper = IndexKeeper(database, milvus)
        self._pace = pace or Pace()
        self._task: asyncio.Task[None] | None = None
        self._looked_at = -float("inf")
        self._compared_at = time.monotonic()

    def start(self) -> None:
        """Start working, unless it has begun."""
        if self._task is None:
            self._task = asyncio.create_task(self._work(), name="citewell-index", context=background_context())

    async def close(self) -> None:
        """Stop working; changes that were being followed are left to others at once."""
        if self._task is not None:
            await cancel_and_wait(self._task)
            self._task = None

    async def _work(self) -> None:
        while True:
            rest = self._pace.changes
            try:
                if await self.step():
                    rest = 0.0
            except CitewellError as error:
                log.warning("the index could not be brought up to date: %s", error.message)
                rest = self._pace.after_failure
                if isinstance(error, IndexUnavailable):
                    self._looked_at = -float("inf")  # it may have been lost
            except Exception:
                log.exception("the index could not be brought up to date")
                rest = self._pace.after_failure
            await asyncio.sleep(rest)

    async def step(self) -> bool:
        """Do what is next; return whether there may be more to do at once. Raises as ``IndexKeeper.follow`` does."""
        index = await self._keeper.read()
        if index is None:
            return False
        now = time.monotonic()
        if now - self._looked_at >= self._pace.lost:
            await self._keeper.restore(index)
            self._looked_at = now
        if await self._keeper.follow(index):
            return True
        if index.state == "filling":
            return await self._keeper.settle(index) > 0
        if now - self._compared_at >= self._pace.differing:
            self._compared_at = now
            return await self._keeper.settle(index) > 0
        return False
