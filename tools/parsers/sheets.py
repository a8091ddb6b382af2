"""Tables of a spreadsheet's sheet as blocks: captions, header rows, and rows that hang on them, with cell addresses.

Blank rows divide the tables of a sheet. A merged cell says the same in each row and column that it covers.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from graph.errors import UnreadableDocument
from tools.parsers.canonical_text import CanonicalText

MOST_CELLS = 5_000_000
MOST_LETTERS = 50_000_000
LONGEST_NAME = 200  # characters of a sheet's name, which each address repeats; Excel allows 31
_MOST_MERGED = 200_000
_MOST_HEADERS = 3  # rows of one header
_MOST_CAPTIONS = 3
_YEAR = re.compile(r"(?:19|20)\d\d(?:-\d\d-\d\d)?")
_PLAIN_NAME = re.compile(r"[^\W\d][\w.]*")


class Cell(NamedTuple):
    """What a cell shows. ``typed`` is a number, date or truth value."""

    text: str
    typed: bool = False
    bold: bool = False


Row = tuple[int, dict[int, Cell]]  # its number and its cells by column, both from 0


@dataclass(slots=True)
class Sheet:
    """A sheet: its rows that hold something, in order; its merged cells as (first row, column, last row, column)."""

    name: str
    index: int
    rows: list[Row] = field(default_factory=list)
    merged: list[tuple[int, int, int, int]] = field(default_factory=list)


class Allowed:
    """What is left of the cells and letters that one workbook may hold."""

    def __init__(self) -> None:
        self._cells, self._letters = MOST_CELLS, MOST_LETTERS

    def take(self, cells: int, letters: int = 0) -> None:
        """Count cells and letters. Raises UnreadableDocument if there are too many."""
        self._cells -= cells
        self._letters -= letters
        if self._cells < 0 or self._letters < 0:
            what = f"{MOST_CELLS:,} cells" if self._cells < 0 else f"{MOST_LETTERS // 1_000_000} million letters"
            raise UnreadableDocument(
                f"The workbook holds more than {what}.", suggestion="Split it, and ingest its parts."
            )


def address(name: str, row: int, column: int) -> str:
    """Return the address of a cell as spreadsheets write it: ``Prices!A3``, ``'Price list'!AB12``."""
    letters = ""
    column += 1
    while column:
        column, rest = divmod(column - 1, 26)
        letters = chr(65 + rest) + letters
    shown = name if _PLAIN_NAME.fullmatch(name) else "'" + name.replace("'", "''") + "'"
    return f"{shown}!{letters}{row + 1}"


def write_sheet(text: CanonicalText, sheet: Sheet, allowed: Allowed) -> None:
    """Write a sheet as a page under its name. A sheet without cells is not written."""
    if not sheet.rows:
        return
    _fill_merged(sheet, allowed)
    text.page_idx = sheet.index
    text.add_heading(1, sheet.name, anchor=address(sheet.name, sheet.rows[0][0], min(sheet.rows[0][1])))
    above: list[int | None] = []
    for part in _parts(sheet.rows):
        above = _write_part(text, sheet, part, above, allowed)


def _parts(rows: list[Row]) -> Iterator[list[Row]]:
    start = 0
    for at in range(1, len(rows) + 1):
        if at == len(rows) or rows[at][0] > rows[at - 1][0] + 1:
            yield rows[start:at]
            start = at


def _fill_merged(sheet: Sheet, allowed: Allowed) -> None:
    """Say a merged cell's words in each cell that it covers, in rows that say something and columns that are used."""
    numbers = [number for number, _ in sheet.rows]
    used = sorted({column for _, cells in sheet.rows for column in cells})
    for top, left, bottom, right in sheet.merged[:_MOST_MERGED]:
        first = bisect_left(numbers, top)
        if first == len(numbers) or numbers[first] != top or left not in sheet.rows[first][1]:
            continue
        cell = sheet.rows[first][1][left]
        columns = used[bisect_left(used, left) : bisect_right(used, right)]
        rows = sheet.rows[first : bisect_right(numbers, bottom)]
        allowed.take(len(columns) * len(rows), len(cell.text) * len(columns) * len(rows))
        for _, cells in rows:
            for column in columns:
                cells.setdefault(column, cell)


def _write_part(
    text: CanonicalText, sheet: Sheet, rows: list[Row], above: list[int | None], allowed: Allowed
) -> list[int | None]:
    """Write a table, or lines of words that stand alone; return the lines that the next table hangs on."""
    columns = sorted({column for _, cells in rows for column in cells})
    allowed.take(len(columns) * len(rows) - sum(len(cells) for _, cells in rows))
    start = next((at for at, (_, cells) in enumerate(rows) if len(columns) > 1 and not _is_line(cells)), len(rows))
    if start == len(rows) or start > _MOST_CAPTIONS or len(rows) == start + 1 == 1:
        start = len(rows) if all(_is_line(cells) for _, cells in rows) else min(start, 0)
    lines: list[int | None] = []
    for at, (number, cells) in enumerate(rows[:start]):
        words = next(iter(cells.values())).text
        is_caption = start <= _MOST_CAPTIONS and not words.endswith((".", "。"))
        anchor = address(sheet.name, number, min(cells))
        lines.append(text.add("caption" if is_caption else "paragraph", words, tight=at > 0, anchor=anchor))
    if start == len(rows):
        return lines if len(lines) <= _MOST_CAPTIONS else []
    captions = [*above, *lines]
    count = _headers(rows[start:], columns)
    headers: list[int | None] = []
    for at, (number, cells) in enumerate(rows[start:]):
        words = " | ".join(cells[column].text if column in cells else "" for column in columns)
        on = (*captions, *headers)
        anchor = address(sheet.name, number, min(cells))
        index = text.add("table_row", words, tight=at > 0 or start > 0, hangs_on=on, anchor=anchor)
        if at < count:
            headers.append(index)
    return []


def _is_line(cells: dict[int, Cell]) -> bool:
    """Whether a row is a single cell, which may be merged over others."""
    return len({id(cell) for cell in cells.values()}) == 1 and not next(iter(cells.values())).typed


def _headers(rows: Sequence[Row], columns: list[int]) -> int:
    """Return how many of the first rows name the columns."""
    for count in range(1, min(_MOST_HEADERS, len(rows) - 1) + 1):
        cells, below = rows[count - 1][1], rows[count][1]
        if not _may_name(cells, below, columns):
            return 0
        spans = len({id(cell) for cell in cells.values()}) < len(cells)
        if not (spans and _may_name(below, {}, columns) and len(rows) > count + 1):
            following = [row for _, row in rows[count : count + 50]]
            bold = all(cell.bold for cell in cells.values()) and not all(cell.bold for cell in below.values())
            typed = any(all(row[column].typed for row in following if column in row) for column in below)
            return count if bold or len(columns) > 2 or typed else count - 1
    return 0


def _may_name(cells: dict[int, Cell], below: dict[int, Cell], columns: list[int]) -> bool:
    """Whether each cell is words, or a year or date above what is neither."""
    if len(cells) < 2 or 2 * len(cells) < len(columns) or cells[min(cells)].typed:
        return False
    for column, cell in cells.items():
        if cell.typed and not _YEAR.fullmatch(cell.text):
            return False
        if cell.typed and column in below and _YEAR.fullmatch(below[column].text):
            return False
    return True
