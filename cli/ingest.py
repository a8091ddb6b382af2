"""citewell ingest: add files, folders and web pages to the library."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from cli.command import Caller, Exit, Storage, acting, opened_database, opened_embedder
from cli.console import one_line, progress_console
from cli.options import Owner, Readers, SpaceSlug, Tasks
from cli.rendering.ingested_files import file_progress, show_reports

if TYPE_CHECKING:
    from graph.evidence import Identity, Space
    from tools.library.ingestion import Ingestor, Report
    from tools.library.new_documents import NewDocument
    from tools.library.sandbox import Sandbox
    from tools.library.web_pages import Extent, WebPages
    from tools.settings import Settings

PROCESSES = 2  # that read files

Paths = Annotated[
    list[str],
    typer.Argument(
        help="Files, folders and addresses: Markdown, text, HTML, PDF, Word, Excel, PowerPoint, OpenDocument and more.",
        show_default=False,
    ),
]


WholeSite = Annotated[bool, typer.Option("--site", help="Read the pages that an address links to, below its path.")]
FromSitemap = Annotated[
    bool, typer.Option("--sitemap", help="The address is a sitemap, or a site whose sitemap is read.")
]
Most = Annotated[
    int | None,
    typer.Option(min=1, max=100_000, help="Pages of a site at most; default: 1000.", show_default=False),
]
Depth = Annotated[
    int | None,
    typer.Option(
        min=0,
        max=100,
        help="Links from the first page at most; default: 10.",
        show_default=False,
    ),
]


On = Annotated[
    Literal["processes", "ray"],
    typer.Option(help="Who reads the files: processes of this command, or a cluster (RAY_ADDRESS)."),
]
SharedPaths = Annotated[
    bool, typer.Option("--shared-paths", help="With --on ray: every node of the cluster sees these paths.")
]


ForDialect = Annotated[
    str | None,
    typer.Option(
        "--dialect",
        help="The wire format that will ask for these: it decides on the size of their segments.",
        show_default=False,
    ),
]


@acting
async def ingest(
    by: Caller,
    paths: Paths,
    site: WholeSite = False,
    sitemap: FromSitemap = False,
    most: Most = None,
    depth: Depth = None,
    owner: Owner = None,
    readers: Readers = None,
    space: SpaceSlug = None,
    dialect: ForDialect = None,
    on: On = "processes",
    tasks: Tasks = None,
    shared_paths: SharedPaths = False,
) -> Exit:
    """Add files, folders and web pages to the library.

    Unchanged files are skipped. A file that can't be read is reported with the reason, the others are ingested, and
    the exit code is 6.
    """
    from tools.library.new_documents import NewDocument
    from tools.web.addresses import is_address

    if site and sitemap:
        raise typer.BadParameter("--site and --sitemap exclude each other.")
    settings = by.settings()
    slug: Space | None = {"id": None, "slug": space} if space else None
    if dialect is not None:
        _check_dialect(dialect)
    if on == "ray":
        from cli.ray_ingest import ingest_on_ray

        stored = await ingest_on_ray(settings, paths, owner, readers, slug, dialect, tasks, shared_paths)
        return show_reports(stored, by.as_json)
    addresses = [path for path in paths if is_address(path)]
    files = [Path(path) for path in paths if not is_address(path)]
    async with opened_ingestor(settings) as (storage, ingestor, sandbox):
        reports: list[Report] = []
        if files:
            fields = NewDocument(owner=owner, readers=readers, space=slug, dialect=dialect, source_type="file")
            reports = await ingest_shown(ingestor, storage.identity, files, fields)
        if addresses:
            extent: Extent = "site" if site else "sitemap" if sitemap else "page"
            async with opened_pages(storage, ingestor, sandbox) as pages:
                for address in addresses:
                    found = pages.ingest_web(
                        storage.identity,
                        address,
                        extent,
                        owner=owner,
                        readers=readers,
                        space=slug,
                        dialect=dialect,
                        most=most,
                        depth=depth,
                    )
                    reports += await _shown(found, address)
    return show_reports(reports, by.as_json)


def _check_dialect(name: str) -> None:
    from api.dialects.registry import require_dialects
    from graph.errors import ConfigurationError

    try:
        require_dialects([name], "--dialect")
    except ConfigurationError as error:
        raise typer.BadParameter(error.message) from None


async def ingest_shown(
    ingestor: "Ingestor", identity: "Identity", paths: list[Path], fields: "NewDocument | None" = None
) -> "list[Report]":
    """Ingest paths, with a progress bar if stderr is a terminal: files, segments, rate, time left and file name."""
    from tools.library.found_files import unread_files
    from tools.library.new_documents import NewDocument
    from tools.parsers.textless import passed_over

    fields = fields or NewDocument(source_type="file")
    reports: list[Report] = []
    textless: list[str] = []
    with file_progress("Ingesting") as show:
        files = unread_files(
            paths, identity.workspace, fields, reading=lambda name: show(name=one_line(name)), textless=textless
        )
        stored = ingestor.ingest_many(identity, files, progress=lambda done, of: show(done, of))
        async for report in stored:
            reports.append(report)
            show(segments=getattr(report, "segments", 0))
    for said in passed_over(textless):
        progress_console().print(one_line(said), soft_wrap=True)
    return reports


@asynccontextmanager
async def opened_ingestor(settings: "Settings") -> "AsyncIterator[tuple[Storage, Ingestor, Sandbox]]":
    """Open the library for new documents of a workspace, which is made where there is none, with who reads files."""
    from tools.library.ingestion import Ingestor
    from tools.library.sandbox import opened_sandbox

    async with (
        opened_database(settings) as storage,
        opened_embedder(settings) as embedder,
        opened_sandbox(settings.jobs, PROCESSES) as sandbox,
    ):
        await storage.workspaces.ensure(settings.workspace)
        ingestor = Ingestor(storage.database, storage.workspaces, embedder, settings, sandbox, all_readers=True)
        yield storage, ingestor, sandbox


@asynccontextmanager
async def opened_pages(storage: Storage, ingestor: "Ingestor", sandbox: "Sandbox") -> "AsyncIterator[WebPages]":
    """Open the ingestor of web pages; close its connections on exit."""
    from tools.library.catalogue import Documents
    from tools.library.web_pages import WebPages
    from tools.web.sites import WebReader

    reader = WebReader(storage.settings, sandbox)
    originals = storage.originals
    documents = Documents(storage.database, storage.workspaces, originals)
    try:
        yield WebPages(reader, ingestor, documents, originals)
    finally:
        await reader.close()


async def _shown(found: "AsyncIterator[Report]", address: str) -> "list[Report]":
    """Ingest the pages of an address, with their number and the latest one if stderr is a terminal."""
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    console = progress_console()
    columns = (
        SpinnerColumn(),
        TextColumn("{task.completed} pages"),
        TimeElapsedColumn(),
        TextColumn("{task.description}"),
    )
    reports: list[Report] = []
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task(one_line(address), total=None)
        async for report in found:
            reports.append(report)
            bar.update(task, advance=1, description=one_line(report.name))
    return reports
