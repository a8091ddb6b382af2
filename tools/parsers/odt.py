"""Parser of OpenDocument texts and presentations (odt, odp): as Word documents and PowerPoint presentations are read.

Deleted, hidden and struck-out text, comments, pictures, hidden slides and macros are left out and said.
"""

import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain
from typing import Any

from graph.errors import UnreadableDocument
from tools.parsers.archives import xml_of
from tools.parsers.canonical_text import CanonicalText, Parsed
from tools.parsers.odf import (
    CHART,
    DRAW,
    HREF,
    OFFICE,
    PRESENTATION,
    SHAPES,
    SVG,
    TABLE,
    TEXT,
    ListLevel,
    Look,
    OpenPackage,
    OpenStyles,
    is_drawn,
    one_line,
    points,
    spoken,
)
from tools.parsers.office_flow import Flow, Paragraph, Role, Spoken, Table, TableCell, TableRow
from tools.parsers.office_formulas import said_mathml
from tools.parsers.office_package import whole_number
from tools.parsers.pptx import NOTES
from tools.parsers.shape_order import Place, around, as_seen

_P, _H, _LIST, _TABLE = f"{TEXT}p", f"{TEXT}h", f"{TEXT}list", f"{TABLE}table"
_ITEMS = (f"{TEXT}list-item", f"{TEXT}list-header")
_INDEXES = frozenset(
    [
        f"{TEXT}table-of-content",
        *(f"{TEXT}{kind}-index" for kind in ("illustration", "table", "object", "user", "alphabetical")),
    ]
)
_WRAPPERS = SHAPES.union(
    TEXT + tag for tag in ("section", "index-body", "index-title", "bibliography", "numbered-paragraph")
)
_ROWS = frozenset(TABLE + tag for tag in ("table-header-rows", "table-rows", "table-row-group"))
_DEEPEST = 12  # tables and text boxes within each other
_WIDEST = 100
_TRUE = "true"
_MATH = "{http://www.w3.org/1998/Math/MathML}math"
_FRAME = f"{DRAW}frame"
_DOCUMENT_TYPE = re.compile(rb"<!DOCTYPE[^\[>]*>")  # that OpenOffice declared for formulas, without entities


def read(data: bytes) -> Parsed:
    """Parse a text document. Raises UnreadableDocument if it is broken, encrypted, or beyond the limits of archives."""
    package = OpenPackage(data)
    root, body = package.body("text", "an OpenDocument text")
    reader = _Reader(package, root)
    reader.read_edges("header")
    reader.read(body)
    reader.flow.end()
    reader.flow.text.leave_headings()
    reader.read_edges("footer")
    return reader.flow.text.parsed(title=reader.flow.title or package.title())


def read_slides(data: bytes) -> Parsed:
    """Parse a presentation. Raises as ``read``."""
    package = OpenPackage(data)
    root, body = package.body("presentation", "an OpenDocument presentation")
    reader = _Reader(package, root)
    title = None
    for index, slide in enumerate(body.iterchildren(f"{DRAW}page")):
        own = reader.read_slide(index, slide)
        title = own if index == 0 else title
    return reader.flow.text.parsed(title=package.title() or title)


@dataclass(slots=True)
class _List:
    """An open list: its levels, how far they have counted, and how deep it is, from 1."""

    levels: dict[int, ListLevel]
    counts: dict[int, int]
    depth: int
    list_id: str
    in_item: bool = False
    begun: bool = False  # whether the open item has words
    start: int | None = None
    named: bool = True  # whether a style of its own says its levels


