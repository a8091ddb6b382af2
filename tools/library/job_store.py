"""Jobs of ingestion: files that wait in the database until a worker has stored or refused each of them.

A job is seen by the user who made it. The upload of a file is dropped in the transaction that stores its document, so
that a file is stored exactly once, however often its worker dies.
"""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from psycopg.rows import dict_row
from psycopg.types.json import Jsonb
from typing_extensions import TypedDict

from graph.errors import CitewellError, InvalidRequest, NotFound, QueueFull, restored_error
from graph.evidence import Identity
from tools.library.changes import Ingested
from tools.library.reading import WiredDocument
from tools.retrieval.withholding import find_unreadable
from tools.runs.event_log import wait_for_wakeup
from tools.runs.notifications import NOTIFY, Notifications
from tools.storage.database import TAKES_CHANGES, Connection, Database, replace_if_large, rows_of, value_of
from tools.storage.pagination import decode_cursor, encode_cursor
from tools.storage.tenants import Workspaces

JobState = Literal["queued", "running", "paused", "cancelled", "finished"]
FileState = Literal["queued", "working", "stored", "unchanged", "refused", "cancelled"]
ENDED = ("cancelled", "finished")
WORK, STOPS = "ingestion", "ingestion-stops"  # the keys for workers: there is a file, and one is not to be read on
# Of a user: a large folder fits, and nobody fills the database with uploads.
MOST_WAITING, MOST_WAITING_BYTES = 10_000, 2_000_000_000
JOB_DAYS = 7  # of a job that has ended, with the uploads that may be tried again: until somebody has looked
POLL_SECONDS = 2.0  # the net below the notifications
BETWEEN_REPORTS_SECONDS = 0.5
LONGEST_PAGE = 1000

