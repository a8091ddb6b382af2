"""Packages of OpenDocument, as LibreOffice writes them: content, styles and title, and the words of a paragraph."""

import re
from collections.abc import Callable, Container, Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from typing import Any

from lxml import etree

from graph.errors import UnreadableDocument
from tools.parsers.archives import open_archive, xml_of
from tools.parsers.docx_styles import OF_TABLES, first, role_named
from tools.parsers.numerals import in_form
from tools.parsers.office_flow import BULLET, PAGE, TAB, Role, Spoken
from tools.parsers.office_package import Package, given_title, refuse_compound, whole_number
from tools.parsers.raised_text import LOWERED, RAISED, ShiftedText

_NAMESPACE = "{urn:oasis:names:tc:opendocument:xmlns:%s:1.0}"
OFFICE, TEXT, TABLE, DRAW, STYLE, PRESENTATION, CHART, FO, SVG = (
    _NAMESPACE % name
    for name in ("office", "text", "table", "drawing", "style", "presentation", "chart", "xsl-fo-compatible",
                 "svg-compatible")
)  # fmt: skip
HREF = "{http://www.w3.org/1999/xlink}href"
_TITLE = "{http://purl.org/dc/elements/1.1/}title"
_MANIFEST, _ENCRYPTED = "META-INF/manifest.xml", b"encryption-data"
_FORMS = ("bullet", "1", "a", "A", "i", "I")
_SPACE = re.compile(r"[ \t\r\n]+")
_LENGTH = re.compile(r"(-?\d{1,9}(?:\.\d{0,9})?|-?\.\d{1,9})(cm|mm|in|pt|pc|px)?")
_POINTS = {"cm": 72 / 2.54, "mm": 72 / 25.4, "in": 72.0, "pc": 12.0, "px": 0.75}
_MOST_SPACES = 1_000
_LONGEST_MARKER = 60  # characters before and after a number
_NO_STYLE = etree.Element("none")
SHAPES = frozenset(
    DRAW + tag
    for tag in ("frame", "text-box", "custom-shape", "g", "a", "rect", "ellipse", "circle", "line", "polyline",
                "polygon", "regular-polygon", "path", "connector", "measure", "caption")
)  # fmt: skip
_UNREAD = frozenset([f"{TEXT}ruby-text", f"{TEXT}hidden-text", f"{TEXT}note", f"{TEXT}page-number", f"{OFFICE}forms"])
_DRAWN = frozenset(DRAW + tag for tag in ("object", "object-ole", "image"))
_COUNTING = tuple(f"{TEXT}page-{what}" for what in ("number", "count", "continuation"))


class OpenPackage(Package):
    """An open OpenDocument file."""

    def __init__(self, data: bytes) -> None:
        refuse_compound(data)
        super().__init__(open_archive(data))
        # Not parsed: those of OpenOffice.org declare a document type, and some lack their namespace.
        if _MANIFEST in self._archive and _ENCRYPTED in self._archive.read(_MANIFEST):
            raise UnreadableDocument(
                "The file is encrypted and needs a password.", suggestion="Save it without a password."
            )

    @property
    def has_macros(self) -> bool:
        """Return whether the file holds a program. It is never read."""
        return any(name.startswith(("Basic/", "Scripts/")) and not name.endswith("-lc.xml") for name in self._archive)

    def body(self, kind: str, called: str) -> tuple[Any, Any]:
        """Return the root of the content and the body in it of a kind, such as "text".

        Raises UnreadableDocument if the file is about something else.
        """
        root = xml_of(self.data("content.xml"), name="content.xml")
        body = root.find(f"{OFFICE}body/{OFFICE}{kind}")
        if body is None:
            raise UnreadableDocument(
                f"The file is not {called}.", suggestion="Give it the suffix of its own format, or save it again."
            )
        return root, body

    def title(self) -> str | None:
        """Return the title that the author gave the file in its properties."""
        root = self.xml("meta.xml")
        return given_title(root.findtext(f"{OFFICE}meta/{_TITLE}")) if root is not None else None


@dataclass(frozen=True, slots=True)
class Look:
    """What a style makes of text, with those that it is based on."""

    role: Role = "paragraph"
    hidden: bool = False
    struck: bool = False
    shift: int = 0
    bold: bool = False
    of_table: bool = False
    list_style: str = ""


@dataclass(frozen=True, slots=True)
class ListLevel:
    """A level of a list: a bullet, or a number in a form with what is around it."""

    form: str = ""
    before: str = ""
    after: str = ""
    start: int = 1
    shown_levels: int = 1

    def marker(self, levels: dict[int, "ListLevel"], counts: dict[int, int], level: int) -> str:
        """Return what stands before an item, with a space; "" where nothing does."""
        if self.form == "bullet":
            return BULLET
        if not self.form:
            return ""
        first = max(1, level - self.shown_levels + 1)
        numbered = [at for at in range(first, level) if levels.get(at, self).form not in ("", "bullet")]
        shown = [in_form(counts.get(at, levels[at].start if at in levels else 1), levels.get(at, self).form)
                 for at in (*numbered, level)]  # fmt: skip
        return f"{self.before}{'.'.join(shown)}{self.after}".strip() + " "


