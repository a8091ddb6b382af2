"""Tasks of a cluster that kill themselves, once at each step, at the file that the step names; and a driver to kill."""

import asyncio
import json
import os
import pickle
import signal
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from graph.evidence import Identity
from tools.bulk import ray_ingestion, storing
from tools.bulk.actors import Table
from tools.bulk.cluster import Cluster, opened_cluster
from tools.bulk.ray_ingestion import RayIngestion
from tools.bulk.stages import ReadFiles, StoreFiles, Work
from tools.bulk.storing import Read
from tools.embeddings.embedder import open_embedder
from tools.library.claimed_files import ClaimedFile
from tools.library.ingestion import Ingestor
from tools.library.job_store import Jobs
from tools.library.path_jobs import PathJobs, PathOrder
from tools.runs.notifications import Notifications, PostgresCarrier
from tools.settings import Settings
from tools.storage.database import Database
from tools.storage.startup import open_database
from tools.storage.tenants import Workspaces

ME = Identity()
_leased: tuple[Any, ...] = (storing, ray_ingestion)
for _module in _leased:  # in each process that has tasks of these, or drives them
    _module.LEASE_SECONDS = 5.0
STEPS = {"claimed": "b.md", "read": "d.md", "before_commit": "f.md", "recorded": "h.md", "after_commit": "j.md"}


def _die(folder: Path, step: str, names: Sequence[str]) -> None:
    """Kill this process where one of the files is that of the step, unless a process has done so already."""
    if any(Path(name).name == STEPS[step] for name in names):
        try:
            (folder / step).touch(exist_ok=False)
        except FileExistsError:
            return
        os.kill(os.getpid(), signal.SIGKILL)


class DyingReader(ReadFiles):
    """Dies when it has claimed files, and when it has read one."""

    def __init__(self, work: Work) -> None:
        super().__init__(work)
        self._folder = work.settings.data_dir

    @property
    def opened(self) -> Any:
        tasks: Any = super().opened
        if not hasattr(tasks, "whole"):
            tasks.whole = (tasks.claim, tasks.read)
            tasks.claim, tasks.read = self._claim, self._read
        return tasks

    async def _claim(self, numbers: Sequence[int]) -> list[ClaimedFile]:
        found: list[ClaimedFile] = await self.opened.whole[0](numbers)
        _die(self._folder, "claimed", [file.name for file in found])
        return found

    async def _read(self, file: ClaimedFile) -> Read | None:
        found: Read | None = await self.opened.whole[1](file)
        _die(self._folder, "read", [file.name])
        return found


class DyingStore(StoreFiles):
    """Dies before its transaction ends, when all is written but not committed, and behind it."""

    def __init__(self, work: Work) -> None:
        super().__init__(work)
        folder = work.settings.data_dir
        self._folder = folder
        module: Any = storing

        def deadly(whole: Callable[..., Awaitable[None]]) -> Callable[..., Awaitable[None]]:
            async def wrapped(connection: Any, files: Any, *rest: Any) -> None:
                names = [file.name for file in (files if isinstance(files, list) else [files])]
                _die(folder, "before_commit", names)
                await whole(connection, files, *rest)
                _die(folder, "recorded", names)

            return wrapped

        module.record_stored, module.record_all_stored = (
            deadly(storing.record_stored),
            deadly(storing.record_all_stored),
        )

    def __call__(self, files: Table) -> Table:
        names = [pickle.loads(row).claimed.name for row in files["file"].to_pylist()]
        done = super().__call__(files)
        _die(self._folder, "after_commit", names)
        return done


class StallingStore(StoreFiles):
    """Stores one table of files and never ends another, so that its driver is killed in the middle for sure."""

    _stored = False

    def __call__(self, files: Table) -> Table:
        if self._stored and len(files):
            time.sleep(600)  # it ends with the driver
        self._stored = self._stored or len(files) > 0
        return super().__call__(files)


class CancellingStore(StoreFiles):
    """Cancels the job behind its first file, as its user might at any time."""

    def __call__(self, files: Table) -> Table:
        done = super().__call__(files)
        self.submit(self._cancel()).result()
        return done

    async def _cancel(self) -> None:
        tasks: Any = self.opened
        jobs = Jobs(tasks._database, Workspaces(tasks._database), Notifications())
        await jobs.cancel(ME, tasks._claims.job_id)


@dataclass(frozen=True, slots=True)
class Driver:
    """What the command has: a job of paths, and a cluster that stores it."""

    database: Database
    jobs: Jobs
    making: PathJobs
    ingestion: RayIngestion

    async def rows(self, query: str, *values: Any) -> list[tuple[Any, ...]]:
        async with self.database.connection() as connection:
            return await (await connection.execute(query.encode(), values)).fetchall()


@asynccontextmanager
async def driver(settings: Settings, cluster: Cluster, *, by_path: bool = True) -> AsyncIterator[Driver]:
    """Open the driver's part over a database."""
    async with open_database(settings) as database:
        workspaces, embedder = Workspaces(database), await open_embedder(settings)
        notifications = Notifications(PostgresCarrier(database.url))
        ingestor = Ingestor(database, workspaces, embedder, settings, all_readers=True)
        jobs = Jobs(database, workspaces, notifications)
        making = PathJobs(database, workspaces, max_bytes=settings.max_document_bytes, by_path=by_path)
        try:
            yield Driver(database, jobs, making, RayIngestion(cluster, database, jobs, ingestor, settings))
        finally:
            await notifications.close()
            await embedder.close()


async def _drive(settings: Settings, folder: Path) -> None:
    module: Any = ray_ingestion
    module.FILES_OF_A_TASK, module.StoreFiles = 2, StallingStore
    async with opened_cluster(1) as cluster, driver(settings, cluster) as opened:
        job_id, _ = await opened.making.open(ME, PathOrder([folder]))
        await opened.ingestion.store(ME, job_id)


def drive(settings: str, folder: str) -> None:
    """Store the files of a folder, as the command does, until somebody kills this process."""
    asyncio.run(_drive(Settings(_env_file=None, **json.loads(settings)), Path(folder)))
