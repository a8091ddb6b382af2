"""One workspace that grows, in parts of the size that the product gives them: searches, ingestion, and its indexes.

Segments go in by bulk, the last ten thousand below each size by the path that ingestion takes. Their vectors have few
numbers and no index: ``vector_growth`` has those of the real dimension, up to sizes at which an index is soon built.
"""

import asyncio
import os
import time
from collections.abc import Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from dataclasses import dataclass, field
from multiprocessing import get_context
from pathlib import Path

import numpy as np

from bench.bulk_filling import CHUNK, WORKSPACE, bulk_documents, copy_chunks, count_parts, lay_out, make_anew
from bench.common_bench import CLASSES, NO_VECTOR_INDEX, SEED, cpu_seconds, measure, questions_of
from bench.corpus import SEGMENTS_PER_DOCUMENT, TOKENS, BenchDocument, Corpus
from bench.growth.power_laws import Cost, Growth, tell
from bench.libraries import BATCH_DOCUMENTS, BenchWorkspace, fill_workspace
from graph.evidence import Identity
from graph.ports import SearchQuery
from tools.embeddings.static_embedding import StaticEmbedder
from tools.retrieval.hybrid_search import HybridSearcher
from tools.retrieval.indexing import maintain
from tools.retrieval.segmenting import SegmentSpan
from tools.settings import load_settings
from tools.storage.database import Connection, Database
from tools.storage.partitions import PART_SEGMENTS, create_tables, find_place
from tools.storage.startup import open_database
from tools.storage.tenants import Workspaces

SIZES = (10_000, 30_000, 100_000, 300_000, 1_000_000, 3_000_000)
ROWS = "CITEWELL_BENCH_ROWS"  # in the environment: a folder that keeps rows for another run
QUESTIONS = 15
RUNS = 3
JUDGED = 3  # questions of a class whose ten best are looked for in all segments
NAME = "growing"
DIMENSION = 4  # of vectors that no search here compares
GIGABYTE = 1e9
ASKED = {
    "rare": "rare words",
    "middling": "middling words",
    "two common": "two common words",
    "four common": "four common words",
}
_ROWS = """
SELECT coalesce(sum(idx_tup_fetch + seq_tup_read), 0) FROM pg_stat_user_tables WHERE relname LIKE '%segment%'
"""
_BYTES = "SELECT sum(pg_total_relation_size(oid)) FROM pg_class WHERE relkind = 'r' AND relname LIKE %s"


@dataclass(frozen=True, slots=True)
class SearchGrowth:
    """What was measured so far, in order of size."""

    times: dict[str, list[Cost]] = field(default_factory=lambda: {name: [] for name in ASKED})
    rows: dict[str, list[Cost]] = field(default_factory=lambda: {name: [] for name in ASKED})
    recall: dict[str, list[Cost]] = field(default_factory=lambda: {name: [] for name in ASKED})
    storing: list[Cost] = field(default_factory=list)
    laying_out: list[Cost] = field(default_factory=list)
    building: list[Cost] = field(default_factory=list)
    counting: list[Cost] = field(default_factory=list)
    disk: list[Cost] = field(default_factory=list)

    def of_search(self) -> list[Growth]:
        """Return the CPU time of searches."""
        return [Growth(ASKED[name], "ms of CPU", costs) for name, costs in self.times.items()]

    def of_rows(self) -> list[Growth]:
        """Return the rows that a search reads."""
        return [Growth(f"rows read, {ASKED[name]}", "", costs) for name, costs in self.rows.items()]

    def of_recall(self) -> list[Growth]:
        """Return the share of the ten best by exact BM25 that a search finds."""
        return [Growth(f"recall of the ten best, {ASKED[name]}", "", costs) for name, costs in self.recall.items()]

    def of_ingestion(self) -> list[Growth]:
        """Return what a segment takes that goes in."""
        return [
            Growth("storing a segment, PostgreSQL", "ms of CPU", self.storing),
            Growth("storing a segment, the process", "ms of CPU", self.laying_out),
        ]

    def of_indexes(self) -> list[Growth]:
        """Return what building the index on terms, of one part, and counting all terms takes."""
        return [
            Growth("building a part's index on terms", "s of CPU", self.building),
            Growth("counting the terms", "s of CPU", self.counting),
        ]

    def of_disk(self) -> Growth:
        """Return the size of the tables and indexes of segments."""
        return Growth("disk, without vectors", "GB", self.disk)


