"""Parser of PDF through pdfium: the text of each page, with paragraphs detected by the spacing between lines."""

import re
import threading
from dataclasses import dataclass
from itertools import pairwise
from statistics import median

import pypdfium2 as pdfium

from graph.errors import UnreadableDocument
from tools.parsers.canonical_text import CanonicalText, Parsed

_PDFIUM = threading.Lock()  # pdfium has global state: one call at a time per process
# Pdfium's mark for a removed hyphen at a line end; before a lower-case letter the hyphen had split a word.
_SPLIT_WORD = re.compile(r"(?<=[^\W\d_])[\ufffe\x02](?=[^\W\d_])")
_HYPHEN = re.compile("[\ufffe\x02]")
_WIDE_GAP = 0.4  # of the line's height, beyond the usual gap
_ENOUGH = 3


def read(data: bytes) -> Parsed:
    """Parse the text of a PDF, page by page.

    Raises UnreadableDocument if the file is broken, needs a password, or is a scan without text.
    """
    with _PDFIUM:
        try:
            document = pdfium.PdfDocument(data)
        except pdfium.PdfiumError as error:
            raise UnreadableDocument(*_reason(error)) from error
        try:
            return _read_pages(document)
        except pdfium.PdfiumError as error:
            raise UnreadableDocument("The PDF is broken: a page cannot be read.") from error
        finally:
            document.close()


def _read_pages(document: pdfium.PdfDocument) -> Parsed:
    text = CanonicalText()
    pages = len(document)
    for page_idx in range(pages):
        text.page_idx = page_idx
        for paragraph in _paragraphs(document, page_idx):
            text.add("paragraph", paragraph)
    parsed = text.parsed(title=document.get_metadata_dict().get("Title", "").strip() or None)
    if not parsed.text:
        raise UnreadableDocument(
            f"The PDF has no text on its {pages} page{'s' * (pages != 1)}: it is a scan or holds only drawings.",
            suggestion="Run text recognition (OCR) on it, and ingest the result.",
        )
    return parsed


def _paragraphs(document: pdfium.PdfDocument, page_idx: int) -> list[str]:
    page = document[page_idx]
    textpage = page.get_textpage()
    try:
        raw = textpage.get_text_range()
        lines = [_line(textpage, found) for found in re.finditer(r"[^\r\n]+", raw)]
        exact = len(raw) == textpage.count_chars()  # otherwise characters outside the BMP shift the indices
    finally:
        textpage.close()
        page.close()
    return [_with_hyphens(paragraph) for paragraph in _join(lines, exact)]


def _with_hyphens(text: str) -> str:
    joined = _SPLIT_WORD.sub(lambda mark: "" if text[mark.end()].islower() else "-", text)
    return _HYPHEN.sub("-", joined)


@dataclass(frozen=True, slots=True)
class _Line:
    """A line of a page: ``top`` of its first character and ``bottom`` of its last, in points from the page's foot."""

    text: str
    top: float
    bottom: float
    height: float


def _line(textpage: pdfium.PdfTextPage, found: re.Match[str]) -> _Line:
    _, foot, _, top = textpage.get_charbox(found.start(), loose=True)
    _, bottom, _, _ = textpage.get_charbox(found.end() - 1, loose=True)
    return _Line(found[0], top, bottom, top - foot)


def _join(lines: list[_Line], exact: bool) -> list[str]:
    """Join lines into paragraphs; a wider gap than the page's median, or a step up to a new column, starts one."""
    gaps = [before.bottom - after.top for before, after in pairwise(lines)]
    usual = median(gaps) if len(gaps) >= _ENOUGH else 0.0
    paragraphs: list[list[str]] = [[line.text for line in lines[:1]]]
    for line, gap in zip(lines[1:], gaps, strict=True):
        if exact and (gap > max(usual, 0.0) + _WIDE_GAP * line.height or gap < -2 * line.height):
            paragraphs.append([])
        paragraphs[-1].append(line.text)
    return ["\n".join(paragraph) for paragraph in paragraphs]


def _reason(error: pdfium.PdfiumError) -> tuple[str]:
    if "password" in str(error).lower():
        return ("The PDF is encrypted and needs a password.",)
    return ("The PDF is broken: pdfium cannot open it.",)
