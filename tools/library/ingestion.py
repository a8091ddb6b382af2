"""Ingest documents: read, compare, segment, embed, and write the changes in one transaction.

Parsing and embedding happen before the transaction, with a sandbox in processes of their own. Writers of one workspace
take its lock, so that concurrent ingestions wait for each other and never deadlock. The comparison before the lock is
repeated under it.
"""

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import aclosing, contextmanager
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from itertools import accumulate
from pathlib import Path
from types import MappingProxyType
from typing import Literal, NoReturn
from uuid import UUID

import numpy as np
from psycopg import errors

from graph.errors import CitewellError, InvalidRequest, NotFound, UnreadableDocument
from graph.evidence import Identity, Space
from tools.concurrency.tasks import cancel_and_wait
from tools.embeddings.embedder import Embedder, check_recorded, count_tokens
from tools.library.catalogue import StoredDocument, read_stored_documents, write_document_rows
from tools.library.likeness import SimilarDocument, find_similar
from tools.library.new_documents import (
    BATCH_BYTES,
    BATCH_DOCUMENTS,
    DocumentBatches,
    DocumentSource,
    FoundFile,
    NewDocument,
    ReadSource,
    ReadyDocument,
    documents_in,
    documents_of,
    find_files,
    make_ready,
    stored_readers,
)
from tools.library.ownership import refusal_to_store
from tools.library.sandbox import ReadFile, Sandbox
from tools.library.sandbox_process import Reading, WiredDocument
from tools.library.versions import Versions, keep_replaced, note_authors
from tools.originals.originals import Originals
from tools.parsers import Recognition
from tools.retrieval.indexing import BuildLimits, drop_segments, index_documents, maintain
from tools.retrieval.placing import move_if_outgrown
from tools.retrieval.scope import as_uuid
from tools.retrieval.segment_rows import IndexedDocument, PackedDocument, vector_rows
from tools.retrieval.segmenting import SegmentSize, segment
from tools.settings import STATIC, Settings
from tools.storage.database import Connection, Database
from tools.storage.partitions import lock_library
from tools.storage.tenants import Workspaces
from tools.telemetry.metrics import SEGMENTS

Status = Literal["created", "updated", "unchanged"]
Draft = IndexedDocument | PackedDocument
Change = Literal["created", "replaced", "updated", "unchanged", "refused"]


@dataclass(frozen=True, slots=True)
class Ingested:
    """A document that is now in the library. ``segments`` is the number of its segments.

    ``left_out`` says in plain sentences what of the file is not in its text, such as hidden words or pages without any,
    and ``warnings`` what in it may be wrong, such as letters whose encoding was guessed.
    ``similar_to`` are other documents that share most of a new or changed text, as far as the caller may read them.
    """

    document_id: str
    name: str
    title: str
    status: Status
    segments: int
    left_out: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    similar_to: list[SimilarDocument] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class ComparedDocument:
    """A document with the change that storing it makes, and the number of its stored segments.

    ``refusal`` is why it may not be stored.
    """

    document: ReadyDocument
    change: Change
    segments: int
    refusal: InvalidRequest | None = None

    @property
    def writes(self) -> bool:
        """Whether anything has to be written."""
        return self.change in ("created", "replaced", "updated")

    def is_new_text(self, drafts: Mapping[str, Draft]) -> bool:
        """Whether its segments have to be made and are not among the drafts yet."""
        return self.change in ("created", "replaced") and self.document.document_id not in drafts

    def outcome(self, drafts: Mapping[str, Draft]) -> Ingested | InvalidRequest:
        """Return the result for the document, valid once its changes are written."""
        document = self.document
        if self.change == "refused":
            assert self.refusal is not None
            return self.refusal
        status: Status = "updated" if self.change == "replaced" else self.change
        cut = self.change in ("created", "replaced")
        segments = drafts[document.document_id].segments if cut else self.segments
        fields = document.fields
        return Ingested(
            document.document_id,
            document.name,
            fields.title,
            status,
            segments,
            fields.left_out,
            list(document.warnings),
        )


