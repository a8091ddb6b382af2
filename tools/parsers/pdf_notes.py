"""What is written on a PDF page rather than printed: values of form fields, notes in the page, comments beside it."""

from collections.abc import Iterator
from contextlib import contextmanager
from ctypes import byref, c_ushort, sizeof
from statistics import median
from typing import Any, NamedTuple

import pypdfium2 as pdfium
import pypdfium2.raw as raw

from tools.parsers.pdf_words import Font, Style, Turn, Word

_HIDDEN = 2 | 32  # flags of an annotation: hidden, and not shown on a screen
_MOST = 5_000  # annotations of a page
_LONGEST = 20_000  # letters of one value
_MOST_PLACED = 4_000_000  # pairs of a word of the page and one that is written on it
_USUAL_SIZE = 10.0
_TICKED, _UNTICKED = "☒", "☐"
_OF_THE_PAGE = (raw.FPDF_ANNOT_FREETEXT, raw.FPDF_ANNOT_STAMP)
_NO_COMMENTS = (raw.FPDF_ANNOT_LINK, raw.FPDF_ANNOT_POPUP, raw.FPDF_ANNOT_WIDGET, *_OF_THE_PAGE)
_BUTTONS = (raw.FPDF_FORMFIELD_CHECKBOX, raw.FPDF_FORMFIELD_RADIOBUTTON)
_CHOICES = (raw.FPDF_FORMFIELD_COMBOBOX, raw.FPDF_FORMFIELD_LISTBOX)


class Written(NamedTuple):
    """A value or note with its box on the page, and whether the file says how it looks."""

    text: str
    left: float
    bottom: float
    right: float
    top: float
    is_drawn: bool


class Notes(NamedTuple):
    """The values and notes of a page, and how many comments stand beside it."""

    written: list[Written]
    comments: int


def read_notes(document: pdfium.PdfDocument, page: pdfium.PdfPage) -> Notes:
    """Read what is written on a page, and hide the marks of ticks and comments from what is drawn of it."""
    form = document.formenv.raw if document.formenv else None
    written: list[Written] = []
    comments = 0
    box = raw.FS_RECTF()
    for index in range(min(raw.FPDFPage_GetAnnotCount(page.raw), _MOST)):
        with _annotation(page, index) as note:
            kind = raw.FPDFAnnot_GetSubtype(note)
            if kind == raw.FPDF_ANNOT_LINK or raw.FPDFAnnot_GetFlags(note) & _HIDDEN:
                continue
            is_ticked = kind == raw.FPDF_ANNOT_WIDGET and _is_button(form, note)
            if is_ticked or kind not in (raw.FPDF_ANNOT_WIDGET, *_OF_THE_PAGE):
                raw.FPDFAnnot_SetFlags(note, _HIDDEN)
            if kind not in _NO_COMMENTS:
                comments += bool(_string(note, b"Contents").strip())
                continue
            text = _value(form, note) if kind == raw.FPDF_ANNOT_WIDGET else _string(note, b"Contents")
            is_drawn = bool(raw.FPDFAnnot_HasKey(note, b"AP")) and not is_ticked
            if kind != raw.FPDF_ANNOT_POPUP and (text.strip() or is_drawn):
                raw.FPDFAnnot_GetRect(note, byref(box))
                written.append(Written(text, box.left, box.bottom, box.right, box.top, is_drawn))
    return Notes(written, comments)


@contextmanager
def _annotation(page: pdfium.PdfPage, index: int) -> Iterator[Any]:
    note = raw.FPDFPage_GetAnnot(page.raw, index)
    try:
        yield note
    finally:
        raw.FPDFPage_CloseAnnot(note)


def _is_button(form: Any, note: Any) -> bool:
    return form is not None and raw.FPDFAnnot_GetFormFieldType(form, note) in _BUTTONS


def _value(form: Any, note: Any) -> str:
    """Return what a field says: of a choice the words that are shown, of a box whether it is ticked."""
    if form is None:
        return _string(note, b"V")
    kind = raw.FPDFAnnot_GetFormFieldType(form, note)
    if kind in _BUTTONS:
        return _TICKED if raw.FPDFAnnot_IsChecked(form, note) else _UNTICKED
    if kind == raw.FPDF_FORMFIELD_PUSHBUTTON:
        return ""
    if kind in _CHOICES:
        options = range(min(max(0, raw.FPDFAnnot_GetOptionCount(form, note)), _MOST))
        chosen = [index for index in options if raw.FPDFAnnot_IsOptionSelected(form, note, index)]
        if chosen:
            return ", ".join(_read(raw.FPDFAnnot_GetOptionLabel, form, note, index) for index in chosen)
    return _read(raw.FPDFAnnot_GetFormFieldValue, form, note)


def _string(note: Any, key: bytes) -> str:
    return _read(raw.FPDFAnnot_GetStringValue, note, key)


def _read(call: Any, *arguments: Any) -> str:
    size = min(call(*arguments, None, 0), _LONGEST * sizeof(c_ushort))
    if size <= sizeof(c_ushort):
        return ""
    buffer = (c_ushort * (size // sizeof(c_ushort)))()
    call(*arguments, buffer, size)
    return bytes(buffer)[: -sizeof(c_ushort)].decode("utf-16-le", "replace").replace("\r\n", "\n").replace("\r", "\n")


def put_in_place(words: list[Word], notes: Notes, drawn: list[Word], turn: Turn) -> list[Word]:
    """Return the words of a page with what is written on it: ``drawn`` are the words that the file draws for it.

    A value goes behind the words on its left, or before what is below it.
    """
    usual = median(word.style.size for word in words) if words else _USUAL_SIZE
    style = Style(usual, Font(bold=False, fixed=False, widths={}), drawn=True, white=False)
    added = list(drawn)
    for each in notes.written:
        left, low = turn(each.left, each.bottom)
        right, high = turn(each.right, each.top)
        left, right, low, high = min(left, right), max(left, right), min(low, high), max(low, high)
        if any(left - 2 <= (word.x0 + word.x1) / 2 <= right + 2 and low - 2 <= word.y <= high for word in drawn):
            continue
        lines = [line.split() for line in each.text.split("\n")]
        for number, line in enumerate(lines):
            y = high - (number + 1) * 1.2 * usual if len(lines) > 1 else (low + high) / 2 - usual / 3
            x = left + 2
            for text in line:
                width = 0.5 * usual * len(text)
                added.append(Word(text, x, x + width, y, style, split=False))
                x += width + 0.3 * usual
    if len(added) * len(words) > _MOST_PLACED:
        return words + added
    placed = list(words)
    for word in added:
        placed.insert(_place(placed, word), word)
    return placed


def _place(words: list[Word], word: Word) -> int:
    row = [(other.x1, place) for place, other in enumerate(words) if abs(other.y - word.y) <= 0.6 * word.style.size]
    before = [(edge, place) for edge, place in row if edge <= word.x0 + 2]
    if before:
        return max(before)[1] + 1
    behind = [place for _, place in row]
    below = [place for place, other in enumerate(words) if other.y < word.y - 0.6 * word.style.size]
    return min(behind or below, default=len(words))
