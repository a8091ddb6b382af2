"""citewell sync: bring the library in step with a source. citewell sources: list and delete these."""

from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any
from uuid import uuid4

import typer

from cli.command import Caller, Exit, Storage, acting
from cli.console import one_line, print_json, print_rows, progress_console, result_console
from cli.ingest import opened_ingestor, opened_pages
from cli.options import Owner, Readers, SpaceSlug, Yes, as_id, confirmed
from cli.rendering.ingested_files import similar
from text.counted import counted

if TYPE_CHECKING:
    from graph.evidence import Identity
    from tools.library.sandbox import Sandbox
    from tools.library.source_records import Kind, Sources, SyncedSource
    from tools.library.syncing import Syncer, SyncReport

Location = Annotated[
    str,
    typer.Argument(
        metavar="PATH|URL",
        help="A folder, a site, a git repository (ends in .git, or --git), or s3://bucket/prefix.",
        show_default=False,
    ),
]
Watch = Annotated[bool, typer.Option("--watch", help="Go on, and sync whenever something changes.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Say what would happen, and do nothing.")]
Git = Annotated[bool, typer.Option("--git", help="Read the commits of a repository, not the files of a folder.")]
Folder = Annotated[str | None, typer.Option(help="The folder of the repository to read.", show_default=False)]
Ref = Annotated[str | None, typer.Option(help="The branch or tag; default: the repository's own.", show_default=False)]
FromSitemap = Annotated[bool, typer.Option("--sitemap", help="Read the pages that a site's sitemap lists.")]
OnePage = Annotated[bool, typer.Option("--page", help="Read one page of a site.")]
Link = Annotated[
    str | None, typer.Option(help="The address of a document, with {path} for its path.", show_default=False)
]
MostDeleted = Annotated[
    float, typer.Option(min=0, max=1, help="The share of documents that may be deleted without asking.")
]
Every = Annotated[float, typer.Option(min=5, help="Seconds until what is watched is looked at without a notification.")]


@acting
async def sync(
    by: Caller,
    location: Location,
    watch: Watch = False,
    dry_run: DryRun = False,
    git: Git = False,
    folder: Folder = None,
    ref: Ref = None,
    sitemap: FromSitemap = False,
    page: OnePage = False,
    link: Link = None,
    owner: Owner = None,
    readers: Readers = None,
    space: SpaceSlug = None,
    most_deleted: MostDeleted = 0.3,
    every: Every = 300,
    yes: Yes = False,
) -> Exit:
    """Bring the library in step with a folder, a site, a git repository or a bucket.

    What is new is ingested, what changed replaced, what moved keeps its document, what is gone is deleted. Files that
    can't be read are reported, and the exit code is 6. A source keeps its readers until --reader names others.
    """
    if watch and (dry_run or by.as_json):
        raise typer.BadParameter("--watch excludes --dry-run and --json.")
    extent = "sitemap" if sitemap else "page" if page else None
    wanted = {"space": space, "link": link, "ref": ref, "folder": folder, "extent": extent}
    kind = _kind(location, git=bool(git or folder or ref))
    how = _How(location, kind, wanted, owner, readers, 1.0 if yes else most_deleted, dry_run, watch, every)
    return await how.run(by)


def _kind(location: str, *, git: bool) -> "Kind":
    if git or location.endswith(".git"):
        return "git"
    if location.startswith("s3://"):
        return "s3"
    return "site" if location.startswith(("http://", "https://")) else "folder"


@dataclass(frozen=True, slots=True)
class _How:
    """The options of a command."""

    location: str
    kind: "Kind"
    options: dict[str, Any]
    owner: str | None
    readers: list[str] | None
    most_deleted: float
    dry_run: bool
    watch: bool
    every: float

    async def run(self, by: Caller) -> Exit:
        """Sync once, or again and again."""
        from tools.library.syncing import Syncer

        settings = by.settings()
        async with opened_ingestor(settings) as (storage, ingestor, sandbox):
            identity = storage.identity
            async with opened_pages(storage, ingestor, sandbox) as pages:
                syncer = Syncer(storage.database, storage.workspaces, ingestor, settings, roots=None, pages=pages)
                source = await self._source(_sources(storage), identity)
                report = await self._sync(syncer, identity, source)
                if by.as_json:
                    print_json(asdict(report))
                else:
                    _show(report)
                if self.watch:
                    await self._follow(syncer, sandbox, identity, source)
        return Exit.REFUSED if report.counts["unreadable"] else Exit.OK

    async def _source(self, sources: "Sources", identity: "Identity") -> "SyncedSource":
        """Return the source of the location with its options; a dry run stores none."""
        import asyncio

        from tools.library.new_documents import checked_readers, stored_readers
        from tools.library.source_records import SourceOptions, SyncedSource
        from tools.library.syncing import checked_location

        location = await asyncio.to_thread(checked_location, self.kind, self.location, None)
        known = next(
            iter(await sources.at(identity, self.kind, location, SourceOptions(**self.options), self.owner)), None
        )
        before = known.options if known is not None else {}
        said = checked_readers(self.readers, self.owner)
        readers = known.readers if said is None and known is not None else stored_readers(said, self.owner)
        options = SourceOptions(**{name: value or before.get(name) for name, value in self.options.items()})
        if not self.dry_run:
            if known is not None and said is not None and known.readers != readers:
                await sources.set_readers(identity, known.source_id, said, operator=True)
            return (await sources.add(identity, self.kind, location, options, owner=self.owner, readers=readers))[0]
        now = datetime.now(UTC)
        source_id = known.source_id if known is not None else str(uuid4())
        return SyncedSource(source_id, self.kind, location, self.owner, readers, options.stored(), now, None, None, 0)

    async def _sync(self, syncer: "Syncer", identity: "Identity", source: "SyncedSource") -> "SyncReport":
        """Sync with a progress bar if stderr is a terminal, and ask where many documents would be deleted."""
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

        from tools.library.syncing import TooManyDeletions

        console = progress_console()
        columns = (BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TextColumn("{task.description}"))
        with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
            task = bar.add_task("Looking", total=None)

            def progress(done: int, of: int, path: str) -> None:
                bar.update(task, completed=done, total=of, description=one_line(path))

            try:
                return await syncer.sync(
                    identity, source, dry_run=self.dry_run, most_deleted=self.most_deleted, progress=progress
                )
            except TooManyDeletions as error:
                bar.stop()
                if not console.is_terminal or not confirmed(f"{error.message} Delete them?", yes=False):
                    raise
        return await syncer.sync(identity, source, most_deleted=1.0)

    async def _follow(self, syncer: "Syncer", sandbox: "Sandbox", identity: "Identity", source: "SyncedSource") -> None:
        """Sync whenever the source changes, until interrupted; what goes wrong is told and tried again.

        No process of the sandbox is kept in between.
        """
        from cli.command import report as report_error
        from graph.errors import CitewellError
        from tools.library.watching import changes

        progress_console().print(f"Watching {source.location}. Ctrl-C ends it.", soft_wrap=True)
        await sandbox.rest()
        async for _ in changes(source, every=self.every):
            try:
                report = await syncer.sync(identity, source, most_deleted=self.most_deleted)
            except CitewellError as error:
                report_error(error.code, error.message, error.advice, as_json=False)
                continue
            finally:
                await sandbox.rest()
            if report.files:
                _show(report)


