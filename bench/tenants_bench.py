"""Benchmark of many workspaces: what the catalogue, a connection, a search and a dump cost, by number and tables.

Both deployments are databases of one server. Their workspaces hold ten segments each, the same ones: the worst case for
indexes that all share. "own tables" gives each workspace its pair, as all had before; it is measured up to
``MOST_OWN`` workspaces. Then one workspace grows in each place, among 10,000 others in the shared tables, which says
from where on tables of its own are worth it.
"""

import asyncio
import statistics
import subprocess
import time
from collections.abc import Awaitable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import psycopg
from pydantic import SecretStr

from bench.corpus import Corpus
from bench.figures import Figure, compared, figure
from bench.libraries import BenchWorkspace, fill_workspace
from graph.evidence import Identity
from graph.ports import SearchQuery
from tools.embeddings.embedder import Embedder, open_embedder
from tools.library.catalogue import Documents
from tools.process.library import open_library
from tools.retrieval.hybrid_search import HybridSearcher
from tools.retrieval.placing import give_own_tables, share_tables_again
from tools.settings import Settings, load_settings
from tools.storage.database import Database
from tools.storage.embedded import EmbeddedServer, start_embedded
from tools.storage.startup import migrate, open_database
from tools.storage.tenants import Workspaces

COUNTS = (1, 100, 1_000, 10_000)
MOST_OWN = 1_000  # each takes some 40 ms to make; ten times as many take minutes, and a server's memory
CREATED_AT_ONCE = 500
SEGMENTS = 10
SIZES = (500, 2_000, 5_000)
ROUNDS = 3
SEARCHES = 20
MEGABYTE = 1e6
SHARED, OWN = "shared", "own tables"
ASKING = Identity("growing")

FILL = """
WITH new AS (SELECT unnest(%(numbers)s::integer[]) AS number), kept AS (
    INSERT INTO documents (workspace, document_id, title, media_type, content_hash)
    SELECT number, document_id, title, media_type, content_hash FROM new, documents WHERE workspace = 1
), vectors AS (
    INSERT INTO {vectors} (workspace, segment_index, document_id, embedding)
    SELECT number, segment_index, document_id, embedding FROM segment_vectors, new
    WHERE workspace = 1 AND segment_index < %(segments)s
), counted AS (
    UPDATE library_statistics SET segments = %(segments)s, documents = 1 WHERE workspace = ANY(%(numbers)s)
)
INSERT INTO {segments} (workspace, segment_index, document_id, start_offset, end_offset, page_idx, tokens, weights,
    terms, heading, body, structure)
SELECT number, segment_index, document_id, start_offset, end_offset, page_idx, tokens, weights, terms, heading, body,
    structure
FROM segments, new WHERE workspace = 1 AND segment_index < %(segments)s
"""
CATALOGUE = """
SELECT sum(pg_total_relation_size(c.oid)), (SELECT count(*) FROM pg_class WHERE relkind IN ('r', 'i', 'v', 'p', 'I'))
FROM pg_class AS c WHERE c.relnamespace = 'pg_catalog'::regnamespace AND c.relkind = 'r'
"""
MEMORY = "SELECT sum(total_bytes) FROM pg_backend_memory_contexts"


@dataclass(slots=True)
class Deployment:
    """A database whose workspaces all have tables of one kind."""

    settings: Settings
    kind: str
    question: str
    binaries: Path
    names: list[str] = field(default_factory=list)

    @property
    def url(self) -> str:
        assert self.settings.database_url is not None
        return self.settings.database_url.get_secret_value()

    async def grow(self, count: int) -> float:
        """Create workspaces up to a number, and return the milliseconds that each took."""
        names = [f"tenant-{n}" for n in range(len(self.names), count)]
        own = self.kind == OWN
        tables = ("segments", "segment_vectors") if own else ("shared_segments", "shared_segment_vectors")
        fill, took = FILL.format(segments=tables[0], vectors=tables[1]), 0.0
        async with open_database(self.settings) as database:
            workspaces = Workspaces(database)
            for start in range(0, len(names), CREATED_AT_ONCE):
                batch = names[start : start + CREATED_AT_ONCE]
                began = time.perf_counter()
                numbers = await workspaces.create_many(batch, own_tables=own)
                took += time.perf_counter() - began
                async with database.connection() as conn:
                    await conn.execute(fill.encode(), {"numbers": numbers, "segments": SEGMENTS})
            async with database.connection() as conn:
                await conn.execute("ANALYZE")
        self.names += names
        return 1000 * took / len(names)


