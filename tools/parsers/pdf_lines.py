"""Lines of a PDF page as pdfium places them: text, position, type size and font of each."""

import re
from collections.abc import Iterator, Sequence
from ctypes import addressof, byref, c_double, c_float, c_uint, create_string_buffer
from dataclasses import dataclass
from itertools import pairwise
from statistics import median, median_low
from typing import Any, NamedTuple

import pypdfium2 as pdfium
import pypdfium2.raw as raw

from tools.parsers.canonical_text import unwrapped
from tools.parsers.pdf_letters import Letters, read_letters, spelled
from tools.parsers.raised_text import lowered, raised

_TAKEN_OUT = "\x02\ufffe"  # pdfium's marks for a hyphen that it took out at a line end
_WORD = re.compile(f"[^\0\t\n\r \xa0\u2000\u2002\u2003\u2009\u3000{_TAKEN_OUT}]+")
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
_SPACE = 0.14  # of the type size: a gap between words, where the file has no space
_SMALLER = 0.86  # of the type size: raised and lowered words
_RAISED, _LOWERED = 0.18, 0.07  # of the type size, above and below the baseline
_ATTACHED = 0.13  # of the type size, between a word and its mark
_CLOSE = 0.02  # of the type size
_FAR = 0.7  # of the type size: no mark is further from its word
_NOTE_NUMBER = re.compile(r"\d{1,3}")
_TIMES_TEN = re.compile(r"[×·∙x*]\s?10$")  # whose raised number is a power, whatever notes the page has
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
    """The lines of a page in the file's own order; how many of its words nobody sees, and of its signs nobody reads."""

    lines: list[Line]
    width: float
    height: float
    hidden: int = 0
    unreadable: int = 0


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
    """A word, or a part of one at another level.

    ``glued`` says that no space is before it, ``row`` is the number of a row with letters from right to left, or 0.
    """

    text: str
    x0: float
    x1: float
    y: float
    style: _Style
    split: bool
    glued: bool = False
    row: int = 0


def read_page(document: pdfium.PdfDocument, page_idx: int) -> Page:
    """Read a page; the caller holds pdfium's lock. Raises PdfiumError if the page is broken."""
    page = document[page_idx]
    try:
        textpage = page.get_textpage()
        try:
            width, height = page.get_size()
            letters = read_letters(textpage.raw)
            words, hidden = _seen_words(page, textpage, letters)
            rows = list(_rows(words))
            notes = _notes(rows, height)
            lines = [line for row in rows if _READABLE.search((line := _line(row, notes)).text)]
            return Page(lines, width, height, hidden, letters.unreadable)
        finally:
            textpage.close()
    finally:
        page.close()


def _seen_words(page: pdfium.PdfPage, textpage: pdfium.PdfTextPage, letters: Letters) -> tuple[list[_Word], int]:
    words = list(_Reader(textpage.raw, letters, _Turn(page)).words())
    kept = [word for word in words if word.style.drawn and word.style.size >= _TOO_SMALL]
    if any(not word.style.drawn for word in words) and _has_images(page):  # the words that were recognised in a scan
        kept = [word for word in words if word.style.size >= _TOO_SMALL]
    if any(word.style.white for word in kept):
        backgrounds = _backgrounds(page)
        kept = [word for word in kept if not word.style.white or _covered(word, backgrounds)]
    left, bottom, right, top = page.get_bbox()
    if page.get_rotation() == 0:
        kept = [word for word in kept if word.x1 >= left - 1 and word.x0 <= right + 1 and bottom - 1 <= word.y <= top]
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


