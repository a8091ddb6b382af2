"""Readers of sources: what a folder, a bucket or a site has now, and its files. That of git is ``git_reader``."""

import asyncio
import hashlib
import os
import stat
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any

from graph.errors import CitewellError, ConfigurationError, DependencyFailed, InvalidRequest, UnreadableDocument
from graph.evidence import Identity
from text.counted import counted
from tools.library.found_files import FoundFile, as_text
from tools.library.new_documents import NewDocument, too_large
from tools.library.sync_plan import Listed
from tools.library.web_pages import Extent, WebPages
from tools.parsers.textless import is_textless, passed_over
from tools.web.addresses import document_id_of
from tools.web.sites import Listed as ListedPage
from tools.web.sites import Unchanged, Unread, WebFile

LONGEST_PATH = 2000  # bytes, which an index of PostgreSQL can hold


@dataclass(frozen=True, slots=True)
class Listing:
    """The files that a source has now, and notes on what was passed over. Only a ``whole`` list tells what is gone."""

    files: list[Listed]
    notes: list[str] = field(default_factory=list)
    whole: bool = True


ReadFile = NewDocument | CitewellError


class SourceReader(ABC):
    """A reader of one source. A sync calls ``listing`` once, ``read`` for some of what was listed, then ``close``."""

    @abstractmethod
    async def listing(self) -> Listing:
        """List all files. Raises CitewellError."""

    @abstractmethod
    async def read(self, paths: Sequence[str]) -> Sequence[ReadFile]:
        """Read listed files, each as a document or the error; documents have ``data``, ``name`` and a source type."""

    def first_id(self, workspace: str, path: str) -> str | None:
        """Return the id that other ways of ingestion give the document of a path; None where there is no other way."""
        return None

    async def close(self) -> None:
        """Give up what is held for reading: here, nothing."""
        return


