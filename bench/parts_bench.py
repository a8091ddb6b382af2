"""Benchmark of a workspace in parts, beside one with the same segments in a single table.

Searches are those of ``common``. The parts are filled as ``pg_restore`` fills tables, rows first and indexes behind
them, with rows from the function that ingestion uses, so that a million segments take minutes. What building an index
takes is the CPU time of the server's process and the most memory of its own, without helpers.

``CITEWELL_BENCH_SEGMENTS`` sets the size, ``CITEWELL_BENCH_PART`` that of a part, and ``CITEWELL_BENCH_ROWS`` a folder
in which the rows are kept from one run to the next.
"""

import asyncio
import os
from collections.abc import AsyncIterator
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import numpy as np
from psycopg import sql

from bench.bulk_filling import (
    CHUNK,
    WORKSPACE,
    Built,
    build_indexes,
    copy_chunks,
    count_parts,
    drop_indexes,
    lay_out,
    make_anew,
    table_of,
)
from bench.common_bench import (
    CLASSES,
    NO_VECTOR_INDEX,
    RECALL,
    SEED,
    TIMES,
    cpu_seconds,
    measure,
    questions_of,
    values_of,
)
from bench.corpus import SEGMENTS_PER_DOCUMENT, Corpus
from bench.figures import Figure, compared, figure
from bench.libraries import BenchWorkspace, fill_workspace
from bench.vector_indexes import DIMENSION, Clusters, build_vector_index, near_some, search_vectors
from tools.retrieval.indexing import maintain
from tools.retrieval.search_sql import search_statement
from tools.settings import Settings
from tools.storage.database import Connection, Database
from tools.storage.partitions import (
    Place,
    attach_tables,
    create_tables,
    find_place,
)
from tools.storage.startup import open_database
from tools.storage.stored_columns import SEGMENT_COLUMNS
from tools.storage.tenants import Workspaces

SEGMENTS, PART = 200_000, 50_000  # unless the environment says otherwise
SPLIT, WHOLE = WORKSPACE, 3  # numbers of the workspaces


async def runs(folder: Path, count: int) -> list[list[Figure]]:
    """Fill the workspaces in an embedded server of their own, and measure searching them and building their indexes.

    An index is built once, so what building it takes is a figure of the last run alone.
    """
    segments = int(os.environ.get("CITEWELL_BENCH_SEGMENTS", SEGMENTS))
    part = int(os.environ.get("CITEWELL_BENCH_PART", PART))
    rows = Path(os.environ.get("CITEWELL_BENCH_ROWS", folder / "rows"))
    await asyncio.to_thread(rows.mkdir, exist_ok=True)
    measured: list[list[Figure]] = [[] for _ in range(count)]
    async with open_database(Settings(data_dir=folder, database_url=None)) as database:
        workspaces = Workspaces(database)
        for name, number in (("split", SPLIT), ("whole", WHOLE)):
            assert await workspaces.create(name, own_tables=True) == number
        async with database.connection() as conn:
            measured[-1] += await _planning(database, conn)
            measured[-1] += await _vectors(database, conn)
            sizes = [size for size in (part, 2 * part, segments) if size <= segments]
            async for present, built in _filled(conn, rows, segments, part):
                measured[-1] += [built.figure(f"index on terms, a part of {part:,}")] if present == part else []
                if present in sizes:
                    await maintain(conn, SPLIT, index_vectors_above=NO_VECTOR_INDEX)
                    await _searches(conn, part, measured, whole=present == segments)
    return measured


