"""The order in which the lines of PDF pages are read: without running heads and feet, and column by column."""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import replace
from heapq import nsmallest
from itertools import accumulate, pairwise
from math import inf
from statistics import median

from tools.parsers.pdf_lines import Line, LineJoiner, Page

_EDGE_LINES = 3  # a running head or foot has at most so many lines
_REPEATED = 3  # pages
_MARGIN = 0.15  # of the page's height
_SPACE = 1.4  # of the type size, between a running head and the text
_STEADY = 0.7  # of the pages that a running line is on go on with its numbers
_OTHER_SIZE = 0.5
_APART = 1.25  # of the usual distance of a page's lines
_ROWS_APART = 4.0  # of the type size
_NOTE = 0.92  # of the size of text: footnotes
_LEAST_ROWS = 10  # of two columns
_FULL_COLUMN = 0.33  # of the width of the page's text
_LEAST_FACING = 4  # lines of two columns in a page
_RUNNING = 0.7  # of the lines are full
_BEGUN = 0.4  # of the lines go on with a sentence
_SHORTEST_FULL = 20  # letters
_ROMAN = re.compile(r"[ivxlcdm]{1,7}", re.IGNORECASE)
_LONGEST_PAGE_NUMBER = 40
_PAGE_NUMBER = re.compile(
    r"\W*(?:p(?:age|g)?\.?|trang|第)?\s*(\d{1,5}|[ivxlcdm]{1,7})\s*(?:(?:/|of|trên|共)\s*\d{1,5})?\s*页?\W*",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"\d{1,9}")

_Zone = tuple[bool, int, int]  # at the top, height, type size


def put_in_order(pages: list[Page]) -> int:
    """Take out running heads and feet, and order lines of columns and words over page ends, in place.

    Return how many lines were taken out.
    """
    before = sum(len(page.lines) for page in pages)
    _remove_running_lines(pages)
    running = before - sum(len(page.lines) for page in pages)
    for page in pages:
        page.lines = _in_columns(page)
    _make_words_whole(pages)
    return running


def _remove_running_lines(pages: list[Page]) -> None:
    """Remove the lines that repeat, but for page numbers, in one style at one height of the edges of many pages."""
    texted = {page_idx: page for page_idx, page in enumerate(pages) if page.lines}
    if len(texted) < _REPEATED or sum(len(page.lines) > 1 for page in texted.values()) < len(texted) / 2:
        return
    edges = {at: (_in_margin(page, top=True), _in_margin(page, top=False)) for at, page in texted.items()}
    alike: dict[tuple[_Zone, str], list[tuple[int, ...]]] = defaultdict(list)
    aligned: Counter[_Zone] = Counter()
    for page_idx, sides in edges.items():
        for top, lines in zip((True, False), sides, strict=True):
            for line, text in pairwise(_outer(texted[page_idx], top=top, count=_EDGE_LINES + 1)):
                aligned[_zone(line, top)] += 1 if _are_rows(line, text) else -1
            for line in lines:
                alike[_zone(line, top), _masked(line.text)].append((page_idx, *map(int, _NUMBER.findall(line.text))))
    repeated = {key for key, found in alike.items() if _repeat(found)}
    zones: Counter[_Zone] = Counter()
    for zone, words in repeated:
        zones[zone] += len(alike[zone, words])
    common = {zone for zone, count in zones.items() if count >= max(_REPEATED, 0.2 * len(texted))}

    def is_running(line: Line, top: bool, depth: int) -> bool:
        around = [_zone(line, top, step) for step in (-1, 0, 1)]
        repeats = any((zone, _masked(line.text)) in repeated for zone in around)
        return any(zone in common for zone in around) and (repeats or depth == 0)

    tables = {zone for zone, more in aligned.items() if more > 0}  # where a table's rows are, not heads above tables
    running = {at: _running(page, edges[at], is_running, tables) for at, page in texted.items()}
    if sum(len(running[at]) == len(page.lines) for at, page in texted.items()) > 0.5 * len(texted):
        return  # all pages are alike
    for at, page in texted.items():
        page.lines = [line for line in page.lines if id(line) not in running[at]]


def _zone(line: Line, top: bool, step: int = 0) -> _Zone:
    return top, round(line.y / 2) + step, round(line.size)


