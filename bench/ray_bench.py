"""Benchmark of ingestion on Ray: worker processes alone, and tasks of a local Ray, over the same manuals.

The figures are medians of three rounds, in each of which every way is measured once, with its spread beside it. Seconds
are those of the caller once the processes stand; CPU is what this process and all those below it used, PostgreSQL not.
"""

import asyncio
import statistics
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import psutil
from pydantic import SecretStr

from bench.figures import Figure, NotAvailable, compared, figure
from bench.manual_pages import Sentences, html_page, markdown_page
from graph.evidence import Identity
from tools.bulk.cluster import Cluster, opened_cluster
from tools.bulk.ray_ingestion import RayIngestion
from tools.embeddings.embedder import open_embedder
from tools.library.ingestion import Ingestor
from tools.library.job_store import Jobs
from tools.library.path_jobs import PathJobs, PathOrder
from tools.library.sandbox import opened_sandbox
from tools.runs.carriers import PostgresCarrier
from tools.runs.notifications import Notifications
from tools.settings import RaySettings, Settings
from tools.storage.database import Database
from tools.storage.startup import open_database
from tools.storage.tenants import Workspaces

SEED = 26
PAGES = 100  # of each format
ROUNDS = 3
TASKS = (1, 2, 4)
MEGABYTE = 1 << 20
LOOK_SECONDS = 0.5


@dataclass(frozen=True, slots=True)
class Measured:
    """What one way took: segments, seconds of the clock and of the processor, and the most memory, in bytes."""

    segments: int
    seconds: float
    cpu: float
    started: float
    driver: int
    below: int


@dataclass(frozen=True, slots=True)
class Library:
    """An open library; every round stores the same manuals for another workspace."""

    settings: Settings
    database: Database
    workspaces: Workspaces
    folder: Path

    async def fresh(self, name: str) -> Identity:
        """Make a workspace."""
        await self.workspaces.ensure(name)
        return Identity(name)

    async def segments(self, identity: Identity) -> int:
        """Count the segments of a workspace."""
        async with self.database.connection() as connection:
            number = await self.workspaces.number(identity.workspace)
            found = await connection.execute("SELECT segments FROM library_statistics WHERE workspace = %s", [number])
            row = await found.fetchone()
        return 0 if row is None else int(row[0])


async def run(folder: Path) -> list[Figure]:
    """Measure every way in turn, three times. Raises NotAvailable without Ray."""
    if find_spec("ray") is None:
        raise NotAvailable("Ray is not installed: run it with the packages of `make test-engines`")
    manuals = folder / "manuals"
    await asyncio.to_thread(_write, manuals)
    ways: dict[str, Callable[[Library, str], Awaitable[Measured]]] = {
        **{f"{number} processes" if number > 1 else "1 process": _by_processes(number) for number in TASKS},
        **{f"Ray, {number} tasks" if number > 1 else "Ray, 1 task": _on_ray(number) for number in TASKS},
    }
    found: dict[str, list[Measured]] = {name: [] for name in ways}
    settings = Settings(data_dir=folder / "data")
    async with open_database(settings) as database:
        on_server = settings.model_copy(update={"database_url": SecretStr(database.url)})
        library = Library(on_server, database, Workspaces(database), manuals)
        for round_ in range(ROUNDS):
            for name, measure in ways.items():
                found[name].append(await measure(library, f"{name}-{round_}"))
    return [row for name, runs in found.items() for row in _figures(name, runs)]


def _figures(name: str, runs: list[Measured]) -> list[Figure]:
    return [
        _median(
            f"{name}: {runs[0].segments:,} segments", [each.segments / each.seconds for each in runs], "segments/s"
        ),
        _median("CPU of 1,000 of them", [1000 * each.cpu / each.segments for each in runs], "s"),
        _median("until it begins", [each.started for each in runs], "s"),
        _median("memory of this process", [each.driver / MEGABYTE for each in runs], "MB"),
        _median("memory of those below it (PSS)", [each.below / MEGABYTE for each in runs], "MB"),
    ]


