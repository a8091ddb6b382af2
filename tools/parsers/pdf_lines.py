"""Lines of a PDF page as pdfium places them: text, position, type size and font of each."""

import re
from collections.abc import Iterator, Sequence
from ctypes import addressof, byref, c_double, c_float, c_uint, create_string_buffer
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import pypdfium2 as pdfium
import pypdfium2.raw as raw

from tools.parsers.canonical_text import unwrapped

_TAKEN_OUT = (2, 0xFFFE)  # pdfium's marks for a hyphen that it took out at a line end
_BLANK = frozenset({0, 9, 10, 13, 32, 0xA0, 0x2000, 0x2002, 0x2003, 0x2009, 0x3000})
# A sign without a name, such as a bracket of a formula, is read as its number in its font: mostly a control character.
_READABLE = re.compile(r"[^\s\x00-\x1f\x7f-\x9f\u200b-\u200f\u2060-\u2064\ufeff]")
_OF_RECOGNITION = "GlyphLessFont"  # tesseract's: it says nothing of the letters in the picture
_FIXED = re.compile(
    r"mono|nimbusmon|courier|consol|typewriter|cmtt|cmsltt|cmitt|sftt|ectt|lmtt|lmtl|menlo|inconsol|monaco|terminal|andale"
    r"|lettergothic|sourcecode|firacode|\bocr",
    re.IGNORECASE,
)
_BOLD = re.compile(r"bold|black|heavy|demi|cmbx|cmb\d|cmssbx|sfbx|ecbx|-medi\b|l-medi", re.IGNORECASE)
_HEAVY = 620  # pdfium guesses weights from stems: 345-435 for text, 700-800 for bold
_FIXED_PITCH, _FORCE_BOLD = 1, 1 << 18  # flags of a font
_TOO_SMALL = 2.0  # points; no reader reads it
_CELL_GAP = 0.5  # of the type size: wider than the spaces of most justified lines
_AROUND_WORDS = "\"'.,;:!?()[]{}‘’“”"
_INVISIBLE = 3  # text render mode of the text layer under a scan


class Cell(NamedTuple):
    """A stretch of a line between wide gaps: its left and right edge, and the offset of its text in the line's."""

    x0: float
    x1: float
    at: int


@dataclass(slots=True)
class Line:
    """A line of a page; positions in points from the page's lower left corner, ``y`` of the baseline.

    ``split`` says that it ends with a hyphen after a letter; ``fixed_share`` is how much of it is of fixed width.
    ``lead`` is the length of the first words that are set apart from text, bold or of fixed width, or 0;
    ``second_x`` is where its second word begins. ``column`` is 0, or 1 for the right one of two.
    """

    text: str
    x0: float
    x1: float
    y: float
    size: float
    bold: bool
    fixed: bool
    fixed_share: float
    lead: int
    split: bool
    second_x: float
    cells: tuple[Cell, ...]
    column: int = 0


@dataclass(slots=True)
class Page:
    """The lines of a page in the file's own order, and how many words of it nobody sees."""

    lines: list[Line]
    width: float
    height: float
    hidden: int = 0


class _Font(NamedTuple):
    bold: bool
    fixed: bool


class _Style(NamedTuple):
    """What the words of one text object share."""

    size: float
    font: _Font
    drawn: bool
    white: bool


class _Word(NamedTuple):
    text: str
    x0: float
    x1: float
    y: float
    style: _Style
    split: bool


def read_page(document: pdfium.PdfDocument, page_idx: int) -> Page:
    """Read a page; the caller holds pdfium's lock. Raises PdfiumError if the page is broken."""
    page = document[page_idx]
    try:
        textpage = page.get_textpage()
        try:
            width, height = page.get_size()
            words, hidden = _seen_words(page, textpage)
            lines = [line for line in _lines(words) if _READABLE.search(line.text)]
            return Page(lines, width, height, hidden)
        finally:
            textpage.close()
    finally:
        page.close()


def _seen_words(page: pdfium.PdfPage, textpage: pdfium.PdfTextPage) -> tuple[list[_Word], int]:
    words = list(_words(textpage.raw, _Turn(page)))
    kept = [word for word in words if word.style.drawn and word.style.size >= _TOO_SMALL]
    if any(not word.style.drawn for word in words) and _has_images(page):  # the words that were recognised in a scan
        kept = [word for word in words if word.style.size >= _TOO_SMALL]
    if any(word.style.white for word in kept):
        backgrounds = _backgrounds(page)
        kept = [word for word in kept if not word.style.white or _covered(word, backgrounds)]
    left, bottom, right, top = page.get_cropbox()
    if page.get_rotation() == 0:
        kept = [
            word for word in kept if left - 1 <= (word.x0 + word.x1) / 2 <= right + 1 and bottom - 1 <= word.y <= top
        ]
    return kept, len(words) - len(kept)


