"""citewell ingest: add files, folders and web pages to the library."""

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, Protocol

import typer

from cli.command import Exit, Storage, identity_of, opened_database, opened_embedder, run, settings_for
from cli.console import print_json, progress_console, result_console
from cli.options import AsJson, Owner, Readers, Tasks, UserName, WorkspaceName

if TYPE_CHECKING:
    from graph.evidence import Identity, Space
    from tools.library.ingestion import Ingestor, Report
    from tools.library.likeness import SimilarDocument
    from tools.library.web_pages import Extent, WebPages
    from tools.settings import Settings

PROCESSES = 2  # that read files
LONGEST_NAME = 40  # of a file in the progress bar

Paths = Annotated[
    list[str],
    typer.Argument(
        help="Files, folders and addresses: Markdown, text, HTML, PDF, Word, Excel, PowerPoint, OpenDocument and more.",
        show_default=False,
    ),
]
SpaceSlug = Annotated[str | None, typer.Option("--space", help="The slug of the space that these belong to.")]


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


def ingest(
    paths: Paths,
    site: WholeSite = False,
    sitemap: FromSitemap = False,
    most: Most = None,
    depth: Depth = None,
    owner: Owner = None,
    readers: Readers = None,
    space: SpaceSlug = None,
    on: On = "processes",
    tasks: Tasks = None,
    shared_paths: SharedPaths = False,
    workspace: WorkspaceName = None,
    user: UserName = None,
    as_json: AsJson = False,
) -> None:
    """Add files, folders and web pages to the library.

    Unchanged files are skipped. A file that can't be read is reported with the reason, the others are ingested, and
    the exit code is 6.
    """
    if site and sitemap:
        raise typer.BadParameter("--site and --sitemap exclude each other.")
    reach = Reach("site" if site else "sitemap" if sitemap else "page", most, depth)
    if on == "ray":
        from cli.ray_ingest import ingest_on_ray

        audience = Audience(owner, readers)
        run(ingest_on_ray(paths, audience, space, workspace, user, tasks, shared_paths, as_json), as_json=as_json)
    run(_ingest(paths, reach, Audience(owner, readers), space, workspace, user, as_json), as_json=as_json)


@dataclass(frozen=True, slots=True)
class Reach:
    """How much of a site is read."""

    extent: "Extent"
    most: int | None
    depth: int | None


@dataclass(frozen=True, slots=True)
class Audience:
    """Who may read what is ingested, as documents say it."""

    owner: str | None = None
    readers: list[str] | None = None


async def _ingest(
    paths: list[str],
    reach: Reach,
    audience: Audience,
    space: str | None,
    workspace: str | None,
    user: str | None,
    as_json: bool,
) -> Exit:
    from tools.library.ingestion import Ingestor
    from tools.library.sandbox import opened_sandbox
    from tools.web.addresses import is_address

    settings = settings_for(workspace, user)
    addresses = [path for path in paths if is_address(path)]
    files = [Path(path) for path in paths if not is_address(path)]
    async with (
        opened_database(settings) as storage,
        opened_embedder(settings) as embedder,
        opened_sandbox(settings.jobs, PROCESSES) as sandbox,
    ):
        await storage.workspaces.ensure(settings.workspace)
        ingestor = Ingestor(storage.database, storage.workspaces, embedder, settings, sandbox, all_readers=True)
        reports: list[Report] = []
        if files:
            reports = await ingest_shown(ingestor, identity_of(settings), files, audience=audience, space=space)
        if addresses:
            async with opened_pages(settings, storage, ingestor) as pages:
                for address in addresses:
                    reports += await _ingest_web_shown(pages, identity_of(settings), address, reach, audience, space)
    return show_reports(reports, as_json)


def show_reports(reports: "list[Report]", as_json: bool) -> Exit:
    """Print what became of the files; return the exit code."""
    if as_json:
        print_json(as_document(reports))
    else:
        _show(reports)
    return Exit.REFUSED if any(report.status == "refused" for report in reports) else Exit.OK


async def ingest_shown(
    ingestor: "Ingestor",
    identity: "Identity",
    paths: list[Path],
    *,
    audience: Audience = Audience(),
    space: str | None = None,
) -> "list[Report]":
    """Ingest paths, with a progress bar if stderr is a terminal: files, segments, rate, time left and file name."""
    from cli.tables import one_line
    from tools.library.found_files import unread_files
    from tools.library.new_documents import NewDocument

    slug: Space | None = {"id": None, "slug": space} if space else None
    fields = NewDocument(owner=audience.owner, readers=audience.readers, space=slug, source_type="file")
    reports: list[Report] = []
    with file_progress("Ingesting") as show:
        files = unread_files(paths, identity.workspace, fields, reading=lambda name: show(name=one_line(name)))
        stored = ingestor.ingest_many(identity, files, progress=lambda done, of: show(done, of))
        async for report in stored:
            reports.append(report)
            show(segments=getattr(report, "segments", 0))
    return reports