class OpenStyles:
    """The styles of a file by family and name: the common ones, and those that the content keeps for itself."""

    def __init__(self, package: OpenPackage, content: Any) -> None:
        common = package.xml("styles.xml")
        self._elements: dict[tuple[str, str], Any] = {}
        self.lists: dict[str, dict[int, ListLevel]] = {}
        self.outline: dict[int, ListLevel] = {}
        sources = [] if common is None else [common.find(f"{OFFICE}styles"), common.find(f"{OFFICE}automatic-styles")]
        for source in (*sources, content.find(f"{OFFICE}automatic-styles")):
            self._read(source if source is not None else ())
        self._pages = [] if common is None else common.findall(f"{OFFICE}master-styles/{STYLE}master-page")
        self._known: dict[tuple[str, str], Look] = {}

    def look(self, family: str, name: str | None) -> Look:
        """Return what a style makes of text; an unknown one changes nothing."""
        key = (family, name or "")
        if key not in self._known:
            self._known[key] = self._look(*key)
        return self._known[key]

    def of_slides(self, name: str | None, says: str) -> str | None:
        """Return what a style says of the slides that have it: their ``visibility``, ``display-footer``."""
        element = self._elements.get(("drawing-page", name or ""))
        found = element.find(f"{STYLE}drawing-page-properties") if element is not None else None
        return None if found is None else found.get(PRESENTATION + says)

    def running(self, kind: str) -> Iterator[Any]:
        """Yield the paragraphs of the running heads or feet that pages have, their page numbers and tabs as signs."""
        pages = {each.get(f"{STYLE}name"): each for each in self._pages}
        named = [
            *(each.get(f"{STYLE}master-page-name") for each in self._elements.values()),
            "Standard",
            next(iter(pages), ""),
        ]
        named += [each.get(f"{STYLE}next-style-name") for name, each in pages.items() if name in named]
        for edge in chain.from_iterable(page for name, page in pages.items() if name in named):
            if edge.tag.startswith(STYLE + kind) and edge.get(f"{STYLE}display") != "false":
                for sign in edge.iter(*_COUNTING, f"{TEXT}tab"):
                    sign.tag, sign.text = f"{TEXT}sign", TAB if sign.tag == f"{TEXT}tab" else PAGE
                yield from edge.iter(f"{TEXT}p", f"{TEXT}h")

    def _read(self, source: Any) -> None:
        for each in source:
            if each.tag == f"{STYLE}style":
                self._elements[each.get(f"{STYLE}family") or "", each.get(f"{STYLE}name") or ""] = each
            elif each.tag == f"{TEXT}list-style":
                self.lists[each.get(f"{STYLE}name") or ""] = _levels(each)
            elif each.tag == f"{TEXT}outline-style":
                self.outline = _levels(each)

    def _look(self, family: str, name: str) -> Look:
        chain: dict[str, Any] = {}  # the style and those that it is based on, by their names
        while name and name not in chain:
            element = chain[name] = self._elements.get((family, name), _NO_STYLE)
            name = element.get(f"{STYLE}parent-style-name") or ""
        shown = (each.get(f"{STYLE}display-name") or name for name, each in chain.items())
        plain = [each.replace("_20_", " ").lower() for each in shown]
        looks = [own for each in chain.values() if (own := each.find(f"{STYLE}text-properties")) is not None]
        of_table = any(each in OF_TABLES for each in plain)
        return Look(
            role="caption" if of_table else first(map(_role, plain)) or "paragraph",
            hidden=first(own.get(f"{TEXT}display") for own in looks) == "none",
            struck=first(own.get(f"{STYLE}text-line-through-style") for own in looks) not in (None, "none"),
            shift=first(_shift(own.get(f"{STYLE}text-position")) for own in looks) or 0,
            bold=first(own.get(f"{FO}font-weight") for own in looks) in ("bold", "700", "800", "900"),
            of_table=of_table,
            list_style=next(filter(None, (each.get(f"{STYLE}list-style-name") for each in chain.values())), ""),
        )


def _role(name: str) -> Role | None:
    return role_named(name.removesuffix(" tight").strip())


def _shift(position: str | None) -> int | None:
    if position is None:
        return None
    by = re.match(r"(?:(super)|(sub)|(-?)0*[1-9][\d.]*%)", position)
    return 0 if by is None else LOWERED if by[2] or by[3] else RAISED


