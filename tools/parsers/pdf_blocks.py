"""Blocks of a PDF out of its lines: paragraphs, lists, terms with what they mean, code, tables, captions, footnotes."""

import re
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from typing import NamedTuple

from graph.evidence import BlockKind
from tools.parsers.canonical_text import COLONS, CanonicalText, unwrapped
from tools.parsers.pdf_layout import Layout
from tools.parsers.pdf_lines import Line, LineJoiner, Page
from tools.parsers.pdf_reading import CAPTION, ENDED, NEAR, NOTE, PageReading
from tools.parsers.pdf_tables import Table, find_more_rows, find_table, is_rest_of_row

_LEADERS = re.compile(r"(?:\s?\.){4,}\s*|…{2,}\s*")
_LONGEST_LEAD_IN = 400
_CELLS_APART = 1.5  # of the type size
_MOST_TERMS = 12  # lines above one meaning


class _Container(NamedTuple):
    """A list item or term that indented blocks below it belong to; ``chain`` are its blocks, the outermost first."""

    x: float
    chain: tuple[int, ...]
    lead_in: int | None = None


class _Last(NamedTuple):
    at: int
    kind: BlockKind
    text: str
    x: float
    chain: tuple[int, ...]


class _OpenTable(NamedTuple):
    """A table that may go on: its columns, what its rows hang on, and its header row, if it has one."""

    columns: list[tuple[float, float]]
    chain: tuple[int, ...]
    header: list[str]
    last_row: list[str]

    def goes_on(self, table: Table, *, on_next_page: bool) -> bool:
        """Whether a table has its columns, and no header row but its own, as on the next page."""
        if table.has_header or table.rows[0] == self.header:
            return on_next_page and table.rows[0] == self.header
        return len(table.columns) == len(self.columns) and all(
            x0 <= right and left <= x1 for (x0, x1), (left, right) in zip(table.columns, self.columns, strict=True)
        )


