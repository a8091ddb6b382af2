"""One workspace that grows: searches for rare, middling and common words, rows read for them, and ingestion.

The lexical leg is measured alone at every size; vectors of the real dimension would not fit beside the largest ones.
"""

import time
from pathlib import Path
from random import Random

import numpy as np

from bench.corpus import SEGMENTS_PER_DOCUMENT, Corpus
from bench.growth.power_laws import Cost, Growth
from bench.libraries import BenchWorkspace, fill_workspace
from graph.evidence import Identity
from graph.ports import SearchQuery
from tools.embeddings.static_embedding import StaticEmbedder
from tools.retrieval.hybrid_search import HybridSearcher
from tools.settings import load_settings
from tools.storage.database import Connection, Database
from tools.storage.startup import open_database
from tools.storage.tenants import Workspaces

SIZES = (10_000, 20_000, 30_000, 60_000, 100_000, 300_000, 1_000_000, 3_000_000)
SEED = 11
QUESTIONS = 15
FILLED_AT_ONCE = 5_000  # segments
WORKSPACE = "growing"
DIMENSION = 4  # of vectors that no search here compares, indexed as any are
# The words of a question, and the share of the segments that each is in.
CLASSES = {"rare words": (3, 0.0, 0.0003), "middling words": (3, 0.003, 0.03), "two common words": (2, 0.05, 0.5)}
_ROWS = """
SELECT coalesce(sum(idx_tup_fetch + seq_tup_read), 0) FROM pg_stat_user_tables WHERE relname LIKE '%segment%'
"""


async def measure_search(folder: Path, most: int) -> tuple[list[Growth], list[Growth], list[Growth]]:
    """Fill one workspace up to each size; return the CPU time of searches, the rows that they read, and ingestion."""
    corpus = Corpus(SEED)
    questions = {name: _questions(corpus, *drawn) for name, drawn in CLASSES.items()}
    times: dict[str, list[Cost]] = {name: [] for name in CLASSES}
    rows: dict[str, list[Cost]] = {name: [] for name in CLASSES}
    ingestion: list[Cost] = []
    settings = load_settings(data_dir=folder / "data", pool_size=2)
    # One of the two connections is held, so that all searches use the other, whose own statistics are read.
    async with open_database(settings) as database, database.connection():
        number = await Workspaces(database).ensure(WORKSPACE)
        searcher = HybridSearcher(database, Workspaces(database), Blind(await StaticEmbedder.load()))
        present = 0
        for size in (size for size in SIZES if size <= most):
            ingestion.append(Cost(size, await _fill(database, number, corpus, size - present)))
            present = size
            for name, asked in questions.items():
                took, read = await _search_all(database, searcher, asked)
                times[name].append(Cost(size, took))
                rows[name].append(Cost(size, read))
    return (
        [Growth(name, "ms of CPU", costs) for name, costs in times.items()],
        [Growth(f"rows read, {name}", "", costs) for name, costs in rows.items()],
        [Growth("ingestion", "segments/s", ingestion)],
    )


def _questions(corpus: Corpus, words: int, least: float, most: float) -> list[str]:
    random, known = Random(f"{SEED} {most}"), corpus.words_within(least, most)
    return [" ".join(random.sample(known, words)) for _ in range(QUESTIONS)]


async def _fill(database: Database, number: int, corpus: Corpus, segments: int) -> list[float]:
    """Fill by the path that ingestion takes; return the segments per second of each part, embedding not counted."""
    rates, random = [], np.random.default_rng(SEED)
    for start in range(0, segments, FILLED_AT_ONCE):
        count = min(FILLED_AT_ONCE, segments - start)
        documents = list(corpus.documents(count // SEGMENTS_PER_DOCUMENT))
        vectors = random.normal(size=(count, DIMENSION)).astype(np.float32)
        began = time.perf_counter()
        async with database.connection() as connection:
            await fill_workspace(connection, BenchWorkspace(WORKSPACE, number, documents, vectors))
        rates.append(count / (time.perf_counter() - began))
    async with database.connection() as connection:
        await connection.execute("VACUUM ANALYZE")
    return rates[-10:]


async def _search_all(
    database: Database, searcher: HybridSearcher, questions: list[str]
) -> tuple[list[float], list[float]]:
    """Ask each question once to warm up and once to measure; return PostgreSQL's CPU in milliseconds, and rows read."""
    took, read = [], []
    for question in questions:
        query = SearchQuery(question, Identity(WORKSPACE))
        await searcher.search(query)
        async with database.connection() as connection:
            rows, used = await _rows(connection), cpu_seconds(connection)
        await searcher.search(query)
        async with database.connection() as connection:
            took.append((cpu_seconds(connection) - used) * 1000)
            read.append(max(1.0, await _rows(connection) - rows))
    return took, read


def cpu_seconds(connection: Connection) -> float:
    """Return the CPU time that a connection's server process has used: it is the same on a busy machine."""
    return int(Path(f"/proc/{connection.info.backend_pid}/schedstat").read_text().split()[0]) / 1e9


async def _rows(connection: Connection) -> float:
    await connection.execute("SELECT pg_stat_force_next_flush()")
    row = await (await connection.execute(_ROWS)).fetchone()
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