def _median(name: str, values: list[float], unit: str) -> Figure:
    row = figure(name, statistics.median(values), unit)
    return compared(row, {"least": min(values), "most": max(values)}, rival=None)


def _write(folder: Path) -> None:
    folder.mkdir()
    from_ = Sentences(SEED)
    for number in range(PAGES):
        (folder / f"{number}.md").write_text(markdown_page(from_), encoding="utf-8")
        (folder / f"{number}.html").write_text(html_page(from_), encoding="utf-8")


def _by_processes(number: int) -> Callable[[Library, str], Awaitable[Measured]]:
    async def measure(library: Library, name: str) -> Measured:
        identity, began = await library.fresh(name), time.perf_counter()
        embedder = await open_embedder(library.settings)
        async with opened_sandbox(library.settings.jobs, number) as sandbox:
            ingestor = Ingestor(library.database, library.workspaces, embedder, library.settings, sandbox)

            async def ingest() -> None:
                async for _ in ingestor.ingest_paths(identity, [library.folder]):
                    pass

            return await _measured(library, identity, ingest, time.perf_counter() - began)

    return measure


def _on_ray(number: int) -> Callable[[Library, str], Awaitable[Measured]]:
    async def measure(library: Library, name: str) -> Measured:
        identity, began = await library.fresh(name), time.perf_counter()
        settings = library.settings.model_copy(update={"ray": RaySettings(tasks=number)})
        async with opened_cluster(settings.ray) as cluster, _opened(library, settings, cluster) as (making, ingestion):
            started = time.perf_counter() - began

            async def ingest() -> None:
                job_id, _ = await making.open(identity, PathOrder([library.folder]))
                await ingestion.store(identity, job_id)

            return await _measured(library, identity, ingest, started)

    return measure


@asynccontextmanager
async def _opened(
    library: Library, settings: Settings, cluster: Cluster
) -> AsyncIterator[tuple[PathJobs, RayIngestion]]:
    embedder = await open_embedder(settings)
    notifications = Notifications(PostgresCarrier(library.database.url))
    jobs = Jobs(library.database, library.workspaces, settings.jobs, notifications)
    ingestor = Ingestor(library.database, library.workspaces, embedder, settings)
    making = PathJobs(library.database, library.workspaces, max_bytes=settings.max_document_bytes, by_path=True)
    try:
        yield making, RayIngestion(cluster, library.database, jobs, ingestor, settings)
    finally:
        await notifications.close()


async def _measured(
    library: Library, identity: Identity, ingest: Callable[[], Awaitable[None]], started: float
) -> Measured:
    """Run an ingestion and look meanwhile at the processes, for one that ends takes its figures along."""
    most = {"driver": 0, "below": 0}
    used: dict[int, float] = {}

    def look() -> None:
        this = psutil.Process()
        used[this.pid] = _seconds(this)
        most["driver"] = max(most["driver"], _memory(this))
        below = 0
        for child in this.children(recursive=True):
            with suppress(psutil.Error):
                if "postgres" not in child.name():
                    used[child.pid] = _seconds(child)
                    below += _memory(child)
        most["below"] = max(most["below"], below)

    async def keep_looking() -> None:
        while True:
            await asyncio.to_thread(look)
            await asyncio.sleep(LOOK_SECONDS)

    look()
    before = dict(used)
    looking, began = asyncio.create_task(keep_looking()), time.perf_counter()
    try:
        await ingest()
    finally:
        seconds = time.perf_counter() - began
        looking.cancel()
    look()
    cpu = sum(after - before.get(pid, 0.0) for pid, after in used.items())
    return Measured(await library.segments(identity), seconds, cpu, started, most["driver"], most["below"])


def _seconds(process: psutil.Process) -> float:
    return sum(process.cpu_times()[:2])


def _memory(process: psutil.Process) -> int:
    return int(process.memory_full_info().pss)
