"""What holds for a whole PDF: its usual type size and spacing, its running heads, its headings and its columns."""

import re
from collections import Counter, defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from heapq import nsmallest
from itertools import accumulate, pairwise
from typing import NamedTuple

from text.scripts import CHINESE_AND_JAPANESE_TEXT
from tools.parsers.pdf_lines import Cell, Line, Page

_EDGE_LINES = 3  # a running head or foot has at most so many lines
_REPEATED = 3  # pages
_MARGIN = 0.15  # of the page's height
_SPACE = 1.4  # of the type size, between a running head and the text
_OFTEN_SPACED = 8
_FEW_LINES = 60
_LEAST_ROWS = 10  # of two columns
_FULL_COLUMN = 0.33  # of the width of the page's text
_ROMAN = re.compile(r"[ivxlcdm]{1,7}", re.IGNORECASE)
_PAGE_NUMBER = re.compile(
    r"\W*(?:p(?:age|g)?\.?|trang|第)?\s*(\d{1,5}|[ivxlcdm]{1,7})\s*(?:(?:/|of|trên|共)\s*\d{1,5})?\s*页?\W*",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"\d+")
_NUMBERED = re.compile(
    r"(?:(?:chapter|appendix|section|chương|phụ lục|phần|第)\s*)?([A-Z]|\d{1,3})((?:\.\d{1,3})*)\.?\s", re.I
)
_TITLE_NUMBER = re.compile(r"(?:chapter|appendix|section|chương|phụlục|phần|第)?[a-z]?\d*[章节部分]?")
_ENTRY = re.compile(r"(?:\.\s?){4,}\s*[\divxlc, –-]*$|…{2,}\s*[\divxlc]*$")
_ENDS_IN_PAGE = re.compile(r"(?:^|\D)(?:\d{1,4}|\b[ivxlc]{1,6})$")
_CONTENTS = re.compile(
    r"(?:table of )?contents|(?:\w+ ){0,5}(?:index|indices)|list of (?:figures|tables|examples)"
    r"|mục lục|chỉ mục|目\s*录|索\s*引",
    re.IGNORECASE,
)
_WORD = re.compile(rf"[^\W\d_]{{3}}|[{CHINESE_AND_JAPANESE_TEXT}]")
_LONGEST_HEADING = 160
_MOST_BOOKMARKS = 300  # of a page


class Bookmark(NamedTuple):
    """An entry of the outline; ``level`` from 1."""

    level: int
    title: str
    page_idx: int


class Style(NamedTuple):
    size: float
    bold: bool


@dataclass(slots=True)
class Layout:
    """The usual looks of a document. ``headings`` are the levels of heading lines by their page and place in it.

    ``spacing`` is the usual distance between baselines by type size, in points; ``right`` the edge that most lines of
    text reach, or 0.0 if they are ragged; ``left`` the edge where they begin, for even and for odd pages, and
    ``first_indent`` how much further right the first lines of paragraphs do.
    """

    size: float = 10.0
    spacing: dict[float, float] = field(default_factory=dict)
    right: float = 0.0
    left: tuple[float, float] = (0.0, 0.0)
    first_indent: float = 0.0
    headings: dict[tuple[int, int], int] = field(default_factory=dict)
    contents: set[tuple[int, int]] = field(default_factory=set)

    def leading(self, line: Line) -> float:
        """Return the usual distance of a line from the one before it."""
        return self.spacing.get(line.size) or line.size * self.spacing.get(self.size, 1.2 * self.size) / self.size


def measured(pages: list[Page], outline: list[Bookmark]) -> Layout:
    """Remove running heads and feet from the pages, put columns in order, and measure what is usual.

    Lines are removed and sorted in place.
    """
    _remove_running_lines(pages)
    for page in pages:
        page.lines = _in_columns(page)
    _split_headings(pages, outline)
    layout = Layout()
    sizes: Counter[float] = Counter()
    for page in pages:
        for line in page.lines:
            sizes[line.size] += len(line.text) * (1 if line.fixed else 3)
    if not sizes:
        return layout
    layout.size = max(sizes, key=lambda size: (sizes[size], size))
    layout.spacing = _spacing(pages, layout.size)
    layout.right = _right(pages, layout.size)
    layout.left = _left(pages)
    layout.first_indent = _first_indent(pages, layout)
    layout.contents = _contents_pages(pages)
    _find_headings(pages, outline, layout)
    _mark_contents(pages, layout)
    return layout


