"""Jobs made of paths: their files are read where they are, by a cluster that a command drives, not by workers.

A file waits as a row that names its path. Where the machines that read don't see the paths, its bytes wait in the
database, as those of an upload do.
"""

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice
from pathlib import Path
from typing import Any

from psycopg.types.json import Jsonb

from graph.errors import CitewellError, InvalidRequest
from graph.evidence import Identity, Space
from tools.library.claimed_files import CLAIM, CLAIMABLE, CLAIMED, MOST_TRIES, ClaimedFile
from tools.library.found_files import FoundFile, find_files
from tools.library.job_store import WaitingFile, insert_files, insert_job
from tools.library.new_documents import NewDocument, is_archive
from tools.library.reading import WiredDocument, wired_documents
from tools.storage.database import Connection, Database, rows_of
from tools.storage.tenants import Workspaces

ZIP = b"PK"
AT_ONCE = 100  # files, between two trips to the database

_FIND = """
SELECT job_id::text FROM ingestion_jobs WHERE workspace = %(workspace)s AND "user" = %(user)s
  AND made_from = %(made_from)s AND state IN ('queued', 'running', 'paused') ORDER BY created_at LIMIT 1
"""
_BEGIN = """
UPDATE ingestion_jobs SET state = 'running', started_at = coalesce(started_at, now())
WHERE job_id = %s AND state = 'queued'
"""
# A file of ours that is in work is claimable: the task that had it was ended, and is now done again.
_OURS = f"(tries < {MOST_TRIES} AND state = 'working' AND lease_owner = %(owner)s OR {CLAIMABLE})"
_WAITING = f"""
SELECT file_no FROM ingestion_files AS f WHERE job_id = %(job_id)s AND {CLAIMABLE} ORDER BY place LIMIT %(limit)s
"""
_CLAIM = f"""
WITH taken AS (
    UPDATE ingestion_files AS f SET {CLAIM}
    WHERE job_id = %(job_id)s AND file_no = ANY (%(numbers)s) AND {_OURS}
      AND EXISTS (SELECT 1 FROM ingestion_jobs WHERE job_id = %(job_id)s AND state = 'running')
    RETURNING job_id, file_no, attempt, tries, document_id, name
)
{CLAIMED}
FROM taken JOIN ingestion_jobs USING (job_id) JOIN workspaces ON workspaces.number = ingestion_jobs.workspace
ORDER BY file_no
"""
_KEEP = """
UPDATE ingestion_files SET lease_until = now() + make_interval(secs => %(lease)s)
WHERE job_id = %(job_id)s AND state = 'working' AND lease_owner = %(owner)s
"""
_LEAVE = """
UPDATE ingestion_files SET lease_until = '-infinity'
WHERE job_id = %(job_id)s AND state = 'working' AND lease_owner = %(owner)s
"""


@dataclass(frozen=True, slots=True)
class PathOrder:
    """What is to be ingested: the files below paths, for whom, in which space, and for which dialect."""

    paths: Sequence[Path]
    owner: str | None = None
    readers: Sequence[str] | None = None
    space: Space | None = None
    dialect: str | None = None

    @property
    def row(self) -> dict[str, Any]:
        """The order as the job's row keeps it, so that the same order finds its job again."""
        readers = None if self.readers is None else sorted(self.readers)
        paths = [str(path.absolute()) for path in self.paths]
        row = {"paths": paths, "owner": self.owner, "readers": readers, "space": self.space}
        return row if self.dialect is None else {**row, "dialect": self.dialect}

    @property
    def fields(self) -> NewDocument:
        """What all of its documents have in common."""
        return NewDocument(
            owner=self.owner, readers=self.readers, space=self.space, dialect=self.dialect, source_type="file"
        )


