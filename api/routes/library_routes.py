"""Library routes: add, list, read, show and delete documents, and search without an answer."""

import asyncio
from dataclasses import replace
from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Path, Query, Request, Response, status
from fastapi.responses import HTMLResponse
from pydantic import Field

from answers.citations import describe_source
from api.dependencies import Asking, Needs, needs
from api.document_page import HEADERS, render_page
from api.document_upload import UPLOAD_BODY, UploadedDocument
from api.fields import Body, Name, Printable
from api.original_files import send_layout, send_original, send_picture
from api.problems import problems
from api.routes.job_routes import ACCEPTED, Prefer, Preference, store_or_accept
from graph.errors import InvalidRequest, NotFound
from graph.evidence import Identity, Source
from graph.ports import SearchQuery
from graph.rows import SourceRow
from tools.auth.document_links import LinkedPlace
from tools.library.catalogue import DocumentDetails, RawText
from tools.library.ingestion import Ingested, IngestedArchive
from tools.library.layout import Layout
from tools.library.new_documents import MOST_CHARACTERS, NewDocument, readers_with
from tools.library.ownership import change_owner
from tools.library.places import PlaceInOriginal
from tools.library.versions import Version
from tools.process.library import Library

documents_router = APIRouter(tags=["documents"])
_WRITES = Needs(("write",))
WRITING = {**ACCEPTED, **problems(400, 404, 413, 415, 422, 429, 503)}


@documents_router.post(
    "/api/documents",
    status_code=status.HTTP_201_CREATED,
    response_model=Ingested | IngestedArchive,
    openapi_extra=UPLOAD_BODY,
    responses={200: {"description": "It is there already.", "model": Ingested | IngestedArchive}, **WRITING},
)
@needs("write")
async def add_document(
    document: UploadedDocument, by: Asking, prefer: Prefer, request: Request, response: Response
) -> Ingested | IngestedArchive | Response:
    """Add a document under a new id, or fetch a page under that of its address.

    Each file of a zip archive becomes a document under an id of its own. What takes longer than `Prefer: wait=N`
    seconds becomes a job.
    """
    ingested = await _ingest(request, response, by.me, by.library, document, prefer)
    if isinstance(ingested, Ingested) and ingested.status != "created":
        response.status_code = status.HTTP_200_OK  # the page was fetched before
    return ingested


@documents_router.put(
    "/api/documents/{document_id}",
    response_model=Ingested | IngestedArchive,
    openapi_extra=UPLOAD_BODY,
    responses={201: {"description": "It is new.", "model": Ingested | IngestedArchive}, **WRITING},
)
@needs("write")
async def put_document(
    document_id: UUID, document: UploadedDocument, by: Asking, prefer: Prefer, request: Request, response: Response
) -> Ingested | IngestedArchive | Response:
    """Add or replace a document under your own id; an unchanged one writes nothing.

    The files of a zip archive get ids that are derived from yours and from their paths. What takes longer than
    `Prefer: wait=N` seconds becomes a job.
    """
    named = replace(document, document_id=str(document_id))
    ingested = await _ingest(request, response, by.me, by.library, named, prefer)
    if isinstance(ingested, Ingested) and ingested.status == "created":
        response.status_code = status.HTTP_201_CREATED
    return ingested


async def _ingest(
    request: Request, response: Response, me: Identity, library: Library, document: NewDocument, prefer: Preference
) -> Ingested | IngestedArchive | Response:
    readers_with(me, document.readers, document.owner)
    if document.text is None and document.data is None:
        return await library.pages.ingest_page(me, document)
    return await store_or_accept(request, response, me, library, document, prefer)


@documents_router.get("/api/documents/{document_id}", responses=problems(404, 422, 503))
@needs("read")
async def get_document(document_id: UUID, by: Asking) -> DocumentDetails:
    """Read a document's details, without its text."""
    return await by.library.documents.get(by.me, str(document_id))


DocumentTitle = Annotated[str, Field(min_length=1, max_length=MOST_CHARACTERS["title"]), Printable]


