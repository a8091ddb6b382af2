"""Tables of a spreadsheet's sheet as blocks: captions, header rows, and rows that hang on them, with cell addresses.

Blank rows divide the tables of a sheet, and blank columns those that stand side by side. A merged cell says the same in
each row and column that it covers. A very wide table is written as several, all with its first column.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from operator import itemgetter
from typing import NamedTuple

from graph.errors import UnreadableDocument
from tools.parsers.canonical_text import COLONS, CanonicalText
from tools.parsers.numerals import letters

MOST_CELLS = 5_000_000
MOST_LETTERS = 50_000_000
MOST_COLUMNS = 16_384
LONGEST_NAME = 200  # characters of a sheet's name, which each address repeats; Excel allows 31
_MOST_MERGED = 200_000
_MOST_HEADERS = 3  # rows of one header
_MOST_CAPTIONS = 3
_LONGEST_ROW = 250  # tokens, about, of a header with a usual row; a segment holds 300
_WIDEST_PART = 150  # of such a pair, where a table is written in parts
_SAMPLE = 50  # rows that tell what is usual
_YEAR = re.compile(r"(?:19|20)\d\d(?:-\d\d){0,2}")
_PLAIN_NAME = re.compile(r"[^\W\d][\w.]*")


class Cell(NamedTuple):
    """What a cell shows: nothing, where its formula has no result. ``typed`` is a number, date or truth value."""

    text: str
    typed: bool = False
    bold: bool = False


Row = tuple[int, dict[int, Cell]]  # its number and its cells by column, both from 0


@dataclass(slots=True)
class Sheet:
    """A sheet: its rows that hold something, in order; its merged cells as (first row, column, last row, column).

    ``hidden`` are runs of columns in order, ``dropped`` those of them that hold something.
    """

    name: str
    index: int
    rows: list[Row] = field(default_factory=list)
    merged: list[tuple[int, int, int, int]] = field(default_factory=list)
    hidden: list[tuple[int, int]] = field(default_factory=list)
    dropped: set[int] = field(default_factory=set)

    def drops(self, column: int) -> bool:
        """Note a column that holds something among the dropped if it is hidden, and return whether it is."""
        at = bisect_right(self.hidden, column, key=itemgetter(0)) - 1
        is_hidden = at >= 0 and self.hidden[at][1] >= column
        if is_hidden:
            self.dropped.add(column)
        return is_hidden


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
            raise UnreadableDocument(f"The workbook holds more than {what}.", suggestion="Split it, and add its parts.")


def address(name: str, row: int, column: int) -> str:
    """Return the address of a cell as spreadsheets write it: ``Prices!A3``, ``'Price list'!AB12``."""
    shown = name if _PLAIN_NAME.fullmatch(name) else "'" + name.replace("'", "''") + "'"
    return f"{shown}!{letters(column + 1).upper()}{row + 1}"


def write_sheet(text: CanonicalText, sheet: Sheet, allowed: Allowed, *, is_drawn_on: bool) -> None:
    """Write a sheet as a page under its name, which stands alone where it is only drawn on."""
    text.left_out["hidden column"] += len(sheet.dropped)
    if not sheet.rows:
        if is_drawn_on:
            text.page_idx = sheet.index
            text.add_heading(1, sheet.name)
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
    start = next((at for at, (_, cells) in enumerate(rows) if len(columns) > 1 and not _is_line(cells)), len(rows))
    if start < len(rows):
        allowed.take(len(columns) * len(rows) - sum(len(cells) for _, cells in rows))
    beside = _side_by_side(rows[start:])
    if len(beside) < 2 and (start == len(rows) or start > _MOST_CAPTIONS or len(rows) == start + 1 == 1):
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
    if len(beside) > 1:
        for table in beside:
            hung = captions
            for part in _parts(table):
                hung = [*captions, *_write_part(text, sheet, part, hung, allowed)]
        return []
    _write_table(text, sheet, rows[start:], captions, tight=start > 0)
    return []


def _side_by_side(rows: list[Row]) -> list[list[Row]]:
    """Return the tables that blank columns divide, from the left; what cannot stand alone stays with what is before."""
    used = sorted({column for _, cells in rows for column in cells})
    starts = [at for at in range(len(used)) if at == 0 or used[at] > used[at - 1] + 1]
    runs = [_Run(used[start:end]) for start, end in pairwise([*starts, len(used)])]
    run_of = {column: run for run in runs for column in run.columns}
    for number, cells in rows if len(runs) > 1 else ():
        for run in {id(run): run for run in map(run_of.__getitem__, cells)}.values():
            name = cells.get(run.columns[0])
            run.rows.append(number)
            run.is_named &= name is not None and not (name.typed and len(run.columns) > 1)
    tables: list[_Run] = []
    for run in runs:
        if tables and not run.stands_beside(tables[-1]):
            before = tables[-1]
            before.columns += run.columns
            before.rows = [min(before.rows[0], run.rows[0]), max(before.rows[-1], run.rows[-1])]
        else:
            tables.append(run)
    return [rows] if len(tables) < 2 else [_within(rows, table.columns) for table in tables]


@dataclass(slots=True)
class _Run:
    """Columns without a blank one among them, and the rows that they say something in, all named by the first."""

    columns: list[int]
    rows: list[int] = field(default_factory=list)
    is_named: bool = True

    def stands_beside(self, before: "_Run") -> bool:
        """Whether this is another table: it names its rows, and is no single column of the one before."""
        is_gapless = self.rows[-1] - self.rows[0] == len(self.rows) - 1
        is_alike = (before.rows[0], before.rows[-1]) == (self.rows[0], self.rows[-1])
        return self.is_named and is_gapless and not (is_alike and 1 in (len(before.columns), len(self.columns)))


def _within(rows: list[Row], columns: Sequence[int]) -> list[Row]:
    kept = ((number, {at: cells[at] for at in columns if at in cells}) for number, cells in rows)
    return [(number, cells) for number, cells in kept if cells]


def _write_table(
    text: CanonicalText, sheet: Sheet, rows: list[Row], captions: list[int | None], *, tight: bool
) -> None:
    """Write the rows of a table under its header, a very wide one part by part; a form is about what it first names."""
    columns = sorted({column for _, cells in rows for column in cells})
    count = _headers(rows, columns)
    is_form = not count and _is_form(rows, columns)
    for part in _bands(rows, columns) if count else [columns]:
        above = [*captions]
        for at, (number, cells) in enumerate(rows):
            said = [column for column in part if column in cells and cells[column].text]
            if not said or (part != columns and said == columns[:1]):
                continue
            words = " | ".join(cells[column].text if column in cells else "" for column in part)
            anchor = address(sheet.name, number, said[0])
            index = text.add("table_row", words, tight=tight, hangs_on=above, anchor=anchor)
            tight = tight or index is not None
            if at < count or (is_form and at == 0):
                above.append(index)
        tight = False


def _bands(rows: list[Row], columns: list[int]) -> Iterator[list[int]]:
    """Yield the columns that are written together, always with the first one; a row needs its header beside it."""
    sample = [cells for _, cells in rows[:_SAMPLE]]
    sizes = {column: _size(sample[0].get(column)) for column in columns}
    for column in columns:
        sizes[column] += sorted(_size(cells.get(column)) for cells in sample[1:])[len(sample) // 2 - 1]
    if sum(sizes.values()) <= _LONGEST_ROW:
        yield columns
        return
    part, size = columns[:1], 0.0
    for column in columns[1:]:
        if len(part) > 1 and size + sizes[column] > _WIDEST_PART:
            yield part
            part, size = columns[:1], 0.0
        part, size = [*part, column], size + sizes[column]
    yield part


def _size(cell: Cell | None) -> float:
    """Return about how many tokens a cell takes; each digit is one."""
    return 1 + (len(cell.text) / 4 + sum(map(str.isdigit, cell.text)) if cell is not None else 0)


def _is_form(rows: list[Row], columns: list[int]) -> bool:
    """Whether rows are labels with values of several kinds, as a form has them, or labels with colons."""
    if len(columns) != 2 or len(rows) < 2 or any(columns[0] not in cells or len(cells) < 2 for _, cells in rows):
        return False
    labels, values = ([cells[column] for _, cells in rows] for column in columns)
    if any(label.typed for label in labels) or values[0].typed:
        return False
    return any(value.typed for value in values) or all(label.text.endswith(COLONS) for label in labels)


def _is_line(cells: dict[int, Cell]) -> bool:
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
