"""The files below given paths, in order, each with the id that it keeps from one ingestion to the next."""

import os
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from uuid import UUID, uuid5

from graph.errors import UnreadableDocument

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
