"""Ingest pages of the web: one, those of a sitemap, or a site below a path, each under an id of its address.

The source's entity tag and date are kept in the document's metadata, and sent the next time, so that a page that did
not change costs its server nothing.
"""

from collections.abc import AsyncGenerator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Literal

from graph.errors import CitewellError, InvalidRequest, NotFound, UnreadableDocument, WebUnavailable
from graph.evidence import Identity, Space
from tools.library.catalogue import Document, Documents
from tools.library.ingestion import Ingested, Ingestor, Refused, Report
from tools.library.new_documents import NewDocument
from tools.originals.originals import Originals
from tools.web.addresses import canonical_address, document_id_of
from tools.web.sites import (
    KnownPage,
    Listed,
    OnePage,
    Site,
    Sitemap,
    SiteReader,
    Unchanged,
    Unread,
    Validators,
    WebFile,
    WebReader,
    name_of,
)

SOURCE_TYPE = "url"
# Of a site, unless a command says otherwise: an endless calendar ends here.
MOST_PAGES, DEEPEST = 1000, 10
Extent = Literal["page", "sitemap", "site"]
_SUGGESTIONS = {
    WebUnavailable.code: "Try again later, or open the address in a browser.",
    UnreadableDocument.code: "Check the address, or save the page as a file and add that.",
}

_SILENT = "The page cannot be read: its server says that it did not change, but sends nothing else."


