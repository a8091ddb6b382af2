"""Styles and numbering of a Word document: what a paragraph is by its style, and the number that an item shows."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, TypeVar

from tools.parsers.numerals import in_form
from tools.parsers.office_flow import BULLET, Role
from tools.parsers.office_package import whole_number
from tools.parsers.raised_text import LOWERED, NOTE, RAISED

W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_VAL = f"{W}val"
_OFF = ("0", "false", "off", "none")
_DEEPEST = 9  # levels of numbering in Word
_LONGEST_MARKER = 60  # characters of a number's text
_ROLES: tuple[tuple[re.Pattern[str], Role], ...] = (
    (re.compile(r"title"), "title"),
    (re.compile(r"definition term.*|list heading|term"), "term"),
    (re.compile(r"definition(?: definition.*)?|list contents"), "definition"),
    (re.compile(r"(?:.* )?caption|tablecaption|imagecaption|figurecaption|illustration|figure|drawing"), "caption"),
    (re.compile(r"(?:intense )?quot(?:e|ations)|block ?text"), "quote"),
    (re.compile(r"source ?code|preformatted ?text|html preformatted|code(?: block)?|macro text|macro"), "code"),
    (
        re.compile(r"(?:toc|contents|index|user index|figure index|table index) (?:\d+|heading)|table of figures"),
        "contents",
    ),
)
_HEADING = re.compile(r"heading (\d)")
OF_TABLES = ("table", "table caption", "tablecaption")  # names of styles
_T = TypeVar("_T")
_SYMBOLS = {  # signs of the fonts that have an order of their own
    "symbol": {
        **dict(zip(b"ABCDEFGHIKLMNOPQRSTUWXYZ", "ΑΒΧΔΕΦΓΗΙΚΛΜΝΟΠΘΡΣΤΥΩΞΨΖ", strict=True)),
        **dict(zip(b"abcdefghijklmnopqrstuvwxyz", "αβχδεφγηιϕκλμνοπθρστυϖωξψζ", strict=True)),
        **dict(zip(bytes.fromhex("a2a3a4a5abacadaeafb0b1b2b3b4b5b6b7b8b9babbbcc5c7c8ced0d1d2d5d6d9dadedbdc"),
                   "′≤⁄∞↔←↑→↓°±″≥×∝∂•÷≠≡≈…⊕∩∪∈∠∇®∏√∧∨⇒⇔⇐", strict=True)),
    },
    "wingdings": dict(zip(bytes.fromhex("6fa8e0dffbfcfdfe"), "☐☐→←✗✓☒☑", strict=True)),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Style:
    """What a style says, with those that it is based on. ``outline`` is a heading's level from 1, 0 for body text."""

    role: Role = "paragraph"
    outline: int | None = None
    numbering: tuple[str, int | None] | None = None
    hidden: bool | None = None
    struck: bool | None = None
    bold: bool | None = None
    of_table: bool = False
    shift: int | None = None


@dataclass(frozen=True, slots=True)
class Level:
    """A level of numbering: its format, its text such as ``%1.%2)``, and its first number."""

    form: str
    text: str
    start: int = 1


def first(values: Iterable[_T | None]) -> _T | None:
    """Return the first value that is one, None where none is."""
    return next((value for value in values if value is not None), None)


def child_value(element: Any | None, tag: str) -> str | None:
    """Return the ``w:val`` of a child; "" where the child has none, None where there is no child."""
    child = element.find(W + tag) if element is not None else None
    return None if child is None else (child.get(_VAL) or "")


def switch(properties: Any | None, *tags: str) -> bool | None:
    """Return whether one of some switches is on; None where none of them is named."""
    found = [value for tag in tags if (value := child_value(properties, tag)) is not None]
    return any(value not in _OFF for value in found) if found else None


def shift(properties: Any | None, name: str = "") -> int | None:
    """Return how a run or a style of a name raises or lowers its letters, by Word's own switch or by hand."""
    if name in ("footnote reference", "endnote reference"):
        return NOTE
    found = child_value(properties, "vertAlign")
    if found is not None:
        return {"superscript": RAISED, "subscript": LOWERED}.get(found, 0)
    by = whole_number(child_value(properties, "position"))
    return (by > 0) - (by < 0) if by and child_value(properties, "sz") is not None else None


def symbol(font: str, code: str | None) -> str:
    """Return a sign that is told by its font and its code, "" where no letter of Unicode is known to be it."""
    known = re.fullmatch(r"(?:[Ff]0)?([0-9A-Fa-f]{2})|([0-9A-Fa-f]{4})", code or "")
    if known is None:
        return ""
    if known[2]:
        return chr(int(known[2], 16)) if known[2][0] not in "dDeEfF" else ""
    at = int(known[1], 16)
    if font.lower() in _SYMBOLS:
        return _SYMBOLS[font.lower()].get(at, chr(at) if font.lower() == "symbol" and 32 <= at < 63 else "")
    return chr(at) if 32 <= at < 127 else ""


def role_named(name: str) -> Role | None:
    """Return what paragraphs of a style are by its name in lower case; None where the name does not say."""
    return next((role for pattern, role in _ROLES if pattern.fullmatch(name)), None)