def _repeat(found: list[tuple[int, ...]]) -> bool:
    """Whether lines that differ in their numbers at most are the same: the numbers stay, or go up with the page.

    Each is its page and its numbers. Rows of a table or log, whose numbers go their own way, are not the same.
    """
    steps = list(pairwise(found))
    return len(found) >= _REPEATED and all(
        sum(below[at] - above[at] in (0, below[0] - above[0]) for above, below in steps) >= _STEADY * len(steps)
        for at in range(1, min(map(len, found)))
    )


def _running(
    page: Page, sides: tuple[list[Line], list[Line]], is_running: Callable[[Line, bool, int], bool], tables: set[_Zone]
) -> set[int]:
    """Return the ids of the running lines of a page: the outermost ones, apart from the text."""
    out: set[int] = set()
    distances = [above - below for above, below in pairwise(sorted((line.y for line in page.lines), reverse=True))]
    usual = median([distance for distance in distances if distance > 1] or [0.0])
    for top, lines in zip((True, False), sides, strict=True):
        lines = [line for line in lines if id(line) not in out]
        count = 0
        while count < len(lines) and is_running(lines[count], top, count):
            count += 1
        left = [line for line in _outer(page, top=top, count=count + 1 + len(out)) if id(line) not in out]
        while 0 < count < len(left) and (
            _zone(left[count - 1], top) in tables or not _are_apart(left[count - 1], left[count], usual)
        ):
            count -= 1
        if count > 1 and count == len(page.lines) - len(out):
            continue  # several lines are all that the page holds: they are its text
        out.update(id(line) for line in lines[:count])
    return out


def _are_apart(edge: Line, text: Line, usual: float) -> bool:
    """Whether a line at a page's edge is no line of the text next to it."""
    distance = abs(edge.y - text.y)
    other_style = edge.bold != text.bold or abs(edge.size - text.size) > _OTHER_SIZE
    is_number = len(edge.text) <= _LONGEST_PAGE_NUMBER and _PAGE_NUMBER.fullmatch(edge.text) is not None
    usual *= not (other_style or is_number)
    return distance >= max(_SPACE * edge.size, _APART * usual)


def _are_rows(line: Line, other: Line) -> bool:
    found = (
        any(abs(cell.x0 - each.x0) <= 2 or abs(cell.x1 - each.x1) <= 2 for each in other.cells) for cell in line.cells
    )
    return sum(found) > 1 and abs(line.y - other.y) < _ROWS_APART * line.size


def _in_margin(page: Page, *, top: bool) -> list[Line]:
    lines = _outer(page, top=top)
    return [line for line in lines if (page.height - line.y if top else line.y) < _MARGIN * page.height]


def _outer(page: Page, *, top: bool, count: int = _EDGE_LINES) -> list[Line]:
    return nsmallest(count, page.lines, key=lambda line: -line.y if top else line.y)


def _masked(text: str) -> str:
    return "#" if _ROMAN.fullmatch(text) else _NUMBER.sub("#", text)


def _make_words_whole(pages: list[Page]) -> None:
    """Give a word that is split over a page's end to the page that it begins on."""
    joined: LineJoiner | None = None
    for page, following in pairwise(pages):
        first = following.lines[0] if following.lines else None
        if first is None or first.fixed or not first.text[0].islower():
            continue
        notes = next((back for back, line in enumerate(reversed(page.lines)) if line.size > _NOTE * first.size), None)
        if notes is None or not page.lines[~notes].split or page.lines[~notes].fixed:
            continue
        joined = joined or LineJoiner(pages)
        word, _, rest = first.text.partition(" ")
        whole = joined([page.lines[~notes], replace(first, text=word)])
        page.lines[~notes] = replace(page.lines[~notes], text=whole, split=False)
        cells = tuple(cell._replace(at=max(0, cell.at - len(word) - 1)) for cell in first.cells)
        following.lines[:1] = [replace(first, text=rest, lead=0, cells=cells)] if rest else []