class _Reader:
    def __init__(self, package: OpenPackage, root: Any) -> None:
        self.flow = Flow(CanonicalText())
        self._package = package
        self._styles = OpenStyles(package, root)
        self._left_out = self.flow.text.left_out
        self._left_out["macro"] += package.has_macros
        self._objects: set[str] = set()  # that have been read
        self._footers = {each.get(f"{PRESENTATION}name"): each.text for each in root.iter(f"{PRESENTATION}footer-decl")}
        self._charts: list[Table] = []  # of the paragraph that is being read
        self._typed_notes = frozenset(self._raised_starts(root))
        self._anchor = ""
        self._outline: dict[int, int] = {}
        self._counts: dict[str, dict[int, int]] = {}  # of lists by their ids and styles, which later ones go on with

    def read_slide(self, index: int, slide: Any) -> str | None:
        """Write a slide, its title first wherever it stands among the shapes; return its title."""
        style = slide.get(f"{DRAW}style-name")
        if self._styles.of_slides(style, "visibility") == "hidden":
            self._left_out["hidden slide"] += 1
            return None
        self.flow.text.page_idx = index
        self.flow.text.leave_headings()
        shapes = [each for each in slide if each.get(f"{PRESENTATION}placeholder") != _TRUE]
        titles = _in_order([each for each in shapes if each.get(f"{PRESENTATION}class") == "title"])
        titled = next(titles, None)  # further ones are text: templates call any frame a title
        title = one_line(self._words(each).text for each in titled.iter(_P)) if titled is not None else ""
        if title:
            self.flow.paragraph(Paragraph(title, "heading", 1))
        self._left_out["comment"] += sum(shape.tag == f"{OFFICE}annotation" for shape in shapes)
        for shape in _in_order(each for each in shapes if each is not titled):
            kind = shape.get(f"{PRESENTATION}class")
            if kind in ("footer", "header"):
                self.flow.running(one_line(self._words(each).text for each in shape.iter(_P)))
            elif kind not in ("date-time", "page-number"):
                self.read((shape,))
        if self._styles.of_slides(style, "display-footer") == _TRUE:
            self.flow.running(self._footers.get(slide.get(f"{PRESENTATION}use-footer-name")) or "")
        self.flow.end()
        for notes in slide.iterchildren(f"{PRESENTATION}notes"):
            self._read_notes(notes)
        return title or None

    def _read_notes(self, notes: Any) -> None:
        frames = [each for each in notes if each.get(f"{PRESENTATION}class") == "notes"]
        if any("".join(frame.itertext()).strip() for frame in frames):
            with self.flow.labelled(NOTES):
                self.read(frames)

    def read_edges(self, kind: str) -> None:
        """Write the running heads or feet, each distinct text once."""
        for paragraph in self._styles.running(kind):
            self.flow.running(self._words(paragraph).text)
        self.flow.end()

    def read(self, container: Any) -> None:
        for part in self._parts(container, 0):
            self.flow.add(part)

    def _parts(
        self, container: Any, depth: int, inside: _List | None = None, *, contents: bool = False
    ) -> Iterator[Paragraph | Table]:
        """Yield what is in a body, a list, a cell or a text box, which hold each other."""
        for child in container:
            tag = child.tag
            if tag in (_P, _H):
                yield from self._paragraph_parts(child, inside, depth, contents=contents)
            elif tag == _LIST:
                yield from self._parts(child, depth, self._list(child, inside), contents=contents)
            elif tag in _ITEMS and inside is not None:
                inside.in_item, inside.begun = tag == _ITEMS[0], False
                start = child.get(f"{TEXT}start-value")
                inside.start = whole_number(start, 1) if start is not None else None
                yield from self._parts(child, depth, inside, contents=contents)
            elif tag == _TABLE:
                yield from self._table_parts(child, depth) if depth < _DEEPEST else ()
            elif tag in _INDEXES:
                yield from self._parts(child, depth, contents=True)
            elif is_drawn(child):
                yield Paragraph(self._drawn(child) or "")
                yield from self._taken_charts()
            elif tag in _WRAPPERS and child.get(f"{TEXT}display") == "none":
                self._left_out["passage"] += 1
            elif tag in _WRAPPERS:
                yield from self._parts(child, depth, inside, contents=contents)
            else:
                self._left_out["passage"] += sum(1 for _ in child.iter(f"{TEXT}deletion"))
                self._left_out["comment"] += tag == f"{OFFICE}annotation"

    def _raised_starts(self, root: Any) -> Iterator[str]:
        """Yield the raised marks that paragraphs begin with: notes that were typed by hand."""
        for span in root.iter(f"{TEXT}span"):
            mark, above = (span.text or "").strip(" ()[]"), span.getparent()
            if mark.isdigit() and above.tag == _P and above[0] is span and not (above.text or "").strip():
                follows = f"{(span.text or '')[-1]}{span.tail or ''}".lstrip("0123456789()[]")
                if follows[:1].isspace() and self._styles.look("text", span.get(f"{TEXT}style-name")).shift > 0:
                    yield mark

    def _drawn(self, frame: Any) -> str | None:
        """Return the line of a frame's formula; keep its chart for what follows, count its picture."""
        element = frame.find(f"{DRAW}object")
        name = (element.get(HREF) or "").removeprefix("./").rstrip("/") if element is not None else ""
        inside = element if element is not None else ()
        root = next((each for each in inside if each.tag in (f"{OFFICE}document", _MATH)), None)
        if root is None and name and name not in self._objects:
            self._objects.add(name)
            with suppress(UnreadableDocument):  # it is counted as a picture then
                root = xml_of(_DOCUMENT_TYPE.sub(b"", self._package.data(f"{name}/content.xml"), count=1))
        if root is not None and root.tag == _MATH:
            return said_mathml(self.flow.text, root)
        chart = root.find(f"{OFFICE}body/{OFFICE}chart/{CHART}chart") if root is not None else None
        figures = chart.find(_TABLE) if chart is not None else None
        if chart is None or figures is None:
            self._left_out["picture"] += 1
            return None
        before, self._charts = self._charts, []
        table = self._table(figures, list(_rows(figures)), _DEEPEST)
        table.caption = ", ".join(filter(None, (one_line(title.itertext()) for title in chart.iter(f"{CHART}title"))))
        for cell in (cell for row in table.rows for cell in row.cells if cell.text == "NaN"):
            cell.text = ""
        self._charts = [*before, table]
        return None

    def _taken_charts(self) -> list[Table]:
        charts, self._charts = self._charts, []
        return charts

    def _list(self, element: Any, around: _List | None) -> _List:
        name = element.get(f"{TEXT}style-name") or ""
        levels = self._styles.lists.get(name)
        if around is not None:
            own = around.levels if levels is None else levels
            return _List(
                own, around.counts, min(around.depth + 1, 100), around.list_id, named=around.named or bool(levels)
            )
        goes_on = element.get(f"{TEXT}continue-list") or ""
        counts: dict[int, int] = {}
        if element.get(f"{TEXT}continue-numbering") == _TRUE:
            goes_on = name
        if goes_on:
            counts = self._counts.get(goes_on, counts)
        identity = element.get("{http://www.w3.org/XML/1998/namespace}id") or ""
        self._counts[identity] = self._counts[name] = counts
        return _List(levels or {}, counts, 1, name if goes_on else "", named=levels is not None)

    def _words(self, paragraph: Any, *, is_bold: bool = False) -> Spoken:
        said = spoken(paragraph, self._styles, is_bold=is_bold, typed_notes=self._typed_notes, drawn=self._drawn)
        self._left_out["passage"] += said.gone
        self._left_out["comment"] += said.comments
        return said

    def _paragraph_parts(
        self, element: Any, inside: _List | None, depth: int, *, contents: bool
    ) -> Iterator[Paragraph | Table]:
        look = self._styles.look("paragraph", element.get(f"{TEXT}style-name"))
        words = self._words(element, is_bold=look.bold)
        if element.tag == _H:
            self._anchor = ""
        self._anchor = words.anchor or self._anchor
        if look.hidden or look.struck:
            self._left_out["passage"] += bool(words.text.strip())
        else:
            yield self._paragraph(element, words, look, inside, "contents" if contents else look.role)
        for box in words.boxes if depth < _DEEPEST else ():
            yield from self._parts((box,), depth + 1)
        yield from self._taken_charts()

    def _paragraph(self, element: Any, words: Spoken, look: Look, inside: _List | None, role: Role) -> Paragraph:
        text = words.text if role == "code" else " ".join(words.text.split())
        paragraph = Paragraph(text, role, anchor=self._anchor, notes=self._notes(words), of_table=look.of_table,
                              letters=words.letters, bold=words.bold)  # fmt: skip
        if not text.strip():
            return paragraph
        if element.tag == _H and role not in ("title", "contents"):
            paragraph.role = "heading"
            paragraph.level = min(max(whole_number(element.get(f"{TEXT}outline-level"), 1), 1), 10)
            paragraph.marker = self._heading_number(element, paragraph.level, inside)
        elif inside is not None and role in ("paragraph", "quote", "definition"):
            self._set_item(paragraph, inside, look)
        return paragraph

    def _set_item(self, paragraph: Paragraph, inside: _List, look: Look) -> None:
        paragraph.role, paragraph.list_id = "item", inside.list_id
        paragraph.level = inside.depth - 1
        if not inside.in_item or inside.begun:
            paragraph.level += 1  # goes on with the item
            return
        inside.begun = True
        if not inside.named and look.list_style in self._styles.lists:
            inside.levels = self._styles.lists[look.list_style]
        paragraph.marker = _counted(inside.levels, inside.counts, inside.depth, inside.start)
        if not paragraph.marker:
            paragraph.role = "paragraph"

    def _heading_number(self, element: Any, level: int, inside: _List | None) -> str:
        if element.get(f"{TEXT}is-list-header") == _TRUE:
            return ""
        if inside is not None and inside.in_item and not inside.begun and inside.levels:
            inside.begun = True
            shown = _counted(inside.levels, inside.counts, inside.depth, inside.start)
        else:
            shown = _counted(self._styles.outline, self._outline, level, None)
        return shown if shown != "- " else ""

    def _notes(self, words: Spoken) -> list[str]:
        said = []
        for note in words.notes:
            label = one_line(note.findtext(f"{TEXT}note-citation") or "" for _ in range(1))
            body = note.find(f"{TEXT}note-body")
            text = one_line(self._words(each).text for each in (body.iter(_P) if body is not None else ()))
            if text:
                said.append(f"[{label}] {text}" if label else text)
        return said

    def _table_parts(self, element: Any, depth: int) -> Iterator[Paragraph | Table]:
        rows = list(_rows(element))
        cells = [list(row.iterchildren(f"{TABLE}table-cell", f"{TABLE}covered-table-cell")) for row, _ in rows]
        if all(len(each) <= 1 for each in cells):
            for cell in chain.from_iterable(cells):
                yield from self._parts(cell, depth + 1)
        else:
            yield self._table(element, rows, depth)

    def _table(self, element: Any, rows: list[tuple[Any, bool]], depth: int) -> Table:
        named = element.get(f"{TABLE}use-first-row-styles") == _TRUE
        read = []
        for at, (row, header) in enumerate(rows):
            if row.get(f"{TABLE}visibility") in ("collapse", "filter"):
                self._left_out["passage"] += 1
                continue
            read.append(self._row(row, header or (named and at == 0), depth))
        return Table([row for row in read if row.cells])

    def _row(self, element: Any, header: bool, depth: int) -> TableRow:
        row = TableRow([], header)
        skipped = 0
        for cell in element:
            if cell.tag == f"{TABLE}covered-table-cell":
                for _ in range(min(whole_number(cell.get(f"{TABLE}number-columns-repeated"), 1), _WIDEST)):
                    if skipped:
                        skipped -= 1
                    else:
                        row.cells.append(TableCell(covered=True))
            elif cell.tag == f"{TABLE}table-cell":
                span = max(1, min(whole_number(cell.get(f"{TABLE}number-columns-spanned"), 1), _WIDEST))
                skipped = span - 1
                read = TableCell(span=span)
                read.hold(self._parts(cell, depth + 1), row.notes)
                row.cells.append(read)
                for _ in range(min(whole_number(cell.get(f"{TABLE}number-columns-repeated"), 1), _WIDEST) - 1):
                    row.cells.append(TableCell(read.text, read.bold))
        row.anchor = self._anchor
        return row


