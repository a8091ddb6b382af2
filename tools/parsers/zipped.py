"""Zip archives of documents: each member is a document of its own, and archives within are opened one level down."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import PurePosixPath

from graph.errors import UnreadableDocument
from tools.parsers.archives import Allowance, Limits, SafeArchive, open_archive
from tools.parsers.canonical_text import Parsed
from tools.parsers.textless import of_a_program

_MOST_DEPTH = 2  # archives within each other
_LIMITS = Limits(entries=5000)
_SUFFIX = ".zip"


@dataclass(frozen=True, slots=True)
class Member:
    """A file in an archive, with its path from the archive on, or the reason why it cannot be read."""

    path: str
    data: bytes = b""
    error: UnreadableDocument | None = None


def read(data: bytes) -> Parsed:
    """Raise UnreadableDocument: where one document is asked for, an archive is several."""
    raise UnreadableDocument(
        "An archive holds several documents, and here can only be one.",
        suggestion="Unpack it, or use `citewell ingest`, for which each of its files is a document.",
    )


def members(data: bytes, *, max_bytes: int) -> Iterator[Member]:
    """Yield the files of an archive and of those in it, unpacked one at a time; hidden ones are skipped, as in folders.

    Raises UnreadableDocument if the archive is broken or beyond its limits.
    """
    yield from _members(open_archive(data, Allowance(_LIMITS)), "", 1, max_bytes)


def _members(archive: SafeArchive, folder: str, depth: int, max_bytes: int) -> Iterator[Member]:
    taken: set[str] = set()
    for name in archive:
        path = folder + _safe(name)
        if _is_hidden(name):
            continue
        if path in taken:
            yield Member(path, error=UnreadableDocument("The archive holds two files of this name."))
            continue
        taken.add(path)
        try:
            if archive.size(name) > max_bytes:
                raise UnreadableDocument(
                    f"The file is too large: {archive.size(name):,} bytes, but the limit is {max_bytes:,}.",
                    suggestion="Split it, or raise CITEWELL_MAX_DOCUMENT_BYTES.",
                )
            data = archive.read(name)
            if not name.lower().endswith(_SUFFIX):
                yield Member(path, data)
                continue
            if depth >= _MOST_DEPTH:
                raise UnreadableDocument(f"Archives are opened {_MOST_DEPTH} levels deep, and this one is deeper.")
            inner = open_archive(data, archive.allowance)
        except UnreadableDocument as error:
            yield Member(path, error=error)
            continue
        yield from _members(inner, f"{path}/", depth + 1, max_bytes)


def _safe(name: str) -> str:
    """Return a path that stays below the archive: it names a document, and no file is ever written."""
    parts = re.split(r"[/\\]+", name)
    return "/".join(part for part in parts if part not in ("", ".", "..")) or "_"


def _is_hidden(name: str) -> bool:
    parts = PurePosixPath(name).parts
    is_hidden = any(part.startswith(".") and part not in (".", "..") for part in parts)
    return is_hidden or "__MACOSX" in parts or of_a_program(name)


def refuse_package(data: bytes) -> Parsed:
    """Raise UnreadableDocument: the zip archive is how another program packs one file of its own, or itself."""
    names = open_archive(data)
    if any(name.endswith((".iwa", ".apxl")) for name in names):
        raise UnreadableDocument(
            "The file is of Apple Pages, Numbers or Keynote, which only these read.",
            suggestion="Open it there, and export it as PDF, or as Word, Excel or PowerPoint.",
        )
    if "META-INF/MANIFEST.MF" in names or "AndroidManifest.xml" in names:
        raise UnreadableDocument("The file is a program, not text.")
    raise UnreadableDocument(
        "The file is how a program packs its own data: Citewell does not know the format.",
        suggestion="Export it as PDF. If it is an archive of documents, give it the suffix .zip.",
    )
