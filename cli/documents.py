"""citewell documents: list, show and delete the library's documents."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cli.command import Caller, Exit, acting, identity_of, opened, warn_empty_library
from cli.console import one_line, print_json, print_rows, printable, result_console
from cli.nearest_names import refuse_unknown_spaces
from cli.options import Cursor, Yes, as_id, confirmed, writing

if TYPE_CHECKING:
    from tools.library.catalogue import RawText

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
@acting
async def list_(
    by: Caller,
    limit: Limit = 100,
    cursor: Cursor = None,
    space: Space = None,
    title: Title = None,
    source: SourceFilter = None,
    path: PathFilter = None,
) -> None:
    """List the documents that you may read, most recently changed first."""
    async with by.storage() as storage:
        page = await storage.documents.list(
            storage.identity,
            limit=limit,
            cursor=cursor,
            space=space,
            title=title,
            path=path,
            source=None if source is None else as_id(source, "source"),
        )
        if not page.documents:
            await refuse_unknown_spaces(storage.documents, storage.identity, [space] if space else [])
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
        as_json=by.as_json,
        numbers={2},
        more=page.next_cursor and f"citewell documents list --cursor {page.next_cursor}",
    )


@documents.command()
@acting
async def show(by: Caller, document_id: DocumentId) -> None:
    """Show a document's details."""
    from rich.text import Text

    from cli.console import plain

    async with by.storage() as storage:
        document = await storage.documents.get(storage.identity, as_id(document_id, "document"))
    if by.as_json:
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
@acting
async def raw(by: Caller, document_id: DocumentId) -> None:
    """Print a document's canonical text, to which the offsets of citations refer."""
    async with by.storage() as storage:
        raw_text = await storage.documents.raw_text(storage.identity, as_id(document_id, "document"))
    _print_text(raw_text, by.as_json)


@documents.command()
@acting
async def original(
    by: Caller,
    document_id: DocumentId,
    out: Annotated[Path | None, typer.Option("--out", help="The file to write; default: stdout.")] = None,
) -> None:
    """Write the file that a document was read from."""
    from graph.errors import InvalidRequest

    if out is None and (by.as_json or sys.stdout.isatty()):
        raise InvalidRequest("The file is not for a terminal.", suggestion="Name a file with --out.")
    async with by.storage() as storage:
        stored = await storage.originals.find(storage.identity, as_id(document_id, "document"))
        data = await storage.originals.read_whole(stored)
    if out is None:
        sys.stdout.buffer.write(data)
        return
    with writing(out):
        out.write_bytes(data)
    written = {"document_id": document_id, "file": str(out), **stored.original}
    by.tell(written, f"Wrote {out}, {stored.original['size']:,} bytes.")


@documents.command()
@acting
async def versions(
    by: Caller,
    document_id: DocumentId,
    text: Annotated[int | None, typer.Option("--text", min=1, help="Print the text of this version.")] = None,
) -> None:
    """List the texts that a document has had, with who stored and who replaced each."""
    from tools.library.versions import Versions

    async with by.storage() as storage:
        kept, me = Versions(storage.database, storage.workspaces), storage.identity
        if text is not None:
            _print_text(await kept.read(me, as_id(document_id, "document"), text), by.as_json)
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
    print_rows({"versions": found}, columns, rows, as_json=by.as_json, numbers={0})


@documents.command()
@acting
async def restore(
    by: Caller,
    document_id: DocumentId,
    version: Annotated[int, typer.Argument(min=1, help="The version's number.", show_default=False)],
) -> None:
    """Make a text that was replaced the document's text again, as a new version."""
    settings = by.settings()
    async with opened(settings) as citewell:
        ingestor = citewell.library.ingestor
        restored = await ingestor.restore(identity_of(settings), as_id(document_id, "document"), version)
    by.tell(restored, f"“{restored.title}” has the text of its version {version} again.")


@documents.command()
@acting
async def delete(by: Caller, document_id: DocumentId, yes: Yes = False) -> Exit:
    """Delete a document; `citewell purge` later removes it for good."""
    async with by.storage() as storage:
        document = await storage.documents.get(storage.identity, as_id(document_id, "document"))
        if not confirmed(f"Delete the document “{document.title}”?", yes):
            return Exit.USAGE
        await storage.documents.delete(storage.identity, document.document_id)
    by.tell({"document_id": document.document_id, "deleted": True}, f"Deleted “{document.title}”.")
    return Exit.OK


def _print_text(raw_text: "RawText", as_json: bool) -> None:
    if as_json:
        print_json(raw_text)
        return
    text = "".join(segment["text"] for segment in raw_text["segments"])
    if sys.stdout.isatty():
        text = printable(text)
    sys.stdout.write(text)
