"""Parser of OpenDocument spreadsheets (ods): each sheet a page, its cells as they are shown, dates in ISO 8601.

Hidden sheets, rows and columns, comments and macros are left out and said. Rows and cells that repeat are written as
often as they are shown, within the limits of ``sheets``.
"""

import re
from dataclasses import dataclass, field, replace
from typing import Any

from graph.errors import UnreadableDocument
from tools.parsers.archives import elements_of, forget
from tools.parsers.canonical_text import CanonicalText, Parsed
from tools.parsers.number_formats import plain
from tools.parsers.odf import DRAW, OFFICE, STYLE, TABLE, TEXT, OpenPackage, OpenStyles, one_line, spoken
from tools.parsers.office_package import whole_number
from tools.parsers.sheets import LONGEST_NAME, MOST_CELLS, MOST_COLUMNS, Allowed, Cell, Sheet, write_sheet

_SPREADSHEET, _SHEET, _ROW = f"{OFFICE}spreadsheet", f"{TABLE}table", f"{TABLE}table-row"
_COLUMN, _AUTOMATIC = f"{TABLE}table-column", f"{OFFICE}automatic-styles"
_CELLS = (f"{TABLE}table-cell", f"{TABLE}covered-table-cell")
_SHAPES, _PARAGRAPH = f"{TABLE}shapes", f"{TEXT}p"
_GONE = ("collapse", "filter")
_TIME = re.compile(r"(-?)PT(\d{1,6})H(\d\d?)M(\d\d?)(?:[.,]\d+)?S")


def read(data: bytes) -> Parsed:
    """Parse a spreadsheet.

    Raises UnreadableDocument if it is broken, encrypted, or beyond the limits of archives and of cells.
    """
    package = OpenPackage(data)
    return _Workbook(package).read()


@dataclass(slots=True)
class _Open:
    """The sheet that is being read, and its number of rows and columns so far."""

    sheet: Sheet
    hidden: bool
    row: int = 0
    column: int = 0
    boxes: list[str] = field(default_factory=list)  # the words of its text boxes


