"""What a line of a PDF page is by its place: a paragraph's next line, an item, a term, a meaning, code, a footnote."""

import re
from collections import defaultdict
from collections.abc import Container
from statistics import median

from text.scripts import CHINESE_AND_JAPANESE_TEXT
from tools.parsers.pdf_layout import Layout
from tools.parsers.pdf_lines import Line, Page

NEAR = 2.5  # points: edges that are meant to be the same
ENDED = re.compile(r"[.!?:;。！？：；…]['\"”’)\]]*\d*$")
NOTE = re.compile(r"\d{1,3}\s*\S|[*†‡§¶]|[⁰¹²³⁴-⁹]+")
CAPTION = re.compile(
    r"(?:table|figure|fig\.|listing|example|exhibit|bảng|hình|表|图|圖)(?:\s*\d+|\s+(?-i:[A-Z])(?=[.\d:\-]))"
    r"(?:[.\-‑]?\d+)*\s*(?:[:.：—–]|$)",
    re.IGNORECASE,
)
_BULLET = re.compile(r"[•‣◦▪▫●○■□◆◇➢➤✓❖\uf0b7\uf0a7](?=\s|$)|[–—*·-](?=\s)")
_SURE_BULLET = re.compile(r"[•‣◦▪▫●○■□◆◇➢➤✓❖\uf0b7\uf0a7]")
_ORDER = re.compile(r"(?:\((?:\d{1,3}|[a-zA-Z]|[ivx]{1,5})\)|(?:\d{1,3}|[a-zA-Z]|[ivx]{1,5})[.)])(?=\s)")
_UNSPACED = re.compile(f"[{CHINESE_AND_JAPANESE_TEXT}]")
_SMALL = 0.92  # of the usual size: footnotes
_LONGEST_TERM = 100
_SOME = 0.4
_WIDEST_INDENT = 120  # letters
_LONGEST_RUN = 40  # lines of code that are looked back


