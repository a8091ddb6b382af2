"""Parser of RTF: paragraphs, headings by their outline level, lists, tables and footnotes.

RTF is a stream of groups and control words. It is read once, without recursion: each group keeps the state that it
opened with. Running heads stand before what follows them, running feet at the end, each once. What is hidden, struck
out, deleted or a comment is left out, and so are pictures and what no page shows.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from lxml import etree

from graph.errors import UnreadableDocument
from tools.parsers.canonical_text import (
    CHECK_SUFFIX,
    CanonicalText,
    Parsed,
    passages_left_out,
    storable,
    things_left_out,
)
from tools.parsers.html_visible import names_of
from tools.parsers.office_flow import PAGE, PAGE_FIELDS, TAB, running_text
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
_NUMBER = re.compile(r"[-+(]?[$€£¥]?\d[\d.,:/%eE+-]*\)?%?")
_EDGES = names_of("header headerl headerr headerf footer footerl footerr footerf")
_EDGES_OF = {"headerf": "titlepg", "footerf": "titlepg", "headerl": "facingp", "footerl": "facingp"}  # where shown
_BREAK = "\x00"  # a line break that the writer meant; canonical text has no NUL


@dataclass(slots=True)
class _State:
    """What a group inherits: where its text goes, how it is encoded, and what its paragraph is."""

    into: str = "body"  # body, footnote, marker, title, edge, field, math, fonts, styles, shape, or nowhere
    within: str = ""  # the destination of the group
    unseen: bool = False  # hidden, struck out or deleted
    code_page: str = "cp1252"
    fallback: int = 1  # characters after \u for readers without Unicode
    outline: int | None = None
    style: int = 0
    in_table: bool = False
    level: int = 0  # of a list
    shift: int = 0  # of raised or lowered letters
    math: Any = None  # the part of a formula


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
        self.text = CanonicalText()
        self._state = _State()
        self._stack: list[_State] = []
        self._starred = False
        self._skip = 0  # characters that stand in for a letter of Unicode
        self._bytes = bytearray()  # not decoded yet: a letter may be of two
        self._words = {name: ShiftedText() for name in _PLACES}
        self.flags: set[str] = set()  # what the document says of its pages
        self._feet: list[str] = []
        self._told: set[str] = set()  # of running heads and feet
        self._counts_pages = False  # whether the last field's code does
        self._cells: list[str] = []
        self._header: int | None = None
        self._in_rows = False
        self._heads_row = False
        self._notes: list[str] = []
        self._noted = 0
        self._list_lead: int | None = None
        self._last: int | None = None
        self._in_list = False
        self._levels: dict[int, int] = {}  # outline levels of styles
        self._pages: dict[int, str] = {}  # code pages of fonts
        self._default_page = "cp1252"
        self._font = 0
        self._hides = 0
        self._pictures = 0
        self._undecoded = 0
        self._was_unseen = False

    def read(self, data: bytes) -> None:
        """Read all tokens."""
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
        self.end_paragraph()
        self._write_row()
        self.text.leave_headings()
        for words in self._feet:
            self.text.add("paragraph", words)

    def parsed(self) -> Parsed:
        """Return what was written, and what was left out."""
        title = " ".join(storable(self._words["title"].text).split())[:_LONGEST_TITLE]
        left_out = [*passages_left_out(self._hides), *things_left_out(self._pictures, "picture")]
        if self._undecoded:
            said = "1 letter" if self._undecoded == 1 else f"{self._undecoded} letters"
            left_out.append(f"{said} could not be decoded.")
        return replace(self.text.parsed(title=title or None), left_out=tuple(left_out))

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
            note = self._taken("footnote")
            if note:
                self._notes.append(f"[{self._noted}] {note}")
        elif closed.within in _EDGES:
            self._close_edge(closed.within)
        elif closed.within == "fldinst":
            self._counts_pages = self._taken("field").upper().startswith(PAGE_FIELDS)
        elif closed.into == "math" and closed.within:
            self._close_math(closed)
        elif closed.into == "styles" and closed.within == "":
            name = self._taken("styles")
            found = _HEADING_NAME.match(name)
            if closed.outline is not None or found:
                self._levels[closed.style] = int(found[1]) - 1 if found else closed.outline or 0

    def _close_edge(self, name: str) -> None:
        words, self._words["edge"] = self._words["edge"].text, ShiftedText()
        if _EDGES_OF.get(name, name) in (name, *self.flags):
            for line in words.split(_BREAK):
                for said in running_text(line, self._told):
                    if name.startswith("header"):
                        self.text.add("paragraph", said)
                    else:
                        self._feet.append(said)

    def _close_math(self, closed: _State) -> None:
        words = "".join(filter(str.isprintable, self._taken("math")))
        if closed.within == "moMath":
            if self._state.into in self._words:
                self._words[self._state.into].say_formula(said_formula(self.text, closed.math))
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
            state.math = etree.SubElement(state.math, M + word[1:])
            state.within = word
        elif word in _DESTINATIONS:
            _DESTINATIONS[word](self)
            state.within = word
        elif word in _UNSEEN or (starred and word not in _SEEN):
            state.into = (
                "title" if word == "title" and state.into == "info" else "info" if word == "info" else "nowhere"
            )
            state.within = word
        elif word in _WORDS:
            _WORDS[word](self, number)

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
        if self._state.into not in ("nowhere", "info", "fonts"):
            self._bytes += plain[skipped:]

    def _decode(self) -> None:
        if not self._bytes:
            return
        raw, self._bytes = bytes(self._bytes), bytearray()
        words = raw.decode(self._state.code_page, "replace")
        self._undecoded += words.count("\ufffd")
        self._say(words)

    def _say(self, words: str) -> None:
        state = self._state
        if state.into in self._words:
            if state.unseen:
                self._hides += not self._was_unseen and bool(words.strip())
                self._was_unseen = self._was_unseen or bool(words.strip())
                return
            self._was_unseen = False
            self._words[state.into].say(words, state.shift)

    def _taken(self, name: str) -> str:
        """Return the words collected for a place, as lines, and forget them."""
        raw, self._words[name] = self._words[name].text, ShiftedText()
        return _lines(raw)

    def end_paragraph(self) -> None:
        """Write the paragraph, or break the line within a cell or a note."""
        if self._state.into in ("footnote", "edge") or (self._state.in_table and self._state.into == "body"):
            self._words[self._state.into].say(_BREAK)
            return
        if self._state.into != "body":
            return
        self._write_row()
        self._in_rows = False
        raw, self._words["body"] = self._words["body"].text, ShiftedText()
        marker = self._taken("marker").replace("\n", " ")
        found = None if marker else _MARKER.match(raw)
        if found:
            marker, raw = found[1] or found[2], raw[found.end() :]
        words = _lines(raw)
        if words:
            self._write(words, marker)
        self._write_notes()

    def _write(self, words: str, marker: str) -> None:
        state = self._state
        outline = state.outline if state.outline is not None else self._levels.get(state.style)
        if outline is not None and 0 <= outline < 9:
            self.text.add_heading(outline + 1, words)
            self._last, self._in_list = None, False
        elif marker:
            if not self._in_list:
                self._list_lead = self._last
            lead = "  " * min(state.level, 9) + (marker if marker[-1] in ".)" else "-") + " "
            lines = words.replace("\n", "\n" + " " * len(lead))
            self.text.add("list_item", lead + lines, tight=self._in_list, hangs_on=(self._list_lead,))
            self._in_list = True
        else:
            self._last, self._in_list = self.text.add("paragraph", words), False

    def _write_notes(self) -> None:
        for note in self._notes:
            self.text.add("footnote", note)
        self._notes = []

    def end_cell(self) -> None:
        """Take the words as those of a cell."""
        if self._state.into == "body":
            self._cells.append(" ".join(self._taken("body").split()))
            self._taken("marker")

    def end_row(self) -> None:
        """Write the cells as a row, and the notes in them."""
        self._write_row()
        self._write_notes()

    def _write_row(self) -> None:
        cells, self._cells = self._cells, []
        heads, self._heads_row = self._heads_row, False
        if not any(cells):
            return
        named = heads or not any(_NUMBER.fullmatch(cell) for cell in cells)
        first = not self._in_rows
        if first:
            self._header = None
        index = self.text.add("table_row", " | ".join(cells), tight=not first, hangs_on=(self._header,))
        if first and named:
            self._header = index
        self._in_rows, self._in_list, self._last = True, False, None

    def begin(self, into: str) -> None:
        """Send the text of the group to a place, unless the group around it is not seen."""
        if self._state.into not in ("nowhere", "info"):
            self._state.into, self._state.shift = into, 0

    def result(self) -> None:
        """Begin what a field shows; a page's number in a running head is known as such."""
        if self._state.into == "edge" and self._counts_pages:
            self._say(PAGE)
            self._state.into = "nowhere"

    def formula(self) -> None:
        """Begin a formula."""
        self.begin("math")
        self._state.math = etree.Element(OMATH)

    def shape_text(self) -> None:
        """Begin the text of a shape, whose other groups are its properties."""
        self._state.into = "body" if self._state.into == "shape" else self._state.into

    def picture(self) -> None:
        """Count a picture, and leave it out."""
        self._pictures += self._state.into not in ("nowhere", "info")
        self._state.into = "nowhere"

    def title(self) -> None:
        """Take the title of the file's properties."""
        self._state.into = "title" if self._state.into == "info" else "nowhere"

    def note_mark(self) -> None:
        """Write the number of a footnote where it is referred to; in the note itself it is known."""
        if self._state.into == "body":
            self._noted += 1
            self._words["body"].say(str(self._noted), NOTE)

    def plain(self) -> None:
        """Take back the properties of letters."""
        self._state.unseen, self._state.code_page, self._state.shift = False, self._default_page, 0

    def new_paragraph(self) -> None:
        """Take back the properties of paragraphs."""
        state = self._state
        state.outline, state.style, state.in_table, state.level = None, 0, False, 0

    def font(self, number: int) -> None:
        """Choose a font, or begin to describe it."""
        self._font = number
        if self._state.into != "fonts":
            self._state.code_page = self._pages.get(number, self._default_page)

    def font_charset(self, number: int) -> None:
        """Note the encoding of the font that is described."""
        if self._state.into == "fonts" and number in _CODE_PAGES:
            self._pages[self._font] = _CODE_PAGES[number]

    def code_page(self, number: int) -> None:
        """Note the encoding of the file."""
        name = {65001: "utf-8", 936: "gb18030", 950: "big5", 10000: "mac_roman"}.get(number, f"cp{number}")
        try:
            "".encode(name)
        except LookupError:
            return
        self._default_page = self._state.code_page = name

    def set(self, name: str, value: int | bool) -> None:
        """Set a property of the group."""
        setattr(self._state, name, value)

    def row_heads(self) -> None:
        """Note that the row names the columns."""
        self._heads_row = True

    def sign(self, of_an_edge: str, otherwise: str) -> None:
        """Write a sign that says something of its own in running heads."""
        self._say(of_an_edge if self._state.into == "edge" else otherwise)

    def line(self) -> None:
        """Break the line."""
        self._say(_BREAK)


