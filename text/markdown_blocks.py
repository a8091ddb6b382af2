"""The leaf blocks of a Markdown text, by line, and where reading of a growing text may begin again.

Blocks follow CommonMark 0.31 and GFM's tables, as markdown-it-py reads them. Two deviations keep every block the same
while the text is still being written: a definition of a link is text like any other, and a line whose first cell holds
a whole sentence and more is no header of a table.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock, table
from markdown_it.token import Token

from text.inline_spans import mask, read_inline
from text.sentences import sentences

Kind = Literal["prose", "row", "heading", "header", "code", "rule"]
Edge = Literal["open", "close", "table"]  # a list or quote begins or ends, or a table begins
Span = tuple[int, int]

_DEEPEST = 40  # levels of nesting; lines that nest deeper are read one by one
_ALL_COLUMNS = 1 << 16

_FENCE_LINE = re.compile(r"^(?P<before>[ \t>*+\-\d.)]*)(?P<fence>`{3,}|~{3,})(?P<info>[^\n]*)", re.MULTILINE)
_SPANS_BLANKS = re.compile(r"<(?:script|pre|style|textarea|!|\?)", re.IGNORECASE)
_PARAGRAPH = re.compile(r"\n[ \t]*\n(?=[^\W\d_])")


def restart(text: str, start: int) -> int:
    """Return the start of a paragraph at the top level, at most ``start``, from which reading gives the same units."""
    if not start:
        return 0
    spanning = _SPANS_BLANKS.search(text, 0, start)
    limit = min(start, spanning.start()) if spanning else start
    fenced, limit = _fenced(text, limit)
    at = limit
    while (at := text.rfind("\n", 0, at)) > 0:
        blank = _PARAGRAPH.match(text, at)
        if blank and blank.end() <= limit and not any(begin < blank.end() < end for begin, end in fenced):
            return blank.end()
    return 0


def _fenced(text: str, limit: int) -> tuple[list[Span], int]:
    """Return the blocks of code that are fenced at the top level, and up to where that is surely all of them."""
    blocks: list[Span] = []
    opened: re.Match[str] | None = None
    for line in _FENCE_LINE.finditer(text, 0, limit):
        if opened is None and line["before"]:
            return blocks, line.start()
        if opened is None:
            if line["fence"][0] == "`" and "`" in line["info"]:
                return blocks, line.start()
            opened = line
        elif _closes(opened, line):
            blocks.append((opened.start(), line.end()))
            opened = None
    return blocks, limit if opened is None else opened.start()


def _closes(opened: re.Match[str], line: re.Match[str]) -> bool:
    same = line["fence"][0] == opened["fence"][0] and len(line["fence"]) >= len(opened["fence"])
    return same and not line["info"].strip() and not line["before"].strip(" ") and len(line["before"]) < 4


def _answer_table(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """Read a table, unless its first line holds a whole sentence and more before its first pipe."""
    if not table(state, start, end, True):
        return False
    line = state.src[state.bMarks[start] + state.tShift[start] : state.eMarks[start]]
    pipe = line.find("|")
    if pipe > 0 and sentences(mask(line, read_inline(line).spans))[0][1] < pipe:
        return False
    return silent or table(state, start, end, False)


def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"maxNesting": _DEEPEST}).disable("reference")
    parser.block.ruler.before("lheading", "answer_table", _answer_table, {"alt": ["paragraph"]})
    return parser


_PARSER = _parser()
_LINE_END = re.compile(r"\r\n|\r")


@dataclass(slots=True)
class Block:
    """A leaf block: its lines, the end exclusive, and what they hold.

    ``columns`` counts the columns of a row's table, 0 for a line that nests too deeply to be parsed. With ``setext``
    one more line underlines a paragraph, which makes it a heading. ``nested`` is within a list or a quote.
    """

    kind: Kind
    first: int
    last: int
    content: str = ""
    columns: int = 0
    setext: bool = False
    nested: bool = False


class Lines:
    """A text in lines as Markdown counts them, from an offset on. ``complete`` counts those that can't grow."""

    def __init__(self, text: str, first: int, *, is_open: bool) -> None:
        self.source = _LINE_END.sub(lambda end: " \n" if len(end[0]) == 2 else "\n", text[first:])
        self.base = first
        self.lines = self.source.split("\n")
        self.starts = [0]
        for line in self.lines:
            self.starts.append(self.starts[-1] + len(line) + 1)
        self.complete = len(self.lines) - 1 if is_open else len(self.lines) + 2


