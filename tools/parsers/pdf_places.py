"""Find where on a PDF page a quote stands, as boxes that a viewer can draw.

Canonical text has other white space, hyphens and column order than the page, and bars between cells. So letters and
digits alone are compared: the quote as a whole, after its context where it stands there twice, and else in the longest
runs of its words that the page has.
"""

import unicodedata
from collections.abc import Iterator, Sequence
from ctypes import byref, c_double, c_int
from dataclasses import dataclass
from typing import Any

import pypdfium2 as pdfium
import pypdfium2.raw as raw

from graph.errors import UnreadableDocument
from tools.parsers.pdf import pdfium_turn

MOST_CHARACTERS = 200_000  # of a page that is searched
MOST_SEARCHES = 5_000
MOST_BOXES = 500
_CONTEXT = 60  # characters before the quote
_SHORTEST = 4  # letters of a run; a shorter one says nothing about its place
_SCALE = 100  # device units to the point


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle on a page as it is shown, in points from its upper left corner."""

    left: float
    top: float
    right: float
    bottom: float


@dataclass(frozen=True, slots=True)
class PagePlace:
    """The size of a page in points, and the boxes of a quote on it, a line each or less."""

    width: float
    height: float
    boxes: tuple[Box, ...]


def find_boxes(data: bytes, page_idx: int, quote: str, before: str = "") -> PagePlace | None:
    """Find the boxes of a quote on a page; ``before`` is the text before it.

    Parses what a stranger wrote: run it in a sandbox.

    Returns None if the file has no such page or is not readable any more.
    """
    with pdfium_turn():
        try:
            document = pdfium.PdfDocument(data)
        except pdfium.PdfiumError:
            return None
        try:
            if not 0 <= page_idx < len(document):
                return None
            return _on_page(document[page_idx], quote, before)
        except (pdfium.PdfiumError, UnreadableDocument):
            return None
        finally:
            document.close()


def _on_page(page: Any, quote: str, before: str) -> PagePlace:
    width, height = page.get_size()
    textpage = page.get_textpage()
    try:
        letters, places = _letters_of_page(textpage.raw)
        wanted = [folded for word in quote.split() if (folded := _folded(word))]
        context = _folded(before[-_CONTEXT:])
        boxes: list[Box] = []
        for start, end in _runs(letters, wanted, context):
            first, last = places[start], places[end - 1]
            boxes += _boxes(page, textpage.raw, first, last - first + 1, (width, height))
            if len(boxes) >= MOST_BOXES:
                break
        return PagePlace(round(width, 2), round(height, 2), tuple(boxes[:MOST_BOXES]))
    finally:
        textpage.close()
        page.close()


def _folded(text: str) -> str:
    return "".join(letter for letter in unicodedata.normalize("NFKD", text) if letter.isalnum())


def _letters_of_page(textpage: Any) -> tuple[str, list[int]]:
    """Return the letters and digits of a page, and the index in the page of each."""
    letters: list[str] = []
    places: list[int] = []
    for index in range(min(raw.FPDFText_CountChars(textpage), MOST_CHARACTERS)):
        code = raw.FPDFText_GetUnicode(textpage, index)
        if not 0 < code < 0x110000 or 0xD800 <= code < 0xE000:
            continue
        folded = _folded(chr(code))
        letters.append(folded)
        places += [index] * len(folded)
    return "".join(letters), places


def _runs(letters: str, words: Sequence[str], context: str) -> Iterator[tuple[int, int]]:
    """Yield the spans of ``letters`` that are the words, in the order of the words."""
    whole = "".join(words)
    if not whole:
        return
    at = letters.find(context + whole)
    start = at + len(context) if at >= 0 else letters.find(whole)
    if start >= 0:
        yield start, start + len(whole)
        return
    first, reached, searches = 0, 0, 0
    while first < len(words) and searches < MOST_SEARCHES:
        found, last = None, first
        while last < len(words) and searches < MOST_SEARCHES:
            piece = "".join(words[first : last + 1])
            searches += 1
            at = letters.find(piece, reached)
            at = letters.find(piece) if at < 0 else at
            if at < 0:
                break
            found, last = (at, at + len(piece)), last + 1
        if found is not None and found[1] - found[0] >= _SHORTEST:
            reached = found[1]
            yield found
        first = max(last, first + 1)


def _boxes(page: Any, textpage: Any, first: int, count: int, size: tuple[float, float]) -> Iterator[Box]:
    for index in range(min(raw.FPDFText_CountRects(textpage, first, count), MOST_BOXES)):
        left, top, right, bottom = c_double(), c_double(), c_double(), c_double()
        if not raw.FPDFText_GetRect(textpage, index, byref(left), byref(top), byref(right), byref(bottom)):
            continue
        x0, y0 = _shown(page, left.value, top.value, size)
        x1, y1 = _shown(page, right.value, bottom.value, size)
        if x0 != x1 and y0 != y1:
            yield Box(min(x0, x1), min(y0, y1), max(x0, x1), max(y0, y1))


def _shown(page: Any, x: float, y: float, size: tuple[float, float]) -> tuple[float, float]:
    """Convert a point of the page's own coordinates, which may be turned or cut, to the page as it is shown."""
    across, down = c_int(), c_int()
    width, height = (round(side * _SCALE) for side in size)
    raw.FPDF_PageToDevice(page.raw, 0, 0, width, height, 0, x, y, byref(across), byref(down))
    return across.value / _SCALE, down.value / _SCALE
