"""Parser of EPUB books: their chapters in the order of reading, through the parser of HTML.

The table of contents says how deep the headings of a chapter are, and names those that have none. It is left out
itself, and so are the cover and pictures. An anchor is the chapter's file with the id in it, ``text/ch1.xhtml#keys``.
"""

import posixpath
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any
from urllib.parse import unquote

from lxml import etree

from graph.errors import UnreadableDocument
from tools.parsers.archives import SAFELY, SafeArchive, open_archive
from tools.parsers.canonical_text import CHECK_SUFFIX, CanonicalText, Parsed, storable
from tools.parsers.html import read_drafts, write_drafts
from tools.parsers.html_fragments import VOID
from tools.parsers.plain import decode

_CONTAINER = "META-INF/container.xml"
_ENCRYPTION = "META-INF/encryption.xml"
_FONTS = ("http://www.idpf.org/2008/embedding", "http://ns.adobe.com/pdf/enc#RC")  # only fonts are hidden by these
_CHAPTERS = ("application/xhtml+xml", "text/html", "application/x-dtbook+xml")
_MOST_CHAPTERS = 5000
_MOST_BYTES = 60_000_000  # of all chapters
_MOST_ENTRIES = 20_000
_DEEPEST = 6
_STYLE_LINK = re.compile(r"""<link\b[^<>]*?\bhref=["']([^"'<>]{1,300}\.css)["']""", re.IGNORECASE)
_MOST_SHEETS = 10  # of a chapter
_MOST_SHEET_BYTES = 20_000_000  # as often as chapters read them
_LARGEST_SHEET = 200_000  # bytes
_CLOSED = re.compile(r"<([A-Za-z][\w-]*)([^<>]*)/>")
_COVER = re.compile(r"cover(?:[-_ ]?page|[-_ ]?image)?", re.IGNORECASE)


def read(data: bytes) -> Parsed:
    """Parse a book.

    Raises UnreadableDocument if it is broken, protected, or too large.
    """
    archive = open_archive(data)
    methods = _named(_xml(archive.read(_ENCRYPTION)), "EncryptionMethod") if _ENCRYPTION in archive else ()
    if any(method.get("Algorithm") not in _FONTS for method in methods):
        raise UnreadableDocument("The book is protected (DRM).", suggestion="Ingest a copy without protection.")
    book = _Book(archive)
    text = CanonicalText()
    deeper = 0
    for chapter in book.chapters():
        entry = book.contents.get(chapter)
        try:
            drafts, _ = read_drafts(book.page(chapter), text, in_book=True)
        except (KeyError, UnreadableDocument):
            text.left_out["part of the book"] += 1
            continue
        levels = [draft.level for draft in drafts if draft.kind == "heading"]
        file = chapter.removeprefix(f"{book.folder}/")
        if entry is not None and levels:
            deeper = entry.depth - min(levels)
        elif entry is not None and drafts:
            deeper = 0
            if " ".join(drafts[0].text.split()) == entry.label:  # some programs write headings as paragraphs
                drafts[0] = replace(drafts[0], kind="heading", level=entry.depth)
            else:
                text.add_heading(entry.depth, entry.label, anchor=file)
        write_drafts(text, drafts, deeper=deeper, file=file)
    metadata = {"author": book.author} if book.author else {}
    return text.parsed(title=book.title or None, metadata=metadata)


@dataclass(frozen=True, slots=True)
class _Entry:
    """An entry of the table of contents; ``depth`` is 1 for a chapter of the top level."""

    label: str
    depth: int


