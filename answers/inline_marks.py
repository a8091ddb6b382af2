"""Citation marks that somebody else wrote into an answer: what they name, and the answer without them.

Marks are ``[1]``, ``[^1]``, ``[ref:1]``, ``[1, 2]``, ``【1】``, each also as a link, and ``[SEG=id]``. Code has none.
Definitions of footnotes, and a list of references at the end, are left out with the marks.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from text.mark_places import code_spans

_NUMBER = r"(?:\^|ref:)?[1-9]\d{0,2}"
NUMBERS = rf"{_NUMBER}(?:[ \t]?[,;][ \t]?{_NUMBER}){{0,20}}"
_MARK = re.compile(
    rf"\[(?P<numbers>{NUMBERS})\](?:\([^()\s]{{0,2000}}\))?"
    r"|【(?P<wide>[1-9]\d{0,2})(?:†[^】\n]{0,200})?】"
    r"|\[SEG=(?P<segment>[^\[\]\s]{1,200})\]",
    re.IGNORECASE,
)
_DEFINITION = re.compile(r"^ {0,3}\[\^?\d{1,3}\]:[^\n]*(?:\n|\Z)", re.MULTILINE)
_BEFORE = re.compile(r"[ \t]*(?:(?:[-*+]|\d{1,3}[.)])[ \t]+)?")  # what may stand on a line before its first mark
BETWEEN = re.compile(r"[ \t]*[,;，、]?[ \t]*")
_REFERENCE = re.compile(rf"{_BEFORE.pattern}(?:{_MARK.pattern})", re.IGNORECASE)
_REFERENCES_TITLE = re.compile(r"[ \t]*(?:#{1,6}[ \t].*|[^.!?\n]{1,40}[:：][*_ \t]*|\*\*[^*\n]{1,40}\*\*[ \t]*)")


@dataclass(frozen=True, slots=True)
class InlineMark:
    """A mark with its span in the answer. ``leads`` is True where it stands at the start of its line."""

    start: int
    end: int
    text: str
    numbers: tuple[int, ...]
    segment_id: str | None
    leads: bool


class MarkedAnswer:
    """An answer as it was written, and ``text``: the same without marks and references."""

    def __init__(self, written: str) -> None:
        code = code_spans(written)
        found = [mark for mark in _marks(written) if not _within(mark.start, code)]
        definitions = [each.span() for each in _DEFINITION.finditer(written) if not _within(each.start(), code)]
        tail = _references(written, found, definitions)
        definitions += [(tail, len(written))] if tail < len(written) else []
        definitions.sort()
        self.written = written
        self.marks = [mark for mark in found if not _within(mark.start, definitions)]
        removed = sorted([*definitions, *_with_space(written, self.marks)])
        self._starts: list[int] = []  # of what is kept, in the text without marks
        self._shifts: list[int] = []  # what the written offset is larger by, from there on
        parts: list[str] = []
        at = kept = 0
        for start, end in [*removed, (len(written), len(written))]:
            if start > at:
                self._starts.append(kept)
                self._shifts.append(at - kept)
                parts.append(written[at:start])
                kept += start - at
            at = max(at, end)
        self.text = "".join(parts)

    def written_span(self, start: int, end: int) -> tuple[int, int]:
        """Return where a span of the text is in the written answer, marks within it included."""
        first = bisect_right(self._starts, start) - 1
        last = bisect_left(self._starts, end) - 1
        return start + self._shifts[first], end + self._shifts[last]

    def marks_by_claim(self, spans: Sequence[tuple[int, int]]) -> list[list[InlineMark]]:
        """Return the marks of each claim, given the claims' written spans in order.

        A mark belongs to the claim that it is in, or else, on its line, to the claim before it; where it begins the
        line, to the one behind it.
        """
        marks: list[list[InlineMark]] = [[] for _ in spans]
        starts = [start for start, _ in spans]
        for mark in self.marks:
            at = bisect_right(starts, mark.start) - 1
            between = (spans[at][1], mark.start) if at >= 0 else (0, 0)
            if mark.leads and (at < 0 or mark.start >= spans[at][1]):
                at += 1
                between = (mark.end, spans[at][0]) if at < len(spans) else (0, 0)
            if 0 <= at < len(spans) and "\n" not in self.written[slice(*between)]:
                marks[at].append(mark)
        return marks


def _marks(written: str) -> Iterator[InlineMark]:
    for found in _MARK.finditer(written):
        numbers = tuple(map(int, re.findall(r"\d+", found["numbers"] or found["wide"] or "")))
        line = written.rfind("\n", 0, found.start()) + 1
        leads = _BEFORE.fullmatch(written, line, found.start()) is not None
        yield InlineMark(*found.span(), found[0], numbers, found["segment"], leads)


def _within(offset: int, spans: Sequence[tuple[int, int]]) -> bool:
    at = bisect_right(spans, (offset, len(spans) and spans[-1][1] + 1)) - 1
    return at >= 0 and spans[at][0] <= offset < spans[at][1]


def _references(written: str, marks: Sequence[InlineMark], definitions: Sequence[tuple[int, int]]) -> int:
    """Return where the list of references at the end begins, its title included; the end where there is none.

    It is one only if every source that it names is cited before.
    """
    first = len(written)
    end = len(written)
    while end > 0:
        start = written.rfind("\n", 0, end - 1) + 1
        line = written[start:end]
        if _REFERENCE.match(line):
            first = start
        elif line.strip() and not _within(start, definitions):
            if first < len(written) and _REFERENCES_TITLE.fullmatch(line.rstrip("\n")):
                first = start
            break
        end = start
    listed = {number for mark in marks if mark.start >= first and mark.leads for number in mark.numbers}
    cited = {
        number
        for mark in marks
        if mark.start < first and not _within(mark.start, definitions)
        for number in mark.numbers
    }
    return first if listed and listed <= cited else len(written)


def _with_space(written: str, marks: Sequence[InlineMark]) -> Iterator[tuple[int, int]]:
    """Yield the spans of marks with what only they need: space before them, or after a leading one, and commas."""
    before = -1
    for mark in marks:
        start, end = mark.start, mark.end
        if mark.leads:
            while written[end : end + 1] in (" ", "\t"):
                end += 1
        elif before >= 0 and BETWEEN.fullmatch(written, before, start):
            start = before
        else:
            while start > 0 and written[start - 1] in " \t":
                start -= 1
        yield start, end
        before = mark.end
