"""Parser of PowerPoint presentations (pptx): each slide a page, with its title, lists, tables and speaker notes.

Shapes are read in the order in which they are seen, footers once in the file. Hidden slides, comments, pictures and
macros are left out and said; slide numbers and dates that count themselves are no text of the slide.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from lxml import etree

from tools.parsers.canonical_text import CanonicalText, Parsed
from tools.parsers.numerals import in_form
from tools.parsers.office_charts import Drawings
from tools.parsers.office_flow import BULLET, Flow, Paragraph, Role, Table, TableCell, TableRow
from tools.parsers.office_formulas import OMATH, said_formula
from tools.parsers.office_package import DRAWING, FALLBACK, REL, Package, open_package, whole_number
from tools.parsers.raised_text import ShiftedText
from tools.parsers.shape_order import Place, as_seen

NOTES = "Speaker notes"
P = "{http://schemas.openxmlformats.org/presentationml/2006/main}"
GROUP, _FRAME = f"{P}grpSp", f"{P}graphicFrame"
_TITLES = ("title", "ctrTitle")
_RUNNING = ("dt", "ftr", "hdr")
_BULLETED = ("body", "obj", "")
_MONOSPACED = re.compile(r"courier.*|consolas|menlo|monaco|.*\bmono\b.*|lucida console|source code pro", re.IGNORECASE)
_NUMBERING = re.compile(r"(arabic|alphaLc|alphaUc|romanLc|romanUc)(Period|ParenR|ParenBoth|Plain)")
_FORMS = {"arabic": "decimal", "alphaLc": "lowerLetter", "alphaUc": "upperLetter", "romanLc": "lowerRoman",
          "romanUc": "upperRoman"}  # fmt: skip
_AROUND = {"Period": "{}. ", "ParenR": "{}) ", "ParenBoth": "({}) ", "Plain": "{} "}
_WIDEST = 100


def read(data: bytes) -> Parsed:
    """Parse a presentation. Raises UnreadableDocument if it is broken, encrypted, or beyond the limits of archives."""
    package = open_package(data, f"{P}presentation", "a PowerPoint presentation")
    return _Presentation(package).read()


def slides(package: Package) -> Iterator[tuple[int, Any | None, str]]:
    """Yield each slide's number from 0, its root element, None of a hidden one, and its part."""
    root: Any = package.xml(package.main)
    related = package.related(package.main)
    for index, each in enumerate(root.iterfind(f"{P}sldIdLst/{P}sldId")):
        target = related.get(each.get(f"{{{REL}}}id") or "")
        slide = package.xml(target.target) if target is not None else None
        if slide is not None and target is not None:
            yield index, None if slide.get("show") in ("0", "false") else slide, target.target


