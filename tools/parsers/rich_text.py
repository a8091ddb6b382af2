"""Parser of RTF: paragraphs, headings by their outline level, lists, tables and footnotes.

RTF is a stream of groups and control words. It is read once, without recursion: each group keeps the state that it
opened with. Running heads stand before what follows them, running feet at the end, each once. What is hidden, struck
out, deleted or a comment is left out, and so are pictures and what no page shows.
"""

import re
from dataclasses import dataclass, replace
from typing import Any

from lxml import etree

from graph.errors import UnreadableDocument
from tools.parsers.canonical_text import CHECK_SUFFIX, CanonicalText, Parsed, storable
from tools.parsers.html_visible import names_of
from tools.parsers.office_flow import BULLET, PAGE, PAGE_FIELDS, TAB, Flow, Paragraph, Table, TableCell, TableRow
from tools.parsers.office_formulas import OMATH, M, said_formula
from tools.parsers.raised_text import LOWERED, NOTE, RAISED, ShiftedText

_PLACES = ("body", "footnote", "marker", "title", "styles", "edge", "field", "math")
_MOST_DEPTH = 1000
_LONGEST_TITLE = 500
_TOKEN = re.compile(
    rb"\\([a-zA-Z]{1,32})(-?\d{1,10})? ?|\\'([0-9a-fA-F]{2})|\\([^a-zA-Z'])|([{}])|[\r\n\x00]+|([^\\{}\r\n\x00]+)|."
)
_CODE_PAGES = {
    77: "mac_roman", 128: "cp932", 129: "cp949", 134: "gb18030", 136: "big5", 161: "cp1253", 162: "cp1254",
    163: "cp1258", 177: "cp1255", 178: "cp1256", 186: "cp1257", 204: "cp1251", 222: "cp874", 238: "cp1250",
}  # fmt: skip
# Groups that no page shows, or that are no text of the document. Unknown ones after \* are left out as well.
_UNSEEN = names_of(
    """
    colortbl info object themedata colorschememapping datastore latentstyles listtable listoverridetable rsidtbl
    generator xmlnstbl bkmkstart bkmkend filetbl revtbl pgptbl mmathPr mmathPict shprslt nonshppict atnid atnauthor
    annotation atrfstart atrfend atnref tc xe template userprops docvar ftnsep ftnsepc aftnsep aftnsepc nonesttables
    """
)
_SEEN = frozenset({"footnote", "shptxt", "pntext", "listtext", "fldrslt", "shppict", "shpinst", "fldinst", "moMath"})
_SIGNS = {
    "emdash": "—", "endash": "–", "lquote": "‘", "rquote": "’", "ldblquote": "“", "rdblquote": "”", "bullet": "•",
    "emspace": " ", "enspace": " ", "qmspace": " ",
}  # fmt: skip
_SYMBOLS = {b"~": "\u00a0", b"_": "\u2011", b"\\": "\\", b"{": "{", b"}": "}", b"\t": "\t"}
_HEADING_NAME = re.compile(r"\s*heading\s*([1-9])", re.IGNORECASE)
_MARKER = re.compile(r"\s*(?:([•·▪◦‣–*-])|(\(?(?:\d{1,3}|[A-Za-z])[.)]))\t\s*(?=\S)")
_EDGES_OF = {"headerf": "titlepg", "footerf": "titlepg", "headerl": "facingp", "footerl": "facingp"}  # where shown
_EDGES = names_of("header headerl headerr headerf footer footerl footerr footerf")
_DESTINATIONS = {  # where the text of a group goes
    "fonttbl": "fonts", "stylesheet": "styles", "listtext": "marker", "pntext": "marker", "footnote": "footnote",
    "fldinst": "field", "shpinst": "shape", "moMath": "math", **dict.fromkeys(_EDGES, "edge"),
}  # fmt: skip
_BEGINS = frozenset({*_DESTINATIONS, "shptxt", "fldrslt", "pict", "title"})
_SWITCHES = {  # properties of a group, which a 0 behind the word takes back
    **dict.fromkeys(("v", "strike", "striked", "deleted"), ("unseen", True)), "b": ("bold", True),
    "intbl": ("in_table", True), "nosupersub": ("shift", 0),
    **dict.fromkeys(("super", "up"), ("shift", RAISED)), **dict.fromkeys(("sub", "dn"), ("shift", LOWERED)),
}  # fmt: skip
_NUMBERS = {"outlinelevel": "outline", "s": "style", "ilvl": "level"}
_WORDS = names_of(  # that mean something else; most that a file holds are of its looks
    """
    par sect page column line softline nestcell nestrow tab chpgn cell row trhdr chftn plain pard titlepg facingp uc f
    fcharset ansicpg mac pc pca
    """
)
_BREAK = "\x00"  # a line break that the writer meant; canonical text has no NUL