class _Workbook:
    def __init__(self, package: OpenPackage) -> None:
        self._package = package
        self._styles: OpenStyles | None = None
        self._hidden_sheets: set[str] = set()
        self._allowed = Allowed()
        self._text = CanonicalText()
        self._left_out = self._text.left_out

    def read(self) -> Parsed:
        index, depth = 0, 0
        found = False
        here: _Open | None = None
        tags = (_SPREADSHEET, _SHEET, _ROW, _COLUMN, _AUTOMATIC, _SHAPES)
        for event, element in elements_of(
            self._package.data("content.xml"), tags, name="content.xml", events=("start", "end")
        ):
            if element.tag == _SPREADSHEET:
                found = True
            elif element.tag == _AUTOMATIC and event == "end":
                self._read_styles(element)
            elif element.tag == _SHEET:
                depth += 1 if event == "start" else -1
                if event == "start" and depth == 1:
                    here = _Open(
                        Sheet((element.get(f"{TABLE}name") or "")[:LONGEST_NAME], index), self._is_hidden(element)
                    )
                    index += 1
                elif event == "end" and depth == 0 and here is not None:
                    self._write(here)
                    here = None
                    forget(element)
            elif event == "end" and depth == 1 and here is not None:
                self._read_part(here, element)
        if not found:
            raise UnreadableDocument(
                "The file is not an OpenDocument spreadsheet.",
                suggestion="Give it the suffix of its own format, or save it again.",
            )
        self._left_out["macro"] += self._package.has_macros
        return replace(self._text.parsed(), title=self._package.title())

    def _read_part(self, here: _Open, element: Any) -> None:
        if element.tag == _COLUMN:
            self._read_column(here, element)
        elif element.tag == _ROW:
            self._read_row(here, element)
            forget(element)
        elif element.tag == _SHAPES:
            self._read_drawn(here, element)

    def _read_styles(self, element: Any) -> None:
        self._styles = OpenStyles(self._package, element.getparent())
        for each in element.iterchildren(f"{STYLE}style"):
            own = each.find(f"{STYLE}table-properties")
            if own is not None and own.get(f"{TABLE}display") == "false":
                self._hidden_sheets.add(each.get(f"{STYLE}name") or "")

    def _is_hidden(self, element: Any) -> bool:
        return element.get(f"{TABLE}style-name") in self._hidden_sheets or element.get(f"{TABLE}display") == "false"

    def _write(self, here: _Open) -> None:
        if here.hidden:
            self._left_out["hidden sheet"] += 1
            return
        write_sheet(self._text, here.sheet, self._allowed, is_drawn_on=bool(here.boxes))
        for words in here.boxes:
            self._text.add("paragraph", words)

    def _read_drawn(self, here: _Open, around: Any) -> None:
        """Keep the words of text boxes and shapes; count pictures and what other programs have drawn."""
        for shape in around.iterdescendants():
            if not isinstance(shape.tag, str) or not shape.tag.startswith(DRAW) or here.hidden:
                continue
            held = {child.tag for child in shape}
            drawn = f"{DRAW}object" in held or f"{DRAW}object-ole" in held
            self._left_out["chart or object"] += drawn
            self._left_out["picture"] += not drawn and f"{DRAW}image" in held
            if self._styles is not None:
                said = (one_line([spoken(each, self._styles).text]) for each in shape.iterchildren(_PARAGRAPH))
                here.boxes += filter(None, said)

    def _read_column(self, here: _Open, element: Any) -> None:
        count = max(1, whole_number(element.get(f"{TABLE}number-columns-repeated"), 1))
        if element.get(f"{TABLE}visibility") in _GONE:
            here.sheet.hidden.append((here.column, here.column + count - 1))
        here.column += count

    def _read_row(self, here: _Open, element: Any) -> None:
        first = here.row
        count = max(1, whole_number(element.get(f"{TABLE}number-rows-repeated"), 1))
        here.row += count
        if here.hidden:
            return
        self._read_drawn(here, element)
        cells = self._cells(here, element, first)
        if not cells:
            return
        if element.get(f"{TABLE}visibility") in _GONE:
            self._left_out["hidden row"] += count
            return
        letters = sum(len(cell.text) for cell in cells.values())
        self._allowed.take(len(cells) * min(count, MOST_CELLS + 1), letters * min(count, MOST_CELLS + 1))
        here.sheet.rows.extend((number, dict(cells)) for number in range(first, first + count))

    def _cells(self, here: _Open, element: Any, row: int) -> dict[int, Cell]:
        cells: dict[int, Cell] = {}
        column = 0
        for each in element.iterchildren(*_CELLS):
            if column >= MOST_COLUMNS:
                break
            count = max(1, whole_number(each.get(f"{TABLE}number-columns-repeated"), 1))
            cell = self._cell(each) if len(each) or each.get(f"{OFFICE}value-type") else None
            if cell is not None and each.tag == _CELLS[0]:
                for at in range(column, min(column + count, MOST_COLUMNS)):
                    if not here.sheet.drops(at):
                        cells[at] = cell
                spans = [whole_number(each.get(f"{TABLE}number-{what}-spanned"), 1) for what in ("rows", "columns")]
                if max(spans) > 1:
                    here.sheet.merged.append((row, column, row + spans[0] - 1, column + spans[1] - 1))
            column += count
        return cells

    def _cell(self, element: Any) -> Cell | None:
        kind = element.get(f"{OFFICE}value-type") or "string"
        self._left_out["comment"] += sum(1 for _ in element.iterchildren(f"{OFFICE}annotation"))
        look = self._styles.look("table-cell", element.get(f"{TABLE}style-name")) if self._styles else None
        bold = look is not None and look.bold
        text = self._moment(element, kind)
        if text is None and self._styles is not None:
            styles = self._styles
            text = one_line(spoken(each, styles).text for each in element.iterchildren(f"{TEXT}p"))
        text = text or _value(element, kind)
        return Cell(text, kind != "string", bold) if text else None

    def _moment(self, element: Any, kind: str) -> str | None:
        if kind == "date":
            moment = (element.get(f"{OFFICE}date-value") or "").replace("T", " ").removesuffix(" 00:00:00")
            return (moment.removesuffix(":00") if moment.count(":") == 2 else moment) or None
        found = _TIME.fullmatch(element.get(f"{OFFICE}time-value") or "") if kind == "time" else None
        if found is None:
            return None
        sign, hours, minutes, seconds = found[1], int(found[2]), int(found[3]), int(found[4])
        return f"{sign}{hours:02}:{minutes:02}" + (f":{seconds:02}" if seconds else "")


def _value(element: Any, kind: str) -> str:
    """Return what a cell holds where it says nothing of how that is shown."""
    if kind == "boolean":
        return (element.get(f"{OFFICE}boolean-value") or "").upper()
    if kind == "string":
        return one_line([element.get(f"{OFFICE}string-value") or ""])
    try:
        return plain(float(element.get(f"{OFFICE}value") or ""))
    except ValueError:
        return ""
