"""Vectors of one workspace that grows: PostgreSQL's CPU of building their index, of storing one more, of a search.

They are of the real dimension and made up, in clusters, which is easier than those of texts. Up to
``VECTOR_INDEX_SEGMENTS`` the product has no index; here it is built at each size.
"""

from pathlib import Path
from uuid import uuid4

import numpy as np
from psycopg import sql

from bench.common_bench import SEED, cpu_seconds
from bench.growth.power_laws import Cost, Growth, tell
from bench.vector_indexes import Clusters, build_vector_index, near_some, search_vectors
from tools.retrieval.segment_rows import HEADER, TRAILER, vector_rows
from tools.settings import load_settings
from tools.storage.database import Connection
from tools.storage.partitions import Place
from tools.storage.startup import open_database
from tools.storage.stored_columns import VECTOR_COLUMNS
from tools.storage.tenants import Workspaces

SIZES = (10_000, 30_000, 100_000, 300_000)
RUNS, ADDED = 3, 500
COPIED_AT_ONCE = 10_000
MEGABYTES = 1024


async def measure_vectors(folder: Path, most: int) -> list[Growth]:
    """Fill the vectors of a workspace up to each size, and measure there."""
    random = np.random.default_rng(SEED)
    clusters, present = Clusters(random), 0
    building, storing, searching, recall = [], [], [], []
    async with open_database(load_settings(data_dir=folder / "data")) as database, database.connection() as conn:
        place = Place(await Workspaces(database).create("vectors", own_tables=True), own=True)
        table = place.tables[0].vectors
        for size in (size for size in SIZES if size <= most):
            await conn.execute(sql.SQL("DROP INDEX IF EXISTS {}").format(sql.Identifier(f"{_plain(table)}_hnsw")))
            while present < size:
                made = clusters.vectors(min(COPIED_AT_ONCE, size - present))
                await _store(conn, place, made)
                present += len(made)
            building.append(Cost(size, [(await build_vector_index(conn, table, MEGABYTES)).cpu]))
            found = [await search_vectors(conn, place, near_some(made, random)) for _ in range(RUNS)]
            recall.append(Cost(size, [each[0] for each in found]))
            searching.append(Cost(size, [each[1] for each in found]))
            stored = []
            for _ in range(RUNS):
                before = cpu_seconds(conn)
                await _store(conn, place, clusters.vectors(ADDED))
                stored.append((cpu_seconds(conn) - before) * 1000 / ADDED)
            present += RUNS * ADDED
            storing.append(Cost(size, stored))
            tell(f"{size:,} vectors", [each[-1] for each in (building, storing, searching, recall)])
    return [
        Growth("building their index", "s of CPU", building),
        Growth("storing a vector", "ms of CPU", storing),
        Growth("the ten nearest", "ms of CPU", searching),
        Growth("recall of the ten nearest", "", recall),
    ]


def _plain(table: sql.Identifier) -> str:
    return table.as_string().strip('"')


async def _store(conn: Connection, place: Place, vectors: np.ndarray) -> None:
    columns, table = sql.SQL(VECTOR_COLUMNS), place.tables[0].vectors
    copy = sql.SQL("COPY {} ({}) FROM STDIN (FORMAT binary)").format(table, columns)
    async with conn.cursor().copy(copy) as stream:
        await stream.write(HEADER)
        await stream.write(vector_rows(place.workspace, uuid4(), 0, vectors))
        await stream.write(TRAILER)
