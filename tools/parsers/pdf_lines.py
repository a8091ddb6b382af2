"""Lines of a PDF page as pdfium places them: text, position, type size and font of each."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median, median_low
from typing import NamedTuple

import pypdfium2 as pdfium
import pypdfium2.raw as raw

from tools.parsers.canonical_text import unwrapped
from tools.parsers.pdf_notes import Notes, put_in_place, read_notes
from tools.parsers.pdf_words import LOWERED, RAISED, SMALLER, Turn, Word, read_words
from tools.parsers.raised_text import lowered, raised

# A sign without a name, such as a bracket of a formula, is read as its number in its font: mostly a control character.
_READABLE = re.compile(r"[^\s\x00-\x1f\x7f-\x9f\u200b-\u200f\u2060-\u2064\ufeff]")
_ATTACHED = 0.13  # of the type size, between a word and its mark
_CLOSE = 0.02  # of the type size
_FAR = 0.7  # of the type size: no mark is further from its word
_NOTE_NUMBER = re.compile(r"\d{1,3}")
_TIMES_TEN = re.compile(r"[×·∙x*]\s?10$")  # whose raised number is a power, whatever notes the page has
_FEW_LETTERS = 5
_CELL_GAP = 0.5  # of the type size: wider than the spaces of most justified lines
_AROUND_WORDS = "\"'.,;:!?()[]{}‘’“”"


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
    """The lines of a page in the file's own order.

    ``hidden`` counts words that nobody sees, ``unreadable`` signs without a letter, ``comments`` notes beside the page.
    """

    lines: list[Line]
    width: float
    height: float
    hidden: int = 0
    unreadable: int = 0
    comments: int = 0


def read_page(document: pdfium.PdfDocument, page_idx: int, *, is_recognised: bool = False) -> Page:
    """Read a page, or what was recognised in one; the caller holds pdfium's lock.

    Raises PdfiumError if the page is broken.
    """
    page = document[page_idx]
    try:
        width, height = page.get_size()
        words, hidden, unreadable = read_words(page, is_recognised=is_recognised)
        notes = read_notes(document, page)
        if notes.written:
            words = put_in_place(words, notes, _drawn(document, page_idx, page, notes, len(words)), Turn(page))
    finally:
        page.close()
    rows = list(_rows(words))
    numbers = _note_numbers(rows, height)
    lines = [line for row in rows if _READABLE.search((line := _line(row, numbers)).text)]
    return Page(lines, width, height, hidden, unreadable, notes.comments)


def _drawn(document: pdfium.PdfDocument, page_idx: int, page: pdfium.PdfPage, notes: Notes, count: int) -> list[Word]:
    """Return the words that the file draws for values and notes, behind the ``count`` words of the page itself."""
    drawn = any(each.is_drawn for each in notes.written)
    if not drawn or raw.FPDFPage_Flatten(page.raw, raw.FLAT_NORMALDISPLAY) != raw.FLATTEN_SUCCESS:
        return []
    flat = document[page_idx]
    try:
        return read_words(flat).words[count:]
    finally:
        flat.close()


def _rows(words: list[Word]) -> Iterator[list[Word]]:
    """Join words to rows: each word goes on to the right of the one before, on about the same baseline."""
    row: list[Word] = []
    largest = base = edge = 0.0
    for word in words:
        size = word.style.size
        is_small = size <= SMALLER * largest
        if row:
            last = row[-1]
            near = abs(word.y - base) <= (0.55 if is_small else 0.45) * (size if size > largest else largest)
            back = word.x0 < (edge if is_small else last.x1) - 0.6 * largest
            if last.split or not near or (back and not (word.row and word.row == last.row)):
                yield row
                row = []
        if not row or size > largest:  # the largest word has the line's baseline, not a raised number
            largest, base = size, word.y
        if not row or not is_small:
            edge = word.x1
        row.append(word)
    if row:
        yield row


def _note_numbers(rows: list[list[Word]], height: float) -> frozenset[str]:
    """Return the numbers of the notes at a page's foot: those that small lines begin with, or that are raised."""
    sizes = [word.style.size for row in rows for word in row]
    usual = median(sizes) if sizes else 0.0
    found = set()
    for row in rows:
        number, size = row[0], max(word.style.size for word in row)
        is_raised = number.style.size <= SMALLER * size and number.y > row[-1].y
        if number.y < 0.5 * height and len(row) > 1 and (is_raised or size <= 0.92 * usual):
            found.update(_NOTE_NUMBER.findall(number.text) if _NOTE_NUMBER.fullmatch(number.text) else [])
    return frozenset(found)


def _joined(words: list[Word], notes: frozenset[str]) -> list[Word]:
    """Join what no space parts, with raised and lowered words written so that they stay apart."""
    levels = _levels(words)
    joined: list[Word] = []
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
            is_note = (
                word.text[0].isdigit() and after[:1] not in ("/", "⁄") and set(_NOTE_NUMBER.findall(word.text)) <= notes
            )
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


def _mark_end(words: list[Word], levels: list[int], place: int) -> int:
    """Return the place after the words of a mark, which is raised or lowered as a whole; or after a single word."""
    end = place + 1
    while levels[place] and end < len(words) and levels[end] == levels[place] and _touch(words[end - 1], words[end]):
        end += 1
    return end


