"""Read pages and sites for the library: one page, what a sitemap lists, or what is linked below a path.

Each host is asked at one rate, its robots.txt first. A page that cannot be read is an outcome, not an error, so that it
ends no crawl. ``SiteReader`` is what a source of pages offers: what it has now, and reading one.
"""

import asyncio
import mimetypes
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePosixPath
from time import monotonic
from typing import Any, Literal, Protocol
from urllib.parse import unquote, urlsplit

import httpx2
from protego import Protego

from graph.errors import UnreadableDocument, WebUnavailable
from tools.parsers import formats
from tools.settings import Settings
from tools.web.addresses import canonical_address, folder_of, host_of, is_below
from tools.web.fetching import FetchedFile, PageFetcher
from tools.web.guard import Guard

AGENT = "Citewell"
SECONDS_BETWEEN = 1.0  # requests to one host, where its robots.txt asks for no more: what a polite crawler leaves
PAGE_SECONDS = 30.0  # nobody waits for it: a slow server is given time
ROBOTS_SECONDS = 3600.0  # that a robots.txt is remembered
LARGEST_ROBOTS = 500 * 1024
LONGEST_DELAY = 30.0  # seconds that a robots.txt may ask for between requests
LONGEST_WAIT = 60.0  # seconds for a turn, and after a 429 or 503
MOST_SITEMAPS = 100
_GENERIC = frozenset({"", "application/octet-stream", "binary/octet-stream", "application/x-download"})
_HTML = frozenset({"text/html", "application/xhtml+xml"})
_MISSING = frozenset({404, 410})
_ANY = {"Accept": "*/*"}  # a header of requests for files of all kinds

Sleep = Callable[[float], Awaitable[None]]
Entry = tuple[str, str | None, bool]  # of a sitemap: an address, when it was modified, and whether it is a sitemap's


class AddressReader(Protocol):
    """Reads what pages and sitemaps name, apart from the process that serves: they are what a stranger wrote."""

    async def addresses(self, data: bytes, address: str) -> tuple[str, Sequence[str]]:
        """Return the address that an HTML page calls its own, and those it links to."""

    async def sitemap(self, data: bytes, max_bytes: int) -> Sequence[Entry]:
        """Return the entries of a sitemap. Raises UnreadableDocument."""


@dataclass(frozen=True, slots=True)
class Validators:
    """What a server said of the version that is known: its entity tag, and when it was modified, as it wrote both."""

    etag: str | None = None
    modified: str | None = None


@dataclass(frozen=True, slots=True)
class WebFile:
    """A file that was read. ``address`` is the one that it calls its own, ``url`` the one that it was read from.

    ``name`` is the last part of its path, or "".
    """

    address: str
    url: str
    name: str
    media_type: str
    data: bytes
    validators: Validators
    links: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Unchanged:
    """A page whose server says that the known version is the current one."""

    address: str


@dataclass(frozen=True, slots=True)
class Unread:
    """A page that could not be read, with the code of the error.

    ``missing``: there is none any more. ``forbidden``: robots.txt does not allow it to be read.
    """

    address: str
    code: str
    reason: str
    kind: Literal["missing", "forbidden", "failed"] = "failed"


ReadPage = WebFile | Unchanged | Unread


@dataclass(frozen=True, slots=True)
class Listed:
    """A page that a site has now. ``modified`` is as the sitemap or the server wrote it.

    ``page`` is what was read to know of the page, and None where nothing was.
    """

    address: str
    etag: str | None = None
    modified: str | None = None
    page: ReadPage | None = None


@dataclass(frozen=True, slots=True)
class KnownPage:
    """What the library has of a page; ``read`` returns its bytes, or None where they are not kept."""

    validators: Validators
    read: Callable[[], Awaitable[bytes | None]]


FindKnown = Callable[[str], Awaitable[KnownPage | None]]


class SiteReader(Protocol):
    """A source of pages."""

    def list(self) -> AsyncIterator[Listed]:
        """List what the source has now, each page once."""

    async def read(self, address: str, known: Validators | None = None) -> ReadPage:
        """Read a page, unless it is as the known version was."""