async def compare_documents(
    connection: Connection,
    workspace: int,
    identity: Identity,
    documents: Sequence[ReadyDocument],
    *,
    all_readers: bool = False,
) -> list[ComparedDocument]:
    """Compare documents with their stored versions; those that the identity may not store are ``refused``.

    ``all_readers``: documents without an owner may be changed whoever their readers are.
    """
    stored = await read_stored_documents(connection, workspace, [document.document_id for document in documents])
    return [
        _compared(document, stored.get(document.document_id), identity, all_readers=all_readers)
        for document in documents
    ]


def _compared(
    document: ReadyDocument, stored: StoredDocument | None, identity: Identity, *, all_readers: bool
) -> ComparedDocument:
    said = document.fields.readers
    if said is None and stored is not None:
        said = stored.fields.readers  # so that nobody opens a document by not mentioning them
    readers = stored_readers(said, document.fields.owner)
    document = replace(document, fields=replace(document.fields, readers=readers))
    if (refusal := refusal_to_store(document, stored, identity, all_readers=all_readers)) is not None:
        return ComparedDocument(document, "refused", 0, refusal)
    if stored is None:
        return ComparedDocument(document, "created", 0)
    change: Change = "updated"
    if stored.is_same(document):
        change = "unchanged"
    elif not stored.holds(document):
        change = "replaced"
    return ComparedDocument(document, change, stored.segments)


async def write_changes(
    connection: Connection,
    workspace: int,
    changes: Sequence[ComparedDocument],
    drafts: Mapping[str, Draft],
    *,
    user: str,
    keep: int,
) -> None:
    """Write the changes of a user within the caller's transaction; ``drafts`` are the segments of new texts.

    The texts that they replace are kept as versions, at most ``keep`` of a document.
    """
    replaced = [each.document.document_id for each in changes if each.change == "replaced"]
    if replaced:
        await keep_replaced(connection, workspace, replaced, user=user, keep=keep)
        await drop_segments(connection, workspace, replaced)
    await write_document_rows(connection, workspace, [each.document for each in changes if each.writes])
    texts = [each.document.document_id for each in changes if each.change in ("created", "replaced")]
    await note_authors(connection, workspace, texts, user=user)
    cut = [drafts[each.document.document_id] for each in changes if each.change in ("created", "replaced")]
    await index_documents(connection, workspace, cut)


__all__ = ["Ingested", "IngestedArchive", "Ingestor", "NewDocument", "Refused", "Report"]


@dataclass(frozen=True, slots=True)
class Refused:
    """A document that was not ingested, and the reason."""

    name: str
    code: str
    reason: str
    suggestion: str
    status: Literal["refused"] = "refused"


Report = Ingested | Refused


@dataclass(frozen=True, slots=True)
class IngestedArchive:
    """An archive whose files are now documents, but for those that were refused."""

    name: str
    documents: list[Ingested]
    refused: list[Refused]
    status: Literal["unpacked"] = "unpacked"


Progress = Callable[[int, int], None]
Finish = Callable[[Connection, Sequence[Ingested]], Awaitable[None]]
EMBEDDED_AT_ONCE = 256  # segments, between two reports of progress
READ_AHEAD = 8  # files for each process of a sandbox


def _silent(done: int, of: int) -> None:
    """Report no progress."""


@dataclass(frozen=True, slots=True)
class _Source:
    """A document that is still to be read; ``load`` blocks, and raises CitewellError where it can't be."""

    name: str
    load: Callable[[], NewDocument]
    document_id: str | None