class _Turn:
    """The way from a page's own coordinates to those of the page as it is shown."""

    def __init__(self, page: pdfium.PdfPage) -> None:
        self.degrees = page.get_rotation()
        self._sides = page.get_size()

    def __call__(self, x: float, y: float) -> tuple[float, float]:
        width, height = self._sides
        match self.degrees:
            case 90:
                return y, height - x
            case 180:
                return width - x, height - y
            case 270:
                return width - y, x
        return x, y


def _words(textpage: Any, turn: _Turn) -> Iterator[_Word]:
    count = raw.FPDFText_CountChars(textpage)
    letter = raw.FPDFText_GetUnicode
    codes = [min(letter(textpage, index), 0x10FFFF) for index in range(count)]
    box, x, y = raw.FS_RECTF(), c_double(), c_double()
    styles: dict[int, _Style] = {}
    fonts: dict[int, _Font] = {}
    halves, start = any(0xD800 <= code < 0xE000 for code in codes), -1
    for index, code in enumerate([*codes, 10]):
        split = code in _TAKEN_OUT
        if code not in _BLANK and not split:
            start = index if start < 0 else start
            continue
        if start >= 0:
            raw.FPDFText_GetLooseCharBox(textpage, start, byref(box))
            x0 = box.left
            if turn.degrees:
                x0 = min(turn(box.left, box.bottom)[0], turn(box.right, box.top)[0])
            raw.FPDFText_GetLooseCharBox(textpage, index - 1, byref(box))
            x1 = box.right
            if turn.degrees:
                x1 = max(turn(box.left, box.bottom)[0], turn(box.right, box.top)[0])
            raw.FPDFText_GetCharOrigin(textpage, start, byref(x), byref(y))
            base = turn(x.value, y.value)[1]
            style = _style(textpage, start, styles, fonts)
            text = "".join(map(chr, codes[start:index]))
            if not text.isspace():  # more codes than _BLANK are white space; in words they are letters without a name
                yield _Word(_paired(text) if halves else text, x0, max(x0, x1), base, style, split)
            start = -1


