"""Parser of Word documents (docx): headings, lists with their numbers, definitions, tables, notes and text boxes.

Running heads stand before the text and running feet behind it, each once; their page numbers are no text. Deleted and
hidden text, comments, pictures and macros are left out and said. The XML is read as it is, and not through python-docx,
which knows no tracked changes, notes, text boxes or shown numbers.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from lxml import etree

from tools.parsers.canonical_text import CanonicalText, Parsed
from tools.parsers.docx_styles import Numbering, Style, Styles, W, child_value, first, shift, switch, symbol
from tools.parsers.numerals import in_form
from tools.parsers.office_charts import DRAWN, Drawings
from tools.parsers.office_flow import PAGE, PAGE_FIELDS, TAB, Flow, Paragraph, Spoken, Table, TableCell, TableRow
from tools.parsers.office_formulas import OMATH, said_formula
from tools.parsers.office_package import FALLBACK, REL, Package, open_package, whole_number
from tools.parsers.raised_text import RAISED, ShiftedText

_P, _TBL, _R, _T, _TC, _TR = (W + tag for tag in ("p", "tbl", "r", "t", "tc", "tr"))
_GONE = frozenset(W + tag for tag in ("del", "moveFrom"))
_CONTAINERS = frozenset(W + tag for tag in ("sdt", "sdtContent", "ins", "moveTo", "customXml", "smartTag"))
_LOOKS = frozenset(W + tag for tag in ("rStyle", "vanish", "strike", "dstrike", "b", "vertAlign", "position"))
_UNREAD = frozenset(
    [FALLBACK, *(W + tag for tag in ("pPr", "rPr", "sdtPr", "instrText", "delText", "rt", "tbl", "annotationRef"))]
)
_SIGNS = {f"{W}tab": " ", f"{W}br": "\n", f"{W}cr": "\n", f"{W}noBreakHyphen": "\u2011", f"{W}ptab": " "}
_DEEPEST = 12  # tables and text boxes within each other
_DEEPEST_NOTE = 20  # of notes that are referred to in notes
_WIDEST = 100


def read(data: bytes) -> Parsed:
    """Parse a Word document. Raises UnreadableDocument if it is broken, encrypted, or beyond the limits of archives."""
    package = open_package(data, f"{W}document", "a Word document")
    return _Document(package).read()


@dataclass(slots=True)
class _Words(Spoken):
    """What a paragraph says so far: how the run that is read is raised, and whether the one before is hidden."""

    shift: int = 0
    was_gone: bool = False


class _Document:
    def __init__(self, package: Package) -> None:
        self._package = package
        self._styles = Styles(package.part(package.main, "styles"))
        self._numbering = Numbering(package.part(package.main, "numbering"), self._styles)
        self._notes: dict[str, dict[str, Any]] = {}
        for kind in ("footnote", "endnote"):
            root = package.part(package.main, f"{kind}s")
            found = root.iterchildren(W + kind) if root is not None else ()
            self._notes[kind] = {each.get(f"{W}id") or "": each for each in found}
        self._noted = {"footnote": 0, "endnote": 0}
        self._forms = {"footnote": "decimal", "endnote": "lowerRoman"}
        self._typed_notes: frozenset[str] = frozenset()
        self._flow = Flow(CanonicalText())
        self._left_out = self._flow.text.left_out
        self._drawings = Drawings(package, self._left_out)
        self._comments: set[str] = set()
        self._anchor = ""
        self._note_depth = 0  # of the note that is being read, within those that refer to it
        self._marked_ahead = False  # by a bookmark between paragraphs
        self._carried: _Words | None = None  # of a paragraph whose end is deleted

    def read(self) -> Parsed:
        root: Any = self._package.xml(self._package.main)
        settings: Any = self._package.part(self._package.main, "settings")
        for source in filter(lambda each: each is not None, (settings, root)):
            for kind in self._forms:
                for each in source.iter(f"{W}{kind}Pr"):
                    self._forms[kind] = child_value(each, "numFmt") or self._forms[kind]
        self._typed_notes = frozenset(_typed_notes(root))
        self._read_edges(root, settings, "header")
        body = root.find(f"{W}body")
        for part in self._parts(body, 0) if body is not None else ():
            self._flow.add(part)
        self._flow.end()
        self._flow.text.leave_headings()
        self._read_edges(root, settings, "footer")
        title = self._flow.title or self._package.title()
        self._left_out["comment"] += len(self._comments)
        self._left_out["macro"] += self._package.has_macros
        return self._flow.text.parsed(title=title)

    def _read_edges(self, root: Any, settings: Any | None, kind: str) -> None:
        """Write the running heads or feet that pages show, each distinct text once."""
        two_sided = switch(settings, "evenAndOddHeaders")
        related = self._package.related(self._package.main)
        parts: dict[str, None] = {}
        for section in root.iter(f"{W}sectPr"):
            for each in section.iterchildren(f"{W}{kind}Reference"):
                is_shown = {"first": switch(section, "titlePg"), "even": two_sided}.get(each.get(f"{W}type"), True)
                if is_shown and (target := related.get(each.get(f"{{{REL}}}id") or "")) is not None:
                    parts[target.target] = None
        for part in map(self._package.xml, parts):
            for paragraph in part.iter(_P) if part is not None else ():
                _mark_pages(paragraph)
                self._flow.running(self._words(paragraph, self._styles[""]).text)
        self._flow.end()

    def _blocks(self, container: Any) -> Iterator[Any]:
        """Yield the paragraphs and tables of a container, through what only wraps them."""
        for child in container:
            if child.tag in (_P, _TBL):
                yield child
            elif child.tag in _CONTAINERS:
                yield from () if _is_unfilled(child) else self._blocks(child)
            elif child.tag in _GONE:
                self._left_out["passage"] += 1
            elif child.tag == f"{W}bookmarkStart":
                self._mark(child)
                self._marked_ahead = True

    def _mark(self, bookmark: Any) -> None:
        name = bookmark.get(f"{W}name") or ""
        if name and not name.startswith("_") and len(name) <= 200:
            self._anchor = name

    def _parts(self, container: Any, depth: int) -> Iterator[Paragraph | Table]:
        """Yield what is in the body, in a cell or in a text box, which hold each other."""
        for block in self._blocks(container):
            if block.tag == _P:
                yield from self._paragraph_parts(block, depth)
            elif depth >= _DEEPEST:
                continue
            elif (boxed := _only_cells(block)) is not None:
                for cell in boxed:
                    yield from self._parts(cell, depth + 1)
            else:
                yield self._table(block, depth)

    def _paragraph_parts(self, element: Any, depth: int) -> Iterator[Paragraph | Table]:
        properties = element.find(f"{W}pPr")
        style_id = child_value(properties, "pStyle") or ""
        style = self._styles[style_id]
        if _level(properties, style) and not self._marked_ahead:
            self._anchor = ""
        self._marked_ahead = False
        words = self._words(element, style)
        if switch(properties.find(f"{W}rPr") if properties is not None else None, "del"):
            self._carried = words
            return
        yield self._paragraph(words, properties, style_id, style)
        for box in words.boxes if depth < _DEEPEST else ():
            yield from self._parts(box, depth + 1)
        yield from words.drawn

    def _paragraph(self, words: _Words, properties: Any | None, style_id: str, style: Style) -> Paragraph:
        text, level = words.text, _level(properties, style)
        paragraph = Paragraph(text, style.role, anchor=self._anchor, notes=words.notes, of_table=style.of_table,
                              letters=words.letters, bold=words.bold)  # fmt: skip
        if not text.strip():
            paragraph.text = text if style.role == "code" else ""
            return paragraph
        numbered = self._number(properties, style_id, style)
        if level and style.role != "title":
            paragraph.role, paragraph.level = "heading", level
            paragraph.marker = "" if numbered is None or numbered[2] == "- " else numbered[2]
        elif numbered is not None and style.role in ("paragraph", "quote", "definition"):
            paragraph.list_id, paragraph.level, paragraph.marker = numbered
            paragraph.role = "item" if paragraph.marker else style.role
        if paragraph.role != "code":
            paragraph.text = " ".join(text.split())
        return paragraph

    def _number(self, properties: Any | None, style_id: str, style: Style) -> tuple[str, int, str] | None:
        """Return the list, the level and the number of a paragraph; None where it has none."""
        own = properties.find(f"{W}numPr") if properties is not None else None
        number_id, level = child_value(own, "numId"), child_value(own, "ilvl")
        if number_id is None and style.numbering is not None:
            number_id = style.numbering[0]
            styled = style.numbering[1]
            at = self._numbering.level_of(number_id, style_id) if styled is None else styled
        else:
            at = whole_number(level)
        at = whole_number(level, at) if level is not None else at
        marker = self._numbering.marker(number_id, at) if number_id else None
        return None if marker is None or number_id is None else (number_id, at, marker)

    def _words(self, paragraph: Any, style: Style) -> _Words:
        """Read a paragraph in one walk: a hostile one may nest deeper than Python's stack."""
        words, self._carried = self._carried or _Words(ShiftedText(notes=self._typed_notes)), None
        words.shift = style.shift or 0
        walker = etree.iterwalk(paragraph, events=("start",))
        for _, element in walker:
            tag = element.tag
            if tag == _T:
                words.line.say(element.text or "", words.shift)
            elif tag == OMATH:
                words.line.say_formula(said_formula(self._flow.text, element))
                walker.skip_subtree()
            elif tag == _R:
                if self._is_gone(element, style, words) or not len(element):
                    walker.skip_subtree()
            elif tag in _SIGNS:
                words.line.say(_SIGNS[tag] if element.get(f"{W}type") != "page" else " ", words.shift)
            elif tag in _GONE:
                self._left_out["passage"] += any(each.text for each in element.iter(_T, f"{W}delText"))
                walker.skip_subtree()
            elif tag == f"{W}txbxContent":
                words.boxes.append(element)
                walker.skip_subtree()
            elif tag in _UNREAD or (tag == f"{W}sdt" and _is_unfilled(element)):
                walker.skip_subtree()
            else:
                self._read_mark(element, words)
        return words

    def _read_mark(self, element: Any, words: _Words) -> None:
        tag = element.tag
        if tag in (f"{W}footnoteReference", f"{W}endnoteReference"):
            words.line.part()
            self._note(element, words)
        elif tag == f"{W}commentReference":
            self._comments.add(element.get(f"{W}id") or "")
        elif tag == f"{W}bookmarkStart":
            self._mark(element)
        elif tag == f"{W}sym":
            sign = symbol(element.get(f"{W}font") or "", element.get(f"{W}char"))
            self._left_out["sign of a picture font"] += not sign
            words.line.say(sign, words.shift)
        elif tag in DRAWN:
            words.drawn.extend(self._drawings.read(element, self._package.main))

    def _is_gone(self, run: Any, style: Style, words: _Words) -> bool:
        """Return whether a run is hidden or struck out; count the passage, and note its look."""
        properties = run.find(f"{W}rPr")
        hidden, struck = style.hidden, style.struck
        bold, raised = style.bold, style.shift
        if properties is not None and not _LOOKS.isdisjoint([each.tag for each in properties]):
            own = self._styles[child_value(properties, "rStyle") or ""]
            hidden = first((switch(properties, "vanish"), own.hidden, hidden))
            struck = first((switch(properties, "strike", "dstrike"), own.struck, struck))
            bold = first((switch(properties, "b"), own.bold, bold))
            raised = first((shift(properties), own.shift, raised))
        gone = bool(hidden or struck)
        said = sum(len(each.text or "") for each in run.iterchildren(_T))
        if gone:
            self._left_out["passage"] += said > 0 and not words.was_gone
        words.was_gone = gone
        words.shift = raised or 0
        words.letters += said
        words.bold += said if bold else 0
        return gone

    def _note(self, reference: Any, words: _Words) -> None:
        kind = "footnote" if reference.tag == f"{W}footnoteReference" else "endnote"
        own_mark = reference.get(f"{W}customMarkFollows") in ("1", "true", "on")
        self._noted[kind] += not own_mark
        if self._note_depth >= _DEEPEST_NOTE:
            return
        note = self._notes[kind].pop(reference.get(f"{W}id") or "", None)
        if note is None:
            return
        anchor = self._anchor
        self._note_depth += 1
        said = [" ".join(self._words(each, self._styles[""]).text.split()) for each in note.iter(_P)]
        self._note_depth -= 1
        self._anchor = anchor
        text = " ".join(filter(None, said))
        label = "" if own_mark else f"[{in_form(self._noted[kind], self._forms[kind])}] "
        words.notes.append(label + text if text else "")

    def _table(self, element: Any, depth: int) -> Table:
        rows = []
        for row in _through(element, _TR):
            properties = row.find(f"{W}trPr")
            if switch(properties, "del"):
                self._left_out["passage"] += 1
            elif not switch(properties, "hidden"):
                rows.append(self._row(row, properties, depth))
        given = child_value(element.find(f"{W}tblPr"), "tblCaption") or ""
        return Table([row for row in rows if row.cells], " ".join(given.split()))

    def _row(self, element: Any, properties: Any | None, depth: int) -> TableRow:
        header = bool(switch(properties, "tblHeader")) or _is_first(properties)
        row = TableRow([], header)
        skipped = min(whole_number(child_value(properties, "gridBefore")), _WIDEST)
        row.cells.extend(TableCell() for _ in range(skipped))
        for cell in _through(element, _TC):
            own = cell.find(f"{W}tcPr")
            span = max(1, min(whole_number(child_value(own, "gridSpan"), 1), _WIDEST))
            merged = child_value(own, "vMerge")
            read = TableCell(span=span, covered=merged is not None and merged != "restart")
            read.hold(self._parts(cell, depth + 1), row.notes)
            row.cells.append(read)
        row.anchor = self._anchor
        return row


