"""Parser of Excel workbooks (xlsx): each sheet a page, its cells as they are shown, its tables with their headers.

Formulas are read as their stored results and never computed. Hidden sheets, rows and columns are left out and said.
"""

import re
from bisect import insort
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from typing import Any

from lxml import etree

from tools.parsers.archives import elements_of, forget
from tools.parsers.canonical_text import CanonicalText, Parsed, told
from tools.parsers.number_formats import BUILT_IN, shown, shown_text
from tools.parsers.office_charts import CHART, Drawings
from tools.parsers.office_flow import Flow, Paragraph, Table
from tools.parsers.office_package import DRAWING, FALLBACK, REL, Package, open_package, whole_number
from tools.parsers.raised_text import LOWERED, RAISED, ShiftedText
from tools.parsers.sheets import LONGEST_NAME, MOST_COLUMNS, Allowed, Cell, Sheet, write_sheet

_NS = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
_V, _IS, _F, _T, _R, _ALIGN = (_NS + tag for tag in ("v", "is", "f", "t", "r", "rPr/" + _NS + "vertAlign"))
_SHIFTS = {"superscript": RAISED, "subscript": LOWERED}
_TEXT_BOX = "{http://schemas.openxmlformats.org/drawingml/2006/spreadsheetDrawing}txBody"
_REFERENCE = re.compile(r"([A-Z]{1,3})(\d{1,7})")
_TRUE = ("1", "true")
_ESCAPED = re.compile(r"_x([0-9A-Fa-f]{4})_")


def read(data: bytes) -> Parsed:
    """Parse a workbook.

    Raises UnreadableDocument if it is broken, encrypted, or beyond the limits of archives and of cells.
    """
    package = open_package(data, f"{_NS}workbook", "an Excel workbook")
    return _Workbook(package).read()


