"""Parser of Org mode, line by line: headlines, lists, tables, blocks, footnotes and formulas as their text.

Drawers, comments and what is only for the program are left out; comments are counted.
"""

import re
from bisect import bisect_left

from tools.parsers.canonical_text import Parsed
from tools.parsers.markup_draft import Draft, around, source, until
from tools.parsers.office_flow import BULLET

_HEADLINE = re.compile(r"(\*+)[ \t]+(?:(COMMENT)\b[ \t]*)?(.*?)(?:[ \t]+:[\w@#%:]+:)?[ \t]*")
_KEYWORD = re.compile(r"[ \t]*#\+(\w+)(?:\[.*\])?:[ \t]*(.*)")
_BLOCK = re.compile(r"[ \t]*#\+begin_(\w+)(?:[ \t].*)?", re.IGNORECASE)
_BLOCKS = dict.fromkeys(("src", "example", "export", "verbatim"), "code") | {
    "comment": "comment", "quote": "quote", "verse": "quote"
}  # fmt: skip
_DRAWER = re.compile(r"[ \t]*:[\w-]+:[ \t]*")
_ITEM = re.compile(
    r"([ \t]*)(?:([-+])|[*](?<=[ \t].)|(\d+[.)]|[a-zA-Z][.)]))[ \t]+(?:\[@\d+\][ \t]*)?(?:\[[ X-]\][ \t]+)?(.*)"
)
_NOTE = re.compile(r"\[fn:([\w-]+)\][ \t]*(.*)")
_LATEX_LINE = re.compile(r"[ \t]*\\(?:begin|end)\{[\w*]+\}.*")
_MOST_DEPTH = 20  # blocks in each other
_LONGEST_DRAWER = 200  # lines
_INLINE = re.compile(
    r"\[\[(?P<target>[^\[\]]{1,500})\](?:\[(?P<said>[^\[\]]{1,500})\])?\]"
    r"|\[fn:(?P<note>[\w-]*)(?::(?P<noted>[^\[\]]*))?\]"
    r"|(?<![\w=~])(?P<quote>[=~])(?=\S)(?P<code>[^\n]{1,400}?)(?<=\S)(?P=quote)(?![\w=~])"
    r"|(?<!\w)(?P<mark>[*/_+])(?=[^\s*/_+])(?P<inner>[^\n]{0,400}?(?<=\S))(?P=mark)(?!\w)"
    r"|\\\((?P<latex>[^\n]{1,1000}?)\\\)|\\\[(?P<shown>.{1,1000}?)\\\]"
    r"|(?<![\w$])\$(?=\S)(?P<dollars>[^$\n]{1,400}?)(?<=\S)\$(?![\w$])|\$\$(?P<double>[^$]{1,4000})\$\$"
    r"|(?<=\S)(?P<script>[\^_])(?:\{(?P<braced>[^{}\n]{1,60})\}"
    r"|(?P<bare>(?<=\^)(?:[+-]?\d+|\w(?!\w))|(?<=_)\d+(?!\w)))|(?P<end>\\\\[ \t]*(?=\n|$))"
    r"|<<<?(?P<radio>[^<>]{1,200})>>>?",
    re.DOTALL,
)


def read(data: bytes) -> Parsed:
    """Parse Org mode; its title is that of ``#+TITLE``. Raises UnreadableDocument if it cannot be decoded."""
    lines = source(data).splitlines()
    reader = _Reader({found[1]: found[2] for line in lines if (found := _NOTE.fullmatch(line))})
    reader.read(lines, 0)
    return reader.parsed()


