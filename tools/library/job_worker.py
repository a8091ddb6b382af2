"""A worker that stores the files of jobs: it takes one at a time under a lease, reads it in a sandbox and stores it.

Workspaces take turns, and so do the jobs of a workspace. One worker more than the settings say takes the files of other
workspaces while one keeps all of those busy. A worker that dies loses its leases, and others take its files
again; a file whose workers died three times is refused.
"""

import asyncio
import logging
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from uuid import uuid4

import psycopg
from psycopg.rows import class_row

from graph.errors import CitewellError, DatabaseUnavailable, WorkspaceMoved
from tools.concurrency.tasks import cancel_and_wait, shield_until_done
from tools.library.claimed_files import (
    CLAIM,
    CLAIMABLE,
    CLAIMED,
    ClaimedFile,
    LeaseLost,
    load_document,
    record_failed,
    record_stored,
    refuse_exhausted,
    release,
)
from tools.library.ingestion import Ingested, Ingestor
from tools.library.job_store import POLL_SECONDS, STOPS, WORK
from tools.library.reading import WiredDocument
from tools.runs.event_log import wait_for_wakeup
from tools.runs.notifications import NOTIFY, Notifications
from tools.settings import JobSettings
from tools.storage.database import TAKES_CHANGES, Connection, Database
from tools.telemetry.metrics import FILES, LEASE_FAILURES
from tools.telemetry.tracing import background_context

log = logging.getLogger("citewell.jobs")

LEASE_SECONDS = 30.0  # after the last sign of life of a process, until others read its files: longer than a pause of it
BEATS_PER_LEASE = 3
REPORT_SECONDS = 1.0
SPARE = 1  # worker, which is free for another workspace
MAINTAINED_AFTER = 100  # files, or when there is none left
LOOKS, LOOK_SECONDS = 15, 0.01  # before each file, for questions that are being answered in this process

_CLAIM = f"""
WITH busy AS (
    SELECT workspace, count(*) AS files FROM ingestion_files WHERE state = 'working' AND lease_until >= now()
    GROUP BY workspace
), next AS (
    SELECT file.job_id, file.file_no FROM (
        SELECT job_id FROM ingestion_jobs AS job LEFT JOIN busy USING (workspace) CROSS JOIN LATERAL (
            SELECT max(claimed_at) AS at FROM ingestion_jobs AS other WHERE other.workspace = job.workspace
        ) AS served
        WHERE state IN ('queued', 'running') AND made_from IS NULL AND job.{TAKES_CHANGES}
          AND job.workspace <> ALL (SELECT number FROM workspaces WHERE name = ANY (%(full)s))
        ORDER BY coalesce(busy.files, 0), served.at NULLS FIRST, job.claimed_at NULLS FIRST, job.created_at
    ) AS job CROSS JOIN LATERAL (
        SELECT job_id, file_no FROM ingestion_files AS f WHERE f.job_id = job.job_id AND {CLAIMABLE}
        ORDER BY place LIMIT 1 FOR UPDATE SKIP LOCKED
    ) AS file LIMIT 1
), taken AS (
    UPDATE ingestion_files AS f SET {CLAIM}
    FROM next WHERE f.job_id = next.job_id AND f.file_no = next.file_no
    RETURNING f.job_id, f.file_no, f.attempt, f.tries, f.document_id, f.name
), begun AS (
    UPDATE ingestion_jobs SET state = 'running', started_at = coalesce(started_at, now()),
                              claimed_at = clock_timestamp()
    FROM taken WHERE ingestion_jobs.job_id = taken.job_id
    RETURNING ingestion_jobs.job_id, workspace, "user", groups, spaces, assigns_owners
)
{CLAIMED}
FROM taken JOIN begun USING (job_id) JOIN workspaces ON workspaces.number = begun.workspace
"""
_EXTEND = """
UPDATE ingestion_files AS f SET lease_until = now() + make_interval(secs => %s), segments_done = done, segments = of_all
FROM unnest(%s::uuid[], %s::int[], %s::int[], %s::int[], %s::int[]) AS held (job_id, file_no, attempt, done, of_all)
WHERE f.job_id = held.job_id AND f.file_no = held.file_no AND f.attempt = held.attempt AND f.state = 'working'
RETURNING f.job_id::text, f.file_no
"""