@dataclass(slots=True)
class _State:
    """What a group inherits: where its text goes, how it is encoded, and what its paragraph is."""

    into: str = "body"  # body, footnote, marker, title, edge, field, math, fonts, styles, shape, or nowhere
    within: str = ""  # the destination of the group
    unseen: bool = False  # hidden, struck out or deleted
    bold: bool = False
    code_page: str = "cp1252"
    fallback: int = 1  # characters after \u for readers without Unicode
    outline: int | None = None
    style: int = 0
    in_table: bool = False
    level: int = 0  # of a list
    shift: int = 0  # of raised or lowered letters
    math: Any = None  # the part of a formula

    @property
    def is_lost(self) -> bool:
        return self.into in ("nowhere", "info")


def read(data: bytes) -> Parsed:
    """Parse RTF. Raises UnreadableDocument if it is none, or its groups nest deeper than 1,000 levels."""
    data = data.removeprefix(b"\xef\xbb\xbf").lstrip()
    if not data.startswith(b"{\\rtf"):
        raise UnreadableDocument("The file is no RTF: it does not begin with {\\rtf.", suggestion=CHECK_SUFFIX)
    reader = _Reader()
    reader.read(data)
    return reader.parsed()


class _Reader:
    """A reader of tokens that collects the words of a paragraph, a cell or a note and writes them when it ends."""

    def __init__(self) -> None:
        self._flow = Flow(CanonicalText())
        self._state = _State()
        self._stack: list[_State] = []
        self._starred = False
        self._skip = 0  # characters that stand in for a letter of Unicode
        self._bytes = bytearray()  # not decoded yet: a letter may be of two
        self._words = {name: ShiftedText() for name in _PLACES}
        self._flags: set[str] = set()  # what the document says of its pages
        self._feet: list[str] = []
        self._counts_pages = False  # whether the last field's code does
        self._rows: list[TableRow] = []
        self._row = TableRow([])
        self._is_bold = True  # whether all letters of the cell so far are
        self._notes: list[str] = []
        self._noted = 0
        self._levels: dict[int, int] = {}  # outline levels of styles
        self._pages: dict[int, str] = {}  # code pages of fonts
        self._default_page = "cp1252"
        self._font = 0
        self._left_out = self._flow.text.left_out
        self._was_unseen = False

    def read(self, data: bytes) -> None:
        at = 0
        while at < len(data):
            found = _TOKEN.match(data, at)
            if found is None or (found[5] == b"}" and not self._stack):
                break
            at = found.end()
            if found[1] == b"bin":
                at += max(0, int(found[2] or 0))
            else:
                self._token(found)
        self._state, self._stack = _State(), []
        self._end_paragraph()
        self._end_row()
        self._write_table()
        self._flow.end()
        self._flow.text.leave_headings()
        for words in self._feet:
            self._flow.running(words)

    def parsed(self) -> Parsed:
        title = " ".join(storable(self._words["title"].text).split())[:_LONGEST_TITLE]
        return self._flow.text.parsed(title=title or None)

    def _token(self, found: re.Match[bytes]) -> None:
        word, number, hexed, symbol, brace, plain = found.groups()
        if word is not None:
            self._control(word.decode("ascii"), int(number) if number else None)
        elif hexed is not None:
            self._say_bytes(bytes.fromhex(hexed.decode("ascii")))
        elif symbol is not None:
            self._symbol(symbol)
        elif brace == b"{":
            self._open()
        elif brace == b"}":
            self._close()
        elif plain is not None:
            self._say_bytes(plain)

    def _open(self) -> None:
        self._decode()
        if len(self._stack) >= _MOST_DEPTH:
            raise UnreadableDocument("The RTF is nested too deeply.")
        self._stack.append(self._state)
        self._state = replace(self._state, within="")
        self._starred, self._skip = False, 0

    def _close(self) -> None:
        self._decode()
        closed, self._state = self._state, self._stack.pop()
        self._starred, self._skip = False, 0
        if closed.within == "footnote":
            if note := self._taken("footnote"):
                self._notes.append(f"[{self._noted}] {note}")
        elif closed.within in _EDGES:
            self._close_edge(closed.within)
        elif closed.within == "fldinst":
            self._counts_pages = self._taken("field").upper().startswith(PAGE_FIELDS)
        elif closed.into == "math" and closed.within:
            self._close_math(closed)
        elif closed.into == "styles" and closed.within == "":
            found = _HEADING_NAME.match(self._taken("styles"))
            if closed.outline is not None or found:
                self._levels[closed.style] = int(found[1]) - 1 if found else closed.outline or 0

    def _close_edge(self, name: str) -> None:
        words, self._words["edge"] = self._words["edge"].text, ShiftedText()
        if _EDGES_OF.get(name, name) not in (name, *self._flags):
            return
        for line in words.split(_BREAK):
            if name.startswith("header"):
                self._flow.running(line)
            else:
                self._feet.append(line)

    def _close_math(self, closed: _State) -> None:
        words = "".join(filter(str.isprintable, self._taken("math")))
        if closed.within == "moMath":
            if self._state.into in self._words:
                self._words[self._state.into].say_formula(said_formula(self._flow.text, closed.math))
        elif closed.within == "mr":
            etree.SubElement(closed.math, f"{M}t").text = words
        else:
            closed.math.set(f"{M}val", words)

    def _control(self, word: str, number: int | None) -> None:
        self._decode()
        self._skip = 0
        starred, self._starred = self._starred, False
        state = self._state
        if word == "u" and number is not None:
            self._say(chr(number & 0xFFFF))
            self._skip = state.fallback
        elif word in _SIGNS:
            self._say(_SIGNS[word])
        elif state.into == "math" and not state.within and word.startswith("m"):
            state.math, state.within = etree.SubElement(state.math, M + word[1:]), word
        elif word in _BEGINS or word in _UNSEEN or (starred and word not in _SEEN):
            state.within = word
            self._begin(word)
        elif word in _SWITCHES:
            name, value = _SWITCHES[word]
            setattr(state, name, value if number != 0 else type(value)(0))
        elif word in _NUMBERS:
            setattr(state, _NUMBERS[word], number or 0)
        elif word in _WORDS:
            self._word(word, number)

    def _begin(self, word: str) -> None:
        state = self._state
        if word in _DESTINATIONS:
            if not state.is_lost:
                state.into, state.shift = _DESTINATIONS[word], 0
                state.math = etree.Element(OMATH) if word == "moMath" else None
        elif word == "shptxt":  # of a shape, whose other groups are its properties
            state.into = "body" if state.into == "shape" else state.into
        elif word == "fldrslt":
            if state.into == "edge" and self._counts_pages:
                self._say(PAGE)
                state.into = "nowhere"
        else:
            self._left_out["picture"] += word == "pict" and not state.is_lost
            state.into = word if word == "info" or (word == "title" and state.into == "info") else "nowhere"

    def _word(self, word: str, number: int | None) -> None:
        """Read a control word that is no property: the end of something, or a sign of its own."""
        state = self._state
        match word:
            case "par" | "sect" | "page" | "column":
                self._end_paragraph()
            case "line" | "softline" | "nestcell" | "nestrow":
                self._say(_BREAK)
            case "tab" | "chpgn":  # in a running head they say something of their own
                in_edge, otherwise = (TAB, "\t") if word == "tab" else (PAGE, "")
                self._say(in_edge if state.into == "edge" else otherwise)
            case "cell":
                self._end_cell()
            case "row":
                self._end_row()
            case "trhdr":
                self._row.header = True
            case "chftn" if state.into == "body":  # in the note itself its number is known
                self._noted += 1
                self._words["body"].say(str(self._noted), NOTE)
            case "plain":
                state.unseen, state.bold, state.code_page, state.shift = False, False, self._default_page, 0
            case "pard":
                state.outline, state.style, state.in_table, state.level = None, 0, False, 0
            case _:
                self._read_setting(word, number)

    def _read_setting(self, word: str, number: int | None) -> None:
        """Read what the file says of its pages, fonts and encodings."""
        state = self._state
        if word in ("titlepg", "facingp"):
            self._flags.add(word)
        elif word == "uc":
            state.fallback = min(max(number or 0, 0), 10)
        elif word == "f":  # of a text, or the one that the table of fonts describes next
            self._font = number or 0
            if state.into != "fonts":
                state.code_page = self._pages.get(self._font, self._default_page)
        elif word == "fcharset":
            if state.into == "fonts" and number in _CODE_PAGES:
                self._pages[self._font] = _CODE_PAGES[number]
        elif word in ("ansicpg", "mac", "pc", "pca"):
            self._set_code_page({"mac": 10000, "pc": 437, "pca": 850}.get(word, number or 1252))

    def _set_code_page(self, number: int) -> None:
        name = {65001: "utf-8", 936: "gb18030", 950: "big5", 10000: "mac_roman"}.get(number, f"cp{number}")
        try:
            "".encode(name)
        except LookupError:
            return
        self._default_page = self._state.code_page = name

    def _symbol(self, symbol: bytes) -> None:
        if symbol == b"*":
            self._starred = True
        elif symbol in (b"\r", b"\n"):
            self._control("par", None)
        elif symbol in _SYMBOLS:
            self._decode()
            if self._skip:
                self._skip -= 1
            else:
                self._say(_SYMBOLS[symbol])

    def _say_bytes(self, plain: bytes) -> None:
        skipped = min(self._skip, len(plain))
        self._skip -= skipped
        if not self._state.is_lost and self._state.into != "fonts":
            self._bytes += plain[skipped:]

    def _decode(self) -> None:
        if self._bytes:
            raw, self._bytes = bytes(self._bytes), bytearray()
            words = raw.decode(self._state.code_page, "replace")
            self._left_out["letter"] += words.count("\ufffd")
            self._say(words)

    def _say(self, words: str) -> None:
        state = self._state
        if state.into not in self._words:
            return
        if state.unseen:
            self._left_out["passage"] += not self._was_unseen and bool(words.strip())
            self._was_unseen = self._was_unseen or bool(words.strip())
            return
        self._was_unseen = False
        if not state.bold and state.into == "body" and words.strip():
            self._is_bold = False
        self._words[state.into].say(words, state.shift)

    def _taken(self, name: str) -> str:
        """Return the words collected for a place, as lines, and forget them."""
        raw, self._words[name] = self._words[name].text, ShiftedText()
        return _lines(raw)

    def _end_paragraph(self) -> None:
        """Write the paragraph, or break the line within a cell or a note."""
        state = self._state
        if state.into in ("footnote", "edge") or (state.in_table and state.into == "body"):
            self._words[state.into].say(_BREAK)
            return
        if state.into != "body":
            return
        self._write_table()
        raw, self._words["body"] = self._words["body"].text, ShiftedText()
        self._is_bold = True
        marker = self._taken("marker").replace("\n", " ")
        if not marker and (found := _MARKER.match(raw)):
            marker, raw = found[1] or found[2], raw[found.end() :]
        outline = state.outline if state.outline is not None else self._levels.get(state.style)
        notes, self._notes = self._notes, []
        paragraph = Paragraph(_lines(raw), notes=notes)
        is_number = any(map(str.isalnum, marker))
        if outline is not None and 0 <= outline < 9:
            paragraph.role, paragraph.level = "heading", outline + 1
            paragraph.marker = f"{marker} " if is_number else ""
        elif marker:
            paragraph.role, paragraph.level = "item", state.level
            paragraph.marker = f"{marker} " if marker[-1] in ".)" else BULLET
        self._flow.paragraph(paragraph)

    def _end_cell(self) -> None:
        if self._state.into == "body":
            self._row.cells.append(TableCell(" ".join(self._taken("body").split()), self._is_bold))
            self._taken("marker")
            self._is_bold = True

    def _end_row(self) -> None:
        row, self._row = self._row, TableRow([])
        if any(cell.text for cell in row.cells):
            row.notes, self._notes = self._notes, []
            self._rows.append(row)

    def _write_table(self) -> None:
        self._end_row()
        rows, self._rows = self._rows, []
        if rows:
            self._flow.table(Table(rows))


def _lines(raw: str) -> str:
    raw = raw.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    lines = (" ".join(line.split()) for line in raw.split(_BREAK))
    return "\n".join(line for line in lines if line)