def _split_headings(pages: list[Page], outline: list[Bookmark]) -> None:
    """Give a heading that its paragraph follows on the same line, bold and known to the outline, a line of its own."""
    titles: dict[int, set[str]] = defaultdict(set)
    for bookmark in outline:
        titles[bookmark.page_idx].add(_key(bookmark.title))
    for page_idx, wanted in titles.items():
        if page_idx >= len(pages):
            continue
        page = pages[page_idx]
        alone = {_key(line.text) for line in page.lines}
        lines: list[Line] = []
        for line in page.lines:
            title = _key(line.text[: line.lead]) if 0 < line.lead < len(line.text) and not line.fixed else ""
            if not title or title not in wanted or title in alone:
                lines.append(line)
                continue
            rest = line.text[line.lead :].strip()
            heading = replace(line, text=line.text[: line.lead], bold=True, split=False, cells=line.cells[:1])
            lines += [heading, replace(line, text=rest, lead=0, cells=(Cell(line.x0, line.x1, 0),))]
        page.lines = lines


def _spacing(pages: list[Page], body: float) -> dict[float, float]:
    distances: dict[float, Counter[float]] = defaultdict(Counter)
    for page in pages:
        for above, below in pairwise(page.lines):
            if above.size == below.size and 0 < above.y - below.y < 4 * below.size:
                distances[below.size][round(above.y - below.y, 1)] += 1
    usual = {}
    for size, counts in distances.items():
        often = max(counts.values())
        if often >= _OFTEN_SPACED or size == body:
            usual[size] = min(distance for distance, count in counts.items() if count >= often / 2)
    return usual


def _right(pages: list[Page], size: float) -> float:
    """Return the edge that many lines of text reach exactly, or 0.0 if there is none: the text is ragged."""
    texts = {
        (line.text, round(line.x1)) for page in pages for line in page.lines if line.size == size and not line.fixed
    }
    edges = Counter(edge for _, edge in texts)
    edge = max(edges, key=lambda at: (edges[at - 1] + edges[at] + edges[at + 1], at), default=0)
    reaching = edges[edge - 1] + edges[edge] + edges[edge + 1]
    return float(edge) if reaching >= max(_OFTEN_SPACED, 0.3 * len(texts)) else 0.0


def _left(pages: list[Page]) -> tuple[float, float]:
    edges: tuple[Counter[int], Counter[int]] = (Counter(), Counter())
    for number, page in enumerate(pages):
        edges[number % 2].update(round(line.x0) for line in page.lines if line.column == 0)
    both = edges[0] + edges[1]
    if not both:
        return (0.0, 0.0)
    even, odd = (_leftmost(each) for each in edges)
    if min(edges[0].total(), edges[1].total()) < _FEW_LINES:  # book pages have two margins, which few lines cannot show
        even = odd = _leftmost(both)
    return float(even), float(odd)


def _leftmost(edges: Counter[int]) -> int:
    """Return the leftmost of the edges where many lines begin."""
    most = max(edges.values(), default=0)
    return min((edge for edge, count in edges.items() if count >= 0.1 * most), default=0)


def _first_indent(pages: list[Page], layout: "Layout") -> float:
    """Return how far the first lines of paragraphs are usually indented, or 0.0 if they are not."""
    shifts: Counter[int] = Counter()
    for page in pages:
        for line, below in pairwise(page.lines):
            near = line.size == below.size == layout.size and 0 < line.y - below.y <= 1.1 * layout.leading(line)
            if near and not line.fixed and line.size < line.x0 - below.x0 < 4 * line.size:
                shifts[round(line.x0 - below.x0)] += 1
    usual = max(shifts, key=lambda shift: (shifts[shift], shift), default=0)
    return float(usual) if shifts[usual] >= _OFTEN_SPACED else 0.0