class _Reader(Draft):
    """A reader of lines; ``notes`` are the footnotes that are defined on lines of their own."""

    def __init__(self, notes: dict[str, str]) -> None:
        super().__init__(len(notes))
        self._notes = notes
        self._indents: list[int] = []  # of the lists around
        self._rows: list[list[str]] = []
        self._headers = 0

    def read(self, lines: list[str], depth: int) -> None:
        ends = [at for at, line in enumerate(lines) if line.strip().lower() == ":end:"]
        ends.append(len(lines) + _LONGEST_DRAWER)
        at = 0
        while at < len(lines):
            line = lines[at].rstrip()
            at += 1
            if not line.lstrip().startswith("|"):
                self._end_table()
            if (block := _BLOCK.fullmatch(line)) and depth < _MOST_DEPTH:
                inside = until(lines, at, f"#+end_{block[1].lower()}")
                at += len(inside) + 1
                kind = _BLOCKS.get(block[1].lower(), "")
                inside = [re.sub(r"^,(?=[*#,])", "", line) for line in inside] if kind == "code" else inside
                self.block(kind, inside, depth)
            elif _DRAWER.fullmatch(line) and (end := ends[bisect_left(ends, at)]) < at + _LONGEST_DRAWER:
                at = end + 1
                self.left_out["drawer"] += 1
            elif _LATEX_LINE.fullmatch(line):
                self.more("\\[" + line if "\\begin" in line else line + "\\]")
            elif line.lstrip().startswith("|"):
                self._row(line.strip())
            else:
                self._line(line)
        self._end_table()

    def _line(self, line: str) -> None:
        if found := _HEADLINE.fullmatch(line):
            self._indents = []
            self.begin("heading", re.sub(r"\[#\w\][ \t]*", "", found[3]), level=len(found[1]))
        elif found := _KEYWORD.fullmatch(line):
            self.title = self.shown(found[2], []) if found[1].lower() == "title" else self.title
            if found[1].lower() in ("title", "caption"):
                self.begin("caption" if found[1].lower() == "caption" else "title", found[2])
        elif re.match(r"[ \t]*#(?:[ \t]|$)", line):
            self.left_out["comment"] += 1
        elif found := re.fullmatch(r"[ \t]*:(?:[ ](.*))?", line):
            self.code([found[1] or ""])
        elif found := _ITEM.fullmatch(line):
            self._item(len(found[1].expandtabs(8)), found[3] or "", found[4])
        elif not line.strip() or re.fullmatch(r"-{5,}", line) or _NOTE.fullmatch(line):
            self.close()
        else:
            self._indents = self._indents if self.is_open else []
            self.more(line.strip())

    def _item(self, indent: int, number: str, words: str) -> None:
        self._indents = [*(each for each in self._indents if each < indent), indent]
        term, is_term, meaning = words.partition(" :: ")
        marker = f"{number} " if number else BULLET
        self.begin("item", f"{term}: {meaning}" if is_term else words, level=len(self._indents) - 1, marker=marker)

    def _row(self, line: str) -> None:
        if re.match(r"\|-", line):
            self._headers = self._headers or len(self._rows)
        else:
            self._rows.append([cell.strip() for cell in line.strip("|").split("|")])

    def _end_table(self) -> None:
        rows, headers, self._rows, self._headers = self._rows, self._headers, [], 0
        if rows:
            self.table(rows, headers=headers if headers < len(rows) else 0)

    def shown(self, text: str, notes: list[str]) -> str:
        def write(found: re.Match[str]) -> str:
            if latex := found["latex"] or found["shown"] or found["dollars"] or found["double"]:
                return self.formula(latex, *around(found))
            if found["note"] is not None:
                noted = self.shown(found["noted"] or self._notes.get(found["note"], ""), []).strip()
                if not found["note"]:
                    return self.note(noted, notes)
                notes.extend([f"[{found['note']}] {noted}"] if noted else [])
                return f" [{found['note']}]"
            if mark := found["braced"] or found["bare"]:
                return self.script(found, mark)
            if found["inner"]:
                return self.shown(found["inner"], notes)
            return "\v" if found["end"] else found["code"] or found["said"] or found["radio"] or found["target"] or ""

        return _INLINE.sub(write, text)
