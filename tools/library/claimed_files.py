"""Files of jobs that a process has claimed: what they hold, and how they end, in the transaction that stores them.

Workers and the tasks of a cluster do it alike. Each statement names the attempt: whoever lost a file writes nothing.
"""

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from psycopg.types.json import Jsonb

from graph.errors import CitewellError, DatabaseUnavailable, DocumentTooExpensive
from graph.evidence import Identity
from tools.library.changes import Ingested
from tools.library.found_files import FoundFile
from tools.library.job_store import close_if_done
from tools.library.reading import WiredDocument
from tools.parsers.canonical_text import storable
from tools.runs.notifications import NOTIFY
from tools.storage.database import TAKES_CHANGES, Connection, Database, replace_if_large, retry_while_unavailable

log = logging.getLogger("citewell.jobs")

MOST_TRIES = 3
PATIENCE_SECONDS = 15  # before a file that waits for something outside is tried again

# Of a document's files, one is read at a time, in the order of their places.
CLAIMABLE = f"""
tries < {MOST_TRIES} AND (state = 'queued' AND not_before <= now() OR state = 'working' AND lease_until < now())
AND NOT EXISTS (
    SELECT 1 FROM ingestion_files AS earlier JOIN ingestion_jobs AS of_earlier USING (job_id)
    WHERE earlier.workspace = f.workspace AND earlier.document_id = f.document_id
      AND (earlier.state = 'queued' AND earlier.place < f.place AND of_earlier.state <> 'paused'
           OR earlier.state = 'working' AND earlier.place <> f.place))
"""
CLAIM = """
state = 'working', attempt = attempt + 1, tries = tries + 1, lease_owner = %(owner)s,
lease_until = now() + make_interval(secs => %(lease)s), problem = NULL, segments = NULL, segments_done = NULL
"""
# The fields of a ClaimedFile, of rows that were taken and of their jobs.
CLAIMED = """
SELECT taken.job_id::text, file_no, attempt, tries, document_id::text, taken.name, workspaces.name AS workspace, "user",
       groups, spaces, assigns_owners
"""
_UPLOAD = (
    "SELECT fields, data, is_text, path FROM ingestion_uploads WHERE job_id = %(job_id)s AND file_no = %(file_no)s"
)
_HELD = "job_id = %(job_id)s AND file_no = %(file_no)s AND attempt = %(attempt)s AND state = 'working'"
_IS_HELD = f"SELECT 1 FROM ingestion_files WHERE {_HELD}"
# None waits for a row that another transaction has, and so for nobody who waits for one of these.
_LOCKED = """
SELECT count(*) FROM (
    SELECT 1 FROM ingestion_files JOIN unnest(%(numbers)s::int[], %(attempts)s::int[]) AS held (file_no, attempt)
    USING (file_no, attempt) WHERE job_id = %(job_id)s AND state = 'working' FOR UPDATE OF ingestion_files SKIP LOCKED
) AS locked
"""
_STORED = f"""
WITH stored AS (
    UPDATE ingestion_files SET state = %(state)s, ingested = %(ingested)s, segments = %(segments)s,
           segments_done = NULL, seconds = %(seconds)s, lease_owner = NULL, lease_until = NULL
    WHERE {_HELD} RETURNING job_id, file_no
), dropped AS (
    DELETE FROM ingestion_uploads AS u USING stored WHERE u.job_id = stored.job_id AND u.file_no = stored.file_no
)
SELECT 1 FROM stored
"""
_REFUSED = f"""
UPDATE ingestion_files SET state = 'refused', problem = %(problem)s, seconds = %(seconds)s, segments_done = NULL,
                           lease_owner = NULL, lease_until = NULL WHERE {_HELD}
"""
_QUEUED_AGAIN = f"""
UPDATE ingestion_files SET state = 'queued', problem = %(problem)s, tries = tries - %(uncounted)s, segments_done = NULL,
                           not_before = now() + make_interval(secs => %(delay)s), lease_owner = NULL, lease_until = NULL
WHERE {_HELD}
"""
_EXHAUSTED = f"""
UPDATE ingestion_files SET state = 'refused', problem = %(problem)s, lease_owner = NULL, lease_until = NULL
WHERE state = 'working' AND lease_until < now() AND tries >= {MOST_TRIES} AND {TAKES_CHANGES} RETURNING job_id::text
"""


class LeaseLost(Exception):
    """A file that was cancelled, or that another process has claimed."""


