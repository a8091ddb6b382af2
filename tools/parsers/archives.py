"""Archives read safely: their size is known before anything is unpacked, and nothing is written to a disk.

A hostile archive may hold millions of entries, unpack to a thousand times its size, or pack another one. ``Limits``
bound each, and archives within archives share one ``Allowance``. Only the two methods that office programs write are
unpacked, stored and deflate: Python unpacks others, such as bzip2, without a bound on memory.
"""

import zipfile
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from io import BytesIO
from typing import Any

from lxml import etree

from graph.errors import UnreadableDocument

_DIRECTORY_ENTRY = b"PK\x01\x02"
_METHODS = frozenset({zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED})
_ENCRYPTED = 0x1
_BROKEN = (
    zipfile.BadZipFile,
    zlib.error,
    NotImplementedError,
    RuntimeError,
    EOFError,
    OSError,
    ValueError,
    OverflowError,
)
_MEGABYTE = 1024 * 1024
_LARGEST_TREE = 64 * _MEGABYTE  # of XML; its tree takes six times that. A thousand pages of Word are ten


@dataclass(frozen=True, slots=True)
class Limits:
    """What an archive may unpack to: bytes in all, entries, and bytes for each packed one beyond the first megabytes.

    A text of one letter packs a thousand times; XML of office programs 10 to 40 times, an empty sheet 100 times.
    """

    unpacked: int = 400 * _MEGABYTE
    entries: int = 10_000
    ratio: int = 200
    ratio_from: int = 20 * _MEGABYTE


LIMITS = Limits()


class Allowance:
    """What is left of the limits for an archive and for those within it."""

    def __init__(self, limits: Limits = LIMITS) -> None:
        self.limits = limits
        self._unpacked = limits.unpacked
        self._entries = limits.entries

    def take_entries(self, count: int) -> None:
        """Count entries. Raises UnreadableDocument if there are too many."""
        self._entries -= count
        if self._entries < 0:
            raise _bomb(f"it holds more than {self.limits.entries:,} entries")

    def take_bytes(self, count: int) -> None:
        """Count unpacked bytes. Raises UnreadableDocument if there are too many."""
        self._unpacked -= count
        if self._unpacked < 0:
            raise _bomb(f"it unpacks to more than {self.limits.unpacked // _MEGABYTE:,} MB")


class SafeArchive:
    """An open zip archive whose declared size is within the limits. ``read`` gives no more than was declared."""

    def __init__(self, archive: zipfile.ZipFile, allowance: Allowance) -> None:
        self._archive = archive
        self._entries = {entry.filename: entry for entry in archive.infolist() if not entry.is_dir()}
        self.allowance = allowance

    def __contains__(self, name: object) -> bool:
        """Return whether there is an entry of that name."""
        return name in self._entries

    def __iter__(self) -> Iterator[str]:
        """Yield the names of the entries that are no folders, in the order of the archive."""
        return iter(self._entries)

    def __len__(self) -> int:
        """Return the number of entries that are no folders."""
        return len(self._entries)

    def size(self, name: str) -> int:
        """Return the unpacked size of an entry in bytes, as declared. Raises KeyError for an unknown name."""
        return self._entries[name].file_size

    def read(self, name: str) -> bytes:
        """Return the bytes of an entry.

        Raises KeyError for an unknown name; UnreadableDocument if the entry is encrypted or broken, or if what has been
        read goes beyond the allowance.
        """
        entry = self._entries[name]
        if entry.flag_bits & _ENCRYPTED:
            raise UnreadableDocument(
                "The file is encrypted and needs a password.", suggestion="Save it without a password."
            )
        if entry.compress_type not in _METHODS:
            raise UnreadableDocument(
                f"The archive packs {_shown(name)} by a method that is not supported.",
                suggestion="Pack it again as an ordinary zip (deflate).",
            )
        self.allowance.take_bytes(entry.file_size)
        try:
            # ZipFile.read would unpack gigabytes and cut them to the declared size afterwards. One byte more than that
            # lets it compare the checksum of an entry that declares none.
            with self._archive.open(entry) as packed:
                return packed.read(entry.file_size + 1)
        except _BROKEN as error:
            raise UnreadableDocument(f"The archive is broken: {_shown(name)} cannot be unpacked.") from error


