"""Fetch a web page within limits on time and size, with the guard checking every redirect.

Requests use a bare transport, without cookies, credentials or environment proxies; only the code here follows
redirects and decompresses bodies. The size of a body is limited both on the wire and decompressed.
"""

import asyncio
import codecs
import re
import zlib
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace

import httpx2

from graph.errors import UnreadableDocument, WebUnavailable
from tools.parsers.plain import decode
from tools.web.guard import Guard, Target
from tools.web.retry_after import retry_after

TOO_LARGE = "it is too large"
_GZIP = 31  # zlib's window bits for a gzip header and the largest window


async def read_body(response: httpx2.Response, max_bytes: int) -> bytes:
    """Read a body, plain or compressed with gzip, the only encoding that requests accept.

    At most ``max_bytes`` are read from the wire, and at most as many decompressed. Raises WebUnavailable if there is
    more, if the encoding is another one or corrupt, or if the body ends early.
    """
    encoding = response.headers.get("content-encoding", "identity").strip().lower()
    if encoding not in ("identity", "", "gzip", "x-gzip"):
        raise WebUnavailable("it uses an encoding that the request did not accept")
    declared = response.headers.get("content-length", "")
    if declared.isascii() and declared.isdigit() and int(declared[:20]) > max_bytes:
        raise WebUnavailable(TOO_LARGE)
    decompressor = zlib.decompressobj(_GZIP) if encoding.endswith("gzip") else None
    try:
        return await _read(response, decompressor, max_bytes)
    except httpx2.TransportError as error:
        raise WebUnavailable("the connection broke") from error
    except zlib.error as error:
        raise WebUnavailable("its compressed data is corrupt") from error


async def _read(response: httpx2.Response, decompressor: "zlib._Decompress | None", max_bytes: int) -> bytes:
    body = bytearray()
    received = 0
    async for data in response.aiter_raw():
        received += len(data)
        # One byte more than allowed shows that there is more; a limit of 0 would mean no limit.
        body += data if decompressor is None else decompressor.decompress(data, max_bytes + 1 - len(body))
        if received > max_bytes or len(body) > max_bytes:
            raise WebUnavailable(TOO_LARGE)
        if decompressor is not None and decompressor.eof:
            break
    if decompressor is not None and received and not decompressor.eof:
        raise WebUnavailable("its compressed data is corrupt")
    return bytes(body)


MEDIA_TYPES = frozenset({"text/html", "application/xhtml+xml", "text/plain", "text/markdown"})
PAGE_SECONDS = 10.0  # from the name to the last byte of a result page, while a run waits
MOST_PAGE_BYTES = 2_000_000  # of it, as sent and as unpacked: some dozens of long articles
MOST_REDIRECTS = 3
MOST_ADDRESSES = 3  # of one host
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
    """A fetched page. ``url`` is the final one; ``data`` is decompressed, and UTF-8 if a charset was declared."""

    url: str
    media_type: str
    data: bytes


@dataclass(frozen=True, slots=True)
class FetchedFile:
    """The reply to a request for a file. ``url`` is the final one, ``data`` is None if it was not accepted or not 200.

    ``data`` is as it was sent, but for text in another charset than UTF-8, which is converted. ``wait`` are the seconds
    that the server asks for before another request.
    """

    url: str
    status: int
    media_type: str = ""
    data: bytes | None = None
    etag: str | None = None
    modified: str | None = None
    wait: float | None = None


Before = Callable[[str], Awaitable[None]]
Accepts = Callable[[str, str], bool]  # of a media type and an address
_LONGEST_VALIDATOR = 200


def _is_page(media_type: str, _: str) -> bool:
    return media_type in MEDIA_TYPES


