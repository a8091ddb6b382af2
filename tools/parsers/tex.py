"""Parser of LaTeX as its text, without running it: sections, lists, tables, formulas as lines, footnotes, citations.

What a command does is not known but for the common ones: of another one its arguments are text. No file is included.
"""

import re
import unicodedata
from dataclasses import replace

from tools.parsers.canonical_text import Parsed
from tools.parsers.markup_draft import Draft, source
from tools.parsers.office_flow import BULLET, Paragraph, Role

_TOKEN = re.compile(
    r"\\(?:(?P<word>[A-Za-z@]+)\*?[ \t]*|(?P<sign>.))|(?P<blank>\n[ \t]*\n\s*)|(?P<math>\$\$?)"
    r"|(?P<mark>[{}~&]|---?|``|'')",
    re.DOTALL,
)
_COMMENT = re.compile(r"(?<!\\)((?:\\\\)*)%.*(?:\n[ \t]*)?")
_VERBATIM = re.compile(
    r"verbatim\*?|Verbatim|lstlisting|minted|alltt|comment|tikzpicture|pgfpicture|picture|filecontents\*?"
)
_DISPLAYED = re.compile(r"(?:equation|align|alignat|gather|multline|eqnarray|displaymath|math|flalign)\*?")
_TABLES = re.compile(r"(?:tabular|longtable|tabu|array|supertabular)[*xy]?")
_LEVELS = {f"{'sub' * at}section": at + 3 for at in range(3)}
_LEVELS |= {"part": 1, "chapter": 2, "paragraph": 6, "subparagraph": 7}
_REFERS = re.compile(r"(?!hyperref|href)[A-Za-z@]*(?:[Cc][Ii][Tt][Ee][A-Za-z@]*|ref)")
_SILENT = re.compile(  # with their arguments
    r"label|index|[vh]space|includegraphics|bibliography(?:style)?|usepackage|documentclass|input|include|graphicspath|def"
    r"|(?:this)?pagestyle|(?:set|addto)(?:length|counter)|addcontentsline|(?:re)?new\w+|providecommand|hypersetup|geometry"
    r"|(?:define|row|cell|page)?color|[vh]?phantom|rule|cmidrule|cline|lstset|selectlanguage|DeclareMathOperator|markboth"
    r"|author|date"
)
_FIRST_SILENT = frozenset({"href", "textcolor", "colorbox", "parbox", "resizebox"})
_READ = frozenset({"caption", "footnote", "thanks", "SI", "qty"})
_LEFT_OUT = {"includegraphics": "picture", "input": "included file", "include": "included file"}
_GROUPS = {"thebibliography": 1, "minipage": 2, "multicols": 2, "adjustbox": 2}  # of an environment, that are no text
_SIGNS = {
    "ss": "ß", "o": "ø", "O": "Ø", "ae": "æ", "AE": "Æ", "oe": "œ", "OE": "Œ", "aa": "å", "AA": "Å", "l": "ł", "L": "Ł",
    "i": "ı", "dots": "…", "ldots": "…", "LaTeX": "LaTeX", "TeX": "TeX", "S": "§", "P": "¶", "copyright": "©",
    "pounds": "£", "euro": "€", "textbackslash": "\\", "textasciitilde": "~", "textasciicircum": "^", "textbar": "|",
    "textless": "<", "textgreater": ">", "textdegree": "°", "textendash": "–", "textemdash": "—", "quad": " ",
    "qquad": " ", "newline": "\v", "linebreak": "\v",
    "~": " ", "--": "–", "---": "—", "``": "“", "''": "”", ",": " ", ";": " ", ":": " ", " ": " ", "-": "", "/": "",
    "!": "",
}  # fmt: skip
_ACCENTS = {
    "'": "\u0301", "`": "\u0300", "^": "\u0302", '"': "\u0308", "~": "\u0303", "=": "\u0304", ".": "\u0307",
    "c": "\u0327", "v": "\u030c", "u": "\u0306", "H": "\u030b", "k": "\u0328", "r": "\u030a", "d": "\u0323",
    "b": "\u0331",
}  # fmt: skip
_ACCENTED = re.compile(r"\s*\{?\\?([^\W\d_])[ \t]*\}?")
_OPTION = re.compile(r"\*?[ \t]*\[[^\]\n]{0,200}\]")
_GROUP = re.compile(r"(?:[ \t]*\[[^\]]{0,400}\])*[ \t]*\n?[ \t]*\{")
_MACRO = re.compile(r"\\(?:re)?newcommand\*?\{?\\([A-Za-z]+)\}?\{([^{}\\]*)\}")  # that stands for words alone
_MOST_DEPTH = 50
_LONGEST_FORMULA = 10_000


