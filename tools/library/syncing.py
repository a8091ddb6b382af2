"""Keep a library in step with its sources: list, plan, ingest what is new, and remove what is gone.

One process at a time syncs a source. Whatever ends a sync, the next one goes on: documents that follow their own path
get their place in the transaction that stores them, all that changes places or deletes is one transaction at the end.
Until then a new document for the path of another one is noted there, so that no document is without its source.
"""

import asyncio
import hashlib
import logging
from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Callable, Container, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from itertools import chain, count
from pathlib import Path, PurePath
from time import monotonic
from typing import Any, Literal
from urllib.parse import quote
from uuid import UUID, uuid5

from typing_extensions import TypedDict

from graph.errors import CitewellError, InvalidRequest, NotFound, SourceBusy
from graph.evidence import EVERYONE, GROUP, USER, Identity, Space
from text.counted import counted
from tools.library.bucket_source import BucketSource, open_bucket
from tools.library.changes import Ingested, Report
from tools.library.git_cache import caches_of
from tools.library.git_reader import GitReader, as_git_url, disk_path, resolved_path
from tools.library.ingestion import Ingestor
from tools.library.likeness import SimilarDocument
from tools.library.new_documents import HASH_EPOCH, NewDocument
from tools.library.reading import MOST_CHARACTERS, MOST_PAGES
from tools.library.sandbox import FILE_MEGABYTES
from tools.library.site_source import SiteSource
from tools.library.source_readers import FolderReader, ReadFile, SourceReader
from tools.library.source_records import LOCK, SyncedSource, record_sync
from tools.library.sync_plan import Compared, Known, Listed, Plan, Step, compare, plan
from tools.library.web_pages import WebPages
from tools.parsers import formats
from tools.retrieval.scope import NOT_EXPIRED
from tools.settings import Settings
from tools.storage.batches import in_batches
from tools.storage.database import Connection, Database, only_one
from tools.storage.partitions import lock_library
from tools.storage.supervision import MEGABYTE, RESERVE_MEGABYTES
from tools.storage.tenants import Workspaces
from tools.web.addresses import canonical_address
from tools.web.guard import Guard

log = logging.getLogger("citewell.sources")

S3 = "s3://"
MOST_DELETED = 0.3  # of the documents of a source, before a sync asks
FEW_DELETED = 10  # documents; to delete fewer never needs asking
READ_AT_ONCE = 100
BYTES_AT_ONCE = 16_000_000
FILES_REPORTED = 200  # in the report that is stored
ANYBODY = ""  # a user whom no document belongs to: a shared source's report is read by everybody

Change = Literal["new", "adopted", "changed", "moved", "copied", "unreadable", "gone"]
Progress = Callable[[int, int, str], None]
OpenReader = Callable[[SyncedSource, Identity, Mapping[str, str]], SourceReader]


class TooManyDeletions(InvalidRequest):
    """A sync that would delete more of a source's documents than its caller allows; nothing was changed."""

    def __init__(self, deletes: int, of: int) -> None:
        super().__init__(
            f"{deletes:,} of {of:,} documents would be deleted, since their files are gone.",
            suggestion="Check that the source is whole. Sync again with `--yes` (API: `most_deleted`) to delete them.",
        )


@dataclass(frozen=True, slots=True)
class FileReport:
    """What became of a file. ``previous`` is the path that it moved from, ``reason`` why it could not be read.

    ``warnings`` say what may be wrong in its text, ``similar_to`` which other documents share most of it.
    """

    path: str
    change: Change
    document_id: str | None
    title: str = ""
    previous: str | None = None
    reason: str | None = None
    warnings: list[str] = field(default_factory=list)
    similar_to: list[SimilarDocument] = field(default_factory=list)


class SyncProblem(TypedDict):
    """Why a sync ended before its end."""

    code: str
    message: str
    suggestion: str
    retryable: bool


