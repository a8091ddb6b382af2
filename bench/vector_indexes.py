"""Vectors in clusters, their index and searches of it, for benchmarks."""

import numpy as np
from numpy.typing import NDArray
from psycopg import sql

from bench.bulk_filling import Built, build
from bench.common_bench import cpu_seconds
from tools.retrieval.indexing import vector_as_text
from tools.retrieval.search_sql import explored_in
from tools.storage.database import Connection
from tools.storage.partitions import Place

DIMENSION = 256
CLUSTERS = 200
ASKED, NEAREST = 50, 10
HNSW = (
    "CREATE INDEX {} ON {} USING hnsw ((embedding::halfvec({})) halfvec_cosine_ops)"
    " WITH (m = 16, ef_construction = 128)"
)


class Clusters:
    """Draws unit vectors of ``DIMENSION`` numbers around centres."""

    def __init__(self, random: np.random.Generator) -> None:
        self._random = random
        self._centres = random.normal(size=(CLUSTERS, DIMENSION))

    def vectors(self, count: int) -> NDArray[np.float32]:
        """Draw vectors, shape (count, DIMENSION)."""
        made = self._centres[self._random.integers(CLUSTERS, size=count)]
        made = made + self._random.normal(size=made.shape)
        unit: NDArray[np.float32] = (made / np.linalg.norm(made, axis=1, keepdims=True)).astype(np.float32)
        return unit


def near_some(vectors: NDArray[np.float32], random: np.random.Generator) -> NDArray[np.float32]:
    """Return ``ASKED`` vectors to search for, each near one of those given."""
    near = vectors[random.integers(len(vectors), size=ASKED)]
    return (near + 0.05 * random.normal(size=near.shape)).astype(np.float32)


async def build_vector_index(conn: Connection, vectors: sql.Identifier, megabytes: int) -> Built:
    """Build the vector index of a table anew, as ``maintain`` does but without helpers, within so much memory."""
    await conn.execute(sql.SQL("DROP INDEX IF EXISTS {}").format(sql.Identifier(f"{vectors.as_string()[1:-1]}_hnsw")))
    statement = sql.SQL(HNSW).format(
        sql.Identifier(f"{vectors.as_string()[1:-1]}_hnsw"), vectors, sql.Literal(DIMENSION)
    )
    return await build(conn, statement, megabytes)


async def search_vectors(conn: Connection, place: Place, asked: NDArray[np.float32]) -> tuple[float, float]:
    """Return the share of the nearest that the indexes find, and milliseconds of CPU for a question."""
    ask = (
        f"SELECT document_id, segment_index FROM {place.read.vectors} AS v"
        f" ORDER BY embedding::halfvec({DIMENSION}) <=> %s::halfvec({DIMENSION}) LIMIT {NEAREST}"
    ).encode()
    literals = [vector_as_text(each) for each in asked]
    async with conn.transaction():
        await conn.execute(f"SET LOCAL hnsw.ef_search = {explored_in(place.parts)}".encode())
        await conn.execute("SET LOCAL hnsw.iterative_scan = strict_order")
        await conn.execute(ask, [literals[0]])
        used = -cpu_seconds(conn)
        found = [await (await conn.execute(ask, [each])).fetchall() for each in literals]
        used += cpu_seconds(conn)
        await conn.execute("SET LOCAL enable_indexscan = off")
        exact = [await (await conn.execute(ask, [each])).fetchall() for each in literals]
    shares = [len(set(some) & set(all_)) / NEAREST for some, all_ in zip(found, exact, strict=True)]
    return float(np.mean(shares)), 1000 * used / len(literals)
