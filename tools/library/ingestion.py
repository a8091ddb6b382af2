"""Ingest documents: read, compare, segment, embed, and write the changes in one transaction.

Parsing and embedding happen before the transaction. Writers of one workspace take its lock, so that concurrent
ingestions wait for each other and never deadlock. The comparison before the lock is repeated under it.
"""

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import aclosing, contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import accumulate
from pathlib import Path
from typing import Literal

from psycopg import errors

from graph.errors import CitewellError, InvalidRequest, NotFound
from graph.evidence import Identity, Space
from tools.embeddings.embedder import Embedder, check_recorded, count_tokens
from tools.library.catalogue import StoredDocument, read_stored_documents, write_document_rows
from tools.library.likeness import SimilarDocument, find_similar
from tools.library.new_documents import (
    DocumentBatches,
    DocumentReader,
    FoundFile,
    NewDocument,
    ReadSource,
    ReadyDocument,
    find_files,
    make_ready,
)
from tools.library.segmenting import SegmentSize, segment
from tools.originals.originals import Originals
from tools.retrieval.indexing import IndexedDocument, drop_segments, index_documents, lock_library, maintain
from tools.settings import Settings
from tools.storage.database import Connection, Database
from tools.storage.tenants import Workspaces

Status = Literal["created", "updated", "unchanged"]
Change = Literal["created", "replaced", "updated", "unchanged", "foreign"]


@dataclass(frozen=True, slots=True)
class Ingested:
    """A document that is now in the library. ``segments`` is the number of its segments.

    ``left_out`` says in plain sentences what of the file is not in its text, such as hidden words or pages without any.
    ``similar_to`` are other documents that share most of a new or changed text, as far as the caller may read them.
    """

    document_id: str
    name: str
    title: str
    status: Status
    segments: int
    left_out: list[str] = field(default_factory=list)
    similar_to: list[SimilarDocument] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class ComparedDocument:
    """A document with the change that storing it makes, and the number of its stored segments."""

    document: ReadyDocument
    change: Change
    segments: int

    @property
    def writes(self) -> bool:
        """Whether anything has to be written."""
        return self.change in ("created", "replaced", "updated")

    def is_new_text(self, drafts: Mapping[str, IndexedDocument]) -> bool:
        """Whether its segments have to be made and are not among the drafts yet."""
        return self.change in ("created", "replaced") and self.document.document_id not in drafts

    def outcome(self, drafts: Mapping[str, IndexedDocument]) -> Ingested | NotFound:
        """Return the result for the document, valid once its changes are written."""
        document = self.document
        if self.change == "foreign":
            return NotFound(f"There is no document {document.document_id} that you can change.")
        status: Status = "updated" if self.change == "replaced" else self.change
        cut = self.change in ("created", "replaced")
        segments = len(drafts[document.document_id].spans) if cut else self.segments
        fields = document.fields
        return Ingested(document.document_id, document.name, fields.title, status, segments, fields.left_out)


async def compare_documents(
    connection: Connection, workspace: int, identity: Identity, documents: Sequence[ReadyDocument]
) -> list[ComparedDocument]:
    """Compare documents with their stored versions; those owned by another user are ``foreign``."""
    stored = await read_stored_documents(connection, workspace, [document.document_id for document in documents])
    return [_compared(document, stored.get(document.document_id), identity.user) for document in documents]


def _compared(document: ReadyDocument, stored: StoredDocument | None, user: str) -> ComparedDocument:
    if stored is None:
        return ComparedDocument(document, "created", 0)
    change: Change = "updated"
    if stored.fields.owner not in (None, user):
        change = "foreign"
    elif stored.is_same(document):
        change = "unchanged"
    elif not stored.holds(document):
        change = "replaced"
    return ComparedDocument(document, change, stored.segments)


async def write_changes(
    connection: Connection, workspace: int, changes: Sequence[ComparedDocument], drafts: Mapping[str, IndexedDocument]
) -> None:
    """Write the changes within the caller's transaction; ``drafts`` are the segments of new texts."""
    replaced = [each.document.document_id for each in changes if each.change == "replaced"]
    if replaced:
        await drop_segments(connection, workspace, replaced)
    await write_document_rows(connection, workspace, [each.document for each in changes if each.writes])
    cut = [drafts[each.document.document_id] for each in changes if each.change in ("created", "replaced")]
    await index_documents(connection, workspace, cut)


__all__ = ["Ingested", "Ingestor", "NewDocument", "Refused", "Report"]


@dataclass(frozen=True, slots=True)
class Refused:
    """A document that was not ingested, and the reason."""

    name: str
    code: str
    reason: str
    suggestion: str
    status: Literal["refused"] = "refused"


Report = Ingested | Refused
Progress = Callable[[int, int], None]