def _remove_running_lines(pages: list[Page]) -> None:
    """Remove the lines that repeat, but for their numbers, at the same height of the outer lines of many pages."""
    texted = [page for page in pages if page.lines]
    if len(texted) < _REPEATED or sum(len(page.lines) > 1 for page in texted) < len(texted) / 2:
        return
    edges = [(_in_margin(page, top=True), _in_margin(page, top=False)) for page in texted]
    seen: Counter[tuple[bool, int, str]] = Counter()
    numbers: Counter[tuple[bool, int]] = Counter()
    for place, sides in enumerate(edges):
        for top, lines in zip((True, False), sides, strict=True):
            seen.update({(top, round(line.y / 2), _masked(line.text)) for line in lines})
            numbers.update({(top, number - place) for line in lines[:1] for number in _numbers(line)})
    zones: Counter[tuple[bool, int]] = Counter()
    for (top, height, _), count in seen.items():
        if count >= _REPEATED:
            zones[top, height] += count
    common = {zone for zone, count in zones.items() if count >= max(_REPEATED, 0.2 * len(texted))}
    offsets = {offset for offset, count in numbers.items() if count >= max(_REPEATED, 0.3 * len(texted))}

    def is_running(place: int, line: Line, top: bool, depth: int) -> bool:
        heights = [(top, round(line.y / 2) + step) for step in (-1, 0, 1)]
        repeated = any(seen[side, height, _masked(line.text)] >= _REPEATED for side, height in heights)
        in_zone = any(height in common for height in heights)
        counted = any((side, number - place) in offsets for number in _numbers(line) for side in (True, False))
        lone = _PAGE_NUMBER.fullmatch(line.text) is not None
        return (in_zone and (repeated or counted or depth == 0)) or (lone and (counted or in_zone))

    running = [
        _running(page, sides, partial(is_running, place))
        for place, (page, sides) in enumerate(zip(texted, edges, strict=True))
    ]
    if sum(len(out) == len(page.lines) for page, out in zip(texted, running, strict=True)) > 0.5 * len(texted):
        return  # all pages are alike
    for page, out in zip(texted, running, strict=True):
        page.lines = [line for line in page.lines if id(line) not in out]


def _running(
    page: Page, sides: tuple[list[Line], list[Line]], is_running: Callable[[Line, bool, int], bool]
) -> set[int]:
    """Return the ids of the running lines of a page: the outermost ones, with space between them and the text."""
    out: set[int] = set()
    for top, lines in zip((True, False), sides, strict=True):
        lines = [line for line in lines if id(line) not in out]
        count = 0
        while count < len(lines) and is_running(lines[count], top, count):
            count += 1
        left = [line for line in _outer(page, top=top, count=count + 1 + len(out)) if id(line) not in out]
        while 0 < count < len(left) and abs(left[count].y - left[count - 1].y) < _SPACE * left[count - 1].size:
            count -= 1
        if count > 1 and count == len(page.lines) - len(out):
            continue  # several lines are all that the page holds: they are its text
        out.update(id(line) for line in lines[:count])
    return out


def _in_margin(page: Page, *, top: bool) -> list[Line]:
    lines = _outer(page, top=top)
    return [line for line in lines if (page.height - line.y if top else line.y) < _MARGIN * page.height]


def _outer(page: Page, *, top: bool, count: int = _EDGE_LINES) -> list[Line]:
    return nsmallest(count, page.lines, key=lambda line: -line.y if top else line.y)


def _masked(text: str) -> str:
    return "#" if _ROMAN.fullmatch(text) else _NUMBER.sub("#", text)


def _numbers(line: Line) -> list[int]:
    """Return the numbers at the line's start and end, where page numbers stand."""
    words = line.text.split()
    ends = [words[0], words[-1]] + ([words[-3]] if len(words) > 2 and words[-2] in ("/", "of") else [])
    return [int(word) for word in ends if word.isdecimal() and len(word) <= 5]


def _in_columns(page: Page) -> list[Line]:
    """Mark the lines of a two-column page; if the file writes across both columns, read one after the other."""
    if len(page.lines) < _LEAST_ROWS:
        return page.lines
    left, right = min(line.x0 for line in page.lines), max(line.x1 for line in page.lines)
    gutter = _gutter(page.lines, left, right)
    if gutter is None:
        return page.lines
    across = [line for line in page.lines if _crosses(line, gutter)]
    ordered: list[Line] = []
    waiting: list[Line] = []
    for line in page.lines:
        if line.x0 >= gutter:
            line.column = 1
            (waiting if across else ordered).append(line)
        elif line in across and (halves := _halves(line, gutter)):
            ordered.append(halves[0])
            waiting.append(halves[1])
        else:
            if line.x1 > gutter:  # a title over both columns
                ordered += waiting
                waiting = []
            ordered.append(line)
    return ordered + waiting


def _crosses(line: Line, gutter: float) -> bool:
    return line.x0 < gutter < line.x1