def _levels(element: Any) -> dict[int, ListLevel]:
    levels = {}
    for each in element:
        level = whole_number(each.get(f"{TEXT}level"), 1)
        form = each.get(f"{STYLE}num-format") or ""
        if each.tag in (f"{TEXT}list-level-style-bullet", f"{TEXT}list-level-style-image"):
            form = "bullet"
        levels[level] = ListLevel(
            form if form in _FORMS else "",
            (each.get(f"{STYLE}num-prefix") or "")[:_LONGEST_MARKER],
            (each.get(f"{STYLE}num-suffix") or "")[:_LONGEST_MARKER],
            whole_number(each.get(f"{TEXT}start-value"), 1),
            min(whole_number(each.get(f"{TEXT}display-levels"), 1), 10),
        )
    return levels


def spoken(
    paragraph: Any,
    styles: OpenStyles,
    *,
    is_bold: bool = False,
    typed_notes: Container[str] = (),
    drawn: Callable[[Any], str | None] = lambda frame: None,
) -> Spoken:
    """Read a paragraph without hidden or struck-out text, in one walk: a hostile one nests deeper than stacks.

    ``typed_notes`` are as in ShiftedText; ``drawn`` reads a frame around
    what is no text and returns its line if it is a formula.
    """
    said = Spoken(ShiftedText(notes=typed_notes))
    walker = etree.iterwalk(paragraph, events=("start", "end"))
    skipped = None
    looks = [(is_bold, 0)]
    for event, element in walker:
        if event == "end":
            skipped = None if element is skipped else skipped
            if element.tag == f"{TEXT}span":
                looks.pop()
            if element is not paragraph:
                _say(said, element.tail, *looks[-1])
        elif skipped is None and element is not paragraph and _is_unread(element, styles, said, drawn):
            skipped = element
            walker.skip_subtree()
            if element.tag == f"{TEXT}span":
                looks.append(looks[-1])
        else:
            if element.tag == f"{TEXT}span":
                look = styles.look("text", element.get(f"{TEXT}style-name"))
                looks.append((looks[-1][0] or look.bold, look.shift or looks[-1][1]))
            _say(said, _sign(element, said) if element is not paragraph else element.text, *looks[-1])
    return said


def _say(said: Spoken, words: str | None, bold: bool, shift: int) -> None:
    if words:
        said.line.say(_SPACE.sub(" ", words) if words.strip(" ") else words, shift)
        letters = len(words.strip())
        said.letters += letters
        said.bold += letters if bold else 0


def _sign(element: Any, said: Spoken) -> str | None:
    tag = element.tag
    if tag == f"{TEXT}s":
        return " " * min(whole_number(element.get(f"{TEXT}c"), 1), _MOST_SPACES)
    if tag == f"{TEXT}tab":
        return " "
    if tag == f"{TEXT}line-break":
        said.line.say("\n")
        return None
    if tag in (f"{TEXT}bookmark", f"{TEXT}bookmark-start"):
        name = element.get(f"{TEXT}name") or ""
        said.anchor = said.anchor or (name if not name.startswith("_") and len(name) <= 200 else "")
    return str(element.text or "")


def _is_unread(element: Any, styles: OpenStyles, said: Spoken, drawn: Callable[[Any], str | None]) -> bool:
    """Return whether an element's words are none of the paragraph; keep or count what it is."""
    tag = element.tag
    if tag == f"{OFFICE}annotation":
        said.comments += 1
        return True
    if tag in SHAPES:
        if is_drawn(element):
            said.line.say_formula(drawn(element) or "")
        else:
            said.boxes.append(element)
        return True
    if tag == f"{TEXT}note":
        said.line.part()
        said.notes.append(element)
    if tag == f"{TEXT}hidden-text":
        said.gone += 1
    if tag == f"{TEXT}span":
        look = styles.look("text", element.get(f"{TEXT}style-name"))
        if look.hidden or look.struck:
            said.gone += bool("".join(element.itertext()).strip())
            return True
    return tag in _UNREAD or not isinstance(tag, str)


def is_drawn(element: Any) -> bool:
    """Return whether an element is a frame around a picture, a formula, a chart or another object."""
    tags = {child.tag for child in element} if element.tag == f"{DRAW}frame" else set()
    return bool(tags & _DRAWN) and not tags & {f"{DRAW}text-box", f"{TABLE}table"}  # a table has its picture beside it


def points(length: str | None) -> float | None:
    """Return a length in points; None where it is none."""
    found = _LENGTH.fullmatch(length or "")
    return float(found[1]) * _POINTS.get(found[2], 1.0) if found else None


def one_line(words: Iterable[str]) -> str:
    """Join the words of paragraphs as one line."""
    return " ".join(filter(None, (" ".join(each.split()) for each in words)))
