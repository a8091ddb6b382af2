"""Benchmark of retrieval over 100,000 segments in 100 uneven workspaces: speed, recall, ingestion, size.

Recall is measured against exact search; replacing a changed document is timed in the largest workspace.
"""

import gc
import time
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bench.corpus import Corpus
from bench.figures import Figure, figure, percentile
from bench.libraries import BenchWorkspace, Loaded, load_workspaces
from graph.evidence import Hit, Identity
from graph.ports import SearchQuery, SearchResult
from tools.embeddings.embedder import Embedder
from tools.embeddings.static_embedding import StaticEmbedder
from tools.langchain.vector_store import library_vector_store
from tools.retrieval.flat_indexes import LEAST_SEARCHES, FlatIndexes
from tools.retrieval.hybrid_search import HybridSearcher
from tools.retrieval.indexing import drop_segments, index_documents, maintain
from tools.retrieval.search_sql import EXPLORED, vector_as_text
from tools.retrieval.segment_rows import PackedDocument
from tools.settings import Settings
from tools.storage.database import Connection, Database
from tools.storage.partitions import find_place
from tools.storage.startup import open_database
from tools.storage.tenants import Workspaces

REPLACEMENTS = 30
NEW_OBJECTS = 10_000  # between two collections, as the server sets it


async def replacement_seconds(
    conn: Connection, workspace: BenchWorkspace, corpus: Corpus, embedder: StaticEmbedder
) -> list[float]:
    """Replace documents with new ones, embedded beforehand, and restore the old ones; return the seconds of each."""
    seconds = []
    for old, new in zip(workspace.packed()[:REPLACEMENTS], corpus.documents(REPLACEMENTS), strict=True):
        embedded = await embedder.embed(new.bodies())
        began = time.perf_counter()
        async with conn.transaction():
            await drop_segments(conn, workspace.number, [old.document_id])
            packed = PackedDocument.of(workspace.number, old.document_id, new.title, new.spans, new.text)
            await index_documents(conn, workspace.number, [packed.with_vectors(workspace.number, embedded)])
        await maintain(conn, workspace.number)
        seconds.append(time.perf_counter() - began)
        async with conn.transaction():
            await drop_segments(conn, workspace.number, [old.document_id])
            await index_documents(conn, workspace.number, [old])
    return seconds


SEED = 7
QUESTIONS = 200
WARM_UP = 10
RECALL_QUESTIONS = 40
TOP = 10
_SIZE = """
SELECT sum(pg_total_relation_size(oid)) FROM pg_class
WHERE relkind = 'r' AND (relname ~ '^(shared_)?segment(s|_vectors)(_[0-9]|$)'
    OR relname IN ('documents', 'term_statistics', 'library_statistics'))
"""


async def run(folder: Path) -> list[Figure]:
    """Fill a library in its own embedded server, and measure."""
    settings = Settings(data_dir=folder, database_url=None)
    async with open_database(settings) as database:
        embedder = await StaticEmbedder.load()
        corpus = Corpus(SEED)
        loaded = await load_workspaces(database, embedder, corpus)
        questions_of = [_questions(corpus, workspace, QUESTIONS) for workspace in loaded.workspaces[:2]]
        figures = await _ingestion(database, loaded, corpus, embedder)
        gc.collect()
        gc.freeze()  # from here on as citewell serve does
        gc.set_threshold(NEW_OBJECTS)
        workspaces = Workspaces(database)
        searcher = HybridSearcher(database, workspaces, embedder)
        indexes = FlatIndexes(database)
        holding = HybridSearcher(database, workspaces, embedder, indexes)
        async with database.connection() as conn:
            figures += _times("floor: select 1", await _timed(lambda _: conn.execute("SELECT 1"), questions_of[0]))
        bars = ((6.0, 10.0), (5.0, 10.0))
        for workspace, questions, share, limits in zip(
            loaded.workspaces, questions_of, ("30 %", "1 %"), bars, strict=False
        ):
            for question in questions[:LEAST_SEARCHES]:
                await _search(holding, workspace.name, question)
            await indexes.settled()
            times, without = await _timed_in_turns(
                partial(_search, holding, workspace.name), partial(_search, searcher, workspace.name), questions
            )
            figures += _times(f"hybrid, {share} workspace", times, limits)
            figures += _times(f"hybrid, {share} workspace, no vectors in the process", without)
            async with library_vector_store(database, workspaces, embedder, workspace.name) as store:
                times = await _timed(partial(store.asimilarity_search, k=TOP), questions)
            figures += _times(f"PGVectorStore, {share} workspace", times)
        figures.append(figure("vectors of the 30 % workspace in the process", indexes.memory / 1e6, "MB"))
        await indexes.close()
        figures += await _recall(database, searcher, embedder, loaded.workspaces, corpus)
    return figures


def _questions(corpus: Corpus, workspace: BenchWorkspace, count: int) -> list[str]:
    documents = workspace.documents
    return [corpus.question(documents[n % len(documents)].bodies()[n % 20]) for n in range(0, count * 7, 7)]


async def _search(searcher: HybridSearcher, workspace: str, question: str) -> SearchResult:
    return await searcher.search(SearchQuery(question, Identity(workspace)))


Ask = Callable[[str], Awaitable[object]]


async def _timed(ask: Ask, questions: Sequence[str]) -> list[float]:
    for question in questions[:WARM_UP]:
        await ask(question)
    return [await _milliseconds(ask, question) for question in questions]