class PathJobs:
    """Makes and finds jobs of paths. With ``by_path`` whoever reads the files sees the same paths."""

    def __init__(self, database: Database, workspaces: Workspaces, *, max_bytes: int, by_path: bool) -> None:
        self._database = database
        self._workspaces = workspaces
        self._max_bytes = max_bytes
        self._by_path = by_path

    async def open(self, identity: Identity, order: PathOrder) -> tuple[str, bool]:
        """Return the id of the unfinished job of the same order, or else of a new one, and whether it is new.

        All of a new job is written, or nothing. Raises InvalidRequest where there are no files.
        """
        workspace = await self._workspaces.number(identity.workspace)
        row = {"workspace": workspace, "user": identity.user, "made_from": Jsonb(order.row)}
        if (found := await self._database.fetch_one(_FIND, row)) is not None:
            return str(found[0]), False
        await self._database.require_room()
        files = self._files(identity.workspace, order)
        first = await asyncio.to_thread(next, files, None)
        if first is None:
            raise InvalidRequest("There are no files below these paths.")
        async with self._database.connection() as connection, connection.transaction():
            job_id = await insert_job(connection, workspace, identity, order.row)
            waiting = chain([first], files)
            at_once, number = AT_ONCE if self._by_path else 1, 0
            while some := await asyncio.to_thread(lambda: list(islice(waiting, at_once))):
                await insert_files(connection, workspace, job_id, some, first=number)
                number += len(some)
        return job_id, True

    def _files(self, workspace: str, order: PathOrder) -> Iterator[WaitingFile]:
        """Yield each document below the paths. Blocks: it looks into each file, and reads archives."""
        for found in find_files(order.paths):
            try:
                yield from self._of_file(workspace, order.fields, found)
            except CitewellError as error:
                yield WaitingFile(found.name, WiredDocument.refused(found.key, error), 0)

    def _of_file(self, workspace: str, fields: NewDocument, found: FoundFile) -> Iterator[WaitingFile]:
        unread = replace(fields, data=b"", name=found.key, document_id=found.document_id(workspace))
        is_read = not self._by_path or found.read(len(ZIP) - 1) == ZIP
        new = replace(unread, data=found.read(self._max_bytes)) if is_read else unread
        if self._by_path and not (is_read and is_archive(new)):
            size = found.path.stat().st_size
            yield WaitingFile(found.name, WiredDocument.of(unread), size, str(found.path.absolute()))
            return
        for name, wired in wired_documents(new, found.name, max_bytes=self._max_bytes):
            yield WaitingFile(name, wired, len(wired.data))


@dataclass(frozen=True, slots=True)
class Claims:
    """The claims of one run on the files of a job: all of its tasks claim in its name, and the driver keeps them."""

    job_id: str
    owner: str
    lease_seconds: float

    @property
    def _row(self) -> dict[str, Any]:
        return {"job_id": self.job_id, "owner": self.owner, "lease": self.lease_seconds}

    async def begin(self, connection: Connection) -> None:
        """Let the job run, unless it is paused or has ended."""
        await connection.execute(_BEGIN, [self.job_id])

    async def waiting(self, connection: Connection, limit: int) -> list[int]:
        """Return the numbers of files that may be claimed now, in order."""
        found = await connection.execute(_WAITING, {**self._row, "limit": limit})
        return [number for (number,) in await found.fetchall()]

    async def take(self, connection: Connection, numbers: Sequence[int]) -> list[ClaimedFile]:
        """Claim those of the files that may be claimed: none of a job that is paused or cancelled.

        Raises UniqueViolation where another process has just claimed a file of the same document: take each alone.
        """
        return await rows_of(connection, ClaimedFile, _CLAIM, {**self._row, "numbers": list(numbers)})

    async def keep(self, connection: Connection) -> None:
        """Extend the lease on every file that is in work."""
        await connection.execute(_KEEP, self._row)

    async def leave(self, connection: Connection) -> None:
        """Leave every file that is in work to others at once."""
        await connection.execute(_LEAVE, self._row)
