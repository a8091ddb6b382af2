"""Charts and diagrams (SmartArt) of Office files: the figures that a chart draws as tables, a diagram's words as items.

What was counted last is kept in the chart itself, so no embedded workbook is read.
"""

from collections.abc import Iterator
from contextlib import suppress
from itertools import groupby
from typing import Any

from graph.errors import UnreadableDocument
from tools.parsers.canonical_text import LeftOut
from tools.parsers.number_formats import shown
from tools.parsers.office_flow import BULLET, Paragraph, Table, TableCell, TableRow
from tools.parsers.office_package import DRAWING, REL, Package, whole_number

_CHART = "{http://schemas.openxmlformats.org/drawingml/2006/chart}"
_DIAGRAM = "{http://schemas.openxmlformats.org/drawingml/2006/diagram}"
CHART = f"{_CHART}chart"
_NEWER_CHART = "{http://schemas.microsoft.com/office/drawing/2014/chartex}chart"
_REFERENCES = {CHART: "id", f"{_DIAGRAM}relIds": "dm", _NEWER_CHART: ""}  # what a drawing refers to its part by
_PICTURES = (
    "{http://schemas.openxmlformats.org/drawingml/2006/picture}pic",
    "{http://schemas.openxmlformats.org/presentationml/2006/main}pic",
    "{http://schemas.openxmlformats.org/drawingml/2006/spreadsheetDrawing}pic",
    "{urn:schemas-microsoft-com:vml}imagedata",
)
DRAWN = frozenset((*_REFERENCES, *_PICTURES))
_CATEGORIES, _VALUES = ("cat", "xVal"), ("val", "yVal", "bubbleSize")
_UNSEEN_POINTS = ("doc", "pres", "parTrans", "sibTrans")


class Drawings:
    """What the drawings of a package hold: charts and diagrams are read, pictures and other objects counted."""

    def __init__(self, package: Package, left_out: LeftOut) -> None:
        self._package = package
        self._left_out = left_out
        self._told: set[str] = set()  # parts; a file that draws one a thousand times is no larger for it

    def read(self, element: Any, part: str) -> list[Table | Paragraph]:
        """Return what an element of a drawing in a part draws, where it is a chart or a diagram; count a picture."""
        if element.tag in _PICTURES:
            self._left_out["picture"] += 1
        if element.tag not in _REFERENCES:
            return []
        target = self._package.related(part).get(element.get(f"{{{REL}}}{_REFERENCES[element.tag]}") or "")
        if target is not None and target.target in self._told:
            return []
        root = None
        if target is not None:
            self._told.add(target.target)
            with suppress(UnreadableDocument):
                root = self._package.xml(target.target)
        if root is None:
            self._left_out["chart"] += 1
            return []
        return [*chart_tables(root)] if element.tag == CHART else [*diagram_items(root)]


def chart_tables(root: Any) -> list[Table]:
    """Return the figures of a chart, a row for each category; several tables where series have other categories.

    The first has the chart's title as its caption, with the titles of the axes of values.
    """
    axes = {each.tag: _said(each.find(f"{_CHART}title")) for each in root.iterfind(f"{CHART}/{_CHART}plotArea/*")}
    values = axes.pop(f"{_CHART}valAx", "")
    caption = ", ".join(filter(None, (_said(root.find(f"{CHART}/{_CHART}title")), values)))
    tables: list[Table] = []
    for categories, group in groupby(root.iter(f"{_CHART}ser"), lambda each: _points(each, *_CATEGORIES)):
        columns = [(_name(each), points) for each in group for kind in _VALUES if (points := _points(each, kind))]
        head = [next(filter(None, axes.values()), ""), *(name for name, _ in columns)]
        rows = [TableRow([TableCell(words) for words in head], header=True)] if any(head) else []
        for at in sorted(categories.keys() | {at for _, points in columns for at in points}):
            cells = [categories.get(at, str(at + 1)), *(points.get(at, "") for _, points in columns)]
            rows.append(TableRow([TableCell(words) for words in cells]))
        tables.append(Table(rows, "" if tables else caption))
    return tables or [Table([], caption)]


def diagram_items(root: Any) -> Iterator[Paragraph]:
    """Yield the words of a diagram as items, what is below a point after it."""
    points = {each.get("modelId"): each for each in root.iterfind(f"{_DIAGRAM}ptLst/{_DIAGRAM}pt")}
    below: dict[str | None, list[tuple[int, Any]]] = {}
    for each in root.iterfind(f"{_DIAGRAM}cxnLst/{_DIAGRAM}cxn"):
        if each.get("type", "parOf") == "parOf" and (point := points.get(each.get("destId"))) is not None:
            below.setdefault(each.get("srcId"), []).append((whole_number(each.get("srcOrd")), point))
    waiting = [(0, each) for each in points.values() if each.get("type") == "doc"]
    while waiting:
        level, point = waiting.pop()
        if points.pop(point.get("modelId"), None) is None:
            continue  # told before, in a diagram that is no tree
        is_seen = point.get("type") not in _UNSEEN_POINTS
        if is_seen and (words := _said(point.find(f"{_DIAGRAM}t"))):
            yield Paragraph(words, "item", level, BULLET)
        ordered = sorted(below.get(point.get("modelId"), ()), key=lambda each: each[0], reverse=True)
        waiting += [(level + is_seen, each) for _, each in ordered]


def _name(series: Any) -> str:
    name = series.find(f"{_CHART}tx")
    return " ".join(each.text or "" for each in name.iter(f"{_CHART}v")) if name is not None else ""


def _said(element: Any | None) -> str:
    paragraphs = element.iter(f"{DRAWING}p") if element is not None else ()
    return " ".join(" ".join("".join(each.text or "" for each in p.iter(f"{DRAWING}t")) for p in paragraphs).split())


def _points(series: Any, *kinds: str) -> dict[int, str]:
    """Return what a series holds at each place, as it is shown; of categories with levels, the outer ones first."""
    points: dict[int, str] = {}
    found = next((each for each in series if each.tag.removeprefix(_CHART) in kinds), None)
    code = next((each.text or "" for each in found.iter(f"{_CHART}formatCode")), None) if found is not None else None
    for point in found.iter(f"{_CHART}pt") if found is not None else ():
        at, value = whole_number(point.get("idx")), point.findtext(f"{_CHART}v") or ""
        if code is not None:
            with suppress(ValueError):
                value = shown(float(value), point.get("formatCode") or code)
        points[at] = f"{value} {points[at]}" if at in points else value
    return points
