"""Ingest documents: one path for all of them, whichever way they come in.

A document is read in a thread or in a process of a sandbox, compared with the stored one, and embedded where its text
is new, all before the transaction that stores it. Writers of one workspace take its lock, so that concurrent ingestions
wait for each other and never deadlock. The comparison before the lock is repeated under it.
"""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Iterator, Sequence
from contextlib import aclosing, contextmanager
from dataclasses import replace
from itertools import islice

import numpy as np
from numpy.typing import NDArray
from psycopg import errors

from graph.errors import CitewellError, InvalidRequest, NotFound
from graph.evidence import Identity
from tools.embeddings.embedder import Embedder, check_recorded
from tools.library.catalogue import read_stored_documents
from tools.library.changes import (
    ComparedDocument,
    Ingested,
    IngestedArchive,
    Refused,
    Report,
    compare_documents,
    tell_changes,
    write_changes,
)
from tools.library.document_reader import DocumentReader, ReadItem
from tools.library.new_documents import NewDocument, ReadyDocument, UnreadDocument, hash_under
from tools.library.ownership import refusal_to_store
from tools.library.reading import Progress, ReadFile, WiredDocument, cut_file, silent
from tools.library.sandbox import Sandbox
from tools.library.versions import Versions
from tools.originals.originals import Originals
from tools.retrieval.indexing import index_terms_anew, maintain
from tools.retrieval.placing import move_if_outgrown
from tools.retrieval.segment_rows import PackedDocument
from tools.settings import Settings
from tools.storage.database import Connection, Database
from tools.storage.partitions import lock_library
from tools.storage.tenants import Workspaces
from tools.telemetry.metrics import SEGMENTS

__all__ = ["Ingested", "IngestedArchive", "Ingestor", "NewDocument", "Refused", "Report"]

