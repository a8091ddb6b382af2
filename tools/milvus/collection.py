"""A collection of Milvus: a row a segment, with its sparse weights and its vector as the library has them.

Nothing that a user says becomes part of a filter: those are made of numbers and of UUIDs alone. The client blocks, so
each call runs in a thread, and each has a time limit.
"""

import asyncio
import logging
import re
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, TypeVar
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from graph.errors import ConfigurationError, IndexUnavailable
from tools.retrieval.candidates import DEADLINE_SECONDS, CandidateList
from tools.settings import MilvusSettings

ROW_ID = re.compile(r"(\d{1,10}):([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}):(\d{1,9})")
NO_WORD = {0: 1e-6}  # a sparse vector can't be empty; no term has the number 0
ROWS_AT_ONCE = 1_000
THREADS = 16
WRITE_SECONDS = 60.0
CONNECT_SECONDS = 5.0
PARTITIONS = 64  # of a collection; workspaces share them by their numbers' hash
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Row:
    """A segment as Milvus stores it. ``version`` is a hash of its words and its vector."""

    document_id: str
    segment_index: int
    version: int
    words: Mapping[int, float]
    vector: NDArray[np.float32]


Place = tuple[str, int]  # a document and the index of a segment


class Milvus:
    """A Milvus server or a file of milvus-lite, connected when it is first needed. Close it."""

    engine = "milvus"

    def __init__(self, settings: MilvusSettings) -> None:
        """Raise ConfigurationError where the client is not installed."""
        assert settings.url is not None
        try:
            import pymilvus  # noqa: F401
        except ImportError as error:
            raise ConfigurationError(
                "CITEWELL_MILVUS__URL is set, but the client of Milvus is not installed.",
                suggestion="Install it with `pip install 'citewell[milvus]'`.",
            ) from error
        logging.getLogger("pymilvus").setLevel(logging.CRITICAL)  # it logs each refusal with a trace; we tell them
        self._settings = settings
        self._client: Any = None
        self._connecting = threading.Lock()
        self._threads = ThreadPoolExecutor(THREADS, "citewell-milvus")

    async def warm(self) -> None:
        """Connect, so that no search has to wait for it; whether Milvus is there is for searches to tell."""
        with suppress(IndexUnavailable, TimeoutError):
            async with asyncio.timeout(CONNECT_SECONDS):
                await self.ping()

    async def close(self) -> None:
        """Let go of the connection."""
        client, self._client = self._client, None
        if client is not None:
            await asyncio.get_running_loop().run_in_executor(self._threads, client.close)
        self._threads.shutdown(wait=False, cancel_futures=True)

    async def by_words(self, collection: str, workspace: int, idfs: Mapping[int, float], count: int) -> CandidateList:
        """Name the segments of the greatest inner product; see ``CandidateIndex``."""
        return await self._search(collection, workspace, "words", dict(idfs), "IP", count)

    async def by_vector(
        self, collection: str, workspace: int, vector: NDArray[np.float32], count: int
    ) -> CandidateList:
        """Name the segments of the greatest cosine similarity; see ``CandidateIndex``."""
        return await self._search(collection, workspace, "vector", vector, "COSINE", count)

    async def _search(
        self, collection: str, workspace: int, field: str, question: Any, metric: str, count: int
    ) -> CandidateList:
        params: dict[str, Any] = {"metric_type": metric}
        if metric == "COSINE":
            params["params"] = {"ef": max(2 * count, 256)}

        def search(client: Any, seconds: float) -> CandidateList:
            [found] = client.search(
                collection,
                data=[question],
                anns_field=field,
                limit=count,
                filter=f"workspace == {workspace:d}",
                search_params=params,
                output_fields=["id"],
                consistency_level="Bounded",
                timeout=seconds,
            )
            return _as_list(workspace, [hit["id"] for hit in found], count)

        return await self._call(search, DEADLINE_SECONDS)

    async def ping(self) -> None:
        """Raise IndexUnavailable where Milvus does not answer."""
        await self._call(lambda client, s: client.list_collections(timeout=s), CONNECT_SECONDS)

    async def exists(self, collection: str) -> bool:
        """Whether there is a collection. Raises IndexUnavailable."""
        return bool(await self._call(lambda client, s: client.has_collection(collection, timeout=s)))

    async def create(self, collection: str, dimension: int) -> None:
        """Make a collection, unless there is one, which is loaded. Raises IndexUnavailable."""

        def create(client: Any, seconds: float) -> None:
            schema, indexes = self._schema(client, dimension)
            client.create_collection(
                collection,
                schema=schema,
                index_params=indexes,
                num_partitions=PARTITIONS,
                consistency_level="Bounded",
                timeout=seconds,
            )

        if not await self.load(collection):
            await self._call(create)

    async def load(self, collection: str) -> bool:
        """Load a collection, which a server that was started anew may not have; return whether there is one."""

        def load(client: Any, seconds: float) -> bool:
            if not client.has_collection(collection, timeout=seconds):
                return False
            client.load_collection(collection, timeout=seconds)
            return True

        return await self._call(load)

    async def drop(self, collection: str) -> None:
        """Drop a collection, if there is one. Raises IndexUnavailable."""
        await self._call(lambda client, s: client.drop_collection(collection, timeout=s))

    async def collections(self, prefix: str) -> list[str]:
        """Return the names of the collections that begin so. Raises IndexUnavailable."""
        names = await self._call(lambda client, s: client.list_collections(timeout=s))
        return sorted(name for name in names if name.startswith(prefix))

    async def count(self, collection: str) -> int:
        """Return how many rows a collection has. Raises IndexUnavailable."""

        def count(client: Any, seconds: float) -> int:
            [row] = client.query(
                collection, filter="", output_fields=["count(*)"], consistency_level="Strong", timeout=seconds
            )
            return int(row["count(*)"])

        return await self._call(count)

    async def write(self, collection: str, workspace: int, rows: Sequence[Row]) -> None:
        """Write rows, or write over them. Raises IndexUnavailable."""

        def write(client: Any, seconds: float) -> None:
            for start in range(0, len(rows), ROWS_AT_ONCE):
                data = [self._data(workspace, row) for row in rows[start : start + ROWS_AT_ONCE]]
                client.upsert(collection, data, timeout=seconds)

        await self._call(write)

    async def delete(self, collection: str, workspace: int, places: Iterable[Place]) -> None:
        """Delete rows. Raises IndexUnavailable."""
        ids = [f"{workspace:d}:{document_id}:{index:d}" for document_id, index in places]

        def delete(client: Any, seconds: float) -> None:
            for start in range(0, len(ids), ROWS_AT_ONCE):
                client.delete(collection, ids=ids[start : start + ROWS_AT_ONCE], timeout=seconds)

        await self._call(delete)

    async def delete_workspace(self, collection: str, workspace: int) -> None:
        """Delete all rows of a workspace. Raises IndexUnavailable."""
        await self._call(lambda client, s: client.delete(collection, filter=f"workspace == {workspace:d}", timeout=s))

    async def versions(self, collection: str, workspace: int, document_ids: Iterable[UUID]) -> dict[Place, int]:
        """Return the version of each row of some documents. Raises IndexUnavailable."""
        named = ", ".join(f'"{each}"' for each in document_ids)
        return await self._versions(collection, f"workspace == {workspace:d} and document in [{named}]")

    async def versions_between(
        self, collection: str, workspace: int, after: UUID | None, upto: UUID | None
    ) -> dict[Place, int]:
        """Return the version of each row whose document's id comes after one and not after another."""
        conditions = [f"workspace == {workspace:d}"]
        conditions += [f'document > "{after}"'] if after is not None else []
        conditions += [f'document <= "{upto}"'] if upto is not None else []
        return await self._versions(collection, " and ".join(conditions))

    async def workspaces(self, collection: str) -> set[int]:
        """Return the numbers of the workspaces that have rows. Raises IndexUnavailable."""

        def workspaces(client: Any, seconds: float) -> set[int]:
            return {int(row["workspace"]) for row in _rows(client, collection, "segment == 0", ["workspace"], seconds)}

        return await self._call(workspaces)

    async def _versions(self, collection: str, where: str) -> dict[Place, int]:
        def read(client: Any, seconds: float) -> dict[Place, int]:
            return {
                (row["document"], int(row["segment"])): int(row["version"])
                for row in _rows(client, collection, where, ["document", "segment", "version"], seconds)
            }

        return await self._call(read)

    async def _call(self, call: Callable[[Any, float], T], seconds: float = WRITE_SECONDS) -> T:
        """Run a call of the client in a thread, connected; translate its errors."""

        def run() -> T:
            from grpc import RpcError
            from pymilvus.exceptions import MilvusException

            try:
                return call(self._connected(seconds), seconds)
            except MilvusException as error:
                raise IndexUnavailable(f"Milvus failed: {error.message}") from error
            except (RpcError, OSError) as error:
                raise IndexUnavailable(f"Milvus failed: {type(error).__name__}") from error

        return await asyncio.get_running_loop().run_in_executor(self._threads, run)

    def _connected(self, seconds: float) -> Any:
        from pymilvus import MilvusClient

        if not self._connecting.acquire(timeout=seconds):
            raise IndexUnavailable("Milvus is still being connected to.")
        try:
            if self._client is None:
                self._client = MilvusClient(
                    self._settings.address,
                    token=self._settings.token,
                    db_name=self._settings.database,
                    timeout=CONNECT_SECONDS,
                    dedicated=True,
                )
            return self._client
        finally:
            self._connecting.release()

    def _schema(self, client: Any, dimension: int) -> tuple[Any, Any]:
        from pymilvus import DataType

        schema = client.create_schema(auto_id=False, enable_dynamic_field=False)
        schema.add_field("id", DataType.VARCHAR, max_length=64, is_primary=True)
        schema.add_field("workspace", DataType.INT64, is_partition_key=True)
        schema.add_field("document", DataType.VARCHAR, max_length=36)
        schema.add_field("segment", DataType.INT64)
        schema.add_field("version", DataType.INT64)
        schema.add_field("words", DataType.SPARSE_FLOAT_VECTOR)
        schema.add_field("vector", DataType.FLOAT_VECTOR, dim=dimension)
        indexes = client.prepare_index_params()
        indexes.add_index("words", index_type="SPARSE_INVERTED_INDEX", metric_type="IP")
        params = {"M": 16, "efConstruction": 128}
        indexes.add_index("vector", index_type="HNSW", metric_type="COSINE", params=params)
        return schema, indexes

    def _data(self, workspace: int, row: Row) -> dict[str, Any]:
        return {
            "id": f"{workspace:d}:{row.document_id}:{row.segment_index:d}",
            "workspace": workspace,
            "document": row.document_id,
            "segment": row.segment_index,
            "version": row.version,
            "words": row.words or NO_WORD,
            "vector": row.vector,
        }


def _as_list(workspace: int, ids: Sequence[str], count: int) -> CandidateList:
    """Read names strictly, and leave out those of other workspaces and those that come twice."""
    found: dict[tuple[UUID, int], None] = {}
    foreign = 0
    for each in ids:
        name = ROW_ID.fullmatch(each)
        if name is None or int(name[1]) != workspace:
            foreign += 1
        else:
            found[UUID(name[2]), int(name[3])] = None
    return CandidateList([key[0] for key in found], [key[1] for key in found], len(ids) < count, foreign)


def _rows(client: Any, collection: str, where: str, fields: list[str], seconds: float) -> Iterator[dict[str, Any]]:
    """Read all rows that a filter selects, a page at a time."""
    pages = client.query_iterator(
        collection,
        batch_size=ROWS_AT_ONCE,
        filter=where,
        output_fields=fields,
        consistency_level="Strong",
        timeout=seconds,
    )
    try:
        while page := pages.next():
            yield from page
    finally:
        pages.close()