def _paired(text: str) -> str:
    """Join the two halves of letters outside the Basic Multilingual Plane."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _style(textpage: Any, index: int, styles: dict[int, _Style], fonts: dict[int, _Font]) -> _Style:
    item = raw.FPDFText_GetTextObject(textpage, index)
    key = addressof(item.contents) if item else -1
    if key not in styles:
        matrix = raw.FS_MATRIX()
        raw.FPDFText_GetMatrix(textpage, index, byref(matrix))
        size = raw.FPDFText_GetFontSize(textpage, index) * max(abs(matrix.d), abs(matrix.b))
        plain = _Style(size, _Font(bold=False, fixed=False), drawn=True, white=False)
        styles[key] = _Style(size, _font(item, fonts), *_ink(item)) if item else plain
    return styles[key]


def _font(item: Any, fonts: dict[int, _Font]) -> _Font:
    font = raw.FPDFTextObj_GetFont(item)
    key = addressof(font.contents) if font else -1
    if key not in fonts:
        name = create_string_buffer(128)
        raw.FPDFFont_GetBaseFontName(font, name, len(name))
        words = name.value.decode("utf-8", "replace").rpartition("+")[2]
        flags = raw.FPDFFont_GetFlags(font)
        bold = bool(_BOLD.search(words) or raw.FPDFFont_GetWeight(font) >= _HEAVY or flags & _FORCE_BOLD)
        fixed = bool(_FIXED.search(words) or flags & _FIXED_PITCH) and words != _OF_RECOGNITION
        fonts[key] = _Font(bold, fixed)
    return fonts[key]


def _ink(item: Any) -> tuple[bool, bool]:
    """Whether a text object is drawn, and whether in white."""
    red, green, blue, alpha = c_uint(), c_uint(), c_uint(), c_uint()
    mode = raw.FPDFTextObj_GetTextRenderMode(item)
    known = raw.FPDFPageObj_GetFillColor(item, byref(red), byref(green), byref(blue), byref(alpha))
    white = bool(known) and mode in (0, 4) and min(red.value, green.value, blue.value) >= 0xFA
    return mode != _INVISIBLE and not (known and mode in (0, 4) and alpha.value == 0), white


def _has_images(page: pdfium.PdfPage) -> bool:
    return any(raw.FPDFPageObj_GetType(item) == raw.FPDF_PAGEOBJ_IMAGE for item in _objects(page))


def _objects(page: pdfium.PdfPage) -> Iterator[Any]:
    for index in range(raw.FPDFPage_CountObjects(page.raw)):
        yield raw.FPDFPage_GetObject(page.raw, index)


def _backgrounds(page: pdfium.PdfPage) -> list[tuple[float, float, float, float]]:
    """Boxes of what may lie under white text and let it be seen: pictures, shadings, and areas that are not white."""
    boxes: list[tuple[float, float, float, float]] = []
    edges = [c_float() for _ in range(4)]
    colour = [c_uint() for _ in range(4)]
    for item in _objects(page):
        kind = raw.FPDFPageObj_GetType(item)
        if kind == raw.FPDF_PAGEOBJ_TEXT or len(boxes) >= 2_000:
            continue
        if kind == raw.FPDF_PAGEOBJ_PATH:
            known = raw.FPDFPageObj_GetFillColor(item, *map(byref, colour))
            if known and min(part.value for part in colour[:3]) >= 0xFA:
                continue
        if raw.FPDFPageObj_GetBounds(item, *map(byref, edges)):
            left, bottom, right, top = (edge.value for edge in edges)
            boxes.append((left, bottom, right, top))
    return boxes


def _covered(word: _Word, boxes: list[tuple[float, float, float, float]]) -> bool:
    x, y = (word.x0 + word.x1) / 2, word.y + word.style.size / 4
    return any(left <= x <= right and bottom <= y <= top for left, bottom, right, top in boxes)


def _lines(words: list[_Word]) -> Iterator[Line]:
    """Join words to lines: each word goes on to the right of the one before, on about the same baseline."""
    line: list[_Word] = []
    largest = base = 0.0
    for word in words:
        if line:
            last = line[-1]
            near = abs(word.y - base) <= 0.45 * max(largest, word.style.size)
            if last.split or not near or word.x0 < last.x1 - 0.6 * largest:
                yield _line(line)
                line = []
        if not line or word.style.size > largest:  # the largest word has the line's baseline, not a raised number
            largest, base = word.style.size, word.y
        line.append(word)
    if line:
        yield _line(line)


def _line(words: list[_Word]) -> Line:
    letters = [len(word.text) for word in words]
    total = sum(letters)
    sizes: dict[float, int] = {}
    for word, count in zip(words, letters, strict=True):
        size = round(word.style.size, 1)
        sizes[size] = sizes.get(size, 0) + count
    size = max(sizes, key=lambda each: (sizes[each], each))
    fixed_share = sum(count for word, count in zip(words, letters, strict=True) if word.style.font.fixed) / total
    fixed = fixed_share >= 0.8
    bold = sum(count for word, count in zip(words, letters, strict=True) if word.style.font.bold) >= 0.8 * total
    pitch = max((word.x1 - word.x0) / count for word, count in zip(words, letters, strict=True)) if fixed else 0.0
    text, lead, set_apart = "", 0, True
    cells: list[Cell] = []
    for index, word in enumerate(words):
        if index:
            gap = word.x0 - words[index - 1].x1
            wide = gap > _CELL_GAP * size
            text += " " * max(1, min(200, round(gap / pitch))) if pitch else " "
        if not index or wide:
            cells.append(Cell(word.x0, word.x1, len(text)))
        else:
            cells[-1] = cells[-1]._replace(x1=word.x1)
        text += word.text
        set_apart = set_apart and (word.style.font.bold or word.style.font.fixed)
        lead = len(text) if set_apart else lead
    first, last = words[0], words[-1]
    text += "-" * last.split
    split = text[-1] in "-\u2010\xad" and text[-2:-1].isalpha()
    return Line(
        text=text,
        x0=first.x0,
        x1=max(word.x1 for word in words),
        y=max(words, key=lambda word: word.style.size).y,
        size=size,
        bold=bold,
        fixed=fixed,
        fixed_share=fixed_share,
        lead=lead,
        split=split,
        second_x=words[1].x0 if len(words) > 1 else first.x0,
        cells=tuple(cells),
    )


class LineJoiner:
    """Joins the lines of a paragraph with spaces, and the halves of words that were split between them."""

    def __init__(self, pages: list[Page]) -> None:
        self._hyphenated = frozenset(
            word.strip(_AROUND_WORDS).lower()
            for page in pages
            for line in page.lines
            for word in line.text.split()
            if "-" in word
        )

    def __call__(self, lines: Sequence[Line]) -> str:
        """Join lines. A hyphen at a line's end stays before a capital or digit, and in words that have it elsewhere."""
        parts = [lines[0].text]
        for above, below in pairwise(lines):
            if not above.split:
                parts.append("\n")
            else:
                before, after = above.text[:-1], below.text
                word = (
                    f"{before.split()[-1]}-{after.split(maxsplit=1)[0]}".strip(_AROUND_WORDS).lower()
                    if before.strip()
                    else ""
                )
                parts[-1] = parts[-1][:-1] + "-" * (not after[0].islower() or word in self._hyphenated)
            parts.append(below.text)
        return unwrapped("".join(parts))