def _level(properties: Any | None, style: Style) -> int:
    own = child_value(properties, "outlineLvl")
    if own is not None:
        return (whole_number(own, 9) + 1) % 10
    return style.outline or 0


def _is_unfilled(control: Any) -> bool:
    """Whether a form still shows what its author asks for: "Click here to enter text"."""
    return control.find(f"{W}sdtPr/{W}showingPlcHdr") is not None


def _is_first(properties: Any | None) -> bool:
    first = properties.find(f"{W}cnfStyle") if properties is not None else None
    if first is None:
        return False
    return first.get(f"{W}firstRow") in ("1", "true") or (first.get(f"{W}val") or "").startswith("1")


def _only_cells(table: Any) -> list[Any] | None:
    """Return the cells of a table of one column, which only draws a frame around text; None for other tables."""
    rows = [list(_through(row, _TC)) for row in _through(table, _TR)]
    return [row[0] for row in rows if row] if all(len(row) <= 1 for row in rows) else None


def _through(element: Any, tag: str) -> Iterator[Any]:
    """Yield the rows of a table or the cells of a row, through what only wraps them."""
    for child in element:
        if child.tag == tag:
            yield child
        elif child.tag in _CONTAINERS:
            yield from _through(child, tag)


def _mark_pages(paragraph: Any) -> None:
    """Let the fields of a running head that count pages, and its tabs, be known in its words."""
    in_number = False
    for each in list(paragraph.iter(_T, *(W + tag for tag in ("instrText", "fldChar", "fldSimple", "tab", "ptab")))):
        tag = each.tag.removeprefix(W)
        code = (each.get(f"{W}instr") if tag == "fldSimple" else each.text) or ""
        counts = tag in ("fldSimple", "instrText") and code.strip().upper().startswith(PAGE_FIELDS)
        if tag == "fldChar":
            in_number = in_number and each.get(f"{W}fldCharType") != "end"
        elif tag == "fldSimple" and counts:
            for shown in each.iter(_T):
                shown.text = PAGE
        elif tag in ("tab", "ptab") or counts:
            in_number = in_number or counts
            each.tag, each.text = _T, PAGE if counts else TAB
        elif tag == "t" and in_number:
            each.text = ""


def _typed_notes(root: Any) -> Iterator[str]:
    """Yield the raised marks that paragraphs begin with: notes that were typed by hand."""
    for paragraph in root.iter(_P):
        run = paragraph.find(_R)
        mark = "".join(each.text or "" for each in run.iterchildren(_T)) if run is not None else ""
        if mark and shift(run.find(f"{W}rPr")) == RAISED and (bare := mark.strip(" ()[]")).isdigit():
            after = "".join(paragraph.itertext(_T))
            if after.strip().removeprefix(mark.strip())[:1].isspace():
                yield bare