class PageFetcher:
    """A fetcher of pages. ``seconds`` limits each fetch, from name resolution to the last byte."""

    def __init__(self, guard: Guard, transport: httpx2.AsyncBaseTransport, *, max_bytes: int, seconds: float) -> None:
        self._guard = guard
        self._transport = transport
        self._max_bytes = max_bytes
        self._seconds = seconds

    async def fetch(self, url: str, *, seconds: float | None = None) -> FetchedPage:
        """Fetch a page; ``seconds`` may shorten the limit.

        Raises WebUnavailable, whose message states the reason as the end of a sentence.
        """
        allowed = self._seconds if seconds is None else min(self._seconds, seconds)
        try:
            async with asyncio.timeout(allowed):
                fetched = await self.fetch_file(url)
        except TimeoutError as error:
            raise WebUnavailable("it took too long") from error
        if fetched.status != 200:
            raise WebUnavailable(f"it answers with {fetched.status}")
        if fetched.data is None:
            raise WebUnavailable("it is not a text page")
        return FetchedPage(fetched.url, fetched.media_type, fetched.data)

    async def fetch_file(
        self,
        url: str,
        before: Before | None = None,
        headers: Mapping[str, str] | None = None,
        accepts: Accepts = _is_page,
    ) -> FetchedFile:
        """Fetch a file of any kind that ``accepts`` takes, with further request headers such as If-None-Match.

        ``before`` is awaited before each request, those of redirects included, and may refuse it; that time is not
        limited here. Raises WebUnavailable, whose message states the reason as the end of a sentence.
        """
        for _ in range(MOST_REDIRECTS + 1):
            if before is not None:
                await before(url)
            try:
                async with asyncio.timeout(self._seconds):
                    target = await self._guard.check(url)
                    response = await self._send(target, {**_HEADERS, **(headers or {})})
                    try:
                        if response.status_code not in _REDIRECTS:
                            return await self._file(target, response, accepts)
                        url = _next(target, response)
                    finally:
                        await response.aclose()
            except TimeoutError as error:
                raise WebUnavailable("it took too long") from error
        raise WebUnavailable("it redirects too often")

    async def _file(self, target: Target, response: httpx2.Response, accepts: Accepts) -> FetchedFile:
        url, headers = str(target.url), response.headers
        fetched = FetchedFile(url, response.status_code, wait=retry_after(headers))
        if response.status_code != 200:
            return fetched
        declared = headers.get("content-type", "")
        media_type = declared.partition(";")[0].strip().lower()
        if not accepts(media_type, url):
            return replace(fetched, media_type=media_type)
        data = await read_body(response, self._max_bytes)
        charset = _CHARSET.search(declared)
        if charset and _is_text(media_type):
            data = _as_declared(data, charset[1])
        etag, modified = (headers.get(name, "")[:_LONGEST_VALIDATOR] or None for name in ("etag", "last-modified"))
        return replace(fetched, media_type=media_type, data=data, etag=etag, modified=modified)

    async def _send(self, target: Target, headers: Mapping[str, str]) -> httpx2.Response:
        """Request the page from a checked IP address, verifying the certificate against the host's name."""
        cause: Exception | None = None
        for address in target.addresses[:MOST_ADDRESSES]:
            request = httpx2.Request(
                "GET",
                target.url.copy_with(host=address, fragment=None),
                headers=[("Host", target.url.netloc.decode("ascii")), *headers.items()],
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


def _next(target: Target, response: httpx2.Response) -> str:
    """Return the target of a redirect, which the guard has not checked yet."""
    try:
        url = target.url.join(response.headers["location"])
    except (KeyError, httpx2.InvalidURL, ValueError) as error:
        raise WebUnavailable("it redirects nowhere") from error
    if target.url.scheme == "https" and url.scheme == "http":
        raise WebUnavailable("it redirects from https to http")
    return str(url)


def _is_text(media_type: str) -> bool:
    return media_type.startswith("text/") or media_type.endswith(("+xml", "/xml", "/json", "+json"))


def _as_declared(data: bytes, charset: str) -> bytes:
    """Convert text to UTF-8 from the charset of its header, with a BOM that overrides any declaration inside it.

    What is UTF-8 and says nothing else stays as it is, and so does what is not in that charset: its own word counts.
    """
    head = data[:2048].lower()
    named_otherwise = b"charset" in head and b"utf-8" not in head
    if charset.lower() in ("utf-8", "utf8", "us-ascii") and not named_otherwise:
        return data
    try:
        return codecs.BOM_UTF8 + decode(data, declared=charset).removeprefix("\ufeff").encode()
    except (UnreadableDocument, UnicodeError):
        return data