async def _timed_in_turns(one: Ask, other: Ask, questions: Sequence[str]) -> tuple[list[float], list[float]]:
    """Time two ways of asking question by question, so that whatever else runs on the machine meets both."""
    for question in questions[:WARM_UP]:
        await one(question)
        await other(question)
    times: tuple[list[float], list[float]] = ([], [])
    for place, question in enumerate(questions):
        for way in (0, 1) if place % 2 else (1, 0):
            times[way].append(await _milliseconds((one, other)[way], question))
    return times


async def _milliseconds(ask: Ask, question: str) -> float:
    began = time.perf_counter()
    await ask(question)
    return (time.perf_counter() - began) * 1000


def _times(name: str, times: list[float], bars: tuple[float, float] | None = None) -> list[Figure]:
    return [
        figure(f"{name}, p50", percentile(times, 0.5), "ms", at_most=bars and bars[0]),
        figure(f"{name}, p95", percentile(times, 0.95), "ms", at_most=bars and bars[1]),
    ]


async def _ingestion(database: Database, loaded: Loaded, corpus: Corpus, embedder: StaticEmbedder) -> list[Figure]:
    async with database.connection() as conn:
        found = await conn.execute(_SIZE)
        row = await found.fetchone()
        assert row is not None
        replacing = await replacement_seconds(conn, loaded.workspaces[0], corpus, embedder)
    per_100k = float(row[0]) / loaded.segments * 100_000
    return [
        figure("segments", loaded.segments, ""),
        figure("ingestion, all structures", loaded.segments / loaded.indexing, "segments/s", at_least=1000),
        figure("ingestion, embedding too", loaded.segments / (loaded.indexing + loaded.embedding), "segments/s"),
        figure("size of 100,000 segments", per_100k / 1e9, "GB", at_most=1.0),
        figure("20-segment document replaced, p50", percentile(replacing, 0.5) * 1000, "ms", at_most=150),
        figure("20-segment document replaced, p95", percentile(replacing, 0.95) * 1000, "ms"),
    ]


async def _recall(
    database: Database,
    searcher: HybridSearcher,
    embedder: StaticEmbedder,
    workspaces: Sequence[BenchWorkspace],
    corpus: Corpus,
) -> list[Figure]:
    dense, hybrid, lexical = [], [], []
    words_only = HybridSearcher(database, Workspaces(database), _Blind(embedder))
    async with database.connection() as conn:
        for place, workspace in enumerate(workspaces):
            questions = _questions(corpus, workspace, RECALL_QUESTIONS if place < 6 else 2)
            vectors = await embedder.embed(questions)
            dense.append(np.mean([await _dense_recall(conn, workspace, vector) for vector in vectors]))
            if place in (0, 1, 2):
                hybrid.append(np.mean([await _agreement(searcher, workspace, q) for q in questions]))
                lexical.append(np.mean([await _agreement(words_only, workspace, q) for q in questions]))
    return [
        figure("dense recall@10 against exact, worst workspace", float(min(dense)), "", at_least=0.98),
        figure("dense recall@10 against exact, 30 % workspace", float(dense[0]), "", at_least=0.98),
        figure("hybrid top 10 shared with exact search, 30 % workspace", float(hybrid[0]), ""),
        figure("hybrid top 10 shared with exact search, worst of three", float(min(hybrid)), ""),
        figure("lexical top 10 shared with exact BM25, 30 % workspace", float(lexical[0]), ""),
        figure("lexical top 10 shared with exact BM25, worst of three", float(min(lexical)), ""),
    ]


async def _dense_recall(conn: Connection, workspace: BenchWorkspace, vector: NDArray[np.float32]) -> float:
    similar = workspace.embeddings.astype(np.float16).astype(np.float32) @ vector
    least = np.sort(similar)[-TOP] - 1e-3  # tolerance for half-precision rounding: a tie with the tenth counts
    place = await find_place(conn, workspace.number)
    assert place is not None
    async with conn.transaction():
        await conn.execute(f"SET LOCAL hnsw.ef_search = {EXPLORED}")
        found = await conn.execute(
            f"SELECT 1 - (embedding <=> %(v)s::halfvec) FROM {place.read.vectors} AS v"
            f" ORDER BY embedding::halfvec({len(vector)}) <=> %(v)s::halfvec({len(vector)}) LIMIT {TOP}",
            {"v": vector_as_text(vector), "workspace": workspace.number},
            prepare=False,
        )
        rows = await found.fetchall()
    return sum(1 for (similarity,) in rows if similarity >= least) / TOP


async def _agreement(searcher: HybridSearcher, workspace: BenchWorkspace, question: str) -> float:
    """Return the share of the exact top ten that a search finds; a search within all documents is exact."""
    query = SearchQuery(question, Identity(workspace.name), top_k=TOP, min_score=0.0, expand=0)
    everything = tuple(document.document_id for document in workspace.documents)
    exact = await searcher.search(
        SearchQuery(question, query.identity, top_k=TOP, min_score=0.0, expand=0, document_ids=everything)
    )
    found = await searcher.search(query)
    return len(_ids(found.hits) & _ids(exact.hits)) / max(1, len(exact.hits))


def _ids(hits: Sequence[Hit]) -> set[str]:
    return {hit.segment.segment_id for hit in hits}


class _Blind(Embedder):
    """An embedder that covers no text, so that search is lexical only."""

    def __init__(self, embedder: StaticEmbedder) -> None:
        self.model, self.dimension = embedder.model, embedder.dimension
        self._embedder = embedder

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return await self._embedder.embed(texts)

    async def close(self) -> None:
        await self._embedder.close()

    def coverage(self, text: str) -> float:
        return 0.0
