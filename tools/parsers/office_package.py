"""Packages of Office Open XML: their parts and relationships, and why some office files are refused.

A part is read only when it is asked for: embedded files, pictures, macros and whatever is outside of the package are
never opened.
"""

import posixpath
import re
from dataclasses import dataclass
from typing import Any

from graph.errors import UnreadableDocument
from tools.parsers.archives import SafeArchive, open_archive, xml_of
from tools.parsers.parser_registry import OLE

REL = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
DRAWING = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
FALLBACK = "{http://schemas.openxmlformats.org/markup-compatibility/2006}Fallback"  # for older programs
_PACKAGE_REL = "{http://schemas.openxmlformats.org/package/2006/relationships}Relationship"
_CORE_TITLE = "{http://purl.org/dc/elements/1.1/}title"
_STRICT = re.compile(rb"http://purl\.oclc\.org/ooxml/(\w+)/")
_MADE_UP = re.compile(
    r"untitled.*|(?:document|book|presentation|workbook)\d*|(?:powerpoint )?presentation|slide \d+|no title|\W*"
    r"|microsoft (?:word|powerpoint|excel) -.*|.*\.(?:docx?|pptx?|xlsx?|od[tsp]|rtf)",
    re.IGNORECASE,
)
_OLD = ((".doc", "WordDocument", ".docx"), (".xls", "Workbook", ".xlsx"), (".xls", "Book", ".xlsx"),
        (".ppt", "PowerPoint Document", ".pptx"))  # fmt: skip


@dataclass(frozen=True, slots=True)
class Relationship:
    """Where a part points to within the package: the last word of the type's address, and the part's name."""

    kind: str
    target: str


class Package:
    """An open package. ``main`` is the part that the package is about."""

    def __init__(self, archive: SafeArchive) -> None:
        self._archive = archive
        self._related: dict[str, dict[str, Relationship]] = {}
        self.main = self.target("", "officeDocument")

    @property
    def has_macros(self) -> bool:
        """Return whether the package holds a program. It is never read."""
        return any(name.endswith("vbaProject.bin") for name in self._archive)

    def __contains__(self, name: str) -> bool:
        return name in self._archive

    def xml(self, name: str) -> Any | None:
        """Return the root element of a part, None if there is no such part. The strict dialect is read as the other.

        Raises UnreadableDocument if it is broken.
        """
        if name not in self._archive:
            return None
        return xml_of(self.data(name), name=name)

    def data(self, name: str) -> bytes:
        """Return the bytes of a part. Raises UnreadableDocument if it is missing or broken."""
        if name not in self._archive:
            raise UnreadableDocument(f"The file is broken: its part {name} is missing.")
        data = self._archive.read(name)
        return _STRICT.sub(rb"http://schemas.openxmlformats.org/\1/2006/", data) if _STRICT.search(data) else data

    def related(self, part: str) -> dict[str, Relationship]:
        """Return the relationships of a part by their ids, without those that lead out of the package."""
        if part in self._related:
            return self._related[part]
        folder, name = posixpath.split(part)
        root = self.xml(posixpath.join(folder, "_rels", f"{name}.rels"))
        found = self._related[part] = {}
        for each in root.iter(_PACKAGE_REL) if root is not None else ():
            if each.get("TargetMode") != "External":
                target = posixpath.normpath(posixpath.join("/", folder, each.get("Target") or "")).lstrip("/")
                found[each.get("Id") or ""] = Relationship((each.get("Type") or "").rpartition("/")[2], target)
        return found

    def target(self, of: str, kind: str) -> str:
        """Return the first part that another points to by a kind, "" if there is none."""
        return next((each.target for each in self.related(of).values() if each.kind == kind), "")

    def part(self, of: str, kind: str) -> Any | None:
        """Return the root element of the first part that another points to by a kind, None if there is none."""
        return self.xml(self.target(of, kind))

    def title(self) -> str | None:
        """Return the title that the author gave the file in its properties."""
        root = self.part("", "core-properties")
        return given_title(root.findtext(_CORE_TITLE)) if root is not None else None


def open_package(data: bytes, main: str, name: str) -> Package:
    """Open a package whose main part has a root element of that tag; ``name`` is what people call the format.

    Raises UnreadableDocument if it is encrypted, of an older format, broken, or about something else.
    """
    refuse_compound(data)
    package = Package(open_archive(data))
    root = package.xml(package.main)
    if root is None or root.tag != main:
        raise UnreadableDocument(
            f"The file is not {name}: its main part is missing or of another kind.",
            suggestion="Give it the suffix of its own format, or save it again.",
        )
    return package


def given_title(words: str | None) -> str | None:
    """Return a title from a file's properties, None if a program made it up."""
    title = " ".join((words or "").split())
    return title if title and not _MADE_UP.fullmatch(title) else None


def refuse_compound(data: bytes) -> None:
    """Raise UnreadableDocument, with what would help, for files that are no archives: encrypted and older ones."""
    if not data.startswith(OLE):
        return
    refuse_encrypted(data)
    suffix, better = old_format(data)
    raise UnreadableDocument(
        f"The file is in the old format {suffix} of Office 97 to 2003.",
        suggestion=f"Give it the suffix {suffix}, or open it in its program and save it as {better}.",
    )


def refuse_encrypted(data: bytes) -> None:
    """Raise UnreadableDocument for a compound file that needs a password."""
    if "EncryptedPackage".encode("utf-16-le") in data:
        raise UnreadableDocument(
            "The file is encrypted and needs a password.", suggestion="Save it without a password."
        )


def old_format(data: bytes) -> tuple[str, str]:
    """Return the suffix of an Office file of before 2007, and that of its newer format. Raises UnreadableDocument."""
    for suffix, stream, better in _OLD:
        if stream.encode("utf-16-le") in data:
            return suffix, better
    raise UnreadableDocument("The file is a compound file of an unknown program.")


def whole_number(digits: str | None, otherwise: int = 0) -> int:
    """Return a number from an attribute; ``otherwise`` where it is none, or beyond any that a document has."""
    found = re.fullmatch(r"\s*(-?\d{1,9})\s*", digits or "")
    return int(found[1]) if found else otherwise
