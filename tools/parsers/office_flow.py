"""Paragraphs and tables of a text document or a slide as blocks, each with what it hangs on.

Word, LibreOffice and PowerPoint write them flat: a list is a row of paragraphs with levels, a definition a style, a
caption the paragraph before or after its table. Readers of each format say what a paragraph is, ``Flow`` finds what it
hangs on.
"""

import re
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Literal

from tools.parsers.canonical_text import COLONS, CanonicalText, without_marks
from tools.parsers.raised_text import ShiftedText

Role = Literal[
    "title", "heading", "paragraph", "item", "quote", "code", "term", "definition", "caption", "contents", "label"
]
_DEEPEST = 12  # levels of lists
_LONGEST_HEADING = 500  # characters; each block below it names it
_MOST_TERMS = 12  # that one definition explains
_MOST_TITLES = 3  # rows over a whole table
_MOST_REPEATED = 2_000_000  # characters of a document that merged cells say again
_MOST_HEADERS = 5
_WIDEST = 100  # columns of a merged cell
_REPEATED = 200  # characters of a merged cell that each row and column says
_NUMBER = re.compile(r"[-+−(]?\s?(?:[$€£¥₫]|[A-Z]{3}\s)?\s?\d[\d\s.,:/%eE+-]*\)?\s?(?:%|[$€£¥₫])?")
_TABLE_CAPTION = re.compile(r"(?:table|tab\.|tabelle|tableau|tabla|tabela|bảng|表)\s*\S", re.IGNORECASE)
BULLET = "- "
PAGE, TAB = "\ufffc", "\u2028"  # stand in a running head for a field that counts pages, and for a tab
PAGE_FIELDS = ("PAGE", "NUMPAGES", "SECTIONPAGES")  # of Word, those that count pages
_LEAST_WORDS = 4  # of a running head that holds a page number and something else: "Page 3 of 12" has fewer


@dataclass(slots=True)
class Paragraph:
    """A paragraph. ``level`` is from 1 for headings, from 0 for items; ``marker`` is an item's number as shown.

    ``notes`` are the footnotes that it points to. ``of_table`` marks a caption that is styled as one of a table.
    ``letters`` counts its letters, ``bold`` those in bold type.
    """

    text: str
    role: Role = "paragraph"
    level: int = 0
    marker: str = ""
    anchor: str = ""
    notes: list[str] = field(default_factory=list)
    list_id: str = ""
    of_table: bool = False
    letters: int = 0
    bold: int = 0

    @property
    def in_cell(self) -> str:
        """Its words within a cell of a table, on one line and without a bullet."""
        return ("" if self.marker == BULLET else self.marker) + " ".join(self.text.split())


@dataclass(slots=True)
class TableCell:
    """A cell: its words, how many columns it spans, and the tables within it. ``covered`` is below a merged cell."""

    text: str = ""
    bold: bool = False
    span: int = 1
    covered: bool = False
    inner: list["Table"] = field(default_factory=list)

    def hold(self, parts: Iterable["Paragraph | Table"], notes: list[str]) -> None:
        """Take paragraphs as its words, and tables as those within it; their footnotes join those of its row."""
        said: list[str] = []
        letters = bold = 0
        for part in parts:
            if isinstance(part, Table):
                self.inner.append(part)
                continue
            said.append(part.in_cell)
            notes.extend(filter(None, part.notes))
            letters, bold = letters + part.letters, bold + part.bold
        self.text, self.bold = " ".join(filter(None, said)), 0 < letters == bold


@dataclass(slots=True)
class TableRow:
    """A row. ``header`` is one that the file says is a header."""

    cells: list[TableCell]
    header: bool = False
    anchor: str = ""
    notes: list[str] = field(default_factory=list)


@dataclass(slots=True)
class Table:
    """A table of more than one column. ``caption`` is what the file itself ties to it."""

    rows: list[TableRow]
    caption: str = ""

    @property
    def width(self) -> int:
        """Return the number of columns."""
        return max((sum(cell.span for cell in row.cells) for row in self.rows), default=0)


