"""The order in which the lines of PDF pages are read: without running heads and feet, and column by column."""

import re
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from heapq import nsmallest
from itertools import accumulate, pairwise

from tools.parsers.pdf_lines import Line, Page

_EDGE_LINES = 3  # a running head or foot has at most so many lines
_REPEATED = 3  # pages
_MARGIN = 0.15  # of the page's height
_SPACE = 1.4  # of the type size, between a running head and the text
_LEAST_ROWS = 10  # of two columns
_FULL_COLUMN = 0.33  # of the width of the page's text
_ROMAN = re.compile(r"[ivxlcdm]{1,7}", re.IGNORECASE)
_LONGEST_PAGE_NUMBER = 40
_PAGE_NUMBER = re.compile(
    r"\W*(?:p(?:age|g)?\.?|trang|第)?\s*(\d{1,5}|[ivxlcdm]{1,7})\s*(?:(?:/|of|trên|共)\s*\d{1,5})?\s*页?\W*",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"\d+")


def put_in_order(pages: list[Page]) -> None:
    """Remove running heads and feet, and order the lines of two-column pages; the pages are changed in place."""
    _remove_running_lines(pages)
    for page in pages:
        page.lines = _in_columns(page)


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
        lone = len(line.text) <= _LONGEST_PAGE_NUMBER and _PAGE_NUMBER.fullmatch(line.text) is not None
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
