"""Find the files below given paths, and read documents in batches that one transaction takes in."""

import os
import stat
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from uuid import UUID, uuid5

from graph.errors import CitewellError, UnreadableDocument
from tools.library.new_documents import ReadyDocument

_PATHS = UUID("6f2b8a34-0d1c-5c7e-9a55-1f4b7c0e2d93")


@dataclass(frozen=True, slots=True)
class FoundFile:
    """A file below a root. ``key`` is its place under the root's own name, with forward slashes."""

    path: Path
    key: str

    def document_id(self, workspace: str) -> str:
        """Give the document's id: the same for the same workspace and key, so that a changed file updates it."""
        return str(uuid5(_PATHS, f"{workspace}\n{self.key}"))

    @property
    def name(self) -> str:
        """The path as it can be shown and stored; bytes that are no text are escaped."""
        return _text(str(self.path))

    def read(self, max_bytes: int) -> bytes:
        """Read the file, but at most one byte more than ``max_bytes``. Raises UnreadableDocument."""
        try:
            if not stat.S_ISREG(self.path.stat().st_mode):
                raise UnreadableDocument("It is no file: nothing would end reading a pipe or a device.")
            with self.path.open("rb") as file:
                return file.read(max_bytes + 1)
        except OSError as error:
            raise UnreadableDocument(f"The file cannot be opened: {error.strerror}.") from error


def find_files(paths: Sequence[Path]) -> list[FoundFile]:
    """List the files of paths; folders are walked in the order of names.

    Hidden files and folders below a path are left out, links to folders are not followed. A path that does not exist
    is listed, and fails when it is read. A file met twice is listed once.
    """
    found: dict[Path, FoundFile] = {}
    for path in paths:
        for file in _below(path):
            found.setdefault(file.path.resolve(), file)
    return list(found.values())


def _below(path: Path) -> Iterator[FoundFile]:
    root = path.resolve()
    if not root.is_dir():
        yield FoundFile(path, _text(f"{root.parent.name}/{root.name}"))
        return
    for folder, folders, files in os.walk(root):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(files):
            if not name.startswith("."):
                below = Path(folder, name).relative_to(root)
                yield FoundFile(path / below, _text(f"{root.name}/{below.as_posix()}"))


def _text(path: str) -> str:
    return os.fsencode(path).decode("utf-8", "backslashreplace")


BATCH_DOCUMENTS = 200
BATCH_CHARACTERS = 500_000

DocumentReader = Callable[[], ReadyDocument]


@dataclass(frozen=True, slots=True)
class ReadSource:
    """A source that was read: the document, or why there is none."""

    name: str
    ready: ReadyDocument | None = None
    fault: CitewellError | None = None


class DocumentBatches:
    """Reads named sources in order. ``next`` takes CPU and file time: call it in a thread, one at a time."""

    def __init__(self, sources: Iterable[tuple[str, DocumentReader]]) -> None:
        self._left = self._read(sources)
        self._carried: ReadSource | None = None

    def next(self) -> list[ReadSource]:
        """Read some hundred documents or half a million characters, no id twice; an empty list is the end."""
        batch: list[ReadSource] = []
        ids: set[str] = set()
        characters = 0
        while len(batch) < BATCH_DOCUMENTS and characters < BATCH_CHARACTERS:
            item = self._carried or next(self._left, None)
            self._carried = None
            if item is None:
                break
            if item.ready is not None:
                if item.ready.document_id in ids:
                    self._carried = item
                    break
                ids.add(item.ready.document_id)
                characters += len(item.ready.parsed.text)
            batch.append(item)
        return batch

    @staticmethod
    def _read(sources: Iterable[tuple[str, DocumentReader]]) -> Iterator[ReadSource]:
        for name, source in sources:
            try:
                yield ReadSource(name, source())
            except CitewellError as fault:
                yield ReadSource(name, fault=fault)
