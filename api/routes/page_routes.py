"""Routes of the web page at `/`: the same files for everyone, and no user data."""

import re
from http import HTTPStatus
from typing import Annotated

from fastapi import APIRouter, Depends, Request
from fastapi.responses import Response

from api.dependencies import KnownTags
from api.static_files import PageFile, PageFiles
from graph.errors import NotFound

router = APIRouter(include_in_schema=False)
READ = ["GET", "HEAD"]
FOREVER = "public, max-age=31536000, immutable"
ASK_AGAIN = "no-cache"
# What every reply says, one for each of the hundred files that the page begins with.
FILE_HEADERS = {
    "Vary": "Accept-Encoding",
    "X-Content-Type-Options": "nosniff",
}
# What binds a document: the page, and a picture that somebody opens by itself.
DOCUMENT_HEADERS = {
    **FILE_HEADERS,
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; "
        "form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
    ),
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Origin-Agent-Cluster": "?1",
    "Permissions-Policy": "camera=(), display-capture=(), geolocation=(), microphone=(), payment=(), usb=()",
    "Referrer-Policy": "no-referrer",
    "X-Frame-Options": "DENY",
}
PART = re.compile(r"text/(?:javascript|css)")
_GZIP = re.compile(r"(?:^|,)\s*(?:x-)?gzip\s*(?:;\s*q=(?P<quality>[\d.]+)\s*)?(?=,|$)", re.IGNORECASE)


def _page(request: Request) -> PageFiles:
    page: PageFiles = request.app.state.page
    return page


Page = Annotated[PageFiles, Depends(_page)]


@router.api_route("/", methods=READ)
async def open_page(request: Request, page: Page, known: KnownTags) -> Response:
    """Open the page."""
    return _answer(request, page.index, ASK_AGAIN, known)


@router.api_route("/page/{version}/{path:path}", methods=READ)
async def get_page_file(version: str, path: str, request: Request, page: Page, known: KnownTags) -> Response:
    """Return a file of the page.

    A page that was open while the service was upgraded asks for files of the version that it began with. It is given
    those of today, for this once.
    """
    file = page.files.get(path)
    if file is None:
        raise NotFound("The page has no such file.", suggestion="Open the page anew.")
    return _answer(request, file, FOREVER if version == page.version else ASK_AGAIN, known)


def _answer(request: Request, file: PageFile, caching: str, known: list[str]) -> Response:
    headers = {**(FILE_HEADERS if PART.match(file.media_type) else DOCUMENT_HEADERS), "Cache-Control": caching}
    if caching == ASK_AGAIN:
        headers["ETag"] = file.tag
        if file.tag in known:
            return Response(status_code=HTTPStatus.NOT_MODIFIED, headers=headers)
    content = file.content
    if file.compressed is not None and _takes_gzip(request):
        content = file.compressed
        headers["Content-Encoding"] = "gzip"
    return Response(content, headers={**headers, "Content-Type": file.media_type})


def _takes_gzip(request: Request) -> bool:
    found = _GZIP.search(request.headers.get("accept-encoding", ""))
    return found is not None and (found["quality"] is None or found["quality"].strip("0.") != "")