class ShowProgress(Protocol):
    """Show how far an ingestion is: ``segments`` are added to those shown so far, ``name`` is the file being read."""

    def __call__(
        self, done: int | None = None, of: int | None = None, *, segments: int = 0, name: str | None = None
    ) -> None:
        """Change what is given."""
        ...


@contextmanager
def file_progress(what: str) -> Iterator[ShowProgress]:
    """Show a progress bar of files on stderr while the block runs, if stderr is a terminal."""
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    console = progress_console()
    columns = (
        TextColumn(what),
        BarColumn(bar_width=20),
        MofNCompleteColumn(),
        TextColumn("{task.fields[segments]} segments"),
        TextColumn("{task.fields[rate]}"),
        TimeRemainingColumn(),
        TextColumn("{task.fields[name]}", style="dim", markup=False),
    )
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task(what, total=None, segments=0, rate="", name="")

        def show(done: int | None = None, of: int | None = None, *, segments: int = 0, name: str | None = None) -> None:
            shown = bar.tasks[0]
            given: dict[str, Any] = {"segments": shown.fields["segments"] + segments}
            if name is not None:
                given["name"] = name[-LONGEST_NAME:]
            if done is not None and shown.elapsed:
                given["rate"] = f"{done / shown.elapsed:.1f}/s"
            bar.update(task, completed=done, total=of, **given)

        yield show


@asynccontextmanager
async def opened_pages(settings: "Settings", storage: Storage, ingestor: "Ingestor") -> "AsyncIterator[WebPages]":
    """Open the ingestor of web pages; close its connections on exit."""
    from tools.library.catalogue import Documents
    from tools.library.web_pages import WebPages
    from tools.originals.originals import Originals
    from tools.web.sites import WebReader

    reader = WebReader(settings)
    originals = Originals.of(settings, storage.database, storage.workspaces)
    documents = Documents(storage.database, storage.workspaces, originals)
    try:
        yield WebPages(reader, ingestor, documents, originals)
    finally:
        await reader.close()


async def _ingest_web_shown(
    pages: "WebPages", identity: "Identity", address: str, reach: Reach, audience: Audience, space: str | None
) -> "list[Report]":
    """Ingest pages, with their number and the latest one if stderr is a terminal."""
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    from cli.tables import one_line

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
        slug: Space | None = {"id": None, "slug": space} if space else None
        found = pages.ingest_web(
            identity,
            address,
            reach.extent,
            owner=audience.owner,
            readers=audience.readers,
            space=slug,
            most=reach.most,
            depth=reach.depth,
        )
        async for report in found:
            reports.append(report)
            bar.update(task, advance=1, description=one_line(report.name))
    return reports


def as_document(reports: "list[Report]") -> dict[str, object]:
    """Return the ingested and the refused files, and how many have each status."""
    statuses = [report.status for report in reports]
    return {
        "documents": [report for report in reports if report.status != "refused"],
        "refused": [report for report in reports if report.status == "refused"],
        "counts": {status: statuses.count(status) for status in ("created", "updated", "unchanged", "refused")},
    }


def similar(other: "SimilarDocument") -> str:
    """Say how much of a text another document shares."""
    return f"It shares about {other['share']:.0%} of its text with “{other['title']}”, {other['document_id']}."


def _show(reports: "list[Report]") -> None:
    from rich.text import Text

    from cli.rendering.wrapping import show_indented
    from cli.tables import one_line
    from tools.library.ingestion import Refused

    console, errors = result_console(), progress_console()
    for report in reports:
        if isinstance(report, Refused):
            errors.print(Text.assemble(("refused    ", "bold red"), (one_line(report.name), "bold")))
            show_indented(errors, one_line(f"{report.reason} {report.suggestion}"), 11)
        elif report.status != "unchanged":
            facts = f"  {report.segments} segment{'' if report.segments == 1 else 's'}  {report.document_id}"
            line = Text.assemble((report.status.ljust(11), "green"), (one_line(report.name), "bold"), (facts, "dim"))
            console.print(line, soft_wrap=True)
            if report.left_out:
                show_indented(console, one_line(" ".join(report.left_out)), 11)
            for warning in report.warnings:
                show_indented(console, one_line(f"Warning: {warning}"), 11)
            for other in report.similar_to:
                show_indented(console, one_line(similar(other)), 11)
    counts = as_document(reports)["counts"]
    assert isinstance(counts, dict)
    summary = ", ".join(f"{number} {status}" for status, number in counts.items() if number)
    console.print(summary.capitalize() + "." if summary else "No files to ingest.")
