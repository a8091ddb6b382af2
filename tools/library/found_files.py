"""Files below paths: which there are, what they hold, and how each becomes a document."""

import os
import stat
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from uuid import UUID, uuid5

from graph.errors import InvalidRequest, UnreadableDocument
from text.normal_forms import compose
from tools.library.new_documents import NewDocument, UnreadDocument
from tools.parsers.textless import is_textless

_PATHS = UUID("6f2b8a34-0d1c-5c7e-9a55-1f4b7c0e2d93")


@dataclass(frozen=True, slots=True)
class FoundFile:
    """A file below a root. ``key`` is its path from the root's name on, with forward slashes.

    ``leads_out`` says that it is a link to somewhere outside of the root. ``twin`` is the name of an earlier file with
    the same key, whose document this one's would be.
    """

    path: Path
    key: str
    leads_out: bool = False
    twin: str | None = None

    def document_id(self, workspace: str) -> str:
        """Return the document id, derived from workspace and key, so that a changed file updates its document."""
        return str(uuid5(_PATHS, f"{workspace}\n{self.key}"))

    @property
    def name(self) -> str:
        """The path as text to show and store; bytes that are not UTF-8 are escaped."""
        return as_text(str(self.path))

    def read(self, max_bytes: int) -> bytes:
        """Read the file up to one byte more than ``max_bytes``. Raises UnreadableDocument or InvalidRequest."""
        if self.twin is not None:
            raise InvalidRequest(
                f"The file would have the same id as {self.twin}: both have the path {self.key}.",
                suggestion="Rename one of the folders, or ingest one of the files through the API with its own id.",
            )
        if self.leads_out:
            raise UnreadableDocument(
                "It is a link that leads out of the folder.", suggestion="Ingest the file that it leads to by its path."
            )
        try:
            if not stat.S_ISREG(self.path.stat().st_mode):
                raise UnreadableDocument("It is not a regular file: reading a pipe or a device might never end.")
            with self.path.open("rb") as file:
                return file.read(max_bytes + 1)
        except FileNotFoundError as error:
            raise UnreadableDocument("There is no such file or folder.", suggestion="Check the path.") from error
        except OSError as error:
            raise UnreadableDocument(
                f"The file cannot be opened: {error.strerror}.", suggestion="Check that you may read it."
            ) from error


def find_files(paths: Sequence[Path], textless: list[str] | None = None) -> list[FoundFile]:
    """List the files below paths; folders are walked in alphabetical order.

    Hidden files and folders below a path are skipped, and symbolic links to folders are not followed. Files in a folder
    that hold no text, such as pictures, are not listed: their names go into ``textless``. A path that does not exist, a
    link that leads out of its folder and a twin are listed, and fail when they are read. None is listed twice.
    """
    textless = [] if textless is None else textless
    found: dict[Path, FoundFile] = {}
    first: dict[str, FoundFile] = {}
    for path in paths:
        for file in _below(path, textless):
            resolved = file.path.resolve()
            if resolved not in found:
                twin = first.setdefault(file.key, file)
                found[resolved] = file if twin is file else replace(file, twin=twin.name)
    return list(found.values())


def unread_files(
    paths: Sequence[Path],
    workspace: str,
    fields: NewDocument,
    reading: Callable[[str], None] = lambda name: None,
    textless: list[str] | None = None,
) -> Iterator[UnreadDocument]:
    """Yield the files below paths as documents with the same fields, each under an id of its path below the root.

    So a file that is ingested again updates its document, and one that was deleted stays in the library. ``reading``
    is called in a thread with the name of each file that is about to be read. ``textless`` is as in ``find_files``.
    Blocks.
    """

    def load(file: FoundFile, max_bytes: int) -> NewDocument:
        reading(file.name)
        return replace(fields, data=file.read(max_bytes), name=file.key, document_id=file.document_id(workspace))

    for file in find_files(paths, textless):
        yield UnreadDocument(file.name, file.document_id(workspace), partial(load, file))


def _below(path: Path, textless: list[str]) -> Iterator[FoundFile]:
    root = path.resolve()
    if not root.is_dir():
        yield FoundFile(path, as_text(f"{root.parent.name}/{root.name}"))
        return
    for folder, folders, files in os.walk(root):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(files):
            if name.startswith("."):
                continue
            if is_textless(name):
                textless.append(name)
            else:
                below = Path(folder, name).relative_to(root)
                target = Path(folder, name)
                leads_out = target.is_symlink() and not target.resolve().is_relative_to(root)
                yield FoundFile(path / below, as_text(f"{root.name}/{below.as_posix()}"), leads_out)


def as_text(path: str) -> str:
    """Return a path as text, composed, since some systems take letters apart; bytes that are not UTF-8 are escaped."""
    return compose(os.fsencode(path).decode("utf-8", "backslashreplace"))
