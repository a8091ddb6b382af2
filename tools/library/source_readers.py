"""Readers of sources: what a source has now, and its files. Here, those of folders; others are beside this file."""

import asyncio
import os
import stat
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from graph.errors import CitewellError, InvalidRequest, UnreadableDocument
from text.counted import counted
from tools.library.found_files import FoundFile, as_text
from tools.library.new_documents import NewDocument
from tools.library.sync_plan import Listed
from tools.parsers.textless import is_textless, passed_over

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