class Ingestor:
    """An ingestor of documents, one by one or in batches. With a sandbox, its processes read them.

    With ``all_readers`` it also replaces documents that only others may read, unless they have another owner: for
    those who operate the deployment, and for sources, which say who reads their documents.
    """

    def __init__(
        self,
        database: Database,
        workspaces: Workspaces,
        embedder: Embedder,
        settings: Settings,
        sandbox: Sandbox | None = None,
        *,
        all_readers: bool = False,
    ) -> None:
        self._all_readers = all_readers
        self._database = database
        self._workspaces = workspaces
        self._embedder = embedder
        self._settings = settings
        self._max_bytes = settings.max_document_bytes
        self._size = SegmentSize.parse(settings.segment_size)
        self._originals = Originals.of(settings, database, workspaces)
        self._recognition = (
            Recognition(settings.ocr_languages, settings.jobs.file_seconds) if settings.ocr == "auto" else None
        )
        self._sandbox = sandbox
        self._versions = Versions(database, workspaces)

    @property
    def max_bytes(self) -> int:
        """The most bytes that a file may have."""
        return self._max_bytes

    async def restore(self, identity: Identity, document_id: str, version: int) -> Ingested:
        """Make a text that was replaced the document's text again, as a new version; its owner and space stay.

        Raises NotFound for an unknown document or version, or a document of another user, and as ``ingest`` does.
        """
        workspace = await self._workspaces.number(identity.workspace)
        kept = await self._versions.load(identity, document_id, version)
        async with self._database.connection() as connection:
            await self._check_embedder(connection)
            stored = (await read_stored_documents(connection, workspace, [document_id]))[document_id]
        texts = [kept.text[span.start : span.end] for span in kept.spans]
        vectors = np.asarray(await self._embedder.embed(texts)) if self._database.has_vectors else None
        fields = replace(stored.fields, **kept.fields)
        ready = ReadyDocument(document_id, fields.title, fields, kept.content_hash)
        draft = IndexedDocument(document_id, fields.title, kept.spans, kept.text, vectors)
        [outcome] = await self._store(workspace, identity, [ready], drafts={document_id: draft})
        report = _raised(outcome)
        await self.maintain(identity.workspace)
        return report

    async def ingest(self, identity: Identity, document: NewDocument) -> Ingested:
        """Store a document or its new version; nothing is written if it is unchanged.

        Raises InvalidRequest, UnreadableDocument, NotFound (unknown workspace, or another user's document id),
        NotPermitted (an owner or a space that the identity may not choose),
        EmbeddingUnavailable, EmbeddingMismatch, DatabaseUnavailable. After any of them the library is unchanged.
        """
        workspace = await self._workspaces.number(identity.workspace)
        if self._sandbox is not None:
            report = await self.ingest_wired(identity, await asyncio.to_thread(WiredDocument.of, document))
        else:
            ready = await asyncio.to_thread(self._ready, document)
            [outcome] = _counted(await self._store(workspace, identity, [ready]))
            report = _raised(outcome)
        if report.status != "unchanged":
            await self.maintain(identity.workspace)
        return report

    async def ingest_wired(
        self,
        identity: Identity,
        document: WiredDocument,
        *,
        finish: Finish | None = None,
        on_progress: Progress = _silent,
    ) -> Ingested:
        """Store a document through the sandbox as ``ingest`` does; ``finish`` writes more in the same transaction.

        ``on_progress`` is called with the number of embedded segments and of all. Call ``maintain`` afterwards, at the
        latest when there is no more to store. Raises as ``ingest`` does, and what ``finish`` does; then nothing is
        stored.
        """
        file = await self.read_wired(identity, document, on_progress=on_progress)

        async def again(_: ReadyDocument) -> ReadFile:
            return await self.read_wired(identity, document, whole=True, on_progress=on_progress)

        [outcome] = await self.store_read(identity, [file], again, finish=finish, on_progress=on_progress)
        return _raised(outcome)

    async def read_wired(
        self, identity: Identity, document: WiredDocument, *, whole: bool = False, on_progress: Progress = _silent
    ) -> ReadFile:
        """Read a document through the sandbox; unless ``whole``, not its segments where they are those stored.

        Raises InvalidRequest, UnreadableDocument, NotFound (unknown workspace), DatabaseUnavailable.
        """
        workspace = await self._workspaces.number(identity.workspace)
        known = {} if whole else await self._known_hashes(workspace, [document.document_id])
        return await self._read(workspace, document, known.get(document.document_id), on_progress)

    async def embed_read(self, identity: Identity, files: Sequence[ReadFile]) -> list[ReadFile]:
        """Embed the segments of files that were read, where the sandbox has not. Raises as ``ingest`` does."""
        workspace = await self._workspaces.number(identity.workspace)
        drafts = await self._packed(workspace, [file for file in files if file.texts], _silent)
        return [
            replace(file, packed=packed, texts=())
            if isinstance(packed := drafts.get(file.ready.document_id), PackedDocument)
            else file
            for file in files
        ]

    async def store_read(
        self,
        identity: Identity,
        files: Sequence[ReadFile],
        again: Callable[[ReadyDocument], Awaitable[ReadFile]],
        *,
        finish: Finish | None = None,
        on_progress: Progress = _silent,
    ) -> list[Ingested | InvalidRequest]:
        """Store files of distinct documents that were read, in one transaction; ``finish`` writes more in it.

        ``again`` reads a file whole whose stored segments were replaced meanwhile. The result is an error for those
        that the identity may not store. Raises as ``ingest`` does, and what ``finish`` does; then nothing is stored.
        """
        workspace = await self._workspaces.number(identity.workspace)
        read = {file.ready.document_id: file for file in files}
        documents = [file.ready for file in files]
        return _counted(
            await self._store(workspace, identity, documents, read, again, finish=finish, on_progress=on_progress)
        )

    async def maintain(self, workspace: str) -> None:
        """Bring a workspace's indexes and statistics to the size it has grown to, and a large one to its own tables."""
        number = await self._workspaces.number(workspace)
        async with self._database.connection() as connection:
            await move_if_outgrown(connection, number)
            limits = BuildLimits(self._settings.index_build_megabytes)
            await maintain(connection, number, limits=limits)

    async def _leave_shared_tables(self, identity: Identity) -> None:
        """Move a library that outgrows the shared tables between two batches, and not after the last of many."""
        workspace = await self._workspaces.number(identity.workspace)
        async with self._database.connection() as connection:
            if await move_if_outgrown(connection, workspace):
                self._workspaces.forget(identity.workspace)

    async def ingest_many(
        self,
        identity: Identity,
        documents: Iterable[NewDocument],
        *,
        progress: Progress | None = None,
        finish: Finish | None = None,
    ) -> AsyncGenerator[Report]:
        """Store documents in order, in batches of one transaction each; unreadable ones are refused, not raised.

        ``progress`` is called with the number of finished documents and their total. ``finish`` writes more in the
        transaction of each batch. Raises as ``ingest`` does for errors that do not concern a single document, and what
        ``finish`` does; earlier batches stay stored.
        """
        sources = [_Source(each.name, partial(_given, each), each.document_id) for each in documents]
        async with aclosing(self._run(identity, sources, progress, finish)) as reports:
            async for report in reports:
                yield report

    async def ingest_archive(self, identity: Identity, document: NewDocument) -> IngestedArchive:
        """Store each file of an archive as a document; those that cannot be read are refused.

        Raises InvalidRequest and UnreadableDocument if none can be, else as ``ingest_many``.
        """
        await asyncio.to_thread(next, documents_in(document, max_bytes=self._max_bytes))
        reports = [report async for report in self.ingest_many(identity, [document])]
        ingested = [report for report in reports if isinstance(report, Ingested)]
        refused = [report for report in reports if isinstance(report, Refused)]
        return IngestedArchive(document.name, ingested, refused)

    async def ingest_paths(
        self,
        identity: Identity,
        paths: Sequence[Path],
        *,
        owner: str | None = None,
        readers: Sequence[str] | None = None,
        space: Space | None = None,
        progress: Progress | None = None,
        reading: Callable[[str], None] = lambda name: None,
    ) -> AsyncGenerator[Report]:
        """Store the files below paths, in order, as ``ingest_many`` does.

        A file's id is derived from the workspace and its path below the root, so that ingesting it again updates it;
        that of a file in an archive also from its path in there. A file that was deleted stays in the library. If two
        files would share an id, the second is refused. ``reading`` is called with the name of each file that is about
        to be read, in a thread.
        """
        files = await asyncio.to_thread(find_files, paths)
        seen: dict[str, FoundFile] = {}
        sources: list[_Source] = []
        for file in files:
            first = seen.setdefault(file.key, file)
            fields = NewDocument(owner=owner, readers=readers, space=space, source_type="file")
            load = partial(self._load_file, identity.workspace, fields, reading, file)
            document_id = file.document_id(identity.workspace)
            sources.append(_Source(file.name, load if first is file else partial(refuse_duplicate, first), document_id))
        async with aclosing(self._run(identity, sources, progress)) as reports:
            async for report in reports:
                yield report

    def _ready(self, document: NewDocument) -> ReadyDocument:
        ready = make_ready(document, self._size, max_bytes=self._max_bytes, recognition=self._recognition)
        return ready.with_original(document.data) if self._originals.keeps else ready

    def _load_file(
        self, workspace: str, fields: NewDocument, reading: Callable[[str], None], file: FoundFile
    ) -> NewDocument:
        reading(file.name)
        return replace(fields, data=file.read(self._max_bytes), name=file.key, document_id=file.document_id(workspace))

    async def _run(
        self, identity: Identity, sources: Sequence[_Source], progress: Progress | None, finish: Finish | None = None
    ) -> AsyncGenerator[Report]:
        workspace = await self._workspaces.number(identity.workspace)
        reports: list[Report] = []
        files: dict[str, ReadFile] = {}

        async def again(document: ReadyDocument) -> ReadFile:
            source = sources[files[document.document_id].number - 1]
            wired = await asyncio.to_thread(self._wired_again, source, document.document_id)
            return await self._read(workspace, wired, None)

        async with aclosing(self._batches(workspace, sources, files)) as batches:
            async for batch in batches:
                documents = [each.ready for each in batch if each.ready]
                reread = None if self._sandbox is None else again
                outcomes = await self._store(workspace, identity, documents, files, reread, finish=finish)
                stored = iter(_counted(outcomes))
                files.clear()
                for item in batch:
                    report = _report(item.name, item.error or next(stored))
                    reports.append(report)
                    if progress is not None:
                        progress(item.number, len(sources))
                    yield report
                if not (await self._workspaces.place(identity.workspace)).own:
                    await self._leave_shared_tables(identity)
        if any(report.status in ("created", "updated") for report in reports):
            await self.maintain(identity.workspace)

    def _batches(
        self, workspace: int, sources: Sequence[_Source], files: dict[str, ReadFile]
    ) -> AsyncGenerator[list[ReadSource]]:
        """Yield what is read of the sources in batches; ``files`` gets what the sandbox has made of each batch."""
        if self._sandbox is not None:
            return self._sandboxed_batches(workspace, sources, files)
        named: list[tuple[str, DocumentSource]] = [(each.name, each.load) for each in sources]
        return _prefetched(DocumentBatches(named, self._ready, max_bytes=self._max_bytes))

    async def _sandboxed_batches(
        self, workspace: int, sources: Sequence[_Source], files: dict[str, ReadFile]
    ) -> AsyncGenerator[list[ReadSource]]:
        batch: list[ReadSource] = []
        size = 0
        async with aclosing(self._read_in_order(workspace, sources)) as reads:
            async for item, file in reads:
                if item.ready is not None and item.ready.document_id in files:
                    yield batch
                    batch, size = [], 0
                batch.append(item)
                if file is not None:
                    files[file.ready.document_id] = file
                    size += len(file.packed.rows) if file.packed is not None else 0
                    size += len(file.ready.original.data) if file.ready.original is not None else 0
                if len(batch) >= BATCH_DOCUMENTS or size >= BATCH_BYTES:
                    yield batch
                    batch, size = [], 0
        if batch:
            yield batch

    async def _read_in_order(
        self, workspace: int, sources: Sequence[_Source]
    ) -> AsyncGenerator[tuple[ReadSource, ReadFile | None]]:
        """Yield what is read of each document of the sources, in order, and go on reading meanwhile."""
        known = await self._known_hashes(workspace, [each.document_id for each in sources if each.document_id])

        async def read(name: str, number: int, new: NewDocument | CitewellError) -> tuple[ReadSource, ReadFile | None]:
            try:
                if isinstance(new, CitewellError):
                    raise new
                wired = await asyncio.to_thread(WiredDocument.of, new)
                file = await self._read(workspace, wired, known.get(wired.document_id))
            except CitewellError as error:
                return ReadSource(name, number, error=error), None
            return ReadSource(name, number, file.ready), replace(file, number=number)

        assert self._sandbox is not None
        ahead: deque[asyncio.Task[tuple[ReadSource, ReadFile | None]]] = deque()
        named: list[tuple[str, DocumentSource]] = [(each.name, each.load) for each in sources]
        loaded = documents_of(named, max_bytes=self._max_bytes)
        try:
            while item := await asyncio.to_thread(next, loaded, None):
                ahead.append(asyncio.create_task(read(*item)))
                if len(ahead) > READ_AHEAD * self._sandbox.size:
                    yield await ahead.popleft()
            while ahead:
                yield await ahead.popleft()
        finally:
            await cancel_and_wait(*ahead)

    def _wired_again(self, source: _Source, document_id: str) -> WiredDocument:
        for _, new in documents_in(source.load(), max_bytes=self._max_bytes):
            if isinstance(new, NewDocument) and (wired := WiredDocument.of(new)).document_id == document_id:
                return wired
        raise UnreadableDocument("The file has changed while it was read.", suggestion="Ingest it again.")

    async def _read(
        self, workspace: int, document: WiredDocument, known: str | None, on_progress: Progress = _silent
    ) -> ReadFile:
        assert self._sandbox is not None
        how = Reading(
            workspace=workspace,
            size=str(self._size),
            dimension=self._embedder.dimension if self._settings.embedding.model == STATIC else None,
            known_hash=known,
            max_bytes=self._max_bytes,
            recognition=None if self._recognition is None else asdict(self._recognition),
            vectors=self._database.has_vectors,
        )
        file = await self._sandbox.read(document, how, on_progress=on_progress)
        data = None if document.is_text else document.data
        return replace(file, ready=file.ready.with_original(data)) if self._originals.keeps else file

    async def _known_hashes(self, workspace: int, document_ids: Sequence[str]) -> dict[str, str]:
        ids = [each for each in map(as_uuid, document_ids) if each is not None]
        async with self._database.connection() as connection:
            found = await connection.execute(_HASHES, [workspace, ids])
            return dict(await found.fetchall())

    async def _store(
        self,
        workspace: int,
        identity: Identity,
        documents: Sequence[ReadyDocument],
        files: Mapping[str, ReadFile] | None = None,
        again: Callable[[ReadyDocument], Awaitable[ReadFile]] | None = None,
        *,
        finish: Finish | None = None,
        on_progress: Progress = _silent,
        drafts: Mapping[str, Draft] = MappingProxyType({}),
    ) -> list[Ingested | InvalidRequest]:
        """Write the changes of documents with distinct ids; the result is an error for those that it may not store.

        ``files`` are what the sandbox has read; ``again`` reads one whose stored segments were replaced meanwhile.
        ``drafts`` are the segments of documents that are not read at all.
        """
        await self._database.require_room()
        drafts = dict(drafts)
        while documents:
            async with self._database.connection() as connection:
                before = await self._compare(connection, workspace, identity, documents)
            new = [each.document for each in before if each.is_new_text(drafts)]
            if again is None:
                drafts |= await self._drafts(new)
            else:
                read = [(files or {})[each.document_id] for each in new]
                drafts |= await self._packed(
                    workspace, [f if f.packed else await again(f.ready) for f in read], on_progress
                )
            with _workspace_deleted(identity):
                await self._originals.stage(workspace, [each.document.original for each in before if each.writes])
                async with self._database.connection() as connection, connection.transaction():
                    now = before
                    if any(each.writes for each in before):
                        await lock_library(connection, workspace)
                        now = await self._compare(connection, workspace, identity, documents)
                    written = [each.document for each in now if each.writes]
                    cut = not any(each.is_new_text(drafts) for each in now)
                    if cut and await self._originals.write(connection, workspace, [each.original for each in written]):
                        if written:
                            await self._check_embedder(connection)
                            await write_changes(
                                connection,
                                workspace,
                                now,
                                drafts,
                                user=identity.user,
                                keep=self._settings.versions.keep,
                            )
                        found = [each.outcome(drafts) for each in now]
                        outcomes = await _with_similar(connection, workspace, identity, found)
                        if finish is not None:
                            await finish(connection, [each for each in outcomes if isinstance(each, Ingested)])
                        return outcomes
        return []

    async def _compare(
        self, connection: Connection, workspace: int, identity: Identity, documents: Sequence[ReadyDocument]
    ) -> list[ComparedDocument]:
        return await compare_documents(connection, workspace, identity, documents, all_readers=self._all_readers)

    async def _packed(self, workspace: int, files: Sequence[ReadFile], on_progress: Progress) -> dict[str, Draft]:
        """Return the drafts of files that the sandbox has read, embedded where it has not done that."""
        if not files:
            return {}
        async with self._database.connection() as connection:
            await self._check_embedder(connection)
        texts = [text for file in files for text in file.texts]
        vectors = []
        for start in range(0, len(texts), EMBEDDED_AT_ONCE):
            on_progress(start, len(texts))
            vectors += list(await self._embedder.embed(texts[start : start + EMBEDDED_AT_ONCE]))
        drafts: dict[str, Draft] = {}
        first = 0
        for file in files:
            assert file.packed is not None
            packed = file.packed
            if file.texts:
                own = np.asarray(vectors[first : first + len(file.texts)])
                first += len(file.texts)
                packed = replace(packed, vectors=vector_rows(workspace, UUID(packed.document_id), 0, own))
            drafts[packed.document_id] = packed
        return drafts

    async def _drafts(self, documents: Sequence[ReadyDocument]) -> dict[str, Draft]:
        """Segment and embed documents; return the result by document id."""
        parsed = [(each, each.parsed) for each in documents if each.parsed is not None]
        if not parsed:
            return {}
        async with self._database.connection() as connection:
            await self._check_embedder(connection)
        spans = await asyncio.to_thread(lambda: [segment(text, self._size, count_tokens) for _, text in parsed])
        texts = [text.text[span.start : span.end] for (_, text), cut in zip(parsed, spans, strict=True) for span in cut]
        vectors = await self._embedder.embed(texts) if self._database.has_vectors else None
        ends = list(accumulate(map(len, spans)))
        return {
            each.document_id: IndexedDocument(
                each.document_id,
                each.fields.title,
                cut,
                text.text,
                None if vectors is None else vectors[end - len(cut) : end],
            )
            for (each, text), cut, end in zip(parsed, spans, ends, strict=True)
        }

    async def _check_embedder(self, connection: Connection) -> None:
        if self._database.has_vectors:
            await check_recorded(connection, self._embedder)