class Ingestor:
    """An ingestor of documents, one by one or in batches."""

    def __init__(self, database: Database, workspaces: Workspaces, embedder: Embedder, settings: Settings) -> None:
        self._database = database
        self._workspaces = workspaces
        self._embedder = embedder
        self._max_bytes = settings.max_document_bytes
        self._size = SegmentSize.parse(settings.segment_size)
        self._originals = Originals.of(settings, database, workspaces)

    async def ingest(self, identity: Identity, document: NewDocument) -> Ingested:
        """Store a document or its new version; nothing is written if it is unchanged.

        Raises InvalidRequest, UnreadableDocument, NotFound (unknown workspace, or another user's document id),
        EmbeddingUnavailable, EmbeddingMismatch, DatabaseUnavailable. After any of them the library is unchanged.
        """
        workspace = await self._workspaces.number(identity.workspace)
        ready = await asyncio.to_thread(self._ready, document)
        [report] = await self._store(workspace, identity, [ready])
        if isinstance(report, NotFound):
            raise report
        await self._maintain(workspace, [report])
        return report

    async def ingest_many(
        self, identity: Identity, documents: Iterable[NewDocument], *, progress: Progress | None = None
    ) -> AsyncGenerator[Report]:
        """Store documents in order, in batches of one transaction each; unreadable ones are refused, not raised.

        ``progress`` is called with the number of finished documents and their total. Raises as ``ingest`` does for
        errors that do not concern a single document; earlier batches stay stored.
        """
        items = list(documents)
        sources = [(document.name, partial(self._ready, document)) for document in items]
        async with aclosing(self._run(identity, sources, progress)) as reports:
            async for report in reports:
                yield report

    async def ingest_paths(
        self,
        identity: Identity,
        paths: Sequence[Path],
        *,
        owner: str | None = None,
        space: Space | None = None,
        progress: Progress | None = None,
    ) -> AsyncGenerator[Report]:
        """Store the files below paths, in order, as ``ingest_many`` does.

        A file's id is derived from the workspace and its path below the root, so that ingesting it again updates it. A
        file that was deleted stays in the library. If two files would share an id, the second is refused.
        """
        files = await asyncio.to_thread(find_files, paths)
        seen: dict[str, FoundFile] = {}
        sources: list[tuple[str, DocumentReader]] = []
        for file in files:
            first = seen.setdefault(file.key, file)
            read = partial(self._read_file, identity.workspace, owner, space)
            sources.append((file.name, partial(read, file) if first is file else partial(_refuse_duplicate, first)))
        async with aclosing(self._run(identity, sources, progress)) as reports:
            async for report in reports:
                yield report

    def _ready(self, document: NewDocument) -> ReadyDocument:
        ready = make_ready(document, self._size, max_bytes=self._max_bytes)
        return self._originals.with_original(ready, document.data)

    def _read_file(self, workspace: str, owner: str | None, space: Space | None, file: FoundFile) -> ReadyDocument:
        return self._ready(
            NewDocument(
                data=file.read(self._max_bytes),
                name=file.key,
                document_id=file.document_id(workspace),
                owner=owner,
                space=space,
                source_type="file",
            )
        )

    async def _run(
        self, identity: Identity, sources: Sequence[tuple[str, DocumentReader]], progress: Progress | None
    ) -> AsyncGenerator[Report]:
        workspace = await self._workspaces.number(identity.workspace)
        reports: list[Report] = []
        async with aclosing(_prefetched(DocumentBatches(sources))) as batches:
            async for batch in batches:
                stored = iter(await self._store(workspace, identity, [each.ready for each in batch if each.ready]))
                for item in batch:
                    report = _report(item.name, item.error or next(stored))
                    reports.append(report)
                    if progress is not None:
                        progress(len(reports), len(sources))
                    yield report
        await self._maintain(workspace, reports)

    async def _store(
        self, workspace: int, identity: Identity, documents: Sequence[ReadyDocument]
    ) -> list[Ingested | NotFound]:
        """Write the changes of documents with distinct ids; the result is NotFound for those of another user."""
        drafts: dict[str, IndexedDocument] = {}
        while documents:
            async with self._database.connection() as connection:
                before = await compare_documents(connection, workspace, identity, documents)
            drafts |= await self._drafts([each.document for each in before if each.is_new_text(drafts)])
            if not any(each.writes for each in before):
                return [each.outcome(drafts) for each in before]
            with _workspace_deleted(identity):
                await self._originals.stage(workspace, [each.document for each in before if each.writes])
                async with self._database.connection() as connection, connection.transaction():
                    await lock_library(connection, workspace)
                    now = await compare_documents(connection, workspace, identity, documents)
                    written = [each.document for each in now if each.writes]
                    cut = not any(each.is_new_text(drafts) for each in now)
                    if cut and await self._originals.write(connection, workspace, written):
                        await check_recorded(connection, self._embedder)
                        await write_changes(connection, workspace, now, drafts)
                        outcomes = [each.outcome(drafts) for each in now]
                        return await _with_similar(connection, workspace, identity.user, outcomes)
        return []

    async def _drafts(self, documents: Sequence[ReadyDocument]) -> dict[str, IndexedDocument]:
        """Segment and embed documents; return the result by document id."""
        if not documents:
            return {}
        async with self._database.connection() as connection:
            await check_recorded(connection, self._embedder)
        spans = await asyncio.to_thread(lambda: [segment(each.parsed, self._size, count_tokens) for each in documents])
        texts = [
            each.parsed.text[span.start : span.end] for each, cut in zip(documents, spans, strict=True) for span in cut
        ]
        vectors = await self._embedder.embed(texts)
        ends = list(accumulate(map(len, spans)))
        return {
            each.document_id: IndexedDocument(
                each.document_id, each.fields.title, cut, each.parsed.text, vectors[end - len(cut) : end]
            )
            for each, cut, end in zip(documents, spans, ends, strict=True)
        }

    async def _maintain(self, workspace: int, reports: Sequence[Report]) -> None:
        if any(report.status in ("created", "updated") for report in reports):
            async with self._database.connection() as connection:
                await maintain(connection, workspace)


async def _with_similar(
    connection: Connection, workspace: int, user: str, outcomes: Sequence[Ingested | NotFound]
) -> list[Ingested | NotFound]:
    """Tell of each document whose text is new which others are similar to it."""
    new = [each.document_id for each in outcomes if isinstance(each, Ingested) and each.status != "unchanged"]
    similar = await find_similar(connection, workspace, user, new) if new else {}
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


def _refuse_duplicate(first: FoundFile) -> ReadyDocument:
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
