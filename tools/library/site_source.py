"""A reader of a page, the pages of a sitemap, or a site below a path, as a source; a place's path is its address."""

import asyncio
import hashlib
from collections.abc import Mapping, Sequence

from graph.errors import CitewellError, DependencyFailed
from graph.evidence import Identity
from text.counted import counted
from tools.library.source_readers import LONGEST_PATH, Listing, ReadFile, SourceReader
from tools.library.sync_plan import Listed
from tools.library.web_pages import Extent, WebPages
from tools.web.addresses import document_id_of
from tools.web.sites import Listed as ListedPage
from tools.web.sites import Unchanged, Unread, WebFile

MOST_KEPT = 64_000_000  # bytes of pages that a crawl has read, until they are ingested


class SiteSource(SourceReader):
    """A source of web pages. ``known`` are the fingerprints of its places, for pages that did not change."""

    def __init__(
        self, pages: WebPages, identity: Identity, address: str, extent: Extent, known: Mapping[str, str]
    ) -> None:
        self._pages = pages
        self._identity = identity
        self._site = pages.site_reader(identity, address, extent)
        self._address = address
        self._known = known
        self._read_already: dict[str, ListedPage] = {}
        self._kept = 0

    async def listing(self) -> Listing:
        """List the pages; not whole where one could not be asked for. Raises DependencyFailed where none can."""
        files: list[Listed] = []
        failed: list[Unread] = []
        async for page in self._site.list():
            if isinstance(page.page, Unread):
                if page.page.kind == "missing":
                    continue
                failed.append(page.page)
            if len(page.address.encode()) <= LONGEST_PATH:
                files.append(await asyncio.to_thread(self._listed, page))
        if failed and len(failed) == len(files):
            raise DependencyFailed(f"{self._address} cannot be read: {failed[0].reason}", suggestion="Try again later.")
        notes = [f"{counted(len(failed), 'page')} could not be read, so none was taken for gone."] if failed else []
        return Listing(sorted(files, key=lambda file: file.path), notes, whole=not failed)

    async def read(self, paths: Sequence[str]) -> Sequence[ReadFile]:
        """Read pages, or take what was read of them to list them."""
        read: list[ReadFile] = []
        for path in paths:
            listed = self._read_already.get(path) or ListedPage(path)
            try:
                read.append(await self._pages.read_document(self._identity, self._site, listed))
            except CitewellError as error:
                read.append(error)
        return read

    def first_id(self, workspace: str, path: str) -> str | None:
        """Return the id that `citewell ingest` gives the page."""
        return document_id_of(workspace, path)

    def _listed(self, listed: ListedPage) -> Listed:
        page = listed.page
        said = "|".join(filter(None, (listed.etag, listed.modified)))
        if isinstance(page, Unchanged):
            return Listed(listed.address, self._known.get(listed.address, ""))
        if not isinstance(page, WebFile):
            return Listed(listed.address, "" if isinstance(page, Unread) else said)
        content = hashlib.sha256(page.data).hexdigest()
        if self._kept + len(page.data) <= MOST_KEPT:
            self._kept += len(page.data)
            self._read_already[listed.address] = listed
        return Listed(listed.address, said or content, len(page.data), content)