def _lines(raw: str) -> str:
    raw = raw.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    lines = (" ".join(line.split()) for line in raw.split(_BREAK))
    return "\n".join(line for line in lines if line)


_DESTINATIONS: dict[str, Callable[[_Reader], None]] = {
    "fonttbl": lambda reader: reader.begin("fonts"),
    "stylesheet": lambda reader: reader.begin("styles"),
    "listtext": lambda reader: reader.begin("marker"),
    "pntext": lambda reader: reader.begin("marker"),
    "footnote": lambda reader: reader.begin("footnote"),
    **dict.fromkeys(_EDGES, lambda reader: reader.begin("edge")),
    "fldinst": lambda reader: reader.begin("field"),
    "fldrslt": _Reader.result,
    "moMath": _Reader.formula,
    "shpinst": lambda reader: reader.begin("shape"),
    "shptxt": _Reader.shape_text,
    "title": _Reader.title,
    "pict": _Reader.picture,
}
_WORDS: dict[str, Callable[[_Reader, int | None], None]] = {
    **dict.fromkeys(("par", "sect", "page", "column"), lambda reader, number: reader.end_paragraph()),
    **dict.fromkeys(("cell",), lambda reader, number: reader.end_cell()),
    **dict.fromkeys(("row",), lambda reader, number: reader.end_row()),
    **dict.fromkeys(("line", "softline", "nestcell", "nestrow"), lambda reader, number: reader.line()),
    **dict.fromkeys(("v", "strike", "striked", "deleted"), lambda reader, n: reader.set("unseen", n != 0)),
    "plain": lambda reader, number: reader.plain(),
    "pard": lambda reader, number: reader.new_paragraph(),
    "tab": lambda reader, number: reader.sign(TAB, "\t"),
    "intbl": lambda reader, number: reader.set("in_table", True),
    "trhdr": lambda reader, number: reader.row_heads(),
    "outlinelevel": lambda reader, number: reader.set("outline", number or 0),
    "s": lambda reader, number: reader.set("style", number or 0),
    "ilvl": lambda reader, number: reader.set("level", number or 0),
    "uc": lambda reader, number: reader.set("fallback", min(max(number or 0, 0), 10)),
    "f": lambda reader, number: reader.font(number or 0),
    "fcharset": lambda reader, number: reader.font_charset(number or 0),
    "ansicpg": lambda reader, number: reader.code_page(number or 1252),
    "mac": lambda reader, number: reader.code_page(10000),
    "pc": lambda reader, number: reader.code_page(437),
    "pca": lambda reader, number: reader.code_page(850),
    "titlepg": lambda reader, number: reader.flags.add("titlepg"),
    "facingp": lambda reader, number: reader.flags.add("facingp"),
    "super": lambda reader, number: reader.set("shift", RAISED),
    "sub": lambda reader, number: reader.set("shift", LOWERED),
    "nosupersub": lambda reader, number: reader.set("shift", 0),
    "up": lambda reader, number: reader.set("shift", 0 if number == 0 else RAISED),
    "dn": lambda reader, number: reader.set("shift", 0 if number == 0 else LOWERED),
    "chpgn": lambda reader, number: reader.sign(PAGE, ""),
    "chftn": lambda reader, number: reader.note_mark(),
}
