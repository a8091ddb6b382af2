"""Read documents for a library: one, or many ahead of their storing, in the batches of one transaction each.

What is stored already under a document's id decides whether it is cut into segments at all.
"""

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, Iterable, Iterator, Sequence
from contextlib import aclosing
from dataclasses import asdict, dataclass, replace
from typing import NamedTuple

from graph.errors import CitewellError, UnreadableDocument
from tools.concurrency.tasks import cancel_and_wait
from tools.embeddings.embedder import Embedder
from tools.library.new_documents import UnreadDocument
from tools.library.reading import (
    Progress,
    ReadFile,
    Reading,
    WiredDocument,
    read_document,
    silent,
    wired_sources,
)
from tools.library.sandbox import Sandbox
from tools.originals.originals import Originals
from tools.parsers import Recognition
from tools.retrieval.scope import as_uuid
from tools.settings import STATIC, Settings
from tools.storage.database import Database

READ_AHEAD = 8  # files for each process that reads
LOADED_DOCUMENTS, LOADED_BYTES = 200, 1_000_000  # at once
BATCH_DOCUMENTS = 200  # of one transaction
BATCH_BYTES = 32_000_000  # of their rows and originals

Loaded = tuple[str, int, WiredDocument]  # as ``wired_sources`` yields them

_KNOWN = """
SELECT document_id::text, content_hash, CASE WHEN renamed THEN title END FROM documents
WHERE workspace = %s AND document_id = ANY(%s::uuid[])
"""


class _Known(NamedTuple):
    """What is stored under a document's id; the title only where a person gave it."""

    content_hash: str | None = None
    title: str | None = None


@dataclass(frozen=True, slots=True)
class ReadItem:
    """What was read of a source by its number, from 0: one of its documents, or the error."""

    name: str
    number: int
    read: ReadFile | CitewellError


class DocumentReader:
    """A reader of documents, in the processes of a sandbox, or else in threads of this one."""

    def __init__(
        self, database: Database, embedder: Embedder, settings: Settings, originals: Originals, sandbox: Sandbox | None
    ) -> None:
        self._database = database
        self._originals = originals
        self._sandbox = sandbox
        self._ahead = 1 if sandbox is None else READ_AHEAD * sandbox.size
        embeds = sandbox is not None and settings.embedding.model == STATIC
        recognition = (
            Recognition(settings.ocr_languages, settings.jobs.file_seconds) if settings.ocr_languages else None
        )
        self._how = Reading(
            workspace=0,
            sizes=settings.segment_sizes,
            dimension=embedder.dimension if embeds else None,
            known_hash=None,
            max_bytes=settings.max_document_bytes,
            recognition=None if recognition is None else asdict(recognition),
            vectors=database.has_vectors,
        )

    async def read(
        self, workspace: int, user: str, document: WiredDocument, *, whole: bool = False, on_progress: Progress = silent
    ) -> ReadFile:
        """Read a document; unless ``whole``, not its segments where they are those stored.

        Raises InvalidRequest, UnreadableDocument, DatabaseUnavailable.
        """
        known = (await self._known(workspace, [document.document_id])).get(document.document_id, _Known())
        if whole:
            known = known._replace(content_hash=None)
        how = replace(self._how, workspace=workspace, user=user)
        return await self._read(document, how, known, on_progress)

    async def read_batches(
        self, workspace: int, user: str, sources: Sequence[UnreadDocument], *, unpack: bool
    ) -> AsyncGenerator[list[ReadItem]]:
        """Yield what is read of sources, in order and in batches, none of which has a document twice."""
        batch: list[ReadItem] = []
        ids: set[str] = set()
        size = 0
        async with aclosing(self._read_ahead(workspace, user, sources, unpack=unpack)) as items:
            async for item in items:
                file = item.read if isinstance(item.read, ReadFile) else None
                is_twice = file is not None and file.ready.document_id in ids
                if is_twice or len(batch) >= BATCH_DOCUMENTS or size >= BATCH_BYTES:
                    yield batch
                    batch, ids, size = [], set(), 0
                batch.append(item)
                if file is not None:
                    ids.add(file.ready.document_id)
                    size += file.size
        if batch:
            yield batch

    async def read_again(self, workspace: int, user: str, source: UnreadDocument, document_id: str) -> ReadFile:
        """Read a document of a source whole. Raises UnreadableDocument where it is not there any more."""

        def load() -> WiredDocument | None:
            found = wired_sources([source], max_bytes=self._how.max_bytes)
            return next((wired for _, _, wired in found if wired.document_id == document_id), None)

        wired = await asyncio.to_thread(load)
        if wired is None:
            raise UnreadableDocument("The file has changed while it was read.", suggestion="Ingest it again.")
        return await self.read(workspace, user, wired, whole=True)

    async def _read_ahead(
        self, workspace: int, user: str, sources: Sequence[UnreadDocument], *, unpack: bool
    ) -> AsyncGenerator[ReadItem]:
        """Yield what is read of each document of the sources, in order, and go on reading meanwhile."""
        how = replace(self._how, workspace=workspace, user=user)
        ahead: deque[asyncio.Task[ReadItem]] = deque()
        documents = wired_sources(sources, max_bytes=how.max_bytes, unpack=unpack)
        try:
            while loaded := await asyncio.to_thread(_load_some, documents):
                stored = await self._known(workspace, [wired.document_id for _, _, wired in loaded])
                for each in loaded:
                    known = stored.get(each[2].document_id, _Known())
                    ahead.append(asyncio.create_task(self._read_loaded(each, how, known)))
                    if len(ahead) > self._ahead:
                        yield await ahead.popleft()
            while ahead:
                yield await ahead.popleft()
        finally:
            await cancel_and_wait(*ahead)

    async def _read_loaded(self, loaded: Loaded, how: Reading, known: _Known) -> ReadItem:
        name, number, wired = loaded
        try:
            return ReadItem(name, number, await self._read(wired, how, known))
        except CitewellError as error:
            return ReadItem(name, number, error)

    async def _read(
        self, document: WiredDocument, how: Reading, known: _Known, on_progress: Progress = silent
    ) -> ReadFile:
        how = replace(how, known_hash=known.content_hash)
        document = document.called(known.title)
        if self._sandbox is None:
            file = await asyncio.to_thread(read_document, document, how, on_progress)
        else:
            file = await self._sandbox.read(document, how, on_progress)
        if document.is_text or not self._originals.keeps:
            return file
        return await asyncio.to_thread(lambda: replace(file, ready=file.ready.with_original(document.data)))

    async def _known(self, workspace: int, document_ids: Iterable[str]) -> dict[str, _Known]:
        ids = [each for each in map(as_uuid, document_ids) if each is not None]
        return {row[0]: _Known(*row[1:]) for row in await self._database.fetch_all(_KNOWN, [workspace, ids])}


def _load_some(documents: Iterator[Loaded]) -> list[Loaded]:
    some: list[Loaded] = []
    size = 0
    while len(some) < LOADED_DOCUMENTS and size < LOADED_BYTES and (document := next(documents, None)):
        some.append(document)
        size += len(document[2].data)
    return some
