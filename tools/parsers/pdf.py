"""Parser of PDF through pdfium: headings, paragraphs, lists, terms, code and tables, without running heads and feet."""

import re
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from ctypes import create_string_buffer
from dataclasses import dataclass, field, replace
from itertools import islice, takewhile

import numpy as np
import pypdfium2 as pdfium
import pypdfium2.raw as raw

from graph.errors import UnreadableDocument
from tools.parsers.canonical_text import CHECK_SUFFIX, CanonicalText, Parsed, names_section, things_left_out, told
from tools.parsers.pdf_blocks import BlockWriter
from tools.parsers.pdf_headings import Bookmark, find_headings, split_headings
from tools.parsers.pdf_layout import measured
from tools.parsers.pdf_lines import Page, read_page
from tools.parsers.pdf_order import put_in_order
from tools.parsers.recognition import DPI, MOST_PIXELS, Recognizer

_PDFIUM = threading.Lock()  # pdfium has global state: one call at a time per process
_NEXT = threading.Lock()
_MOST_BOOKMARKS = 20_000
_LONGEST_LABEL = 32  # letters
_MOST_LABELS = 8_000  # letters of all labels: they go into the document's metadata
_LARGER = 1.1  # than most of the text: a title
_LONGEST_TITLE = 200  # letters
_MOST_TOLD = 20  # pages
_FAULT = (
    "The structure of the file was not understood by a fault of Citewell ({}): please report it, with the file if you"
    " may. Its lines are in the text as they stand."
)
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
            with suppress(pdfium.PdfiumError):
                document.init_forms()
        except pdfium.PdfiumError as error:
            raise _refusal(data, error) from error
    recognizer = Recognizer()
    try:
        reading = _pages(document, recognizer)
        with pdfium_turn():
            outline, title = _outline(document), str(document.get_metadata_dict().get("Title", "")).strip()
            labels = _labels(document)
    finally:
        with pdfium_turn():
            document.close()
    parsed = _parsed(reading, outline, title, recognizer.hint)
    if labels:
        parsed = replace(parsed, metadata=parsed.metadata | {"page_labels": labels})
    if recognizer.stopped:
        parsed = replace(parsed, left_out=(*parsed.left_out, recognizer.hint))
    if not reading.recognised:
        return parsed
    said = (
        f"The text of {reading.recognised} of {len(reading.pages)} pages was recognised in a scan (OCR):"
        " its letters may be wrong."
    )
    return replace(parsed, metadata=parsed.metadata | {"ocr": "tesseract"}, warnings=(*parsed.warnings, said))


@dataclass(slots=True)
class _Pages:
    """The pages of a file; how many were recognised, the numbers of those that nobody can read, and what was lost."""

    pages: list[Page] = field(default_factory=list)
    recognised: int = 0
    garbled: int = 0
    lost: list[str] = field(default_factory=list)

    def lose(self, page_idx: int, error: Exception) -> None:
        if isinstance(error, pdfium.PdfiumError):
            self.lost.append(f"Page {page_idx + 1} is broken and was left out.")
        else:
            self.lost.append(
                f"Page {page_idx + 1} was left out by a fault of Citewell ({type(error).__name__}):"
                " please report it, with the file if you may."
            )


def _pages(document: pdfium.PdfDocument, recognizer: Recognizer) -> _Pages:
    """Return the pages of a file; one that can't be read is told, and costs no other."""
    with pdfium_turn():
        count = len(document)
    reading = _Pages()
    for page_idx in range(count):
        try:
            with pdfium_turn():
                page = read_page(document, page_idx)
        except Exception as error:  # noqa: BLE001 - whatever a page does, the others are read
            reading.lose(page_idx, error)
            page = Page([], 0.0, 0.0)
        is_garbled = page.unreadable > 0 and page.unreadable > sum(
            letter.isalnum() for line in page.lines for letter in line.text
        )
        if (is_garbled or not page.lines) and page.height and recognizer.is_on:
            recognised = _recognised(document, page_idx, recognizer)
            is_garbled = is_garbled and recognised is None
            page = recognised or page
            reading.recognised += bool(recognised and page.lines)
        if is_garbled:
            reading.garbled += 1
            page.lines = []
        reading.pages.append(page)
    return reading


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
            return read_page(layer, 0, is_recognised=True)
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


def _labels(document: pdfium.PdfDocument) -> list[str]:
    """Return the names that the file gives its pages, such as iv or A-3, if they are not just 1, 2, 3."""
    buffer = create_string_buffer(2 * _LONGEST_LABEL)
    labels = []
    for page_idx in range(len(document)):
        size = raw.FPDF_GetPageLabel(document.raw, page_idx, buffer, len(buffer))
        labels.append(buffer.raw[: size - 2].decode("utf-16-le", "replace") if 2 < size <= len(buffer) else "")
    is_plain = all(label in ("", str(number)) for number, label in enumerate(labels, 1))
    return [] if is_plain or sum(map(len, labels)) + 4 * len(labels) > _MOST_LABELS else labels