def open_archive(data: bytes, allowance: Allowance | None = None) -> SafeArchive:
    """Open a zip archive. ``allowance`` is that of the archive around it.

    Raises UnreadableDocument if it is broken, or would go beyond the limits.
    """
    allowance = allowance or Allowance()
    limits = allowance.limits
    # zipfile makes an object of each entry before it tells how many there are. Archives within count here too, stored.
    if data.count(_DIRECTORY_ENTRY) > 10 * limits.entries:
        raise _bomb(f"it holds more than {limits.entries:,} entries")
    try:
        archive = zipfile.ZipFile(BytesIO(data))
    except _BROKEN as error:
        raise UnreadableDocument(
            "The archive is broken: it cannot be opened.",
            suggestion="Save it again with the program that made it, or check its suffix.",
        ) from error
    entries = archive.infolist()
    allowance.take_entries(len(entries))
    unpacked = sum(entry.file_size for entry in entries)
    if unpacked > limits.unpacked:
        raise _bomb(f"it unpacks to more than {limits.unpacked // _MEGABYTE:,} MB")
    if unpacked > limits.ratio_from and unpacked > limits.ratio * len(data):
        raise _bomb(f"it unpacks to more than {limits.ratio} times its size")
    return SafeArchive(archive, allowance)


_MAIN_PARTS = {
    "word/document.xml": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    "ppt/presentation.xml": "application/vnd.openxmlformats-officedocument.presentationml.presentation",
    "xl/workbook.xml": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
}


def media_type_inside(data: bytes) -> str | None:
    """Return the media type that an archive has by its parts: of an office file, or what its ``mimetype`` says.

    Returns None for any other archive, and for a broken one.
    """
    try:
        archive = open_archive(data)
        if "mimetype" in archive and archive.size("mimetype") <= 200:
            return archive.read("mimetype").decode("ascii", "replace").strip().lower()
    except UnreadableDocument:
        return None
    return next((kind for part, kind in _MAIN_PARTS.items() if part in archive), None)


# How every XML of a document is parsed: it names nothing outside of itself, expands nothing, and is not endless.
SAFELY: Mapping[str, bool] = {
    "resolve_entities": False,
    "no_network": True,
    "load_dtd": False,
    "huge_tree": False,
    "remove_comments": True,
    "remove_pis": True,
}


def xml_of(data: bytes, *, name: str = "The file") -> Any:
    """Return the root element of an XML part; comments and processing instructions are dropped.

    No entity is expanded, nothing is fetched, and libxml2's own bounds on depth and on the length of a text hold.
    Raises UnreadableDocument if the XML is broken, larger than 64 MB, or declares a document type: no office program
    writes one, and only there can entities be declared.
    """
    if len(data) > _LARGEST_TREE:
        raise UnreadableDocument(
            f"{_shown(name)} holds more than {_LARGEST_TREE // _MEGABYTE} MB of XML.", suggestion="Split the file."
        )
    try:
        root = etree.fromstring(data, etree.XMLParser(**SAFELY))
    except (etree.LxmlError, ValueError, LookupError) as error:
        raise UnreadableDocument(f"{_shown(name)} is broken XML.") from error
    if root is None or root.getroottree().docinfo.internalDTD is not None:
        raise _declares_type(name)
    return root


def elements_of(
    data: bytes, tags: Sequence[str], *, name: str, events: Sequence[str] = ("end",)
) -> Iterator[tuple[str, Any]]:
    """Yield "start" or "end" with an element of some tags, one by one: a sheet may be larger than its tree should be.

    Each is to be forgotten where it has been read. Raises UnreadableDocument as ``xml_of``.
    """
    parsed = etree.iterparse(BytesIO(data), events=events, tag=tags, **SAFELY)
    is_first = True
    try:
        for event, element in parsed:
            if is_first and element.getroottree().docinfo.internalDTD is not None:
                raise _declares_type(name)
            is_first = False
            yield event, element
    except (etree.LxmlError, ValueError, LookupError) as error:
        raise UnreadableDocument(f"{_shown(name)} is broken XML.") from error


def forget(element: Any) -> None:
    """Drop an element that has been read, and those before it."""
    element.clear()
    while element.getprevious() is not None:
        del element.getparent()[0]


def _declares_type(name: str) -> UnreadableDocument:
    return UnreadableDocument(f"{_shown(name)} declares a document type, which may hide entities.")


def _shown(name: str) -> str:
    printable = "".join(letter if letter.isprintable() else "?" for letter in name)
    return printable if len(printable) <= 80 else f"{printable[:77]}..."


def _bomb(why: str) -> UnreadableDocument:
    return UnreadableDocument(
        f"The file was not unpacked: {why}.", suggestion="If the file is right, split it, and add its parts."
    )