class Pace:
    """The turns of requests to each host, ``seconds`` apart."""

    def __init__(self, *, sleep: Sleep = asyncio.sleep, clock: Callable[[], float] = monotonic) -> None:
        self._sleep = sleep
        self._clock = clock
        self._next: dict[str, float] = {}

    async def wait(self, host: str, seconds: float) -> None:
        """Wait for the host's next turn. Raises WebUnavailable if too many others wait for one."""
        now = self._clock()
        self._next = {each: at for each, at in self._next.items() if at > now}
        turn = self._next.get(host, now)
        if turn - now > LONGEST_WAIT:
            raise WebUnavailable("too many of its host's pages are waiting to be read")
        self._next[host] = turn + seconds
        if turn > now:
            await self._sleep(turn - now)

    def delay(self, host: str, seconds: float) -> None:
        """Put the host's next turn off."""
        self._next[host] = max(self._next.get(host, 0.0), self._clock() + min(seconds, LONGEST_WAIT))


@dataclass(frozen=True, slots=True)
class _Rules:
    """The robots.txt of a host, when it was read; None where it cannot be, which forbids everything."""

    rules: Any | None
    at: float


class _Refused(Exception):
    """A page that will not be read however often it is tried."""

    def __init__(self, reason: str, kind: Literal["forbidden", "failed"]) -> None:
        super().__init__(reason)
        self._reason = reason
        self._kind = kind

    def unread(self, address: str) -> Unread:
        return Unread(address, UnreadableDocument.code, self._reason, self._kind)


class WebReader:
    """A reader of pages for the library; a page's text is not parsed here. Its connections open at first use."""

    def __init__(
        self,
        settings: Settings,
        names: AddressReader,
        *,
        guard: Guard | None = None,
        pace: Pace | None = None,
        transport: httpx2.AsyncHTTPTransport | None = None,
    ) -> None:
        self.names = names
        self._settings = settings
        self._guard = guard or Guard()
        self._pace = pace or Pace()
        self._transport = transport
        self._opening = asyncio.Lock()
        self._robots: dict[str, _Rules] = {}

    @property
    def max_bytes(self) -> int:
        return self._settings.max_document_bytes

    async def close(self) -> None:
        if self._transport is not None:
            await self._transport.aclose()

    async def read(self, address: str, known: Validators | None = None) -> ReadPage:
        """Read a page, unless it is as the known version was; with one retry where the server asks to wait a little."""
        asked = canonical_address(address)
        if asked is None:
            return _unread(address, "its address cannot be read")
        fetched = await self._fetch(asked, known)
        if isinstance(fetched, Unread):
            return fetched
        if fetched.status == 304:
            return Unchanged(canonical_address(fetched.url) or asked)
        if fetched.status != 200:
            return _refused(asked, fetched.status)
        if fetched.data is None:
            return Unread(
                asked,
                UnreadableDocument.code,
                f"The page is of the type {fetched.media_type[:100]!r}, which is not read.",
            )
        return await self._read_file(fetched, asked)

    async def read_plain(self, address: str) -> FetchedFile | Unread:
        """Read a file that is not for the library, such as a sitemap, whatever its type."""
        fetched = await self._fetch(address, None, accepts=lambda _type, _url: True)
        return fetched if isinstance(fetched, Unread) or fetched.status == 200 else _refused(address, fetched.status)

    async def sitemaps(self, address: str) -> list[str]:
        """Return the sitemaps that the robots.txt of an address's host names."""
        rules = (await self._rules(address)).rules
        found = (canonical_address(each) for each in rules.sitemaps) if rules is not None else ()
        return [each for each in found if each is not None and host_of(each) == host_of(address)][:MOST_SITEMAPS]

    async def _read_file(self, fetched: FetchedFile, asked: str) -> WebFile:
        data = fetched.data or b""
        address = url = canonical_address(fetched.url) or asked
        links: Sequence[str] = ()
        if fetched.media_type in _HTML or (fetched.media_type in _GENERIC and _suffix(address) in (".html", ".htm")):
            address, links = await self.names.addresses(data, address)
        validators = Validators(fetched.etag, fetched.modified)
        return WebFile(address, url, name_of(address), fetched.media_type, data, validators, tuple(links))

    async def _fetch(
        self, address: str, known: Validators | None, accepts: Callable[[str, str], bool] | None = None
    ) -> FetchedFile | Unread:
        headers = dict(_ANY)
        if known is not None and known.etag:
            headers["If-None-Match"] = known.etag
        if known is not None and known.modified:
            headers["If-Modified-Since"] = known.modified
        fetcher = await self._fetcher()
        for attempt in range(2):
            try:
                fetched = await fetcher.fetch_file(address, self._before, headers, accepts or is_readable)
            except WebUnavailable as error:
                return _unread(address, error.message)
            except _Refused as error:
                return error.unread(address)
            if fetched.status not in (429, 503) or fetched.wait is None or fetched.wait > LONGEST_WAIT or attempt:
                break
            self._pace.delay(host_of(canonical_address(fetched.url) or address), fetched.wait)
        return fetched

    async def _before(self, url: str) -> None:
        """Wait for the host's turn. Raises WebUnavailable or _Refused if the page may not be read."""
        address = canonical_address(url) or url
        try:
            await self._guard.check(url)
        except WebUnavailable as error:
            raise _Refused(f"The page cannot be read: {error.message}.", "failed") from error
        found = await self._rules(address)
        if found.rules is None:
            raise WebUnavailable("the robots.txt of its site cannot be read")
        if not await asyncio.to_thread(found.rules.can_fetch, address, AGENT):
            raise _Refused(
                "The site's robots.txt does not allow the user agent Citewell to read this page.", "forbidden"
            )
        asked = found.rules.crawl_delay(AGENT) or 0.0
        await self._pace.wait(host_of(address), max(SECONDS_BETWEEN, min(asked, LONGEST_DELAY)))

    async def _rules(self, address: str) -> _Rules:
        parts = urlsplit(address)
        origin = f"{parts.scheme}://{host_of(address)}"
        known = self._robots.get(origin)
        if known is None or monotonic() - known.at > ROBOTS_SECONDS:
            if len(self._robots) > 1000:
                self._robots.clear()
            known = self._robots[origin] = _Rules(await self._read_rules(origin), monotonic())
        if known.rules is None:
            self._robots.pop(origin, None)  # it may be there again the next time
        return known

    async def _read_rules(self, origin: str) -> Any | None:
        async def turn(url: str) -> None:
            await self._pace.wait(host_of(canonical_address(url) or url), SECONDS_BETWEEN)

        fetcher = await self._fetcher()
        try:
            fetched = await fetcher.fetch_file(f"{origin}/robots.txt", turn, _ANY, lambda _type, _url: True)
        except WebUnavailable:
            return None
        if 400 <= fetched.status < 500 and fetched.status != 429:
            return Protego.parse("")  # RFC 9309: without one, everything may be read
        if fetched.data is None:
            return None
        text = fetched.data[:LARGEST_ROBOTS].decode("utf-8", "replace").removeprefix("\ufeff")
        return await asyncio.to_thread(Protego.parse, text)

    async def _fetcher(self) -> PageFetcher:
        async with self._opening:
            if self._transport is None:
                limits = httpx2.Limits(max_connections=20, max_keepalive_connections=0)
                self._transport = await asyncio.to_thread(httpx2.AsyncHTTPTransport, limits=limits)
        return PageFetcher(
            self._guard, self._transport, max_bytes=self._settings.max_document_bytes, seconds=PAGE_SECONDS
        )