class JobWorker:
    """A worker of as many files of a workspace at once as the settings say, which begins with ``start``. Close it."""

    def __init__(
        self,
        database: Database,
        ingestor: Ingestor,
        notifications: Notifications,
        settings: JobSettings,
    ) -> None:
        self._database = database
        self._ingestor = ingestor
        self._notifications = notifications
        self._size = settings.workers
        self._lease = LEASE_SECONDS
        self._owner = str(uuid4())
        self._tasks: list[asyncio.Task[None]] = []
        self._claiming = asyncio.Lock()
        self._active: dict[tuple[str, int], ClaimedFile] = {}
        self._processing: set[asyncio.Task[None]] = set()
        self._changed: Counter[str] = Counter()  # workspaces to maintain, and how many files changed them
        self._reported: list[tuple[int | None, int | None]] = []
        self._is_answering: Callable[[], bool] = lambda: False

    def give_way_to(self, is_answering: Callable[[], bool]) -> None:
        """Let questions go first: before each file, wait a moment while ``is_answering`` says that there are any."""
        self._is_answering = is_answering

    def start(self) -> None:
        """Start working, unless it has begun or there are none to read at once."""
        if not self._tasks and self._size:
            self._tasks = [
                asyncio.create_task(work(), name=name, context=background_context())
                for name, work in (
                    ("citewell-job-leases", self._keep_leases),
                    *((f"citewell-job-worker-{n}", self._work) for n in range(self._size + SPARE)),
                )
            ]

    async def close(self) -> None:
        """Stop working; files that were being read are left to others at once."""
        await cancel_and_wait(*self._tasks)
        await cancel_and_wait(*self._processing)  # a task may miss its first cancel
        self._tasks.clear()

    async def _work(self) -> None:
        with self._notifications.subscribe(WORK) as wakeup:
            while True:
                wakeup.clear()
                try:
                    await self._give_way()
                    async with self._claiming:
                        file = await self._claim()
                        if file is not None:
                            self._active[file.key] = file
                    if file is not None:
                        await self._attend(file)
                        continue
                    await self._maintain()
                except CitewellError as error:
                    log.warning("no file could be taken: %s", error.message)
                except Exception:
                    log.exception("no file could be taken")
                await wait_for_wakeup(wakeup, POLL_SECONDS)

    async def _give_way(self) -> None:
        for _ in range(LOOKS):
            if not self._is_answering():
                return
            await asyncio.sleep(LOOK_SECONDS)

    async def _claim(self) -> ClaimedFile | None:
        held = Counter(file.workspace for file in self._active.values())
        full = [workspace for workspace, files in held.items() if files >= self._size]
        row = {"owner": self._owner, "lease": self._lease, "full": full}
        async with self._database.connection() as connection:
            while True:
                async with connection.cursor(row_factory=class_row(ClaimedFile)) as cursor:
                    with suppress(psycopg.errors.UniqueViolation):  # another worker took a file of the same document
                        found = await (await cursor.execute(_CLAIM, row)).fetchone()
                        if found is None:
                            await refuse_exhausted(connection)
                        return found

    async def _attend(self, file: ClaimedFile) -> None:
        """Work on a file in a task of its own, which is cancelled where its lease is lost."""
        file.task = asyncio.create_task(self._process(file))
        self._processing.add(file.task)
        file.task.add_done_callback(self._processing.discard)
        try:
            await asyncio.wait([file.task])
        finally:
            file.task.cancel()
            self._active.pop(file.key, None)
        with suppress(DatabaseUnavailable):
            await self._database.execute(NOTIFY, [file.job_id])
        if self._changed[file.workspace] >= MAINTAINED_AFTER:
            await self._maintain()

    async def _process(self, file: ClaimedFile) -> None:
        started = asyncio.get_running_loop().time()

        def seconds() -> float:
            return asyncio.get_running_loop().time() - started

        async def finish(connection: Connection, ingested: Sequence[Ingested]) -> None:
            for document in ingested:
                await record_stored(connection, file, document, seconds())

        def on_progress(done: int, of: int) -> None:
            file.progress = (done, of)

        try:
            ingested = await self._ingestor.ingest_wired(
                file.identity, await self._upload(file), finish=finish, on_progress=on_progress
            )
            FILES.labels("unchanged" if ingested.status == "unchanged" else "stored").inc()
            if ingested.status != "unchanged":
                self._changed[file.workspace] += 1
        except LeaseLost:
            log.info("the file %s was cancelled, or another worker has it", file.name)
        except asyncio.CancelledError:
            await shield_until_done(self._release(file))
            raise
        except Exception as error:  # noqa: BLE001 - the file's row says what became of it
            with suppress(DatabaseUnavailable, WorkspaceMoved):  # then its lease runs out
                queued = await record_failed(self._database, file, error, seconds())
                FILES.labels("retried" if queued else "refused").inc()

    async def _release(self, file: ClaimedFile) -> None:
        with suppress(CitewellError):
            async with self._database.connection() as connection:
                await release(connection, file)
                await connection.execute(NOTIFY, [WORK])

    async def _upload(self, file: ClaimedFile) -> WiredDocument:
        return await load_document(self._database, file, max_bytes=self._ingestor.max_bytes)

    async def _keep_leases(self) -> None:
        last = 0.0
        with self._notifications.subscribe(STOPS) as wakeup:
            while True:
                stopped = wakeup.is_set()
                wakeup.clear()
                files = list(self._active.values())
                progress = [file.progress for file in files]
                now = asyncio.get_running_loop().time()
                if files and (stopped or progress != self._reported or now - last >= self._lease / BEATS_PER_LEASE):
                    try:
                        await self._extend(files)
                        last, self._reported = now, progress
                    except CitewellError as error:
                        LEASE_FAILURES.labels("files").inc()
                        log.warning("leases of %d files could not be extended: %s", len(files), error.message)
                    except Exception:
                        log.exception("leases of %d files could not be extended", len(files))
                await wait_for_wakeup(wakeup, min(REPORT_SECONDS, self._lease / BEATS_PER_LEASE))

    async def _extend(self, files: list[ClaimedFile]) -> None:
        held = [
            [file.job_id for file in files],
            [file.file_no for file in files],
            [file.attempt for file in files],
            [file.progress[0] for file in files],
            [file.progress[1] for file in files],
        ]
        async with self._database.connection() as connection:
            kept = set(await (await connection.execute(_EXTEND, [self._lease, *held])).fetchall())
            if any(file.progress[1] for file in files):
                await connection.execute(NOTIFY, [",".join({file.job_id for file in files})])
        for file in files:
            if file.key not in kept and file.task is not None:
                file.task.cancel()

    async def _maintain(self) -> None:
        while self._changed:
            workspace, _ = self._changed.popitem()
            with suppress(CitewellError):  # the next ingestion does it
                await self._ingestor.maintain(workspace)