@dataclass(slots=True)
class Spoken:
    """What the words of a paragraph are, and what hangs on it, as its format has it.

    ``gone`` counts hidden passages, ``letters`` and ``bold`` are as in Paragraph.
    """

    line: ShiftedText
    notes: list[Any] = field(default_factory=list)
    boxes: list[Any] = field(default_factory=list)
    drawn: list[Table | Paragraph] = field(default_factory=list)
    anchor: str = ""
    gone: int = 0
    comments: int = 0
    letters: int = 0
    bold: int = 0

    @property
    def text(self) -> str:
        """Return the words with their line breaks."""
        return self.line.text


class Flow:
    """A writer of paragraphs and tables into canonical text. Call ``end`` when a document or slide ends."""

    def __init__(self, text: CanonicalText) -> None:
        self.text = text
        self.title: str | None = None
        self.within: tuple[int, ...] = ()
        self._lead: int | None = None  # the paragraph directly before, if the next block is introduced by it
        self._lead_ends_with_colon = False
        self._caption: int | None = None
        self._items: list[tuple[int, int]] = []
        self._leads: dict[str, int | None] = {}
        self._list_lead: int | None = None
        self._terms: list[int] = []
        self._defined = False
        self._code: list[str] = []
        self._code_anchor = ""
        self._contents = False
        self._held: Table | None = None
        self._repeatable = _MOST_REPEATED
        self._running: set[str] = set()

    def end(self) -> None:
        """Write what waits for its next line, and let nothing that follows hang on what is before."""
        self._flush_code()
        self._flush_table(None)
        self._close("paragraph")
        self._lead, self._leads = None, {}

    def paragraph(self, paragraph: Paragraph) -> int | None:
        """Write a paragraph; return its index, None if it is blank or waits for the next line of its code."""
        role = paragraph.role
        if role in ("title", "heading") and len(paragraph.text) > _LONGEST_HEADING:
            role = paragraph.role = "paragraph"
        if role == "code":
            self._flush_table(None)
            self._close("code")
            self._code_anchor = self._code_anchor or paragraph.anchor
            self._code.append(paragraph.text)
            return None
        if not paragraph.text.strip():
            return None
        self._flush_code()
        if role == "caption" and self._flush_table(paragraph):
            return None
        self._flush_table(None)
        self._close(role)
        index = self._write(paragraph)
        self._add_notes(index, paragraph.notes, paragraph.anchor)
        return index

    def add(self, block: Table | Paragraph) -> None:
        """Write what was drawn: the table of a chart, an item of a diagram."""
        if isinstance(block, Table):
            self.table(block)
        else:
            self.paragraph(block)

    def running(self, text: str) -> None:
        """Write what a running head or foot says, each distinct text once and without the numbers of pages."""
        for words in running_text(text, self._running):
            self.paragraph(Paragraph(words))

    @contextmanager
    def labelled(self, label: str) -> Iterator[None]:
        """Let what is written within hang on a label, such as "Note"."""
        around, index = self.within, self.paragraph(Paragraph(label, "label"))
        self.end()
        self.within = around if index is None else (*around, index)
        yield
        self.end()
        self.within = around

    def table(self, table: Table) -> None:
        """Write a table, once it is known whether its caption follows."""
        self._flush_code()
        self._flush_table(None)
        self._close("table")
        self._held = table

    def _write(self, paragraph: Paragraph) -> int | None:
        role, text, anchor = paragraph.role, paragraph.text, paragraph.anchor
        if role in ("title", "heading"):
            self._write_heading(paragraph)
            return None
        if role == "item":
            return self._write_item(paragraph)
        if role == "term":
            tight = bool(self._terms) and not self._defined
            if self._defined:
                self._terms, self._defined = [], False
            index = self.text.add("term", text, tight=tight, hangs_on=self.within, anchor=anchor)
            self._terms = [*self._terms, *([] if index is None else [index])][-_MOST_TERMS:]
            return index
        if role == "definition":
            tight = bool(self._terms) and not self._defined
            self._defined = True
            on = (*self.within, *self._terms)
            self._lead = self.text.add("paragraph", text, tight=tight, hangs_on=on, anchor=anchor)
        elif role == "contents":
            self.text.add("contents", text, tight=self._contents, anchor=anchor)
            self._contents = True
        elif role == "caption":
            self._caption = self.text.add("caption", text, hangs_on=self.within, anchor=anchor)
            return self._caption
        else:
            kind: Literal["quote", "label", "paragraph"] = role if role in ("quote", "label") else "paragraph"
            self._lead = self.text.add(kind, text, hangs_on=self.within, anchor=anchor)
        self._lead_ends_with_colon = text.rstrip().endswith(COLONS)
        return self._lead

    def _write_heading(self, paragraph: Paragraph) -> None:
        words = " ".join(f"{paragraph.marker}{paragraph.text}".split())
        if paragraph.role == "title" and self.title is None:
            self.title = without_marks(words)
        self.text.add_heading(1 if paragraph.role == "title" else 1 + paragraph.level, words, anchor=paragraph.anchor)
        self._leads = {}

    def _write_item(self, paragraph: Paragraph) -> int | None:
        level = min(max(paragraph.level, 0), _DEEPEST)
        first = not self._items
        if first:
            known = paragraph.list_id in self._leads and bool(paragraph.list_id)
            self._list_lead = self._leads[paragraph.list_id] if known else self._lead
            self._leads[paragraph.list_id] = self._list_lead
        while self._items and self._items[-1][0] >= level:
            self._items.pop()
        above = [index for _, index in self._items]
        words = "  " * len(above) + paragraph.marker + paragraph.text.strip()
        on = (*self.within, self._list_lead, *above)
        index = self.text.add("list_item", words, tight=not first, hangs_on=on, anchor=paragraph.anchor)
        if index is not None:
            self._items.append((level, index))
            self._lead_ends_with_colon = words.endswith(COLONS)
            self._lead = index if self._lead_ends_with_colon else None
        return index

    def _close(self, role: str) -> None:
        """End what the next block is no part of."""
        if role not in ("code", "item", "table") or (role == "item" and self._caption is not None):
            self._lead = None
        if role != "item":
            self._items = []
        if role not in ("term", "definition"):
            self._terms, self._defined = [], False
        if role != "contents":
            self._contents = False
        if role != "table":
            self._caption = None

    def _flush_code(self) -> None:
        if not self._code:
            return
        on = (*self.within, self._lead)
        self.text.add("code", "\n".join(self._code), hangs_on=on, anchor=self._code_anchor)
        self._code, self._code_anchor, self._lead = [], "", None

    def _flush_table(self, caption: Paragraph | None) -> bool:
        """Write the table that waits; return whether the caption after it was its own."""
        table, self._held = self._held, None
        if table is None:
            return False
        follows = caption is not None and self._caption is None and not table.caption
        own = follows and caption is not None and (caption.of_table or bool(_TABLE_CAPTION.match(caption.text)))
        if own and caption is not None:
            self._caption = self.text.add("caption", caption.text, hangs_on=self.within, anchor=caption.anchor)
            self._add_notes(self._caption, caption.notes, caption.anchor)
        self._write_table(table)
        self._caption, self._lead = None, None
        return own

    def _write_table(self, table: Table) -> None:
        above: list[int | None] = [*self.within]
        if self._caption is not None:
            above.append(self._caption)
        elif table.caption:
            above.append(self.text.add("caption", table.caption, hangs_on=self.within))
        elif self._lead_ends_with_colon:
            above.append(self._lead)
        waiting = deque([(table, above)])
        while waiting:
            waiting.extendleft(reversed(self._write_rows(*waiting.popleft())))

    def _write_rows(self, table: Table, above: Sequence[int | None]) -> list[tuple[Table, list[int | None]]]:
        """Write the rows of a table; return the tables within them, with what these hang on."""
        rows, width = table.rows, table.width
        self._say_covered(rows)
        titles = 0
        while titles < min(len(rows) - 1, _MOST_TITLES) and _spans_all(rows[titles], width):
            titles += 1
        over = list(above)
        inner: list[tuple[Table, list[int | None]]] = []
        for row in rows[:titles]:
            over.append(self.text.add("caption", row.cells[0].text, hangs_on=over, anchor=row.anchor))
            self._add_notes(over[-1], row.notes, row.anchor)
        count = header_rows(rows[titles:])
        headers: list[int | None] = []
        group: int | None = None
        for at, row in enumerate(rows[titles:]):
            spans = _spans_all(row, width)
            on = (*over, *headers, *(() if spans else (group,)))
            words = row.cells[0].text if spans else self._row_text(row)
            index = self.text.add("table_row", words, tight=at > 0 or len(over) > 0, hangs_on=on, anchor=row.anchor)
            self._add_notes(index, row.notes, row.anchor)
            if at < count:
                headers.append(index)
            elif spans and index is not None:
                group = index
            inner.extend((each, [*on, index]) for cell in row.cells for each in cell.inner)
        return inner

    def _row_text(self, row: TableRow) -> str:
        cells: list[str] = []
        for cell in row.cells:
            cells.append(cell.text)
            cells += [self._repeated(cell.text) for _ in range(min(cell.span, _WIDEST) - 1)]
        return " | ".join(cells) if any(cells) else ""

    def _say_covered(self, rows: list[TableRow]) -> None:
        """Say a merged cell's words in each row that it covers."""
        above: dict[int, TableCell] = {}
        for row in rows:
            column = 0
            for cell in row.cells:
                if cell.covered and column in above:
                    cell.text, cell.bold = self._repeated(above[column].text), above[column].bold
                above.update(dict.fromkeys(range(column, column + cell.span), cell))
                column += cell.span

    def _repeated(self, words: str) -> str:
        if len(words) > min(_REPEATED, self._repeatable):
            return ""
        self._repeatable -= len(words)
        return words

    def _add_notes(self, index: int | None, notes: list[str], anchor: str) -> None:
        for note in notes:
            self.text.add("footnote", note, tight=True, hangs_on=(index,), anchor=anchor)


