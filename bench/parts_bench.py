"""Benchmark of a workspace in parts, beside one with the same segments in a single table.

Searches are those of ``common``. The parts are filled as ``pg_restore`` fills tables, rows first and indexes afterwards,
with rows from the function that ingestion uses, so that a million segments take minutes. What building an index takes
is the CPU time of the server's process and the most memory of its own, without helpers.

``CITEWELL_BENCH_SEGMENTS`` sets the size, ``CITEWELL_BENCH_PART`` that of a part, and ``CITEWELL_BENCH_ROWS`` a folder
in which the rows are kept from one run to the next.
"""

import asyncio
import os
import threading
import time
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import asynccontextmanager
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from uuid import UUID

import numpy as np
from psycopg import sql

from bench.common_bench import CLASSES, NO_VECTOR_INDEX, RECALL, SEED, TIMES, cpu_seconds, measure, questions_of, values_of
from bench.corpus import SEGMENTS_PER_DOCUMENT, Corpus
from bench.figures import Figure, compared, figure
from bench.libraries import BenchWorkspace, fill_workspace
from graph.evidence import Identity
from tools.retrieval.indexing import BuildLimits, maintain
from tools.retrieval.partitions import (
    Place,
    attach_tables,
    create_tables,
    drop_tables,
    find_place,
    partition_name,
)
from tools.retrieval.search_sql import EXPLORED, search_statement
from tools.retrieval.segment_rows import HEADER, TRAILER, packed_rows
from tools.retrieval.stored_columns import SEGMENT_COLUMNS
from tools.settings import Settings
from tools.storage.database import Connection, Database
from tools.storage.startup import open_database
from tools.storage.tenants import Workspaces

SEGMENTS, PART = 200_000, 50_000  # unless the environment says otherwise
CHUNK = 10_000  # segments that a process lays out at a time
SPLIT, WHOLE = 2, 3  # numbers of the workspaces, which the rows hold
GIN = "CREATE INDEX {} ON {} USING gin (terms) WITH (fastupdate = on, gin_pending_list_limit = 1024)"