COUNTS = (
    "new", "adopted", "changed", "moved", "copied", "touched", "unchanged", "unreadable", "still_unreadable", "gone",
    "deleted",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class SyncReport:
    """What a sync did, or would do. ``deleted`` counts documents, all other counts files.

    Files that are unchanged or were only touched are not listed, and neither are those known to be unreadable.
    ``problem`` is what ended a sync before its end.
    """

    source_id: str
    dry_run: bool
    at: datetime
    seconds: float
    counts: dict[str, int]
    files: list[FileReport]
    notes: list[str]
    problem: SyncProblem | None = None

    def stored(self) -> dict[str, Any]:
        """Return the report as JSON, with the first 200 files."""
        fields = asdict(self)
        more = len(self.files) - FILES_REPORTED
        notes = [*self.notes, *([f"{counted(more, 'more file')} changed."] if more > 0 else [])]
        return {**fields, "at": self.at.isoformat(), "files": fields["files"][:FILES_REPORTED], "notes": notes}


def checked_location(kind: str, location: str, roots: Sequence[str] | None) -> str:
    """Return a location in one spelling.

    ``roots`` are the folders and buckets below which sources may be read; None is anywhere. What is fetched from the
    web needs none. Blocks. Raises InvalidRequest.
    """
    if "\0" in location or not location.strip():
        raise InvalidRequest("location: must be a folder or an address.")
    if kind == "git":
        url = as_git_url(location)
        if (path := disk_path(url)) is not None:
            _root_of(path, roots)
        return url
    if kind == "site":
        address = canonical_address(location)
        if address is None:
            raise InvalidRequest("location: must be an address of http:// or https://.")
        return address
    if kind == "s3":
        if not location.startswith(S3) or not location.removeprefix(S3).strip("/"):
            raise InvalidRequest("location: must be s3://bucket or s3://bucket/prefix.")
        bucket = location.rstrip("/")
        if roots is not None and not any(f"{bucket}/".startswith(f"{root.rstrip('/')}/") for root in roots):
            raise InvalidRequest(_NOT_BELOW, suggestion=_NOT_BELOW_ADVICE)
        return bucket
    folder = resolved_path(location)
    _root_of(folder, roots)
    if not folder.is_dir():
        raise InvalidRequest(f"There is no folder {location}.", suggestion="Name a folder; nothing was changed.")
    return str(folder)


_UNEXPECTED = "The sync ended for an internal reason."
_UNEXPECTED_ADVICE = "Report this with the time of the sync; the log has the details."
_NOT_BELOW = "location: the server reads its folders and buckets below CITEWELL_SOURCE_ROOTS alone."
_NOT_BELOW_ADVICE = "Use `citewell sync`, or let the setting name what is above the location."


def _root_of(folder: Path, roots: Sequence[str] | None) -> Path | None:
    """Return the root that a folder is below; None where any folder may be read. Raises InvalidRequest."""
    if roots is None:
        return None
    folders = [Path(root).resolve() for root in roots if not root.startswith(S3)]
    root = next((root for root in folders if folder.is_relative_to(root)), None)
    if root is None:
        raise InvalidRequest(_NOT_BELOW, suggestion=_NOT_BELOW_ADVICE)
    return root


class Syncer:
    """Syncs sources. ``roots`` are the folders below which it may read the machine's files; None is anywhere."""

    def __init__(
        self,
        database: Database,
        workspaces: Workspaces,
        ingestor: Ingestor,
        settings: Settings,
        *,
        roots: Sequence[str] | None,
        pages: WebPages | None = None,
    ) -> None:
        self._database = database
        self._workspaces = workspaces
        self._ingestor = ingestor
        self._settings = settings
        self._roots = roots
        self._pages = pages

    async def sync(
        self,
        identity: Identity,
        source: SyncedSource,
        *,
        dry_run: bool = False,
        most_deleted: float = MOST_DELETED,
        progress: Progress | None = None,
    ) -> SyncReport:
        """Bring the library in step with a source, or with ``dry_run`` only tell what would happen.

        ``progress`` is called with the number of files ingested, their total and a path. Files that can't be read are
        reported. Raises TooManyDeletions if ten documents or more, and more than the share ``most_deleted`` of all
        would be deleted, SourceBusy, also where its readers were changed meanwhile, NotFound for a source that was
        deleted meanwhile, and what ``Ingestor.ingest`` and the source's reader raise.
        """
        workspace = await self._workspaces.number(identity.workspace)
        one = _Sync(self._database, workspace, self._ingestor, self._settings, source, identity)
        if dry_run:
            return await one.run(self._open, dry_run=True, most_deleted=1.0)
        async with self._locked(source.source_id):
            try:
                return await one.run(self._open, dry_run=False, most_deleted=most_deleted, progress=progress)
            except Exception as error:
                try:
                    async with self._database.connection() as connection:
                        await record_sync(connection, workspace, source.source_id, one.failed(error), followed=False)
                except CitewellError as unrecorded:
                    log.warning("that %s was not synced is not on it: %s", source.source_id, unrecorded.message)
                raise

    def _open(self, source: SyncedSource, identity: Identity, known: Mapping[str, str]) -> SourceReader:
        """Open the reader of a source; ``known`` are the fingerprints of its places. Blocks."""
        location = checked_location(source.kind, source.location, self._roots)
        most = self._settings.max_document_bytes
        if source.kind == "folder":
            return FolderReader(Path(location), max_bytes=most)
        option = source.option()
        if source.kind == "s3":
            return BucketSource(open_bucket(location), max_bytes=most)
        if source.kind == "site":
            assert self._pages is not None
            return SiteSource(self._pages, identity, location, option.extent or "site", known)
        path = disk_path(location)
        return GitReader(
            location,
            cache=caches_of(self._settings),
            max_bytes=most,
            ref=option.ref or "",
            folder=option.folder or "",
            guard=None if self._roots is None else Guard(),
            root=None if path is None else _root_of(path, self._roots),
            reserve=RESERVE_MEGABYTES * MEGABYTE,
        )

    @asynccontextmanager
    async def _locked(self, source_id: str) -> AsyncIterator[None]:
        """Keep others from syncing a source. The lock goes with its connection, however this process ends."""
        keys = "%s, hashtext(%s)"
        async with self._database.connection() as connection, only_one(connection, keys, LOCK, source_id) as alone:
            if not alone:
                raise SourceBusy("The source is being synced already.")
            yield


class _Sync:
    """One sync of one source."""

    def __init__(
        self,
        database: Database,
        workspace: int,
        ingestor: Ingestor,
        settings: Settings,
        source: SyncedSource,
        identity: Identity,
    ) -> None:
        self._database = database
        self._workspace = workspace
        self._ingestor = ingestor
        self._settings = settings
        self._source = source
        self._identity = _reader_of(source, identity.workspace)
        self._options = source.option()
        self._recipe = _recipe(source, settings)
        self._known: dict[str, Known] = {}
        self._noted: set[str] = set()  # documents that a sync which was cut off stored and gave no place
        self._started = (datetime.now(UTC), monotonic())
        self._files: list[FileReport] = []
        self._counts: Counter[str] = Counter()
        self._failures: dict[str, CitewellError] = {}
        self._notes: list[str] = []
        self._dry_run = False

    async def run(
        self, open_reader: OpenReader, *, dry_run: bool, most_deleted: float, progress: Progress | None = None
    ) -> SyncReport:
        """Sync. See ``Syncer.sync``."""
        self._dry_run = dry_run
        self._known = await self._read_places()
        fingerprints = {path: place.fingerprint for path, place in self._known.items()}
        self._reader = await asyncio.to_thread(open_reader, self._source, self._identity, fingerprints)
        try:
            return await self._follow(most_deleted, progress)
        finally:
            await self._reader.close()

    async def _follow(self, most_deleted: float, progress: Progress | None) -> SyncReport:
        listing = await self._reader.listing()
        self._notes = listing.notes
        compared = compare(listing.files, self._known, self._recipe)
        self._counts["still_unreadable"] = sum(1 for place in compared.unchanged if place.trouble is not None)
        self._counts["unchanged"] = len(compared.unchanged) - self._counts["still_unreadable"]
        if not listing.whole:
            compared = Compared([*compared.unchanged, *compared.gone], compared.to_read, [])
        if not compared.to_read and not compared.gone:
            if not self._dry_run:
                await self._finish([], Plan([], [], []))
            return self._report()
        hashes = await self._hash(compared.to_read)
        ids, adopted, blocked = await self._ids([file.path for file in compared.to_read])

        def new_id(path: str, taken: Container[str]) -> str:
            """Choose the id of a new document: the first of its path, or another one where that is in use."""
            others = (str(uuid5(UUID(self._source.source_id), f"{path}\n{number}")) for number in count(1))
            return next(each for each in chain([ids[path]], others) if each not in taken and each not in blocked)

        planned = plan(compared, self._known, hashes, self._recipe, new_id=new_id, adopted=adopted)
        deleted = await self._leaving(planned.left)
        documents = len({place.document_id for place in self._known.values() if place.document_id})
        if deleted >= FEW_DELETED and deleted > most_deleted * documents:
            raise TooManyDeletions(deleted, documents)
        if self._dry_run:
            for step in planned.steps:
                self._report_step(step, adopted)
            self._report_gone(planned.gone, deleted)
            return self._report()
        late = await self._ingest(planned.steps, adopted, progress)
        await self._finish(late, planned)
        return self._report()

    def failed(self, error: Exception) -> dict[str, Any]:
        """Return the report of a sync that an error ended; of one that is not ours it has no details."""
        told = error if isinstance(error, CitewellError) else CitewellError(_UNEXPECTED, suggestion=_UNEXPECTED_ADVICE)
        problem = SyncProblem(
            code=told.code, message=told.message, suggestion=told.advice, retryable=type(told).retryable
        )
        return replace(self._report(), problem=problem).stored()

    async def _read_places(self) -> dict[str, Known]:
        rows = await self._database.fetch_all(_PLACES, [self._workspace, self._source.source_id])
        known = {}
        self._noted = {next_document_id for *_, next_document_id in rows if next_document_id is not None}
        for path, document_id, fingerprint, content_hash, recipe, trouble, lives, _ in rows:
            if document_id is not None and not lives:  # one that somebody deleted comes back: its file is still there
                fingerprint = recipe = ""
            known[path] = Known(path, document_id, fingerprint, content_hash, recipe, trouble)
        return known

    async def _hash(self, files: Sequence[Listed]) -> dict[str, str]:
        """Return the hashes of files that can be read; the others are remembered as failures."""
        hashes = {file.path: file.content_hash for file in files if file.content_hash is not None}
        for chunk in _chunks([file for file in files if file.content_hash is None], self._settings.max_document_bytes):
            read = await self._reader.read([file.path for file in chunk])
            for file, content in zip(chunk, await asyncio.to_thread(_hashed, read), strict=True):
                if isinstance(content, CitewellError):
                    self._failures[file.path] = content
                else:
                    hashes[file.path] = content
        return hashes

    async def _ids(self, paths: Sequence[str]) -> tuple[dict[str, str], dict[str, str], set[str]]:
        """Return the first ids of paths, those whose document is there without a place, and ids of other documents."""
        workspace = self._identity.workspace
        source_id = UUID(self._source.source_id)
        ids = {path: self._reader.first_id(workspace, path) or str(uuid5(source_id, path)) for path in paths}
        row = {"workspace": self._workspace, "ids": list(ids.values())}
        rows = {document_id: rest for document_id, *rest in await self._database.fetch_all(_DOCUMENTS, row)}
        own = (self._source.owner, self._source.readers)
        blocked = {
            document_id for document_id, (*read_by, _, placed) in rows.items() if placed or tuple(read_by) != own
        }
        free = {document_id for document_id, (_, _, lives, _) in rows.items() if lives} - blocked
        return ids, {path: document_id for path, document_id in ids.items() if document_id in free}, blocked

    async def _leaving(self, document_ids: Sequence[str]) -> int:
        """Count the documents that will be deleted: those without a place in another source."""
        if not document_ids:
            return 0
        row = {"workspace": self._workspace, "ids": list(document_ids), "source": self._source.source_id}
        found = await self._database.fetch_one(_LEAVING, row)
        return int(found[0]) if found else 0

    async def _ingest(
        self, steps: Sequence[Step], adopted: Mapping[str, str], progress: Progress | None
    ) -> list["_Row"]:
        """Ingest files and write the places of those that keep to their own documents; return all other places."""
        late: list[_Row] = []
        tried: dict[str | None, set[str]] = defaultdict(set)
        refused: dict[str | None, str] = {}
        copies = [step for step in steps if not step.ingests]
        leads = [step for step in steps if step.ingests]
        done, total = 0, len(leads)
        while leads:
            for chunk in _chunks([step.file for step in leads], self._settings.max_document_bytes):
                group = leads[: len(chunk)]
                leads = leads[len(chunk) :]
                rows = await self._ingest_some(group, adopted)
                for step, row in zip(group, rows, strict=True):
                    tried[step.document_id].add(PurePath(step.file.path).suffix.lower())
                    if row.trouble is None:
                        refused.pop(step.document_id, None)
                    else:
                        refused[step.document_id] = row.trouble
                if troubled := [row for row in rows if row.early and row.trouble is not None]:
                    async with self._database.connection() as connection, connection.transaction():
                        await self._keep_source(connection)
                        await self._write_on(connection, troubled)
                late += [row for row in rows if not row.early]
                done += len(group)
                if progress is not None:
                    progress(done, max(total, done), group[-1].file.path)
            # The same bytes may be readable under another suffix.
            leads, copies = _next_leads(copies, refused, tried)
        for step in copies:
            late.append(self._row_of(step, refused))
            self._report_step(step, adopted, refused.get(step.document_id))
        return late

    async def _ingest_some(self, steps: Sequence[Step], adopted: Mapping[str, str]) -> list["_Row"]:
        read = await self._reader.read([step.file.path for step in steps])
        hashes = await asyncio.to_thread(_hashed, read)
        documents = [
            self._described(step, content)
            for step, content in zip(steps, read, strict=True)
            if isinstance(content, NewDocument)
        ]
        stored = {
            step.document_id: self._stored_row(step, str(actual)) for step, actual in zip(steps, hashes, strict=True)
        }

        async def place(connection: Connection, ingested: Sequence[Ingested]) -> None:
            await self._keep_source(connection)
            await self._place(connection, [stored[each.document_id] for each in ingested])

        ingesting = self._ingestor.ingest_many(self._identity, documents, finish=place, unpack=False)
        reports = iter([each async for each in ingesting])
        rows: list[_Row] = []
        for step, content, actual in zip(steps, read, hashes, strict=True):
            report: Report | CitewellError = content if isinstance(content, CitewellError) else next(reports)
            row = self._stored_row(step, str(actual))
            if isinstance(report, Ingested):
                self._report_step(step, adopted, report=report)
            else:
                trouble = (
                    report.message if isinstance(report, CitewellError) else f"{report.reason} {report.suggestion}"
                )
                before = self._known.get(step.file.path)
                kept = before.document_id if before is not None and row.early else None
                kept = step.document_id if step.previous is not None else kept
                read_hash = step.file.content_hash if isinstance(report, CitewellError) else str(actual)
                row = _Row(step.file, kept, read_hash, trouble, early=row.early)
                self._report_step(step, adopted, trouble)
            rows.append(row)
        return rows

    def _stored_row(self, step: Step, content_hash: str) -> "_Row":
        """Return the place of a file whose document was stored."""
        before = self._known.get(step.file.path)
        own = before.document_id if before is not None else step.document_id
        early = step.previous is None and own == step.document_id
        return _Row(step.file, step.document_id, step.file.content_hash or content_hash, None, early=early)

    def _described(self, step: Step, new: NewDocument) -> NewDocument:
        space: Space | None = {"id": None, "slug": self._options.space} if self._options.space else None
        link = self._options.link
        url = link.replace("{path}", quote(step.file.path)) if link else new.url
        owner = self._source.owner
        readers = self._source.readers or ([EVERYONE] if owner is None else [])
        return replace(new, document_id=step.document_id, owner=owner, readers=readers, space=space, url=url)

    def _row_of(self, step: Step, refused: Mapping[str | None, str]) -> "_Row":
        """Return the place of a file that was not ingested."""
        if step.verb == "unreadable":
            return _Row(step.file, step.document_id, None, self._failures[step.file.path].message)
        before = self._known.get(step.file.path)
        if step.document_id in refused and step.verb == "copied":
            kept = before.document_id if before is not None else None
            kept = kept if kept == step.document_id else None
            return _Row(step.file, kept, step.content_hash, refused[step.document_id])
        return _Row(step.file, step.document_id, step.content_hash, step.trouble)

    def _report_step(
        self, step: Step, adopted: Mapping[str, str], trouble: str | None = None, report: Ingested | None = None
    ) -> None:
        """Count a step, and list it unless its file was only touched."""
        change: Any = step.verb
        reason = trouble
        if step.verb == "unreadable":
            reason = self._failures[step.file.path].message
        if reason is not None:
            change = "unreadable"
        elif step.verb == "new" and adopted.get(step.file.path) == step.document_id:
            change = "adopted"
        elif step.verb == "touched" and report is not None and report.status != "unchanged":
            change = "changed"
        self._counts[change] += 1
        if change != "touched":
            title = report.title if report is not None else ""
            warnings, similar = (report.warnings, report.similar_to) if report is not None else ([], [])
            document_id = step.document_id if change != "unreadable" else None
            self._files.append(
                FileReport(step.file.path, change, document_id, title, step.previous, reason, warnings, similar)
            )

    def _report_gone(self, gone: Sequence[Known], deleted: int) -> None:
        moved = {file.previous for file in self._files if file.change == "moved"}
        for place in gone:
            if place.path not in moved:
                self._counts["gone"] += 1
                self._files.append(FileReport(place.path, "gone", place.document_id))
        self._counts["deleted"] = deleted

    async def _finish(self, late: Sequence["_Row"], planned: Plan) -> None:
        """Write the other places, remove those that are gone with their documents, and the report, all at once."""
        left = [*planned.left, *self._noted]
        row = {"workspace": self._workspace, "source": self._source.source_id, "ids": left}
        async with self._database.connection() as connection, connection.transaction():
            if left:
                await lock_library(connection, self._workspace)
            await self._keep_source(connection)
            await self._write_on(connection, late)
            deleted = 0
            if planned.gone:
                await connection.execute(_REMOVE, {**row, "paths": [place.path for place in planned.gone]})
            if left:
                deleted = (await connection.execute(_DELETE, row)).rowcount
            self._report_gone(planned.gone, deleted)
            report = self._report().stored()
            await record_sync(connection, self._workspace, self._source.source_id, report, followed=True)

    async def _keep_source(self, connection: Connection) -> None:
        """Keep the source and its readers until the transaction ends; who changes them then finds each stored document.

        Raises NotFound where it was deleted, and SourceBusy where it has other readers.
        """
        row = [self._workspace, self._source.source_id]
        found = await (await connection.execute(_KEEP, row)).fetchone()
        if found is None:
            raise NotFound(f"The source {self._source.source_id} was deleted meanwhile.")
        if found[0] != self._source.readers:
            raise SourceBusy("The readers of the source were changed meanwhile.", suggestion="Sync it again.")

    async def _place(self, connection: Connection, rows: Sequence["_Row"]) -> None:
        """Write the places of documents that were just stored, or note them at those of other documents."""
        await self._write_on(connection, [row for row in rows if row.early])
        noted = [
            [row.document_id, self._workspace, self._source.source_id, row.file.path] for row in rows if not row.early
        ]
        async with connection.cursor() as cursor:
            await cursor.executemany(_NOTE, noted)

    async def _write_on(self, connection: Connection, rows: Sequence["_Row"]) -> None:
        place = [self._workspace, self._source.source_id]
        async with connection.cursor() as cursor:
            await cursor.executemany(_WRITE, [[*place, *row.values(), self._recipe] for row in rows])

    def _report(self) -> SyncReport:
        at, started = self._started
        files = sorted(self._files, key=lambda file: file.path)
        counts = {name: self._counts[name] for name in COUNTS}
        seconds = round(monotonic() - started, 3)
        return SyncReport(self._source.source_id, self._dry_run, at, seconds, counts, files, self._notes)


@dataclass(frozen=True, slots=True)
class _Row:
    """A place as it is written. ``early`` ones touch no other place, and may be written before the end."""

    file: Listed
    document_id: str | None
    content_hash: str | None
    trouble: str | None
    early: bool = False

    def values(self) -> list[str | None]:
        # A file whose bytes could not be read is tried again each time.
        fingerprint = self.file.fingerprint if self.content_hash is not None else ""
        return [self.file.path, self.document_id, fingerprint, self.content_hash, self.trouble]


def _next_leads(
    copies: Sequence[Step], refused: Mapping[str | None, str], tried: Mapping[str | None, set[str]]
) -> tuple[list[Step], list[Step]]:
    """Return the next file to try for each refused document, and the copies that are left."""
    leads: dict[str | None, Step] = {}
    for step in copies:
        suffix = PurePath(step.file.path).suffix.lower()
        if step.document_id in refused and step.verb == "copied" and suffix not in tried[step.document_id]:
            leads.setdefault(step.document_id, replace(step, verb="new", ingests=True))
    chosen = {step.file.path for step in leads.values()}
    return list(leads.values()), [step for step in copies if step.file.path not in chosen]


def _hashed(read: Sequence[ReadFile]) -> list[str | CitewellError]:
    return [each if isinstance(each, CitewellError) else hashlib.sha256(each.data or b"").hexdigest() for each in read]


def _chunks(files: Sequence[Listed], max_bytes: int) -> Iterator[list[Listed]]:
    """Yield the files in order, as many at once as are read into memory together."""
    return in_batches(files, lambda file: min(file.size, max_bytes), BYTES_AT_ONCE, most_items=READ_AT_ONCE)


def _reader_of(source: SyncedSource, workspace: str) -> Identity:
    """Return an identity that reads the documents of a source."""
    readers = source.readers or []
    users = [reader.removeprefix(USER) for reader in readers if reader.startswith(USER)]
    groups = [reader.removeprefix(GROUP) for reader in readers if reader.startswith(GROUP)]
    return Identity(workspace, source.owner or next(iter(users), ANYBODY), tuple(groups))


def _recipe(source: SyncedSource, settings: Settings) -> str:
    """Return what tells whether a file would be read and described as it was."""
    limits = settings.jobs
    said = [
        HASH_EPOCH.decode(),
        settings.segment_sizes["*"],
        "auto" if settings.ocr_languages else "off",
        settings.ocr_languages,
        [limits.file_seconds, FILE_MEGABYTES, MOST_PAGES, MOST_CHARACTERS],
        source.owner,
        *([source.readers] if source.readers else []),  # so that sources without readers have the recipe of before
        sorted(source.options.items()),
        sorted(formats().suffixes),
    ]
    return hashlib.sha256(repr(said).encode()).hexdigest()[:16]


_PLACES = f"""
SELECT p.path, p.document_id::text, p.fingerprint, p.content_hash, p.recipe, p.trouble,
       d.deleted_at IS NULL AND {NOT_EXPIRED}, p.next_document_id::text
FROM places AS p LEFT JOIN documents AS d ON d.workspace = p.workspace AND d.document_id = p.document_id
WHERE p.workspace = %s AND p.source_id = %s
"""
_DOCUMENTS = """
SELECT d.document_id::text, d.owner, d.readers, d.deleted_at IS NULL,
       EXISTS (SELECT FROM places AS p WHERE p.workspace = d.workspace AND p.document_id = d.document_id)
FROM documents AS d WHERE d.workspace = %(workspace)s AND d.document_id = ANY(%(ids)s::uuid[])
"""
_LEAVING = """
SELECT count(*) FROM documents AS d
WHERE d.workspace = %(workspace)s AND d.document_id = ANY(%(ids)s::uuid[]) AND d.deleted_at IS NULL
  AND NOT EXISTS (SELECT FROM places AS p WHERE p.workspace = d.workspace AND p.document_id = d.document_id
                  AND p.source_id <> %(source)s)
"""
_WRITE = """
INSERT INTO places (workspace, source_id, path, document_id, fingerprint, content_hash, trouble, recipe)
VALUES (%s, %s, %s, %s, %s, %s, %s, %s)
ON CONFLICT (workspace, source_id, path) DO UPDATE
SET document_id = excluded.document_id, fingerprint = excluded.fingerprint, content_hash = excluded.content_hash,
    recipe = excluded.recipe, trouble = excluded.trouble, read_at = now(), next_document_id = NULL
"""
_NOTE = "UPDATE places SET next_document_id = %s WHERE workspace = %s AND source_id = %s AND path = %s"
_KEEP = "SELECT readers FROM sources WHERE workspace = %s AND source_id = %s FOR SHARE"
_REMOVE = """
DELETE FROM places WHERE workspace = %(workspace)s AND source_id = %(source)s AND path = ANY(%(paths)s)
"""
_DELETE = """
UPDATE documents AS d SET deleted_at = now()
WHERE d.workspace = %(workspace)s AND d.document_id = ANY(%(ids)s::uuid[]) AND d.deleted_at IS NULL
  AND NOT EXISTS (SELECT FROM places AS p WHERE p.workspace = d.workspace AND p.document_id = d.document_id)
"""
