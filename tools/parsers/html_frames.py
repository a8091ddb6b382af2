"""The parts of reading HTML that need no walk: which elements are blocks, open elements as frames, kinds of tables."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from graph.evidence import BlockKind
from tools.parsers.canonical_text import unwrapped
from tools.parsers.html_visible import names_of

BLOCKS = names_of(
    """
    address article aside blockquote body caption center col colgroup dd details dir div dl dt fieldset
    figcaption figure footer form h1 h2 h3 h4 h5 h6 header hgroup hr html legend li listing main menu nav ol p
    plaintext pre search section summary table tbody td tfoot th thead tr ul xmp
    """
)
HEADINGS = {f"h{level}": level for level in range(1, 7)}
LISTS = frozenset({"ul", "ol", "menu", "dir"})
CODE = frozenset({"pre", "listing", "xmp"})
NOTE_TAGS = frozenset({"div", "section", "aside", "blockquote", "table"})
PARTS = frozenset({"li", "dt", "dd", "td", "th", "tr", "table", "ul", "ol", "dl", "menu", "dir", "blockquote"})
TITLES = names_of(
    """
    admonition-heading admonition-title admonitionheading icon noteicon admonition_header caption caption-text
    code-block-caption codeblocktitle markdown-alert-title sidebar-title title topic-title
    """
)
CAPTIONED = names_of(
    """
    codeblock codeblockcontainer example exampleblock figure informalexample informaltable listingblock
    literal-block-wrapper procedure table tableblock
    """
)
CONTENTS = names_of(
    """
    genindextable indexdiv indextable list-of-figures list-of-tables modindextable shortcontents
    table-of-contents toc toctree-wrapper
    """
)
FOOTNOTES = frozenset({"footnote", "footnotes", "footnote-list", "references"})
DOCUTILS_NUMERALS = names_of("loweralpha upperalpha lowerroman upperroman")
SIGNATURES = frozenset({"func_signature", "column_definition"})
PLAIN = names_of("b code dd dl dt em i li p strong tbody td th thead tr tt ul")
GENERATED_ID = re.compile(r"id[mp]?[-\d.]+")
BETWEEN_LINKS = " \t\r\n\0\xa0|·•»«›‹>/[](),:;-–—→←↑#&."
_MOST_ABOVE = 12  # a hostile page nests lists by the thousand
BREAK = "\0"  # a line break of the page, while text is collected; canonical text has no NUL


@dataclass(slots=True)
class Draft:
    """A block before it is written; ``hangs_on`` are indexes of drafts. ``linked``: all its words are links.

    ``element`` numbers the element of the text, ``within`` the one around it.
    """

    kind: BlockKind
    text: str
    hangs_on: tuple[int, ...]
    anchor: str
    tight: bool = False
    level: int = 0
    linked: bool = False
    element: int = 0
    within: int = 0


@dataclass(slots=True)
class Table:
    """What is known of an open table.

    ``entries``: its only column holds signatures with their descriptions. ``group`` is the last row of one cell over
    all columns. ``spans`` are the columns that a cell above reaches into, each with how many rows more and its text.
    ``labelled``: a note whose label stands beside its icon.
    """

    columns: int
    is_data: bool
    entries: bool
    header: tuple[int, ...] = ()
    group: int | None = None
    has_body: bool = False
    spans: dict[int, tuple[int, str]] = field(default_factory=dict)
    labelled: bool = False


@dataclass(slots=True)
class Frame:
    """An open block element: how text directly in it is written, and what that text hangs on.

    ``lead`` is the paragraph just before, ``item`` the frame of the list item that has no text yet, ``box`` the nearest
    frame whose title its blocks hang on, ``terms`` those of its definition list, ``first`` the drafts before it,
    ``row`` the cells so far of an open row.
    """

    tag: str
    kind: BlockKind
    hangs_on: tuple[int, ...]
    anchor: str
    anchored: int
    first: int
    depth: int
    serial: int
    lead: int | None = None
    instead: BlockKind | None = None
    own_id: bool = False
    lists: int = 0
    marker: str = ""
    number: int | None = None
    step: int = 1
    numerals: str = ""
    since: int | None = None
    home: str = ""
    item: "Frame | None" = None
    box: "Frame | None" = None
    box_kind: BlockKind = "caption"
    terms: list[int] = field(default_factory=list)
    defined: bool = False
    definitions: "Frame | None" = None
    table: Table | None = None
    row: list[str] | None = None
    level: int = 0


def joined(above: tuple[int, ...], more: Sequence[int]) -> tuple[int, ...]:
    """Add indexes to those that a block hangs on, the outermost first; of very many, keep the innermost."""
    return tuple(sorted({*above, *more})[-_MOST_ABOVE:]) if more else above


def lines_of(words: str) -> str:
    """Collapse the white space of the source; only the page's own breaks remain, as line ends."""
    if BREAK in words:
        return "\n".join(filter(None, map(lines_of, words.split(BREAK))))
    return " ".join((unwrapped(words) if "\n" in words and not words.isascii() else words).split())


def number_in(written: str | None) -> int | None:
    """Return a small number that an attribute holds."""
    return int(written) if written and re.fullmatch(r"-?[0-9]{1,6}", written) else None


def table_of(element: Any, in_note: bool, holds_tables: bool, holds_headings: bool, *, in_data: bool) -> Table:
    """Tell a table of data from one that only lays out blocks, such as an icon beside a note.

    One column may be data only ``in_data``, in a cell of a table of data.
    """
    groups = [child for child in element if child.tag in ("thead", "tbody", "tfoot")]
    rows = [row for group in (element, *groups) for row in group if row.tag == "tr"]
    cells = [[cell for cell in row if cell.tag in ("td", "th")] for row in rows]
    columns = max(map(len, cells), default=0)
    every = [cell for row in cells for cell in row]
    heads = sum(cell.tag == "th" for cell in every)
    entries = columns == 1 and any(len(cell) and cell[0].get("class") in SIGNATURES for cell in every)
    laid_out = holds_headings or element.get("role") in ("presentation", "none")
    laid_out |= "highlighttable" in (element.get("class") or "").split()
    laid_out |= in_note and heads <= 1 and bool(every) and is_icon(every[0])
    if not heads and element.find("caption") is None:
        laid_out |= (columns <= 1 and not in_data) or holds_tables
        laid_out |= any(sum(part.tag in BLOCKS for part in cell) > 2 for cell in every)
    return Table(columns, not laid_out, entries, labelled=bool(laid_out and in_note and heads))


def is_icon(cell: Any) -> bool:
    """Whether a cell holds the picture of a note."""
    return "icon" in (cell.get("class") or "") or (len(cell) > 0 and cell[0].tag == "img")


def is_header(row: Any, cells: list[Any], table: Table) -> bool:
    """Whether a row of some cells' tags is a header: in ``thead``, or all of ``th``."""
    if not cells or (len(cells) == 1 and table.columns > 1 and table.header):
        return False
    parent = row.getparent()
    return (parent is not None and parent.tag == "thead") or all(tag == "th" for tag in cells)
