"""Tables of a PDF page: lines whose wide gaps stand above each other."""

import math
import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from tools.parsers.pdf_layout import Layout
from tools.parsers.pdf_lines import Line

_WIDE = 1.0  # of the type size: a gap between cells
_LEAST_ROWS = 3
_MOST_LINES = 120
_MOST_IN_CELL = 12  # lines
_IN_CELL = 1.4  # of the usual distance: between the lines of a cell
_TALLEST = 8  # of the type size: how far above a cell the one beside it begins
_BESIDE = 0.5  # of the type size: between cells of several lines
_ALIKE = 0.8  # of the type size: cells of a row, not the parts of a formula
_SOME_FIXED = 0.4
_SIGNS = frozenset("$€£¥%)")
_SENTENCE_ENDS = frozenset(".:;!?。：；！？")
_ITEM = re.compile(r"\(?(?:\d{1,3}|[A-Za-z])[.)]|[^\w\s]")


@dataclass(frozen=True, slots=True)
class Table:
    """The rows of a table, all with as many cells.

    ``end`` is the place of the first line after it, ``columns`` are the left and right edges of its columns.
    """

    rows: list[list[str]]
    end: int
    columns: list[tuple[float, float]]
    has_header: bool


@dataclass(slots=True)
class _Part:
    text: str
    x0: float
    x1: float


@dataclass(slots=True)
class _Row:
    """A row: what stands in its lines in the file's order, and the place after them.

    ``weight`` is how many lines speak for or against a table: one, if the file writes it cell by cell.
    """

    lines: list[Line]
    parts: list[_Part]
    bottom: float
    end: int
    weight: int = 1


def find_more_rows(
    lines: list[Line], place: int, layout: Layout, ends: Callable[[int], bool], columns: list[tuple[float, float]]
) -> Table | None:
    """Read the rows with which a table of the page before goes on in its columns, or return None."""
    rows = _rows(lines, place, layout, ends, 0.0, inside=columns[1:])
    fits = [all(sum(x0 < part.x1 and part.x0 < x1 for x0, x1 in columns) == 1 for part in row.parts) for row in rows]
    rows = rows[: [*fits, False].index(False)]
    cells = [_cells(row.parts, columns) for row in rows]
    if not any(sum(map(bool, row)) > 1 for row in cells):
        return None
    has_header = rows[0].lines[0].bold and not all(row.lines[0].bold for row in rows)
    return Table(_merged(rows, cells, layout), rows[-1].end, columns, has_header)


def find_table(
    lines: list[Line], place: int, layout: Layout, ends: Callable[[int], bool], *, captioned: bool
) -> Table | None:
    """Read the table that begins at a line, or return None if the columns are not clear.

    Columns are clear if no cell of a row with several crosses the gaps between them, and most rows fill several.
    """
    if len(lines[place].cells) < 2 and not _goes_up(lines, place):  # most lines begin no table
        return None
    rows = _rows(lines, place, layout, ends, _WIDE)
    columns = _columns(rows)
    full, weight = [row for row in rows if len(row.parts) > 1], sum(row.weight for row in rows)
    clear = len(columns) > 1 and len(full) >= (2 if captioned else _LEAST_ROWS) and len(full) >= 0.5 * weight
    cells = [_cells(row.parts, columns) for row in rows] if clear else []
    if not clear or sum(sum(map(bool, row)) > 1 for row in cells) < 0.5 * weight or _is_prose(rows, cells):
        rows = _close_rows(lines, place, layout, ends)
        columns, cells = [], []
    for row in rows:  # columns may be close to each other, if their gaps are below each other
        row.parts = [part for line in row.lines for part in _parts(line, 0.0)]
    finer = _columns(rows, _WIDE)
    if len(finer) > len(columns) or not cells:
        columns, cells = finer, [_cells(row.parts, finer) for row in rows]
    return Table(_merged(rows, cells, layout), rows[-1].end, columns, _has_header(rows, cells)) if rows else None


def _close_rows(lines: list[Line], place: int, layout: Layout, ends: Callable[[int], bool]) -> list[_Row]:
    """Return the rows of a table whose columns are all close to each other: each row has the same gaps."""
    first = lines[place]
    is_full = layout.right > 0 and first.x1 > layout.right - 2
    if is_full or first.fixed_share >= _SOME_FIXED or min(len(line.cells) for line in lines[place : place + 2]) < 2:
        return []
    rows = _rows(lines, place, layout, ends, 0.0)
    rows = rows[: next((at for at, row in enumerate(rows) if len(row.parts) < 2), len(rows))]
    counts = Counter(len(row.parts) for row in rows)
    reaching = sum(layout.right > 0 and row.lines[0].x1 > layout.right - 2 for row in rows)
    if len(rows) < _LEAST_ROWS or reaching or counts[len(_columns(rows, _WIDE))] < 0.8 * len(rows):
        return []  # prose with wide spaces
    return rows


