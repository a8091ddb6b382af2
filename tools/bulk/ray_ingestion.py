"""Ingest the files of a job on a cluster: this process drives, keeps the leases, and never holds a document.

The job's rows say what is left to do. So a task that Ray starts again, a second driver and the next run of the command
all go on from there: a file that is done is not claimed again, and one that was in work is.
"""

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from uuid import uuid4

from graph.errors import CitewellError, DatabaseUnavailable
from graph.evidence import Identity
from tools.bulk.actors import own_release
from tools.bulk.cluster import Cluster, Dataset, settings_on_nodes
from tools.bulk.stages import EmbedFiles, ReadFiles, StoreFiles, Work
from tools.concurrency.tasks import cancel_and_wait
from tools.library.claimed_files import refuse_exhausted
from tools.library.ingestion import Ingestor, Refused, Report
from tools.library.job_store import ENDED, LONGEST_PAGE, POLL_SECONDS, Job, Jobs
from tools.library.job_worker import LEASE_SECONDS
from tools.library.path_jobs import Claims
from tools.runs.notifications import NOTIFY
from tools.settings import STATIC, Settings
from tools.storage.database import Database

log = logging.getLogger("citewell.bulk")

MOST_AT_ONCE = 20_000  # files of one pass over a job, whose numbers this process holds
FILES_OF_A_TASK = 8  # read, stored and, where a task dies, tried again together
BEATS_PER_LEASE = 3
NOTIFIED_SECONDS = 1.0
# Of a processor, for what waits more than it works. Every stage says what it needs: one that asks for a whole one, as
# is Ray's default, waits for ever, and silently, where the others have left less.
SHARE = 0.25
MOST_FAILED_PASSES = 3  # in a row, without a file that was done


class RayIngestion:
    """Stores the files of jobs of paths on an open cluster."""

    def __init__(
        self, cluster: Cluster, database: Database, jobs: Jobs, ingestor: Ingestor, settings: Settings
    ) -> None:
        self._cluster = cluster
        self._database = database
        self._jobs = jobs
        self._ingestor = ingestor
        self._settings = settings_on_nodes(settings, database)

    async def store(self, identity: Identity, job_id: str) -> Job:
        """Work on a job until it has ended, whoever ends it; return it. A paused job is waited for.

        Raises NotFound, ConfigurationError where the cluster is too small, DependencyFailed where Ray fails,
        DatabaseUnavailable; then the command may be run again.
        """
        await self._cluster.refuse_too_small(self._cluster.tasks + 2 * SHARE)
        claims = Claims(job_id, f"ray-{uuid4()}", LEASE_SECONDS)
        failed = 0
        async with self._kept(claims):
            while (job := await self._jobs.get(identity, job_id)).state not in ENDED:
                numbers = await self._waiting(claims)
                if not numbers:
                    await asyncio.sleep(POLL_SECONDS)
                    continue
                try:
                    await self._cluster.run(lambda: self._stages(claims, numbers))  # noqa: B023 - it ends within the loop
                    failed = 0
                except CitewellError as error:
                    failed = 1 if await self._has_advanced(identity, job) else failed + 1
                    if not type(error).retryable or failed == MOST_FAILED_PASSES:
                        raise
                    log.warning("a pass over the job %s failed, and what it left is done again: %s", job_id, error)
                finally:
                    await self._leave(claims)
                await self._ingestor.maintain(identity.workspace)
        return job

    def _stages(self, claims: Claims, numbers: list[int]) -> Dataset:
        from ray.data import ActorPoolStrategy, from_items

        work = Work(self._settings, claims.job_id, claims.owner, own_release())
        given = {"fn_constructor_args": (work,), "batch_size": None, "batch_format": "pyarrow"}
        blocks = -(-len(numbers) // FILES_OF_A_TASK)
        readers = min(self._cluster.tasks, blocks)
        rows = from_items(numbers, override_num_blocks=blocks)
        rows = rows.map_batches(ReadFiles, compute=ActorPoolStrategy(size=readers), num_cpus=1, **given)
        if self._settings.embedding.model != STATIC and self._database.has_vectors:
            rows = rows.map_batches(EmbedFiles, compute=ActorPoolStrategy(size=1), num_cpus=SHARE, **given)
        # One, for those who write into a workspace wait for each other.
        return rows.map_batches(StoreFiles, compute=ActorPoolStrategy(size=1), num_cpus=SHARE, **given)

    async def _waiting(self, claims: Claims) -> list[int]:
        async with self._database.connection() as connection:
            await claims.begin(connection)
            return await claims.waiting(connection, MOST_AT_ONCE)

    async def _has_advanced(self, identity: Identity, before: Job) -> bool:
        now = await self._jobs.get(identity, before.job_id)
        return _ended(now) > _ended(before)

    async def _leave(self, claims: Claims) -> None:
        """Give back what tasks that were ended had claimed, and refuse what ended too many of them."""
        with suppress(DatabaseUnavailable):  # then the leases run out
            async with self._database.connection() as connection:
                await claims.leave(connection)
                await refuse_exhausted(connection)

    @asynccontextmanager
    async def _kept(self, claims: Claims) -> AsyncIterator[None]:
        """Keep the leases of all tasks while the block runs, and tell those who follow the job."""
        keeping = asyncio.create_task(self._keep(claims), name="citewell-ray-leases")
        try:
            yield
        finally:
            await cancel_and_wait(keeping)

    async def _keep(self, claims: Claims) -> None:
        beat = min(NOTIFIED_SECONDS, claims.lease_seconds / BEATS_PER_LEASE)
        last = 0.0
        while True:
            now = asyncio.get_running_loop().time()
            try:
                async with self._database.connection() as connection:
                    if now - last >= claims.lease_seconds / BEATS_PER_LEASE:
                        await claims.keep(connection)
                        last = now
                    await connection.execute(NOTIFY, [claims.job_id])
            except CitewellError as error:
                log.warning("the leases of the job %s could not be extended: %s", claims.job_id, error.message)
            await asyncio.sleep(beat)


def _ended(job: Job) -> int:
    return job.counts["stored"] + job.counts["unchanged"] + job.counts["refused"]


async def reports_of(jobs: Jobs, identity: Identity, job: Job) -> AsyncIterator[Report]:
    """Yield what became of the files of a job, as an ingestion without a cluster tells it."""
    after: int | None = -1
    while after is not None:
        page = await jobs.files(identity, job.job_id, after=after, limit=LONGEST_PAGE)
        after = page.next_after
        for file in page.files:
            if file.ingested is not None:
                yield replace(file.ingested, name=file.name)
            elif file.error is not None:
                yield Refused.of(file.name, file.error)
            else:
                yield Refused(file.name, "invalid_request", "The job was cancelled.", "Ingest the file again.")
