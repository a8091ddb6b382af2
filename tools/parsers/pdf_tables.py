"""Tables of a PDF page: lines whose wide gaps stand above each other."""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

from tools.parsers.pdf_layout import Layout
from tools.parsers.pdf_lines import Line

_WIDE = 1.0  # of the type size: a gap between cells
_LEAST_ROWS = 3
_MOST_LINES = 120
_SIGNS = frozenset("$€£¥%)")


@dataclass(frozen=True, slots=True)
class Table:
    """The rows of a table, all with as many cells.

    ``end`` is the place of the first line after it, ``edges`` are the left edges of its columns.
    """

    rows: list[list[str]]
    end: int
    edges: list[float]
    has_header: bool


class _Part:
    """A stretch of a line between wide gaps."""

    __slots__ = ("text", "x0", "x1")

    def __init__(self, text: str, x0: float, x1: float) -> None:
        self.text, self.x0, self.x1 = text, x0, x1


def find_table(
    lines: list[Line], place: int, layout: Layout, ends: Callable[[int], bool], *, captioned: bool
) -> Table | None:
    """Read the table that begins at a line, or return None if the columns are not clear.

    Columns are clear if no cell of a row with several crosses the gaps between them, and most rows fill several.
    """
    if len(_parts(lines[place])) < 2 or lines[place].fixed:
        return None
    end, rows = place, []
    while end < len(lines) and end - place < _MOST_LINES and (end == place or not ends(end)):
        line = lines[end]
        if end > place:
            distance = lines[end - 1].y - line.y
            if not -0.6 * line.size <= distance <= 3 * layout.leading(line) or line.column != lines[place].column:
                break
        parts = _parts(line)
        if len(parts) < 2 and (line.fixed or not _goes_on(lines, end, layout)):
            break
        rows.append((line, parts))
        end += 1
    columns = _columns([parts for _, parts in rows if len(parts) > 1])
    while rows and len(rows[-1][1]) < 2 and not _in_one(rows[-1][1][0], columns[1:]):
        rows.pop()
    full = [parts for _, parts in rows if len(parts) > 1]
    if len(columns) < 2 or len(full) < (2 if captioned else _LEAST_ROWS) or len(full) < 0.5 * len(rows):
        return None
    cells = [[_cell(parts, column) for column in columns] for _, parts in rows]
    if sum(sum(map(bool, row)) > 1 for row in cells) < 0.5 * len(rows) or _is_prose(cells):
        return None
    return Table(
        _merged([line for line, _ in rows], cells, layout),
        place + len(rows),
        [x0 for x0, _ in columns],
        _has_header(rows, cells),
    )


def _parts(line: Line) -> list[_Part]:
    found: list[_Part] = []
    ends = [*(cell.at for cell in line.cells[1:]), len(line.text)]
    for cell, stop in zip(line.cells, ends, strict=True):
        text = line.text[cell.at : stop].strip()
        if found and (
            cell.x0 - found[-1].x1 < _WIDE * line.size or set(found[-1].text) <= _SIGNS or set(text) <= _SIGNS
        ):
            found[-1].text += " " + text
            found[-1].x1 = cell.x1
        else:
            found.append(_Part(text, cell.x0, cell.x1))
    return found


def _goes_on(lines: list[Line], place: int, layout: Layout) -> bool:
    """Whether the table goes on after a line without gaps: a cell's second line, or a heading between rows."""
    if len(lines[place].text) > 90:
        return False
    for other in range(place + 1, min(place + 3, len(lines))):
        near = 0 < lines[place].y - lines[other].y <= 4 * layout.leading(lines[other])
        if near and len(_parts(lines[other])) > 1:
            return True
    return lines[place - 1].x0 + 2 * lines[place].size < lines[place].x0


def _columns(rows: list[list[_Part]]) -> list[tuple[float, float]]:
    """Return the edges of the columns: the strips that the cells of rows with several cover together."""
    spans = sorted((part.x0, part.x1) for row in rows for part in row)
    columns: list[tuple[float, float]] = []
    for x0, x1 in spans:
        if columns and x0 <= columns[-1][1] + 1:
            columns[-1] = (columns[-1][0], max(columns[-1][1], x1))
        else:
            columns.append((x0, x1))
    return columns


def _in_one(part: _Part, columns: list[tuple[float, float]]) -> bool:
    return any(x0 - 2 <= part.x0 and part.x1 <= x1 + 20 for x0, x1 in columns)


def _cell(parts: list[_Part], column: tuple[float, float]) -> str:
    """Return what of a line stands in a column; what reaches over several stands in the first of them."""
    x0, x1 = column
    return " ".join(part.text for part in parts if x0 - 1 <= part.x0 <= x1 + 1)


def _is_prose(cells: list[list[str]]) -> bool:
    """Whether the columns hold running text, as a page of two columns does."""
    long = sum(len(cell) > 40 for row in cells for cell in row[:1])
    return long > 0.5 * len(cells)


def _merged(lines: list[Line], cells: list[list[str]], layout: Layout) -> list[list[str]]:
    """Join the second lines of cells to their rows: their first column is empty, and they are close to the row."""
    usual = min((above.y - below.y for above, below in pairwise(lines) if above.y - below.y > 1), default=0.0)
    rows: list[list[str]] = []
    for number, (line, row) in enumerate(zip(lines, cells, strict=True)):
        close = number and lines[number - 1].y - line.y <= 1.15 * max(usual, layout.leading(line))
        if rows and close and not row[0] and sum(map(bool, row)) < sum(map(bool, rows[-1])):
            rows[-1] = [_joined(above, cell) for above, cell in zip(rows[-1], row, strict=True)]
        else:
            rows.append(list(row))
    return rows


def _joined(above: str, below: str) -> str:
    if above[-1:] == "-" and above[-2:-1].isalpha() and below[:1].islower():
        return above[:-1] + below
    return f"{above} {below}".strip()


def _has_header(rows: list[tuple[Line, list[_Part]]], cells: list[list[str]]) -> bool:
    """Whether the first row differs from the others: in type, as capitals above small letters, words above numbers."""
    if len(rows) < _LEAST_ROWS or sum(map(bool, cells[0])) < 2:
        return False
    first, rest = rows[0][0], [line for line, _ in rows[1:]]
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
