"""Parser of LaTeX as its text, without running it: sections, lists, tables, formulas as lines, footnotes, citations.

What a command does is not known but for the common ones: of another one its arguments are text. No file is included.
"""

import re
import unicodedata
from collections import Counter

from tools.parsers.canonical_text import Parsed, storable, unwrapped
from tools.parsers.markup_draft import Draft
from tools.parsers.office_flow import BULLET, Paragraph, Role
from tools.parsers.plain import decode

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
_LEVELS = {
    "part": 1,
    "chapter": 2,
    "section": 3,
    "subsection": 4,
    "subsubsection": 5,
    "paragraph": 6,
    "subparagraph": 7,
}
_SILENT = re.compile(  # with their arguments
    r"label|index|[vh]space|includegraphics|bibliography(?:style)?|usepackage|documentclass|input|include|graphicspath|def"
    r"|(?:this)?pagestyle|(?:set|addto)(?:length|counter)|addcontentsline|(?:re)?new\w+|providecommand|hypersetup|geometry"
    r"|(?:define|row|cell|page)?color|[vh]?phantom|rule|cmidrule|cline|lstset|selectlanguage|DeclareMathOperator|markboth"
    r"|author|date"
)
_FIRST_SILENT = frozenset({"href", "textcolor", "colorbox", "parbox", "resizebox"})
_RULES = frozenset({"hline", "toprule", "midrule", "bottomrule"})
_SIGNS = {
    "ss": "ß", "o": "ø", "O": "Ø", "ae": "æ", "AE": "Æ", "oe": "œ", "OE": "Œ", "aa": "å", "AA": "Å", "l": "ł", "L": "Ł",
    "i": "ı", "dots": "…", "ldots": "…", "LaTeX": "LaTeX", "TeX": "TeX", "S": "§", "P": "¶", "copyright": "©",
    "pounds": "£", "euro": "€", "textbackslash": "\\", "textasciitilde": "~", "textasciicircum": "^", "textbar": "|",
    "textless": "<", "textgreater": ">", "textdegree": "°", "textendash": "–", "textemdash": "—", "quad": " ",
    "qquad": " ", "newline": "\v", "linebreak": "\v",
    "~": " ", "--": "–", "---": "—", "``": "“", "''": "”", ",": " ", ";": " ", ":": " ", " ": " ", "-": "", "/": "",
    "!": "",
}  # fmt: skip
_ACCENTS = dict(
    zip(
        "'`^\"~=.cvuHkrdb",
        "\u0301\u0300\u0302\u0308\u0303\u0304\u0307\u0327\u030c\u0306\u030b\u0328\u030a\u0323\u0331",
        strict=True,
    )
)
_ACCENTED = re.compile(r"\s*\{?\\?([^\W\d_])[ \t]*\}?")
_OPTION = re.compile(r"\*?[ \t]*\[[^\]\n]{0,200}\]")
_GROUP = re.compile(r"(?:[ \t]*\[[^\]]{0,400}\])*[ \t]*\n?[ \t]*\{")
_MACRO = re.compile(r"\\(?:re)?newcommand\*?\{?\\([A-Za-z]+)\}?\{([^{}\\]*)\}")  # that stands for words alone
_MOST_DEPTH = 50
_LONGEST_FORMULA = 10_000


def read(data: bytes) -> Parsed:
    """Parse LaTeX; its title is the document's. Raises UnreadableDocument if it cannot be decoded."""
    text, comments = _COMMENT.subn(r"\1", storable(decode(data)).replace("\r\n", "\n"))
    reader = _Reader(text)
    reader.read()
    reader.left_out["Comments"] += comments
    return reader.draft.parsed([(name, count) for name, count in sorted(reader.left_out.items()) if name])