Finish = Callable[[Connection, Sequence[Ingested]], Awaitable[None]]
Again = Callable[[str], Awaitable[ReadFile]]  # reads a document whole, by its id
_RENAME = """
UPDATE documents SET title = %(title)s, content_hash = %(content_hash)s, renamed = true, updated_at = now()
WHERE workspace = %(workspace)s AND document_id = %(document_id)s
"""
EMBEDDED_AT_ONCE = 256  # segments, between two reports of progress


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
        self._originals = Originals.of(settings, database, workspaces)
        self._reader = DocumentReader(database, embedder, settings, self._originals, sandbox)
        self._versions = Versions(database, workspaces)

    @property
    def max_bytes(self) -> int:
        """The most bytes that a file may have."""
        return self._settings.max_document_bytes

    async def ingest(self, identity: Identity, document: NewDocument) -> Ingested:
        """Store a document or its new version; nothing is written if it is unchanged.

        Raises InvalidRequest, UnreadableDocument, NotFound (unknown workspace, or another user's document id),
        NotPermitted (an owner or a space that the identity may not choose),
        EmbeddingUnavailable, EmbeddingMismatch, DatabaseUnavailable. After any of them the library is unchanged.
        """
        report = await self.ingest_wired(identity, await asyncio.to_thread(WiredDocument.of, document))
        if report.status != "unchanged":
            await self.maintain(identity.workspace)
        return report

    async def ingest_wired(
        self,
        identity: Identity,
        document: WiredDocument,
        *,
        finish: Finish | None = None,
        on_progress: Progress = silent,
    ) -> Ingested:
        """Store a document as ``ingest`` does; ``finish`` writes more in the same transaction.

        ``on_progress`` is called with the number of embedded segments and of all. Call ``maintain`` afterwards, at the
        latest when there is no more to store. Raises as ``ingest`` does, and what ``finish`` does; then nothing is
        stored.
        """
        file = await self.read(identity, document, on_progress=on_progress)

        async def again(_: str) -> ReadFile:
            return await self.read(identity, document, whole=True, on_progress=on_progress)

        [outcome] = await self.store(identity, [file], again, finish=finish, on_progress=on_progress)
        return _raised(outcome)

    async def restore(self, identity: Identity, document_id: str, version: int) -> Ingested:
        """Make a text that was replaced the document's text again, as a new version; its owner and space stay.

        Raises NotFound for an unknown document or version, or a document of another user, and as ``ingest`` does.
        """
        kept = await self._versions.load(identity, document_id, version)
        workspace = await self._workspaces.number(identity.workspace)
        async with self._database.connection() as connection:
            stored = (await read_stored_documents(connection, workspace, [document_id]))[document_id]
        fields = replace(stored.fields, **kept.fields)
        ready = ReadyDocument(document_id, fields.title, fields, kept.content_hash)
        file = await asyncio.to_thread(
            cut_file, workspace, ready, kept.spans, kept.text, vectors=self._database.has_vectors
        )

        async def again(_: str) -> ReadFile:
            return file

        [outcome] = await self.store(identity, [file], again)
        report = _raised(outcome)
        await self.maintain(identity.workspace)
        return report

    async def rename(self, identity: Identity, document_id: str, title: str) -> None:
        """Give a document another title, which that of its file does not replace when it is read anew.

        The title is indexed in every segment; the text, its versions and its vectors stay. Raises NotFound, also for
        what the identity may not change, DatabaseUnavailable.
        """
        workspace = await self._workspaces.number(identity.workspace)
        await self._database.require_room()
        while not await self._rename(identity, workspace, document_id, title):
            pass  # another text was stored meanwhile, which is what gets the title
        await self.maintain(identity.workspace)

    async def _rename(self, identity: Identity, workspace: int, document_id: str, title: str) -> bool:
        kept = await self._versions.load(identity, document_id)
        packed = await asyncio.to_thread(
            PackedDocument.of, workspace, document_id, title, kept.spans, kept.text, vectors=self._database.has_vectors
        )
        row = {"workspace": workspace, "document_id": document_id, "title": title, "before": kept.content_hash}
        row["content_hash"] = hash_under(title, kept.content_hash)
        async with self._database.connection() as connection, connection.transaction():
            await lock_library(connection, workspace)
            stored = (await read_stored_documents(connection, workspace, [document_id])).get(document_id)
            if stored is None or stored.content_hash != kept.content_hash or stored.deleted:
                return False
            ready = ReadyDocument(document_id, title, stored.fields, stored.content_hash)
            if (refusal := refusal_to_store(ready, stored, identity, all_readers=self._all_readers)) is not None:
                raise refusal
            if row["content_hash"] != kept.content_hash:
                await connection.execute(_RENAME, row)
                await index_terms_anew(connection, workspace, packed)
        return True

    async def ingest_many(
        self,
        identity: Identity,
        documents: Iterable[NewDocument | UnreadDocument],
        *,
        progress: Progress = silent,
        finish: Finish | None = None,
        unpack: bool = True,
    ) -> AsyncGenerator[Report]:
        """Store documents in order, in batches of one transaction each; unreadable ones are refused, not raised.

        An archive's files are documents of their own; without ``unpack`` it is refused. ``progress`` is called with the
        number of finished documents and their total. ``finish`` writes more in the transaction of each batch. Raises
        as ``ingest`` does for errors that do not concern a single document, and what ``finish`` does; earlier batches
        stay stored.
        """
        workspace = await self._workspaces.number(identity.workspace)
        sources = await asyncio.to_thread(lambda: [UnreadDocument.of(each) for each in documents])
        has_changed = False
        async with aclosing(self._reader.read_batches(workspace, identity.user, sources, unpack=unpack)) as batches:
            async for batch in batches:
                reports = await self._store_batch(identity, workspace, sources, batch, finish)
                for item, report in zip(batch, reports, strict=True):
                    has_changed |= report.status in ("created", "updated")
                    progress(item.number + 1, len(sources))
                    yield report
                await self._leave_shared_tables(identity)
        if has_changed:
            await self.maintain(identity.workspace)

    # The steps: read, compare, embed, store, tell.

    async def read(
        self, identity: Identity, document: WiredDocument, *, whole: bool = False, on_progress: Progress = silent
    ) -> ReadFile:
        """Read a document; unless ``whole``, not its segments where they are those stored.

        Raises InvalidRequest, UnreadableDocument, NotFound (unknown workspace), DatabaseUnavailable.
        """
        workspace = await self._workspaces.number(identity.workspace)
        return await self._reader.read(workspace, identity.user, document, whole=whole, on_progress=on_progress)

    async def embed(
        self, identity: Identity, files: Sequence[ReadFile], on_progress: Progress = silent
    ) -> list[ReadFile]:
        """Embed the segments of files that were read, where they are not yet. Raises as ``ingest`` does."""
        if not files:
            return []
        workspace = await self._workspaces.number(identity.workspace)
        async with self._database.connection() as connection:
            await self._check_embedder(connection)
        texts = [text for file in files for text in file.texts]
        vectors: list[NDArray[np.float32]] = []
        for start in range(0, len(texts), EMBEDDED_AT_ONCE):
            on_progress(start, len(texts))
            vectors += list(await self._embedder.embed(texts[start : start + EMBEDDED_AT_ONCE]))
        left = iter(vectors)
        return await asyncio.to_thread(
            lambda: [
                file.with_vectors(workspace, list(islice(left, len(file.texts)))) if file.texts else file
                for file in files
            ]
        )

    async def store(
        self,
        identity: Identity,
        files: Sequence[ReadFile],
        again: Again,
        *,
        finish: Finish | None = None,
        on_progress: Progress = silent,
    ) -> list[Ingested | InvalidRequest]:
        """Store files of distinct documents that were read, in one transaction; ``finish`` writes more in it.

        ``again`` reads a file whole whose stored segments were replaced meanwhile. The result is an error for those
        that the identity may not store. Raises as ``ingest`` does, and what ``finish`` does; then nothing is stored.
        """
        workspace = await self._workspaces.number(identity.workspace)
        await self._database.require_room()
        by_id = {file.ready.document_id: file for file in files}
        drafts: dict[str, PackedDocument] = {}
        outcomes: list[Ingested | InvalidRequest] | None = None if files else []
        while outcomes is None:
            async with self._database.connection() as connection:
                changes = await self._compare(connection, workspace, identity, files)
            new = [by_id[each] for each in _missing(changes, drafts)]
            whole = [file if file.packed else await again(file.ready.document_id) for file in new]
            embedded = await self.embed(identity, whole, on_progress)
            drafts |= {file.packed.document_id: file.packed for file in embedded if file.packed}
            with _workspace_deleted(identity):
                await self._originals.stage(workspace, [each.document.original for each in changes if each.writes])
                async with self._database.connection() as connection, connection.transaction():
                    if any(each.writes for each in changes):
                        await lock_library(connection, workspace)
                        changes = await self._compare(connection, workspace, identity, files)
                    if await self._write(connection, workspace, identity, changes, drafts):
                        outcomes = await tell_changes(connection, workspace, identity, changes, drafts)
                        if finish is not None:
                            await finish(connection, [each for each in outcomes if isinstance(each, Ingested)])
        stored = (each for each in outcomes if isinstance(each, Ingested) and each.status != "unchanged")
        SEGMENTS.inc(sum(each.segments for each in stored))
        return outcomes

    async def _compare(
        self, connection: Connection, workspace: int, identity: Identity, files: Sequence[ReadFile]
    ) -> list[ComparedDocument]:
        documents = [file.ready for file in files]
        return await compare_documents(connection, workspace, identity, documents, all_readers=self._all_readers)

    async def _write(
        self,
        connection: Connection,
        workspace: int,
        identity: Identity,
        changes: Sequence[ComparedDocument],
        drafts: dict[str, PackedDocument],
    ) -> bool:
        """Write changes; False if segments or originals of theirs are missing, and the steps before come again."""
        originals = [each.document.original for each in changes if each.writes]
        if _missing(changes, drafts) or not await self._originals.write(connection, workspace, originals):
            return False
        if originals:
            await self._check_embedder(connection)
            keep = self._settings.versions.keep
            await write_changes(connection, workspace, changes, drafts, user=identity.user, keep=keep)
        return True

    async def _check_embedder(self, connection: Connection) -> None:
        if self._database.has_vectors:
            await check_recorded(connection, self._embedder)

    async def _store_batch(
        self,
        identity: Identity,
        workspace: int,
        sources: Sequence[UnreadDocument],
        batch: Sequence[ReadItem],
        finish: Finish | None,
    ) -> list[Report]:
        """Store what was read of a batch, and tell of each document what became of it."""
        files = [each.read for each in batch if isinstance(each.read, ReadFile)]
        numbers = {each.read.ready.document_id: each.number for each in batch if isinstance(each.read, ReadFile)}

        async def again(document_id: str) -> ReadFile:
            return await self._reader.read_again(workspace, identity.user, sources[numbers[document_id]], document_id)

        stored = iter(await self.store(identity, files, again, finish=finish))
        outcomes = [each.read if isinstance(each.read, CitewellError) else next(stored) for each in batch]
        return [
            replace(outcome, name=each.name) if isinstance(outcome, Ingested) else Refused.of(each.name, outcome)
            for each, outcome in zip(batch, outcomes, strict=True)
        ]

    # What follows when documents are stored.

    async def maintain(self, workspace: str) -> None:
        """Bring a workspace's indexes and statistics to the size it has grown to, and a large one to its own tables."""
        number = await self._workspaces.number(workspace)
        async with self._database.connection() as connection:
            await move_if_outgrown(connection, number)
            await maintain(connection, number)

    async def _leave_shared_tables(self, identity: Identity) -> None:
        """Move a library that outgrows the shared tables between two batches, and not after the last of many."""
        place = await self._workspaces.place(identity.workspace)
        if not place.own:
            async with self._database.connection() as connection:
                if await move_if_outgrown(connection, place.workspace):
                    self._workspaces.forget(identity.workspace)


def _missing(changes: Sequence[ComparedDocument], drafts: dict[str, PackedDocument]) -> list[str]:
    """Return the documents whose segments have to be written and were not made yet."""
    return [
        each.document.document_id for each in changes if each.is_new_text and each.document.document_id not in drafts
    ]


def _raised(outcome: Ingested | InvalidRequest) -> Ingested:
    if isinstance(outcome, InvalidRequest):
        raise outcome
    return outcome


@contextmanager
def _workspace_deleted(identity: Identity) -> Iterator[None]:
    try:
        yield
    except (errors.ForeignKeyViolation, errors.UndefinedTable) as error:
        raise NotFound(f"The workspace {identity.workspace!r} was deleted meanwhile.") from error
