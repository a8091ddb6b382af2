"""Words of a PDF page: text, position, type size and font of each; and which of them a reader of the page sees."""

import math
import re
from collections.abc import Iterator
from ctypes import byref, c_double, c_float, c_int, c_size_t, c_uint, c_void_p, create_string_buffer
from itertools import pairwise
from statistics import median_low
from typing import Any, NamedTuple

import numpy as np
import pypdfium2 as pdfium
import pypdfium2.raw as raw

from tools.parsers import pdf_calls as calls
from tools.parsers.pdf_letters import NOTHING, Letters, read_letters, spelled

_TAKEN_OUT = "\x02\ufffe"  # pdfium's marks for a hyphen that it took out at a line end
_WORD = re.compile(f"[^\0\t\n\r \xa0\u2000\u2002\u2003\u2009\u3000{_TAKEN_OUT}]+")
_HALF = re.compile("[\ud800-\udfff]")
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
SMALLER = 0.86  # of the type size: raised and lowered words
RAISED, LOWERED = 0.18, 0.07  # of the type size, above and below the baseline
_THIN = 3.0  # points: a rule covers nothing
_MOST_COVERS = 500
_MOST_PIXELS = 1_000_000
_SAME_COLOUR = 8  # of 255
_INVISIBLE = 3  # text render mode of the text layer under a scan


class Font(NamedTuple):
    """A font: ``widths`` are those of the letters met so far, for the type size of 1."""

    bold: bool
    fixed: bool
    widths: dict[str, float]


class Style(NamedTuple):
    """What the words of one text object share; ``item`` is the object's address."""

    size: float
    font: Font
    drawn: bool
    white: bool
    item: int | None = None


class Word(NamedTuple):
    """A word, or a part of one at another level.

    ``glued`` says that no space is before it, ``row`` is the number of a row with letters from right to left, or 0.
    """

    text: str
    x0: float
    x1: float
    y: float
    style: Style
    split: bool
    glued: bool = False
    row: int = 0


class Words(NamedTuple):
    """The words of a page that a reader sees; how many nobody sees, and how many signs nobody can read."""

    words: list[Word]
    hidden: int
    unreadable: int


def read_words(page: pdfium.PdfPage, *, is_recognised: bool = False) -> Words:
    """Read the words of a page in the file's own order; those recognised in a picture aren't drawn, and count."""
    textpage = page.get_textpage()
    try:
        text = calls.handle(textpage.raw)
        letters = read_letters(text)
        words = list(_Reader(text, letters, Turn(page), _sides(page)).words())
        seen = _seen(page, words, is_recognised=is_recognised)
        return Words(seen, len(words) - len(seen), letters.unreadable)
    finally:
        textpage.close()


def _seen(page: pdfium.PdfPage, words: list[Word], *, is_recognised: bool) -> list[Word]:
    kept = [word for word in words if word.style.size >= _TOO_SMALL]
    if not (all([word.style.drawn for word in kept]) or is_recognised or _has_images(page)):  # which may be a scan
        kept = [word for word in kept if word.style.drawn]
    if page.get_rotation() == 0:
        left, bottom, right, top = page.get_bbox()
        kept = [word for word in kept if bottom - 1 <= word.y <= top and word.x0 <= right and word.x1 >= left]
    doubtful = _doubtful(page, kept)
    if not doubtful:
        return kept
    unseen = _unseen(page, doubtful)
    return [word for word in kept if id(word) not in unseen]


def _sides(page: pdfium.PdfPage) -> tuple[float, float]:
    """Return the left and the right edge of a page, beyond which no letter is seen; of a turned one there is none."""
    left, _, right, _ = page.get_bbox()
    return (-math.inf, math.inf) if page.get_rotation() else (left, right)