def is_readable(media_type: str, address: str) -> bool:
    """Whether a file may have a parser: by its media type, and by the suffix of its address where that says nothing."""
    known = formats()
    if media_type in known.parsers or media_type.startswith("text/"):
        return True
    return media_type in _GENERIC and _suffix(address) in known.suffixes


def name_of(address: str) -> str:
    """Return the last part of an address's path, "" where it ends in a slash."""
    return unquote(urlsplit(address).path).rpartition("/")[2]


def _suffix(address: str) -> str:
    return PurePosixPath(name_of(address)).suffix.lower()


def _unread(address: str, reason: str) -> Unread:
    return Unread(address, WebUnavailable.code, f"The page cannot be read: {reason}.")


def _refused(address: str, status: int) -> Unread:
    if status in _MISSING:
        return Unread(address, UnreadableDocument.code, f"There is no such page: it answers with {status}.", "missing")
    if status < 500 and status != 429:
        return Unread(address, UnreadableDocument.code, f"The page cannot be read: it answers with {status}.")
    return _unread(address, f"it answers with {status}")


class OnePage:
    """One page; see ``SiteReader``."""

    def __init__(self, reader: WebReader, address: str) -> None:
        self._address = address
        self.read = reader.read

    async def list(self) -> AsyncIterator[Listed]:
        """List the page."""
        yield Listed(canonical_address(self._address) or self._address)