def blocks_of(lines: Lines) -> Iterator[Block | Edge]:
    """Yield the leaf blocks in order, and between them where lists, quotes and tables begin and end.

    A line that nests too deeply is a row of its own.
    """
    tokens: list[Token] = []
    _PARSER.block.parse(lines.source, _PARSER, {}, tokens)
    reader = _TokenReader()
    done = 0
    for at, token in enumerate(tokens):
        following = tokens[at + 1] if at + 1 < len(tokens) else token
        block = reader.read(token, following)
        if isinstance(block, Block):
            yield from _too_deep(lines, done, block.first)
            done = max(done, block.last + block.setext + (block.kind == "header"))
        if block is not None:
            yield block
    yield from _too_deep(lines, done, len(lines.lines))


class _TokenReader:
    """A reader of markdown-it's tokens that tracks nesting and the columns of the open table."""

    def __init__(self) -> None:
        self._nesting = 0
        self._columns = 0
        self._header = False

    def read(self, token: Token, following: Token) -> Block | Edge | None:
        if token.type in _CONTAINERS:
            self._nesting += token.nesting
            return "open" if token.nesting > 0 else "close"
        if token.type == "table_open":
            self._columns = 0
            return "table"
        if token.type == "th_open":
            self._columns += 1
        self._header = token.type == "thead_open" or (self._header and token.type != "thead_close")
        return self._leaf(token, following) if token.type in _LEAVES else None

    def _leaf(self, token: Token, following: Token) -> Block:
        first, last = token.map or (0, 0)
        block = Block(_LEAVES[token.type], first, last, following.content, nested=self._nesting > 0)
        if token.type == "tr_open":
            block.kind = "header" if self._header else "row"
            block.columns = _ALL_COLUMNS if self._header else self._columns
        elif token.type == "html_block":
            block.content = token.content
            block.kind = "code" if _CODE_TAG.match(token.content) else "prose"
        elif token.type == "heading_open" and not token.markup.startswith("#"):
            block.kind, block.setext, block.last = "prose", True, last - 1
        return block


_CONTAINERS = frozenset(
    f"{name}_{side}" for name in ("bullet_list", "ordered_list", "blockquote") for side in ("open", "close")
)
_LEAVES: dict[str, Kind] = {
    "paragraph_open": "prose",
    "heading_open": "heading",
    "tr_open": "row",
    "fence": "code",
    "code_block": "code",
    "html_block": "prose",
    "hr": "rule",
}
_CODE_TAG = re.compile(r"\s*<(?:script|pre|style)\b", re.IGNORECASE)
_WORD_SIGN = re.compile(r"[^\W_]")
_MARKERS = re.compile(r"(?:[ \t]*(?:>|[-+*](?=[ \t]|\Z)|\d{1,9}[.)](?=[ \t]|\Z)))*[ \t]*")


def behind_markers(line: str) -> int:
    """Return the offset in a line after the marks of its lists and quotes."""
    return _MARKERS.match(line).end()  # type: ignore[union-attr]


def _too_deep(lines: Lines, first: int, last: int) -> Iterator[Block]:
    for at in range(first, last):
        line = lines.lines[at]
        if line and _WORD_SIGN.search(line, behind_markers(line)):
            yield Block("row", at, at + 1, nested=True)