def _gutter(lines: list[Line], left: float, right: float) -> float | None:
    """Find where the empty strip between two columns of prose lies, or None."""
    steps = 100
    width = (right - left) / steps
    if width <= 0:
        return None
    filled = [0] * (steps + 2)
    for line in lines:
        for cell in line.cells:
            filled[max(0, int((cell.x0 - left) / width))] += 1
            filled[min(steps, int((cell.x1 - left) / width)) + 1] -= 1
    for step, depth in enumerate(accumulate(filled)):
        if 38 <= step <= 62 and depth <= 0.06 * len(lines):
            at = left + (step + 0.5) * width
            both = _is_column(lines, at, right - left, far=False) and _is_column(lines, at, right - left, far=True)
            return at if both else None
    return None


def _is_column(lines: list[Line], gutter: float, width: float, *, far: bool) -> bool:
    """Whether one side of a gutter is filled by lines of prose, most of them as wide as the column."""
    count = wide = letters = 0
    for line in lines:
        ends = [*(cell.at for cell in line.cells[1:]), len(line.text)]
        part = [(cell, end) for cell, end in zip(line.cells, ends, strict=True) if (cell.x0 >= gutter) == far]
        if part:
            count += 1
            letters += part[-1][1] - part[0][0].at
            wide += part[-1][0].x1 - part[0][0].x0 >= _FULL_COLUMN * width
    return count >= _LEAST_ROWS - 2 and letters >= 20 * count and wide >= 0.5 * count


def _halves(line: Line, gutter: float) -> tuple[Line, Line] | None:
    for before, cell in pairwise(line.cells):
        if before.x1 <= gutter <= cell.x0:
            at = cell.at
            first = replace(
                line,
                text=line.text[:at].rstrip(),
                x1=before.x1,
                split=line.text[:at].rstrip().endswith("-"),
                cells=tuple(each for each in line.cells if each.at < at),
            )
            rest = tuple(each._replace(at=each.at - at) for each in line.cells if each.at >= at)
            return first, replace(line, text=line.text[at:], x0=cell.x0, cells=rest, column=1, lead=0)
    return None


def _key(text: str) -> str:
    return "".join(character for character in text.lower() if character.isalnum())


def _find_headings(pages: list[Page], outline: list[Bookmark], layout: Layout) -> None:
    """Set the levels of heading lines: those that the outline names, then those that look like them or are larger."""
    learned: dict[Style, Counter[int]] = defaultdict(Counter)
    wanted: dict[int, list[Bookmark]] = defaultdict(list)
    for bookmark in outline:
        wanted[bookmark.page_idx].append(bookmark)
    for page_idx, bookmarks in wanted.items():
        lines = pages[page_idx].lines if page_idx < len(pages) else []
        keys = ["" if (page_idx, place) in layout.contents else _key(line.text) for place, line in enumerate(lines)]
        for bookmark in bookmarks[:_MOST_BOOKMARKS]:
            places = _titled(lines, keys, _key(bookmark.title))
            if not places or lines[places[0]].size < 0.95 * layout.size:
                continue
            for place in places:
                keys[place] = ""  # each line is one heading
                layout.headings[page_idx, place] = bookmark.level
                learned[Style(lines[place].size, lines[place].bold)][bookmark.level] += 1
    usual = Style(layout.size, False)
    levels = {
        style: counts.most_common(1)[0][0] for style, counts in learned.items() if style != usual and counts.total() > 1
    }
    title_sizes = {  # of a page of large lines only, the largest are its title
        page_idx: max(line.size for line in page.lines)
        for page_idx, page in enumerate(pages)
        if page.lines and min(line.size for line in page.lines) >= 1.12 * layout.size
    }
    found = [
        (page_idx, place, line)
        for page_idx, page in enumerate(pages)
        for place, line in enumerate(page.lines)
        if (page_idx, place) not in layout.headings
        and line.size >= title_sizes.get(page_idx, 0.0)
        and _looks_like_heading(page.lines, place, layout, levels)
    ]
    by_style: dict[Style, list[Line]] = defaultdict(list)
    for _, _, line in found:
        by_style[Style(line.size, line.bold)].append(line)
    known = dict(levels)
    above = 0
    for style in sorted({*by_style, *levels}, reverse=True):
        if style not in known:
            depths = Counter(depth for line in by_style[style] if (depth := _depth(line.text)))
            usual_depth = depths.most_common(1)[0][0] if depths.total() >= 0.3 * len(by_style[style]) and depths else 0
            known[style] = usual_depth or min(above + 1, 6)
        above = max(above, known[style])
    for page_idx, place, line in found:
        depth = 0 if levels else _depth(line.text)
        layout.headings[page_idx, place] = depth or known[Style(line.size, line.bold)]