class _Reader:
    """Reads the words of a page: letters that no space parts, in pieces where their level or a gap parts them."""

    def __init__(self, textpage: Any, letters: Letters, turn: _Turn) -> None:
        self._textpage = textpage
        self._letters = letters
        self._turn = turn
        self._styles: dict[int, _Style] = {}
        self._fonts: dict[int, _Font] = {}
        self._widths: dict[tuple[_Font, float], dict[str, float]] = {}
        self._box, self._x, self._y = raw.FS_RECTF(), c_double(), c_double()

    def words(self) -> Iterator[_Word]:
        """Yield the words of the page."""
        text, at = self._letters.text, self._letters.at
        halves = any("\ud800" <= letter < "\ue000" for letter in text) if not text.isascii() else False
        rows = list(enumerate(self._letters.two_ways, 1))
        for found in _WORD.finditer(text):
            start, end = found.span()
            split = text[end : end + 1] in _TAKEN_OUT and end < len(text)
            row = 0
            if rows:
                row = next((number for number, each in rows if start in each), 0)
            for first, last, glued in self._pieces(start, end):
                said = spelled(text[first:last])
                if said and not said.isspace():  # what Python alone takes for white space are letters without a name
                    x0, right = self._edges(at[first])
                    left, x1 = self._edges(at[last - 1])
                    raw.FPDFText_GetCharOrigin(self._textpage, at[first], byref(self._x), byref(self._y))
                    y = self._turn(self._x.value, self._y.value)[1]
                    if row:
                        x0, x1 = min(x0, left), max(x1, right)
                    yield _Word(
                        _paired(said) if halves else said,
                        x0,
                        max(x0, x1),
                        y,
                        self._style(at[first]),
                        split and last == end,
                        glued,
                        row,
                    )

    def _edges(self, index: int) -> tuple[float, float]:
        box = self._box
        raw.FPDFText_GetLooseCharBox(self._textpage, index, byref(box))
        if not self._turn.degrees:
            return box.left, box.right
        edges = self._turn(box.left, box.bottom)[0], self._turn(box.right, box.top)[0]
        return min(edges), max(edges)

    def _pieces(self, start: int, end: int) -> Iterator[tuple[int, int, bool]]:
        """Yield the parts of a word, and whether each is glued to the one before."""
        at = self._letters.at
        if end - start == 1 or self._letters.two_ways or self._is_even(start, end):
            yield start, end, False
            return
        edges = [self._edges(at[place]) for place in range(start, end)]
        gaps = [below[0] - above[1] for above, below in pairwise(edges)]
        size = self._style(at[start]).size
        is_word = len(gaps) > 1 and not any(map(str.isdigit, self._letters.text[start:end]))
        wide = _SPACE * size + (max(0.0, median_low(gaps)) if is_word else 0.0)
        first, glued = start, False
        for place in range(start + 1, end):
            is_apart = gaps[place - start - 1] > wide
            if is_apart or self._is_other_level(at[place - 1], at[place]):
                yield first, place, glued
                first, glued = place, not is_apart
        yield first, end, glued

    def _is_even(self, start: int, end: int) -> bool:
        """Whether a word is one run of one font, as wide as its letters are."""
        at, text = self._letters.at, self._letters.text
        item = raw.FPDFText_GetTextObject(self._textpage, at[start])
        last = raw.FPDFText_GetTextObject(self._textpage, at[end - 1])
        if not item or not last or addressof(item.contents) != addressof(last.contents):
            return False
        style = self._style(at[start])
        widths = self._widths.setdefault((style.font, style.size), {})
        width = self._edges(at[end - 1])[1] - self._edges(at[start])[0]
        for place in range(start, end):
            if text[place] not in widths:
                left, right = self._edges(at[place])
                widths[text[place]] = right - left
        return width - sum(map(widths.__getitem__, text[start:end])) < 0.6 * _SPACE * style.size

    def _is_other_level(self, before: int, index: int) -> bool:
        """Whether a letter is set higher, lower, smaller or larger than the one before it."""
        above, below = (raw.FPDFText_GetTextObject(self._textpage, each) for each in (before, index))
        if not above or not below or addressof(above.contents) == addressof(below.contents):
            return False
        sizes = self._style(before).size, self._style(index).size
        raw.FPDFText_GetCharOrigin(self._textpage, before, byref(self._x), byref(self._y))
        base = self._turn(self._x.value, self._y.value)[1]
        raw.FPDFText_GetCharOrigin(self._textpage, index, byref(self._x), byref(self._y))
        shift = abs(self._turn(self._x.value, self._y.value)[1] - base)
        return min(sizes) <= _SMALLER * max(sizes) and shift > _LOWERED * max(sizes)

    def _style(self, index: int) -> _Style:
        item = raw.FPDFText_GetTextObject(self._textpage, index)
        key = addressof(item.contents) if item else -1
        if key not in self._styles:
            matrix = raw.FS_MATRIX()
            raw.FPDFText_GetMatrix(self._textpage, index, byref(matrix))
            size = raw.FPDFText_GetFontSize(self._textpage, index) * max(abs(matrix.d), abs(matrix.b))
            plain = _Style(size, _Font(bold=False, fixed=False), drawn=True, white=False)
            self._styles[key] = _Style(size, _font(item, self._fonts), *_ink(item)) if item else plain
        return self._styles[key]