def read(data: bytes) -> Parsed:
    """Parse LaTeX; its title is the document's. Raises UnreadableDocument if it cannot be decoded."""
    text, comments = _COMMENT.subn(r"\1", source(data).replace("\r\n", "\n"))
    reader = _Reader(text)
    reader.read_all()
    reader.left_out["comment"] += comments
    return reader.parsed()


class _Reader(Draft):
    """A reader of one text, in which each brace knows its other one."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self._text = text
        self._closing = _closing(text)
        self._signs = dict(_MACRO.findall(text)) | _SIGNS
        self._parts: list[str] = []
        self._notes: list[str] = []
        self._lists: list[tuple[str, int]] = []  # each list around with its number so far
        self._next = Paragraph("")
        self._role: Role = "paragraph"
        self._rows: list[list[str]] = []  # of the table around, and none elsewhere
        self._rules: list[int] = []
        self._inner_tables = 0
        self._copies = 1
        self._depth = 0

    def read_all(self) -> None:
        text = self._text
        if title := re.search(r"\\title(?:\[[^\]]{0,400}\])?\s*(?=\{)", text):
            self.title = self._argument(title.end())[0]
            self._write("title", self.title)
        for found in re.finditer(r"\\(?:author|date)(?=\{)", text if "\\maketitle" in text else ""):
            self._write("paragraph", self._argument(found.end())[0])
        begins = re.search(r"\\begin\{document\}", text)
        ends = text.find("\\end{document}")
        self._walk(begins.end() if begins else 0, ends if ends >= 0 else len(text))
        if self._rows:
            self._inner_tables = 0
            self._end_table()
        self._flush()

    def _walk(self, at: int, end: int) -> None:
        while found := _TOKEN.search(self._text, at, end):
            self._parts.append(self._text[at : found.start()])
            at, mark = found.end(), found["mark"]
            if found["word"]:
                at = self._command(found["word"], at)
            elif found["sign"]:
                at = self._signed(found["sign"], at)
            elif found["blank"]:
                self._flush()
            elif found["math"]:
                at = self._math(at, found["math"])
            elif mark == "&" and self._rows:
                self._end_cell()
            elif mark not in "{}":
                self._parts.append(_SIGNS.get(mark, mark))
        self._parts.append(self._text[at:end])

    def _command(self, word: str, at: int) -> int:
        if word in ("begin", "end"):
            return self._environment(word == "begin", at)
        if word in ("item", "bibitem"):
            return self._item(word, at)
        if word in ("url", "path", "verb", "lstinline"):
            return self._verbatim(at)
        if word == "multicolumn":
            columns = re.compile(r"\{(\d{1,2})\}").match(self._text, at)
            self._copies = int(columns[1]) if columns and not self._inner_tables else self._copies
            return self._after_groups(at, 2)
        if not (word in _LEVELS or word in _READ or _REFERS.fullmatch(word)):
            return self._other(word, at)
        words, at = self._argument(at)
        if word in _LEVELS or word == "caption":
            self._write("heading" if word in _LEVELS else "caption", words, _LEVELS.get(word, 0))
        elif word in ("footnote", "thanks"):
            self._parts.append(self.note(words, self._notes))
        elif word in ("SI", "qty"):  # of siunitx: a number, and a unit by the names of its parts
            unit = self._group(at) or (at, at - 1)
            self._parts.append(f"{words} {self._text[slice(*unit)].replace('}', '')}".replace("\\", " "))
            return unit[1] + 1
        else:
            self._parts.append(f"[{words}]")
        return at

    def _other(self, word: str, at: int) -> int:
        """Read a command that writes a sign, or nothing; of any other the arguments are text."""
        if word in _ACCENTS and self._text[at : at + 1] == "{":
            return self._signed(word, at)
        if word in self._signs:
            is_apart = word in _SIGNS and len(word) > 2 and self._text[at - 1] in " \t"
            self._parts.append(self._signs[word] + " " * is_apart)
            return at + 2 * self._text.startswith("{}", at)
        if _SILENT.fullmatch(word):
            if word in _LEFT_OUT:
                self.left_out[_LEFT_OUT[word]] += 1
            return self._after_groups(at, 9)
        if word in ("hline", "toprule", "midrule", "bottomrule"):
            self._rules += [len(self._rows)] * (not self._inner_tables)
        elif word == "par":
            self._flush()
        elif word == "tabularnewline":
            self._end_cell(ends_row=True)
        return self._after_groups(at, int(word in _FIRST_SILENT))

    def _signed(self, sign: str, at: int) -> int:
        if sign in "([":
            return self._math(at, "\\)" if sign == "(" else "\\]")
        if sign == "\\":
            self._end_cell(ends_row=True)
            return self._after_groups(at, 0)
        if sign not in _ACCENTS:
            self._parts.append(_SIGNS.get(sign, sign))
            return at
        found = _ACCENTED.match(self._text, at)
        if found is None:
            return at
        self._parts.append(unicodedata.normalize("NFC", found[1].replace("ı", "i") + _ACCENTS[sign]))
        return found.end()

    def _math(self, at: int, closing: str) -> int:
        end = self._text.find(closing, at, at + _LONGEST_FORMULA)
        if end < 0:
            return at
        after = end + len(closing)
        self._formula(self._text[at:end], self._text[after : after + 1])
        return after

    def _formula(self, latex: str, following: str = "") -> None:
        self._parts.append(self.formula(latex.strip(), self._parts[-1][-20:] if self._parts else "", following))

    def _environment(self, begins: bool, at: int) -> int:
        name = re.compile(r"\s*\{([^{}]{0,40})\}(?:[ \t]*\[[^\]\n]{0,200}\])?").match(self._text, at)
        if name is None:
            return at
        kind, at = name[1], name.end()
        if begins and (_VERBATIM.fullmatch(kind) or _DISPLAYED.fullmatch(kind)):
            end = self._text.find(f"\\end{{{kind}}}", at)
            self._inside(kind, self._text[at : end if end >= 0 else None])
            return len(self._text) if end < 0 else end + len(kind) + 6
        if _TABLES.fullmatch(kind):
            return self._table(begins, kind, at)
        self._flush()
        if kind in ("itemize", "enumerate", "description", "thebibliography"):
            if begins:
                self._lists.append((kind, 0))
            else:
                del self._lists[-1:]
        elif kind in ("quote", "quotation", "verse"):
            self._role = "quote" if begins else "paragraph"
        elif kind == "abstract" and begins:
            self._write("label", "Abstract")
        groups = _GROUPS.get(kind, 0) if begins else 0
        return self._after_groups(at, groups) if groups else at

    def _inside(self, kind: str, inside: str) -> None:
        if _DISPLAYED.fullmatch(kind):
            self._formula(re.sub(r"^\{\d+\}", "", inside) if "alignat" in kind else inside)
        elif kind == "comment" or kind.endswith("picture"):
            self.left_out["comment" if kind == "comment" else "drawing"] += 1
        else:
            self._flush()
            self.code(re.sub(r"\A(?:\{[^{}\n]*\})?[ \t]*\n", "", inside).rstrip().split("\n"))

    def _item(self, word: str, at: int) -> int:
        self._flush()
        kind, number = self._lists[-1] if self._lists else ("itemize", 0)
        self._lists[-1:] = [(kind, number + 1)] if self._lists else []
        label = re.compile(r"[ \t]*\[([^\]\n]{0,300})\]").match(self._text, at)
        at = label.end() if label else at
        if word == "bibitem":
            key, at = self._argument(at)
            self._next = Paragraph("", "item", 0, f"[{key}] ")
            return at
        marker = f"{number + 1}. " if kind == "enumerate" else BULLET
        if label:
            said = self._inner(*label.span(1))
            marker = f"{BULLET}{said}: " if kind == "description" else f"{said} "
        item = Paragraph("", "item", max(0, len(self._lists) - 1), marker)
        if self._depth or self._rows:
            self._parts.append(f"\v{item.in_cell}")
        else:
            self._next = item
        return at

    def _table(self, begins: bool, kind: str, at: int) -> int:
        if not begins:
            if self._inner_tables:
                self._inner_tables -= 1
            else:
                self._end_table()
            return at
        if self._rows:
            self._inner_tables += 1
        else:
            self._flush()
            self._rows, self._rules = [[]], []
        return self._after_groups(at, 2 if kind[-1:] in "*xy" and kind != "array" else 1)

    def _end_table(self) -> None:
        self._end_cell(ends_row=True)
        rows, self._rows = [row for row in self._rows if any(row)], []
        headers = next((rule for rule in self._rules if rule > 1), 1) - 1
        notes, self._notes = self._notes, []
        self.table(rows, headers=headers if headers < len(rows) and len(self._rules) > 1 else 0, below=notes)

    def _end_cell(self, *, ends_row: bool = False) -> None:
        if not self._rows or self._inner_tables:  # a cell has the lines of a table in it as its own
            self._parts.append("\v")
            return
        self._rows[-1] += [self._taken()] * self._copies
        self._rows += [[]] * ends_row
        self._copies = 1

    def _verbatim(self, at: int) -> int:
        begin, end = self._group(at) or (at + 1, self._text.find(self._text[at : at + 1], at + 1, at + 400))
        self._parts.append(self._text[begin:end] if end > 0 else "")
        return end + 1 if end > 0 else at

    def _group(self, at: int) -> tuple[int, int] | None:
        """Return the span inside of the braces that begin at a place, after options in brackets."""
        found = _GROUP.match(self._text, at)
        closing = self._closing.get(found.end() - 1) if found else None
        return (found.end(), closing) if found and closing is not None else None

    def _argument(self, at: int) -> tuple[str, int]:
        group = self._group(at)
        return (self._inner(*group), group[1] + 1) if group else ("", at)

    def _after_groups(self, at: int, most: int) -> int:
        """Return where a command ends of which so many arguments at most are no text, and its options."""
        while most and (group := self._group(at)):
            at, most = group[1] + 1, most - 1
        option = _OPTION.match(self._text, at)
        return option.end() if option else at

    def _inner(self, start: int, end: int) -> str:
        if self._depth >= _MOST_DEPTH:
            return self._text[start:end]
        around, self._parts, self._depth = self._parts, [], self._depth + 1
        self._walk(start, end)
        words, self._parts, self._depth = self._taken(), around, self._depth - 1
        return words

    def _taken(self) -> str:
        parts, self._parts = self._parts, []
        return self.joined("".join(parts))

    def _flush(self) -> None:
        """Write the words so far as a paragraph, but not within an argument or a table."""
        if self._depth or self._rows:
            return
        words, notes, self._notes = self._taken(), self._notes, []
        if words:
            role = self._role if self._next.role == "paragraph" else self._next.role
            self.flow.paragraph(replace(self._next, text=words, role=role, notes=notes))
            self._next = Paragraph("")

    def _write(self, role: Role, words: str, level: int = 0) -> None:
        self._flush()
        notes, self._notes = self._notes, []
        self.flow.paragraph(Paragraph(words, role, level, notes=notes))


def _closing(text: str) -> dict[int, int]:
    opened: list[int] = []
    closing: dict[int, int] = {}
    for found in re.finditer(r"\\.|[{}]", text, re.DOTALL):
        if found[0] == "{":
            opened.append(found.start())
        elif found[0] == "}" and opened:
            closing[opened.pop()] = found.start()
    return closing