def _one(words: list[Word]) -> Word:
    text = "".join(word.text for word in words)
    return words[0]._replace(text=text, x1=words[-1].x1, split=words[-1].split)


def _touching(words: list[Word], place: int) -> str:
    """Return the word at a place if not even the narrow space behind a power is before it."""
    if place == len(words) or not _touch(words[place - 1], words[place]):
        return ""
    is_close = words[place].x0 - words[place - 1].x1 <= _CLOSE * words[place].style.size
    return words[place].text if is_close or words[place].text[0] in "/⁄" else ""


def _belongs(before: Word, word: Word, level: int, touches_next: bool) -> bool:
    """Whether a word is part of the one before: glued to it, or a mark near it that is not nearer to the next."""
    if not level:
        return word.glued
    gap = word.x0 - before.x1
    return _touch(before, word) or (not touches_next and level > 0 and gap <= _FAR * before.style.size)


def _bracketed(text: str) -> str:
    return text if text.isalnum() else f"({text})"


def _levels(words: list[Word]) -> list[int]:
    """Return 1 for each small word that is raised above the ones of usual size, -1 for a lowered one, else 0."""
    letters = sum(len(word.text) for word in words)
    sizes = sorted({word.style.size for word in words}, reverse=True)
    usual = next(  # a lone large sign before a line of text is not what the others are raised above
        size
        for size in sizes
        if 10 * sum(len(word.text) for word in words if word.style.size > SMALLER * size) >= letters
    )
    ground = next(word for word in words if word.style.size > SMALLER * usual)
    levels = []
    for word in words:
        shift = (word.y - ground.y) / usual
        is_small = word.style.size <= SMALLER * usual
        levels.append((shift > RAISED) - (shift < -LOWERED) if is_small else 0)
        ground = ground if is_small else word
    return levels


def _touch(before: Word, word: Word) -> bool:
    return word.x0 - before.x1 <= _ATTACHED * max(before.style.size, word.style.size)


def _unspaced(words: list[Word]) -> list[Word]:
    """Join letters that are set apart for their looks: the gaps between words are wider than those within them."""
    if len(words) < _FEW_LETTERS:
        return words
    singles = [word.text for word in words if len(word.text) == 1]
    if len(singles) < max(_FEW_LETTERS, 0.6 * len(words)) or not "".join(singles).isalpha():
        return words
    gaps = [word.x0 - before.x1 for before, word in pairwise(words)]
    within = median_low(gaps)
    if not 0 < within < words[0].style.size or max(gaps) < 1.6 * within:
        return words
    return [words[0], *(word._replace(glued=gap < 1.6 * within) for gap, word in zip(gaps, words[1:], strict=True))]


def _line(words: list[Word], notes: frozenset[str]) -> Line:
    words = _unspaced(words)
    first = words[0]
    if any(word.glued or word.style.size != first.style.size for word in words):
        words = _joined(words, notes)
        first = words[0]
    sizes: dict[float, int] = {}
    total = of_fixed = of_bold = 0
    for word in words:
        style, count = word.style, len(word.text)
        sizes[style.size] = sizes.get(style.size, 0) + count
        total += count
        of_fixed += count * style.font.fixed
        of_bold += count * style.font.bold
    size = _most_common(sizes)
    fixed_share = of_fixed / total
    fixed = fixed_share >= 0.8
    pitch = max((word.x1 - word.x0) / len(word.text) for word in words) if fixed else 0.0
    text, set_apart = first.text, first.style.font.bold or first.style.font.fixed
    lead = len(text) * set_apart
    cells: list[Cell] = []
    start, at, before = first.x0, 0, first  # of the cell
    for word in words[1:]:
        gap = word.x0 - before.x1
        if word.row:
            gap = max(gap, before.x0 - word.x1)
        text += " " * max(1, min(200, round(gap / pitch))) if pitch else " "
        if gap > _CELL_GAP * size and not (word.row and _is_between(words, before, word)):
            cells.append(Cell(start, before.x1, at))
            start, at = word.x0, len(text)
        text += word.text
        if set_apart:
            set_apart = word.style.font.bold or word.style.font.fixed
            lead = len(text) if set_apart else lead
        before = word
    cells.append(Cell(start, before.x1, at))
    text += "-" * before.split
    split = text[-1] in "-\u2010\xad" and text[-2:-1].isalpha()
    return Line(
        text=text,
        x0=min(word.x0 for word in words) if first.row else first.x0,
        x1=max([word.x1 for word in words]),
        y=first.y if len(sizes) == 1 else max(words, key=lambda word: word.style.size).y,
        size=size,
        bold=of_bold >= 0.8 * total,
        fixed=fixed,
        fixed_share=fixed_share,
        lead=lead,
        split=split,
        second_x=words[1].x0 if len(words) > 1 else first.x0,
        cells=tuple(cells),
    )


def _most_common(sizes: dict[float, int]) -> float:
    """Return the type size of most letters, to a tenth of a point."""
    counts: dict[float, int] = {}
    for size, count in sizes.items():
        counts[round(size, 1)] = counts.get(round(size, 1), 0) + count
    return max(counts, key=lambda size: (counts[size], size))


def _is_between(words: list[Word], before: Word, word: Word) -> bool:
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