def _counted(levels: dict[int, ListLevel], counts: dict[int, int], level: int, start: int | None) -> str:
    own = levels.get(level)
    if own is None:
        return ""
    for deeper in [at for at in counts if at > level]:
        del counts[deeper]
    counts[level] = start if start is not None else counts.get(level, own.start - 1) + 1
    return own.marker(levels, counts, level)


def _in_order(shapes: Iterable[Any]) -> Iterator[Any]:
    """Yield the shapes with words in the order in which they are seen, what is in a group together."""
    told = [each for each in shapes if any(map(str.strip, each.itertext())) or any(map(is_drawn, each.iter(_FRAME)))]
    for at in as_seen([_place(shape) for shape in told]):
        if told[at].tag == f"{DRAW}g":
            yield from _in_order(told[at])
        else:
            yield told[at]


def _place(shape: Any) -> Place | None:
    """Return where a shape is drawn; a group is where its shapes are."""
    if shape.tag == f"{DRAW}g":
        places = [place for place in map(_place, shape) if place is not None]
        return around(places) if places else None
    sides = [side for name in ("x", "y", "width", "height") if (side := points(shape.get(SVG + name))) is not None]
    return Place(*sides) if len(sides) == 4 else None


def _rows(table: Any, header: bool = False) -> Iterator[tuple[Any, bool]]:
    for child in table:
        if child.tag == f"{TABLE}table-row":
            yield child, header
        elif child.tag in _ROWS:
            yield from _rows(child, header or child.tag == f"{TABLE}table-header-rows")
