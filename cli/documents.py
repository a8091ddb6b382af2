"""citewell documents: list, show and delete the library's documents."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cli.command import (
    Exit,
    Storage,
    awaited,
    identity_of,
    opened,
    opened_database,
    run,
    settings_for,
    warn_empty_library,
)
from cli.console import print_json, result_console
from cli.options import AsJson, UserName, WorkspaceName, Yes, as_id, confirmed, writing

if TYPE_CHECKING:
    from tools.library.catalogue import Documents, RawText

documents = typer.Typer(help="List, read and delete documents.", no_args_is_help=True)
DocumentId = Annotated[str, typer.Argument(help="The document's id.", show_default=False)]
Limit = Annotated[int, typer.Option(min=1, max=200, help="How many at most.")]
Cursor = Annotated[str | None, typer.Option(help="Continue where the last list ended.", show_default=False)]
Space = Annotated[str | None, typer.Option(help="Only documents of this space, by its id or slug.")]
SourceFilter = Annotated[str | None, typer.Option("--source", help="Only documents of this source, by its id.")]
PathFilter = Annotated[
    str | None, typer.Option("--path", help="Only documents whose path begins so, or matches it with * and ?.")
]
Title = Annotated[str | None, typer.Option(help="Only documents with this in their title.")]


@documents.command("list")
def list_(
    limit: Limit = 100,
    cursor: Cursor = None,
    space: Space = None,
    title: Title = None,
    source: SourceFilter = None,
    path: PathFilter = None,
    workspace: WorkspaceName = None,
    user: UserName = None,
    as_json: AsJson = False,
) -> None:
    """List the documents that you may read, most recently changed first."""
    by: dict[str, Any] = {"cursor": cursor, "space": space, "title": title, "path": path, "source": source}
    run(_list(limit, by, workspace, user, as_json), as_json=as_json)


@documents.command()
@awaited
async def show(
    document_id: DocumentId, workspace: WorkspaceName = None, user: UserName = None, as_json: AsJson = False
) -> None:
    """Show a document's details."""
    from rich.text import Text

    from cli.console import plain
    from cli.tables import one_line

    settings = settings_for(workspace, user)
    async with opened_database(settings) as storage:
        document = await _documents(storage).get(identity_of(settings), as_id(document_id, "document"))
    if as_json:
        print_json(document)
        return
    console = result_console()
    fields = plain(document)
    fields["places"] = ", ".join(
        f"{place['path']} ({place['kind']} {place['source_id']}, seen {place['seen_at']:.16})"
        for place in document.places
    )
    fields["similar_to"] = ", ".join(
        f"{other['share']:.0%} “{other['title']}” ({other['document_id']})" for other in document.similar_to
    )
    for name, value in fields.items():
        if value not in (None, {}, ""):
            console.print(Text.assemble((name.ljust(13), "dim"), one_line(str(value))), soft_wrap=True)


@documents.command()
@awaited
async def raw(
    document_id: DocumentId, workspace: WorkspaceName = None, user: UserName = None, as_json: AsJson = False
) -> Exit:
    """Print a document's canonical text, to which the offsets of citations refer."""
    settings = settings_for(workspace, user)
    async with opened_database(settings) as storage:
        raw_text = await _documents(storage).raw_text(identity_of(settings), as_id(document_id, "document"))
    return _print_text(raw_text, as_json)


@documents.command()
@awaited
async def original(
    document_id: DocumentId,
    out: Annotated[Path | None, typer.Option("--out", help="The file to write; default: stdout.")] = None,
    workspace: WorkspaceName = None,
    user: UserName = None,
    as_json: AsJson = False,
) -> None:
    """Write the file that a document was read from."""
    from graph.errors import InvalidRequest
    from tools.originals.originals import Originals

    if out is None and (as_json or sys.stdout.isatty()):
        raise InvalidRequest("The file is not for a terminal.", suggestion="Name a file with --out.")
    settings = settings_for(workspace, user)
    async with opened_database(settings) as storage:
        originals = Originals.of(settings, storage.database, storage.workspaces)
        stored = await originals.find(identity_of(settings), as_id(document_id, "document"))
        data = await originals.read_whole(stored)
    if out is None:
        sys.stdout.buffer.write(data)
        return
    with writing(out):
        out.write_bytes(data)
    if as_json:
        print_json({"document_id": document_id, "file": str(out), **stored.original})
    else:
        print(f"Wrote {out}, {stored.original['size']:,} bytes.")


