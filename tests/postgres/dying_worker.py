"""A worker of jobs that kills itself at a step that the test names; everything else is what a server runs."""

import asyncio
import os
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, NoReturn

from pydantic import SecretStr

from graph.evidence import Identity
from tools.embeddings.embedder import open_embedder
from tools.library import job_worker
from tools.library.ingestion import Ingestor
from tools.library.job_store import Jobs
from tools.library.job_worker import JobWorker
from tools.library.new_documents import NewDocument
from tools.library.reading import WiredDocument
from tools.library.sandbox import FILE_MEGABYTES, Sandbox
from tools.runs.notifications import Notifications, PostgresCarrier
from tools.settings import JobSettings, Settings
from tools.storage.database import Database
from tools.storage.startup import open_database
from tools.storage.tenants import Workspaces

ME = Identity()
NAMES = ("a.md", "b.md", "c.md")
SEGMENTS = 6  # of each
STEPS = ("accepted", "claimed", "read", "before_commit", "recorded", "after_commit")


def lamp(name: str, version: int = 1) -> NewDocument:
    """Give a document whose id follows from its name."""
    text = "\n\n".join(f"# Lamp {n}\n\n" + f"Lamp {n} of {name} {version} shines. " * 40 for n in range(3))
    return NewDocument(name=name, data=text.encode(), document_id=f"00000000-0000-4000-8000-0000000000{ord(name[0]):x}")


class Deployment:
    """What one process has of jobs: the store of them, and a worker that reads files."""

    def __init__(self, database: Database, embedder: Any, sandbox: Sandbox, settings: Settings) -> None:
        self.database = database
        self.workspaces = Workspaces(database)
        self.notifications = Notifications(PostgresCarrier(database.url))
        self.sandbox = sandbox
        self.ingestor = Ingestor(database, self.workspaces, embedder, settings, sandbox)
        self.jobs = Jobs(database, self.workspaces, self.notifications)
        self.worker = JobWorker(database, self.ingestor, self.notifications, settings.jobs)

    async def submit(self, *documents: NewDocument, identity: Identity = ME) -> str:
        return await self.jobs.submit(identity, [WiredDocument.of(each) for each in documents])

    async def ended(self, job_id: str, identity: Identity = ME) -> Any:
        async for job in self.jobs.follow(identity, job_id):
            last = job
        return last

    async def rows(self, query: str, *values: Any) -> list[tuple[Any, ...]]:
        async with self.database.connection() as connection:
            return await (await connection.execute(query.encode(), values)).fetchall()


@asynccontextmanager
async def deployment(url: str, sandbox: Sandbox | None = None, **jobs: Any) -> AsyncIterator[Deployment]:
    """Open a process's part over a database."""
    limits = JobSettings(**{"workers": 1, **jobs})
    settings = Settings(_env_file=None, database_url=SecretStr(url), pool_size=4, jobs=limits)
    own = Sandbox(limits.workers or 1, limits.file_seconds, FILE_MEGABYTES)
    async with open_database(settings) as database:
        opened = Deployment(database, await open_embedder(settings), sandbox or own, settings)
        try:
            yield opened
        finally:
            await opened.worker.close()
            await opened.notifications.close()
            await own.close()


def die(url: str, step: str) -> None:
    """Submit the documents and store them, and be killed at a step of the second file."""
    asyncio.run(_work(url, step))


async def _work(url: str, step: str) -> None:
    async with deployment(url) as process:
        if step != "accepted":
            _wrap(process, step)
        await process.submit(*map(lamp, NAMES))
        if step == "accepted":
            _kill()
        process.worker.start()
        await asyncio.sleep(60)


def _kill() -> NoReturn:
    os.kill(os.getpid(), signal.SIGKILL)
    raise AssertionError("killed")


def _deadly(whole: Any, name_of: Any, *, before: bool = False) -> Any:
    """Wrap a function so that it kills the process for the second file, before or after its work."""

    async def wrapped(*given: Any, **named: Any) -> Any:
        second = name_of(*given) == NAMES[1]
        if before and second:
            _kill()
        found = await whole(*given, **named)
        if second:
            _kill()
        return found

    return wrapped


def _wrap(process: Deployment, step: str) -> None:
    worker: Any = process.worker
    match step:
        case "claimed":
            worker._upload = _deadly(worker._upload, lambda file: file.name, before=True)
        case "read":
            sandbox: Any = process.sandbox
            sandbox.read = _deadly(sandbox.read, lambda document, *_: document.name)
        case "before_commit" | "recorded":
            whole, before = job_worker.record_stored, step == "before_commit"
            job_worker.record_stored = _deadly(whole, lambda connection, file, *_: file.name, before=before)
        case "after_commit":
            ingestor: Any = process.ingestor
            ingestor.ingest_wired = _deadly(ingestor.ingest_wired, lambda identity, document, *_: document.name)
