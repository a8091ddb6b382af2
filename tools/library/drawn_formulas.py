"""The formulas of a file as it writes them, for viewers of its text, which holds each as one line.

They are found in a process that reads files, and told only where the text is still the one that was stored.
"""

import re
import zlib
from contextlib import suppress
from io import BytesIO
from typing import Any, Literal
from zipfile import BadZipFile, ZipFile

from pydantic import TypeAdapter, ValidationError
from typing_extensions import TypedDict

from graph.errors import CitewellError, UnreadableDocument
from tools.library.drawn_pictures import PICTURED

# Media types of files that are looked into for what is drawn beside their text.
DRAWN = re.compile(rf"{PICTURED.pattern}|epub|rtf|x-(?:la)?tex|x-org|asciidoc|x-rst|ipynb")
MOST = 10_000  # formulas of a document
_LONGEST = 10_000  # letters of one
_ELEMENT = re.compile(rb"<(?:\w+:)?o?math(?!Pr)", re.IGNORECASE)  # mathPr is how Word sets them
_WRITTEN = re.compile(rb"math|stem:|[\\$\x00]", re.IGNORECASE)  # or no letter a byte
_LARGEST = 20_000_000  # bytes of a part that is looked through
_MARKUP = (".xml", ".html", ".htm", ".xhtml", ".opf")


class LayoutFormula(TypedDict):
    """A formula of the text from ``start`` to ``end``, with its ``source`` in MathML or LaTeX."""

    start: int
    end: int
    notation: Literal["mathml", "latex"]
    source: str


_FORMULAS = TypeAdapter(list[LayoutFormula])


def formulas_in(data: bytes, media_type: str, text: str) -> list[LayoutFormula]:
    """Return the formulas of a file whose canonical text is given; none where it is read as another text today."""
    if not _may_hold_any(data, media_type):
        return []
    from tools.parsers import parse  # with all formats

    with suppress(CitewellError):
        parsed = parse(data, name="", media_type=media_type)
        if parsed.text == text:
            return [
                LayoutFormula(start=each.start, end=each.end, notation=each.notation, source=each.source)
                for each in parsed.formulas[:MOST]
                if len(each.source) <= _LONGEST
            ]
    return []


def _may_hold_any(data: bytes, media_type: str) -> bool:
    """Whether a file has a sign of formulas, without which it need not be read as a whole once more."""
    if not data.startswith(b"PK"):
        return _WRITTEN.search(data) is not None
    sign = _WRITTEN if "epub" in media_type else _ELEMENT
    try:
        with ZipFile(BytesIO(data)) as package:
            parts = (each for each in package.infolist() if each.filename.lower().endswith(_MARKUP))
            return any(each.file_size > _LARGEST or sign.search(package.read(each)) for each in parts)
    except (BadZipFile, OSError, RuntimeError, ValueError, zlib.error):
        return False


def formulas_of(reply: dict[str, Any]) -> list[LayoutFormula]:
    """Return the formulas of a frame. Raises UnreadableDocument for a frame that no reader of ours sends."""
    try:
        return _FORMULAS.validate_python(reply.get("formulas", []))
    except ValidationError as error:
        raise UnreadableDocument("The file can't be read.") from error