class _Book:
    """The package of a book: its title, the order of its files, and its table of contents by file."""

    def __init__(self, archive: SafeArchive) -> None:
        self._archive = archive
        if _CONTAINER not in archive:
            raise UnreadableDocument(
                "The file is no EPUB book: it has no META-INF/container.xml.", suggestion=CHECK_SUFFIX
            )
        root = next(iter(_named(_xml(archive.read(_CONTAINER)), "rootfile")), None)
        path = unquote(root.get("full-path") or "") if root is not None else ""
        if path not in archive:
            raise UnreadableDocument("The book is broken: its package file is missing.")
        package = _xml(archive.read(path))
        self._sheets: dict[str, str] = {}
        self._sheet_bytes = _MOST_SHEET_BYTES
        self.folder = posixpath.dirname(path)
        self.title = _words(next(iter(_named(package, "title")), None))[:500]
        self.author = ", ".join(filter(None, map(_words, islice(_named(package, "creator"), 10))))[:500]
        self._items = {item.get("id"): item for item in _named(package, "item")}
        self._spine = [self._items.get(ref.get("idref")) for ref in _named(package, "itemref")]
        covers = [ref.get("href") for ref in _named(package, "reference") if ref.get("type") == "cover"]
        self._covers = {self._path(href) for href in covers if href}
        self.contents = dict(reversed([*self._entries(package)]))  # the first entry of a file names it

    def chapters(self) -> list[str]:
        """Return the paths of the chapters in order. Raises UnreadableDocument if they are too many or too large."""
        found: dict[str, None] = {}
        for item in self._spine:
            if item is None or not item.get("href") or (item.get("media-type") or "") not in _CHAPTERS:
                continue
            path = self._path(item.get("href"))
            stem = posixpath.splitext(posixpath.basename(path))[0]
            if "nav" in (item.get("properties") or "").split() or path in self._covers or _COVER.fullmatch(stem):
                continue
            found[path] = None
        size = sum(self._archive.size(path) for path in found if path in self._archive)
        if len(found) > _MOST_CHAPTERS or size > _MOST_BYTES:
            raise UnreadableDocument("The book is too large: its chapters unpack to too much text.")
        return list(found)

    def page(self, chapter: str) -> bytes:
        """Return a chapter as HTML, with its style sheets in it: they say what is struck out or hidden."""
        html = _as_html(self._archive.read(chapter))
        folder = posixpath.dirname(chapter)
        for link in islice(_STYLE_LINK.findall(html), _MOST_SHEETS):
            path = self._path(link, folder)
            if path not in self._sheets:
                known = path in self._archive and self._archive.size(path) <= _LARGEST_SHEET
                self._sheets[path] = self._archive.read(path).decode("utf-8", "replace") if known else ""
            sheet = self._sheets[path]
            self._sheet_bytes -= len(sheet)
            if sheet and self._sheet_bytes > 0:
                html = html.replace("</head>", f"<style>{sheet.replace('<', ' ')}</style></head>", 1)
        return b"\xef\xbb\xbf" + html.encode()

    def _path(self, href: str, folder: str | None = None) -> str:
        path = unquote(href.partition("#")[0])
        return posixpath.normpath(posixpath.join(self.folder if folder is None else folder, path))

    def _entries(self, package: Any) -> Iterator[tuple[str, _Entry]]:
        nav = next((item for item in self._items.values() if "nav" in (item.get("properties") or "").split()), None)
        spine = next(iter(_named(package, "spine")), None)
        ncx = self._items.get(spine.get("toc")) if spine is not None else None
        for item, read_entries in ((nav, _nav_entries), (ncx, _ncx_entries)):
            path = self._path(item.get("href") or "") if item is not None else ""
            if path not in self._archive:
                continue
            try:
                entries = list(islice(read_entries(self._archive.read(path)), _MOST_ENTRIES))
            except UnreadableDocument:
                continue
            if entries:
                folder = posixpath.dirname(path)
                for href, entry in entries:
                    yield self._path(href, folder), entry
                return


def _nav_entries(data: bytes) -> Iterator[tuple[str, _Entry]]:
    for nav in _named(_xml(data), "nav"):
        if "toc" in " ".join(nav.attrib.values()).split():
            for link in _named(nav, "a"):
                depth = sum(_name(around) == "ol" for around in link.iterancestors())
                if link.get("href") and depth:
                    yield link.get("href"), _Entry(_words(link), min(depth, _DEEPEST))


def _ncx_entries(data: bytes) -> Iterator[tuple[str, _Entry]]:
    for point in _named(_xml(data), "navPoint"):
        depth = 1 + sum(_name(around) == "navPoint" for around in point.iterancestors())
        label = next((child for child in point if _name(child) == "navLabel"), None)
        content = next((child for child in point if _name(child) == "content"), None)
        if content is not None and content.get("src"):
            yield content.get("src"), _Entry(_words(label), min(depth, _DEEPEST))


def _xml(data: bytes) -> Any:
    """Return the root of XML whose entities are not expanded; unlike office files, books declare document types."""
    try:
        return etree.fromstring(data, etree.XMLParser(**SAFELY))
    except (etree.LxmlError, ValueError, LookupError) as error:
        raise UnreadableDocument("The book is broken: a file of its package is not XML.") from error


def _named(root: Any, name: str) -> Iterator[Any]:
    yield from root.iter("{*}" + name)


def _name(element: Any) -> str:
    return etree.QName(element).localname if isinstance(element.tag, str) else ""


def _words(element: Any) -> str:
    if element is None:
        return ""
    said = (part.text or "" for part in element.iter() if isinstance(part.tag, str))
    return " ".join(storable("".join(said)).split())


def _as_html(data: bytes) -> str:
    """Write out the empty elements of XHTML: to a parser of HTML, ``<title/>`` only begins one."""

    def written(found: re.Match[str]) -> str:
        name, attributes = found.groups()
        return found[0] if name.lower() in VOID else f"<{name}{attributes}></{name}>"

    declared = re.match(
        rb"""\s*<\?xml[^>]{0,100}?encoding\s*=\s*["']([\w.:-]{1,40})""", data.removeprefix(b"\xef\xbb\xbf")
    )
    text = decode(data, declared=declared[1].decode("ascii") if declared else None).removeprefix("\ufeff")
    return _CLOSED.sub(written, storable(text))