class PageReading:
    """The lines of a page and what they are; ``place`` is always an index into ``lines``."""

    def __init__(self, page_idx: int, page: Page, layout: Layout, hanging: Container[int]) -> None:
        """Begin with a page; text of items on earlier ones begins at the ``hanging`` edges."""
        self.lines = page.lines
        self._page_idx = page_idx
        self._height = page.height
        self._layout = layout
        self._hanging = hanging
        columns: dict[int, list[Line]] = defaultdict(list)
        self._widest: dict[float, float] = {}
        for line in page.lines:
            columns[line.column].append(line)
            self._widest[line.size] = max(line.x1, self._widest.get(line.size, 0.0))
        self._lefts = {column: min(line.x0 for line in lines) for column, lines in columns.items()}
        self._edges = dict.fromkeys(columns, layout.right)
        if len(columns) > 1:
            self._edges = {column: max(line.x1 for line in lines) for column, lines in columns.items()}

    def indent(self, line: Line) -> float:
        """Return how far a line begins from the left edge of its column."""
        if line.column:
            return line.x0 - self._lefts[line.column]
        return line.x0 - self._layout.left[self._page_idx % 2]

    def could_hold(self, above: Line, below: Line) -> bool:
        """Whether the first word of a line would have fitted into the one above: the break was meant."""
        word = below.text.split(maxsplit=1)[0]
        width = below.size if _UNSPACED.match(word) else min((below.x1 - below.x0) * len(word) / len(below.text), 200)
        edge = self._edges[above.column]
        if edge:
            return above.x1 + width + 0.8 * above.size < edge
        edge = self._widest[above.size]
        return bool(ENDED.search(above.text)) and above.x1 + width + 2 * above.size < edge

    def follows(self, above: Line, below: Line, left: float | None) -> bool:
        """Whether a line goes on with the paragraph of the line above, whose lines but the first begin at ``left``."""
        usual = self._layout.leading(below)
        distance = above.y - below.y
        if above.column != below.column or not 0 < distance <= 1.3 * usual or below.size < 0.8 * above.size:
            return False
        if above.split and below.text[0].isalnum() and abs(below.x0 - above.x0) <= 8 * above.size:
            return True
        shift = below.x0 - (above.x0 if left is None else left)
        meant = self.could_hold(above, below)
        if left is None and abs(shift) > NEAR:
            hangs = abs(below.x0 - above.second_x) <= NEAR  # below the words after a label
            return not meant and (-5 * above.size <= shift <= 5 * above.size or hangs)
        return abs(shift) <= NEAR and not meant

    def starts_other(self, place: int) -> bool:
        """Whether a line cannot be inside a paragraph."""
        key = (self._page_idx, place)
        if key in self._layout.headings or key in self._layout.contents:
            return True
        line = self.lines[place]
        return (
            self.marker(place) is not None
            or (line.fixed and self.is_code(place))
            or CAPTION.match(line.text) is not None
        )

    def ends_table(self, place: int) -> bool:
        key, text = (self._page_idx, place), self.lines[place].text
        if key in self._layout.headings or key in self._layout.contents:
            return True
        return bool(CAPTION.match(text) or _SURE_BULLET.match(text))

    def first_footnote(self) -> int:
        """Return the place of the first footnote: small lines at the page's foot that begin with a number or mark."""
        lines, first = self.lines, len(self.lines)
        while first and lines[first - 1].size <= _SMALL * self._layout.size and lines[first - 1].y < 0.5 * self._height:
            first -= 1
        while first < len(lines) and not NOTE.match(lines[first].text):
            first += 1
        plain = first and lines[first - 1].size > _SMALL * self._layout.size
        return first if plain else len(lines)

    def marker(self, place: int) -> str | None:
        """Return the bullet or number that a line begins with, if it is a list item's."""
        line = self.lines[place]
        if line.fixed and not _SURE_BULLET.match(line.text):
            return None
        found = _BULLET.match(line.text) or _ORDER.match(line.text)
        if found is None:
            return None
        marker = found[0]
        if _SURE_BULLET.match(marker):
            return marker
        if line.second_x <= line.x0 or len(line.text) <= len(marker) + 1:
            return None
        below = self.lines[place + 1] if place + 1 < len(self.lines) else None
        hangs = (
            below is not None
            and abs(below.x0 - line.second_x) <= NEAR
            and 0 < line.y - below.y < 2 * self._layout.leading(line)
        )
        if hangs or round(line.second_x) in self._hanging:
            return marker
        same = found.re
        for other in (*self.lines[max(0, place - 12) : place], *self.lines[place + 1 : place + 13]):
            if abs(other.second_x - line.second_x) <= 1.5 and other.second_x > other.x0 + 1 and same.match(other.text):
                return marker
        return None

    def could_be_term(self, place: int, first_line: Line, *, first: bool) -> bool:
        line = self.lines[place]
        if (
            len(line.text) > _LONGEST_TERM
            or abs(line.x0 - first_line.x0) > 1
            or (not first and self.starts_other(place) and not line.fixed)
        ):
            return False
        if not first and not 0 < self.lines[place - 1].y - line.y <= 1.4 * self._layout.leading(line):
            return False
        if line.fixed or line.bold:
            return not (line.fixed and (line.text.startswith((">", "$ ")) or line.text.endswith(("{", "(", ",", "\\"))))
        if line.text.endswith((".", ",", ";", "!", "?", "。")) or len(line.text) > 60:
            return False
        edge = self._edges[line.column]
        return line.lead > 0 and (not edge or line.x1 < edge - 3 * line.size)

    def is_meaning(self, term: Line, place: int, signature: Line | None) -> bool:
        """Whether a line is the beginning of what the term above it means: indented text that goes on so."""
        line = self.lines[place]
        distance = self.lines[place - 1].y - line.y
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
        if self.marker(place) and not term.fixed:
            return False
        below = self.lines[place + 1] if place + 1 < len(self.lines) else None
        if (
            below is not None
            and 0 < line.y - below.y <= 1.05 * self._layout.leading(below)
            and below.x0 < line.x0 - NEAR
        ):
            return not self.follows(line, below, None)  # otherwise only the first line is indented: a paragraph
        if abs(indent - self._layout.first_indent) <= NEAR:
            return below is not None and self.follows(line, below, line.x0)
        return True

    def _is_close_code(self, place: int) -> bool:
        above, line = self.lines[place - 1], self.lines[place]
        return above.fixed and 0 < above.y - line.y <= 1.3 * self._layout.leading(line)

    def is_code(self, place: int) -> bool:
        """Whether a line of fixed width stands apart from the text above its run: with space, or after its end."""
        first = place
        while first and self._is_close_code(first) and place - first < _LONGEST_RUN:
            first -= 1
        line = self.lines[first]
        if not first:
            return True
        above = self.lines[first - 1]
        usual = self._layout.leading(above)
        if not 0 < above.y - line.y <= 1.12 * usual or above.column != line.column:
            return True
        return self.could_hold(above, line) or (abs(line.x0 - above.x0) > NEAR and ENDED.search(above.text) is not None)

    def code_end(self, place: int) -> int:
        """Return the place after the code that begins at a line."""
        lines, end = self.lines, place + 1
        while end < len(lines) and self.code_goes_on(place, end):
            distance = lines[end - 1].y - lines[end].y
            if not 0 < distance <= 4 * self._layout.leading(lines[end]) or lines[end].column != lines[place].column:
                break
            if lines[end].x0 < lines[place].x0 - lines[place].size and self.terms_here(end):
                break
            end += 1
        return end

    def code_text(self, place: int, end: int) -> str:
        """Return lines of code with their indent and the blank lines between them."""
        run = self.lines[place:end]
        x0 = min(line.x0 for line in run)
        pitch = median((line.x1 - line.x0) / len(line.text) for line in run) or 1.0
        rows: list[str] = []
        for number, line in enumerate(run):
            blank = number and run[number - 1].y - line.y > 1.6 * self._layout.leading(line)
            rows += [""] * bool(blank) + [" " * min(_WIDEST_INDENT, round((line.x0 - x0) / pitch)) + line.text]
        return "\n".join(rows)

    def code_goes_on(self, start: int, place: int) -> bool:
        """Whether a line is code after code: of fixed width, or of both with a comment in the usual type."""
        line, above = self.lines[place], self.lines[place - 1]
        if (self._page_idx, place) in self._layout.headings:
            return False
        close = 0 < above.y - line.y <= 1.12 * self._layout.leading(above)
        return line.fixed or (
            line.lead > 0 and line.fixed_share >= _SOME and close and line.x0 >= self.lines[start].x0 - NEAR
        )

    def terms_here(self, place: int) -> bool:
        """Whether lines of fixed width, from this one on, are terms above an indented meaning."""
        line, end = self.lines[place], place
        while end < len(self.lines) and self.lines[end].fixed and end < place + 6:
            end += 1
        return place < end < len(self.lines) and self.is_meaning(line, end, None)

    def paragraph_end(self, place: int, left: float | None) -> int:
        end = place + 1
        while end < len(self.lines):
            below = self.lines[end]
            if self.starts_other(end) or not self.follows(self.lines[end - 1], below, left):
                break
            left = below.x0 if left is None else left
            end += 1
        return end
