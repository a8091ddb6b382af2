"""citewell documents: list, show and delete the library's documents."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cli.command import (
    Exit,
    Storage,
    awaited,
    identity_of,
    opened,
    opened_database,
    settings_for,
    warn_empty_library,
)
from cli.console import print_json, print_result, print_rows, result_console
from cli.nearest_names import refuse_unknown_spaces
from cli.options import AsJson, Cursor, UserName, WorkspaceName, Yes, as_id, confirmed, writing

if TYPE_CHECKING:
    from tools.library.catalogue import Documents, RawText

documents = typer.Typer(help="List, read and delete documents.", no_args_is_help=True)
DocumentId = Annotated[str, typer.Argument(help="The document's id.", show_default=False)]
Limit = Annotated[int, typer.Option(min=1, max=200, help="How many at most.")]
Space = Annotated[str | None, typer.Option(help="Only documents of this space, by its id or slug.")]
SourceFilter = Annotated[str | None, typer.Option("--source", help="Only documents of this source, by its id.")]
PathFilter = Annotated[
    str | None, typer.Option("--path", help="Only documents whose path begins so, or matches it with * and ?.")
]
Title = Annotated[str | None, typer.Option(help="Only documents with this in their title.")]


@documents.command("list")
@awaited
async def list_(
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
    async with opened_database(settings_for(workspace, user)) as storage:
        page = await _documents(storage).list(
            storage.identity,
            limit=limit,
            cursor=cursor,
            space=space,
            title=title,
            path=path,
            source=None if source is None else as_id(source, "source"),
        )
        if not page.documents:
            await refuse_unknown_spaces(_documents(storage), storage.identity, [space] if space else [])
            await warn_empty_library(storage)
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
    print_rows(
        {"documents": page.documents, "next_cursor": page.next_cursor},
        ["Document", "Title", "Segments", "Owner", "Readers", "Changed", "Path"],
        rows,
        as_json=as_json,
        numbers={2},
        more=page.next_cursor and f"citewell documents list --cursor {page.next_cursor}",
    )


@documents.command()
@awaited
async def show(
    document_id: DocumentId, workspace: WorkspaceName = None, user: UserName = None, as_json: AsJson = False
) -> None:
    """Show a document's details."""
    from rich.text import Text

    from cli.console import plain
    from cli.tables import one_line

    async with opened_database(settings_for(workspace, user)) as storage:
        document = await _documents(storage).get(storage.identity, as_id(document_id, "document"))
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
) -> None:
    """Print a document's canonical text, to which the offsets of citations refer."""
    async with opened_database(settings_for(workspace, user)) as storage:
        raw_text = await _documents(storage).raw_text(storage.identity, as_id(document_id, "document"))
    _print_text(raw_text, as_json)


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
    print_result(
        {"document_id": document_id, "file": str(out), **stored.original},
        f"Wrote {out}, {stored.original['size']:,} bytes.",
        as_json=as_json,
    )


@documents.command()
@awaited
async def versions(
    document_id: DocumentId,
    text: Annotated[int | None, typer.Option("--text", min=1, help="Print the text of this version.")] = None,
    workspace: WorkspaceName = None,
    user: UserName = None,
    as_json: AsJson = False,
) -> None:
    """List the texts that a document has had, with who stored and who replaced each."""
    from tools.library.versions import Versions

    async with opened_database(settings_for(workspace, user)) as storage:
        kept, me = Versions(storage.database, storage.workspaces), storage.identity
        if text is not None:
            _print_text(await kept.read(me, as_id(document_id, "document"), text), as_json)
            return
        found = await kept.list(me, as_id(document_id, "document"))
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
    columns = ["Version", "Title", "Stored", "By", "Replaced", "By"]
    print_rows({"versions": found}, columns, rows, as_json=as_json, numbers={0})


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
    print_result(restored, f"“{restored.title}” has the text of its version {version} again.", as_json=as_json)


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
    async with opened_database(settings_for(workspace, user)) as storage:
        documents_ = _documents(storage)
        document = await documents_.get(storage.identity, as_id(document_id, "document"))
        if not confirmed(f"Delete the document “{document.title}”?", yes):
            return Exit.USAGE
        await documents_.delete(storage.identity, document.document_id)
    print_result(
        {"document_id": document.document_id, "deleted": True}, f"Deleted “{document.title}”.", as_json=as_json
    )
    return Exit.OK


def _documents(storage: Storage) -> "Documents":
    from tools.library.catalogue import Documents

    return Documents(storage.database, storage.workspaces)


def _print_text(raw_text: "RawText", as_json: bool) -> None:
    if as_json:
        print_json(raw_text)
        return
    text = "".join(segment["text"] for segment in raw_text["segments"])
    if sys.stdout.isatty():
        from cli.tables import printable

        text = printable(text)
    sys.stdout.write(text)