@documents.command()
@awaited
async def versions(
    document_id: DocumentId,
    text: Annotated[int | None, typer.Option("--text", min=1, help="Print the text of this version.")] = None,
    workspace: WorkspaceName = None,
    user: UserName = None,
    as_json: AsJson = False,
) -> Exit:
    """List the texts that a document has had, with who stored and who replaced each."""
    from cli.tables import show_table
    from tools.library.versions import Versions

    settings = settings_for(workspace, user)
    async with opened_database(settings) as storage:
        kept, me = Versions(storage.database, storage.workspaces), identity_of(settings)
        if text is not None:
            return _print_text(await kept.read(me, as_id(document_id, "document"), text), as_json)
        found = await kept.list(me, as_id(document_id, "document"))
    if as_json:
        print_json({"versions": found})
        return Exit.OK
    rows = [
        [
            str(each.version),
            each.title,
            f"{each.changed_at:%Y-%m-%d %H:%M}",
            each.changed_by or "",
            "current" if each.replaced_at is None else f"{each.replaced_at:%Y-%m-%d %H:%M}",
            each.replaced_by or "",
        ]
        for each in found
    ]
    show_table(result_console(), ["Version", "Title", "Stored", "By", "Replaced", "By"], rows, numbers={0})
    return Exit.OK


@documents.command()
@awaited
async def restore(
    document_id: DocumentId,
    version: Annotated[int, typer.Argument(min=1, help="The version's number.", show_default=False)],
    workspace: WorkspaceName = None,
    user: UserName = None,
    as_json: AsJson = False,
) -> None:
    """Make a text that was replaced the document's text again, as a new version."""
    settings = settings_for(workspace, user)
    async with opened(settings) as citewell:
        restored = await citewell.library.ingestor.restore(
            identity_of(settings), as_id(document_id, "document"), version
        )
    if as_json:
        print_json(restored)
    else:
        print(f"“{restored.title}” has the text of its version {version} again.")


@documents.command()
@awaited
async def delete(
    document_id: DocumentId,
    yes: Yes = False,
    workspace: WorkspaceName = None,
    user: UserName = None,
    as_json: AsJson = False,
) -> Exit:
    """Delete a document; `citewell purge` later removes it for good."""
    settings = settings_for(workspace, user)
    async with opened_database(settings) as storage:
        documents_ = _documents(storage)
        document = await documents_.get(identity_of(settings), as_id(document_id, "document"))
        if not confirmed(f"Delete the document “{document.title}”?", yes):
            return Exit.USAGE
        await documents_.delete(identity_of(settings), document.document_id)
    if as_json:
        print_json({"document_id": document.document_id, "deleted": True})
    else:
        print(f"Deleted “{document.title}”.")
    return Exit.OK


def _documents(storage: Storage) -> "Documents":
    from tools.library.catalogue import Documents

    return Documents(storage.database, storage.workspaces)


async def _list(limit: int, by: dict[str, Any], workspace: str | None, user: str | None, as_json: bool) -> Exit:
    from cli.tables import show_table

    if by["source"] is not None:
        by["source"] = as_id(by["source"], "source")
    settings = settings_for(workspace, user)
    async with opened_database(settings) as storage:
        page = await _documents(storage).list(identity_of(settings), limit=limit, **by)
        if not page.documents:
            await warn_empty_library(storage, settings)
    if as_json:
        print_json({"documents": page.documents, "next_cursor": page.next_cursor})
        return Exit.OK
    rows = [
        [
            d.document_id,
            d.title,
            str(d.segments),
            d.owner or "",
            ", ".join(d.readers or ()),
            f"{d.updated_at:%Y-%m-%d}",
            ", ".join(place["path"] for place in d.places),
        ]
        for d in page.documents
    ]
    show_table(
        result_console(), ["Document", "Title", "Segments", "Owner", "Readers", "Changed", "Path"], rows, numbers={2}
    )
    if page.next_cursor:
        typer.echo(f"More: citewell documents list --cursor {page.next_cursor}", err=True)
    return Exit.OK


def _print_text(raw_text: "RawText", as_json: bool) -> Exit:
    if as_json:
        print_json(raw_text)
        return Exit.OK
    text = "".join(segment["text"] for segment in raw_text["segments"])
    if sys.stdout.isatty():
        from cli.tables import printable

        text = printable(text)
    sys.stdout.write(text)
    return Exit.OK
