"""Blocks of a PDF out of its lines: paragraphs, lists, terms with what they mean, code, tables, captions, footnotes."""

import re
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from statistics import median
from typing import NamedTuple

from graph.evidence import BlockKind
from text.scripts import CHINESE_AND_JAPANESE_TEXT
from tools.parsers.canonical_text import CanonicalText, unwrapped
from tools.parsers.pdf_layout import Layout
from tools.parsers.pdf_lines import Line, Page
from tools.parsers.pdf_tables import Table, find_table

_BULLET = re.compile(r"[•‣◦▪▫●○■□◆◇➢➤✓❖\uf0b7\uf0a7](?=\s|$)|[–—*·-](?=\s)")
_SURE_BULLET = re.compile(r"[•‣◦▪▫●○■□◆◇➢➤✓❖\uf0b7\uf0a7]")
_ORDER = re.compile(r"(?:\((?:\d{1,3}|[a-zA-Z]|[ivx]{1,5})\)|(?:\d{1,3}|[a-zA-Z]|[ivx]{1,5})[.)])(?=\s)")
_CAPTION = re.compile(
    r"(?:table|figure|fig\.|listing|example|exhibit|bảng|hình|表|图|圖)(?:\s*\d+|\s+(?-i:[A-Z])(?=[.\d:\-]))(?:[.\-‑]?\d+)*\s*(?:[:.：—–]|$)",
    re.IGNORECASE,
)
_NOTE = re.compile(r"\d{1,3}\s*\S|[*†‡§¶]|[⁰¹²³⁴-⁹]+")
_LEADERS = re.compile(r"(?:\s?\.){4,}\s*|…{2,}\s*")
_ENDED = re.compile(r"[.!?:;。！？：；…]['\"”’)\]]*\d*$")
_UNSPACED = re.compile(f"[{CHINESE_AND_JAPANESE_TEXT}]")
_NEAR = 2.5  # points: edges that are meant to be the same
_SMALL = 0.92  # of the usual size: footnotes
_LONGEST_TERM = 100
_LONGEST_LEAD_IN = 400
_OFTEN = 3
_SOME = 0.4
_AHEAD = 6  # lines


class _Container(NamedTuple):
    """A list item or term that indented blocks below it belong to; ``chain`` are its blocks, the outermost first."""

    x: float
    chain: tuple[int, ...]
    lead_in: int | None = None


class _Last(NamedTuple):
    """The block that was written last."""

    at: int
    kind: BlockKind
    text: str
    x: float
    chain: tuple[int, ...]