def running_text(text: str, told: set[str]) -> Iterator[str]:
    """Yield what a running head or foot says, each distinct text once and without the numbers of pages."""
    for piece in text.split(TAB):
        words = " ".join(piece.replace(PAGE, " ").split())
        is_number = PAGE in piece and len(words.split()) < _LEAST_WORDS and not any(map(str.isdigit, words))
        if words not in told and not is_number:
            told.add(words)
            yield words


def header_rows(rows: list[TableRow]) -> int:
    """Return how many rows name the columns: those that the file says do, or a first one that looks like it."""
    said = next((at for at, row in enumerate(rows) if not row.header), len(rows))
    if said or len(rows) < 2:
        return min(said, _MOST_HEADERS) if said < len(rows) else min(said, 1)
    first, second = rows[0].cells, rows[1].cells
    words = [cell.text for cell in first]
    if len(first) < 2 or not all(words[1:]) or any(_NUMBER.fullmatch(text) for text in words):
        return 0
    if all(cell.bold for cell in first if cell.text) and not all(cell.bold for cell in second if cell.text):
        return 1
    return int(any(_counts(rows[1:20], column, len(first) > 2) for column in range(len(first))))


def _counts(rows: list[TableRow], column: int, some: bool) -> bool:
    """Whether a column holds numbers: in each row, or with ``some`` in one of them."""
    words = [row.cells[column].text for row in rows if column < len(row.cells) and row.cells[column].text]
    found = sum(_NUMBER.fullmatch(text) is not None for text in words)
    return found > 0 and (some or found == len(words))


def _spans_all(row: TableRow, width: int) -> bool:
    return width > 1 and len(row.cells) == 1 and row.cells[0].span >= width