class WebPages:
    """An ingestor of pages of the web."""

    def __init__(self, reader: WebReader, ingestor: Ingestor, documents: Documents, originals: Originals) -> None:
        self._reader = reader
        self._ingestor = ingestor
        self._documents = documents
        self._originals = originals

    async def ingest_page(self, identity: Identity, new: NewDocument) -> Ingested:
        """Read the page at the document's ``url`` and store it with the other fields.

        Without a ``document_id`` it is that of the page's address. Raises UnreadableDocument or WebUnavailable if the
        page can't be read, and what ``Ingestor.ingest`` does.
        """
        address = canonical_address(new.url or "")
        if address is None:
            raise InvalidRequest("url: must be an address of http:// or https:// to be fetched.")
        document_id = new.document_id or document_id_of(identity.workspace, address)
        page = await self._read(identity, OnePage(self._reader, address), Listed(address), document_id)
        if isinstance(page, Unread):
            raise _error(page)
        ingested = await self._ingestor.ingest(identity, _document(identity, page, new))
        return replace(ingested, name=page.address)

    async def ingest_web(
        self,
        identity: Identity,
        address: str,
        extent: Extent = "page",
        *,
        owner: str | None = None,
        readers: Sequence[str] | None = None,
        space: Space | None = None,
        dialect: str | None = None,
        most: int | None = None,
        depth: int | None = None,
    ) -> AsyncGenerator[Report]:
        """Store a page, the pages of a sitemap or a site; a report for each, as soon as it is stored.

        A page that can't be read is refused and ends nothing. ``most`` pages and a ``depth`` of links are read, by
        default as many as the settings allow. Raises errors that do not concern a single page, as ``ingest_many`` does.
        """
        reader = self.site_reader(identity, address, extent, most=most, depth=depth)
        new = NewDocument(owner=owner, readers=readers, space=space, dialect=dialect, source_type=SOURCE_TYPE)
        stored: set[str] = set()
        async for listed in reader.list():
            page = await self._read(identity, reader, listed, document_id_of(identity.workspace, listed.address))
            if page.address not in stored:  # else it is another address of the same page
                stored.add(page.address)
                yield await self._report(identity, page, new)

    def site_reader(
        self, identity: Identity, address: str, extent: Extent, *, most: int | None = None, depth: int | None = None
    ) -> SiteReader:
        """Return the reader of a page, a sitemap or a site, which knows what the library has of it."""
        most = MOST_PAGES if most is None else most
        if extent == "page":
            return OnePage(self._reader, address)
        if extent == "sitemap":
            return Sitemap(self._reader, address, most=most)
        depth = DEEPEST if depth is None else depth
        return Site(self._reader, address, most=most, depth=depth, find_known=partial(self._find_known, identity))

    async def read_document(self, identity: Identity, reader: SiteReader, listed: Listed) -> NewDocument:
        """Return a listed page as a document, which is not stored. Raises UnreadableDocument, WebUnavailable."""
        page = await self._read(identity, reader, listed, document_id_of(identity.workspace, listed.address))
        if isinstance(page, Unread):
            raise _error(page)
        return _document(identity, page, NewDocument(source_type=SOURCE_TYPE))

    async def _read(self, identity: Identity, reader: SiteReader, listed: Listed, document_id: str) -> WebFile | Unread:
        """Read a page, or take the bytes that are kept where its server says that it did not change.

        What is kept is ingested again too: it may have to be cut anew, or the caller says other things of it.
        """
        page, known = listed.page, None
        if page is None or isinstance(page, Unchanged):
            known = await self._known(identity, document_id)
        if page is None:
            page = await reader.read(listed.address, _validators(known))
        if not isinstance(page, Unchanged):
            return page
        kept = await self._kept(identity, document_id)
        if known is not None and known.original is not None and kept is not None:
            validators = _validators(known) or Validators()
            address = known.url or page.address
            return WebFile(address, page.address, name_of(address), known.original["media_type"], kept, validators)
        page = await reader.read(listed.address)
        return Unread(page.address, WebUnavailable.code, _SILENT) if isinstance(page, Unchanged) else page

    async def _report(self, identity: Identity, page: WebFile | Unread, new: NewDocument) -> Report:
        if isinstance(page, Unread):
            return Refused(page.address, page.code, page.reason, _SUGGESTIONS[page.code])
        try:
            return replace(await self._ingestor.ingest(identity, _document(identity, page, new)), name=page.address)
        except (InvalidRequest, UnreadableDocument) as error:
            return Refused.of(page.address, error)

    async def _known(self, identity: Identity, document_id: str) -> Document | None:
        try:
            return await self._documents.get(identity, document_id)
        except NotFound:
            return None

    async def _find_known(self, identity: Identity, address: str) -> KnownPage | None:
        """Return what the library has of a page, for a crawl."""
        document_id = document_id_of(identity.workspace, address)
        validators = _validators(await self._known(identity, document_id))
        return None if validators is None else KnownPage(validators, partial(self._kept, identity, document_id))

    async def _kept(self, identity: Identity, document_id: str) -> bytes | None:
        try:
            return await self._originals.read_whole(await self._originals.find(identity, document_id))
        except NotFound:
            return None


def _error(page: Unread) -> CitewellError:
    kind = WebUnavailable if page.code == WebUnavailable.code else UnreadableDocument
    return kind(page.reason, suggestion=_SUGGESTIONS[kind.code])


def _validators(known: Document | None) -> Validators | None:
    """Return what to send with a request for a page; None where its bytes are not kept, and so have to come again."""
    source = known.metadata.get("source") if known is not None and known.original is not None else None
    if not isinstance(source, dict):
        return None
    etag, modified = (_sendable(source.get(name)) for name in ("etag", "modified"))
    return Validators(etag, modified) if etag or modified else None


def _sendable(value: Any) -> str | None:
    """Return a value that may stand in a header; metadata may come from anybody."""
    return value if isinstance(value, str) and value.isascii() and value.isprintable() and len(value) <= 200 else None


def _document(identity: Identity, page: WebFile, new: NewDocument) -> NewDocument:
    """Return a page as a document with the caller's fields."""
    said = {"address": page.address, "etag": page.validators.etag, "modified": page.validators.modified}
    source: dict[str, Any] = {name: value for name, value in said.items() if value}
    return replace(
        new,
        document_id=new.document_id or document_id_of(identity.workspace, page.address),
        data=page.data,
        name=new.name or page.name,
        media_type=new.media_type or page.media_type or None,
        url=page.address,
        source=source,
    )