class DocumentChange(Body):
    """What to change of a document without sending it again; what is left out stays."""

    title: DocumentTitle | None = Field(
        default=None, description="What it is called from the next answer on, also when its file is read anew."
    )
    readers: list[str] | None = Field(
        default=None,
        description="Who may read it from the next request on: `user:NAME`, `group:NAME`, or `everyone`. The owner "
        "always does.",
    )
    owner: Annotated[str, Field(min_length=1, max_length=200)] | None = Field(
        default=None, description="Whose it is from the next request on; null for nobody's."
    )


@documents_router.patch(
    "/api/documents/{document_id}",
    response_model=DocumentDetails,
    responses={204: {"description": "Changed, and not yours to read any more."}, **problems(403, 404, 413, 422, 503)},
)
@needs("write", "admin")
async def change_document(document_id: UUID, change: DocumentChange, by: Asking) -> DocumentDetails | Response:
    """Change what a document is called, who may read it, or who owns it; its text stays as it is.

    Its owner may make it nobody's. To make what is nobody's one's own, to name somebody else, and to change the owner
    of a document of somebody else needs the scope `admin`. To change what it is called needs the scope `write`.
    """
    if change.title is not None:
        _WRITES.check(by.grant.rights_in(by.me.workspace))
        await by.library.ingestor.rename(by.me, str(document_id), " ".join(change.title.split()))
    if change.readers is not None:
        await by.library.documents.set_readers(by.me, str(document_id), change.readers)
    if "owner" in change.model_fields_set:
        await change_owner(by.library.database, by.library.workspaces, by.me, str(document_id), change.owner)
    elif change.readers is None and change.title is None:
        raise InvalidRequest("Send title, readers or owner.")
    try:
        return await by.library.documents.get(by.me, str(document_id))
    except NotFound:
        return Response(status_code=status.HTTP_204_NO_CONTENT)


@documents_router.delete(
    "/api/documents/{document_id}", status_code=status.HTTP_204_NO_CONTENT, responses=problems(404, 422, 503)
)
@needs("write")
async def delete_document(document_id: UUID, by: Asking) -> None:
    """Hide a document at once; `citewell purge` removes it later."""
    await by.library.documents.delete(by.me, str(document_id))


@documents_router.get("/api/documents/{document_id}/raw-text", responses=problems(404, 422, 503))
@needs("ask", "read", opens=True)
async def get_raw_text(document_id: UUID, by: Asking) -> RawText:
    """Read a document's canonical text by segments; every offset in the API refers to this text."""
    return await by.library.documents.raw_text(by.me, str(document_id))


class VersionList(Body):
    """The versions of a document, the current one first."""

    versions: list[Version]


VersionNumber = Annotated[int, Path(ge=1, le=2**31 - 1)]


@documents_router.get("/api/documents/{document_id}/versions", responses=problems(404, 422, 503))
@needs("read")
async def list_versions(document_id: UUID, by: Asking) -> VersionList:
    """List the texts that a document has had, with who stored and who replaced each."""
    return VersionList(versions=await by.library.versions.list(by.me, str(document_id)))


@documents_router.get("/api/documents/{document_id}/versions/{version}", responses=problems(404, 422, 503))
@needs("read")
async def get_version(document_id: UUID, version: VersionNumber, by: Asking) -> RawText:
    """Read a text that was replaced."""
    return await by.library.versions.read(by.me, str(document_id), version)


@documents_router.post("/api/documents/{document_id}/versions/{version}/restore", responses=problems(404, 422, 503))
@needs("write")
async def restore_version(document_id: UUID, version: VersionNumber, by: Asking) -> Ingested:
    """Make a text that was replaced the document's text again, as a new version; its owner and space stay."""
    return await by.library.ingestor.restore(by.me, str(document_id), version)


_FILE: dict[str, Any] = {"content": {"*/*": {"schema": {"type": "string", "format": "binary"}}}}
_ORIGINAL: dict[int | str, dict[str, Any]] = {
    200: {"description": "The file, of its own media type.", **_FILE},
    206: {"description": "The bytes that `Range` names.", **_FILE},
    304: {"description": "The file is the one that `If-None-Match` names."},
    **problems(404, 416, 422, 503),
}


@documents_router.get("/api/documents/{document_id}/original", response_class=Response, responses=_ORIGINAL)
@documents_router.head("/api/documents/{document_id}/original", response_class=Response, include_in_schema=False)
@needs("read")
async def get_original(document_id: UUID, by: Asking, request: Request) -> Response:
    """Read the file that a document was read from; `Range` reads a part of it."""
    stored = await by.library.originals.find(by.me, str(document_id))
    return await send_original(request, by.library.originals, stored, str(document_id))