class Turn:
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
    """Reads words: letters that no space parts, in pieces where their level, a gap or the page's edge parts them."""

    def __init__(self, textpage: c_void_p, letters: Letters, turn: Turn, sides: tuple[float, float]) -> None:
        self._textpage = textpage
        self._sides = sides
        self._letters = letters
        self._turn = turn
        self._styles: dict[int | None, Style] = {}
        self._fonts: dict[int | None, Font] = {}
        self._box, self._x, self._y, self._matrix = raw.FS_RECTF(), c_double(), c_double(), raw.FS_MATRIX()
        self._colour = [c_uint() for _ in range(4)]
        self._box_to, self._matrix_to = byref(self._box), byref(self._matrix)
        self._colour_to = tuple(map(byref, self._colour))
        self._is_turned = bool(turn.degrees)

    def words(self) -> Iterator[Word]:
        text, at, textpage, styles = self._letters.text, self._letters.at, self._textpage, self._styles
        letter_box, object_of_letter, box, y = calls.letter_box, calls.object_of_letter, self._box, self._y
        box_to, x_to, y_to = self._box_to, byref(self._x), byref(y)
        halves = _HALF.search(text) is not None
        rows = list(enumerate(self._letters.two_ways, 1))
        is_turned, is_plain = self._is_turned, not self._letters.is_changed
        left, right = self._sides
        item = None  # of the last letter
        for found in _WORD.finditer(text):
            start, end = found.span()
            split = end < len(text) and text[end] in _TAKEN_OUT
            row = next((number for number, each in rows if start in each), 0) if rows else 0
            first, last = at[start], at[end - 1]
            before, item = item, object_of_letter(textpage, last)
            # the letters of an object follow each other, unless they are turned
            whole = first == last or (
                item and ((item == before and not rows) or item == object_of_letter(textpage, first))
            )
            if is_turned or row or not whole:
                yield from self._pieces(start, end, split, row, halves)
                continue
            style = styles.get(item) or self._style(item, first)
            letter_box(textpage, first, box_to)
            x0, x1 = box.left, box.right
            if first != last:
                letter_box(textpage, last, box_to)
                x1 = box.right
                try:
                    width = sum(map(style.font.widths.__getitem__, found[0]))
                except KeyError:
                    width = self._measured(style, start, end)
                if x1 - x0 - width * style.size > 0.6 * _SPACE * style.size or x0 < left or x1 > right:
                    yield from self._pieces(start, end, split, row, halves)
                    continue
            said = found[0] if is_plain else spelled(found[0])
            if said and not said.isspace():  # what Python alone takes for white space are letters without a name
                calls.letter_origin(textpage, first, x_to, y_to)
                yield Word(_paired(said) if halves else said, x0, x1 if x1 > x0 else x0, y.value, style, split)

    def _measured(self, style: Style, start: int, end: int) -> float:
        """Return the width of letters in their font, for the type size of 1."""
        widths = style.font.widths
        for place in range(start, end):
            letter = self._letters.text[place]
            if letter not in widths:
                left, right = self._edges(self._letters.at[place])
                widths[letter] = (right - left) / max(style.size, 0.1)
        return sum(map(widths.__getitem__, self._letters.text[start:end]))

    def _edges(self, index: int) -> tuple[float, float]:
        box = self._box
        calls.letter_box(self._textpage, index, self._box_to)
        if not self._is_turned:
            return box.left, box.right
        edges = self._turn(box.left, box.bottom)[0], self._turn(box.right, box.top)[0]
        return min(edges), max(edges)

    def _pieces(self, start: int, end: int, split: bool, row: int, halves: bool) -> Iterator[Word]:
        """Yield the parts of a word: what a gap parts, and what is raised or lowered."""
        text = self._letters.text
        places = [place for place in range(start, end) if text[place] != NOTHING]
        at = [self._letters.at[place] for place in places]
        edges = list(map(self._edges, at))
        objects = list(map(self._object, at))
        gaps = [below[0] - above[1] for above, below in pairwise(edges)]
        is_word = len(gaps) > 1 and not any(map(str.isdigit, text[start:end]))
        wide = (_SPACE * objects[0][1].size if objects else 0.0) + (max(0.0, median_low(gaps)) if is_word else 0.0)
        first, glued = 0, False
        for place in range(1, len(places) + 1):
            is_last = place == len(places)
            is_apart = not is_last and (
                (not row and gaps[place - 1] > wide) or self._is_seen(edges[place - 1]) != self._is_seen(edges[place])
            )
            if not is_last and not is_apart:
                before, below = objects[place - 1 : place + 1]
                if before[0] == below[0] or not self._is_other_level(before[1], at[place - 1], below[1], at[place]):
                    continue
            said = spelled("".join(text[each] for each in places[first:place]))
            if said and not said.isspace():
                x0, x1 = edges[first][0], edges[place - 1][1]
                if row:
                    x0, x1 = min(edges[first], edges[place - 1])[0], max(edges[first][1], x1)
                calls.letter_origin(self._textpage, at[first], byref(self._x), byref(self._y))
                y = self._turn(self._x.value, self._y.value)[1]
                said = _paired(said) if halves else said
                yield Word(said, x0, max(x0, x1), y, objects[first][1], split and is_last, glued, row)
            first, glued = place, not is_apart

    def _is_seen(self, edges: tuple[float, float]) -> bool:
        return edges[0] <= self._sides[1] and edges[1] >= self._sides[0]

    def _is_other_level(self, above: Style, before: int, below: Style, index: int) -> bool:
        """Whether a letter is set higher, lower, smaller or larger than the one before it."""
        largest = max(above.size, below.size)
        if min(above.size, below.size) > SMALLER * largest:
            return False
        calls.letter_origin(self._textpage, before, byref(self._x), byref(self._y))
        base = self._turn(self._x.value, self._y.value)[1]
        calls.letter_origin(self._textpage, index, byref(self._x), byref(self._y))
        return abs(self._turn(self._x.value, self._y.value)[1] - base) > LOWERED * largest

    def _object(self, index: int) -> tuple[int | None, Style]:
        """Return the address of a letter's text object, and what the letters of that share."""
        item = calls.object_of_letter(self._textpage, index)
        return item, self._styles.get(item) or self._style(item, index)

    def _style(self, item: int | None, index: int) -> Style:
        """Return the style of a text object, of which one letter is given."""
        matrix, pointer = self._matrix, c_void_p(item)
        calls.letter_matrix(self._textpage, index, self._matrix_to)
        size = calls.letter_size(self._textpage, index) * max(abs(matrix.d), abs(matrix.b))
        style = Style(size, Font(bold=False, fixed=False, widths={}), drawn=True, white=False)
        if item:
            font = calls.font_of(pointer)
            if font not in self._fonts:
                self._fonts[font] = _font(c_void_p(font))
            style = Style(size, self._fonts[font], *self._ink(pointer), item)
        self._styles[item] = style
        return style

    def _ink(self, item: c_void_p) -> tuple[bool, bool]:
        mode = calls.render_mode(item)
        known = mode in (0, 4) and calls.fill_colour(item, *self._colour_to)
        red, green, blue, alpha = self._colour
        white = bool(known) and min(red.value, green.value, blue.value) >= 0xFA
        return mode != _INVISIBLE and not (known and alpha.value == 0), white


