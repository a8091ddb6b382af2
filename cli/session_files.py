"""citewell export: write a session or one answer as a file, with its proof."""

import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from cli.command import awaited, identity_of, opened_database, settings_for
from cli.console import print_json, progress_console
from cli.options import AsJson, UserName, WorkspaceName, as_id, writing
from graph.errors import InvalidRequest

STDOUT = Path("-")


class Format(StrEnum):
    """Markdown, Word, or a report in HTML that needs nothing else."""

    MARKDOWN = "md"
    WORD = "docx"
    HTML = "html"


class Language(StrEnum):
    """The language of what the file itself says."""

    ENGLISH = "en"
    VIETNAMESE = "vi"
    CHINESE = "zh"


@awaited
async def export(
    session_id: Annotated[str, typer.Argument(metavar="SESSION", help="The session's id.", show_default=False)],
    format_: Annotated[
        Format, typer.Option("--format", help="md: Markdown; docx: Word; html: a report that needs nothing else.")
    ] = Format.MARKDOWN,
    message: Annotated[
        str | None,
        typer.Option(help="The id of an answer: export it alone, with its question.", show_default=False),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", help="The file to write; - for stdout. Without it, one named after the session's title."),
    ] = None,
    language: Annotated[Language, typer.Option(help="The language of what the file itself says.")] = Language.ENGLISH,
    workspace: WorkspaceName = None,
    user: UserName = None,
    as_json: AsJson = False,
) -> None:
    """Write a session or an answer as a file: the answers, and for each claim its quotes and who judged it."""
    from tools.auth.document_links import DocumentLinks
    from tools.exports.formats import FILE_FORMATS, file_name
    from tools.exports.gathering import Exports
    from tools.exports.wording import words_of
    from tools.retrieval.segment_store import SegmentStore
    from tools.sessions.session_store import Sessions

    if out == STDOUT and as_json:
        raise InvalidRequest("out: with --json the file cannot go to stdout too.")
    settings = settings_for(workspace, user)
    async with opened_database(settings) as storage:
        parts = storage.database, storage.workspaces
        links = DocumentLinks(*parts, settings)
        transcript = await Exports(*parts, Sessions(*parts), SegmentStore(*parts), links).transcript(
            identity_of(settings),
            as_id(session_id, "session"),
            message=None if message is None else as_id(message, "message"),
            base_url=(settings.public_url or f"http://{settings.host}:{settings.port}").rstrip("/"),
        )
    content = FILE_FORMATS[format_.value].write(transcript, words_of(language.value))
    if out == STDOUT:
        sys.stdout.buffer.write(content)
        return
    file = out or Path(file_name(transcript, format_.value))
    with writing(file):
        file.write_bytes(content)
    if as_json:
        print_json({"file": str(file), "bytes": len(content), "withheld": transcript.withheld})
    else:
        progress_console().print(f"Written to {file}.", soft_wrap=True, markup=False)
        if transcript.withheld:
            progress_console().print("Parts are left out, because they cite documents that you may not read.")