class Sitemap:
    """The pages that a sitemap lists, or one that robots.txt names for a site; see ``SiteReader``.

    Only pages of the sitemap's own host count. An index of sitemaps and compressed ones are read.
    """

    def __init__(self, reader: WebReader, address: str, *, most: int) -> None:
        self._reader = reader
        self._address = address
        self._most = most
        self.read = reader.read

    async def list(self) -> AsyncIterator[Listed]:
        """List the pages in the sitemap's order; a sitemap that cannot be read is listed as unread."""
        waiting = await self._first()
        seen, given = set(waiting), set[str]()
        while waiting and len(given) < self._most:
            address = waiting.popleft()
            entries = await self._read_entries(address)
            if isinstance(entries, Unread):
                yield Listed(address, page=entries)
                continue
            own = [entry for entry in entries if host_of(entry[0]) == host_of(address)]
            nested = dict.fromkeys(named for named, _, is_sitemap in own if is_sitemap and named not in seen)
            waiting.extend(list(nested)[: MOST_SITEMAPS - len(seen)])
            seen.update(waiting)
            for named, modified, is_sitemap in own:
                if not is_sitemap and named not in given and len(given) < self._most:
                    given.add(named)
                    yield Listed(named, modified=modified)

    async def _first(self) -> deque[str]:
        """Return the address that was given, or the sitemaps that the robots.txt of a site names."""
        start = canonical_address(self._address) or self._address
        if not urlsplit(start).path.endswith("/"):
            return deque([start])
        named = await self._reader.sitemaps(start)
        return deque(named or [canonical_address("/sitemap.xml", start) or start])

    async def _read_entries(self, address: str) -> Sequence[Entry] | Unread:
        read = await self._reader.read_plain(address)
        if isinstance(read, Unread):
            return replace(read, kind="failed")
        try:
            return await self._reader.names.sitemap(read.data or b"", self._reader.max_bytes)
        except UnreadableDocument as error:
            return Unread(address, error.code, error.message)


class Site:
    """The pages that are linked from a first one, on its host and below its path; see ``SiteReader``.

    The nearest pages come first. ``find_known`` tells what the library has: a page that did not change is not sent
    again, and its links are those of the bytes that are kept.
    """

    def __init__(
        self, reader: WebReader, address: str, *, most: int, depth: int, find_known: FindKnown | None = None
    ) -> None:
        self._reader = reader
        self._first = canonical_address(address) or address
        self._most = most
        self._depth = depth
        self._find_known = find_known
        self.read = reader.read

    async def list(self) -> AsyncIterator[Listed]:
        """Crawl the site; each page is listed with what was read of it."""
        host, folder = host_of(self._first), folder_of(self._first)
        waiting = deque([(self._first, 0)])
        seen, given, visits = {self._first}, set[str](), 0
        while waiting and len(given) < self._most and visits < 2 * self._most:
            address, depth = waiting.popleft()
            visits += 1
            page, links = await self._visit(address, is_last=depth >= self._depth)
            url = page.url if isinstance(page, WebFile) else page.address
            if not depth:
                host, folder = host_of(url), folder_of(url)  # the first page may have moved
            if isinstance(page, WebFile) and not is_below(page.address, host, folder):
                page = replace(page, address=url)
            if page.address in given or (depth and _is_outside(page, url, host, folder)):
                continue
            given.add(page.address)
            validators = page.validators if isinstance(page, WebFile) else Validators()
            yield Listed(page.address, validators.etag, validators.modified, page)
            if depth < self._depth:
                below = (each for each in links if is_below(each, host, folder) and _may_be_page(each))
                fresh = [each for each in below if each not in seen][: 2 * self._most]
                if len(seen) < 20 * self._most:
                    seen.update(fresh)
                    waiting.extend((each, depth + 1) for each in fresh)

    async def _visit(self, address: str, *, is_last: bool) -> tuple[ReadPage, Iterable[str]]:
        """Read a page, and its links, which are needed unless it is one of the last."""
        known = await self._find_known(address) if self._find_known is not None else None
        kept = await known.read() if known is not None and not is_last else None
        page = await self._reader.read(address, known.validators if known and (is_last or kept) else None)
        if isinstance(page, Unchanged):
            return page, (await self._reader.names.addresses(kept, address))[1] if kept else ()
        return page, page.links if isinstance(page, WebFile) else ()


def _is_outside(page: ReadPage, url: str, host: str, folder: str) -> bool:
    """Whether a link led out of the site, or to where robots.txt lets nobody go."""
    return not is_below(url, host, folder) or (isinstance(page, Unread) and page.kind == "forbidden")


def _may_be_page(address: str) -> bool:
    """Whether the suffix of an address lets it be a page or a file that has a parser, not an image or an archive."""
    suffix = _suffix(address)
    return suffix in formats().suffixes or mimetypes.guess_type(f"x{suffix}")[0] in (None, *_HTML)
