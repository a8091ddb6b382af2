"""What the tasks of a cluster do with the files of a job, each as a worker does it: claim, read, embed, store."""

import asyncio
import logging
from collections.abc import AsyncIterator, Coroutine, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from typing import Any, TypeVar

from psycopg.errors import UniqueViolation

from graph.errors import CitewellError, DatabaseUnavailable
from tools.embeddings.embedder import open_embedder
from tools.library.claimed_files import (
    ClaimedFile,
    LeaseLost,
    is_held,
    load_document,
    record_all_stored,
    record_failed,
    record_stored,
)
from tools.library.ingestion import Ingested, Ingestor
from tools.library.job_worker import LEASE_SECONDS
from tools.library.path_jobs import Claims
from tools.library.reading import ReadFile
from tools.library.sandbox import opened_sandbox
from tools.settings import Settings
from tools.storage.database import Connection, Database, retry_while_unavailable
from tools.storage.startup import open_database
from tools.storage.tenants import Workspaces

log = logging.getLogger("citewell.bulk")

CONNECTIONS = 4  # of a stage
LOOK_SECONDS = 1.0  # between two looks whether a file that is being read was cancelled

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Read:
    """A claimed file that was read, and the seconds that it took so far."""

    claimed: ClaimedFile
    file: ReadFile
    seconds: float


class FileTasks:
    """What one task does, over its own connections and with a sandbox of one process."""

    def __init__(self, database: Database, ingestor: Ingestor, claims: Claims) -> None:
        self._database = database
        self._ingestor = ingestor
        self._claims = claims

    @classmethod
    @asynccontextmanager
    async def opened(cls, settings: Settings, job_id: str, owner: str) -> AsyncIterator["FileTasks"]:
        """Open the database and a sandbox. Raises ConfigurationError, DatabaseUnavailable."""
        settings = settings.model_copy(update={"pool_size": CONNECTIONS})
        async with open_database(settings) as database, opened_sandbox(settings.jobs, 1) as sandbox:
            embedder = await open_embedder(settings)
            ingestor = Ingestor(database, Workspaces(database), embedder, settings, sandbox, all_readers=True)
            try:
                yield cls(database, ingestor, Claims(job_id, owner, LEASE_SECONDS))
            finally:
                await embedder.close()

    async def claim(self, numbers: Sequence[int]) -> list[ClaimedFile]:
        """Claim files by their numbers, as far as they may be."""
        try:
            return await retry_while_unavailable(lambda: self._take(numbers))
        except UniqueViolation:  # another process took a file of the same document
            taken: list[ClaimedFile] = []
            for number in numbers:
                with suppress(UniqueViolation):
                    taken += await self._take([number])
            return taken

    async def read(self, claimed: ClaimedFile) -> Read | None:
        """Read a file; None where it was refused, or belongs to others now, and so does its row."""
        began = _now()
        try:
            file = await self._while_held(claimed, self._read(claimed))
        except LeaseLost:
            return None
        except Exception as error:  # noqa: BLE001 - the file's row says what became of it
            await self._fail(claimed, error, _now() - began)
            return None
        return Read(claimed, file, _now() - began)

    async def embed(self, files: Sequence[Read]) -> list[Read]:
        """Embed what was read; files whose endpoint does not answer wait in the job."""
        if not files:
            return []
        began = _now()
        try:
            found = await self._ingestor.embed(files[0].claimed.identity, [each.file for each in files])
        except Exception as error:  # noqa: BLE001 - as above
            for each in files:
                await self._fail(each.claimed, error, each.seconds)
            return []
        took = (_now() - began) / len(files)
        return [Read(each.claimed, file, each.seconds + took) for each, file in zip(files, found, strict=True)]

    async def store(self, files: Sequence[Read]) -> None:
        """Store files of one job in one transaction, or each in its own where that fails for one of them."""
        if len(files) > 1:
            try:
                return await self._store(files)
            except LeaseLost:
                log.info("a file was cancelled while it was read; its neighbours are stored one by one")
            except Exception as error:  # noqa: BLE001 - whose fault it is shows when each is stored alone
                log.info("files are stored one by one, for together they failed: %s", error)
        for each in files:
            try:
                await self._store([each])
            except LeaseLost:
                log.info("the file %s was cancelled, or another process has it", each.claimed.name)
            except Exception as error:  # noqa: BLE001 - the file's row says what became of it
                await self._fail(each.claimed, error, each.seconds)

    async def _take(self, numbers: Sequence[int]) -> list[ClaimedFile]:
        async with self._database.connection() as connection:
            return await self._claims.take(connection, numbers)

    async def _read(self, claimed: ClaimedFile, *, whole: bool = False) -> ReadFile:
        document = await load_document(self._database, claimed, max_bytes=self._ingestor.max_bytes)
        return await self._ingestor.read(claimed.identity, document, whole=whole)

    async def _store(self, files: Sequence[Read]) -> None:
        began = _now()
        by_document = {each.claimed.document_id: each for each in files}

        async def again(document_id: str) -> ReadFile:
            return await self._read(by_document[document_id].claimed, whole=True)

        async def finish(connection: Connection, ingested: Sequence[Ingested]) -> None:
            ended = [by_document[each.document_id] for each in ingested]
            took = [each.seconds + (_now() - began) / len(files) for each in ended]
            claimed = [each.claimed for each in ended]
            if len(claimed) == 1:
                await record_stored(connection, claimed[0], ingested[0], took[0])
            elif claimed:
                await record_all_stored(connection, claimed, ingested, took)

        identity = files[0].claimed.identity
        outcomes = await self._ingestor.store(identity, [each.file for each in files], again, finish=finish)
        for each, outcome in zip(files, outcomes, strict=True):
            if isinstance(outcome, CitewellError):
                await self._fail(each.claimed, outcome, each.seconds)

    async def _fail(self, claimed: ClaimedFile, error: Exception, seconds: float) -> None:
        with suppress(DatabaseUnavailable):  # then its lease runs out
            await record_failed(self._database, claimed, error, seconds)

    async def _while_held(self, claimed: ClaimedFile, work: Coroutine[Any, Any, T]) -> T:
        """Do work on a file, which is ended where the file is cancelled. Raises LeaseLost then."""
        task = asyncio.create_task(work)
        try:
            while not (await asyncio.wait([task], timeout=LOOK_SECONDS))[0]:
                with suppress(DatabaseUnavailable):
                    if not await is_held(self._database, claimed):
                        raise LeaseLost
            return task.result()
        finally:
            task.cancel()


def _now() -> float:
    return asyncio.get_running_loop().time()
