"""Benchmark of ingestion on Ray: worker processes alone, and tasks of a local Ray, over the same manuals.

The figures are medians of three rounds, in each of which every way is measured once, with its spread beside it. Seconds
are those of the caller: processes that read start within them, so do Ray's actors, and only the start of Ray is told
apart. CPU is what the process that drives and all those below it used, as seen every half second, without PostgreSQL.
"""

import asyncio
import statistics
import sys
import time
from collections.abc import Awaitable, Callable
from concurrent.futures import ProcessPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from importlib.util import find_spec
from multiprocessing import get_context
from pathlib import Path

import psutil
from pydantic import SecretStr

from bench.figures import Figure, NotAvailable, compared, figure
from bench.manual_pages import Sentences, html_page, markdown_page
from graph.evidence import Identity
from tools.bulk.cluster import opened_cluster
from tools.bulk.ray_ingestion import RayIngestion
from tools.embeddings.embedder import open_embedder
from tools.library.found_files import unread_files
from tools.library.ingestion import Ingestor, NewDocument
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
class Way:
    """One way to ingest: by so many processes, or tasks of a Ray."""

    name: str
    number: int
    on_ray: bool


WAYS = [
    *(Way(f"{number} process{'es' * (number > 1)}", number, on_ray=False) for number in TASKS),
    *(Way(f"Ray, {number} task{'s' * (number > 1)}", number, on_ray=True) for number in TASKS),
]


async def run(folder: Path) -> list[Figure]:
    """Measure every way in turn, three times. Raises NotAvailable without Ray."""
    if find_spec("ray") is None:
        raise NotAvailable("Ray is not installed: run it with the packages of `make test-engines`")
    manuals = folder / "manuals"
    await asyncio.to_thread(_write, manuals)
    found: dict[str, list[Measured]] = {way.name: [] for way in WAYS}
    settings = Settings(data_dir=folder / "data")
    async with open_database(settings) as database:
        for round_ in range(ROUNDS):
            for way in WAYS:
                # A process of its own, as the command has: Ray keeps things of the cluster before in this one.
                with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as fresh:
                    measuring = fresh.submit(_measure, way, database.url, folder, f"{way.name} {round_}")
                    found[way.name].append(await asyncio.wrap_future(measuring))
                    print(f"{way.name}: {found[way.name][-1]}", file=sys.stderr)  # a round takes minutes
    return [row for name, runs in found.items() for row in _figures(name, runs)]


def _figures(name: str, runs: list[Measured]) -> list[Figure]:
    return [
        _median(
            f"{name}: {runs[0].segments:,} segments", [each.segments / each.seconds for each in runs], "segments/s"
        ),
        _median("CPU of 1,000 of them", [1000 * each.cpu / each.segments for each in runs], "s"),
        *([_median("start of Ray", [each.started for each in runs], "s")] if runs[0].started else []),
        _median("memory of the process that drives", [each.driver / MEGABYTE for each in runs], "MB"),
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


def _measure(way: Way, url: str, folder: Path, workspace: str) -> Measured:
    settings = Settings(database_url=SecretStr(url), data_dir=folder / "data", ray=RaySettings(tasks=way.number))
    return asyncio.run((_on_ray if way.on_ray else _by_processes)(settings, way.number, folder / "manuals", workspace))


async def _by_processes(settings: Settings, number: int, manuals: Path, workspace: str) -> Measured:
    async with open_database(settings) as database, opened_sandbox(settings.jobs, number) as sandbox:
        workspaces, identity = Workspaces(database), Identity(workspace)
        await workspaces.ensure(workspace)
        ingestor = Ingestor(database, workspaces, await open_embedder(settings), settings, sandbox)

        async def ingest() -> None:
            files = unread_files([manuals], identity.workspace, NewDocument(source_type="file"))
            async for _ in ingestor.ingest_many(identity, files):
                pass

        return await _measured(database, await workspaces.number(workspace), ingest, 0.0)


async def _on_ray(settings: Settings, number: int, manuals: Path, workspace: str) -> Measured:
    async with open_database(settings) as database:
        began = time.perf_counter()
        async with opened_cluster(settings.ray) as cluster:
            started = time.perf_counter() - began
            workspaces, identity = Workspaces(database), Identity(workspace)
            await workspaces.ensure(workspace)
            ingestor = Ingestor(database, workspaces, await open_embedder(settings), settings)
            notifications = Notifications(PostgresCarrier(database.url))
            jobs = Jobs(database, workspaces, settings.jobs, notifications)
            making = PathJobs(database, workspaces, max_bytes=settings.max_document_bytes, by_path=True)
            ingestion = RayIngestion(cluster, database, jobs, ingestor, settings)

            async def ingest() -> None:
                job_id, _ = await making.open(identity, PathOrder([manuals]))
                await ingestion.store(identity, job_id)

            try:
                return await _measured(database, await workspaces.number(workspace), ingest, started)
            finally:
                await notifications.close()


async def _measured(
    database: Database, workspace: int, ingest: Callable[[], Awaitable[None]], started: float
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
    async with database.connection() as connection:
        rows = await connection.execute("SELECT segments FROM library_statistics WHERE workspace = %s", [workspace])
        row = await rows.fetchone()
    return Measured(0 if row is None else int(row[0]), seconds, cpu, started, most["driver"], most["below"])


def _seconds(process: psutil.Process) -> float:
    return sum(process.cpu_times()[:2])


def _memory(process: psutil.Process) -> int:
    return int(process.memory_full_info().pss)