class BlockWriter:
    """Writes the pages of a document, one after the other, to a canonical text."""

    def __init__(self, text: CanonicalText, layout: Layout, pages: list[Page]) -> None:
        self._text = text
        self._layout = layout
        self._containers: list[_Container] = []
        self._last: _Last | None = None
        self._open_table: _OpenTable | None = None
        self._tail: tuple[PageReading, Line] | None = None  # the last line of text of the page before
        self.repeated = 0  # header rows of tables that go on
        self._columns_of_terms: set[tuple[int, int]] = set()
        self._caption: int | None = None
        self._pages = pages
        self._joined = LineJoiner(pages)
        self._hanging: set[int] = set()  # edges where the text of items begins
        self._page_idx = 0

    def write(self, page_idx: int, page: Page) -> None:
        """Write a page's blocks."""
        self._text.page_idx = self._page_idx = page_idx
        self._page = PageReading(page_idx, page, self._layout, self._hanging)
        self._caption = None
        self._notes = self._page.first_footnote()
        self._notes_written = False
        place = 0
        while place < (self._notes if self._notes_written else len(page.lines)):
            place = self._write_next(place)
        if self._notes:
            self._tail = (self._page, page.lines[self._notes - 1])

    def _write_next(self, place: int) -> int:
        ways: list[Callable[[int], int | None]] = [self._contents, self._heading]
        if place >= self._notes:
            ways = [self._footnote]
        else:
            ways += [self._caption_line, self._table, self._item, self._term_beside, self._terms_above, self._code]
        for way in ways:
            if (end := way(place)) is not None:
                return end
        return self._paragraph(place)

    # --- what is written ----------------------------------------------------------------------------------------

    def _add(
        self,
        kind: BlockKind,
        text: str,
        x: float,
        hangs_on: tuple[int | None, ...],
        *,
        tight: bool = False,
        goes_on: bool = False,
    ) -> int | None:
        chain = tuple(dict.fromkeys(index for index in hangs_on if index is not None))
        index = self._text.add(kind, text, tight=tight, hangs_on=chain, goes_on=goes_on)
        if index is not None and kind != "footnote":
            self._last = _Last(index, kind, text, x, chain)
        return index

    def _above(self, x: float) -> tuple[int, ...]:
        """Leave the containers that a block at ``x`` is not inside, and return the blocks that it is."""
        while self._containers and self._containers[-1].x >= x - NEAR:
            self._containers.pop()
        return self._containers[-1].chain if self._containers else ()

    def _contents(self, place: int) -> int | None:
        if (self._page_idx, place) not in self._layout.contents:
            return None
        self._containers.clear()
        self._add("contents", unwrapped(_LEADERS.sub(" ... ", self._page.lines[place].text)), 0.0, (), tight=True)
        return place + 1

    def _heading(self, place: int) -> int | None:
        level = self._layout.headings.get((self._page_idx, place))
        if level is None:
            return None
        end = place + 1
        while end < len(self._page.lines) and self._layout.headings.get((self._page_idx, end)) == level:
            above, below = self._page.lines[end - 1], self._page.lines[end]
            if not (above.size == below.size and 0 < above.y - below.y <= 1.4 * below.size) or re.match(
                r"\d+(\.\d+)+\s", below.text
            ):
                break
            end += 1
        self._text.add_heading(level, self._joined(self._page.lines[place:end]))
        self._containers.clear()
        self._open_table = None
        self._last = None
        return end

    def _caption_line(self, place: int) -> int | None:
        if not CAPTION.match(self._page.lines[place].text):
            return None
        end = self._page.paragraph_end(place, self._page.lines[place].x0)
        below_table = self._last is not None and self._last.kind == "table_row"
        index = self._add("caption", self._joined(self._page.lines[place:end]), 0.0, ())
        self._caption = None if below_table else index
        return end

    def _table(self, place: int) -> int | None:
        caption = self._caption is not None and self._last is not None and self._last.at == self._caption
        lines, ends, open_table, table = self._page.lines, self._page.ends_table, self._open_table, None
        if place == 0 and open_table is not None and self._last is not None and self._last.kind == "table_row":
            table = find_more_rows(lines, place, self._layout, ends, open_table.columns)
        table = table or find_table(lines, place, self._layout, ends, captioned=caption)
        if table is None:
            return None
        self._write_table(place, table, self._caption if caption else None)
        return table.end

    def _write_table(self, place: int, table: Table, caption: int | None) -> None:
        last, line = self._last, self._page.lines[place]
        x = self._page.indent(line)
        above: tuple[int | None, ...] = (*self._above(x), caption)
        if caption is None and last is not None and last.kind == "paragraph" and last.text.endswith(COLONS):
            above = (*above, last.at)
        open_table, rows, header = self._open_table, table.rows, None
        if open_table and caption is None and open_table.goes_on(table, on_next_page=place == 0):
            above, names = open_table.chain, open_table.header
            self.repeated += rows[0] == names
            rows = rows[rows[0] == names :]
        else:
            names, open_table = table.rows[0] if table.has_header else [], None
        for number, row in enumerate(rows):
            filled = max((column + 1 for column, cell in enumerate(row) if cell), default=0)
            cells = " | ".join(unwrapped(cell) for cell in row[:filled])
            goes_on = open_table is not None and number == place == 0 and is_rest_of_row(open_table.last_row, row)
            index = self._add("table_row", cells, x, (*above, header), tight=number > 0, goes_on=goes_on)
            if number == 0 and table.has_header and open_table is None:
                header = index
        chain = tuple(index for index in (*above, header) if index is not None)
        self._open_table = _OpenTable(table.columns, chain, names, table.rows[-1])

    def _footnote(self, place: int) -> int | None:
        end = place + 1
        while end < len(self._page.lines) and not NOTE.match(self._page.lines[end].text):
            end += 1
        self._add("footnote", self._joined(self._page.lines[place:end]), 0.0, ())
        return end

    # --- lists --------------------------------------------------------------------------------------------------

    def _item(self, place: int) -> int | None:
        marker = self._page.marker(place)
        if marker is None:
            return None
        line = self._page.lines[place]
        if line.second_x > line.x0:
            self._hanging.add(round(line.second_x))
        body = line.second_x if line.second_x > line.x0 else None
        end = place + 1
        while end < len(self._page.lines) and not self._page.starts_other(end):
            above, below = self._page.lines[end - 1], self._page.lines[end]
            left = body if end > place + 1 or body is None or abs(below.x0 - body) <= NEAR else below.x0
            if body is None or end == place + 1:
                left = below.x0 if below.x0 >= line.x0 - 1 and (body is None or below.x0 <= body + NEAR) else body
            if left is None or not self._page.follows(above, below, left):
                break
            body = left
            end += 1
        x = self._page.indent(line)
        lead_in = self._lead_in(x)
        above_chain = self._above(x)
        text = self._joined(self._page.lines[place:end])
        self._write_notes_before(end)
        tight = self._last is not None and self._last.kind == "list_item"
        index = self._add("list_item", text, x, (*above_chain, lead_in), tight=tight)
        if index is not None:
            chain = tuple(dict.fromkeys((*above_chain, *((lead_in,) if lead_in is not None else ()), index)))
            self._containers.append(_Container(x, chain, lead_in))
        return end

    def _lead_in(self, x: float) -> int | None:
        """Return the paragraph that leads in the list of an item at ``x``."""
        for container in reversed(self._containers):
            if abs(container.x - x) <= 7 and container.lead_in is not None:
                return container.lead_in
        last = self._last
        if last is None or last.kind != "paragraph":
            return None
        return last.at if last.text.endswith(COLONS) or len(last.text) <= _LONGEST_LEAD_IN else None

    # --- terms --------------------------------------------------------------------------------------------------

    def _term_beside(self, place: int) -> int | None:
        """Write a term whose meaning begins on the same line, at the edge where the next lines begin."""
        line = self._page.lines[place]
        if len(line.cells) < 2 or not line.lead or line.fixed:
            return None
        below = self._page.lines[place + 1] if place + 1 < len(self._page.lines) else None
        goes_on = below is not None and not below.fixed and 0 < line.y - below.y <= 1.3 * self._layout.leading(line)
        for cell in line.cells[1:]:
            shape = (round(line.x0), round(cell.x0))
            deeper = cell.x0 > line.x0 + 1.2 * line.size and cell.at <= 60
            if not deeper or not (
                (goes_on and below is not None and abs(below.x0 - cell.x0) <= 1.5) or shape in self._columns_of_terms
            ):
                continue
            self._columns_of_terms.add(shape)
            end = self._page.paragraph_end(place, cell.x0)
            x = self._page.indent(line)
            above = self._above(x)
            term = self._add("term", unwrapped(line.text[: cell.at]), x, above)
            if term is None:
                return None
            self._containers.append(_Container(x, (*above, term)))
            body = self._joined([replace(line, text=line.text[cell.at :]), *self._page.lines[place + 1 : end]])
            self._add("paragraph", body, x + cell.x0 - line.x0, (*above, term), tight=True)
            return end
        return None

    def _terms_above(self, place: int) -> int | None:
        """Write the terms that stand on lines of their own, above a meaning that is indented."""
        page, lines = self._page, self._page.lines
        line, end = lines[place], place
        most = min(len(lines), place + _MOST_TERMS)
        while end < most and page.could_be_term(end, line, first=end == place):
            end += 1
        if end == place:
            return None
        body, most = end, min(len(lines), end + 3)
        while body < most and lines[body].fixed and lines[body].x0 > line.x0 + line.size:
            body += 1
        if body == len(lines) or not page.is_meaning(line, body, lines[end] if body > end else None):
            return None
        x = page.indent(line)
        above = self._above(x)
        chain = list(above)
        for number in range(place, body):
            hangs_on = tuple(chain) if number >= end else above
            index = self._add("term", unwrapped(lines[number].text), x, hangs_on, tight=number > place)
            if index is not None:
                chain.append(index)
        self._containers.append(_Container(x, tuple(chain)))
        left = lines[body].x0
        self._columns_of_terms.add((round(line.x0), round(left)))
        if page.marker(body) or page.starts_other(body):
            return body
        stop = page.paragraph_end(body, left)
        self._add("paragraph", self._joined(lines[body:stop]), page.indent(lines[body]), tuple(chain), tight=True)
        return stop

    # --- code and paragraphs ------------------------------------------------------------------------------------

    def _code(self, place: int) -> int | None:
        lines = self._page.lines
        if not lines[place].fixed or not self._page.is_code(place):
            return None
        end = self._page.code_end(place)
        x = self._page.indent(lines[place])
        last = self._last
        above = self._above(x)
        before: tuple[int | None, ...] = ()
        if last is not None and last.kind == "code":
            before = last.chain
        elif last is not None and last.kind in ("paragraph", "list_item"):
            before = (*last.chain, last.at)
        self._add("code", self._page.code_text(place, end), x, (*above, *before))
        return end

    def _paragraph(self, place: int) -> int:
        line = self._page.lines[place]
        end = self._page.paragraph_end(place, None)
        end = next((at for at in range(place + 1, end) if self._begins_table(at)), end)
        end = self._end_over_columns(end)
        x = self._page.indent(line)
        if end > place + 1:
            x -= max(line.x0 - self._page.lines[place + 1].x0, 0.0)
        elif abs(x - self._layout.first_indent) <= NEAR:
            x = 0.0
        text = self._joined(self._page.lines[place:end])
        last = self._last
        above = self._above(x)
        goes_on = place == 0 and last is not None and self._is_unfinished(last, line)
        if goes_on and last is not None:
            above = (*last.chain, last.at)
        self._write_notes_before(end)
        self._add("paragraph", text, x, above, goes_on=goes_on)
        return end

    def _end_over_columns(self, end: int) -> int:
        """Return the place after a paragraph that goes on at the head of the next column."""
        lines = self._page.lines
        if not end < self._notes or lines[end].column == lines[end - 1].column or lines[end].fixed:
            return end
        goes_on = lines[end].text[0].islower() and not ENDED.search(lines[end - 1].text)
        return self._page.paragraph_end(end, None) if goes_on and not self._page.starts_other(end) else end

    def _write_notes_before(self, end: int) -> None:
        """Write the page's footnotes before its last paragraph, if that goes on on the next page."""
        lines, following = self._page.lines, self._pages[self._page_idx + 1 : self._page_idx + 2]
        goes_on = any(line.text[0].islower() for page in following for line in page.lines[:1])
        if goes_on and end == self._notes < len(lines) and not ENDED.search(lines[end - 1].text):
            place, self._notes_written = self._notes, True
            while place < len(lines):
                place = self._write_next(place)

    def _begins_table(self, place: int) -> bool:
        line = self._page.lines[place]
        wide = any(cell.x0 - before.x1 > _CELLS_APART * line.size for before, cell in pairwise(line.cells))
        return (
            wide
            and find_table(self._page.lines, place, self._layout, self._page.ends_table, captioned=False) is not None
        )

    def _is_unfinished(self, last: _Last, line: Line) -> bool:
        """Whether the last text of the page before goes on with a line: in its middle, or as full lines do."""
        if last.kind not in ("paragraph", "list_item") or ENDED.search(last.text) or self._tail is None:
            return False
        page, tail = self._tail
        if line.text[0].islower():
            return True
        first = self._layout.first_indent and abs(self._page.indent(line) - self._layout.first_indent) <= NEAR
        return bool(self._layout.right) and tail.size == line.size and not first and not page.could_hold(tail, line)