def _paired(text: str) -> str:
    """Join the two halves of letters outside the Basic Multilingual Plane."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


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


def _rows(words: list[_Word]) -> Iterator[list[_Word]]:
    """Join words to rows: each word goes on to the right of the one before, on about the same baseline."""
    row: list[_Word] = []
    largest = base = edge = 0.0
    for word in words:
        is_small = word.style.size <= _SMALLER * largest
        if row:
            last = row[-1]
            near = abs(word.y - base) <= (0.55 if is_small else 0.45) * max(largest, word.style.size)
            back = word.x0 < (edge if is_small else last.x1) - 0.6 * largest
            if last.split or not near or (back and not (word.row and word.row == last.row)):
                yield row
                row = []
        if not row or word.style.size > largest:  # the largest word has the line's baseline, not a raised number
            largest, base = word.style.size, word.y
        if not row or not is_small:
            edge = word.x1
        row.append(word)
    if row:
        yield row


def _notes(rows: list[list[_Word]], height: float) -> frozenset[str]:
    """Return the numbers of the notes at a page's foot: those that small lines begin with, or that are raised."""
    sizes = [word.style.size for row in rows for word in row]
    usual = median(sizes) if sizes else 0.0
    found = set()
    for row in rows:
        number, size = row[0], max(word.style.size for word in row)
        is_raised = number.style.size <= _SMALLER * size and number.y > row[-1].y
        if number.y < 0.5 * height and len(row) > 1 and (is_raised or size <= 0.92 * usual):
            found.update(_NOTE_NUMBER.findall(number.text) if _NOTE_NUMBER.fullmatch(number.text) else [])
    return frozenset(found)


def _joined(words: list[_Word], notes: frozenset[str]) -> list[_Word]:
    """Join what no space parts, with raised and lowered words written so that they stay apart."""
    levels = _levels(words)
    joined: list[_Word] = []
    place, sign = 0, False  # whether the mark before was written with a sign that sets it apart
    while place < len(words):
        end = _mark_end(words, levels, place)
        word, level, after = _one(words[place:end]), levels[place], _touching(words, end)
        plain = word.text
        stacked = _mark_end(words, levels, end) if level and end < len(words) and levels[end] == -level else end
        before = joined[-1].text if joined else ""
        is_next = end < len(words) and _touch(words[end - 1], words[end])
        belongs = bool(joined) and _belongs(joined[-1], word, level, is_next)
        if stacked > end and words[end].x0 < word.x1 - 0.3 * word.style.size:
            other = _one(words[end:stacked])
            upper, lower = (word.text, other.text) if level > 0 else (other.text, word.text)
            if not belongs or before[-1:].isdigit():  # one above the other is a fraction
                text, belongs = f"{' ' * belongs}{_bracketed(upper)}/{_bracketed(lower)}", belongs
            else:
                text = lowered(before, lower)
                text += raised(before, upper)
            word, end = word._replace(text=text, x1=max(word.x1, other.x1), split=other.split), stacked
        elif belongs and level > 0:
            seen = " ".join(each.text for each in joined[-2:])
            is_note = word.text[0].isdigit() and set(_NOTE_NUMBER.findall(word.text)) <= notes
            text = raised(before, word.text, after=after, is_note=is_note and not _TIMES_TEN.search(seen))
            belongs = text != word.text or _touch(joined[-1], word)
            word = word._replace(text=text)
        elif belongs and level < 0:
            word = word._replace(text=lowered(before, word.text, after=after))
        elif place and levels[place - 1]:
            belongs = bool(joined) and _touch(words[place - 1], word)
            digits = before[-1:].isdigit() and (word.text[:1].isdigit() or before == words[place - 1].text)
            if belongs and word.text[:1].isalnum() and (sign or digits):
                word = word._replace(text=f" {word.text}")
        if belongs:
            word = word._replace(text=before + word.text, x1=max(joined[-1].x1, word.x1))
            joined[-1] = joined[-1]._replace(text=word.text, x1=word.x1, split=word.split)
        else:
            joined.append(word)
        sign = bool(level) and belongs and joined[-1].text != before + plain
        place = end
    return joined


