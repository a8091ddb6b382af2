"""Documents: brought in, listed, read as they are stored, shown as a page, deleted."""

import asyncio
from dataclasses import replace
from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Query, Response, status
from fastapi.responses import HTMLResponse

from api.dependencies import Me, OpenLibrary
from api.document_page import HEADERS, render_page
from api.errors import problems
from api.intake import BODY, Incoming
from api.schemas.fields import Cursor, Limit, Name
from graph.errors import NotFound
from tools.documents import Document, DocumentPage, RawText
from tools.ingestion import Ingested

router = APIRouter(tags=["documents"])
WRITING = problems(400, 404, 413, 415, 422, 503)
Filter = Annotated[Name | None, Query()]


@router.post("/api/documents", status_code=status.HTTP_201_CREATED, openapi_extra=BODY, responses=WRITING)
async def add_document(document: Incoming, me: Me, library: OpenLibrary) -> Ingested:
    """Bring in a document under an id of ours."""
    return await library.ingestor.ingest(me, document)


@router.put("/api/documents/{document_id}", openapi_extra=BODY, responses=WRITING)
async def put_document(
    document_id: UUID, document: Incoming, me: Me, library: OpenLibrary, response: Response
) -> Ingested:
    """Bring in a document under your own id, or its new version; an unchanged one writes nothing."""
    ingested = await library.ingestor.ingest(me, replace(document, document_id=str(document_id)))
    if ingested.status == "created":
        response.status_code = status.HTTP_201_CREATED
    return ingested


@router.get("/api/documents", responses=problems(422, 503))
async def list_documents(
    me: Me, library: OpenLibrary, limit: Limit = 50, cursor: Cursor = None, space: Filter = None, title: Filter = None
) -> DocumentPage:
    """List documents, the last changed first; ``space`` is an id or a slug, ``title`` a part of the title."""
    return await library.documents.list(me, limit=limit, cursor=cursor, space=space, title=title)


@router.get("/api/documents/{document_id}", responses=problems(404, 422, 503))
async def get_document(document_id: UUID, me: Me, library: OpenLibrary) -> Document:
    """Read what is known of a document."""
    return await library.documents.get(me, str(document_id))


@router.delete(
    "/api/documents/{document_id}", status_code=status.HTTP_204_NO_CONTENT, responses=problems(404, 422, 503)
)
async def delete_document(document_id: UUID, me: Me, library: OpenLibrary) -> None:
    """Take a document out of sight at once; `citewell purge` removes it later."""
    await library.documents.delete(me, str(document_id))


@router.get("/api/documents/{document_id}/raw-text", responses=problems(404, 422, 503))
async def get_raw_text(document_id: UUID, me: Me, library: OpenLibrary) -> RawText:
    """Read a document's canonical text by its segments; every offset in the API points into it."""
    return await library.documents.raw_text(me, str(document_id))


@router.get("/documents/{document_id}", response_class=HTMLResponse, responses=problems(404, 422, 503))
async def open_document(document_id: UUID, me: Me, library: OpenLibrary) -> HTMLResponse:
    """Show a document as a page; `#segment-N` is the address of a segment in it."""
    pages = await library.reader.read_pages([str(document_id)], me)
    if not pages:
        raise NotFound(f"There is no document {document_id}.")
    return HTMLResponse(await asyncio.to_thread(render_page, pages[0]), headers=HEADERS)
