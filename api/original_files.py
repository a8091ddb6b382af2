"""Originals over HTTP: byte ranges, entity tags, and headers that let no file act as a page of ours."""

import re
from collections.abc import AsyncIterator
from pathlib import PurePath
from urllib.parse import quote

from fastapi import Request, Response
from fastapi.responses import StreamingResponse

from api.problems import problem
from tools.library.layout import ShownPicture
from tools.originals.originals import Original, Originals, StoredOriginal

# A browser shows these without running anything of theirs in our origin. SVG is not among them: it has scripts.
_SHOWN = frozenset(
    {"application/pdf", "text/plain", "image/png", "image/jpeg", "image/gif", "image/webp", "image/avif", "image/bmp"}
)
_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; sandbox; frame-ancestors 'self'",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "private, no-cache",
    "Accept-Ranges": "bytes",
}
_RANGE = re.compile(r"\s*bytes\s*=\s*(\d{0,18})\s*-\s*(\d{0,18})\s*", re.ASCII | re.IGNORECASE)
_SUFFIXES = {"application/pdf": ".pdf", "text/html": ".html", "text/plain": ".txt", "text/markdown": ".md"}
UNSATISFIABLE = 416


async def send_original(request: Request, originals: Originals, stored: StoredOriginal, document_id: str) -> Response:
    """Answer a GET or HEAD request for an original: 200, 206 for one range, 304, or 416.

    Several ranges are answered with the whole file, as RFC 9110 allows. Raises NotFound if the bytes are gone.
    """
    original = stored.original
    tag = f'"{original["sha256"]}"'
    headers = {**_HEADERS, "ETag": tag, "Content-Disposition": _disposition(original, document_id)}
    if _names(request.headers.get("if-none-match"), tag):
        return Response(status_code=304, headers=headers)
    size = original["size"]
    span = _span(request, tag, size)
    if span is None:
        problem_headers = {"Content-Range": f"bytes */{size}", "Accept-Ranges": "bytes"}
        return problem(
            "invalid_request",
            f"The range lies outside of the file, which has {size} bytes.",
            "Ask for bytes of the file.",
            status=UNSATISFIABLE,
            headers=problem_headers,
        )
    start, end = span
    status = 200
    if (start, end) != (0, size):
        status = 206
        headers["Content-Range"] = f"bytes {start}-{end - 1}/{size}"
    headers["Content-Length"] = str(end - start)
    media_type = original["media_type"]
    headers["Content-Type"] = "text/plain; charset=utf-8" if media_type == "text/plain" else media_type
    if request.method == "HEAD":
        return Response(status_code=status, headers=headers)
    pieces = originals.read(stored, start, end)
    first = await anext(pieces, b"")  # what is missing is an error of its own, not a reply that breaks off
    return StreamingResponse(_chained(first, pieces), status_code=status, headers=headers)


async def send_layout(pieces: AsyncIterator[bytes]) -> Response:
    """Answer with a layout as it is read. Raises what its first piece does."""
    return StreamingResponse(_chained(await anext(pieces), pieces), media_type="application/json")


def send_picture(picture: ShownPicture) -> Response:
    """Answer with a picture of a raster format, under the headers of originals."""
    headers = {name: value for name, value in _HEADERS.items() if name != "Accept-Ranges"}
    return Response(picture.data, headers={**headers, "Content-Type": picture.media_type})


async def _chained(first: bytes, pieces: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    yield first
    async for piece in pieces:
        yield piece


def _span(request: Request, tag: str, size: int) -> tuple[int, int] | None:
    """Return the first byte to send and the one after the last; None if the range holds none of the file."""
    whole = (0, size)
    asked = request.headers.get("range")
    since = request.headers.get("if-range")
    if request.method != "GET" or asked is None or (since is not None and since.strip() != tag):
        return whole
    found = _RANGE.fullmatch(asked)
    if found is None or not (found[1] or found[2]):
        return whole
    if not found[1]:
        return (max(0, size - int(found[2])), size) if int(found[2]) else None
    start, last = int(found[1]), int(found[2]) if found[2] else size - 1
    if found[2] and last < start:
        return whole  # not a range at all
    return (start, min(last + 1, size)) if start < size else None


def _names(header: str | None, tag: str) -> bool:
    """Whether If-None-Match names the tag, strong or weak."""
    known = [each.strip().removeprefix("W/") for each in (header or "").split(",")]
    return tag in known or known == ["*"]


def _disposition(original: Original, document_id: str) -> str:
    name = original["name"] or f"{document_id}{_SUFFIXES.get(original['media_type'], '')}"
    name = "".join(letter if letter.isprintable() and letter not in "/\\" else "_" for letter in PurePath(name).name)
    shown = "inline" if original["media_type"] in _SHOWN else "attachment"
    plain = "".join(letter if letter.isascii() and letter not in '"%;' else "_" for letter in name)
    return f"{shown}; filename=\"{plain}\"; filename*=UTF-8''{quote(name, safe='')}"