def _parsed(reading: _Pages, outline: list[Bookmark], title: str, hint: str) -> Parsed:
    pages, count = reading.pages, len(reading.pages)
    if not any(page.lines for page in pages):
        raise _nothing(reading, hint)
    largest = _largest(pages)
    warnings: tuple[str, ...] = ()
    try:
        text, running = _structured(pages, outline)
    except Exception as error:  # noqa: BLE001 - the structure of a file may be lost, its words may not
        warnings = (_FAULT.format(type(error).__name__),)
        text, running = CanonicalText(), 0
        for page_idx, page in enumerate(pages):
            text.page_idx = page_idx
            for line in page.lines:
                text.add("paragraph", line.text)
    own = title if title and not _JUNK_TITLE.fullmatch(title) else None
    return replace(text.parsed(title=own or largest), left_out=_left_out(reading, count, running), warnings=warnings)


def _structured(pages: list[Page], outline: list[Bookmark]) -> tuple[CanonicalText, int]:
    """Return the text by its structure, and how many lines of it say what others have said."""
    running = put_in_order(pages)
    split_headings(pages, outline)
    layout = measured(pages)
    find_headings(pages, outline, layout)
    text = CanonicalText()
    writer = BlockWriter(text, layout, pages)
    for page_idx, page in enumerate(pages):
        writer.write(page_idx, page)
    return text, running + writer.repeated


def _nothing(reading: _Pages, hint: str) -> UnreadableDocument:
    count = len(reading.pages)
    if reading.lost:
        return UnreadableDocument("The PDF is broken: no page of it can be read. " + reading.lost[0])
    if reading.garbled:
        return UnreadableDocument(
            "The letters of the PDF can't be read: its fonts don't say which letters their signs are.", suggestion=hint
        )
    return UnreadableDocument(
        f"The PDF has no text on its {count} page{'s' * (count != 1)}: it is a scan or holds only drawings.",
        suggestion=hint,
    )


def _left_out(reading: _Pages, count: int, running: int) -> tuple[str, ...]:
    pages, garbled = reading.pages, reading.garbled
    empty = sum(not page.lines for page in pages) - garbled - len(reading.lost)
    hidden = sum(page.hidden for page in pages)
    comments = sum(page.comments for page in pages)
    unreadable = sum(page.unreadable for page in pages if page.lines)
    fonts = " left out: the fonts don't say which letters their signs are."
    repeated = " left out: running heads, page numbers or repeated header rows of tables."
    nameless = " no letter in the file: left out, or \ufffd within words."
    return (
        *told(max(empty, 0), f"1 of {count} pages holds no text.", f"{{}} of {count} pages hold no text."),
        *told(garbled, f"1 of {count} pages was{fonts}", f"{{}} of {count} pages were{fonts}"),
        *told(hidden, "1 word is hidden or too small to read.", "{} words are hidden or too small to read."),
        *told(running, f"1 line was{repeated}", f"{{}} lines were{repeated}"),
        *things_left_out(comments, "comment"),
        *told(unreadable, f"1 sign has{nameless}", f"{{}} signs have{nameless}"),
        *reading.lost[:_MOST_TOLD],
    )


def _largest(pages: list[Page]) -> str | None:
    """Return the line of the largest type on the first page, with the lines of the same type next to it."""
    sizes: Counter[float] = Counter()
    for page in pages:
        for line in page.lines:
            sizes[line.size] += len(line.text)
    lines = pages[0].lines
    size = max((line.size for line in lines), default=0.0)
    if size < _LARGER * sizes.most_common(1)[0][0]:
        return None
    first = next((place for place, line in enumerate(lines) if line.size == size), len(lines))
    words = [line.text for line in takewhile(lambda line: line.size == size, lines[first : first + 3])]
    title = " ".join(" ".join(words).split())
    return title if 0 < len(title) <= _LONGEST_TITLE and not names_section(title) else None


def _refusal(data: bytes, error: pdfium.PdfiumError) -> UnreadableDocument:
    if "password" in str(error).lower():
        return UnreadableDocument("The PDF is encrypted and needs a password.", suggestion="Save it without one.")
    if b"%PDF-" not in data[:_HEADER_WITHIN]:
        return UnreadableDocument("The file is no PDF: it does not begin with %PDF-.", suggestion=CHECK_SUFFIX)
    return UnreadableDocument(
        "The PDF is broken and cannot be opened.", suggestion="Export it again from the program that made it."
    )
