"""Files that somebody sends, taken in as jobs. An archive is unpacked apart, and its files wait on disk for its end."""

import asyncio
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO
from uuid import UUID, uuid5

from graph.errors import DiskLow
from graph.evidence import Identity
from tools.library.catalogue import Documents
from tools.library.fair_turns import FairTurns
from tools.library.job_store import Jobs
from tools.library.job_worker import JobWorker
from tools.library.new_documents import NewDocument, may_be_archive
from tools.library.reading import WiredDocument, wired_documents
from tools.library.sandbox import Sandbox
from tools.storage.batches import in_batches
from tools.storage.tenants import Workspaces

ARCHIVES_AT_ONCE = 2  # of all workspaces, each of which has a process meanwhile
_FILES_AT_ONCE, _BYTES_AT_ONCE = 100, 4_000_000  # of an archive, between two trips to the database


class Uploads:
    """Takes files in as jobs, which the worker then does."""

    def __init__(
        self,
        jobs: Jobs,
        worker: JobWorker,
        documents: Documents,
        workspaces: Workspaces,
        sandbox: Sandbox,
        *,
        max_bytes: int,
        folder: Path,
    ) -> None:
        self._jobs = jobs
        self._worker = worker
        self._documents = documents
        self._workspaces = workspaces
        self._sandbox = sandbox
        self._max_bytes = max_bytes
        self._folder = folder
        self._turns = FairTurns(ARCHIVES_AT_ONCE, sandbox.seconds_for(0))

    async def submit(self, identity: Identity, new: NewDocument) -> tuple[str, bool]:
        """Take in a document, or those of an archive; return the id of their job, and whether it was an archive.

        Raises as ``Jobs.open`` does, UnreadableDocument for an archive that can't be opened, Overloaded where too many
        archives wait.
        """
        if len(new.data or b"") > self._max_bytes or not may_be_archive(new):
            wired = await asyncio.to_thread(lambda: list(wired_documents(new, new.name, max_bytes=self._max_bytes)))
            return await self._submit(identity, [each for _, each in wired], new), False
        whose = await self._workspaces.number(identity.workspace)
        async with self._turns.take(whose):
            with await asyncio.to_thread(_unnamed_file, self._folder) as disk:
                job_id, is_archive = await self._unpack(identity, new, whose, disk)
        self._worker.start()
        return job_id, is_archive

    async def split_json(self, identity: Identity, body: bytes, *, most_bytes: int) -> tuple[bytes, str | None]:
        """Return a JSON object without its ``text``, and that.

        Raises InvalidRequest where it is none, or has more than ``most_bytes`` beside its text.
        """
        whose = await self._workspaces.number(identity.workspace)
        async with self._turns.take(whose):
            order = {"most_bytes": most_bytes}
            reply, blobs = await self._sandbox.run("json", order, body, whose=(whose, identity.user))
        rest, text = blobs
        return rest, text.decode() if reply["has_text"] else None

    async def submit_all(self, identity: Identity, documents: Sequence[NewDocument]) -> str:
        """Take in documents, none of which is unpacked; return the id of their job. Raises as ``Jobs.open`` does."""
        wired = await asyncio.to_thread(lambda: [WiredDocument.of(each) for each in documents])
        return await self._submit(identity, wired)

    async def _submit(self, identity: Identity, wired: Sequence[WiredDocument], new: NewDocument | None = None) -> str:
        job_id = await self._jobs.submit(identity, await self._under_free_ids(identity, wired, new))
        self._worker.start()
        return job_id

    async def _unpack(self, identity: Identity, new: NewDocument, whose: int, disk: BinaryIO) -> tuple[str, bool]:
        """Take in what an archive holds once it is read whole: a hostile one is slow, and holds no connection so."""
        found: list[tuple[WiredDocument, int]] = []

        def write(data: bytes) -> None:
            try:
                disk.write(data)
                disk.flush()  # else a full disk is told of when nobody catches it
            except OSError as error:
                raise DiskLow(
                    "There is no room to unpack an archive.", suggestion="Free space in the data folder."
                ) from error

        async def on_document(wired: WiredDocument) -> None:
            found.append((replace(wired, data=b""), len(wired.data)))
            await asyncio.to_thread(write, wired.data)

        is_archive = await self._sandbox.unpack(new, self._max_bytes, on_document, whose=(whose, identity.user))
        batches = _read_batches(found, disk)
        async with self._jobs.open(identity) as job:
            while documents := await asyncio.to_thread(next, batches, None):
                await job.add(await self._under_free_ids(identity, documents, new))
        return job.job_id, is_archive

    async def _under_free_ids(
        self, identity: Identity, documents: Sequence[WiredDocument], new: NewDocument | None
    ) -> Sequence[WiredDocument]:
        """Give files another id than that of their bytes where somebody else has a document of their own under it.

        So whoever sends a file is not told that it is there already. A document that was given its id keeps it.
        """
        if new is not None and new.document_id is not None:
            return documents
        taken = await self._documents.taken_ids(identity, [each.document_id for each in documents])
        return [
            each.with_id(str(uuid5(UUID(each.document_id), identity.user))) if each.document_id in taken else each
            for each in documents
        ]


def _unnamed_file(folder: Path) -> BinaryIO:
    """Open a file without a name in a folder: the place for temporary files may be small, or memory."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        return tempfile.TemporaryFile(dir=folder)
    except OSError:  # nothing else is kept there where the database is elsewhere
        return tempfile.TemporaryFile()


def _read_batches(found: Sequence[tuple[WiredDocument, int]], disk: BinaryIO) -> Iterator[list[WiredDocument]]:
    """Yield documents with their bytes, of which ``found`` has the sizes, some at a time."""
    disk.seek(0)
    documents = (replace(each, data=disk.read(size)) for each, size in found)
    return in_batches(documents, lambda each: len(each.data), _BYTES_AT_ONCE, most_items=_FILES_AT_ONCE)