def _mark_end(words: list[_Word], levels: list[int], place: int) -> int:
    """Return the place after the words of a mark, which is raised or lowered as a whole; or after a single word."""
    end = place + 1
    while levels[place] and end < len(words) and levels[end] == levels[place] and _touch(words[end - 1], words[end]):
        end += 1
    return end


def _one(words: list[_Word]) -> _Word:
    text = "".join(word.text for word in words)
    return words[0]._replace(text=text, x1=words[-1].x1, split=words[-1].split)


def _touching(words: list[_Word], place: int) -> str:
    """Return the word at a place if not even the narrow space behind a power is before it."""
    if place == len(words) or words[place].x0 - words[place - 1].x1 > _CLOSE * words[place].style.size:
        return ""
    return words[place].text


def _belongs(before: _Word, word: _Word, level: int, touches_next: bool) -> bool:
    """Whether a word is part of the one before: glued to it, or a mark near it that is not nearer to the next."""
    if not level:
        return word.glued
    gap = word.x0 - before.x1
    return _touch(before, word) or (not touches_next and level > 0 and gap <= _FAR * before.style.size)


def _bracketed(text: str) -> str:
    return text if text.isalnum() else f"({text})"


def _levels(words: list[_Word]) -> list[int]:
    """Return 1 for each small word that is raised above the ones of usual size, -1 for a lowered one, else 0."""
    letters = sum(len(word.text) for word in words)
    sizes = sorted({word.style.size for word in words}, reverse=True)
    usual = next(  # a lone large sign before a line of text is not what the others are raised above
        size
        for size in sizes
        if 10 * sum(len(word.text) for word in words if word.style.size > _SMALLER * size) >= letters
    )
    ground = next(word for word in words if word.style.size > _SMALLER * usual)
    levels = []
    for word in words:
        shift = (word.y - ground.y) / usual
        is_small = word.style.size <= _SMALLER * usual
        levels.append((shift > _RAISED) - (shift < -_LOWERED) if is_small else 0)
        ground = ground if is_small else word
    return levels


def _touch(before: _Word, word: _Word) -> bool:
    return word.x0 - before.x1 <= _ATTACHED * max(before.style.size, word.style.size)


def _line(words: list[_Word], notes: frozenset[str]) -> Line:
    if len(words) > 1:
        words = _joined(words, notes)
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
            if word.row:
                gap = max(gap, words[index - 1].x0 - word.x1)
            wide = gap > _CELL_GAP * size and not (word.row and _is_between(words, words[index - 1], word))
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
        x0=min(word.x0 for word in words) if first.row else first.x0,
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


def _is_between(words: list[_Word], before: _Word, word: _Word) -> bool:
    """Whether other words of a line in two directions stand between two that are read one after the other."""
    low, high = min(before.x1, word.x1), max(before.x0, word.x0)
    return any(low <= other.x0 < high for other in words if other is not before and other is not word)


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
