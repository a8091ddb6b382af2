"""A passage in the terminal as it stands: tables with aligned columns, lists as lists, code indented.

Its highlight is bold, and a bar stands at the left of the lines that show it, so that it can be told in a pipe too.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import groupby, pairwise, zip_longest

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from cli.console import printable

BAR = "▌"
BETWEEN_COLUMNS = "  "
NARROWEST_COLUMN = 8
_HIGHLIGHTED = "bold not dim"  # in no other text, so that it tells which lines show the highlight
_CODE_INDENT = "    "
_FENCE = re.compile(r"\s*(?:`{3,}|~{3,})")
_PIPE = re.compile(r"(?<!\\)\|")
_DELIMITERS = re.compile(r"\s*\|?(?:\s*:?-+:?\s*\|)+(?:\s*:?-+:?\s*)?")
_ITEM = re.compile(r"\s*(?:(?:[-*+•]|\(?\w{1,3}[.)])\s+)?")
_SIGNS = re.compile(r"\*\*|\\(?=[!-/:-@\[-`{-~])")  # of Markdown, which are left out

Highlight = tuple[int, int] | None
Slice = tuple[int, int]


def show_passage(
    console: Console, text: str, highlight: Highlight, *, indent: int, wrap: bool, is_markdown: bool = True
) -> None:
    """Print a passage, in Markdown or as its document has it; ``highlight`` is a span of it. A pipe wraps no line."""
    room = max(console.width - indent, 2 * NARROWEST_COLUMN) if wrap else None
    for line in _laid_out(console, _Reading(text, highlight, is_markdown), room):
        line.rstrip()
        marked = any(span.style == _HIGHLIGHTED for span in line.spans)
        bar = Text(BAR.rjust(indent - 1) + " ", style="cyan") if marked else Text(" " * indent)
        console.print(Text.assemble(bar, line) if line else Text(), soft_wrap=True)


class _Reading:
    """The lines of a passage, and slices of them as they are shown."""

    def __init__(self, text: str, highlight: Highlight, is_markdown: bool) -> None:
        self._text = text
        self._highlight = highlight or (0, 0)
        self._is_markdown = is_markdown

    def lines(self) -> Iterator[tuple[str, int, int]]:
        """Yield the lines with what they belong to: code, a table or text; fences are left out."""
        in_code = False
        start = 0
        for line in self._text.split("\n"):
            end = start + len(line)
            if self._is_markdown and _FENCE.match(line):
                in_code = not in_code
            else:
                yield "code" if in_code else "table" if _PIPE.search(line) else "text", start, end
            start = end + 1

    def raw(self, start: int, end: int) -> str:
        return self._text[start:end]

    def code(self, start: int, end: int) -> Text:
        """Return a slice as it is, with its highlight."""
        text = Text(printable(self._text[start:end]))
        first, last = (max(0, edge - start) for edge in self._highlight)
        if first < min(last, len(text)):
            text.stylize(_HIGHLIGHTED, first, last)
        return text

    def shown(self, start: int, end: int) -> Text:
        """Return a slice without signs of Markdown for emphasis and escapes; its emphasis is bold."""
        text = self.code(start, end)
        signs = [each.span() for each in _SIGNS.finditer(text.plain)] if self._is_markdown else []
        bold = [span for span in signs if span[1] - span[0] == 2]
        for (_, first), (last, _) in zip(bold[::2], bold[1::2], strict=False):
            text.stylize("bold", first, last)
        parts = text.divide([edge for span in signs for edge in span])
        return Text("").join(part for at, part in enumerate(parts) if at % 2 == 0)

    def cells(self, start: int, end: int) -> list[Text]:
        """Return the cells of a row."""
        edges = [start - 1, *(start + each.start() for each in _PIPE.finditer(self._text[start:end])), end]
        cells = [self._stripped(first + 1, last) for first, last in pairwise(edges)]
        inner = cells[cells[0][0] == cells[0][1] : len(cells) - (cells[-1][0] == cells[-1][1])]
        return [self.shown(*each) for each in inner]

    def _stripped(self, start: int, end: int) -> Slice:
        raw = self.raw(start, end)
        return end - len(raw.lstrip()), end - len(raw) + len(raw.rstrip())


def _laid_out(console: Console, passage: _Reading, room: int | None) -> Iterator[Text]:
    for kind, group in groupby(passage.lines(), key=lambda line: line[0]):
        lines = [(start, end) for _, start, end in group]
        if kind == "table" and len(lines) > 1:
            yield from _table(console, passage, lines, room)
        elif kind == "code":
            yield from (Text.assemble(_CODE_INDENT, passage.code(*each)) for each in lines)
        else:
            yield from (line for each in lines for line in _wrapped(console, passage.shown(*each), room))


def _wrapped(console: Console, line: Text, room: int | None) -> Iterator[Text]:
    """Yield a line in as many as it takes; those of an item are indented behind its sign."""
    if room is None or line.cell_len <= room:
        yield line
        return
    found = _ITEM.match(line.plain)
    sign = len(found[0]) if found else 0
    head, rest = line.divide([sign])
    for each in rest.wrap(console, max(room - head.cell_len, NARROWEST_COLUMN)):
        yield Text.assemble(head, each)
        head = Text(" " * head.cell_len)


def _table(console: Console, passage: _Reading, lines: Sequence[Slice], room: int | None) -> Iterator[Text]:
    ruled = len(lines) > 1 and _DELIMITERS.fullmatch(passage.raw(*lines[1])) is not None
    rows = [passage.cells(*each) for each in lines if not _DELIMITERS.fullmatch(passage.raw(*each))]
    columns = zip_longest(*rows, fillvalue=Text())
    widths = [max(1, *(cell_len(cell.plain) for cell in column)) for column in columns]
    if room is not None:
        free = room - len(BETWEEN_COLUMNS) * (len(widths) - 1)
        while sum(widths) > free and max(widths) > NARROWEST_COLUMN:
            widths[widths.index(max(widths))] -= 1
    for at, cells in enumerate(rows):
        wrapped = [cell.wrap(console, width) for cell, width in zip(cells, widths, strict=False)]
        yield from (_joined(parts, widths) for parts in zip_longest(*wrapped, fillvalue=Text()))
        if ruled and at == 0:
            yield Text(BETWEEN_COLUMNS.join("─" * width for width in widths), style="dim")


def _joined(parts: Sequence[Text], widths: Sequence[int]) -> Text:
    line = Text()
    for at, (part, width) in enumerate(zip(parts, widths, strict=False)):
        part.rstrip()
        line.append(BETWEEN_COLUMNS if at else "").append_text(part).append(" " * (width - part.cell_len))
    return line