class BlockWriter:
    """Writes the pages of a document, one after the other, to a canonical text."""

    def __init__(self, text: CanonicalText, layout: Layout, pages: list[Page]) -> None:
        self._text = text
        self._layout = layout
        self._containers: list[_Container] = []
        self._last: _Last | None = None
        self._run_in_x: float | None = None  # where the terms begin of a list that is being written
        self._open_table: tuple[list[int], tuple[int, ...]] | None = None
        self._columns_of_terms: set[tuple[int, int]] = set()
        self._hanging: set[int] = set()
        self._caption: int | None = None
        self._hyphenated = frozenset(
            word.lower()
            for page in pages
            for line in page.lines
            if "-" in line.text
            for word in re.findall(r"\w+-\w+", line.text)
        )
        self._page_idx = 0
        self._plain_terms: Counter[tuple[int, int]] = Counter()
        for page in pages:
            self._turn_to(page)
            for place in range(len(page.lines)):
                if (shape := self._plain_term(place)) is not None:
                    self._plain_terms[shape] += 1

    def write(self, page_idx: int, page: Page) -> None:
        """Write a page's blocks."""
        self._text.page_idx = self._page_idx = page_idx
        self._turn_to(page)
        self._columns_of_terms.clear()
        self._caption = None
        notes = self._footnotes(page)
        place = 0
        while place < len(page.lines):
            place = self._write_next(place, notes)

    def _write_next(self, place: int, notes: int) -> int:
        ways: list[Callable[[int], int | None]] = [self._contents, self._heading]
        if place >= notes:
            ways = [self._footnote]
        else:
            ways += [self._caption_line, self._table, self._item, self._term, self._code]
        for way in ways:
            end = way(place)
            if end is not None:
                break
        else:
            end = self._paragraph(place)
        if self._run_in_x is not None and way != self._term and self._lines[place].x0 <= self._run_in_x + 1:
            self._run_in_x = None
        return end

    # --- what the lines say -------------------------------------------------------------------------------------

    def _turn_to(self, page: Page) -> None:
        """Take up a page: its lines, and where they begin and end at most."""
        self._lines = page.lines
        columns: tuple[list[Line], list[Line]] = ([], [])
        self._widest: dict[float, float] = {}
        for line in page.lines:
            columns[line.column].append(line)
            self._widest[line.size] = max(line.x1, self._widest.get(line.size, 0.0))
        self._second_left = min((line.x0 for line in columns[1]), default=0.0)
        self._edges = [self._layout.right] * 2
        if columns[1]:
            self._edges = [max((line.x1 for line in column), default=0.0) for column in columns]

    def _indent(self, line: Line) -> float:
        """Return how far a line begins from the left edge of its column."""
        if line.column:
            return line.x0 - self._second_left
        return line.x0 - self._layout.left[self._page_idx % 2]

    def _could_hold(self, above: Line, below: Line) -> bool:
        """Whether the first word of a line would have fitted into the one above: the break was meant."""
        word = below.text.split(maxsplit=1)[0]
        width = below.size if _UNSPACED.match(word) else min((below.x1 - below.x0) * len(word) / len(below.text), 200)
        edge = self._edges[above.column]
        if edge:
            return above.x1 + width + 0.8 * above.size < edge
        edge = self._widest[above.size]
        return bool(_ENDED.search(above.text)) and above.x1 + width + 2 * above.size < edge

    def _follows(self, above: Line, below: Line, left: float | None) -> bool:
        """Whether a line goes on with the paragraph of the line above, whose lines but the first begin at ``left``."""
        usual = self._layout.leading(below)
        distance = above.y - below.y
        if above.column != below.column or not 0 < distance <= 1.3 * usual or below.size < 0.8 * above.size:
            return False
        if above.split and below.text[0].isalnum() and abs(below.x0 - above.x0) <= 5 * above.size:
            return True
        shift = below.x0 - (above.x0 if left is None else left)
        meant = self._could_hold(above, below)
        if left is None and abs(shift) > _NEAR:
            return not meant and -5 * above.size <= shift <= 5 * above.size
        return abs(shift) <= _NEAR and not meant

    def _starts_other(self, place: int) -> bool:
        """Whether a line cannot be inside a paragraph."""
        key = (self._page_idx, place)
        if key in self._layout.headings or key in self._layout.contents:
            return True
        line = self._lines[place]
        return (
            self._marker(place) is not None
            or (line.fixed and self._is_code(place))
            or _CAPTION.match(line.text) is not None
        )

    def _ends_table(self, place: int) -> bool:
        key, text = (self._page_idx, place), self._lines[place].text
        if key in self._layout.headings or key in self._layout.contents:
            return True
        return bool(_CAPTION.match(text) or _SURE_BULLET.match(text))

    def _joined(self, lines: list[Line]) -> str:
        text = lines[0].text
        for above, below in pairwise(lines):
            if above.split:
                text = self._unsplit(text, below.text)
            else:
                text += "\n" + below.text
        return unwrapped(text)

    def _unsplit(self, text: str, rest: str) -> str:
        """Join a word that was split at the end of a line; a hyphen stays before a capital and where it is usual."""
        before, after = re.search(r"\w*$", text[:-1]), re.match(r"\w*", rest)
        word = f"{before[0]}-{after[0]}".lower() if before and after else ""
        if rest[0].islower() and word not in self._hyphenated:
            return text[:-1] + rest
        return text.rstrip("\u2010\xad-") + "-" + rest

    # --- what is written ----------------------------------------------------------------------------------------

    def _add(
        self, kind: BlockKind, text: str, x: float, hangs_on: tuple[int | None, ...], *, tight: bool = False
    ) -> int | None:
        chain = tuple(dict.fromkeys(index for index in hangs_on if index is not None))
        index = self._text.add(kind, text, tight=tight, hangs_on=chain)
        if index is not None and kind != "footnote":
            self._last = _Last(index, kind, text, x, chain)
        return index

    def _above(self, x: float) -> tuple[int, ...]:
        """Leave the containers that a block at ``x`` is not inside, and return the blocks that it is."""
        while self._containers and self._containers[-1].x >= x - _NEAR:
            self._containers.pop()
        return self._containers[-1].chain if self._containers else ()

    def _contents(self, place: int) -> int | None:
        if (self._page_idx, place) not in self._layout.contents:
            return None
        self._containers.clear()
        self._add("contents", unwrapped(_LEADERS.sub(" ... ", self._lines[place].text)), 0.0, (), tight=True)
        return place + 1

    def _heading(self, place: int) -> int | None:
        level = self._layout.headings.get((self._page_idx, place))
        if level is None:
            return None
        end = place + 1
        while end < len(self._lines) and self._layout.headings.get((self._page_idx, end)) == level:
            above, below = self._lines[end - 1], self._lines[end]
            if not (above.size == below.size and 0 < above.y - below.y <= 1.4 * below.size) or re.match(
                r"\d+(\.\d+)+\s", below.text
            ):
                break
            end += 1
        self._text.add_heading(level, self._joined(self._lines[place:end]))
        self._containers.clear()
        self._open_table = None
        self._last = None
        return end

    def _caption_line(self, place: int) -> int | None:
        if not _CAPTION.match(self._lines[place].text) and not self._is_above_table(place):
            return None
        end = self._paragraph_end(place, self._lines[place].x0)
        below_table = self._last is not None and self._last.kind == "table_row"
        index = self._add("caption", self._joined(self._lines[place:end]), 0.0, ())
        self._caption = None if below_table else index
        return end

    def _is_above_table(self, place: int) -> bool:
        """Whether a short line in the middle of the page stands above a table."""
        line = self._lines[place]
        if place + 1 >= len(self._lines) or len(line.cells) > 1 or len(line.text) > 80 or _ENDED.search(line.text):
            return False
        near = 0 < line.y - self._lines[place + 1].y <= 2.5 * self._layout.leading(line)
        if not near or self._indent(line) < 2 * line.size:
            return False
        table = find_table(self._lines, place + 1, self._layout, self._ends_table, captioned=True)
        return table is not None and table.has_header

    def _table(self, place: int) -> int | None:
        caption = self._caption is not None and self._last is not None and self._last.at == self._caption
        table = find_table(self._lines, place, self._layout, self._ends_table, captioned=caption)
        if table is None:
            return None
        self._write_table(place, table, self._caption if caption else None)
        return table.end

    def _write_table(self, place: int, table: Table, caption: int | None) -> None:
        last, line = self._last, self._lines[place]
        x = self._indent(line)
        above: tuple[int | None, ...] = (*self._above(x), caption)
        if caption is None and last is not None and last.kind == "paragraph" and last.text.endswith((":", "：")):
            above = (*above, last.at)
        columns = [round(edge) for edge in table.edges]
        if self._open_table is not None and not table.has_header and self._open_table[0] == columns:
            above = self._open_table[1]  # the table goes on from the page before, or after a formula
        header: int | None = None
        for number, row in enumerate(table.rows):
            cells = " | ".join(unwrapped(cell) for cell in row)
            cells = re.sub(r"(?: \|\s*)+$", "", cells)
            index = self._add("table_row", cells, x, (*above, header), tight=number > 0)
            if number == 0 and table.has_header:
                header = index
        self._open_table = (columns, tuple(index for index in (*above, header) if index is not None))

    def _footnote(self, place: int) -> int | None:
        end = place + 1
        while end < len(self._lines) and not _NOTE.match(self._lines[end].text):
            end += 1
        self._add("footnote", self._joined(self._lines[place:end]), 0.0, ())
        return end

    def _footnotes(self, page: Page) -> int:
        """Return the place of the first footnote: small lines at the page's foot that begin with a number or mark."""
        lines, first = page.lines, len(page.lines)
        while first and lines[first - 1].size <= _SMALL * self._layout.size and lines[first - 1].y < 0.5 * page.height:
            first -= 1
        while first < len(lines) and not _NOTE.match(lines[first].text):
            first += 1
        plain = first and lines[first - 1].size > _SMALL * self._layout.size
        return first if plain else len(lines)

    # --- lists --------------------------------------------------------------------------------------------------

    def _marker(self, place: int) -> str | None:
        """Return the bullet or number that a line begins with, if it is a list item's."""
        line = self._lines[place]
        if line.fixed and not _SURE_BULLET.match(line.text):
            return None
        bullet, order = _BULLET.match(line.text), _ORDER.match(line.text)
        if bullet is None and order is None:
            return None
        marker = (bullet or order)[0]  # type: ignore[index]
        if _SURE_BULLET.match(marker):
            return marker
        if line.second_x <= line.x0 or len(line.text) <= len(marker) + 1:
            return None
        below = self._lines[place + 1] if place + 1 < len(self._lines) else None
        hangs = (
            below is not None
            and abs(below.x0 - line.second_x) <= _NEAR
            and 0 < line.y - below.y < 2 * self._layout.leading(line)
        )
        if hangs or round(line.second_x) in self._hanging:
            return marker
        same = _BULLET if bullet else _ORDER
        for other in (*self._lines[max(0, place - 12) : place], *self._lines[place + 1 : place + 13]):
            if abs(other.second_x - line.second_x) <= 1.5 and other.second_x > other.x0 + 1 and same.match(other.text):
                return marker
        return None

    def _item(self, place: int) -> int | None:
        marker = self._marker(place)
        if marker is None:
            return None
        line = self._lines[place]
        if line.second_x > line.x0:
            self._hanging.add(round(line.second_x))
        body = line.second_x if line.second_x > line.x0 else None
        end = place + 1
        while end < len(self._lines) and not self._starts_other(end):
            above, below = self._lines[end - 1], self._lines[end]
            left = body if end > place + 1 or body is None or abs(below.x0 - body) <= _NEAR else below.x0
            if body is None or end == place + 1:
                left = below.x0 if below.x0 >= line.x0 - 1 and (body is None or below.x0 <= body + _NEAR) else body
            if left is None or not self._follows(above, below, left):
                break
            body = left
            end += 1
        x = self._indent(line)
        lead_in = self._lead_in(x)
        above_chain = self._above(x)
        text = self._joined(self._lines[place:end])
        index = self._add(
            "list_item",
            text,
            x,
            (*above_chain, lead_in),
            tight=self._last is not None and self._last.kind == "list_item",
        )
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
        return last.at if last.text.endswith((":", "：")) or len(last.text) <= _LONGEST_LEAD_IN else None

    # --- terms --------------------------------------------------------------------------------------------------

    def _term(self, place: int) -> int | None:
        return self._term_beside(place) or self._terms_above(place) or self._run_in_term(place)

    def _run_in_term(self, place: int) -> int | None:
        """Write a term that a paragraph begins with, whose other lines are indented."""
        line = self._lines[place]
        if not 0 < line.lead < min(len(line.text) - 1, 60) or line.fixed or self._marker(place):
            return None
        hangs = self._hangs(place)
        if not hangs and (self._run_in_x is None or abs(line.x0 - self._run_in_x) > 1):
            ahead = place + 1
            while (
                ahead < min(place + _AHEAD, len(self._lines) - 1)
                and self._is_like(line, ahead)
                and not self._hangs(ahead)
            ):
                ahead += 1
            if ahead >= len(self._lines) or not (self._is_like(line, ahead) and self._hangs(ahead)):
                return None
        self._run_in_x = line.x0
        x = self._indent(line)
        above = self._above(x)
        term = self._add("term", unwrapped(line.text[: line.lead]), x, above)
        if term is None:
            return None
        self._containers.append(_Container(x, (*above, term)))
        end = self._paragraph_end(place, self._lines[place + 1].x0) if hangs else place + 1
        first = replace(line, text=line.text[line.lead :].strip())
        self._add(
            "paragraph", self._joined([first, *self._lines[place + 1 : end]]), x + 2 * _NEAR, (*above, term), tight=True
        )
        return end

    def _hangs(self, place: int) -> bool:
        """Whether the next line goes on with this one, and is indented."""
        if place + 1 >= len(self._lines) or self._starts_other(place + 1):
            return False
        line, below = self._lines[place : place + 2]
        indent = below.x0 - line.x0
        return 0.9 * line.size <= indent <= 8 * line.size and self._follows(line, below, below.x0)

    def _is_like(self, line: Line, place: int) -> bool:
        other = self._lines[place]
        near = abs(other.x0 - line.x0) <= 1 and 0 < self._lines[place - 1].y - other.y <= 2.5 * self._layout.leading(
            other
        )
        return near and other.lead > 0 and not other.fixed

    def _term_beside(self, place: int) -> int | None:
        """Write a term whose meaning begins on the same line, at the edge where the next lines begin."""
        line = self._lines[place]
        if len(line.cells) < 2 or not line.lead or line.fixed:
            return None
        below = self._lines[place + 1] if place + 1 < len(self._lines) else None
        goes_on = below is not None and not below.fixed and 0 < line.y - below.y <= 1.3 * self._layout.leading(line)
        for cell in line.cells[1:]:
            shape = (round(line.x0), round(cell.x0))
            deeper = cell.x0 > line.x0 + 1.2 * line.size and cell.at <= 60
            if not deeper or not (
                (goes_on and below is not None and abs(below.x0 - cell.x0) <= 1.5) or shape in self._columns_of_terms
            ):
                continue
            self._columns_of_terms.add(shape)
            self._run_in_x = line.x0
            x = self._indent(line)
            above = self._above(x)
            term = self._add("term", unwrapped(line.text[: cell.at]), x, above)
            if term is None:
                return None
            self._containers.append(_Container(x, (*above, term)))
            end = self._paragraph_end(place, cell.x0)
            first = line.text[cell.at :]
            body = self._joined([replace(line, text=first), *self._lines[place + 1 : end]])
            self._add("paragraph", body, x + cell.x0 - line.x0, (*above, term), tight=True)
            return end
        return None

    def _terms_above(self, place: int) -> int | None:
        """Write the terms that stand on lines of their own, above a meaning that is indented."""
        line = self._lines[place]
        end = place
        while end < len(self._lines) and self._could_be_term(end, line, first=end == place):
            end += 1
        if end == place:
            return None
        body = end
        while (
            body < len(self._lines)
            and self._lines[body].fixed
            and self._lines[body].x0 > line.x0 + line.size
            and body < end + 3
        ):
            body += 1
        if body == len(self._lines) or not self._is_meaning(line, body, self._lines[end] if body > end else None):
            return None
        x = self._indent(line)
        above = self._above(x)
        chain = list(above)
        for number in range(place, body):
            index = self._add(
                "term",
                unwrapped(self._lines[number].text),
                x,
                tuple(chain) if number >= end else above,
                tight=number > place,
            )
            if index is not None:
                chain.append(index)
        self._containers.append(_Container(x, tuple(chain)))
        left = self._lines[body].x0
        if self._marker(body) or self._starts_other(body):
            return body
        stop = self._paragraph_end(body, left)
        self._add(
            "paragraph", self._joined(self._lines[body:stop]), self._indent(self._lines[body]), tuple(chain), tight=True
        )
        return stop

    def _could_be_term(self, place: int, first_line: Line, *, first: bool) -> bool:
        line = self._lines[place]
        if (
            len(line.text) > _LONGEST_TERM
            or abs(line.x0 - first_line.x0) > 1
            or (not first and self._starts_other(place) and not line.fixed)
        ):
            return False
        if not first and not 0 < self._lines[place - 1].y - line.y <= 1.4 * self._layout.leading(line):
            return False
        if line.fixed or line.bold:
            return not (line.fixed and (line.text.startswith((">", "$ ")) or line.text.endswith(("{", "(", ",", "\\"))))
        if line.text.endswith((".", ",", ";", "!", "?", "。")) or len(line.text) > 60:
            return False
        if line.lead:
            return not self._edges[line.column] or line.x1 < self._edges[line.column] - 3 * line.size
        shape = self._plain_term(place)
        return shape is not None and self._plain_terms[shape] >= _OFTEN

    def _is_meaning(self, term: Line, place: int, signature: Line | None) -> bool:
        """Whether a line is the beginning of what the term above it means: indented text that goes on so."""
        line = self._lines[place]
        distance = self._lines[place - 1].y - line.y
        indent = line.x0 - term.x0
        if (
            line.fixed
            or (line.lead and line.fixed_share >= _SOME)
            or not 0 < distance <= 1.7 * self._layout.leading(line)
            or not 0.9 * line.size <= indent <= 12 * line.size
        ):
            return False
        if signature is not None and line.x0 > signature.x0 + 1:
            return False
        if self._marker(place) and not term.fixed:
            return False
        below = self._lines[place + 1] if place + 1 < len(self._lines) else None
        if (
            below is not None
            and 0 < line.y - below.y <= 1.05 * self._layout.leading(below)
            and below.x0 < line.x0 - _NEAR
        ):
            return not self._follows(line, below, None)  # otherwise only the first line is indented: a paragraph
        if abs(indent - self._layout.first_indent) <= _NEAR:
            return below is not None and self._follows(line, below, line.x0)
        return True

    def _plain_term(self, place: int) -> tuple[int, int] | None:
        """Return the shape of a short line that could be a term in the usual type: its indent, and its meaning's."""
        lines = self._lines
        if place + 2 >= len(lines):
            return None
        line, body, below = lines[place : place + 3]
        if (
            line.fixed
            or body.fixed
            or len(line.text) > 40
            or len(line.text.split()) > 5
            or _ENDED.search(line.text)
            or _BULLET.match(line.text)
            or _ORDER.match(line.text)
        ):
            return None
        if not line.size == body.size == below.size or line.column != below.column:
            return None
        usual = self._layout.leading(line)
        apart = (
            place == 0 or not 0 < lines[place - 1].y - line.y <= 1.08 * usual or lines[place - 1].x0 > line.x0 + _NEAR
        )
        close = 0 < line.y - body.y <= 1.3 * usual and 0 < body.y - below.y <= 1.15 * usual
        if apart and close and 1.2 * line.size <= body.x0 - line.x0 <= 8 * line.size and abs(below.x0 - body.x0) <= 1:
            return round(line.x0), round(body.x0 - line.x0)
        return None

    # --- code and paragraphs ------------------------------------------------------------------------------------

    def _is_code(self, place: int) -> bool:
        """Whether a line of fixed width stands apart from the text above its run: with space, or after its end."""
        first = place
        while first and self._lines[first - 1].fixed and place - first < 40:
            first -= 1
        line = self._lines[first]
        if not first:
            return True
        above = self._lines[first - 1]
        usual = self._layout.leading(above)
        if not 0 < above.y - line.y <= 1.12 * usual or above.column != line.column:
            return True
        return self._could_hold(above, line) or (
            abs(line.x0 - above.x0) > _NEAR and _ENDED.search(above.text) is not None
        )

    def _code(self, place: int) -> int | None:
        lines = self._lines
        if not lines[place].fixed or not self._is_code(place):
            return None
        end = place + 1
        while end < len(lines) and self._code_goes_on(place, end):
            distance = lines[end - 1].y - lines[end].y
            if not 0 < distance <= 4 * self._layout.leading(lines[end]) or lines[end].column != lines[place].column:
                break
            if end > place and lines[end].x0 < lines[place].x0 - lines[place].size and self._terms_here(end):
                break
            end += 1
        run = lines[place:end]
        x0 = min(line.x0 for line in run)
        pitch = median((line.x1 - line.x0) / len(line.text) for line in run) or 1.0
        rows: list[str] = []
        for number, line in enumerate(run):
            blank = number and run[number - 1].y - line.y > 1.6 * self._layout.leading(line)
            rows += [""] * bool(blank) + [" " * min(120, round((line.x0 - x0) / pitch)) + line.text]
        x = self._indent(lines[place])
        last = self._last
        above = self._above(x)
        before: tuple[int | None, ...] = ()
        if last is not None and last.kind == "code":
            before = last.chain
        elif last is not None and last.kind in ("paragraph", "list_item"):
            before = (*last.chain, last.at)
        self._add("code", "\n".join(rows), x, (*above, *before))
        return end

    def _code_goes_on(self, start: int, place: int) -> bool:
        """Whether a line is code after code: of fixed width, or of both with a comment in the usual type."""
        line, above = self._lines[place], self._lines[place - 1]
        if (self._page_idx, place) in self._layout.headings:
            return False
        close = 0 < above.y - line.y <= 1.12 * self._layout.leading(above)
        return line.fixed or (
            line.lead > 0 and line.fixed_share >= _SOME and close and line.x0 >= self._lines[start].x0 - _NEAR
        )

    def _terms_here(self, place: int) -> bool:
        """Whether lines of fixed width, from this one on, are terms above an indented meaning."""
        line, end = self._lines[place], place
        while end < len(self._lines) and self._lines[end].fixed and end < place + 6:
            end += 1
        return place < end < len(self._lines) and self._is_meaning(line, end, None)

    def _paragraph_end(self, place: int, left: float | None) -> int:
        end = place + 1
        while end < len(self._lines):
            below = self._lines[end]
            if self._starts_other(end) or not self._follows(self._lines[end - 1], below, left):
                break
            left = below.x0 if left is None else left
            end += 1
        return end

    def _paragraph(self, place: int) -> int:
        line = self._lines[place]
        end = self._paragraph_end(place, None)
        x = self._indent(line)
        if end > place + 1:
            x -= max(line.x0 - self._lines[place + 1].x0, 0.0)
        elif abs(x - self._layout.first_indent) <= _NEAR:
            x = 0.0
        text = self._joined(self._lines[place:end])
        last = self._last
        above = self._above(x)
        if place == 0 and last is not None and text[:1].islower() and self._is_unfinished(last):
            above = (*last.chain, last.at)  # it goes on from the page before
        self._add("paragraph", text, x, above)
        return end

    def _is_unfinished(self, last: _Last) -> bool:
        return last.kind in ("paragraph", "list_item") and not _ENDED.search(last.text)