_INSERT_JOB = """
INSERT INTO ingestion_jobs (workspace, "user", groups, spaces, assigns_owners, made_from)
VALUES (%s, %s, %s, %s, %s, %s) RETURNING job_id::text
"""
_INSERT_FILE = """
INSERT INTO ingestion_files (job_id, file_no, workspace, document_id, name, bytes) VALUES (%s, %s, %s, %s, %s, %s)
"""
_INSERT_UPLOAD = """
INSERT INTO ingestion_uploads (job_id, file_no, fields, is_text, data, path) VALUES (%s, %s, %s, %s, %b, %s)
"""
_WAITING = """
SELECT count(*), coalesce(sum(bytes), 0)::bigint FROM ingestion_files JOIN ingestion_jobs USING (job_id, workspace)
WHERE workspace = %(workspace)s AND "user" = %(user)s AND made_from IS NULL
  AND ingestion_files.state IN ('queued', 'working')
"""
_OWN = 'workspace = %(workspace)s AND "user" = %(user)s'
_JOBS = f"""
SELECT job_id::text, state, created_at, started_at, finished_at, files, counts, segments,
       CASE WHEN ended > 0 AND seconds > 0 THEN ended / seconds END AS rate,
       CASE WHEN state = 'running' AND ended > 0 THEN (files - ended) * seconds / ended END AS eta_seconds, reading
FROM (
    SELECT * FROM ingestion_jobs AS j
    WHERE {_OWN} AND (%(job_id)s::uuid IS NULL OR job_id = %(job_id)s)
      AND (%(before)s::timestamptz IS NULL OR created_at < %(before)s
           OR created_at = %(before)s AND job_id > %(after_id)s::uuid)
    ORDER BY created_at DESC, job_id LIMIT %(limit)s
) AS j
CROSS JOIN LATERAL (
    SELECT count(*)::int AS files, coalesce(sum(segments) FILTER (WHERE state = 'stored'), 0)::int AS segments,
           count(*) FILTER (WHERE state NOT IN ('queued', 'working'))::int AS ended,
           extract(epoch FROM coalesce(j.finished_at, now()) - j.started_at)::float AS seconds,
           json_build_object(
               'queued', count(*) FILTER (WHERE state = 'queued'), 'working', count(*) FILTER (WHERE state = 'working'),
               'stored', count(*) FILTER (WHERE state = 'stored'),
               'unchanged', count(*) FILTER (WHERE state = 'unchanged'),
               'refused', count(*) FILTER (WHERE state = 'refused'),
               'cancelled', count(*) FILTER (WHERE state = 'cancelled')) AS counts,
           coalesce(json_agg(json_build_object('file_no', file_no, 'name', name, 'segments_done', segments_done,
               'segments', segments) ORDER BY file_no) FILTER (WHERE state = 'working'), '[]') AS reading
    FROM ingestion_files WHERE ingestion_files.job_id = j.job_id
) AS f
ORDER BY created_at DESC, job_id
"""
_FILES = """
SELECT file_no, name, document_id::text, bytes, state, problem, ingested, segments, seconds::float
FROM ingestion_files WHERE job_id = %(job_id)s AND file_no > %(after)s
  AND (%(state)s::text IS NULL OR state = %(state)s) ORDER BY file_no LIMIT %(limit)s
"""
_UNDONE = """
SELECT 1 FROM ingestion_files WHERE job_id = %s AND state IN ('queued', 'working') AND problem IS NULL LIMIT 1
"""
_LOCK = f"SELECT state FROM ingestion_jobs WHERE job_id = %(job_id)s AND {_OWN}"
_CANCEL_FILES = """
UPDATE ingestion_files SET state = 'cancelled', attempt = attempt + 1, lease_owner = NULL, lease_until = NULL,
                           problem = NULL
WHERE job_id = %(job_id)s AND state IN ('queued', 'working')
"""
_CANCEL = """
UPDATE ingestion_jobs SET state = 'cancelled', finished_at = now()
WHERE job_id = %(job_id)s AND state NOT IN ('cancelled', 'finished')
"""
_PAUSE = "UPDATE ingestion_jobs SET state = 'paused' WHERE job_id = %(job_id)s AND state IN ('queued', 'running')"
_RESUME = """
UPDATE ingestion_jobs SET state = CASE WHEN started_at IS NULL THEN 'queued' ELSE 'running' END
WHERE job_id = %(job_id)s AND state = 'paused'
"""
_RETRY_FILES = """
UPDATE ingestion_files SET state = 'queued', attempt = attempt + 1, tries = 0, not_before = '-infinity', problem = NULL
WHERE job_id = %(job_id)s AND state IN ('refused', 'cancelled')
"""
_RETRY = """
UPDATE ingestion_jobs SET state = 'queued', started_at = NULL, finished_at = NULL
WHERE job_id = %(job_id)s AND state IN ('cancelled', 'finished')
  AND EXISTS (SELECT 1 FROM ingestion_files WHERE job_id = %(job_id)s AND state = 'queued')
"""
_CLOSE = """
UPDATE ingestion_jobs SET state = 'finished', finished_at = now()
WHERE job_id = %(job_id)s AND state NOT IN ('cancelled', 'finished')
  AND NOT EXISTS (SELECT 1 FROM ingestion_files WHERE job_id = %(job_id)s AND state IN ('queued', 'working'))
"""
_EXPIRED = f"FROM ingestion_jobs WHERE finished_at < now() - make_interval(days => %s) AND {TAKES_CHANGES}"
_COUNT_EXPIRED = f"SELECT count(*) {_EXPIRED}"
_EXPIRE = f"DELETE FROM ingestion_jobs WHERE job_id = ANY (array(SELECT job_id {_EXPIRED} LIMIT 100))"


class FileProblem(TypedDict):
    """Why a file was refused, or what it waits for."""

    code: str
    message: str
    suggestion: str


class FileCounts(TypedDict):
    """How many files of a job are in each state."""

    queued: int
    working: int
    stored: int
    unchanged: int
    refused: int
    cancelled: int


class FileBeingRead(TypedDict):
    """A file that a worker is reading; its segments are known once they are being embedded."""

    file_no: int
    name: str
    segments_done: int | None
    segments: int | None


@dataclass(frozen=True, slots=True)
class Job:
    """A job and how far it is. ``rate`` is in files a second; ``segments`` are those stored."""

    job_id: str
    state: JobState
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None
    files: int
    counts: FileCounts
    segments: int
    rate: float | None
    eta_seconds: float | None
    reading: list[FileBeingRead]


