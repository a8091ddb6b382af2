"""Parser of AsciiDoc, line by line. No file that it includes is read.

Attributes are filled in, admonitions are labels of what is in them, and merged cells say the same in each column.
"""

import re

from tools.parsers.canonical_text import Parsed
from tools.parsers.markup_draft import Draft, around, source, until
from tools.parsers.office_flow import BULLET

_HEADING = re.compile(r"(={1,6})[ \t]+(\S.*?)(?:[ \t]+\1)?")
_ATTRIBUTE = re.compile(r":(!?[\w-]+!?):(?:[ \t]+(.*))?")
_ABOUT = re.compile(r"\[(?!\[)[^\]]*\]|\[\[[^\]]*\]\]")
_ITEM = re.compile(r"[ \t]*(\*{1,6}|-|\.{1,6}|\d{1,6}\.)[ \t]+(?:\[[ x*]\][ \t]+)?(\S.*)")
_TERM = re.compile(r"[ \t]*(\S.{0,300}?)(?::{2,4}|;;)(?:[ \t]+(.*))?")
_ADMONITION = re.compile(r"\[?(NOTE|TIP|IMPORTANT|WARNING|CAUTION)(?:\]|:[ \t]+(.*))")
_FENCE = re.compile(r"(-{4,}|\.{4,}|={4,}|\*{4,}|_{4,}|\+{4,}|/{4,}|--|```|[|,:!]={3,})\w*")
_CELL = re.compile(
    r"(?:(?<=\s)|^)(?:(\d{1,4})(?:[*+]|(?=\.\d)))?(?:\.(\d{1,4})\+)?[<^>.]{0,4}[aehlmsd]?(?<!\\)\|", re.MULTILINE
)
_COLUMN = re.compile(r"(?:^|,)\s*(\d{1,4}(?=\*))?")
_DIRECTIVE = re.compile(r"(include|ifdef|ifndef|ifeval|endif|toc)::.*")
_MOST_DEPTH = 20
_MOST_COPIES = 100  # of a cell, across and down
_MOST_REPEATED = 100_000  # cells of a document
_INLINE = re.compile(
    r"(?<![\w`])`\+?(?P<mono>[^`\n]+?)\+?`(?![\w`])|\+\+\+?(?P<raw>[^+\n]+)\+\+\+?|(?P<end>[ ]\+(?=\n|$))"
    r"|(?P<url>(?:https?|ftp)://[^\s\[\]<>]{0,500}[^\s\[\]<>.,;:!?)])(?:\[(?P<named>[^\]]{0,500})\])?"
    r"|\b(?P<macro>[a-z]{3,12})::?(?P<target>[^\s\[\]]{0,200})\[(?P<said>[^\]]{0,500})\]"
    r"|<<(?P<to>[^<>,]{1,200})(?:,(?P<cross>[^<>]{0,200}))?>>|\(\((?P<index>[^()]{1,200})\)\)"
    r"|(?P<nothing>\[\[[^\[\]]{0,200}\]\]|\(\(\([^()]{0,200}\)\)\))"
    r"|(?P<script>[\^~])(?P<mark>(?:(?!(?P=script))\S){1,40})(?P=script)|\{(?P<name>[\w-]{1,80})\}"
    r"|(?:\[[^\[\]\n]{0,80}\])?(?P<sign>\*\*|__|##|(?<![\w*])\*|(?<![\w_])_|(?<![\w#])#)(?=\S)"
    r"(?P<inner>[^\n]{0,400}?\S)(?P=sign)(?![\w*#])"
)

_BLOCKS = {"/": "comment", "_": "quote", "=": "", "*": ""}
_PLAIN = ("mono", "raw", "cross", "to", "index", "named", "url")  # what is shown of each, the first that is there


def read(data: bytes) -> Parsed:
    """Parse AsciiDoc; its title is the document's. Raises UnreadableDocument if it cannot be decoded."""
    reader = _Reader()
    reader.read(source(data).splitlines(), 0)
    return reader.parsed()


