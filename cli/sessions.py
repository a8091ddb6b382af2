"""citewell sessions and export: list, show, rename and delete conversations, and write one as a file with its proof."""

import sys
from pathlib import Path
from typing import Annotated, Literal

import typer

from cli.command import Caller, Exit, acting
from cli.console import one_line, print_json, print_rows, progress_console, result_console
from cli.options import Cursor, Yes, as_id, confirmed, writing
from graph.errors import InvalidRequest

sessions = typer.Typer(help="List, read, rename and delete conversations.", no_args_is_help=True)
SessionId = Annotated[str, typer.Argument(help="The session's id.", show_default=False)]
Limit = Annotated[int, typer.Option(min=1, max=500, help="How many at most.")]
Title = Annotated[str, typer.Argument(help="The new title, 1 to 255 characters.", show_default=False)]
Branch = Annotated[
    str | None,
    typer.Option(help="Show the branch through this message, instead of the latest.", show_default=False),
]
LONGEST_TITLE = 255


@sessions.command("list")
@acting
async def list_(by: Caller, limit: Limit = 50, cursor: Cursor = None) -> None:
    """List your sessions, most recently used first."""
    async with by.storage() as storage:
        page = await storage.sessions.list(storage.identity, limit=limit, cursor=cursor)
    rows = [[s.session_id, s.title, f"{s.updated_at:%Y-%m-%d %H:%M}"] for s in page.sessions]
    print_rows(
        {"sessions": page.sessions, "next_cursor": page.next_cursor},
        ["Session", "Title", "Last used"],
        rows,
        as_json=by.as_json,
        more=page.next_cursor and f"citewell sessions list --cursor {page.next_cursor}",
    )


@sessions.command()
@acting
async def show(
    by: Caller, session_id: SessionId, limit: Limit = 100, cursor: Cursor = None, branch: Branch = None
) -> None:
    """Show a session's messages, with the citations of its answers and whether their quotes have changed since."""
    from cli.rendering.transcript import show_history

    async with by.storage() as storage:
        history = await storage.sessions.get(
            storage.identity,
            as_id(session_id, "session"),
            limit=limit,
            cursor=cursor,
            branch=None if branch is None else as_id(branch, "message"),
        )
    if by.as_json:
        print_json({"session": history.session, "messages": history.shown, "next_cursor": history.next_cursor})
    else:
        show_history(result_console(), history)


@sessions.command()
@acting
async def rename(by: Caller, session_id: SessionId, title: Title) -> None:
    """Rename a session."""
    if not 0 < len(one_line(title)) <= LONGEST_TITLE:
        raise InvalidRequest(f"title: it must have 1 to {LONGEST_TITLE} characters.")
    async with by.storage() as storage:
        session = await storage.sessions.change(storage.identity, as_id(session_id, "session"), title=one_line(title))
    by.tell({"session": session}, f"Renamed the session {session.session_id}.")


@sessions.command()
@acting
async def delete(by: Caller, session_id: SessionId, yes: Yes = False) -> Exit:
    """Delete a session with its messages and checkpoints."""
    async with by.storage() as storage:
        history = await storage.sessions.get(storage.identity, as_id(session_id, "session"), limit=1)
        if not confirmed(f"Delete the session “{history.session.title}” for good?", yes):
            return Exit.USAGE
        await storage.sessions.delete(storage.identity, session_id)
    by.tell({"session_id": session_id, "deleted": True}, f"Deleted the session {session_id}.")
    return Exit.OK


STDOUT = Path("-")


Format = Literal["md", "docx", "html"]
Language = Literal["en", "vi", "zh"]


@acting
async def export(
    by: Caller,
    session_id: Annotated[str, typer.Argument(metavar="SESSION", help="The session's id.", show_default=False)],
    format_: Annotated[
        Format, typer.Option("--format", help="md: Markdown; docx: Word; html: a report that needs nothing else.")
    ] = "md",
    message: Annotated[
        str | None,
        typer.Option(help="The id of an answer: export it alone, with its question.", show_default=False),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", help="The file to write; - for stdout. Without it, one named after the session's title."),
    ] = None,
    language: Annotated[Language, typer.Option(help="The language of what the file itself says.")] = "en",
) -> None:
    """Write a session or an answer as a file: the answers, and for each claim its quotes and who judged it."""
    from tools.auth.document_links import DocumentLinks
    from tools.exports.formats import FILE_FORMATS, file_name
    from tools.exports.gathering import Exports
    from tools.exports.wording import words_of
    from tools.retrieval.segment_store import SegmentStore

    if out == STDOUT and by.as_json:
        raise InvalidRequest("out: with --json the file cannot go to stdout too.")
    async with by.storage() as storage:
        settings, parts = storage.settings, (storage.database, storage.workspaces)
        links = DocumentLinks(*parts, settings)
        transcript = await Exports(*parts, storage.sessions, SegmentStore(*parts), links).transcript(
            storage.identity,
            as_id(session_id, "session"),
            message=None if message is None else as_id(message, "message"),
            base_url=(settings.public_url or f"http://{settings.host}:{settings.port}").rstrip("/"),
        )
    content = FILE_FORMATS[format_].write(transcript, words_of(language))
    if out == STDOUT:
        sys.stdout.buffer.write(content)
        return
    file = out or Path(file_name(transcript, format_))
    with writing(file):
        file.write_bytes(content)
    if by.as_json:
        print_json({"file": str(file), "bytes": len(content), "withheld": transcript.withheld})
    else:
        progress_console().print(f"Written to {file}.", soft_wrap=True, markup=False)
        if transcript.withheld:
            progress_console().print("Parts are left out, because they cite documents that you may not read.")
