"""Headings of a PDF, by its outline and by its type; and the lines of its contents pages and indexes."""

import re
from collections import Counter, defaultdict
from dataclasses import replace
from itertools import pairwise
from typing import NamedTuple

from text.scripts import CHINESE_AND_JAPANESE_TEXT
from tools.parsers.pdf_layout import Layout
from tools.parsers.pdf_lines import Cell, Line, Page

_NUMBERED = re.compile(
    r"(?:(?:chapter|appendix|section|chương|phụ lục|phần|第)\s*)?([A-Z]|\d{1,3})((?:\.\d{1,3})*)\.?\s", re.IGNORECASE
)
_TITLE_NUMBER = re.compile(r"(?:chapter|appendix|section|chương|phụlục|phần|第)?[a-z]?\d*[章节部分]?")
_ENTRY = re.compile(r"(?:\.\s?){4,}\s*[\divxlc, –-]*$|…{2,}\s*[\divxlc]*$")
_ENTRY_END = 200  # letters that hold the dot leaders and page numbers of an entry
_ENDS_IN_PAGE = re.compile(r"(?:^|\D)(?:\d{1,4}|\b[ivxlc]{1,6})$")
_CONTENTS = re.compile(
    r"(?:(?:appendix\s)?(?:\d+|[A-Z])(?:\.\d+)*[.:]?\s+)?"
    r"(?:(?:table of )?contents|(?:\w+ ){0,5}(?:index|indices)|list of (?:figures|tables|examples)"
    r"|mục lục|chỉ mục|目\s*录|索\s*引)",
    re.IGNORECASE,
)
_WORD = re.compile(rf"[^\W\d_]{{3}}|[{CHINESE_AND_JAPANESE_TEXT}]")
_LONGEST_HEADING = 160
_LARGER = 1.12  # than text: bold headings
_NO_KEY = re.compile(r"[\W_]+")
_CELLS_APART = 1.5  # of the type size
_MUCH_LARGER = 1.3  # headings in the usual weight
_MOST_BOOKMARKS = 300  # of a page


class Bookmark(NamedTuple):
    """An entry of the outline; ``level`` from 1."""

    level: int
    title: str
    page_idx: int


class Style(NamedTuple):
    size: float
    bold: bool


def split_headings(pages: list[Page], outline: list[Bookmark]) -> None:
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


def find_headings(pages: list[Page], outline: list[Bookmark], layout: Layout) -> None:
    """Set the levels of heading lines: those that the outline names, then those that look like headings.

    Then the lines of contents pages are marked, which are no headings.
    """
    layout.contents = {
        (page_idx, place)
        for page_idx, page in enumerate(pages)
        for place, line in enumerate(page.lines)
        if not line.fixed and _is_entry(line)
    }
    levels = _name_by_outline(pages, outline, layout)
    _name_by_looks(pages, layout, levels)
    _mark_contents(pages, layout)


def _name_by_outline(pages: list[Page], outline: list[Bookmark], layout: Layout) -> dict[Style, int]:
    """Set the headings that the outline names, and return the level that each style of theirs mostly has."""
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
    usual = Style(layout.size, bold=False)
    return {
        style: counts.most_common(1)[0][0] for style, counts in learned.items() if style != usual and counts.total() > 1
    }


def _name_by_looks(pages: list[Page], layout: Layout, levels: dict[Style, int]) -> None:
    title_sizes = {  # of a page of large lines only, the largest are its title
        page_idx: max(line.size for line in page.lines)
        for page_idx, page in enumerate(pages)
        if page.lines and min(line.size for line in page.lines) >= _LARGER * layout.size
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
    if _is_entry(line) or line.text.endswith((",", ";")) or line.text[0] in "([{":
        return False
    if line.size >= 1.05 * layout.size and _NUMBERED.match(line.text) and _stands_alone(lines, place, layout):
        return True
    style = Style(line.size, line.bold)
    if levels and style not in levels and line.size <= min(known.size for known in levels):
        return False
    if line.size >= (_LARGER if line.bold or style in levels else _MUCH_LARGER) * layout.size:
        return True
    if not line.bold or line.size < 0.97 * layout.size or line.text.endswith((".", ":")) or line.text[0].islower():
        return False
    if any(cell.x0 - before.x1 > _CELLS_APART * line.size for before, cell in pairwise(line.cells)):
        return False  # the header row of a table
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


def _is_entry(line: Line) -> bool:
    return _ENTRY.search(line.text[-_ENTRY_END:]) is not None


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
            if len(line.text) <= _LONGEST_HEADING
            and _CONTENTS.fullmatch(line.text)
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


def _key(text: str) -> str:
    return _NO_KEY.sub("", text.lower())