class FolderReader(SourceReader):
    """A reader of a folder on this machine. Hidden files are passed over, and no symbolic link is followed."""

    def __init__(self, root: Path, *, max_bytes: int) -> None:
        self._root = root
        self._max_bytes = max_bytes
        self._found: dict[str, FoundFile] = {}

    async def listing(self) -> Listing:
        """List the folder's files in alphabetical order. Raises InvalidRequest where a folder in it can't be read."""
        return await asyncio.to_thread(self._list)

    async def read(self, paths: Sequence[str]) -> Sequence[ReadFile]:
        """Read listed files, up to one byte more than a document may have."""
        return await asyncio.to_thread(lambda: [self._read(path) for path in paths])

    def first_id(self, workspace: str, path: str) -> str | None:
        """Return the id that `citewell ingest` gives the file."""
        return self._found[path].document_id(workspace)

    def _list(self) -> Listing:
        files: list[Listed] = []
        self._found.clear()
        links = long = twins = 0
        textless: list[str] = []
        for path, entry in self._entries():
            if is_textless(path):
                textless.append(path)
            elif entry.is_symlink():
                links += 1
            elif len(path.encode()) > LONGEST_PATH:
                long += 1
            elif path in self._found:
                twins += 1
            elif entry.is_file(follow_symlinks=False):
                self._found[path] = FoundFile(Path(entry.path), f"{as_text(self._root.name)}/{path}")
                found = entry.stat(follow_symlinks=False)
                # The time of the last change of the inode tells of edits that put the time of modification back.
                fingerprint = f"{found.st_size}-{found.st_mtime_ns}-{found.st_ctime_ns}-{found.st_ino}"
                files.append(Listed(path, fingerprint, found.st_size))
        files.sort(key=lambda file: file.path)
        notes = (
            (links, f"{counted(links, 'symbolic link')} not followed."),
            (long, f"{counted(long, 'path')} too long."),
            (twins, f"{counted(twins, 'file')} with the name of another, whose letters are composed in another way."),
        )
        return Listing(files, [*(note for count, note in notes if count), *passed_over(textless)])

    def _entries(self) -> Iterator[tuple[str, os.DirEntry[str]]]:
        """Yield every entry that is neither hidden nor a folder, with its path as text."""
        folders = [("", str(self._root))]
        while folders:
            below, folder = folders.pop()
            try:
                with os.scandir(folder) as entries:
                    for entry in entries:
                        if entry.name.startswith("."):
                            continue
                        path = below + as_text(entry.name)
                        if entry.is_dir(follow_symlinks=False):
                            folders.append((f"{path}/", entry.path))
                        else:
                            yield path, entry
            except OSError as error:
                raise InvalidRequest(
                    f"The folder {as_text(folder)} cannot be read: {error.strerror}.",
                    suggestion="Check that it is there and that you may read it; nothing was changed.",
                ) from error

    def _read(self, path: str) -> ReadFile:
        found = self._found[path]
        try:
            descriptor = os.open(found.path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
            with open(descriptor, "rb") as file:
                if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                    return UnreadableDocument("It is not a regular file any more.")
                data = file.read(self._max_bytes + 1)
        except OSError as error:
            return UnreadableDocument(
                f"The file cannot be opened: {error.strerror}.", suggestion="Check that you may read it."
            )
        return NewDocument(data=data, name=found.key, source_type="file")


AT_ONCE = 8  # objects
_CLIENT = {"connect_timeout": timedelta(seconds=5), "timeout": timedelta(seconds=60)}
_RETRIES = {"max_retries": 3, "retry_timeout": timedelta(seconds=15)}


class BucketSource(SourceReader):
    """A source of objects in a store that obstore has opened at the prefix. Hidden ones are passed over."""

    def __init__(self, store: Any, *, max_bytes: int) -> None:
        self._store = store
        self._max_bytes = max_bytes
        self._sizes: dict[str, int] = {}

    async def listing(self) -> Listing:
        """List the objects. Raises DependencyFailed."""
        objects = obstore()
        files: list[Listed] = []
        textless: list[str] = []
        try:
            async for page in objects.list(self._store):
                for found in page:
                    path = found["path"]
                    is_hidden = any(part.startswith(".") for part in path.split("/"))
                    if is_hidden or path.endswith("/") or len(path.encode()) > LONGEST_PATH:
                        continue
                    if is_textless(path):
                        textless.append(path)
                    else:
                        tag = found["e_tag"] or found["last_modified"].isoformat()
                        files.append(Listed(path, f"{found['size']}-{tag}", found["size"]))
        except (objects.exceptions.BaseError, OSError) as error:
            raise _failed(error) from error
        self._sizes = {file.path: file.size for file in files}
        return Listing(sorted(files, key=lambda file: file.path), passed_over(textless))

    async def read(self, paths: Sequence[str]) -> Sequence[ReadFile]:
        """Read objects; those that are larger than a document may be are not. Raises DependencyFailed."""
        free = asyncio.Semaphore(AT_ONCE)

        async def read(path: str) -> ReadFile:
            async with free:
                return await self._read(path)

        return await asyncio.gather(*map(read, paths))

    async def _read(self, path: str) -> ReadFile:
        if self._sizes[path] > self._max_bytes:
            return too_large(self._sizes[path], self._max_bytes)
        objects = obstore()
        try:
            data = bytes(await (await objects.get_async(self._store, path)).bytes_async())
        except (FileNotFoundError, objects.exceptions.NotFoundError):
            return UnreadableDocument("It is gone since it was listed.", suggestion="Sync again.")
        except (objects.exceptions.BaseError, OSError) as error:
            raise _failed(error) from error
        return NewDocument(data=data, name=path, source_type="file")


def open_bucket(location: str) -> Any:
    """Open ``s3://bucket/prefix`` with the usual ``AWS_`` names of the environment. Raises ConfigurationError."""
    objects = obstore()
    allow_http = os.environ.get("AWS_ALLOW_HTTP", "").lower() in ("true", "1")
    try:
        return objects.store.S3Store.from_url(
            location, client_options={**_CLIENT, "allow_http": allow_http}, retry_config=_RETRIES
        )
    except (objects.exceptions.BaseError, ValueError) as error:
        raise ConfigurationError(f"{location} cannot be opened: {error}", suggestion="Check the address.") from error


def obstore() -> Any:
    """Return the package obstore, which is an extra. Raises ConfigurationError."""
    try:
        import obstore
        import obstore.exceptions
        import obstore.store
    except ImportError as error:
        raise ConfigurationError(
            "Buckets are read with the package obstore.", suggestion="Install citewell[originals]."
        ) from error
    return obstore


def _failed(error: Exception) -> DependencyFailed:
    # What follows the first line is the insides of the error, for those who wrote the package.
    said = str(error).partition("\n")[0][:300]
    return DependencyFailed(
        f"The bucket could not be read: {said}", suggestion="Check its address and the AWS_ credentials."
    )


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
