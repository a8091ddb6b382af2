"""The result of every parser: canonical text and its blocks.

Canonical text contains no NUL and no lone surrogate, since PostgreSQL can store neither. Its letters are composed
(NFC), so that a word is the same word whoever typed it. If the file's own text is the canonical text (plain text,
source code, Document AI), line endings and invisible characters stay as they are; if a parser writes the text, lines
end with ``\\n``, and soft hyphens and characters of no width, which nobody sees, are left out.
"""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any, Literal

from graph.errors import UnreadableDocument
from graph.evidence import BlockKind
from text.late_patterns import late_pattern
from text.normal_forms import compose, without_surrogates
from text.scripts import CHINESE_AND_JAPANESE_TEXT

PAGE_END = "\n\f"
COLONS = (":", "：")  # what ends with one introduces what follows
PAGE_BREAK = "\f"  # within a sentence or a row
CHECK_SUFFIX = "Check the suffix of its name."  # what to do with a file that is of another format than it says
_UNSPACED = f"[{CHINESE_AND_JAPANESE_TEXT}]"
_UNSPACED_BREAK = late_pattern(rf"(?<={_UNSPACED})[ \t]*[\r\n]\s*(?={_UNSPACED})")
_SPACE = re.compile(r"[ \t\r\n\f]+")
FILE_LINE = re.compile(r"[^\r\n]*(?:\r\n|[\r\n]|\Z)")
LINE = re.compile(r"[^\r\n\f]*(?:\r\n|[\r\n\f]|\Z)")
# A row of a table that is nothing but its name answers nothing that its columns ask. What has more than two words, or a
# number, may be the answer itself.
_UNFILLED = re.compile(rf"(?!{_UNSPACED}{{5}})(?:[^\W\d_]+[ ])?[^\W\d_]+[ ]*(?:\|[ ]*)+")
_MARKED_FORMULA = re.compile("\x0e(\\d{1,7})\x0f([^\x0e]*)\x0e")
_FORMULA_SIGNS = str.maketrans("", "", "\x0e\x0f")
# Joiners and marks of direction stay: they change how the letters beside them look, or where.
_SECTION = re.compile(r"(?:1|\d{1,2}(?:\.\d{1,2})+)[.)]?\s+[^\W\d]")
FIRST_PAGE = 2000  # characters of a text that has no pages
_UNSEEN = re.compile("[\u00ad\u200b\u2060-\u2064\ufeff]")
_UNREADABLE = re.compile(r"[\x00-\x08\x0e-\x1f\x7f-\x9f\ufffd\ufffe\uffff\ue000-\uf8ff\U000f0000-\U0010ffff]")
_MOST_UNREADABLE = 0.5  # of what is no white space


@dataclass(frozen=True, slots=True)
class Block:
    """A structural unit of canonical text, without surrounding white space.

    ``heading`` is the path of headings above the block, joined by " > "; a heading's own path ends with itself;
    ``depth`` is how many headings that are, of which one may have " > " in it. ``page_idx``
    is 0-based, or None if the format has no pages. ``hangs_on`` are the indexes of earlier blocks, the outermost first,
    that this one cannot be understood without: the term it defines, the lead-in of its list or code, the caption and
    the header row of its table, the label of its admonition. ``anchor`` is the id in the file of the
    block or of the nearest element around or above it, for links; "" where there is none. ``linked`` is a block all of
    whose words lead elsewhere.
    """

    start: int
    end: int
    kind: BlockKind
    heading: str = ""
    page_idx: int | None = None
    hangs_on: tuple[int, ...] = ()
    anchor: str = ""
    depth: int = 0
    linked: bool = False


@dataclass(frozen=True, slots=True)
class Formula:
    """A formula of the text, which holds it as a line that keeps its value, with what the file says of it."""

    start: int
    end: int
    notation: Literal["mathml", "latex"]
    source: str


@dataclass(frozen=True, slots=True)
class Parsed:
    """A parsed file. Blocks are in order and do not overlap; only white space lies between them.

    ``left_out`` says in plain sentences what of the file is not in the text, ``warnings`` what may be wrong in it.
    ``whole_blocks`` says that each block is a segment of its own, as the file itself has laid them out. A lone form
    feed between two blocks, without a line end before it, is the end of a page over which a sentence goes on.
    """

    text: str
    blocks: tuple[Block, ...]
    title: str | None = None
    metadata: dict[str, Any] = field(default_factory=dict)
    media_type: str = "text/plain"
    left_out: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    whole_blocks: bool = False
    formulas: tuple[Formula, ...] = ()

    @property
    def page_count(self) -> int | None:
        """The number of pages up to the last one with text; None if the format has no pages."""
        return max((block.page_idx + 1 for block in self.blocks if block.page_idx is not None), default=None)


def storable(text: str) -> str:
    """Remove NULs and replace lone surrogates with U+FFFD: PostgreSQL can store neither as UTF-8."""
    return without_surrogates(text.replace("\0", ""))


def composed(text: str) -> str:
    """Return a file's own text as it is stored."""
    text = storable(text)
    return text if text.isascii() else compose(text)


