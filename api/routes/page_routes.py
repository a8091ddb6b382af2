"""Routes of the web page at `/`: the same files for everyone, without user data."""

import asyncio
import re
from collections.abc import Mapping
from http import HTTPStatus
from typing import Annotated

from fastapi import APIRouter, Depends, FastAPI, Request
from fastapi.responses import Response

from api.dependencies import KnownTags, needs
from api.document_page import HEADERS
from api.reference_page import render_reference
from api.static_files import BESIDE, EMBED, EMBED_MARKUP, SERVICE_WORKER, PageFile, PageFiles
from graph.errors import NotFound

router = APIRouter(include_in_schema=False)
READ = ["GET", "HEAD"]
IMMUTABLE = "public, max-age=31536000, immutable"
REVALIDATE = "no-cache"
# Kept short, since every reply has them.
FILE_HEADERS = {
    "Vary": "Accept-Encoding",
}
# For documents: the page, and a picture that is opened on its own.
DOCUMENT_HEADERS = {
    **FILE_HEADERS,
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; font-src 'self'; connect-src 'self'; "
        "manifest-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
        "require-trusted-types-for 'script'; trusted-types pdf-worker citewell-worker"
    ),
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Origin-Agent-Cluster": "?1",
    "Permissions-Policy": "camera=(), display-capture=(), geolocation=(), microphone=(), payment=(), usb=()",
    "Referrer-Policy": "no-referrer",
    "X-Frame-Options": "DENY",
}
# Whatever page loads it, be it by a policy of its own; it holds nothing that is anybody's.
EMBED_HEADERS = {**FILE_HEADERS, "Access-Control-Allow-Origin": "*", "Cross-Origin-Resource-Policy": "cross-origin"}
# A worker follows its own policy, not that of the page. The one that reads PDF files loads its decoders and data from
# here, and no more; the one that opens the page without network may answer for the page, above its own address.
OWN_HEADERS: Mapping[str, Mapping[str, str]] = {
    f"{BESIDE}/worker.js": {
        **FILE_HEADERS,
        "Content-Security-Policy": "default-src 'none'; script-src 'self'; connect-src 'self'",
        "Cross-Origin-Resource-Policy": "same-origin",
    },
    SERVICE_WORKER: {**DOCUMENT_HEADERS, "Service-Worker-Allowed": "/"},
    EMBED_MARKUP: EMBED_HEADERS,
}
FOR_MINUTES = "public, max-age=600, stale-while-revalidate=86400"
PART = re.compile(r"text/(?:javascript|css)")
_GZIP = re.compile(r"(?:^|,)\s*(?:x-)?gzip\s*(?:;\s*q=(?P<quality>[\d.]+)\s*)?(?=,|$)", re.IGNORECASE)


def _page(request: Request) -> PageFiles:
    page: PageFiles = request.app.state.page
    return page


Page = Annotated[PageFiles, Depends(_page)]


@router.api_route("/", methods=READ)
@needs()
async def open_page(request: Request, page: Page, known: KnownTags) -> Response:
    """Open the page."""
    return _file_response(request, page.index, REVALIDATE, known, DOCUMENT_HEADERS)


@router.api_route("/page/{version}/{path:path}", methods=READ)
@needs()
async def get_page_file(version: str, path: str, request: Request, page: Page, known: KnownTags) -> Response:
    """Return a file of the page.

    A page that was open during an upgrade asks for files of its old version. It gets the current ones, as no-cache.
    """
    file = page.files.get(path)
    if file is None:
        raise NotFound("The page has no such file.", suggestion="Reload the page.")
    headers = OWN_HEADERS.get(path) or (FILE_HEADERS if PART.match(file.media_type) else DOCUMENT_HEADERS)
    caching = IMMUTABLE if version == page.version and path != SERVICE_WORKER else REVALIDATE
    return _file_response(request, file, caching, known, headers)


@router.api_route(f"/{EMBED}", methods=READ)
@needs()
async def get_embed(request: Request, page: Page, known: KnownTags) -> Response:
    """Return the window in other people's pages."""
    file = page.files.get(EMBED)
    if file is None:
        raise NotFound("The window in other people's pages was not built.", suggestion="Run `make page`.")
    return _file_response(request, file, FOR_MINUTES, known, EMBED_HEADERS)


@router.api_route("/docs", methods=READ)
@needs()
async def open_reference(request: Request, known: KnownTags) -> Response:
    """Show the API's description as a page."""
    app: FastAPI = request.app
    if app.state.reference is None:
        page = await asyncio.to_thread(lambda: render_reference(app.openapi()))
        app.state.reference = PageFile.of(page.encode(), ".html")
    return _file_response(request, app.state.reference, REVALIDATE, known, HEADERS)


def _file_response(
    request: Request, file: PageFile, caching: str, known: list[str], of_kind: Mapping[str, str]
) -> Response:
    headers = {**of_kind, "Cache-Control": caching}
    if caching != IMMUTABLE:
        headers["ETag"] = file.tag
        if file.tag in known:
            return Response(status_code=HTTPStatus.NOT_MODIFIED, headers=headers)
    content = file.content
    if file.compressed is not None and _accepts_gzip(request):
        content = file.compressed
        headers["Content-Encoding"] = "gzip"
    return Response(content, headers={**headers, "Content-Type": file.media_type})


def _accepts_gzip(request: Request) -> bool:
    found = _GZIP.search(request.headers.get("accept-encoding", ""))
    return found is not None and (found["quality"] is None or found["quality"].strip("0.") != "")