@dataclass(frozen=True, slots=True)
class WaitingFile:
    """A file as it waits in a job: under a name to show, with a path or with its bytes."""

    name: str
    document: WiredDocument
    size: int
    path: str | None = None


@dataclass(frozen=True, slots=True)
class JobPage:
    """A page of jobs, the newest first. ``next_cursor`` requests the next page; None at the end."""

    jobs: list[Job]
    next_cursor: str | None


@dataclass(frozen=True, slots=True)
class JobFile:
    """A file of a job. ``ingested`` is the stored document, ``problem`` why there is none."""

    file_no: int
    name: str
    document_id: str
    bytes: int
    state: FileState
    problem: FileProblem | None
    ingested: Ingested | None
    segments: int | None
    seconds: float | None

    @property
    def error(self) -> CitewellError | None:
        """The problem as an error."""
        if self.problem is None:
            return None
        return restored_error(self.problem["code"], self.problem["message"], self.problem["suggestion"])


@dataclass(frozen=True, slots=True)
class FilePage:
    """Some files of a job in order. ``next_after`` requests the next page; None at the end."""

    files: list[JobFile]
    next_after: int | None


@dataclass(frozen=True, slots=True)
class JobDetail:
    """A job with some of its files."""

    job: Job
    files: list[JobFile] = field(default_factory=list)
    next_after: int | None = None


