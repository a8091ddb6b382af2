"""Routes of exports: a session or one answer as a file, as its reader may see it now."""

import asyncio
from typing import Annotated, Any
from urllib.parse import quote
from uuid import UUID

from fastapi import APIRouter, Query, Response

from api.dependencies import Asking, needs
from api.fields import optional
from api.problems import problems
from tools.exports.exported import Transcript
from tools.exports.formats import FILE_FORMATS, ExportFormat, file_name
from tools.exports.gathering import Exports
from tools.exports.wording import Language, words_of
from tools.process.library import Library

router = APIRouter(prefix="/api/sessions", tags=["sessions"])
FILES: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "The file.",
        "content": {
            each.media_type.partition(";")[0]: {"schema": {"type": "string", "format": "binary"}}
            for each in FILE_FORMATS.values()
        },
    }
}
Format = Annotated[ExportFormat, Query(description="Markdown, Word, or a report in HTML that needs nothing else.")]
OneAnswer = Annotated[UUID | None, Query(description="The id of an answer: it alone, with its question.")]
Branch = Annotated[UUID | None, Query(description="A message id: the branch up to it, not the last used one.")]
Wording = Annotated[Language, Query(description="The language of what the file itself says.")]


@router.get("/{session_id}/export", response_class=Response, responses={**FILES, **problems(404, 422, 503)})
@needs("ask")
async def export_session(
    session_id: UUID,
    format: Format,
    by: Asking,
    message: OneAnswer = None,
    through: Branch = None,
    language: Wording = "en",
) -> Response:
    """Export a session or an answer with its proof; what you may not read any more is left out, and said to be."""
    transcript = await exports_of(by.library).transcript(
        by.me, str(session_id), message=optional(message), through=optional(through), base_url=by.address
    )
    return await file_of(transcript, format, language)


async def file_of(transcript: Transcript, format: ExportFormat, language: Language) -> Response:
    """Return a transcript as a file to save."""
    chosen = FILE_FORMATS[format]
    content = await asyncio.to_thread(chosen.write, transcript, words_of(language))
    headers = {
        "Content-Disposition": disposition(file_name(transcript, format)),
        "Content-Security-Policy": "default-src 'none'; sandbox",
        "Cache-Control": "private, no-store",
    }
    return Response(content, media_type=chosen.media_type, headers=headers)


def exports_of(library: Library) -> Exports:
    """Return what gathers the exports of a library."""
    return Exports(library.database, library.workspaces, library.sessions, library.reader, library.links)


def disposition(name: str) -> str:
    """Return the header that names a file to save, in ASCII and, as RFC 6266 has it, in any language."""
    plain = "".join(
        letter if letter.isascii() and letter.isprintable() and letter not in '"\\%;' else "_" for letter in name
    )
    return f"attachment; filename=\"{plain}\"; filename*=UTF-8''{quote(name, safe='')}"
