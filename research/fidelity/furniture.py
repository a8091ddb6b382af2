"""What of a file is furniture: running heads, page numbers, navigation. It may be left out, and is counted apart."""

import re
from collections import Counter, defaultdict
from pathlib import Path

_NAVIGATION = (
    "//nav | //header | //footer | //aside | //script | //style | //*[@hidden] | //*[@role='navigation']"
    " | //*[contains(@class, 'nav') or contains(@class, 'sidebar') or contains(@class, 'related')"
    " or contains(@class, 'header') or contains(@class, 'footer') or contains(@class, 'lineno')"
    " or contains(@class, 'toc')]"
)
_EDGE = 3  # lines of a page's top and bottom


def furniture_of(path: Path, others: dict[str, list[str]]) -> list[str]:
    """Return the furniture of each page of a file."""
    if path.suffix == ".pdf":
        pages = others.get("poppler-layout") or next(iter(others.values()))
        return _of_pages(pages)
    return [_of_web_page(path.read_bytes())] if path.suffix == ".html" else []


def _of_pages(pages: list[str]) -> list[str]:
    """Return lines of the edges whose words recur on other pages, repeat a heading, or number the pages."""
    edges = [_edge(page) for page in pages]
    written = Counter(letters for page in pages for line in page.splitlines() if (letters := _letters(line)))
    shapes = Counter(shape for edge in edges for shape in {_shape(line) for line in edge})
    shifts: dict[int, int] = defaultdict(int)  # of printed page numbers against the count of pages
    for at, edge in enumerate(edges):
        for shift in {int(number) - at for line in edge for number in _ends(line)}:
            shifts[shift] += 1
    return [
        "\n".join(
            line
            for line in edge
            if shapes[_shape(line)] >= 3
            or any(shifts[int(number) - at] >= 3 for number in _ends(line))
            or (line in (edge[0], edge[-1]) and (shapes[_shape(line)] >= 2 or _tells_a_heading(line, written)))
            or re.fullmatch(r"[\s\d\-–|/ivxlc]+", line)
        )
        for at, edge in enumerate(edges)
    ]


def _edge(page: str) -> list[str]:
    lines = [line.strip() for line in page.splitlines() if line.strip()]
    return lines if len(lines) <= 2 * _EDGE else lines[:_EDGE] + lines[-_EDGE:]


def _tells_a_heading(line: str, written: Counter[str]) -> bool:
    """Return whether a part of a line, set apart by a gap, is also a line of its own elsewhere."""
    parts = [_letters(part) for part in re.split(r"\s{3,}", line)]
    return any(len(part) > 3 and written[part] > (part == _letters(line)) for part in parts)


def _letters(line: str) -> str:
    return "".join(filter(str.isalpha, line.casefold()))


def _shape(line: str) -> str:
    return re.sub(r"\d+", "#", " ".join(line.split()))


def _ends(line: str) -> set[str]:
    """Return the short numbers with which a line begins or ends."""
    return {number for number in (*re.findall(r"^\d{1,4}\b", line), *re.findall(r"\b\d{1,4}$", line))}


def _of_web_page(data: bytes) -> str:
    from lxml import html

    try:
        found = html.fromstring(data).xpath(_NAVIGATION)
    except (ValueError, html.etree.ParserError):
        return ""
    return "\n".join(joint.join(element.itertext()) for element in found for joint in (" ", ""))