async def measure_search(folder: Path, most: int) -> SearchGrowth:
    """Fill one workspace up to each size, and measure there."""
    rows, sizes = Path(os.environ.get(ROWS, folder / "rows")), [size for size in SIZES if size <= most]
    await asyncio.to_thread(rows.mkdir, exist_ok=True)
    found, filled = SearchGrowth(), [0]
    settings = load_settings(data_dir=folder / "data", pool_size=2)
    # One of the two connections is held, so that all searches use the other, whose own statistics are read.
    async with open_database(settings) as database, database.connection() as conn:
        workspaces = Workspaces(database)
        assert await workspaces.create(NAME, own_tables=True) == WORKSPACE
        await make_anew(conn, WORKSPACE)
        embedder = Blind(await StaticEmbedder.load())
        with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as others:
            for size in sizes:
                # All but the last chunk, which goes in as ingestion does.
                bulk = range(sum(filled) // CHUNK, size // CHUNK - 1)
                laid_out = {chunk: others.submit(lay_out, rows, chunk) for chunk in bulk}
                await _grow(conn, rows, laid_out, filled, size, found)
                before = cpu_seconds(conn)
                await maintain(conn, WORKSPACE, index_vectors_above=NO_VECTOR_INDEX)
                found.counting.append(Cost(size, [cpu_seconds(conn) - before]))
                found.disk.append(Cost(size, [await _number(conn, _BYTES, [f"segments_{WORKSPACE}%"]) / GIGABYTE]))
                # A searcher keeps its counts of common terms for a minute, in which a bulk may multiply the workspace.
                await _search_all(database, HybridSearcher(database, workspaces, embedder), size, found)
                await _judge(conn, size, found)
    return found


async def _grow(
    conn: Connection,
    rows: Path,
    laid_out: dict[int, "Future[None]"],
    filled: list[int],
    size: int,
    found: SearchGrowth,
) -> None:
    """Fill up to a size, part by part, and note what building indexes and ingestion took."""
    while (present := sum(filled)) < size - CHUNK:
        if filled[-1] == PART_SEGMENTS:
            await create_tables(conn, WORKSPACE, len(filled))
            filled.append(0)
        until = min(size - CHUNK, present + PART_SEGMENTS - filled[-1])
        chunks = range(present // CHUNK, until // CHUNK)
        for chunk in chunks:
            await asyncio.wrap_future(laid_out[chunk])
        built = await copy_chunks(conn, rows, len(filled) - 1, chunks)
        filled[-1] += until - present
        await count_parts(conn, filled)
        if until == size - CHUNK and len(filled) == 1:
            found.building.append(Cost(filled[-1], [built.cpu]))
        print(f"{until:,} segments, {built.cpu:.1f} s for the index of the last part", flush=True)
    await _ingest(conn, size, found)
    filled[-1] += CHUNK


async def _ingest(conn: Connection, size: int, found: SearchGrowth) -> None:
    """Store the last chunk below a size as ingestion does, and note the CPU of PostgreSQL's process and of this one."""
    stored, laid_out = [], []
    documents = [
        BenchDocument(str(each.document_id), each.title, "".join(each.bodies), _spans(each.bodies))
        for each in bulk_documents(size // CHUNK - 1)
    ]
    vectors = np.ones((BATCH_DOCUMENTS * SEGMENTS_PER_DOCUMENT, DIMENSION), np.float32)
    for start in range(0, len(documents), BATCH_DOCUMENTS):
        batch = documents[start : start + BATCH_DOCUMENTS]
        theirs, ours = cpu_seconds(conn), time.process_time()
        await fill_workspace(conn, BenchWorkspace(NAME, WORKSPACE, batch, vectors), moving=False, maintained=False)
        stored.append((cpu_seconds(conn) - theirs) * 1000 / len(vectors))
        laid_out.append((time.process_time() - ours) * 1000 / len(vectors))
    found.storing.append(Cost(size, stored))
    found.laying_out.append(Cost(size, laid_out))


def _spans(bodies: Sequence[str]) -> list[SegmentSpan]:
    ends = np.cumsum([len(body) for body in bodies]).tolist()
    return [
        SegmentSpan(index, end - len(body), end, None, "", TOKENS)
        for index, (body, end) in enumerate(zip(bodies, ends, strict=True))
    ]


async def _search_all(database: Database, searcher: HybridSearcher, size: int, found: SearchGrowth) -> None:
    """Ask all questions once to warm up, then ``RUNS`` times; note the mean of PostgreSQL's CPU, and rows read."""
    corpus = Corpus(SEED)
    for name in ASKED:
        queries = [SearchQuery(question, Identity(NAME)) for question in questions_of(corpus, name, QUESTIONS)]
        for query in queries:
            await searcher.search(query)
        took, read = [], []
        for _ in range(RUNS):
            used = 0.0
            for query in queries:
                async with database.connection() as connection:
                    rows, before = await _rows(connection), cpu_seconds(connection)
                await searcher.search(query)
                async with database.connection() as connection:
                    used += cpu_seconds(connection) - before
                    read.append(max(1.0, await _rows(connection) - rows))
            took.append(used * 1000 / len(queries))
        found.times[name].append(Cost(size, took))
        found.rows[name].append(Cost(size, read))


async def _judge(conn: Connection, size: int, found: SearchGrowth) -> None:
    """Note how many of the ten best by exact BM25 the lexical leg finds, of some questions of each class."""
    place = await find_place(conn, WORKSPACE)
    assert place is not None
    for name in ASKED:
        assert name in CLASSES
        measured = await measure(conn, place, questions_of(Corpus(SEED), name, JUDGED))
        assert measured.recall is not None
        found.recall[name].append(Cost(size, [float(np.mean(measured.recall))]))
        tell(f"{size:,} segments, {ASKED[name]}", [each[name][-1] for each in (found.times, found.rows, found.recall)])


async def _rows(connection: Connection) -> float:
    await connection.execute("SELECT pg_stat_force_next_flush()")
    return await _number(connection, _ROWS, [])


async def _number(connection: Connection, query: str, values: list[str]) -> float:
    row = await (await connection.execute(query.encode(), values or None)).fetchone()
    assert row is not None
    return float(row[0])


class Blind:
    """An embedder that covers no text, so that search is lexical only."""

    def __init__(self, embedder: StaticEmbedder) -> None:
        self.model, self.dimension = embedder.model, embedder.dimension
        self.embed, self.close = embedder.embed, embedder.close

    def coverage(self, text: str) -> float:
        """Cover nothing."""
        return 0.0