class Jobs:
    """The jobs of a deployment. Those of another user raise NotFound, as if they did not exist."""

    def __init__(self, database: Database, workspaces: Workspaces, notifications: Notifications) -> None:
        self._database = database
        self._workspaces = workspaces
        self._notifications = notifications

    async def submit(self, identity: Identity, documents: Sequence[WiredDocument]) -> str:
        """Take documents in, all or none; return the id of their job. Raises as ``open`` does."""
        async with self.open(identity) as job:
            await job.add(documents)
        return job.job_id

    @asynccontextmanager
    async def open(self, identity: Identity) -> AsyncIterator["NewJob"]:
        """Open a job to add documents to, of which all or none are taken in, at the end.

        Raises InvalidRequest if there are none, QueueFull where the user has too many waiting, NotFound for an unknown
        workspace, DiskLow.
        """
        await self._database.require_room()
        row = await self._scope(identity)
        async with self._database.connection() as connection:
            async with connection.transaction():
                job = NewJob(connection, row, await insert_job(connection, row["workspace"], identity))
                yield job
                if not job.files:
                    raise InvalidRequest("A job needs at least one file.")
            await connection.execute(NOTIFY, [WORK])

    async def wait_for_end(self, job_id: str, seconds: float) -> list[JobFile] | None:
        """Wait for a job's files and return them; None where it takes too long, or where the job was cancelled."""
        until = asyncio.get_running_loop().time() + seconds
        with self._notifications.subscribe(job_id) as wakeup:
            while True:
                wakeup.clear()
                if await self._database.fetch_one(_UNDONE, [job_id]) is None:
                    files = await self._all_files(job_id)
                    return None if any(file.state == "cancelled" for file in files) else files
                left = until - asyncio.get_running_loop().time()
                if left <= 0:
                    return None
                await wait_for_wakeup(wakeup, min(left, POLL_SECONDS))

    async def _all_files(self, job_id: str) -> list[JobFile]:
        files: list[JobFile] = []
        while page := await self._read_files(job_id, files[-1].file_no if files else -1, LONGEST_PAGE, None):
            files += page
        return files

    async def forget(self, job_id: str) -> None:
        """Delete a job, whatever it is at; what it has stored stays."""
        async with self._database.connection() as connection:
            await connection.execute("DELETE FROM ingestion_jobs WHERE job_id = %s", [job_id])
            await connection.execute(NOTIFY, [STOPS])

    async def list_jobs(self, identity: Identity, *, limit: int = 50, cursor: str | None = None) -> JobPage:
        """List the user's jobs, at most 200 per page. Raises InvalidRequest for a cursor that is none of ours."""
        before, after_id = decode_cursor(cursor)
        found = await self._select(identity, limit=limit + 1, before=before, after_id=after_id)
        shown = found[:limit]
        more = len(found) > limit
        return JobPage(shown, encode_cursor(shown[-1].created_at, shown[-1].job_id) if more else None)

    async def get(self, identity: Identity, job_id: str) -> Job:
        """Read a job. Raises NotFound."""
        found = await self._select(identity, job_id=_known_id(job_id), limit=1)
        if not found:
            raise _unknown(job_id)
        return found[0]

    async def files(
        self, identity: Identity, job_id: str, *, after: int = -1, limit: int = 100, state: FileState | None = None
    ) -> FilePage:
        """Read the files of a job behind the number ``after``, at most 1,000. Raises NotFound."""
        async with self._database.connection() as connection:
            await self._own(connection, identity, job_id)
        found = await self._without_hidden(identity, await self._read_files(job_id, after, limit + 1, state))
        return FilePage(found[:limit], found[limit - 1].file_no if len(found) > limit else None)

    async def _without_hidden(self, identity: Identity, files: Sequence[JobFile]) -> list[JobFile]:
        """Leave out similar documents that the identity may not read any more."""
        similar = {other["document_id"] for each in files if each.ingested for other in each.ingested.similar_to}
        if not similar:
            return list(files)
        async with self._database.connection() as connection:
            workspace = await self._workspaces.number(identity.workspace)
            refused, gone = await find_unreadable(connection, workspace, identity, similar)
        hidden = refused | gone
        shown: list[JobFile] = []
        for each in files:
            if each.ingested is not None:
                similar_to = [one for one in each.ingested.similar_to if one["document_id"] not in hidden]
                each = replace(each, ingested=replace(each.ingested, similar_to=similar_to))
            shown.append(each)
        return shown

    async def follow(self, identity: Identity, job_id: str) -> AsyncIterator[Job]:
        """Yield a job whenever it has changed, at most twice a second, up to its end. Raises NotFound."""
        before: Job | None = None
        with self._notifications.subscribe(_known_id(job_id)) as wakeup:
            while True:
                wakeup.clear()
                job = await self.get(identity, job_id)
                if before is None or _shown(job) != _shown(before):
                    yield job
                before = job
                if job.state in ENDED:
                    return
                await asyncio.sleep(BETWEEN_REPORTS_SECONDS)
                await wait_for_wakeup(wakeup, POLL_SECONDS)

    async def cancel(self, identity: Identity, job_id: str) -> Job:
        """Cancel what of a job is not done; what is stored stays. Raises NotFound."""
        return await self._change(identity, job_id, _CANCEL_FILES, _CANCEL, wake=STOPS)

    async def pause(self, identity: Identity, job_id: str) -> Job:
        """Let no more files of a job begin; those being read are finished. Raises NotFound."""
        return await self._change(identity, job_id, _PAUSE)

    async def resume(self, identity: Identity, job_id: str) -> Job:
        """Go on with a paused job. Raises NotFound."""
        return await self._change(identity, job_id, _RESUME, wake=WORK)

    async def retry(self, identity: Identity, job_id: str) -> Job:
        """Queue the refused and the cancelled files of a job again. Raises NotFound."""
        return await self._change(identity, job_id, _RETRY_FILES, _RETRY, wake=WORK)

    async def _change(self, identity: Identity, job_id: str, *statements: str, wake: str = "") -> Job:
        """Run statements on the user's job, those on files first, as workers do, so that nobody deadlocks."""
        async with self._database.connection() as connection:
            await self._own(connection, identity, job_id)
            async with connection.transaction():
                for statement in statements:
                    await connection.execute(statement.encode(), {"job_id": job_id})
            await connection.execute(NOTIFY, [",".join(filter(None, [job_id, wake]))])
        return await self.get(identity, job_id)

    async def _own(self, connection: Connection, identity: Identity, job_id: str) -> None:
        row = {**await self._scope(identity), "job_id": _known_id(job_id)}
        if await value_of(connection, _LOCK, row) is None:
            raise _unknown(job_id)

    async def _select(self, identity: Identity, **given: Any) -> list[Job]:
        row = {"job_id": None, "before": None, "after_id": None, **await self._scope(identity), **given}
        async with self._database.connection() as connection:
            return await rows_of(connection, Job, _JOBS, row)

    async def _read_files(self, job_id: str, after: int, limit: int, state: FileState | None) -> list[JobFile]:
        row = {"job_id": job_id, "after": after, "limit": limit, "state": state}
        async with self._database.connection() as connection, connection.cursor(row_factory=dict_row) as rows:
            found = await (await rows.execute(_FILES, row)).fetchall()
        return [
            JobFile(**{**each, "ingested": None if each["ingested"] is None else Ingested(**each["ingested"])})
            for each in found
        ]

    async def _scope(self, identity: Identity) -> dict[str, Any]:
        return {"workspace": await self._workspaces.number(identity.workspace), "user": identity.user}