def shown(text: str) -> str:
    """Return a text that a parser writes as it is stored: without what nobody sees of it."""
    text = composed(text)
    return text if text.isascii() else _UNSEEN.sub("", text)


def unreadable(text: str) -> tuple[str, ...]:
    """Return what is said of letters that nobody can read: controls, and signs that only one font can show.

    Raises UnreadableDocument where most are such.
    """
    count = len(_UNREADABLE.findall(text))
    if not count:
        return ()
    share = count / max(1, sum(map(len, text.split())))
    if share > _MOST_UNREADABLE:
        raise UnreadableDocument(
            f"{share:.0%} of its letters can't be read: the file doesn't say what the signs of its fonts mean.",
            suggestion="Convert it to a PDF of pictures, which is read by OCR, or to another format.",
        )
    what = "1 character" if count == 1 else f"{count:,} characters"
    why = "control characters, or signs of a font of its own"
    return (f"{what} of the text ({max(share, 1e-4):.2%}) can't be read: {why}.",)


def unwrapped(text: str) -> str:
    """Collapse white space to single spaces; remove line breaks between letters of scripts without spaces."""
    return _SPACE.sub(" ", _UNSPACED_BREAK.sub("", text))


def paragraphs(text: str, start: int, end: int, page_idx: int | None) -> list[Block]:
    """Return the paragraphs within a span; a form feed ends a paragraph and its page."""
    blocks: list[Block] = []
    opened: int | None = None
    closed = start
    for line in LINE.finditer(text, start, end):
        words = line[0].strip()
        if words:
            lead = len(line[0]) - len(line[0].lstrip())
            opened = line.start() + lead if opened is None else opened
            closed = line.start() + lead + len(words)
        ends_page = line[0].endswith("\f")
        if opened is not None and (not words or ends_page or line.end() == end):
            blocks.append(Block(opened, closed, "paragraph", page_idx=page_idx))
            opened = None
        if ends_page and page_idx is not None:
            page_idx += 1
    return blocks


def told(count: int, one: str, more: str) -> tuple[str, ...]:
    """Return the sentence for one thing, or that for more with their number; nothing where there is none."""
    return (one if count == 1 else more.format(count),) if count else ()


def things_left_out(count: int, one: str, more: str = "") -> tuple[str, ...]:
    """Return what is said of so many things that were left out, by the name of one and of more."""
    return told(count, f"1 {one} was left out.", f"{{}} {more or f'{one}s'} were left out.")


def passages_left_out(count: int) -> tuple[str, ...]:
    """Return what is said of passages that are struck out or hidden."""
    said = "Struck-out or hidden text was left out ({} {})."
    return told(count, said.format(1, "passage"), said.format("{}", "passages"))


class LeftOut(Counter[str]):
    """How many things of a file are not in its text, by the name of one."""

    def said(self) -> tuple[str, ...]:
        """Return it in plain sentences, the same ones first in every format."""
        names = dict.fromkeys((*_FIRST_TOLD, *(name for name in self if name != "macro"), "macro"))
        return tuple(chain.from_iterable(self._said(name, self[name]) for name in names))

    def _said(self, name: str, count: int) -> tuple[str, ...]:
        if name in _SENTENCES:
            return told(count, *_SENTENCES[name])
        return passages_left_out(count) if name == "passage" else things_left_out(count, name, _PLURALS.get(name, ""))


_FIRST_TOLD = ("hidden sheet", "hidden row", "hidden column", "hidden slide", "passage", "comment")
_PLURALS = {
    "address of a link": "addresses of links",
    "chart or object": "charts or objects",
    "image of the notebook": "images of the notebook",
    "output without text of the notebook": "outputs without text of the notebook",
    "picture or attachment": "pictures and attachments",
    "part of a long output of the notebook": "parts of long outputs of the notebook",
    "sign of a picture font": "signs of a picture font",
    "value that its number format hides": "values that their number formats hide",
}
_SENTENCES = {
    "part of the book": ("1 part of the book could not be read.", "{} parts of the book could not be read."),
    "formula": ("1 formula has no stored result.", "{} formulas have no stored result."),
    "titled chart": ("1 chart was left out but for its title.", "{} charts were left out but for their titles."),
    "letter": ("1 letter could not be decoded.", "{} letters could not be decoded."),
    "macro": ("Macros were left out.", "Macros were left out."),
}


def without_marks(words: str) -> str:
    """Return words as they will stand in the text, without the marks around their formulas."""
    return _MARKED_FORMULA.sub(r"\2", words).translate(_FORMULA_SIGNS) if "\x0e" in words else words


def names_section(heading: str) -> bool:
    """Whether a heading has the number of a first or of an inner section, so that it is not that of the whole."""
    return _SECTION.match(heading) is not None