def _paired(text: str) -> str:
    """Join the two halves of letters outside the Basic Multilingual Plane."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _font(font: c_void_p) -> Font:
    name = create_string_buffer(128)
    calls.base_font_name(font, name, c_size_t(len(name)))
    words = name.value.decode("utf-8", "replace").rpartition("+")[2]
    flags = calls.font_flags(font)
    bold = bool(_BOLD.search(words) or calls.font_weight(font) >= _HEAVY or flags & _FORCE_BOLD)
    fixed = bool(_FIXED.search(words) or flags & _FIXED_PITCH) and words != _OF_RECOGNITION
    return Font(bold, fixed, {})


def _has_images(page: pdfium.PdfPage) -> bool:
    return any(calls.kind_of(item) == raw.FPDF_PAGEOBJ_IMAGE for item in _objects(page))


def _objects(page: pdfium.PdfPage) -> Iterator[c_void_p]:
    pointer = calls.handle(page.raw)
    for index in range(calls.count_objects(pointer)):
        yield c_void_p(calls.object_at(pointer, index))


def _doubtful(page: pdfium.PdfPage, words: list[Word]) -> list[Word]:
    """Return the words that may not be seen: the white ones, and those that something drawn later lies on."""
    places: dict[int | None, int] = {}
    covers: list[tuple[int, tuple[float, float, float, float]]] = []
    half = page.get_width() * page.get_height() / 2
    for place, item in enumerate(_objects(page)):
        kind = calls.kind_of(item)
        if kind == raw.FPDF_PAGEOBJ_TEXT:
            places[item.value] = place
        elif places and len(covers) < _MOST_COVERS and (box := _cover(item, kind, half)):
            covers.append((place, box))
    if not covers:
        return [word for word in words if word.style.white]
    own = np.array([places.get(word.style.item, math.inf) for word in words])
    x = np.array([(word.x0 + word.x1) / 2 for word in words])
    y = np.array([word.y + word.style.size / 4 for word in words])
    doubtful = np.array([word.style.white for word in words], dtype=bool)
    for place, (left, bottom, right, top) in covers:
        doubtful |= (own < place) & (left <= x) & (x <= right) & (bottom <= y) & (y <= top)
    return [words[index] for index in np.flatnonzero(doubtful)]


def _cover(item: c_void_p, kind: int, half: float) -> tuple[float, float, float, float] | None:
    """Return the box of what may hide text below it: an opaque area, or a picture that is no scan of the page."""
    edges = [c_float() for _ in range(4)]
    if kind == raw.FPDF_PAGEOBJ_PATH:
        fill, stroke = c_int(), c_int()
        calls.draw_mode(item, byref(fill), byref(stroke))
        if not fill.value:
            return None
    if not calls.bounds_of(item, *map(byref, edges)):
        return None
    left, bottom, right, top = (edge.value for edge in edges)
    width, height = right - left, top - bottom
    is_scan = kind == raw.FPDF_PAGEOBJ_IMAGE and width * height > half
    if min(width, height) < _THIN or is_scan or calls.has_transparency(item):
        return None
    return left, bottom, right, top


def _unseen(page: pdfium.PdfPage, words: list[Word]) -> set[int]:
    """Return the ids of words without which the page looks the same."""
    left, _, _, top = page.get_bbox()
    if page.get_rotation():
        left, top = 0.0, page.get_height()
    scale = min(1.0, (_MOST_PIXELS / max(1.0, page.get_width() * page.get_height())) ** 0.5)
    items = {word.style.item for word in words if word.style.item}
    shown = _pixels(page, scale)
    for item in items:
        calls.set_active(c_void_p(item), False)
    changed = np.abs(shown - _pixels(page, scale)).max(axis=2) > _SAME_COLOUR
    for item in items:
        calls.set_active(c_void_p(item), True)
    unseen = set()
    for word in words:
        rows = (max(0, int((top - word.y - word.style.size * up) * scale)) for up in (0.9, -0.25))
        columns = (max(0, int((edge - left) * scale)) for edge in (word.x0, word.x1))
        (first, last), (start, end) = rows, columns
        if not changed[first : last + 1, start : end + 1].any():
            unseen.add(id(word))
    return unseen


def _pixels(page: pdfium.PdfPage, scale: float) -> np.ndarray[Any, np.dtype[np.int16]]:
    bitmap = page.render(scale=scale, may_draw_forms=False, draw_annots=False)
    try:
        return np.array(bitmap.to_numpy()[:, :, :3], dtype=np.int16)
    finally:
        bitmap.close()