class _Presentation:
    def __init__(self, package: Package) -> None:
        self._package = package
        self._flow = Flow(CanonicalText())
        self._left_out = self._flow.text.left_out
        self._drawings = Drawings(package, self._left_out)
        self._layouts: dict[str, dict[str, Place]] = {}

    def read(self) -> Parsed:
        text, title = self._flow.text, None
        for index, slide, part in slides(self._package):
            if slide is None:
                self._left_out["hidden slide"] += 1
                continue
            text.page_idx = index
            text.leave_headings()
            own = self._read_slide(slide, part)
            title = own if index == 0 else title
        self._left_out["macro"] += self._package.has_macros
        return text.parsed(title=self._package.title() or title)

    def _read_slide(self, slide: Any, part: str) -> str | None:
        """Write a slide, its title first wherever it stands among the shapes; return its title."""
        shapes = list(shapes_in(slide))
        related = self._package.related(part)
        titles = [shape for shape in shapes if placeholder_of(shape) in _TITLES]
        said = [paragraph.text for shape in titles for paragraph in self._paragraphs(shape, "")]
        title = " ".join(" ".join(said).split())
        if title:
            self._flow.paragraph(Paragraph(title, "heading", 1))
        layout = self._package.target(part, "slideLayout")
        for shape in _in_order(slide, self._layout(layout)):
            if shape.tag == f"{P}sp":
                self._read_shape(shape)
                continue
            for element in shape.iter(etree.Element):
                if element.tag == f"{DRAWING}tbl":
                    self._flow.table(self._table(element))
                for drawn in self._drawings.read(element, part):
                    self._flow.add(drawn)
        self._flow.end()
        for each in related.values():
            root = self._package.xml(each.target) if each.kind in ("notesSlide", "comments") else None
            if root is not None and each.kind == "notesSlide":
                self._read_notes(root)
            elif root is not None:
                self._left_out["comment"] += sum(1 for child in root if child.tag.endswith("}cm"))
        return title or None

    def _read_shape(self, shape: Any) -> None:
        kind = placeholder_of(shape)
        if kind in ("sldNum", *_TITLES) or (kind in _RUNNING and next(shape.iter(f"{DRAWING}fld"), None) is not None):
            return
        for paragraph in self._paragraphs(shape, kind):
            if kind in _RUNNING:
                self._flow.running(paragraph.text)
            else:
                self._flow.paragraph(paragraph)

    def _layout(self, part: str) -> dict[str, Place]:
        if part not in self._layouts:
            self._layouts[part] = layout_places(self._package, part)
        return self._layouts[part]

    def _read_notes(self, notes: Any) -> None:
        bodies = [shape for shape in shapes_in(notes) if placeholder_of(shape) == "body"]
        said = [paragraph for shape in bodies for paragraph in self._paragraphs(shape, None)]
        if any(paragraph.text.strip() for paragraph in said):
            with self._flow.labelled(NOTES):
                for paragraph in said:
                    self._flow.paragraph(paragraph)

    def _paragraphs(self, shape: Any, placeholder: str | None) -> Iterator[Paragraph]:
        """Yield the paragraphs of a shape; those of a placeholder for lists are items unless they say otherwise."""
        body = next((child for child in shape if child.tag in (f"{P}txBody", f"{DRAWING}txBody")), None)
        counts: dict[int, tuple[str, int]] = {}
        for element in body.iterchildren(f"{DRAWING}p") if body is not None else ():
            text, is_code = self._words(element)
            if not text.strip():
                continue
            properties = element.find(f"{DRAWING}pPr")
            level = whole_number(properties.get("lvl") if properties is not None else None)
            marker = _marker(properties, level, counts, placeholder in _BULLETED)
            role: Role = "code" if is_code else "item" if marker else "paragraph"
            said = text if is_code else " ".join(text.split())
            yield Paragraph(said, role, level, marker)

    def _words(self, paragraph: Any) -> tuple[str, bool]:
        """Return the words of a paragraph, and whether all of them are in a typeface of code."""
        line = ShiftedText()
        is_code = True
        walker = etree.iterwalk(paragraph, events=("start",))
        for _, element in walker:
            tag = element.tag
            if tag in (f"{DRAWING}r", f"{DRAWING}fld"):
                said = element.findtext(f"{DRAWING}t") or ""
                own = element.find(f"{DRAWING}rPr")
                if own is not None and own.get("strike") in ("sngStrike", "dblStrike"):
                    self._left_out["passage"] += bool(said.strip())
                    continue
                raised = whole_number(own.get("baseline")) if own is not None else 0
                latin = own.find(f"{DRAWING}latin") if own is not None else None
                is_code = is_code and latin is not None and bool(_MONOSPACED.fullmatch(latin.get("typeface") or ""))
                line.say(said, (raised > 0) - (raised < 0))
            elif tag == OMATH:
                line.say_formula(said_formula(self._flow.text, element))
                walker.skip_subtree()
            elif tag == f"{DRAWING}br":
                line.say("\n")
            elif tag == FALLBACK:
                walker.skip_subtree()
        return line.text, is_code

    def _table(self, element: Any) -> Table:
        properties = element.find(f"{DRAWING}tblPr")
        named = properties is not None and properties.get("firstRow") in ("1", "true")
        rows: list[TableRow] = []
        for row in element.iterchildren(f"{DRAWING}tr"):
            cells = [
                self._cell(cell) for cell in row.iterchildren(f"{DRAWING}tc") if cell.get("hMerge") not in ("1", "true")
            ]
            rows.append(TableRow(cells, header=named and not rows))
        return Table([row for row in rows if row.cells])

    def _cell(self, element: Any) -> TableCell:
        said = [" ".join(self._words(each)[0].split()) for each in element.iterfind(f"{DRAWING}txBody/{DRAWING}p")]
        span = max(1, min(whole_number(element.get("gridSpan"), 1), _WIDEST))
        return TableCell(" ".join(filter(None, said)), span=span, covered=element.get("vMerge") in ("1", "true"))