@documents_router.get("/api/documents/{document_id}/layout", response_model=Layout, responses=problems(404, 422, 503))
@needs("ask", "read", opens=True)
async def get_layout(document_id: UUID, by: Asking) -> Response:
    """Read what each block of a document's text is, and where its pictures stand."""
    return await send_layout(by.library.layouts.pieces(by.me, str(document_id), with_pictures=by.me.reads_files))


_PICTURE: dict[int | str, dict[str, Any]] = {
    200: {"description": "The picture, as PNG, JPEG, GIF or WebP.", **_FILE},
    **problems(404, 422, 503),
}
PictureNumber = Annotated[int, Path(ge=0, le=999_999)]


@documents_router.get("/api/documents/{document_id}/pictures/{number}", response_class=Response, responses=_PICTURE)
@needs("read")
async def get_picture(document_id: UUID, number: PictureNumber, by: Asking) -> Response:
    """Read a picture that the layout names."""
    return send_picture(await by.library.layouts.picture(by.me, str(document_id), number))


Offset = Annotated[int | None, Query(ge=0, le=2**31 - 1, description="An offset in the canonical text.")]
SegmentNumber = Annotated[int, Path(ge=0, le=999_999_999)]


@documents_router.get("/api/documents/{document_id}/segments/{index}/place", responses=problems(404, 422, 503))
@needs("ask", "read", opens=True)
async def get_place(
    document_id: UUID, index: SegmentNumber, by: Asking, start: Offset = None, end: Offset = None
) -> PlaceInOriginal:
    """Find where in its original a segment stands, or its part from `start` to `end`."""
    return await by.library.places.find(by.me, str(document_id), index, start, end)


@documents_router.get("/documents/{document_id}", response_class=HTMLResponse, responses=problems(404, 422, 503))
@needs("ask", "read", opens=True)
async def open_document(
    document_id: UUID,
    by: Asking,
    request: Request,
    quote: Annotated[str | None, Query(pattern=r"^\d{1,9}-\d{1,9}$", description="Offsets to mark: `12-90`.")] = None,
    check: Annotated[
        str | None, Query(pattern=r"^[0-9a-f]{1,8}$", description="CRC-32 of the quote, by which a change is told.")
    ] = None,
) -> HTMLResponse:
    """Show a document as a page, or with scripts in the viewer; `#segment-N` is the address of a segment in it."""
    pages = await by.library.reader.read_pages([str(document_id)], by.me)
    if not pages:
        raise NotFound(f"There is no document {document_id}.")
    start, end = map(int, quote.split("-")) if quote else (0, 0)
    place = LinkedPlace(str(document_id), 0, start, end, int(check or "0", 16))
    version = request.app.state.page.version
    return HTMLResponse(await asyncio.to_thread(render_page, pages[0], place, version), headers=HEADERS)


search_router = APIRouter(tags=["search"])


class SearchResults(Body):
    """Matching segments, best first. ``degraded`` names the reason why a part of search was left out."""

    query: str
    degraded: str | None
    results: list[Source]


@search_router.get("/api/search", responses=problems(422, 503))
@needs("read")
async def search(
    by: Asking,
    q: Annotated[str, Query(min_length=1, max_length=10_000, description="The search query."), Printable],
    top_k: Annotated[int, Query(ge=1, le=30)] = 10,
    min_score: Annotated[float, Query(ge=0, le=1)] = 0.3,
    space: Annotated[list[Name], Query(description="Ids or slugs of spaces; all if absent.", max_length=100)] = [],  # noqa: B006
) -> SearchResults:
    """Search the library by words and meaning."""
    query = SearchQuery(q, by.me, top_k=top_k, min_score=min_score, spaces=tuple(space), expand=0)
    found = await by.library.searcher.search(query)
    results = [
        describe_source(
            SourceRow(index=i, segment_id=hit.segment.segment_id, kind=hit.kind, score=hit.score), hit.segment
        )
        for i, hit in enumerate(found.hits, start=1)
    ]
    return SearchResults(query=q, degraded=found.degraded, results=results)
