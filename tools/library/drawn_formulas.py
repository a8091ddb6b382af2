"""What a viewer draws of a text that only its file says: formulas as it writes them, and runs of links to be folded.

They are found in a process that reads files, and told only where the text is still the one that was stored.
"""

import re
import zlib
from collections.abc import Iterable
from contextlib import suppress
from io import BytesIO
from itertools import groupby
from typing import Any, Literal
from zipfile import BadZipFile, ZipFile

from pydantic import TypeAdapter
from typing_extensions import TypedDict

from graph.errors import CitewellError
from tools.library.drawn_pictures import PICTURED
from tools.parsers.canonical_text import Block

# Media types of files that are looked into for what is drawn beside their text.
DRAWN = re.compile(rf"{PICTURED.pattern}|epub|rtf|x-(?:la)?tex|x-org|asciidoc|x-rst|ipynb")
MOST = 10_000  # formulas of a document
_LONGEST = 10_000  # letters of one
_ELEMENT = re.compile(rb"<(?:\w+:)?o?math(?!Pr)", re.IGNORECASE)  # mathPr is how Word sets them
_WRITTEN = re.compile(rb"math|stem:|[\\$\x00]", re.IGNORECASE)  # or no letter a byte
_LARGEST = 20_000_000  # bytes of a part that is looked through
_MARKUP = (".xml", ".html", ".htm", ".xhtml", ".opf")
FOLDED = re.compile(r"html|epub")  # media types of files whose lists of links are folded
LEAST_LINKS = 8  # that are folded: what leads elsewhere is no text of the page itself


class LayoutFormula(TypedDict):
    """A formula of the text from ``start`` to ``end``, with its ``source`` in MathML or LaTeX."""

    start: int
    end: int
    notation: Literal["mathml", "latex"]
    source: str


class LayoutFold(TypedDict):
    """Lines of contents or links alone, ``count`` of them from ``start`` to ``end``, which a viewer may fold."""

    start: int
    end: int
    count: int


FORMULAS: TypeAdapter[list[LayoutFormula]] = TypeAdapter(list[LayoutFormula])
FOLDS: TypeAdapter[list[LayoutFold]] = TypeAdapter(list[LayoutFold])


def drawn_in(data: bytes, media_type: str, text: str) -> dict[str, Any]:
    """Return the formulas and folds of a file with the given text; none where it is read as another text today."""
    if not FOLDED.search(media_type) and not _may_hold_any(data, media_type):
        return {}
    from tools.parsers import parse  # with all formats

    with suppress(CitewellError):
        parsed = parse(data, name="", media_type=media_type)
        if parsed.text == text:
            formulas = [
                LayoutFormula(start=each.start, end=each.end, notation=each.notation, source=each.source)
                for each in parsed.formulas[:MOST]
                if len(each.source) <= _LONGEST
            ]
            return {"formulas": formulas, "folds": _folds(parsed.blocks)}
    return {}


def _folds(blocks: Iterable[Block]) -> list[LayoutFold]:
    runs = groupby(blocks, lambda block: block.kind == "contents" or (block.linked and block.kind != "heading"))
    found = [list(run) for is_folded, run in runs if is_folded]
    return [LayoutFold(start=run[0].start, end=run[-1].end, count=len(run)) for run in found if len(run) >= LEAST_LINKS]


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