class _Workbook:
    def __init__(self, package: Package) -> None:
        self._package = package
        book: Any = package.xml(package.main)
        self._book = book
        self._related = package.related(package.main)
        self._allowed = Allowed()
        properties = book.find(f"{_NS}workbookPr")
        self._since_1904 = properties is not None and properties.get("date1904") in _TRUE
        self._strings = self._shared()
        self._styles = dict(enumerate(self._formats()))
        self._text = CanonicalText()
        self._left_out = self._text.left_out
        self._lost = 0
        self._drawings = Drawings(package, self._left_out)

    def read(self) -> Parsed:
        text = self._text
        for index, sheet in enumerate(self._book.iter(f"{_NS}sheet")):
            target = self._related.get(sheet.get(f"{{{REL}}}id") or "")
            if target is None or target.kind not in ("worksheet", "chartsheet"):
                continue
            if (sheet.get("state") or "visible") != "visible":
                self._left_out["hidden sheet"] += 1
                continue
            read = self._sheet((sheet.get("name") or "")[:LONGEST_NAME], index, target.target)
            drawn = self._drawn_on(target.target)
            write_sheet(text, read, self._allowed, is_drawn_on=bool(drawn))
            flow = Flow(text)
            for each in drawn:  # behind the cells, which charts are of
                flow.paragraph(each)
            flow.end()
        self._left_out["macro"] += self._package.has_macros
        lost = " words that the file does not hold."
        warnings = told(self._lost, f"1 cell names{lost}", f"{{}} cells name{lost}")
        return replace(text.parsed(), title=self._package.title(), warnings=warnings)

    def _shared(self) -> list[str]:
        allowed = Allowed()
        found: list[str] = []
        target = self._package.target(self._package.main, "sharedStrings")
        if target not in self._package:  # a workbook of numbers alone needs none
            return found
        for item in self._elements(target, (f"{_NS}si",)):
            found.append(_words(item))
            allowed.take(1, len(found[-1]))
        return found

    def _elements(self, part: str, tags: tuple[str, ...]) -> Iterator[Any]:
        """Yield elements of a part one by one, and forget them."""
        for _, element in elements_of(self._package.data(part), tags, name=part):
            yield element
            forget(element)

    def _formats(self) -> Iterator[tuple[str, bool]]:
        """Yield the number format of each cell style, and whether it is bold."""
        root = self._package.part(self._package.main, "styles")
        if root is None:
            return
        codes = dict(BUILT_IN)
        for each in root.iter(f"{_NS}numFmt"):
            codes[whole_number(each.get("numFmtId"), -1)] = each.get("formatCode") or "General"
        fonts = enumerate(root.iterfind(f"{_NS}fonts/{_NS}font"))
        bold = {at for at, font in fonts if any(b.get("val", "1") in _TRUE for b in font.iterchildren(f"{_NS}b"))}
        for each in root.iterfind(f"{_NS}cellXfs/{_NS}xf"):
            yield codes.get(whole_number(each.get("numFmtId")), "General"), whole_number(each.get("fontId")) in bold

    def _sheet(self, name: str, index: int, part: str) -> Sheet:
        sheet = Sheet(name, index)
        row_tag, column_tag, merged_tag = f"{_NS}row", f"{_NS}col", f"{_NS}mergeCell"
        number = -1
        for element in self._elements(part, (row_tag, column_tag, merged_tag)):
            if element.tag == row_tag:
                number = max(number + 1, whole_number(element.get("r")) - 1)
                if element.get("hidden") in _TRUE:
                    self._left_out["hidden row"] += len(element) > 0
                    continue
                if cells := self._row(element, sheet):
                    sheet.rows.append((number, cells))
            elif element.tag == column_tag:
                if element.get("hidden") in _TRUE:
                    insort(sheet.hidden, (whole_number(element.get("min")) - 1, whole_number(element.get("max")) - 1))
            else:
                sheet.merged.extend(_area(element.get("ref") or ""))
        comments = self._package.part(part, "comments")
        self._left_out["comment"] += 0 if comments is None else sum(1 for _ in comments.iter(f"{_NS}comment"))
        return sheet

    def _row(self, element: Any, sheet: Sheet) -> dict[int, Cell]:
        cells: dict[int, Cell] = {}
        column = -1
        for each in element:
            reference = _REFERENCE.fullmatch(each.get("r") or "")
            column = _column(reference[1]) if reference else column + 1
            if column >= MOST_COLUMNS:
                break
            if (cell := self._cell(each)) is not None and not sheet.drops(column):
                self._allowed.take(1, len(cell.text))
                cells[column] = cell
        return cells

    def _cell(self, element: Any) -> Cell | None:
        kind = element.get("t") or "n"
        code, bold = self._styles.get(whole_number(element.get("s")), ("General", False))
        if kind == "inlineStr":
            inline = element.find(_IS)
            return self._text_cell(_words(inline), bold, code) if inline is not None else None
        value = element.findtext(_V)
        if value is None or not value.strip():
            if element.find(_F) is None or kind == "str":
                return None
            self._left_out["formula"] += 1
            return Cell("", True)
        if kind == "s":
            at = whole_number(value, -1)
            if 0 <= at < len(self._strings):
                return self._text_cell(self._strings[at], bold, code)
            self._lost += 1
            return None
        if kind == "b":
            return Cell("TRUE" if value.strip() in _TRUE else "FALSE", True, bold)
        if kind == "d":
            return Cell(value.strip().replace("T", " "), True, bold)
        try:
            number = float(value) if kind == "n" else None
        except ValueError:
            number = None
        if number is None:  # a formula's words, or its error such as #DIV/0!
            return self._text_cell(_unescaped(value), bold, code)
        said = shown(number, code, since_1904=self._since_1904)
        self._left_out["value that its number format hides"] += not said
        return Cell(said, True, bold) if said else None

    def _text_cell(self, words: str, bold: bool, code: str) -> Cell | None:
        said = " ".join(words.split())
        shown = " ".join(shown_text(said, code).split()) if said else ""
        self._left_out["value that its number format hides"] += bool(said and not shown)
        return Cell(shown, False, bold) if shown else None

    def _drawn_on(self, part: str) -> list[Paragraph]:
        """Return the text boxes, diagrams and titles of charts over a sheet."""
        drawn: list[Paragraph] = []
        for target in self._package.related(part).values():
            root = self._package.xml(target.target) if target.kind == "drawing" else None
            if root is None:
                continue
            walker = etree.iterwalk(root, events=("start",))
            for _, element in walker:
                if element.tag == FALLBACK:
                    walker.skip_subtree()
                elif element.tag == _TEXT_BOX:
                    drawn += [Paragraph(" ".join(_drawn(each).split())) for each in element.iterchildren(f"{DRAWING}p")]
                else:
                    read = self._drawings.read(element, target.target)
                    self._left_out["titled chart"] += element.tag == CHART and bool(read)
                    drawn += [Paragraph(each.caption) if isinstance(each, Table) else each for each in read]
        return drawn


def _words(item: Any) -> str:
    """Return the words of a string: its runs, without how they are pronounced, raised ones apart."""
    line = ShiftedText()
    for each in item:
        if each.tag == _R:
            align = each.find(_ALIGN)
            line.say(each.findtext(_T) or "", _SHIFTS.get(align.get("val") or "", 0) if align is not None else 0)
        elif each.tag == _T:
            line.say(each.text or "")
    return _unescaped(line.text)


def _drawn(paragraph: Any) -> str:
    line = ShiftedText()
    for run in paragraph:
        own = run.find(f"{DRAWING}rPr")
        shift = whole_number(own.get("baseline")) if own is not None else 0
        line.say(run.findtext(f"{DRAWING}t") or " ", RAISED if shift > 0 else LOWERED if shift < 0 else 0)
    return line.text


def _unescaped(words: str) -> str:
    return _ESCAPED.sub(lambda found: chr(int(found[1], 16)), words) if "_x" in words else words


def _column(letters: str) -> int:
    column = 0
    for letter in letters:
        column = 26 * column + ord(letter) - 64
    return column - 1


def _area(reference: str) -> Iterator[tuple[int, int, int, int]]:
    corners = [_REFERENCE.fullmatch(each) for each in islice(reference.split(":"), 2)]
    first, last = corners if len(corners) == 2 else (None, None)
    if first is not None and last is not None:
        yield int(first[2]) - 1, _column(first[1]), int(last[2]) - 1, _column(last[1])