async def run(folder: Path) -> list[Figure]:
    """Measure both kinds of tables at each number of workspaces, and one workspace at each size."""
    server = await asyncio.to_thread(start_embedded, folder / "postgres")
    try:
        corpus, embedder = Corpus(19), await open_embedder(load_settings())
        [document] = corpus.documents(1)
        question = corpus.question(document.bodies()[2])
        deployments = []
        for kind in (SHARED, OWN):
            settings = await _database(server, folder, kind.split()[0])
            async with open_database(settings) as database, database.connection() as conn:
                vectors = await embedder.embed(document.bodies())
                await fill_workspace(conn, BenchWorkspace("default", 1, [document], vectors))
            deployments.append(Deployment(settings, kind, question, server.binaries))
        figures: list[Figure] = []
        for count in COUNTS:
            measured = {each.kind: await _measure(each, count) for each in deployments if _reaches(each, count)}
            figures += _told(count, measured)
        return figures + await _by_size(deployments[0], corpus, embedder)
    finally:
        await asyncio.to_thread(server.release)


def _reaches(deployment: Deployment, count: int) -> bool:
    return deployment.kind == SHARED or count <= MOST_OWN


async def _database(server: EmbeddedServer, folder: Path, name: str) -> Settings:
    def create() -> None:
        with psycopg.connect(server.url(), autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {name}".encode())

    await asyncio.to_thread(create)
    settings = load_settings(database_url=SecretStr(server.url(name)), data_dir=folder / name, pool_size=2)
    await migrate(settings)
    return settings


async def _measure(deployment: Deployment, count: int) -> dict[str, float]:
    creating = await deployment.grow(count)
    one = [await _create_one(deployment, n) for n in range(ROUNDS)]
    deployment_figures = {"create one, ms": statistics.median(one), "create many, each, ms": creating}
    with psycopg.connect(deployment.url) as connection:
        row = connection.execute(CATALOGUE).fetchone()
        assert row is not None
        deployment_figures |= {"catalogue, MB": float(row[0]) / MEGABYTE, "relations": row[1]}
    deployment_figures |= await _searches(deployment)
    deployment_figures["list workspaces, ms"] = statistics.median([await _list(deployment) for _ in range(ROUNDS)])
    deployment_figures["open the library, ms"] = statistics.median(
        [await _timed(_open(deployment)) for _ in range(ROUNDS)]
    )
    deployment_figures["pg_dump of the schema, s"] = await _timed(_dump(deployment)) / 1000
    return deployment_figures


async def _timed(work: Awaitable[object]) -> float:
    began = time.perf_counter()
    await work
    return 1000 * (time.perf_counter() - began)


async def _create_one(deployment: Deployment, number: int) -> float:
    async with open_database(deployment.settings) as database:
        name = f"one-{len(deployment.names)}-{number}"
        return await _timed(Workspaces(database).create(name, own_tables=deployment.kind == OWN))


async def _list(deployment: Deployment) -> float:
    async with open_database(deployment.settings) as database:
        return await _timed(Workspaces(database).list())


async def _open(deployment: Deployment) -> None:
    async with open_library(deployment.settings):
        pass


async def _dump(deployment: Deployment) -> None:
    command = [str(deployment.binaries / "pg_dump"), "--schema-only", "--file=/dev/null", deployment.url]
    done = await asyncio.to_thread(subprocess.run, command, capture_output=True, check=False)
    if done.returncode:
        raise AssertionError(done.stderr.decode())


async def _searches(deployment: Deployment) -> dict[str, float]:
    """Search in one workspace after another, on one connection, and in each once more."""
    embedder = await open_embedder(deployment.settings)
    first: list[float] = []
    cold: list[float] = []
    warm: list[float] = []
    listed: list[float] = []
    memory = 0.0
    for _ in range(ROUNDS):
        async with open_database(deployment.settings) as database:  # one at a time asks, so there is one connection
            workspaces = Workspaces(database)
            searcher, documents = HybridSearcher(database, workspaces, embedder), Documents(database, workspaces)
            names = _spread(deployment.names, SEARCHES)
            for name in names:
                await workspaces.number(name)
            for place, name in enumerate(names):
                query = SearchQuery(deployment.question, Identity(name), min_score=0.0)
                took = await _timed(searcher.search(query))
                (cold if place else first).append(took)
                warm.append(await _timed(searcher.search(query)))
            for name in names:
                listed.append(await _timed(documents.list(Identity(name), limit=20)))
            async with database.connection() as conn:
                row = await (await conn.execute(MEMORY)).fetchone()
            assert row is not None
            memory = max(memory, float(row[0]))
    return {
        "first search of a connection, ms": statistics.median(first),
        "first search in a workspace, p50, ms": statistics.median(cold or first),
        "search, p50, ms": statistics.median(warm),
        "list of documents, p50, ms": statistics.median(listed),
        "list of documents, slowest, ms": max(listed),
        f"memory of a connection, {SEARCHES} workspaces, MB": memory / MEGABYTE,
    }


def _spread(names: Sequence[str], most: int) -> list[str]:
    return list(names[:: max(1, len(names) // most)][:most])


def _told(count: int, measured: dict[str, dict[str, float]]) -> list[Figure]:
    shared, own = measured[SHARED], measured.get(OWN, {})
    figures = []
    for name, value in shared.items():
        what, _, unit = name.rpartition(", ") if ", " in name else (name, "", "")
        found = figure(f"{count:,}: {what}", value, unit)
        figures.append(compared(found, {OWN: own[name]}, rival=None) if name in own else found)
    return figures


async def _by_size(deployment: Deployment, corpus: Corpus, embedder: Embedder) -> list[Figure]:
    """Search one workspace as it grows, in the shared tables and in its own, turn by turn."""
    figures = []
    async with open_database(deployment.settings) as database:
        workspaces = Workspaces(database)
        number = await workspaces.create(ASKING.workspace)
        filled = 0
        for size in SIZES:
            documents = list(corpus.documents((size - filled) // 20))
            vectors = await embedder.embed([body for each in documents for body in each.bodies()])
            filled += 20 * len(documents)
            questions = [corpus.question(body) for each in documents for body in each.bodies()[:1]][:SEARCHES]
            took: dict[str, list[float]] = {SHARED: [], OWN: []}
            async with database.connection() as conn:
                await fill_workspace(conn, BenchWorkspace(ASKING.workspace, number, documents, vectors), moving=False)
                for _ in range(ROUNDS):
                    took[SHARED].append(await _asked(database, workspaces, embedder, questions))
                    began = time.perf_counter()
                    await give_own_tables(conn, number)
                    moving = 1000 * (time.perf_counter() - began)
                    took[OWN].append(await _asked(database, workspaces, embedder, questions))
                    await share_tables_again(conn, number)
            found = figure(f"search of {size:,} segments among the others, p50", statistics.median(took[SHARED]), "ms")
            figures += [
                compared(found, {OWN: statistics.median(took[OWN])}, rival=None),
                figure(f"move of {size:,} segments to own tables", moving, "ms"),
            ]
    return figures


async def _asked(database: Database, workspaces: Workspaces, embedder: Embedder, questions: Sequence[str]) -> float:
    searcher = HybridSearcher(database, workspaces, embedder)
    queries = [SearchQuery(question, ASKING, min_score=0.0) for question in questions]
    await searcher.search(queries[0])
    return statistics.median([await _timed(searcher.search(query)) for query in queries])