@dataclass(slots=True)
class ClaimedFile:
    """A file that this process reads, and how far it is: segments embedded, and of how many."""

    job_id: str
    file_no: int
    attempt: int
    tries: int
    document_id: str
    name: str
    workspace: str
    user: str
    groups: list[str]
    spaces: list[str] | None
    assigns_owners: bool
    progress: tuple[int | None, int | None] = (None, None)
    task: asyncio.Task[None] | None = field(default=None, repr=False)

    @property
    def key(self) -> tuple[str, int]:
        """The job, and the number of the file in it."""
        return self.job_id, self.file_no

    @property
    def row(self) -> dict[str, str | int]:
        """The parameters that name the lease."""
        return {"job_id": self.job_id, "file_no": self.file_no, "attempt": self.attempt}

    @property
    def identity(self) -> Identity:
        """Who the file is stored for, with what the credentials allowed that it was sent with."""
        spaces = None if self.spaces is None else tuple(self.spaces)
        return Identity(self.workspace, self.user, tuple(self.groups), spaces, assigns_owners=self.assigns_owners)


async def load_document(database: Database, file: ClaimedFile, *, max_bytes: int) -> WiredDocument:
    """Load what a file holds, from the database or its path. Raises LeaseLost, UnreadableDocument."""
    async with database.connection() as connection:
        found = await connection.execute(_UPLOAD, file.row, binary=True)
        row = await found.fetchone()
        if row is None:
            raise LeaseLost
        fields, data, is_text, path = row
        replace_if_large(connection, len(data or b""))
    if path is not None:
        data = await asyncio.to_thread(FoundFile(Path(path), file.name).read, max_bytes)
    return WiredDocument(fields, data, is_text, file.document_id, file.name)


async def is_held(database: Database, file: ClaimedFile) -> bool:
    """Whether a file is still claimed by the attempt that this process has."""
    return await database.fetch_one(_IS_HELD, file.row) is not None


async def record_stored(connection: Connection, file: ClaimedFile, ingested: Ingested, seconds: float) -> None:
    """End a file in the transaction that stores its document. Raises LeaseLost, which undoes it."""
    await _end(connection, file, ingested, seconds)
    await close_if_done(connection, file.job_id)


async def record_all_stored(
    connection: Connection, files: Sequence[ClaimedFile], ingested: Sequence[Ingested], seconds: Sequence[float]
) -> None:
    """End files of one job in the transaction that stores their documents.

    Raises LeaseLost, which undoes it, where one of them is not held or is just being changed: record each alone.
    """
    job_id = files[0].job_id
    held = {
        "job_id": job_id,
        "numbers": [file.file_no for file in files],
        "attempts": [file.attempt for file in files],
    }
    row = await (await connection.execute(_LOCKED, held)).fetchone()
    if row is None or row[0] < len(files):
        raise LeaseLost
    for file, document, took in zip(files, ingested, seconds, strict=True):
        await _end(connection, file, document, took)
    await close_if_done(connection, job_id)


async def _end(connection: Connection, file: ClaimedFile, ingested: Ingested, seconds: float) -> None:
    row = {
        **file.row,
        "state": "unchanged" if ingested.status == "unchanged" else "stored",
        "ingested": Jsonb(asdict(ingested)),
        "segments": ingested.segments,
        "seconds": seconds,
    }
    if await (await connection.execute(_STORED, row)).fetchone() is None:
        raise LeaseLost


async def record_failed(database: Database, file: ClaimedFile, error: Exception, seconds: float) -> bool:
    """Refuse a file, or queue it again where that may help; both are left undone where the lease is lost.

    Returns whether it is queued again. Raises DatabaseUnavailable where the database stays away.
    """
    again = False
    if not isinstance(error, CitewellError):
        log.error("the file %s could not be stored", file.name, exc_info=error)
        error, again = CitewellError("The file could not be stored for an internal reason."), file.tries < MOST_TRIES
    retryable = type(error).retryable
    row: dict[str, Any] = {
        **file.row,
        "problem": Jsonb({"code": error.code, "message": storable(error.message), "suggestion": error.advice}),
        "seconds": seconds,
        "uncounted": int(retryable),
        "delay": PATIENCE_SECONDS if retryable and not isinstance(error, DatabaseUnavailable) else 1,
    }
    statement = _QUEUED_AGAIN if retryable or again else _REFUSED

    async def write() -> None:
        async with database.connection() as connection, connection.transaction():
            await connection.execute(statement, row)
            await close_if_done(connection, file.job_id)

    await retry_while_unavailable(write)
    return retryable or again


async def release(connection: Connection, file: ClaimedFile) -> None:
    """Leave a file to others at once, as if nobody had claimed it."""
    await connection.execute(_QUEUED_AGAIN, {**file.row, "problem": None, "uncounted": 1, "delay": 0})


async def refuse_exhausted(connection: Connection) -> None:
    """Refuse the files whose processes died again and again."""
    fault = DocumentTooExpensive(f"The process that read it ended {MOST_TRIES} times.")
    problem = Jsonb({"code": fault.code, "message": fault.message, "suggestion": fault.advice})
    async with connection.transaction():
        found = await connection.execute(_EXHAUSTED, {"problem": problem})
        jobs = sorted({job_id for (job_id,) in await found.fetchall()})
        for job_id in jobs:
            await close_if_done(connection, job_id)
    if jobs:
        await connection.execute(NOTIFY, [",".join(jobs[:100])])