def _rows(
    lines: list[Line],
    place: int,
    layout: Layout,
    ends: Callable[[int], bool],
    wide: float,
    inside: Sequence[tuple[float, float]] = (),
) -> list[_Row]:
    """Return the rows from a line on, up to what is no row of the same table; the first may be ``inside`` a column."""
    rows: list[_Row] = []
    end = place
    while end < len(lines) and end - place < _MOST_LINES and (end == place or not ends(end)):
        line = lines[end]
        distance = rows[-1].bottom - line.y if rows else 0.0
        if not -0.6 * line.size <= distance <= 3 * layout.leading(line) or line.column != lines[place].column:
            break
        row = _row(lines, end, layout, ends, wide)
        single = len(row.parts) < 2
        of_list = _is_item(row.parts) and not (rows and _in_one(row.parts[1], _columns(rows)[1:]))
        if of_list or (line.fixed and (single or not rows)):
            break
        is_part = not single or _in_one(row.parts[0], _columns(rows)[1:] if rows else inside)
        if not is_part and not (rows and _is_heading(rows, row, lines, layout)):
            break
        rows.append(row)
        end = row.end
    return rows


def _row(lines: list[Line], place: int, layout: Layout, ends: Callable[[int], bool], wide: float) -> _Row:
    """Read the lines of a row: those of one cell stand below each other, and those of the next begin beside them."""
    first = lines[place]
    row = _Row([first], _parts(first, wide), first.y, place + 1)
    left, right = row.parts[-2].x1 if len(row.parts) > 1 else -math.inf, row.parts[-1].x1
    last = row.parts[-1]
    if left == -math.inf and not _goes_up(lines, place):
        return row  # no cell beside it: its own lines are rows
    for end in range(place + 1, min(len(lines), place + (_MOST_IN_CELL if left == -math.inf else _MOST_LINES))):
        line, distance = lines[end], lines[end - 1].y - lines[end].y
        below = left < line.x0 < right and 0 < distance <= _IN_CELL * layout.leading(line)
        beside = line.x0 > right + _BESIDE * line.size and -_TALLEST * line.size < distance < -0.3 * line.size
        alike = (
            line.column == first.column and line.fixed == first.fixed and _ALIKE < line.size / first.size < 1 / _ALIKE
        )
        if not (below or beside) or not alike or ends(end):
            break
        found = _parts(line, wide)
        if below and (
            (left == -math.inf and len(found) > 1)
            or _is_item(found)
            or (_numeric(found[0].text) and _numeric(last.text))
        ):
            break
        left = found[-2].x1 if len(found) > 1 else right if beside else left
        right = max(right, found[-1].x1) if below and len(found) == 1 else found[-1].x1
        last = found[-1]
        if left > -math.inf:  # a first cell of several lines is known by the one beside it
            row.weight = 1 if beside or row.weight == 1 < end - place else end + 1 - place
            row.lines, row.end = lines[place : end + 1], end + 1
    if len(row.lines) > 1:
        row.parts = [part for line in row.lines for part in _parts(line, wide)]
        row.bottom = min(line.y for line in row.lines)
    return row


def _goes_up(lines: list[Line], place: int) -> bool:
    """Whether one of the next lines stands above the one before it, as the second cell of a row does."""
    y = lines[place].y
    for line in lines[place + 1 : place + _MOST_IN_CELL]:
        if line.y > y:
            return True
        y = line.y
    return False


def _parts(line: Line, wide: float = _WIDE) -> list[_Part]:
    found: list[_Part] = []
    ends = [*(cell.at for cell in line.cells[1:]), len(line.text)]
    wide = _WIDE if line.fixed_share >= _SOME_FIXED else wide
    for cell, stop in zip(line.cells, ends, strict=True):
        text = line.text[cell.at : stop].strip()
        if found and (
            cell.x0 - found[-1].x1 < wide * line.size or set(found[-1].text) <= _SIGNS or set(text) <= _SIGNS
        ):
            found[-1].text += " " + text
            found[-1].x1 = cell.x1
        else:
            found.append(_Part(text, cell.x0, cell.x1))
    return found


def _is_heading(rows: list[_Row], row: _Row, lines: list[Line], layout: Layout) -> bool:
    """Whether a line without gaps is a heading between rows or a first cell's line, and not text between two tables."""
    below = lines[row.end] if row.end < len(lines) else row.lines[0]
    following = _Row([below], _parts(below), 0.0, 0)
    columns, part = _columns(rows), row.parts[0]
    if len(following.parts) < 2 or not 0 < row.bottom - below.y <= 3 * layout.leading(below):
        return False
    crosses = sum(x0 < part.x1 and part.x0 < x1 for x0, x1 in columns) > 1
    left = part.x0 < columns[0][0] - 2
    if not crosses and not left:
        return True
    fits = len(_columns([*rows, following])) >= len(columns)
    return fits and not (crosses and left) and part.text[-1] not in _SENTENCE_ENDS


