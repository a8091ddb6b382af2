"""citewell ingest --on ray: a job of the files below paths, stored by a cluster that this command drives."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from cli.command import Storage, identity_of, opened_database, opened_embedder
from cli.console import one_line, progress_console
from cli.rendering.ingested_files import file_progress

if TYPE_CHECKING:
    from graph.evidence import Identity, Space
    from tools.library.ingestion import Report
    from tools.library.job_store import Jobs
    from tools.settings import Settings


async def ingest_on_ray(
    settings: "Settings",
    paths: list[str],
    owner: str | None,
    readers: list[str] | None,
    space: "Space | None",
    dialect: str | None,
    tasks: int | None,
    shared_paths: bool,
) -> "list[Report]":
    """Store the files below paths on a cluster, and go on with a job of the same paths that was cut short."""
    from graph.errors import InvalidRequest
    from tools.bulk.cluster import cluster_address, opened_cluster
    from tools.bulk.ray_ingestion import RayIngestion, reports_of
    from tools.library.found_files import find_files
    from tools.library.ingestion import Ingestor
    from tools.library.path_jobs import PathJobs, PathOrder
    from tools.parsers.textless import passed_over
    from tools.web.addresses import is_address

    if any(map(is_address, paths)):
        raise InvalidRequest("A cluster reads files and folders, not addresses.", suggestion="Leave --on out.")
    identity = identity_of(settings)
    by_path = shared_paths or not cluster_address()
    order = PathOrder([Path(path) for path in paths], owner, readers, space, dialect)
    async with (
        opened_database(settings) as storage,
        opened_embedder(settings) as embedder,
        _opened_jobs(storage, settings) as jobs,
        opened_cluster(tasks) as cluster,
    ):
        await storage.workspaces.ensure(settings.workspace)
        ingestor = Ingestor(storage.database, storage.workspaces, embedder, settings, all_readers=True)
        ingestion = RayIngestion(cluster, storage.database, jobs, ingestor, settings)
        making = PathJobs(storage.database, storage.workspaces, max_bytes=settings.max_document_bytes, by_path=by_path)
        job_id, is_new = await making.open(identity, order)
        _announce_job(job_id, is_new)
        textless: list[str] = []
        await asyncio.to_thread(find_files, order.paths, textless)
        for said in passed_over(textless):
            progress_console().print(said, soft_wrap=True)
        following = asyncio.create_task(_follow(jobs, identity, job_id))
        try:
            job = await ingestion.store(identity, job_id)
        finally:
            following.cancel()
        return [report async for report in reports_of(jobs, identity, job)]


@asynccontextmanager
async def _opened_jobs(storage: Storage, settings: "Settings") -> AsyncIterator["Jobs"]:
    from tools.library.job_store import Jobs
    from tools.runs.notifications import Notifications, PostgresCarrier

    notifications = Notifications(PostgresCarrier(storage.database.url))
    try:
        yield Jobs(storage.database, storage.workspaces, notifications)
    finally:
        await notifications.close()


def _announce_job(job_id: str, is_new: bool) -> None:
    what = (
        f"Job {job_id}." if is_new else f"Going on with job {job_id}, which was cut short; its files were listed then."
    )
    progress_console().print(what, style="dim", soft_wrap=True)


async def _follow(jobs: "Jobs", identity: "Identity", job_id: str) -> None:
    """Show how far a job is."""
    shown = 0
    with file_progress("Ingesting") as show:
        async for job in jobs.follow(identity, job_id):
            name = one_line(job.reading[0]["name"]) if job.reading else None
            done = job.files - job.counts["queued"] - job.counts["working"]
            show(done, job.files, segments=job.segments - shown, name=name)
            shown = job.segments
