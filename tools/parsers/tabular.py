"""Parser of comma- and tab-separated values: rows under their header, cells joined by " | ".

The delimiter is the one that gives most rows the same number of cells. A first row of words is the header; lines of a
single cell above it are captions, as spreadsheets write them.
"""

import csv
import re
from collections import Counter
from collections.abc import Iterator
from itertools import islice

from graph.errors import UnreadableDocument
from tools.parsers.canonical_text import CanonicalText, Parsed, storable
from tools.parsers.plain import decode

_SAMPLE = 200  # rows
_USUAL = 0.9  # of the rows have as many cells
_OTHER_COMMA = re.compile(r"(?<!\d),|,(?!\d)")  # than one within a number: 1,5
_FIRST = 20  # rows, among which the header is
_NUMBER = re.compile(r"[-+(]?[$€£¥]?\d[\d.,:/%eE+-]*\)?%?")


def read(data: bytes, delimiters: str = ";\t|,") -> Parsed:
    """Parse values with one of some delimiters between them.

    Raises UnreadableDocument if they cannot be decoded, or hold a cell of more than 128 KB.
    """
    text = storable(decode(data))
    try:
        return _written(text, *_dialect(text, delimiters))
    except csv.Error as error:
        raise UnreadableDocument("A cell of the table is too long.") from error


def _written(text: str, delimiter: str, quoted: bool) -> Parsed:
    written = CanonicalText()
    captions: list[int | None] = []
    header: int | None = None
    start, has_header = _layout(list(islice(_rows(text, delimiter, quoted), _FIRST)))
    for at, cells in enumerate(_rows(text, delimiter, quoted)):
        words = " | ".join(cells) if at >= start else next(filter(None, cells))
        if at < start:
            captions.append(written.add("caption", words, tight=at > 0))
        elif at == start and has_header:
            header = written.add("table_row", words, tight=at > 0, hangs_on=captions)
        else:
            written.add("table_row", words, tight=at > 0, hangs_on=(*captions, header))
    return written.parsed()


def _rows(text: str, delimiter: str, quoted: bool) -> Iterator[list[str]]:
    """Yield the rows that hold something; white space within a cell is a single space."""
    lines = re.split(r"(?<=\n)|(?<=\r)(?!\n)", text)
    quote = '"' if quoted else None
    for row in csv.reader(
        lines, delimiter=delimiter, quotechar=quote, quoting=0 if quote else 3, skipinitialspace=True
    ):
        cells = [" ".join(cell.split()) for cell in row]
        if any(cells):
            yield cells


def _dialect(text: str, delimiters: str) -> tuple[str, bool]:
    """Return the delimiter, and whether quotes hold cells together; they don't if one is never closed."""
    quoted = _is_quoted(text, delimiters)
    best, most = delimiters[-1], (0.0, 1)
    for delimiter in delimiters:
        widths: Counter[int] = Counter()
        try:
            for row in islice(_rows(text, delimiter, quoted), _SAMPLE):
                widths[len(row)] += 1
        except csv.Error:
            continue
        if widths:
            width, rows = widths.most_common(1)[0]
            share = rows / widths.total() if width > 1 else 0.0
            is_decimal = delimiter == "," and most[0] > _USUAL and not _OTHER_COMMA.search(text)
            if (share, width) >= most and not is_decimal:
                best, most = delimiter, (share, width)
    return best, quoted


def _is_quoted(text: str, delimiters: str) -> bool:
    opens = rf'(?:\A|(?<=[\r\n{re.escape(delimiters)}]))[ ]*"'
    at = 0
    for found in re.finditer(opens, text):
        if found.start() < at:
            continue
        closed = re.compile(r'(?:[^"]|"")*+"').match(text, found.end())
        if closed is None:
            return False
        at = closed.end()
    return True


def _layout(rows: list[list[str]]) -> tuple[int, bool]:
    """Return how many rows are captions, and whether the next one is a header."""
    width = max((len(row) for row in rows), default=0)
    start = 0
    while width > 1 and start < len(rows) - 1 and sum(map(bool, rows[start])) == 1:
        start += 1
    first = rows[start] if start < len(rows) else []
    named = any(first) and not any(_NUMBER.fullmatch(cell) for cell in first)
    return start, named and len(rows) > start + 1