class Styles:
    """The styles of a document by their ids."""

    def __init__(self, root: Any | None) -> None:
        self._elements = {}
        for each in root.iter(f"{W}style") if root is not None else ():
            self._elements[each.get(f"{W}styleId") or ""] = each
        self._known: dict[str, Style] = {}

    def __getitem__(self, style_id: str) -> Style:
        """Return a style; an unknown one says nothing."""
        if style_id not in self._known:
            self._known[style_id] = self._read(style_id)
        return self._known[style_id]

    def numbering_of(self, style_id: str) -> str | None:
        """Return the numbering that a list style stands for."""
        element = self._elements.get(style_id)
        return child_value(element.find(f"{W}pPr/{W}numPr"), "numId") if element is not None else None

    def _chain(self, style_id: str) -> Iterator[Any]:
        seen = set()
        while style_id in self._elements and style_id not in seen:
            seen.add(style_id)
            element = self._elements[style_id]
            yield element
            style_id = child_value(element, "basedOn") or ""

    def _read(self, style_id: str) -> Style:
        chain = list(self._chain(style_id))
        names = [" ".join((child_value(each, "name") or "").lower().replace("_20_", " ").split()) for each in chain]
        numbers = [each.find(f"{W}pPr/{W}numPr") for each in chain]
        runs = [each.find(f"{W}rPr") for each in chain]
        list_id, level = (first(child_value(each, tag) for each in numbers) for tag in ("numId", "ilvl"))
        return Style(
            role=first(map(role_named, names)) or "paragraph",
            outline=first(map(_outline, chain, names)),
            numbering=None if list_id is None else (list_id, None if level is None else whole_number(level)),
            hidden=first(switch(run, "vanish") for run in runs),
            struck=first(switch(run, "strike", "dstrike") for run in runs),
            bold=first(switch(run, "b") for run in runs),
            of_table=any(name in OF_TABLES for name in names),
            shift=first(map(shift, runs, names)),
        )


def _outline(style: Any, name: str) -> int | None:
    given, heading = child_value(style.find(f"{W}pPr"), "outlineLvl"), _HEADING.fullmatch(name)
    if given is not None:
        return (whole_number(given, 9) + 1) % (_DEEPEST + 1)
    return int(heading[1]) if heading else None


class Numbering:
    """The numbering of a document. It counts: each item is asked for once, in order."""

    def __init__(self, root: Any | None, styles: Styles) -> None:
        self._styles = styles
        self._lists: dict[str, Any] = {}
        self._numbers: dict[str, Any] = {}
        for each in root if root is not None else ():
            if each.tag == f"{W}abstractNum":
                self._lists[each.get(f"{W}abstractNumId") or ""] = each
            elif each.tag == f"{W}num":
                self._numbers[each.get(f"{W}numId") or ""] = each
        self._levels: dict[str, tuple[str, dict[int, Level], dict[str, int]]] = {}
        self._counts: dict[str, dict[int, int]] = {}
        self._begun: set[str] = set()

    def level_of(self, number_id: str, style_id: str) -> int:
        """Return the level that a list ties to a paragraph style, 0 where it ties none."""
        return self._list(number_id)[2].get(style_id, 0)

    def marker(self, number_id: str, level: int) -> str | None:
        """Count an item and return what stands before it, with a space; None where the list is none."""
        list_id, levels, _ = self._list(number_id)
        own = levels.get(level)
        if own is None or number_id == "0":
            return None
        counts = self._counts.setdefault(list_id, {})
        if number_id not in self._begun:
            self._begun.add(number_id)
            for at in self._restarted(number_id):
                counts.pop(at, None)
        counts[level] = counts.get(level, own.start - 1) + 1
        for deeper in [at for at in counts if at > level]:
            del counts[deeper]
        if own.form == "bullet":
            return BULLET
        shown = re.sub(r"%(\d)", lambda found: self._shown(levels, counts, int(found[1]) - 1), own.text).strip()
        return f"{shown} " if shown else ""

    def _shown(self, levels: dict[int, Level], counts: dict[int, int], level: int) -> str:
        own = levels.get(level)
        return in_form(counts.get(level, own.start), own.form) if own else ""

    def _restarted(self, number_id: str) -> Iterator[int]:
        number = self._numbers.get(number_id)
        for each in number.iter(f"{W}lvlOverride") if number is not None else ():
            if each.find(f"{W}startOverride") is not None:
                yield whole_number(each.get(f"{W}ilvl"))

    def _list(self, number_id: str) -> tuple[str, dict[int, Level], dict[str, int]]:
        if number_id not in self._levels:
            self._levels[number_id] = self._read(number_id)
        return self._levels[number_id]

    def _read(self, number_id: str) -> tuple[str, dict[int, Level], dict[str, int]]:
        number = self._numbers.get(number_id)
        list_id = child_value(number, "abstractNumId") or ""
        element = self._lists.get(list_id)
        link = child_value(element, "numStyleLink") if element is not None else None
        if link:
            linked = self._numbers.get(self._styles.numbering_of(link) or "")
            list_id = child_value(linked, "abstractNumId") or list_id
            element = self._lists.get(list_id)
        levels: dict[int, Level] = {}
        tied: dict[str, int] = {}
        for each in element.iterchildren(f"{W}lvl") if element is not None else ():
            at = whole_number(each.get(f"{W}ilvl"))
            if not 0 <= at < _DEEPEST:
                continue
            levels[at] = _level(each)
            if style := child_value(each, "pStyle"):
                tied[style] = at
        for each in number.iterchildren(f"{W}lvlOverride") if number is not None else ():
            at, own = whole_number(each.get(f"{W}ilvl")), each.find(f"{W}lvl")
            if not 0 <= at < _DEEPEST:
                continue
            levels[at] = _level(own) if own is not None else levels.get(at, Level("decimal", f"%{at + 1}."))
            if (start := child_value(each, "startOverride")) is not None:
                levels[at] = Level(levels[at].form, levels[at].text, whole_number(start, 1))
        return list_id, levels, tied


def _level(element: Any) -> Level:
    form = child_value(element, "numFmt") or "decimal"
    text = child_value(element, "lvlText") or ""
    return Level(form, text[:_LONGEST_MARKER] if form != "none" else "", whole_number(child_value(element, "start"), 1))