def _depth(text: str) -> int:
    """Return the level that a heading's number says, or 0 if it has none."""
    number = _NUMBERED.match(text)
    return number[2].count(".") + 1 if number else 0


def _titled(lines: list[Line], keys: list[str], title: str) -> list[int]:
    """Return the places of the one to three lines that are a title: the largest, then the fewest, then the first."""
    best: tuple[float, int] = (0.0, 0)
    found: list[int] = []
    for place, line in enumerate(lines if title else []):
        joined = ""
        for end in range(place, min(place + 3, len(lines))):
            if not keys[end] or lines[end].size != line.size:
                break
            joined += keys[end]
            if joined.endswith(title) and _TITLE_NUMBER.fullmatch(joined, 0, len(joined) - len(title)):
                rank = (line.size + 0.5 * line.bold, place - end)
                if rank > best:
                    best, found = rank, list(range(place, end + 1))
                break
            if len(joined) > len(title) + 20:
                break
    return found


def _looks_like_heading(lines: list[Line], place: int, layout: Layout, levels: dict[Style, int]) -> bool:
    """Whether a line is set as a heading: as those that the outline names, or larger than text, or bold and apart."""
    line = lines[place]
    if line.fixed or len(line.text) > _LONGEST_HEADING or not _WORD.search(line.text):
        return False
    if _ENTRY.search(line.text) or line.text.endswith((",", ";")) or line.text[0] in "([{":
        return False
    if line.size >= 1.05 * layout.size and _NUMBERED.match(line.text) and _stands_alone(lines, place, layout):
        return True
    style = Style(line.size, line.bold)
    if levels and style not in levels and line.size <= min(known.size for known in levels):
        return False
    if line.size >= (1.12 if line.bold or style in levels else 1.3) * layout.size:
        return True
    if not line.bold or line.size < 0.97 * layout.size or line.text.endswith((".", ":")) or line.text[0].islower():
        return False
    return (not levels or style in levels) and _stands_alone(lines, place, layout)


def _stands_alone(lines: list[Line], place: int, layout: Layout) -> bool:
    """Whether a line has more space above it than lines of a paragraph have, and is not the start of one."""
    line = lines[place]
    usual = layout.leading(line)
    above = lines[place - 1].y - line.y if place else 10 * usual
    if 0 <= above < 1.25 * usual:
        return False
    if place + 1 == len(lines):
        return False
    below = lines[place + 1]
    return not below.bold and line.y - below.y > 0 and below.x0 <= line.x0 + 1.5 * line.size


def _contents_pages(pages: list[Page]) -> set[tuple[int, int]]:
    """Return the lines with dot leaders, by page and place."""
    return {
        (page_idx, place)
        for page_idx, page in enumerate(pages)
        for place, line in enumerate(page.lines)
        if _ENTRY.search(line.text) and not line.fixed
    }


def _mark_contents(pages: list[Page], layout: Layout) -> None:
    """Mark what stands under a heading such as "Contents", up to the next, where most lines end in page numbers.

    On a page whose lines mostly have dot leaders, the lines between them are entries too.
    """
    in_contents = False
    for page_idx, page in enumerate(pages):
        entries = {place for place, line in enumerate(page.lines) if _ENDS_IN_PAGE.search(line.text)}
        most = len(entries) >= max(3, 0.5 * len(page.lines))
        leaders = sum((page_idx, place) in layout.contents for place in range(len(page.lines)))
        starts = [
            place
            for place, line in enumerate(page.lines)
            if _CONTENTS.fullmatch(
                re.sub(r"^(?:(?:appendix\s)?(?:\d+|[A-Z])(?:\.\d+)*[.:]?\s+)?", "", line.text).strip() or " "
            )
            and line.size >= layout.size
            and (page_idx, place) in layout.headings
        ]
        if not most and not starts:
            in_contents = False
            continue
        for place, line in enumerate(page.lines):
            if place in starts:
                in_contents = most
                continue
            level = layout.headings.get((page_idx, place))
            if level is not None and place not in entries and len(line.text) > 2 and not leaders:
                in_contents = False
            if in_contents or (leaders >= max(3, 0.5 * len(page.lines)) and place in entries):
                layout.contents.add((page_idx, place))
                layout.headings.pop((page_idx, place), None)