def lay_out(folder: Path, chunk: int) -> None:
    """Write the rows of a chunk of segments, and its documents, to files. For a process of its own."""
    target = folder / f"{chunk}.rows"
    if target.exists():
        return
    corpus, documents = Corpus(SEED).other(chunk), []
    with open(folder / f"{chunk}.partial", "wb") as file:
        for each in corpus.documents(CHUNK // SEGMENTS_PER_DOCUMENT):
            file.writelines(packed_rows(SPLIT, each.document_id, each.title, each.spans, each.text, []))
            documents.append(f"{each.document_id}\t{each.title}\n")
    (folder / f"{chunk}.documents").write_text("".join(documents))
    (folder / f"{chunk}.partial").rename(target)


class Built:
    """What a block takes of a connection's server process: CPU seconds, and the most mebibytes of its own memory."""

    def __init__(self, conn: Connection) -> None:
        self._conn = conn
        self._status = Path(f"/proc/{conn.info.backend_pid}/status")
        self._ended = threading.Event()
        self._before = self._most = 0
        self.cpu = 0.0

    @property
    def mebibytes(self) -> float:
        """How much the process has grown by."""
        return (self._most - self._before) / 1024

    def __enter__(self) -> "Built":
        self._before = self._own()
        self.cpu = -cpu_seconds(self._conn)
        self._watching = threading.Thread(target=self._watch)
        self._watching.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._watching.join()
        self.cpu += cpu_seconds(self._conn)

    def _watch(self) -> None:
        while not self._ended.wait(0.02):
            self._most = max(self._most, self._own())

    def _own(self) -> int:
        found = next(line for line in self._status.read_text().splitlines() if line.startswith("RssAnon"))
        return int(found.split()[1])


async def run(folder: Path) -> list[Figure]:
    """Fill the workspaces in an embedded server of their own, and measure searching them and building their indexes."""
    segments = int(os.environ.get("CITEWELL_BENCH_SEGMENTS", SEGMENTS))
    part = int(os.environ.get("CITEWELL_BENCH_PART", PART))
    rows = Path(os.environ.get("CITEWELL_BENCH_ROWS", folder / "rows"))
    rows.mkdir(exist_ok=True)
    figures: list[Figure] = []
    async with open_database(Settings(data_dir=folder, database_url=None)) as database:
        workspaces = Workspaces(database)
        for name, number in (("split", SPLIT), ("whole", WHOLE)):
            assert await workspaces.create(name, own_tables=True) == number
        async with database.connection() as conn:
            figures += await _planning(database, conn)
            figures += await _vectors(database, conn)
            await conn.execute("SET max_parallel_maintenance_workers = 0")
            sizes = [size for size in (part, 2 * part, segments) if size <= segments]
            async for present, took in _filled(conn, rows, segments, part):
                figures += [_build(f"index on terms, a part of {part:,}", *took)] if present == part else []
                if present in sizes:
                    await maintain(conn, SPLIT, index_vectors_above=NO_VECTOR_INDEX)
                    figures += await _searches(conn, part, whole=present == segments)
            figures += await _term_indexes(conn, segments, part)
    return figures


async def _filled(conn: Connection, rows: Path, segments: int, part: int) -> AsyncIterator[tuple[int, tuple[float, float]]]:
    """Fill the parts; yield after each how many segments there are, and what building its index on terms took."""
    await drop_tables(conn, SPLIT)
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as others:
        laid_out = [others.submit(lay_out, rows, chunk) for chunk in range(segments // CHUNK)]
        for number, start in enumerate(range(0, segments, part)):
            chunks = range(start // CHUNK, (start + part) // CHUNK)
            for chunk in chunks:
                await asyncio.wrap_future(laid_out[chunk])
            with_terms = await _fill_part(conn, rows, number, chunks)
            await conn.execute(_COUNT, [part, part // SEGMENTS_PER_DOCUMENT, part, SPLIT])
            if not number:
                await conn.execute("UPDATE library_statistics SET part_segments = NULL WHERE workspace = %s", [SPLIT])
            yield start + part, (with_terms.cpu, with_terms.mebibytes)


_COUNT = """
UPDATE library_statistics SET segments = segments + %s, documents = documents + %s,
    part_segments = coalesce(part_segments, ARRAY[segments]) || %s WHERE workspace = %s
"""


async def _fill_part(conn: Connection, rows: Path, number: int, chunks: range) -> Built:
    await create_tables(conn, SPLIT, number)
    name = sql.Identifier(partition_name(SPLIT, number))
    await _without_indexes(conn, name)
    for chunk in chunks:
        async with conn.transaction():
            await _copy(conn, name, rows / f"{chunk}.rows")
            await _documents(conn, rows / f"{chunk}.documents")
    built = await _with_indexes(conn, name)
    await attach_tables(conn, SPLIT, number)
    return built


async def _without_indexes(conn: Connection, table: sql.Identifier) -> None:
    found = await conn.execute(
        "SELECT c.conname FROM pg_constraint AS c WHERE c.conrelid = %s::regclass AND c.contype = 'p'",
        [table.as_string()],
    )
    [(key,)] = await found.fetchall()
    await conn.execute(sql.SQL("ALTER TABLE {} DROP CONSTRAINT {}").format(table, sql.Identifier(key)))
    found = await conn.execute("SELECT indexrelid::regclass::text FROM pg_index WHERE indrelid = %s::regclass", [table.as_string()])
    for (index,) in await found.fetchall():
        await conn.execute(sql.SQL("DROP INDEX {}").format(sql.SQL(index)))


async def _with_indexes(conn: Connection, table: sql.Identifier) -> Built:
    await conn.execute(sql.SQL("ALTER TABLE {} ADD PRIMARY KEY (workspace, document_id, segment_index)").format(table))
    with Built(conn) as built:
        await conn.execute(sql.SQL("CREATE INDEX ON {} USING gin (terms) WITH (fastupdate = on, gin_pending_list_limit = 1024)").format(table))
    return built


async def _copy(conn: Connection, table: sql.Identifier, rows: Path) -> None:
    copy = sql.SQL("COPY {} ({}) FROM STDIN (FORMAT binary)").format(table, sql.SQL(SEGMENT_COLUMNS))
    async with conn.cursor().copy(copy) as stream:
        await stream.write(HEADER)
        await stream.write(await asyncio.to_thread(rows.read_bytes))
        await stream.write(TRAILER)


async def _documents(conn: Connection, documents: Path) -> None:
    lines = [line.split("\t") for line in documents.read_text().splitlines()]
    ids, titles = zip(*lines, strict=True)
    await conn.execute(
        "INSERT INTO documents (workspace, document_id, title, media_type, content_hash)"
        " SELECT %s, d.document_id, d.title, 'text/plain', md5(d.title)"
        " FROM unnest(%s::uuid[], %s::text[]) AS d (document_id, title)",
        [SPLIT, list(ids), list(titles)],
    )


def _build(name: str, cpu: float, mebibytes: float) -> Figure:
    return compared(figure(name, cpu, "s of CPU"), {"memory, MiB": mebibytes}, rival=None)