class CanonicalText:
    """A writer of canonical text, block by block, that tracks offsets, the heading path and what is left out."""

    def __init__(self) -> None:
        self.page_idx: int | None = None
        self.left_out = LeftOut()
        self._written_page: int | None = None
        self._parts: list[str] = []
        self._length = 0
        self._blocks: list[Block] = []
        self._path: list[tuple[int, str]] = []
        self._highest: tuple[int, str] | None = None
        self._is_highest_alone = True
        self._is_highest_first = False
        self._sources: list[tuple[Literal["mathml", "latex"], str]] = []
        self._formulas: list[Formula] = []

    def formula(self, line: str, notation: Literal["mathml", "latex"], source: str) -> str:
        """Return a formula's line with marks, by which its place is known once the words around it are written."""
        self._sources.append((notation, storable(source)))
        return f"\x0e{len(self._sources) - 1}\x0f{without_marks(line)}\x0e"

    def add_heading(self, level: int, text: str, *, anchor: str = "") -> None:
        """Write a heading of a level from 1; later blocks belong to it until a heading of the same or a higher rank."""
        line = " ".join(shown(text).split())
        if line:
            name = without_marks(line) if self._sources else line
            self._path = [*((at, above) for at, above in self._path if at < level), (level, name)]
            if self._highest is None or level <= self._highest[0]:
                self._is_highest_alone = self._highest is None or level < self._highest[0]
                self._highest = (level, name)
                self._is_highest_first = not self.page_idx and self._length <= FIRST_PAGE
            self.add("heading", line, anchor=anchor)

    def leave_headings(self) -> None:
        """Let later blocks belong to no heading before: a slide begins that has none of its own."""
        self._path = []

    def add(
        self,
        kind: BlockKind,
        text: str,
        *,
        tight: bool = False,
        hangs_on: Sequence[int | None] = (),
        anchor: str = "",
        goes_on: bool = False,
        linked: bool = False,
    ) -> int | None:
        """Write a block, after a blank line or, with ``tight``, on the next line; return its index.

        With ``goes_on`` a sentence of the block before, at the end of the last page, goes on in it.

        Blank text is skipped, and its index is None. Surrounding white space is removed, but code and list items keep
        their indent. ``hangs_on`` are indexes that this method has returned.
        """
        body = shown(text)
        body = re.sub(r"\A(?:[^\S\n]*\n)+", "", body).rstrip() if kind in ("code", "list_item") else body.strip()
        if not body.strip():
            return None
        if self._blocks:
            page_end = PAGE_END[goes_on:]
            self._write(page_end if self._written_page != self.page_idx else "\n" if tight else "\n\n")
        self._written_page = self.page_idx
        start = self._length
        self._write(self._placed(body) if self._sources and "\x0e" in body else body)
        heading = " > ".join(name for _, name in self._path)
        above = tuple(dict.fromkeys(index for index in hangs_on if index is not None))
        if kind == "table_row" and above and body[-1] == "|" and _UNFILLED.fullmatch(body):
            kind = "label"
        block = Block(start, self._length, kind, heading, self.page_idx, above, anchor, len(self._path), linked)
        self._blocks.append(block)
        return len(self._blocks) - 1

    def include(self, part: Parsed) -> int | None:
        """Write the blocks of another file below the headings so far, with its own headings but without its pages.

        Return the index of its last block.
        """
        if not part.blocks:
            return None
        if self._blocks:
            self._write("\n\n")
        self._written_page = self.page_idx
        first, last = part.blocks[0].start, part.blocks[-1].end
        shift, count = self._length - first, len(self._blocks)
        self._formulas += (replace(one, start=one.start + shift, end=one.end + shift) for one in part.formulas)
        path = [name for _, name in self._path]
        for block in part.blocks:
            self._blocks.append(
                replace(
                    block,
                    start=block.start + shift,
                    end=block.end + shift,
                    heading=" > ".join((*path, block.heading) if block.heading else path),
                    page_idx=self.page_idx,
                    hangs_on=tuple(index + count for index in block.hangs_on),
                    depth=len(path) + block.depth,
                )
            )
        self._write(part.text[first:last])
        return len(self._blocks) - 1

    def parsed(self, *, title: str | None = None, metadata: dict[str, Any] | None = None) -> Parsed:
        """Return the written text.

        Its default title is the heading of the highest rank, where it has but one, on its first page.
        """
        if not title and self._highest and self._is_highest_alone and self._is_highest_first:
            title = None if names_section(self._highest[1]) else self._highest[1]
        return Parsed(
            "".join(self._parts),
            tuple(self._blocks),
            title and shown(title),
            metadata or {},
            left_out=self.left_out.said(),
            formulas=tuple(self._formulas),
        )

    def _placed(self, body: str) -> str:
        """Keep where the marked formulas of a block stand, and return it without the marks."""
        pieces: list[str] = []
        length, at = self._length, 0
        for found in _MARKED_FORMULA.finditer(body):
            before, line = body[at : found.start()].translate(_FORMULA_SIGNS), found[2]
            length += len(before)
            if line and int(found[1]) < len(self._sources):
                self._formulas.append(Formula(length, length + len(line), *self._sources[int(found[1])]))
            length += len(line)
            pieces += (before, line)
            at = found.end()
        return "".join((*pieces, body[at:].translate(_FORMULA_SIGNS)))

    def _write(self, piece: str) -> None:
        self._parts.append(piece)
        self._length += len(piece)