class _Reader:
    """A reader of one text, in which each brace knows its other one."""

    def __init__(self, text: str) -> None:
        self.draft = Draft(lambda words, notes: words)
        self.left_out: Counter[str] = Counter()
        self._text = text
        self._closing = _closing(text)
        self._macros = dict(_MACRO.findall(text))
        self._parts: list[str] = []
        self._notes: list[str] = []
        self._lists: list[tuple[str, int]] = []  # each list around with its number so far
        self._next = Paragraph("")
        self._role: Role = "paragraph"
        self._rows: list[list[str]] | None = None
        self._rules: list[int] = []
        self._copies = 1
        self._depth = 0

    def read(self) -> None:
        """Read the text of the document."""
        text = self._text
        if title := re.search(r"\\title(?:\[[^\]]{0,400}\])?\s*(?=\{)", text):
            self.draft.title = self._argument(title.end())[0]
            self._flush_as("title", self.draft.title)
        for found in re.finditer(r"\\(?:author|date)(?=\{)", text if "\\maketitle" in text else ""):
            self._flush_as("paragraph", self._argument(found.end())[0])
        begins = re.search(r"\\begin\{document\}", text)
        ends = text.find("\\end{document}")
        self._walk(begins.end() if begins else 0, ends if ends >= 0 else len(text))
        self._flush()

    def _walk(self, at: int, end: int) -> None:
        while at < end:
            found = _TOKEN.search(self._text, at, end)
            self._parts.append(self._text[at : found.start() if found else end])
            if found is None:
                return
            at = found.end()
            if found["word"]:
                at = self._command(found["word"], at)
            elif found["sign"]:
                at = self._signed(found["sign"], at)
            elif found["blank"]:
                self._flush()
            elif found["math"]:
                at = self._math(at, found["math"])
            elif found["mark"] == "&" and self._rows is not None:
                self._end_cell()
            elif found["mark"] not in "{}":
                self._parts.append(_SIGNS.get(found["mark"], found["mark"]))

    def _command(self, word: str, at: int) -> int:
        """Read a command; return where what follows it begins."""
        if word in ("begin", "end"):
            return self._environment(word, at)
        if word in _LEVELS or word == "caption":
            words, at = self._argument(at)
            self._flush_as("heading" if word in _LEVELS else "caption", words, level=_LEVELS.get(word, 0))
        elif word in ("footnote", "thanks"):
            words, at = self._argument(at)
            self._parts.append(self.draft.note(words, self._notes))
        elif "cite" in word.lower() or (word.endswith("ref") and word not in ("href", "hyperref")):
            words, at = self._argument(at)
            self._parts.append(f"[{words}]")
        elif word in ("SI", "qty"):  # of siunitx: a number, and a unit by the names of its parts
            words, at = self._argument(at)
            unit = self._group(at) or (at, at - 1)
            self._parts.append(f"{words} {self._text[slice(*unit)].replace('}', '')}".replace("\\", " "))
            at = unit[1] + 1
        elif word in ("item", "bibitem"):
            return self._item(word, at)
        elif word in ("url", "path", "verb", "lstinline"):
            return self._verbatim(at)
        elif word == "multicolumn":
            columns = re.compile(r"\{(\d{1,2})\}").match(self._text, at)
            self._copies = int(columns[1]) if columns else 1
            return self._after_groups(at, 2)
        else:
            return self._other(word, at)
        return at

    def _other(self, word: str, at: int) -> int:
        """Read a command that writes a sign, or nothing; of any other the arguments are text."""
        if word in _ACCENTS and self._text[at : at + 1] == "{":
            return self._accent(word, at)
        if word in _SIGNS:
            space = " " if self._text[at - 1] in " \t" and len(word) > 2 else ""
            self._parts.append(_SIGNS[word] + space)
            return at + 2 if self._text.startswith("{}", at) else at
        if word in self._macros:
            self._parts.append(self._macros[word])
            return at + 2 if self._text.startswith("{}", at) else at
        if _SILENT.fullmatch(word):
            name = {"includegraphics": "Pictures", "input": "Included files", "include": "Included files"}.get(word, "")
            self.left_out[name] += 1
            return self._after_groups(at, 9)
        if word in _RULES:
            self._rules.append(len(self._rows or []))
        elif word == "par":
            self._flush()
        elif word == "tabularnewline":
            self._end_row()
        return self._after_groups(at, 1) if word in _FIRST_SILENT else self._after(_OPTION, at)

    def _signed(self, sign: str, at: int) -> int:
        if sign in "([":
            return self._math(at, "\\)" if sign == "(" else "\\]")
        if sign == "\\":
            if self._rows is None:
                self._parts.append("\v")
            else:
                self._end_row()
            return self._after(_OPTION, at)
        if sign in _ACCENTS:
            return self._accent(sign, at)
        self._parts.append(_SIGNS.get(sign, sign))
        return at

    def _after(self, pattern: re.Pattern[str], at: int) -> int:
        found = pattern.match(self._text, at)
        return found.end() if found else at

    def _accent(self, sign: str, at: int) -> int:
        found = _ACCENTED.match(self._text, at)
        if found is None:
            return at
        letter = found[1].replace("ı", "i")
        self._parts.append(unicodedata.normalize("NFC", letter + _ACCENTS[sign]))
        return found.end()

    def _math(self, at: int, closing: str) -> int:
        end = self._text.find(closing, at, at + _LONGEST_FORMULA)
        if end < 0:
            return at
        self._formula(self._text[at:end], self._text[end + len(closing) : end + len(closing) + 1])
        return end + len(closing)

    def _formula(self, latex: str, following: str = "") -> None:
        self._parts.append(self.draft.formula(latex.strip(), self._parts[-1][-20:] if self._parts else "", following))

    def _environment(self, word: str, at: int) -> int:
        name = re.compile(r"\s*\{([^{}]{0,40})\}(?:[ \t]*\[[^\]\n]{0,200}\])?").match(self._text, at)
        if name is None:
            return at
        kind, at = name[1], name.end()
        if word == "begin" and (_VERBATIM.fullmatch(kind) or _DISPLAYED.fullmatch(kind)):
            end = self._text.find(f"\\end{{{kind}}}", at)
            inside = self._text[at : end if end >= 0 else len(self._text)]
            self._inside(kind, inside)
            return len(self._text) if end < 0 else end + len(kind) + 6
        if _TABLES.fullmatch(kind):
            return self._table(word, kind, at)
        self._flush()
        if kind in ("itemize", "enumerate", "description", "thebibliography"):
            if word == "begin":
                self._lists.append((kind, 0))
            else:
                self._lists = self._lists[:-1]
            return self._after_groups(at, 1) if kind == "thebibliography" and word == "begin" else at
        if kind in ("quote", "quotation", "verse"):
            self._role = "quote" if word == "begin" else "paragraph"
        if kind == "abstract" and word == "begin":
            self._flush_as("label", "Abstract")
        return self._after_groups(at, 2) if kind in ("minipage", "multicols", "adjustbox") and word == "begin" else at

    def _inside(self, kind: str, inside: str) -> None:
        if _DISPLAYED.fullmatch(kind):
            self._formula(re.sub(r"^\{\d+\}", "", inside) if "alignat" in kind else inside)
        elif kind == "comment" or kind.endswith("picture"):
            self.left_out["Comments" if kind == "comment" else "Drawings"] += 1
        else:
            self._flush()
            self.draft.code(re.sub(r"\A(?:\{[^{}\n]*\})?[ \t]*\n", "", inside).rstrip().split("\n"))

    def _item(self, word: str, at: int) -> int:
        self._flush()
        label = re.compile(r"[ \t]*\[([^\]\n]{0,300})\]").match(self._text, at)
        kind, number = self._lists[-1] if self._lists else ("itemize", 0)
        if self._lists:
            self._lists[-1] = (kind, number + 1)
        if word == "bibitem":
            key, at = self._argument(label.end() if label else at)
            self._next = Paragraph("", "item", 0, f"[{key}] ")
            return at
        marker = f"{number + 1}. " if kind == "enumerate" else BULLET
        if label:
            said = self._inner(label.start(1), label.end(1))
            marker = f"{said} " if kind == "enumerate" else f"{BULLET}{said}: " if kind == "description" else f"{said} "
        self._next = Paragraph("", "item", max(0, len(self._lists) - 1), marker)
        return label.end() if label else at

    def _table(self, word: str, kind: str, at: int) -> int:
        if word == "begin":
            self._flush()
            self._rows, self._rules = [[]], []
            return self._after_groups(at, 2 if kind[-1:] in "*xy" and kind != "array" else 1)
        self._end_row()
        rows, self._rows = [row for row in self._rows or [] if any(row)], None
        headers = next((rule for rule in self._rules if rule > 1), 1) - 1
        self.draft.table(rows, headers=headers if headers < len(rows) and len(self._rules) > 1 else 0)
        return at

    def _end_cell(self) -> None:
        words = self._taken()
        if self._rows is not None:
            self._rows[-1] += [words] * self._copies
        self._copies = 1

    def _end_row(self) -> None:
        self._end_cell()
        if self._rows is not None:
            self._rows.append([])

    def _verbatim(self, at: int) -> int:
        if group := self._group(at):
            self._parts.append(self._text[group[0] : group[1]])
            return group[1] + 1
        end = self._text.find(self._text[at : at + 1], at + 1, at + 400)
        self._parts.append(self._text[at + 1 : end] if end > 0 else "")
        return end + 1 if end > 0 else at

    def _group(self, at: int) -> tuple[int, int] | None:
        """Return the span inside of the braces that begin at a place, after options in brackets."""
        found = _GROUP.match(self._text, at)
        closing = self._closing.get(found.end() - 1) if found else None
        return (found.end(), closing) if found and closing is not None else None

    def _argument(self, at: int) -> tuple[str, int]:
        """Return the words of a command's argument, and where it ends."""
        group = self._group(at)
        return (self._inner(*group), group[1] + 1) if group else ("", at)

    def _after_groups(self, at: int, most: int) -> int:
        for _ in range(most):
            group = self._group(at)
            if group is None:
                break
            at = group[1] + 1
        return self._after(_OPTION, at)

    def _inner(self, start: int, end: int) -> str:
        if self._depth >= _MOST_DEPTH:
            return self._text[start:end]
        around, self._parts, self._depth = self._parts, [], self._depth + 1
        self._walk(start, end)
        words, self._parts, self._depth = self._taken(), around, self._depth - 1
        return words

    def _taken(self) -> str:
        parts, self._parts = self._parts, []
        return "\n".join(unwrapped(line).strip() for line in "".join(parts).split("\v")).strip()

    def _flush(self) -> None:
        if self._depth or self._rows is not None:
            return
        words, notes, self._notes = self._taken(), self._notes, []
        if words:
            self._next.text, self._next.notes = words, notes
            if self._next.role == "paragraph":
                self._next.role = self._role
            self.draft.flow.paragraph(self._next)
            self._next = Paragraph("")

    def _flush_as(self, role: Role, words: str, level: int = 0) -> None:
        self._flush()
        notes, self._notes = self._notes, []
        self.draft.flow.paragraph(Paragraph(words, role, level, notes=notes))


def _closing(text: str) -> dict[int, int]:
    """Return where each brace that is opened is closed."""
    opened: list[int] = []
    closing: dict[int, int] = {}
    for found in re.finditer(r"\\.|[{}]", text, re.DOTALL):
        if found[0] == "{":
            opened.append(found.start())
        elif found[0] == "}" and opened:
            closing[opened.pop()] = found.start()
    return closing
