"""Routes of signed links: a document with the cited quote marked, for a browser without credentials.

A link opens a page for browsers without scripts, which goes on to the viewer where there are any. The viewer reads what
it shows below the link itself, so that no credentials are needed for it and each read asks anew what may be read.
"""

import asyncio
from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Depends, Request, Response
from fastapi.responses import HTMLResponse
from typing_extensions import TypedDict

from api.dependencies import OpenLibrary, needs
from api.document_page import LINK_HEADERS, NOT_OPEN, render_page
from api.original_files import send_layout, send_original, send_picture
from api.routes.library_routes import Offset, PictureNumber, SegmentNumber
from graph.errors import NotFound
from graph.evidence import Identity
from tools.auth.document_links import LinkedPlace, checksum
from tools.library.catalogue import DocumentDetails, RawText
from tools.library.places import PlaceInOriginal

router = APIRouter(include_in_schema=False)
_DOCUMENT = "/links/{token}/api/documents/{document_id}"


@router.get("/links/{token}")
@needs()
async def open_link(token: str, library: OpenLibrary, request: Request) -> HTMLResponse:
    """Open a link. What is absent, forbidden, expired or forged is answered with the same page."""
    opened = await library.links.open(token)
    if opened is not None:
        identity, place = opened
        pages = await library.reader.read_pages([place.document_id], identity)
        if pages:
            script = request.app.state.page.version
            return HTMLResponse(await asyncio.to_thread(render_page, pages[0], place, script), headers=LINK_HEADERS)
    return HTMLResponse(NOT_OPEN, status_code=404, headers=LINK_HEADERS)


class LinkedQuote(TypedDict):
    """What a link leads to. ``quote`` is empty where it names none, None where the text has changed since."""

    document_id: str
    title: str
    segment_index: int
    start: int
    end: int
    quote: str | None


@router.get("/links/{token}/api/link")
@needs()
async def get_link(token: str, library: OpenLibrary, response: Response) -> LinkedQuote:
    """Read what a link leads to."""
    identity, place = await _opened(token, library)
    raw = await library.documents.raw_text(identity, place.document_id)
    quote: str | None = "".join(segment["text"] for segment in raw["segments"])[place.start : place.end]
    if quote and checksum(quote) != place.checksum:
        quote = None
    _keep_private(response)
    return LinkedQuote(
        document_id=place.document_id,
        title=raw["title"],
        segment_index=place.segment_index,
        start=place.start,
        end=place.end,
        quote=quote,
    )


async def _opened(token: str, library: OpenLibrary) -> tuple[Identity, LinkedPlace]:
    opened = await library.links.open(token)
    if opened is None:
        raise NotFound("This link does not open.", suggestion="Ask the question again for a new link.")
    return opened


async def _reader(token: str, document_id: UUID, library: OpenLibrary, response: Response) -> Identity:
    """Return as whom a link's own document is read. Raises NotFound for any other."""
    identity, place = await _opened(token, library)
    if place.document_id != str(document_id):
        raise NotFound(f"The link leads to no document {document_id}.")
    _keep_private(response)
    return identity


def _keep_private(response: Response) -> None:
    for name in ("Cache-Control", "Referrer-Policy", "X-Robots-Tag"):
        response.headers[name] = LINK_HEADERS[name]


LinkReader = Annotated[Identity, Depends(_reader)]


@router.get(_DOCUMENT)
@needs()
async def get_linked_document(document_id: UUID, reader: LinkReader, library: OpenLibrary) -> DocumentDetails:
    """Read the details of a link's document; those that are like it are not told."""
    details = await library.documents.get(reader, str(document_id))
    details.similar_to.clear()
    return details


@router.get(f"{_DOCUMENT}/raw-text")
@needs()
async def get_linked_text(document_id: UUID, reader: LinkReader, library: OpenLibrary) -> RawText:
    """Read the text of a link's document."""
    return await library.documents.raw_text(reader, str(document_id))


@router.get(f"{_DOCUMENT}/layout")
@needs()
async def get_linked_layout(document_id: UUID, reader: LinkReader, library: OpenLibrary) -> Response:
    """Read how a link's document is laid out."""
    response = await send_layout(library.layouts.pieces(reader, str(document_id), with_pictures=reader.reads_files))
    _keep_private(response)
    return response


@router.get(f"{_DOCUMENT}/segments/{{index}}/place")
@needs()
async def get_linked_place(
    document_id: UUID,
    index: SegmentNumber,
    reader: LinkReader,
    library: OpenLibrary,
    start: Offset = None,
    end: Offset = None,
) -> PlaceInOriginal:
    """Find where in the original of a link's document a passage stands."""
    return await library.places.find(reader, str(document_id), index, start, end)


@router.get(f"{_DOCUMENT}/original")
@router.head(f"{_DOCUMENT}/original")
@needs()
async def get_linked_original(
    document_id: UUID, reader: LinkReader, library: OpenLibrary, request: Request
) -> Response:
    """Read the file of a link's document, if the credentials that the link was made with could."""
    stored = await library.originals.find(_file_reader(reader), str(document_id))
    return await send_original(request, library.originals, stored, str(document_id))


@router.get(f"{_DOCUMENT}/pictures/{{number}}")
@needs()
async def get_linked_picture(
    document_id: UUID, number: PictureNumber, reader: LinkReader, library: OpenLibrary
) -> Response:
    """Read a picture of a link's document, as its file."""
    return send_picture(await library.layouts.picture(_file_reader(reader), str(document_id), number))


def _file_reader(reader: Identity) -> Identity:
    if not reader.reads_files:
        raise NotFound("The link was made with credentials that may not read files.")
    return reader