def _show(report: "SyncReport") -> None:
    from rich.text import Text

    from cli.rendering.wrapping import show_indented

    console, errors = result_console(), progress_console()
    for file in report.files:
        output = errors if file.change == "unreadable" else console
        style = "bold red" if file.change == "unreadable" else "green"
        line = Text.assemble((file.change.ljust(11), style), (one_line(file.path), "bold"))
        if file.previous is not None:
            line.append(f"  from {one_line(file.previous)}")
        line.append(f"  {file.document_id}" if file.document_id else "", style="dim")
        output.print(line, soft_wrap=True)
        if file.reason:
            show_indented(output, one_line(file.reason), 11)
        for warning in file.warnings:
            show_indented(output, one_line(f"Warning: {warning}"), 11)
        for other in file.similar_to:
            show_indented(output, one_line(similar(other)), 11)
    for note in report.notes:
        console.print(note, soft_wrap=True)
    console.print(_summary(report), soft_wrap=True)


def _summary(report: "SyncReport") -> str:
    """Return the counts as a sentence."""
    deleted = "document deleted" if report.counts.get("deleted") == 1 else "documents deleted"
    names = {"still_unreadable": "still unreadable", "deleted": deleted}
    said = ", ".join(f"{number:,} {names.get(name, name)}" for name, number in report.counts.items() if number)
    if not said:
        return "There are no files."
    return f"Would be: {said}." if report.dry_run else f"{said[0].upper()}{said[1:]}."


sources_ = typer.Typer(help="List and delete the sources that the library is kept in step with.", no_args_is_help=True)
SourceId = Annotated[str, typer.Argument(help="The source's id.", show_default=False)]
KeepDocuments = Annotated[bool, typer.Option("--keep-documents", help="Leave its documents in the library.")]


@sources_.command("list")
@acting
async def list_(by: Caller) -> None:
    """List the sources with their documents, when they were last seen, and what ended their last sync early."""
    async with by.storage() as storage:
        found = await _sources(storage).list(storage.identity)
    columns = ["Source", "Kind", "Location", "Documents", "Synced", "Problem"]
    print_rows({"sources": found}, columns, [_row(source) for source in found], as_json=by.as_json, numbers={3})


@sources_.command()
@acting
async def delete(by: Caller, source_id: SourceId, keep_documents: KeepDocuments = False, yes: Yes = False) -> Exit:
    """Delete a source, and its documents that no other source has."""
    async with by.storage() as storage:
        sources = _sources(storage)
        source = await sources.get(storage.identity, as_id(source_id, "source"))
        what = "and keep" if keep_documents else "with"
        if not confirmed(
            f"Delete the source {source.location} {what} its {counted(source.documents, 'document')}?", yes
        ):
            return Exit.USAGE
        deleted = await sources.delete(storage.identity, source.source_id, with_documents=not keep_documents)
    gone = {"source_id": source.source_id, "deleted": True, "documents_deleted": deleted}
    by.tell(gone, f"Deleted {source.location}, and {counted(deleted, 'document')}.")
    return Exit.OK


def _sources(storage: Storage) -> "Sources":
    from tools.library.source_records import Sources

    return Sources(storage.database, storage.workspaces)


def _row(source: "SyncedSource") -> list[str]:
    synced = f"{source.synced_at:%Y-%m-%d %H:%M}" if source.synced_at else "never"
    problem = (source.report or {}).get("problem") or {"message": ""}
    return [source.source_id, source.kind, source.location, str(source.documents), synced, problem["message"]]
