"""Fetch a page of the web, with every redirect behind the guard, within caps on time and size.

Requests go through a bare transport: no cookie is kept, no credential sent, no proxy of the environment used, no
redirect followed and nothing unpacked except by the code here. Bodies are capped on the wire and unpacked.
"""

import asyncio
import codecs
import re
import zlib
from dataclasses import dataclass

import httpx2

from graph.errors import UnreadableDocument, WebUnavailable
from tools.parsers.plain import decode
from tools.web.guard import Guard, Target

TOO_LARGE = "it is too large"
_GZIP = 31  # zlib's window bits for a gzip header and the largest window


async def read_body(response: httpx2.Response, max_bytes: int) -> bytes:
    """Read a body as it is or packed by gzip, the one packing that is ever asked for.

    No more than ``max_bytes`` are taken from the wire, and no more are unpacked. Raises WebUnavailable where there is
    more, where the packing is another or broken, or the body ends early.
    """
    packing = response.headers.get("content-encoding", "identity").strip().lower()
    if packing not in ("identity", "", "gzip", "x-gzip"):
        raise WebUnavailable("it is packed in a way that was not asked for")
    declared = response.headers.get("content-length", "")
    if declared.isascii() and declared.isdigit() and int(declared[:20]) > max_bytes:
        raise WebUnavailable(TOO_LARGE)
    unpacker = zlib.decompressobj(_GZIP) if packing.endswith("gzip") else None
    try:
        return await _read(response, unpacker, max_bytes)
    except httpx2.TransportError as error:
        raise WebUnavailable("the connection broke") from error
    except zlib.error as error:
        raise WebUnavailable("its packing is broken") from error


async def _read(response: httpx2.Response, unpacker: "zlib._Decompress | None", max_bytes: int) -> bytes:
    body = bytearray()
    received = 0
    async for data in response.aiter_raw():
        received += len(data)
        # One byte more than allowed tells that there is more; a limit of 0 would mean none.
        body += data if unpacker is None else unpacker.decompress(data, max_bytes + 1 - len(body))
        if received > max_bytes or len(body) > max_bytes:
            raise WebUnavailable(TOO_LARGE)
        if unpacker is not None and unpacker.eof:
            break
    if unpacker is not None and received and not unpacker.eof:
        raise WebUnavailable("its packing is broken")
    return bytes(body)


MEDIA_TYPES = frozenset({"text/html", "application/xhtml+xml", "text/plain", "text/markdown"})
MOST_REDIRECTS = 3
MOST_ADDRESSES = 3  # of a host that are tried
CONNECT_SECONDS = 5.0
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_CHARSET = re.compile(r""";\s*charset\s*=\s*["']?([\w:.-]{1,40})""", re.ASCII | re.IGNORECASE)
_HEADERS = {
    "User-Agent": "Citewell",
    "Accept": "text/html,application/xhtml+xml,text/plain;q=0.8,text/markdown;q=0.8",
    "Accept-Encoding": "gzip",
    "Connection": "close",
}


@dataclass(frozen=True, slots=True)
class FetchedPage:
    """A page as it came. ``url`` is where the last redirect led; ``data`` is unpacked, in UTF-8 where it told so."""

    url: str
    media_type: str
    data: bytes


class PageFetcher:
    """Fetches pages. ``seconds`` is the longest that one may take from its name to its last byte."""

    def __init__(self, guard: Guard, transport: httpx2.AsyncBaseTransport, *, max_bytes: int, seconds: float) -> None:
        self._guard = guard
        self._transport = transport
        self._max_bytes = max_bytes
        self._seconds = seconds

    async def fetch(self, url: str, *, seconds: float | None = None) -> FetchedPage:
        """Fetch a page, in less time still where ``seconds`` says so.

        Raises WebUnavailable, whose message gives the reason as the end of a sentence.
        """
        allowed = self._seconds if seconds is None else min(self._seconds, seconds)
        try:
            async with asyncio.timeout(allowed):
                return await self._follow(url)
        except TimeoutError as error:
            raise WebUnavailable("it took too long") from error

    async def _follow(self, url: str) -> FetchedPage:
        for _ in range(MOST_REDIRECTS + 1):
            target = await self._guard.check(url)
            response = await self._send(target)
            try:
                if response.status_code not in _REDIRECTS:
                    return await self._page(target, response)
                url = _next(target, response)
            finally:
                await response.aclose()
        raise WebUnavailable("it redirects too often")

    async def _send(self, target: Target) -> httpx2.Response:
        """Ask an address that was checked, in the name of the host; the certificate has to be that of the host."""
        cause: Exception | None = None
        for address in target.addresses[:MOST_ADDRESSES]:
            request = httpx2.Request(
                "GET",
                target.url.copy_with(host=address, fragment=None),
                headers=[("Host", target.url.netloc.decode("ascii")), *_HEADERS.items()],
                extensions={
                    "sni_hostname": target.url.raw_host.decode("ascii").rstrip("."),
                    "timeout": httpx2.Timeout(self._seconds, connect=CONNECT_SECONDS).as_dict(),
                },
            )
            try:
                return await self._transport.handle_async_request(request)
            except (httpx2.ConnectError, httpx2.ConnectTimeout) as error:
                cause = error
            except httpx2.TransportError as error:
                raise WebUnavailable("the connection broke") from error
        raise WebUnavailable("it cannot be connected to") from cause

    async def _page(self, target: Target, response: httpx2.Response) -> FetchedPage:
        if response.status_code != 200:
            raise WebUnavailable(f"it answers with {response.status_code}")
        declared = response.headers.get("content-type", "")
        media_type = declared.partition(";")[0].strip().lower()
        if media_type not in MEDIA_TYPES:
            raise WebUnavailable("it is no page of text")
        data = await read_body(response, self._max_bytes)
        charset = _CHARSET.search(declared)
        return FetchedPage(str(target.url), media_type, _in_utf8(data, charset[1]) if charset else data)


def _next(target: Target, response: httpx2.Response) -> str:
    """Return where a redirect leads; the guard has yet to look at it."""
    try:
        url = target.url.join(response.headers["location"])
    except (KeyError, httpx2.InvalidURL, ValueError) as error:
        raise WebUnavailable("it redirects nowhere") from error
    if target.url.scheme == "https" and url.scheme == "http":
        raise WebUnavailable("it redirects from https to http")
    return str(url)


def _in_utf8(data: bytes, charset: str) -> bytes:
    """Bring a page to UTF-8 by the charset of its header, marked so that no other declaration within it counts.

    Where the header is wrong, the page's own declaration has to do.
    """
    try:
        return codecs.BOM_UTF8 + decode(data, declared=charset).removeprefix("\ufeff").encode()
    except (UnreadableDocument, UnicodeError):
        return data