async def _filled(conn: Connection, rows: Path, segments: int, part: int) -> AsyncIterator[tuple[int, Built]]:
    """Fill the parts; yield after each how many segments there are, and what building its index on terms took."""
    await make_anew(conn, SPLIT)
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as others:
        laid_out = [others.submit(lay_out, rows, chunk) for chunk in range(segments // CHUNK)]
        for number, start in enumerate(range(0, segments, part)):
            chunks = range(start // CHUNK, (start + part) // CHUNK)
            for chunk in chunks:
                await asyncio.wrap_future(laid_out[chunk])
            built = await _fill_part(conn, rows, number, chunks)
            await count_parts(conn, [part] * (number + 1))
            yield start + part, built


async def _fill_part(conn: Connection, rows: Path, number: int, chunks: range) -> Built:
    if number:
        await create_tables(conn, SPLIT, number)
    built = await copy_chunks(conn, rows, number, chunks)
    await attach_tables(conn, SPLIT, number)
    return built


async def _searches(conn: Connection, part: int, measured: list[list[Figure]], *, whole: bool) -> None:
    """Measure each class of questions in the parts and, where they are all there, in one table beside them."""
    corpus = Corpus(SEED)
    asked = {kind: questions_of(corpus, kind) for kind in CLASSES}
    split, best = await find_place(conn, SPLIT), dict[str, list[float]]()
    assert split is not None
    name = f"{sum(split.filled):,} segments in {split.parts} of {part:,}"
    own_table = Place(WHOLE, own=True) if whole else None
    if own_table:
        built = await _join_parts(conn, split)
        measured[-1].append(built.figure(f"index on terms, all {sum(split.filled):,}"))
    for figures in measured:
        for kind, questions in asked.items():
            values = values_of(await measure(conn, split, questions, best=best))
            others = values_of(await measure(conn, own_table, questions, best=best)) if own_table else None
            figures += [
                compared(
                    figure(f"{kind}, {name}: {each}", value, "ms" if each in TIMES else ""),
                    {ONE: others[each]} if others else {},
                    rival=None,
                    more=each == RECALL,
                )
                for each, value in values.items()
                if each not in WALL_TIMES
            ]


ONE = "one table"
WALL_TIMES = ("p50", "p95")


async def _join_parts(conn: Connection, split: Place) -> Built:
    """Copy the parts into the table of the other workspace; return what building its index on terms took."""
    table = table_of(WHOLE)
    await make_anew(conn, WHOLE)
    await drop_indexes(conn, table)
    columns = sql.SQL(SEGMENT_COLUMNS.removeprefix("workspace, "))
    copy = sql.SQL("INSERT INTO {} (workspace, {}) SELECT {}, {} FROM {} AS s").format(
        table, columns, sql.Literal(WHOLE), columns, sql.SQL(split.read.segments)
    )
    await conn.execute(copy)
    await conn.execute(
        "INSERT INTO documents (workspace, document_id, title, media_type, content_hash)"
        " SELECT %s, document_id, title, media_type, content_hash FROM documents WHERE workspace = %s",
        [WHOLE, SPLIT],
    )
    built = await build_indexes(conn, table)
    await attach_tables(conn, WHOLE)
    await conn.execute(
        "UPDATE library_statistics AS l SET segments = s.segments, documents = s.documents"
        " FROM library_statistics AS s WHERE l.workspace = %s AND s.workspace = %s",
        [WHOLE, SPLIT],
    )
    await maintain(conn, WHOLE, index_vectors_above=NO_VECTOR_INDEX)
    return built


PLANNED = (1, 3, 10)  # parts
PLANS = 20


async def _planning(database: Database, conn: Connection) -> list[Figure]:
    """Measure what planning a search takes, which each connection does once, in small workspaces of several parts."""
    corpus, figures = Corpus(SEED), []
    for parts in PLANNED:
        number = await Workspaces(database).create(f"{parts} parts", own_tables=True)
        documents = list(corpus.documents(parts))
        vectors = np.random.default_rng(SEED).normal(size=(parts * SEGMENTS_PER_DOCUMENT, DIMENSION))
        for place, each in enumerate(documents):
            these = vectors[place * SEGMENTS_PER_DOCUMENT : (place + 1) * SEGMENTS_PER_DOCUMENT].astype(np.float32)
            workspace = BenchWorkspace("", number, [each], these)
            await fill_workspace(conn, workspace, maintained=False, part_segments=SEGMENTS_PER_DOCUMENT)
        await maintain(conn, number, index_vectors_above=1)
        statement = search_statement(number, DIMENSION, leg=30, dense=True, reach="library", parts=parts)
        used = -cpu_seconds(conn)
        for _ in range(PLANS):
            await conn.execute(b"EXPLAIN (GENERIC_PLAN) " + statement.text.encode(), prepare=False)
        figures.append(
            figure(f"planning a search, {parts} parts", 1000 * (used + cpu_seconds(conn)) / PLANS, "ms of CPU")
        )
    return figures


VECTORS, VECTOR_PART = 60_000, 15_000
SETTINGS = (1024, 16)  # megabytes


async def _vectors(database: Database, conn: Connection) -> list[Figure]:
    """Measure building the vector index of parts and of all, with memory and without, and searching the vectors."""
    random, figures = np.random.default_rng(SEED), []
    clusters = Clusters(random)
    made = clusters.vectors(VECTORS)
    asked = near_some(made, random)
    documents = list(Corpus(SEED).documents(VECTORS // SEGMENTS_PER_DOCUMENT))
    found, parts = {}, 1
    for name, bound in (("parts", VECTOR_PART), (ONE, VECTORS)):
        number = await Workspaces(database).create(f"vectors in {name}", own_tables=True)
        await fill_workspace(conn, BenchWorkspace("", number, documents, made), maintained=False, part_segments=bound)
        place = await find_place(conn, number)
        assert place is not None
        for megabytes in SETTINGS:
            built = await build_vector_index(conn, place.tables[0].vectors, megabytes)
            figures.append(built.figure(f"vector index of {place.filled[0]:,}, within {megabytes:,} MB"))
        for each in place.tables[1:]:
            await build_vector_index(conn, each.vectors, SETTINGS[0])
        found[name] = await search_vectors(conn, place, asked)
        parts = max(parts, place.parts)
    names = ("recall of the ten nearest", "CPU of PostgreSQL, mean")
    for name, split, one in zip(names, found["parts"], found[ONE], strict=True):
        unit = "" if name.startswith("recall") else "ms"
        row = figure(f"nearest of {VECTORS:,} vectors in {parts} parts: {name}", split, unit)
        figures.append(compared(row, {ONE: one}, rival=None, more=not unit))
    return figures
