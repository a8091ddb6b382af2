"""Workspaces: what one more costs among many, and whether the others slow a process that begins, or a search.

Each workspace has one document of twenty segments.
"""

import time
from pathlib import Path

import numpy as np

from bench.corpus import BenchDocument, Corpus
from bench.growth.power_laws import Cost, Growth
from bench.libraries import BenchWorkspace, fill_workspace
from graph.evidence import Identity
from graph.ports import SearchQuery
from tools.embeddings.static_embedding import StaticEmbedder
from tools.retrieval.hybrid_search import HybridSearcher
from tools.settings import Settings, load_settings
from tools.storage.database import Database
from tools.storage.startup import open_database
from tools.storage.tenants import Workspaces

SIZES = (1, 10, 30, 100, 300, 1000, 3000, 10_000)
SEED = 13
NEW, OPENED, SEARCHES = 5, 5, 15
RELATIONS = "SELECT count(*) FROM pg_class"


async def measure_workspaces(folder: Path, most: int) -> list[Growth]:
    """Make workspaces up to each size, and measure there."""
    settings = load_settings(data_dir=folder / "data")
    embedder = await StaticEmbedder.load()
    (document,) = Corpus(SEED).documents(1)
    vectors = await embedder.embed(document.bodies())
    corpus, made = Corpus(SEED), 0
    making, beginning, first, again, relations = [], [], [], [], []
    async with open_database(settings) as database:
        for size in (size for size in SIZES if size <= most):
            took = []
            while made < size:
                began = time.perf_counter()
                await _make(database, f"tenant-{made}", corpus, vectors)
                took.append((time.perf_counter() - began) * 1000)
                made += 1
            making.append(Cost(size, took[-NEW:]))
            beginning.append(Cost(size, [await _opening(settings) for _ in range(OPENED)]))
            question = corpus.question(document.bodies()[3])
            names = [f"tenant-{made - 1 - place % made}" for place in range(OPENED)]
            found = [await _searches(settings, embedder, name, question) for name in names]
            first.append(Cost(size, [each[0] for each in found]))
            again.append(Cost(size, [each[1] for each in found]))
            async with database.connection() as connection:
                row = await (await connection.execute(RELATIONS)).fetchone()
            assert row is not None
            relations.append(Cost(size, [float(row[0])]))
    return [
        Growth("one more workspace", "ms", making),
        Growth("opening the database", "ms", beginning),
        Growth("first search of a process", "ms", first),
        Growth("later searches", "ms", again),
        Growth("relations in the catalogue", "", relations),
    ]


async def _make(database: Database, name: str, corpus: Corpus, vectors: np.ndarray) -> None:
    (document,) = corpus.documents(1)
    number = await Workspaces(database).ensure(name)
    filled: list[BenchDocument] = [document]
    async with database.connection() as connection:
        await fill_workspace(connection, BenchWorkspace(name, number, filled, vectors))


async def _opening(settings: Settings) -> float:
    began = time.perf_counter()
    async with open_database(settings):
        return (time.perf_counter() - began) * 1000


async def _searches(settings: Settings, embedder: StaticEmbedder, name: str, question: str) -> tuple[float, float]:
    """Return the milliseconds of the first search over new connections, and of the median one after it."""
    took = []
    async with open_database(settings) as database:
        searcher = HybridSearcher(database, Workspaces(database), embedder)
        for _ in range(SEARCHES):
            began = time.perf_counter()
            await searcher.search(SearchQuery(question, Identity(name)))
            took.append((time.perf_counter() - began) * 1000)
    return took[0], sorted(took[1:])[len(took) // 2]