def _in_columns(page: Page) -> list[Line]:
    """Mark the lines of a two-column page; if the file writes across both columns, read one after the other."""
    left, right = min((line.x0 for line in page.lines), default=0.0), max((line.x1 for line in page.lines), default=0.0)
    gutter = _gutter(page.lines, left, right) if len(page.lines) >= _LEAST_ROWS else None
    if gutter is None:
        return _facing(page.lines)
    across = any(line.x0 < gutter < line.x1 for line in page.lines)
    ordered: list[Line] = []
    waiting: list[Line] = []
    for line in page.lines:
        if line.x0 >= gutter:
            line.column = 1
            (waiting if across else ordered).append(line)
        elif line.x1 > gutter and (halves := _halves(line, gutter)):
            ordered.append(halves[0])
            waiting.append(halves[1])
        else:
            if line.x1 > gutter:  # a title over both columns
                ordered += waiting
                waiting = []
            ordered.append(line)
    return ordered + waiting


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
    count = wide = letters = tabled = 0
    for line in lines:
        ends = [*(cell.at for cell in line.cells[1:]), len(line.text)]
        part = [(cell, end) for cell, end in zip(line.cells, ends, strict=True) if (cell.x0 >= gutter) == far]
        if part:
            count += 1
            letters += part[-1][1] - part[0][0].at
            wide += part[-1][0].x1 - part[0][0].x0 >= _FULL_COLUMN * width
            tabled += any(cell.x0 - before.x1 > line.size for (before, _), (cell, _) in pairwise(part))
    return count >= _LEAST_ROWS - 2 and letters >= 20 * count and wide >= 0.5 * count and tabled <= 0.4 * count


def _facing(lines: list[Line]) -> list[Line]:
    """Read two columns of running text, which lines of a page are written across, one after the other."""
    ordered: list[Line] = []
    start = 0
    while start < len(lines):
        low, high, end = -inf, inf, start
        while end < len(lines) and (end == start or _is_next(lines[end - 1], lines[end])):
            gaps = [(max(low, a.x1), min(high, b.x0)) for a, b in pairwise(lines[end].cells)]
            left, right = max(gaps, key=lambda gap: gap[1] - gap[0]) if gaps else (0.0, 0.0)
            if right - left < lines[end].size:
                break
            low, high, end = left, right, end + 1
        if end <= start + 1:  # most lines
            ordered.append(lines[start])
            start += 1
            continue
        run = lines[start:end]
        gutter = (low + high) / 2
        halves = [_halves(line, gutter, 2) for line in run] if len(run) >= _LEAST_FACING else []
        sides = [[half[side] for half in halves if half] for side in (0, 1)]
        if len(sides[0]) == len(run) and all(map(_is_running_text, sides)):
            while (
                end < len(lines) and _is_next(lines[end - 1], lines[end]) and not lines[end].x0 < gutter < lines[end].x1
            ):
                far = lines[end].x0 > gutter  # the longer of the columns
                sides[far].append(replace(lines[end], column=2 + far))
                end += 1
            run = [*sides[0], *sides[1]]
        ordered += run
        start = end
    return ordered


def _is_next(above: Line, below: Line) -> bool:
    return 0 < above.y - below.y <= 2 * below.size and above.size == below.size and not below.fixed


def _is_running_text(lines: Sequence[Line]) -> bool:
    """Whether lines break where their column ends, mostly within a sentence."""
    edge, most = max(line.x1 for line in lines), _RUNNING * (len(lines) - 1)
    words = [len(line.text.split(maxsplit=1)[0]) + 1 for line in lines[1:]]
    letters = sum(len(line.text) for line in lines) / (sum(line.x1 - line.x0 for line in lines) or 1.0)
    full = sum(line.x1 + count / letters >= edge for line, count in zip(lines, words, strict=False))
    begun = sum(not (line.text[0].isupper() or line.text[0].isdecimal()) for line in lines[1:])
    return full >= most and begun >= _BEGUN * len(lines) and letters * (edge - lines[0].x0) >= _SHORTEST_FULL


def _halves(line: Line, gutter: float, column: int = 0) -> tuple[Line, Line] | None:
    for before, cell in pairwise(line.cells):
        if before.x1 <= gutter <= cell.x0:
            at = cell.at
            first = replace(
                line,
                text=line.text[:at].rstrip(),
                x1=before.x1,
                split=line.text[:at].rstrip().endswith("-"),
                cells=tuple(each for each in line.cells if each.at < at),
                column=column,
            )
            rest = tuple(each._replace(at=each.at - at) for each in line.cells if each.at >= at)
            second = replace(
                line, text=line.text[at:], x0=cell.x0, second_x=cell.x0, cells=rest, column=column + 1, lead=0
            )
            return first, second
    return None
