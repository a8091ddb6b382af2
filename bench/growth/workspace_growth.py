"""Workspaces: what one more costs among many, and whether the others slow a process that begins, or a search.

Each workspace has one document of twenty segments.
"""

import statistics
import time
from pathlib import Path

import numpy as np
import psutil

from bench.corpus import BenchDocument, Corpus
from bench.growth.power_laws import Cost, Growth, tell
from bench.libraries import BenchWorkspace, fill_workspace
from bench.serving import postgres_of, running_seconds, used_since
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
MEASURED, SEARCHES = 5, 15
RELATIONS = "SELECT count(*) FROM pg_class"


async def measure_workspaces(folder: Path, most: int) -> list[Growth]:
    """Make workspaces up to each size, and measure there the CPU of this process and of PostgreSQL together."""
    settings = load_settings(data_dir=folder / "data")
    embedder = await StaticEmbedder.load()
    (document,) = Corpus(SEED).documents(1)
    vectors = await embedder.embed(document.bodies())
    corpus, made = Corpus(SEED), 0
    making, beginning, first, again, relations = [], [], [], [], []
    async with open_database(settings) as database:
        spent = Spent(postgres_of(folder / "data"))
        for size in (size for size in SIZES if size <= most):
            while made < size - MEASURED:
                await _make(database, corpus, vectors, made)
                made += 1
            took = []
            while made < size:
                spent.begin()
                await _make(database, corpus, vectors, made)
                took.append(spent.end())
                made += 1
            making.append(Cost(size, took))
            question = corpus.question(document.bodies()[3])
            names = [f"tenant-{made - 1 - place % made}" for place in range(MEASURED)]
            found = [await _searches(settings, embedder, spent, name, question) for name in names]
            beginning.append(Cost(size, [each[0] for each in found]))
            first.append(Cost(size, [each[1] for each in found]))
            again.append(Cost(size, [each[2] for each in found]))
            async with database.connection() as connection:
                row = await (await connection.execute(RELATIONS)).fetchone()
            assert row is not None
            relations.append(Cost(size, [float(row[0])]))
            tell(f"{size:,} workspaces", [costs[-1] for costs in (making, beginning, first, again, relations)])
    return [
        Growth("one more workspace", "ms of CPU", making),
        Growth("opening the database", "ms of CPU", beginning),
        Growth("first search of a process", "ms of CPU", first),
        Growth("later searches", "ms of CPU", again),
        Growth("relations in the catalogue", "", relations),
    ]


class Spent:
    """The milliseconds of CPU that this process and PostgreSQL use between two moments."""

    def __init__(self, postgres: psutil.Process) -> None:
        self._postgres, self._before, self._own = postgres, dict[int, float](), 0.0

    def begin(self) -> None:
        """Start to count."""
        self._before, self._own = running_seconds(self._postgres), time.process_time()

    def end(self) -> float:
        """Return what was used since ``begin``."""
        return (time.process_time() - self._own + used_since(self._before, self._postgres)) * 1000


async def _make(database: Database, corpus: Corpus, vectors: np.ndarray, place: int) -> None:
    (document,) = corpus.documents(1)
    name = f"tenant-{place}"
    number = await Workspaces(database).ensure(name)
    filled: list[BenchDocument] = [document]
    async with database.connection() as connection:
        await fill_workspace(connection, BenchWorkspace(name, number, filled, vectors))


async def _searches(
    settings: Settings, embedder: StaticEmbedder, spent: Spent, name: str, question: str
) -> tuple[float, float, float]:
    """Return the CPU of opening the database, of the first search over new connections, and of the median later one."""
    took = []
    spent.begin()
    async with open_database(settings) as database:
        took.append(spent.end())
        searcher = HybridSearcher(database, Workspaces(database), embedder)
        for _ in range(SEARCHES):
            spent.begin()
            await searcher.search(SearchQuery(question, Identity(name)))
            took.append(spent.end())
    return took[0], took[1], statistics.median(took[2:])
