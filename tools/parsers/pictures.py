"""The pictures of a file, in its order: which words stand before each, and the bytes of those that the file holds.

Parsers leave pictures out, since they hold no text. A reader of the document wants to see them where they stand. What
is elsewhere, such as the picture of a web page by its address, is never fetched: its description is in the text.
"""

import codecs
import posixpath
import re
from base64 import b64decode
from binascii import Error as Base64Error
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any, NamedTuple
from urllib.parse import unquote

from lxml import etree
from markdown_it import MarkdownIt

from tools.parsers.docx_styles import W
from tools.parsers.html import read_tree
from tools.parsers.odf import DRAW, HREF, SVG, OpenPackage
from tools.parsers.office_package import DRAWING, FALLBACK, REL, Package, open_package
from tools.parsers.parser_registry import OLE
from tools.parsers.plain import decode
from tools.parsers.pptx import P, slides

MOST_PICTURES = 500  # of one file
_BEFORE = 80  # characters before a picture by which its place is found
_LONGEST_ALT = 300
_WORD_PICTURE = "{http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing}docPr"
_VML = "{urn:schemas-microsoft-com:vml}imagedata"
_DATA = re.compile(
    r"data:image/(?:png|jpe?g|gif|webp)\s*(?:;[\w=.-]*)*;base64,(?P<data>[A-Za-z0-9+/=%\s]+)", re.IGNORECASE
)
_SILENT = frozenset({"script", "style", "noscript", "template", "head"})


class Picture(NamedTuple):
    """A picture, with the words before it, or the slide that it is on, counting from 0."""

    before: str
    alt: str
    data: bytes
    page_idx: int | None = None


def pictures_in(data: bytes, media_type: str) -> Iterator[Picture]:
    """Yield the pictures of a file, at most ``MOST_PICTURES``; none of a format whose pictures are not read.

    Raises UnreadableDocument if the file is broken. Parses what a stranger wrote: run it in a sandbox.
    """
    found: Iterator[Picture] = iter(())
    if data.startswith(OLE):  # a file of Office 97 to 2003
        return
    if "wordprocessingml" in media_type or "ms-word" in media_type:
        found = _in_word(open_package(data, f"{W}document", "a Word document"))
    elif "presentationml" in media_type or "ms-powerpoint" in media_type:
        found = _in_slides(open_package(data, f"{P}presentation", "a PowerPoint presentation"))
    elif media_type.startswith("application/vnd.oasis.opendocument."):
        if "spreadsheet" not in media_type:
            found = _in_open_document(OpenPackage(data))
    elif media_type in ("text/html", "application/xhtml+xml"):
        found = _in_html(read_tree(data))
    elif media_type in ("text/markdown", "text/mdx"):
        page = MarkdownIt("commonmark").enable("table").render(decode(data))
        found = _in_html(read_tree(codecs.BOM_UTF8 + page.encode()))
    yield from islice(found, MOST_PICTURES)


def _last(said: str, words: str | None) -> str:
    """Return the last words of a walk through a file."""
    return (said + (words or "")[-_BEFORE:])[-_BEFORE:]


def _alt(words: str | None) -> str:
    return " ".join((words or "").split())[:_LONGEST_ALT]


def _in_word(package: Package) -> Iterator[Picture]:
    root: Any = package.xml(package.main)
    related = package.related(package.main)
    said = alt = ""
    walker = etree.iterwalk(root, events=("start",))
    for _, element in walker:
        tag = element.tag
        if tag == f"{W}t":
            said = _last(said, element.text)
        elif tag in (FALLBACK, f"{W}del", f"{W}moveFrom"):
            walker.skip_subtree()
        elif tag == _WORD_PICTURE:
            alt = element.get("descr") or element.get("title") or ""
        elif tag in (f"{DRAWING}blip", _VML):
            target = related.get(element.get(f"{{{REL}}}embed") or element.get(f"{{{REL}}}id") or "")
            if target is not None and target.kind == "image":
                yield Picture(said, _alt(alt), package.data(target.target))
                alt = ""


def _in_slides(package: Package) -> Iterator[Picture]:
    for index, slide, part in slides(package):
        related = package.related(part)
        for shape in slide.iter(f"{P}pic") if slide is not None else ():
            if (target := image_on_slide(shape, related)) is not None:
                properties = next(shape.iter(f"{P}cNvPr"), None)
                alt = properties.get("descr") if properties is not None else ""
                yield Picture("", _alt(alt), package.data(target), index)


def image_on_slide(shape: Any, related: Mapping[str, Any]) -> str | None:
    """Return the part of the image that a picture of a slide shows."""
    blip = next(shape.iter(f"{DRAWING}blip"), None)
    image = related.get(blip.get(f"{{{REL}}}embed") or "") if blip is not None else None
    return image.target if image is not None and image.kind == "image" else None


def is_kept_picture(image: Any) -> bool:
    """Whether an image of an OpenDocument file is in the file itself."""
    return _name(image).startswith(("Pictures/", "media/"))


def _name(image: Any) -> str:
    return posixpath.normpath(unquote(image.get(HREF) or ""))


def _in_open_document(package: OpenPackage) -> Iterator[Picture]:
    root: Any = package.xml("content.xml")
    if root is None:
        return
    said = ""
    page = -1
    for event, element in etree.iterwalk(root, events=("start", "end")):
        if event == "end":
            said = _last(said, element.tail)
            continue
        if element.tag == f"{DRAW}page":
            page += 1
        said = _last(said, element.text if not str(element.tag).startswith(SVG) else None)
        if element.tag != f"{DRAW}image":
            continue
        frame = element.getparent()
        alt = frame.findtext(f"{SVG}desc") or frame.findtext(f"{SVG}title") if frame is not None else ""
        if is_kept_picture(element):
            before, page_idx = ("", page) if page >= 0 else (said, None)
            yield Picture(before, _alt(alt), package.data(_name(element)), page_idx)


def _in_html(root: Any) -> Iterator[Picture]:
    said = ""
    walker = etree.iterwalk(root, events=("start", "end"))
    for event, element in walker:
        if event == "end":
            said = _last(said, element.tail)
        elif element.tag in _SILENT:
            walker.skip_subtree()
        elif element.tag == "img":
            said = _last(said, element.get("alt"))  # which is part of the text
            data = _inline(element.get("src") or "")
            if data is not None:
                yield Picture(said, _alt(element.get("alt")), data)
        else:
            said = _last(said, element.text)


def _inline(address: str) -> bytes | None:
    """Return the bytes of a picture that is written in its own address."""
    found = _DATA.fullmatch(address.strip())
    if found is None:
        return None
    try:
        return b64decode("".join(unquote(found["data"]).split()), validate=True)
    except (Base64Error, ValueError):
        return None
