"""Parser of PDF through pdfium: headings, paragraphs, lists, terms, code and tables, without running heads and feet."""

import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from itertools import islice

import numpy as np
import pypdfium2 as pdfium

from graph.errors import UnreadableDocument
from tools.parsers.canonical_text import CHECK_SUFFIX, CanonicalText, Parsed
from tools.parsers.pdf_blocks import BlockWriter
from tools.parsers.pdf_headings import Bookmark, find_headings, split_headings
from tools.parsers.pdf_layout import measured
from tools.parsers.pdf_lines import Page, read_page
from tools.parsers.pdf_order import put_in_order
from tools.parsers.recognition import DPI, MOST_PIXELS, Recognizer

_PDFIUM = threading.Lock()  # pdfium has global state: one call at a time per process
_NEXT = threading.Lock()
_MOST_BOOKMARKS = 20_000
_HEADER_WITHIN = 1024  # pdfium, as other readers, takes a header behind so many bytes of something else
_JUNK_TITLE = re.compile(
    r"untitled.*|title|document\d*|no title|microsoft (?:word|powerpoint|excel) -.*|slide \d+|\W*|\(.*\)|[\w-]*\d[\w-]*"
    r"|.*\.(?:docx?|pptx?|xlsx?|pdf|tex|dvi|ps|indd|html?|txt|fm|qxd|rtf)",
    re.IGNORECASE,
)


@contextmanager
def pdfium_turn() -> Iterator[None]:
    """Hold pdfium, for a page at most. Files that are read at once take turns: the one that waits is the next."""
    with _NEXT:
        _PDFIUM.acquire()
    try:
        yield
    finally:
        _PDFIUM.release()


def read(data: bytes) -> Parsed:
    """Parse the text of a PDF.

    Raises UnreadableDocument if the file is broken, needs a password, or is a scan without text.
    """
    with pdfium_turn():
        try:
            document = pdfium.PdfDocument(data)
        except pdfium.PdfiumError as error:
            raise _refusal(data, error) from error
    recognizer = Recognizer()
    try:
        pages, recognised = _pages(document, recognizer)
        with pdfium_turn():
            outline, title = _outline(document), str(document.get_metadata_dict().get("Title", "")).strip()
    except pdfium.PdfiumError as error:
        raise UnreadableDocument("The PDF is broken: a page cannot be read.") from error
    finally:
        with pdfium_turn():
            document.close()
    parsed = _parsed(pages, outline, title, recognizer.hint)
    if recognizer.stopped:
        parsed = replace(parsed, left_out=(*parsed.left_out, recognizer.hint))
    if not recognised:
        return parsed
    said = f"The text of {recognised} of {len(pages)} pages was recognised in a scan (OCR): its letters may be wrong."
    return replace(parsed, metadata=parsed.metadata | {"ocr": "tesseract"}, warnings=(said,))


def _pages(document: pdfium.PdfDocument, recognizer: Recognizer) -> tuple[list[Page], int]:
    """Return the pages, and how many of them were recognised."""
    with pdfium_turn():
        count = len(document)
    pages = []
    recognised = 0
    for page_idx in range(count):
        with pdfium_turn():
            page = read_page(document, page_idx)
        if not page.lines and recognizer.is_on:
            page = _recognised(document, page_idx, recognizer) or page
            recognised += bool(page.lines)
        pages.append(page)
    return pages, recognised


def _recognised(document: pdfium.PdfDocument, page_idx: int, recognizer: Recognizer) -> Page | None:
    """Return a page as text recognition reads it."""
    with pdfium_turn():
        page = document[page_idx]
        width, height = page.get_size()
        dots = min(DPI / 72, (MOST_PIXELS / max(1.0, width * height)) ** 0.5)
        bitmap = page.render(scale=dots, grayscale=True)
        rows = np.ascontiguousarray(bitmap.to_numpy().reshape(bitmap.height, -1)[:, : bitmap.width])
        bitmap.close()
        page.close()
    picture = b"P5 %d %d 255\n" % (rows.shape[1], rows.shape[0]) + rows.tobytes()
    read_back = recognizer.recognised(picture, round(72 * dots))
    if read_back is None:
        return None
    with pdfium_turn():
        try:
            layer = pdfium.PdfDocument(read_back)
        except pdfium.PdfiumError:
            return None
        try:
            return read_page(layer, 0)
        finally:
            layer.close()


def _outline(document: pdfium.PdfDocument) -> list[Bookmark]:
    found = []
    for entry in islice(document.get_toc(), _MOST_BOOKMARKS):
        target = entry.get_dest()
        page_idx = target.get_index() if target else None
        if page_idx is not None:
            found.append(Bookmark(entry.level + 1, entry.get_title(), page_idx))
    return found


def _parsed(pages: list[Page], outline: list[Bookmark], title: str, hint: str) -> Parsed:
    count = len(pages)
    empty = sum(not page.lines for page in pages)
    if empty == count:
        raise UnreadableDocument(
            f"The PDF has no text on its {count} page{'s' * (count != 1)}: it is a scan or holds only drawings.",
            suggestion=hint,
        )
    largest = _largest(pages[0])
    running = put_in_order(pages)
    split_headings(pages, outline)
    layout = measured(pages)
    find_headings(pages, outline, layout)
    text = CanonicalText()
    writer = BlockWriter(text, layout, pages)
    for page_idx, page in enumerate(pages):
        writer.write(page_idx, page)
    own = title if title and not _JUNK_TITLE.fullmatch(title) else None
    return replace(text.parsed(title=own or largest), left_out=_left_out(pages, empty, running + writer.repeated))


def _left_out(pages: list[Page], empty: int, running: int) -> tuple[str, ...]:
    hidden = sum(page.hidden for page in pages)
    said = []
    if empty:
        said.append(f"{empty} of {len(pages)} pages {'holds' if empty == 1 else 'hold'} no text.")
    if hidden:
        said.append(f"{hidden} word{' is' if hidden == 1 else 's are'} hidden or too small to read.")
    if running:
        said.append(
            f"{running} line{' was' if running == 1 else 's were'} left out: running heads, page numbers or repeated"
            " header rows of tables."
        )
    return tuple(said)


def _largest(page: Page) -> str | None:
    """Return the line of the largest type on a page, with the lines of the same type next to it."""
    size = max((line.size for line in page.lines), default=0.0)
    first = next((place for place, line in enumerate(page.lines) if line.size == size), None)
    if first is None or all(line.size > 0.85 * size for line in page.lines):
        return None
    words: list[str] = []
    for line in page.lines[first : first + 3]:
        if line.size != size:
            break
        words.append(line.text)
    return " ".join(" ".join(words).split()) or None


def _refusal(data: bytes, error: pdfium.PdfiumError) -> UnreadableDocument:
    if "password" in str(error).lower():
        return UnreadableDocument("The PDF is encrypted and needs a password.", suggestion="Save it without one.")
    if b"%PDF-" not in data[:_HEADER_WITHIN]:
        return UnreadableDocument("The file is no PDF: it does not begin with %PDF-.", suggestion=CHECK_SUFFIX)
    return UnreadableDocument(
        "The PDF is broken and cannot be opened.", suggestion="Export it again from the program that made it."
    )