def _is_item(parts: list[_Part]) -> bool:
    return len(parts) == 2 and _ITEM.fullmatch(parts[0].text) is not None


def _columns(rows: list[_Row], close: float = 0.0) -> list[tuple[float, float]]:
    """Return the edges of the columns, which a title over several of them in the first rows may cross.

    A gap that is not as wide as ``close`` must be one of many rows.
    """
    full = [row.parts for row in rows if len(row.parts) > 1]
    if not full:
        return []
    close *= rows[0].lines[0].size
    skips = range(max(1, min(3, len(full) - 2)))
    return max((_strips(full[skip:], math.inf if skip else close) for skip in skips), key=len)


def _strips(rows: list[list[_Part]], wide: float) -> list[tuple[float, float]]:
    """Return the strips that the parts of rows cover together; a gap that is not wide must be one of many rows."""
    columns: list[tuple[float, float]] = []
    for x0, x1 in sorted((part.x0, part.x1) for row in rows for part in row):
        if columns and x0 <= columns[-1][1] + 1:
            columns[-1] = (columns[-1][0], max(columns[-1][1], x1))
        else:
            columns.append((x0, x1))
    for at in range(len(columns) - 1, 0, -1):
        before, after = columns[at - 1 : at + 1]
        if after[0] - before[1] < wide:
            sides = [{part.x0 > before[1] for part in row if before[0] <= part.x0 <= after[1]} for row in rows]
            if sum(len(side) > 1 for side in sides) < max(2, 0.5 * len(rows)):
                columns[at - 1 : at + 1] = [(before[0], after[1])]
    return columns


def _in_one(part: _Part, columns: Sequence[tuple[float, float]]) -> bool:
    return any(x0 - 2 <= part.x0 and part.x1 <= x1 + 20 for x0, x1 in columns)


def _cells(parts: list[_Part], columns: list[tuple[float, float]]) -> list[str]:
    """Return what of a row stands in each column; what reaches over several stands in the first of them."""
    cells = [""] * len(columns)
    for part in parts:
        at = next((at for at, (_, x1) in enumerate(columns) if part.x0 <= x1 + 1), -1)
        cells[at] = _joined(cells[at], part.text)
    return cells


def _is_prose(rows: list[_Row], cells: list[list[str]]) -> bool:
    """Whether the columns hold running text, as a page of two columns does."""
    long = sum(len(row.parts[0].text) > 40 and bool(first) for row, (first, *_) in zip(rows, cells, strict=True))
    return long > 0.5 * len(cells)


def _merged(rows: list[_Row], cells: list[list[str]], layout: Layout) -> list[list[str]]:
    """Join the second lines of cells to their rows: their first column is empty, and they are close to the row."""
    distances = [0.0, *(above.bottom - row.lines[0].y for above, row in pairwise(rows))]
    usual = min((distance for distance in distances if distance > 1), default=0.0)
    merged: list[list[str]] = []
    for row, distance, found in zip(rows, distances, cells, strict=True):
        above = merged[-1] if merged else []
        close = distance <= 1.15 * max(usual, layout.leading(row.lines[0]))
        if above and close and is_rest_of_row(above, found):
            merged[-1] = [_joined(cell, more) for cell, more in zip(above, found, strict=True)]
        else:
            merged.append(found)
    return merged


def is_rest_of_row(above: list[str], below: list[str]) -> bool:
    """Whether cells go on with those of the row above: without a first one, and not below a number."""
    counted = any(_numeric(cell) and more for cell, more in zip(above, below, strict=True))
    return not below[0] and not counted and sum(map(bool, below)) < sum(map(bool, above))


def _joined(above: str, below: str) -> str:
    if above[-1:] == "-" and above[-2:-1].isalpha() and below[:1].islower():
        return above[:-1] + below
    return f"{above} {below}".strip()


def _has_header(rows: list[_Row], cells: list[list[str]]) -> bool:
    """Whether the first row differs from the others: in type, as capitals above small letters, words above numbers."""
    if len(rows) < _LEAST_ROWS or sum(map(bool, cells[0])) < 2:
        return False
    first, rest = rows[0].lines[0], [row.lines[0] for row in rows[1:]]
    if (first.bold and not rest[0].bold) or (not first.lead and sum(line.lead > 0 for line in rest) > 0.7 * len(rest)):
        return True
    if first.lead and not first.bold:
        return False
    capitals = all(cell[0].isupper() and len(cell) <= 40 for cell in cells[0] if cell)
    if capitals and sum(not row[0][:1].isupper() for row in cells[1:] if row[0]) > 0.6 * len(rest):
        return True
    numbers = [sum(_numeric(cell) for cell in row) for row in cells]
    return not numbers[0] and sum(number > 0 for number in numbers[1:]) > 0.6 * len(rest)


def _numeric(cell: str) -> bool:
    return any(letter.isdigit() for letter in cell) and not any(letter.isalpha() for letter in cell)