class NewJob:
    """A job that documents are added to, within the transaction that makes it."""

    def __init__(self, connection: Connection, owner: dict[str, Any], job_id: str) -> None:
        self.job_id = job_id
        self.files = 0
        self._connection = connection
        self._owner = owner

    async def add(self, documents: Sequence[WiredDocument]) -> None:
        """Add documents behind those that are there. Raises QueueFull where the user has too many waiting."""
        found = await (await self._connection.execute(_WAITING, self._owner)).fetchone()
        assert found is not None
        files, size = found[0] + len(documents), found[1] + sum(len(each.data) for each in documents)
        if files > MOST_WAITING or size > MOST_WAITING_BYTES:
            raise QueueFull(
                f"{found[0]:,} of your files with {found[1]:,} bytes are waiting; the limits are "
                f"{MOST_WAITING:,} files and {MOST_WAITING_BYTES:,} bytes."
            )
        waiting = [WaitingFile(each.name, each, len(each.data)) for each in documents]
        await insert_files(self._connection, self._owner["workspace"], self.job_id, waiting, first=self.files)
        self.files += len(documents)


async def insert_job(
    connection: Connection, workspace: int, identity: Identity, made_from: dict[str, Any] | None = None
) -> str:
    """Insert a job of an identity, with what it was ``made_from``; return its id. Within a transaction."""
    spaces = None if identity.spaces is None else list(identity.spaces)
    row = [workspace, identity.user, list(identity.groups), spaces, identity.assigns_owners]
    return str(await value_of(connection, _INSERT_JOB, [*row, None if made_from is None else Jsonb(made_from)]))


async def insert_files(
    connection: Connection, workspace: int, job_id: str, files: Sequence[WaitingFile], *, first: int = 0
) -> None:
    """Insert files of a job, numbered from ``first``. Within a transaction."""
    numbered = list(enumerate(files, start=first))
    rows = [[job_id, no, workspace, each.document.document_id, each.name, each.size] for no, each in numbered]
    uploads = (
        [job_id, no, each.document.fields, each.document.is_text, each.document.data, each.path]
        for no, each in numbered
    )
    async with connection.cursor() as cursor:
        await cursor.executemany(_INSERT_FILE, rows)
        await cursor.executemany(_INSERT_UPLOAD, uploads)
    replace_if_large(connection, sum(len(each.document.data) for each in files))


async def close_if_done(connection: Connection, job_id: str) -> None:
    """End a job whose last file is done. Within a transaction that has changed a file of it."""
    # The lock makes two last files wait for each other: the second statement then sees the end of the other one.
    await connection.execute("SELECT 1 FROM ingestion_jobs WHERE job_id = %s FOR UPDATE", [job_id])
    await connection.execute(_CLOSE, {"job_id": job_id})


async def expire_jobs(database: Database, *, days: int, dry_run: bool = False) -> int:
    """Delete jobs that ended more than ``days`` ago, with the uploads they kept; ``dry_run`` only counts."""
    async with database.connection() as connection:
        if dry_run:
            return int(await value_of(connection, _COUNT_EXPIRED, [days]))
        gone = 0
        while deleted := (await connection.execute(_EXPIRE, [days])).rowcount:
            gone += deleted
        return gone


def _shown(job: Job) -> tuple[Any, ...]:
    """Return what of a job changes by work, not by time alone."""
    return job.state, job.counts, job.reading


def _known_id(job_id: str) -> str:
    try:
        return str(UUID(job_id))
    except ValueError:
        raise _unknown(job_id) from None


def _unknown(job_id: str) -> NotFound:
    return NotFound(f"There is no job {job_id}.")