class _Reader(Draft):
    def __init__(self) -> None:
        super().__init__()
        self._attributes: dict[str, str] = {}
        self._title = ""  # of the next block
        self._repeatable = _MOST_REPEATED
        self._lists: list[tuple[str, int]] = []  # the sign of each list around, and its number so far

    def read(self, lines: list[str], depth: int) -> None:
        about, at = "", 0
        while at < len(lines):
            line = lines[at].rstrip()
            at += 1
            fence = _FENCE.fullmatch(line) if depth < _MOST_DEPTH else None
            if self._title and line.strip() and not _ABOUT.fullmatch(line):
                is_table = line.startswith(("|===", ",===", ":==="))
                self.begin("caption" if is_table else "paragraph", self._title)
                self.close()
                self._title = ""
            is_code = about.startswith(("[source", "[listing", "[literal")) and line.strip() != ""
            if fence or is_code or (line[:1] in (" ", "\t") and line.strip() and not self._is_listed(line)):
                at -= not fence
                inside = until(lines, at, fence[1] if fence else "")
                at += len(inside) + 1
                self._fenced(fence[1] if fence else "----", about, inside, depth)
                about = ""
            elif _ABOUT.fullmatch(line):
                about = line
            elif line.strip():
                self._line(line, about)
                about = about if line.startswith(".") else ""
            else:
                self.close()

    def _is_listed(self, line: str) -> bool:
        return bool(self.is_open or _ITEM.fullmatch(line) or _TERM.fullmatch(line))

    def _line(self, line: str, about: str) -> None:
        if line.startswith("//"):
            self.left_out["comment"] += 1
        elif found := _ATTRIBUTE.fullmatch(line):
            self._attributes[found[1]] = found[2] or ""
        elif found := _DIRECTIVE.fullmatch(line):
            self.left_out["included file"] += found[1] == "include"
        elif found := _HEADING.fullmatch(line):
            self._lists = []
            is_title = len(found[1]) == 1 and not self.title
            self.title = self.shown(found[2], []) if is_title else self.title
            self.begin("heading", found[2], level=len(found[1]))
        elif re.match(r"\.[^\s.]", line):
            self._title = line[1:]
        elif line == "+" and self._lists:
            self.more("\v")
        elif found := _ITEM.fullmatch(line):
            self._item(found[1], found[2])
        elif (found := _ADMONITION.fullmatch(line)) or (about and (found := _ADMONITION.fullmatch(about))):
            with self.labelled(found[1].capitalize()):
                self.more(found[2] or line)
        elif found := _TERM.fullmatch(line):
            self.begin("term", found[1])
            self.begin("definition", found[2] or "")
        else:
            self._lists = self._lists if self.is_open else []
            self.more(line.strip())

    def _item(self, mark: str, words: str) -> None:
        kind = "1." if mark[0].isdigit() else mark
        kinds = [each for each, _ in self._lists]
        level = kinds.index(kind) if kind in kinds else len(kinds)
        number = self._lists[level][1] + 1 if kind in kinds else 1
        self._lists[level:] = [(kind, number)]
        marker = BULLET if mark[0] in "*-" else f"{number}. " if mark[0] == "." else f"{mark} "
        self.begin("item", words, level=level, marker=marker)

    def _fenced(self, sign: str, about: str, inside: list[str], depth: int) -> None:
        if sign[0] in "|!,:":
            self._table(sign[0], about, inside)
        elif sign[0] != "/" and (admonition := _ADMONITION.fullmatch(about)):
            with self.labelled(admonition[1].capitalize()):
                self.read(inside, depth + 1)
        else:
            self.block("" if sign == "--" else _BLOCKS.get(sign[0], "code"), inside, depth)

    def _table(self, sign: str, about: str, inside: list[str]) -> None:
        lines = [line for line in inside if line.strip()]
        if sign in ",:":
            self.table([line.split(sign) for line in lines], headers=int("header" in about))
            return
        text = "\n".join(lines if sign == "|" else [line.replace("!", "|") for line in lines])
        lead, *parts = _CELL.split(text)
        if lead.strip():
            self.begin("paragraph", lead.strip())
        first = sum(
            _copies(columns) for columns, _ in _CELL.findall(text.partition("\n")[0])
        )  # cells of the first line
        spec = re.search(r"cols=\"?([^\"\]]*)", about)
        said = sum(int(copies or 1) for copies in _COLUMN.findall(spec[1])) if spec else 0
        width = said or first or 1
        cells: list[str] = []
        covered: dict[int, str] = {}  # places of cells that one above goes over
        for columns, rows, words in zip(parts[::3], parts[1::3], parts[2::3], strict=True):
            across, down = _copies(columns), _copies(rows)
            self._repeatable -= across * down - 1
            if self._repeatable < 0:
                across = down = 1
            for _ in range(across):
                _fill(cells, covered)
                cells.append(words.replace("\\|", "|").strip())
                covered |= {len(cells) - 1 + row * width: cells[-1] for row in range(1, down)}
        _fill(cells, covered)
        blank_below = len(inside) > 1 and inside[0].strip() != "" and not inside[1].strip() and first == width
        headers = int("header" in about or (blank_below and "noheader" not in about))
        self.table([cells[at : at + width] for at in range(0, len(cells), width)], headers=headers)

    def shown(self, text: str, notes: list[str]) -> str:
        def write(found: re.Match[str]) -> str:
            if found["macro"]:
                return macro(found["macro"], found)
            if found["mark"]:
                return self.script(found, found["mark"])
            if found["name"]:
                return self._attributes.get(found["name"], found[0])
            if found["inner"]:
                return self.shown(found["inner"], notes)
            plain = next((found[name] for name in _PLAIN if found[name]), "")
            return "\v" if found["end"] else plain.removesuffix("^")

        def macro(name: str, found: re.Match[str]) -> str:
            said = found["said"]
            if name in ("stem", "latexmath", "asciimath"):
                return self.formula(said, *around(found))
            if name == "footnote":
                return self.note(self.shown(said, []), notes)
            if name in ("anchor", "indexterm", "icon"):
                return ""
            shown = said.partition(",")[0] if name in ("image", "link", "mailto") else said
            return self.shown(shown, notes).removesuffix("^") or found["target"]

        return _INLINE.sub(write, text)


def _fill(cells: list[str], covered: dict[int, str]) -> None:
    """Add the cells that one above goes over, up to the next one of their row."""
    while len(cells) in covered:
        cells.append(covered.pop(len(cells)))


def _copies(said: str | None) -> int:
    return min(int(said or 1), _MOST_COPIES)