def layout_places(package: Package, part: str) -> dict[str, Place]:
    """Return where a layout and the master below it put their placeholders, by kind and by number."""
    places: dict[str, Place] = {}
    for root in (package.part(part, "slideMaster") if part else None, package.xml(part)):
        for shape in shapes_in(root) if root is not None else ():
            if (found := next(shape.iter(f"{P}ph"), None)) is not None:
                kind = found.get("type", "obj")
                place = place_of(shape, {}) or places.get(kind) or places.get("body")
                places.update({kind: place, found.get("idx", kind): place} if place is not None else {})
    return places


def shapes_in(container: Any, *, in_groups: bool = True) -> Iterator[Any]:
    """Yield the shapes, pictures and tables in a slide, and each group, before what is in it if that is wanted."""
    walker = etree.iterwalk(container, events=("start",))
    for _, element in walker:
        if element.tag == FALLBACK:
            walker.skip_subtree()
        elif element.tag in (f"{P}sp", f"{P}pic", _FRAME, GROUP) and element is not container:
            properties = next((each for child in element for each in child.iterchildren(f"{P}cNvPr")), None)
            is_hidden = properties is not None and properties.get("hidden") in ("1", "true")
            if element.tag != GROUP or is_hidden or not in_groups:
                walker.skip_subtree()
            if not is_hidden:
                yield element


def _in_order(container: Any, layout: dict[str, Place]) -> Iterator[Any]:
    """Yield shapes that are no groups in the order in which they are seen, what is in a group together."""
    shapes = shapes_in(container, in_groups=False)
    told = [each for each in shapes if each.tag != f"{P}sp" or any(map(str.strip, each.itertext()))]
    for at in as_seen([place_of(each, layout) for each in told]):
        if told[at].tag == GROUP:
            yield from _in_order(told[at], layout)
        else:
            yield told[at]


def place_of(shape: Any, layout: Mapping[str, Place]) -> Place | None:
    """Return where a shape says that it is, or the layout; what is in a group says it in units of the group."""
    found = next((each for child in shape for each in (child, *child) if each.tag.endswith("}xfrm")), None)
    numbers = [whole_number(each.get(name), -1) for each, names in zip(found if found is not None else (),
               (("x", "y"), ("cx", "cy")), strict=False) for name in names]  # fmt: skip
    if len(numbers) == 4:
        return Place(*numbers)
    holder = next(shape.iter(f"{P}ph"), None) if shape.tag != GROUP else None
    names = (holder.get("idx", ""), holder.get("type", "obj")) if holder is not None else ()
    return next((layout[name] for name in names if name in layout), None)


def placeholder_of(shape: Any) -> str | None:
    """Return what a shape is the place for: "title", "body", "" for any content; None if it is a shape of its own."""
    found = next((each for child in shape for each in child.iterfind(f"{P}nvPr/{P}ph")), None)
    return None if found is None else (found.get("type") or "")


def _marker(properties: Any | None, level: int, counts: dict[int, tuple[str, int]], bulleted: bool) -> str:
    for deeper in [at for at in counts if at > level]:
        del counts[deeper]
    numbered = properties.find(f"{DRAWING}buAutoNum") if properties is not None else None
    if numbered is None:
        counts.pop(level, None)
        if properties is not None and properties.find(f"{DRAWING}buNone") is not None:
            return ""
        drawn = properties is not None and any(
            properties.find(DRAWING + tag) is not None for tag in ("buChar", "buBlip")
        )
        return BULLET if bulleted or drawn else ""
    kind, start = numbered.get("type") or "", whole_number(numbered.get("startAt"), 1)
    before = counts.get(level)
    count = before[1] + 1 if before is not None and before[0] == kind else start
    counts[level] = (kind, count)
    form = _NUMBERING.fullmatch(kind)
    return _AROUND[form[2]].format(in_form(count, _FORMS[form[1]])) if form else f"{count}. "