_HASHES = "SELECT document_id::text, content_hash FROM documents WHERE workspace = %s AND document_id = ANY(%s::uuid[])"


def _given(document: NewDocument) -> NewDocument:
    return document


def _counted(outcomes: list[Ingested | InvalidRequest]) -> list[Ingested | InvalidRequest]:
    """Count the segments of documents that were stored, and return the outcomes."""
    stored = (each for each in outcomes if isinstance(each, Ingested) and each.status != "unchanged")
    SEGMENTS.inc(sum(each.segments for each in stored))
    return outcomes


def _raised(outcome: Ingested | InvalidRequest) -> Ingested:
    if isinstance(outcome, InvalidRequest):
        raise outcome
    return outcome


async def _with_similar(
    connection: Connection, workspace: int, identity: Identity, outcomes: Sequence[Ingested | InvalidRequest]
) -> list[Ingested | InvalidRequest]:
    """Tell of each document whose text is new which others are similar to it."""
    new = [each.document_id for each in outcomes if isinstance(each, Ingested) and each.status != "unchanged"]
    similar = await find_similar(connection, workspace, identity, new) if new else {}
    return [
        replace(each, similar_to=similar[each.document_id])
        if isinstance(each, Ingested) and each.document_id in similar
        else each
        for each in outcomes
    ]


@contextmanager
def _workspace_deleted(identity: Identity) -> Iterator[None]:
    try:
        yield
    except (errors.ForeignKeyViolation, errors.UndefinedTable) as error:
        raise NotFound(f"The workspace {identity.workspace!r} was deleted meanwhile.") from error


def refuse_duplicate(first: FoundFile) -> NoReturn:
    """Refuse a file whose path below its root is that of another one. Raises InvalidRequest."""
    raise InvalidRequest(
        f"The file would have the same id as {first.name}: both have the path {first.key}.",
        suggestion="Rename one of the folders, or ingest one of the files through the API with its own id.",
    )


async def _prefetched(batches: DocumentBatches) -> AsyncGenerator[list[ReadSource]]:
    """Yield batches, reading each in a thread while the caller stores the one before."""
    upcoming = asyncio.create_task(asyncio.to_thread(batches.next))
    try:
        while batch := await upcoming:
            upcoming = asyncio.create_task(asyncio.to_thread(batches.next))
            yield batch
    finally:
        upcoming.cancel()


def _report(name: str, outcome: Ingested | CitewellError) -> Report:
    if isinstance(outcome, Ingested):
        return replace(outcome, name=name)
    return Refused(name, outcome.code, outcome.message, outcome.advice)
