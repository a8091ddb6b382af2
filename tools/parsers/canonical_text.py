"""The result of every parser: canonical text, and the blocks that lie in it.

Canonical text holds no NUL and no lone surrogate, since PostgreSQL stores neither. Nothing else is normalised: letters
keep their composition, so that a quote is exact to the code point. Line ends stay as they came where the file's own
text is the canonical text (plain text, Document AI); where a parser writes the text, a line ends with ``\\n``.
"""

import re
from dataclasses import dataclass, field
from typing import Any, Literal

from text.normal_forms import without_surrogates
from text.scripts import CHINESE_AND_JAPANESE_TEXT

BlockKind = Literal["heading", "paragraph", "list_item", "table_row", "code", "quote"]
PAGE_END = "\n\f"
_UNSPACED = f"[{CHINESE_AND_JAPANESE_TEXT}]"
_UNSPACED_BREAK = re.compile(rf"(?<={_UNSPACED})[ \t]*[\r\n]\s*(?={_UNSPACED})")
_SPACE = re.compile(r"[ \t\r\n\f]+")


@dataclass(frozen=True, slots=True)
class Block:
    """A structural unit of canonical text, without the white space around it.

    ``heading`` is the path of headings above the block joined by " > ", a heading's own path ends with itself.
    ``page_idx`` is 0-based, or None where the format has no pages.
    """

    start: int
    end: int
    kind: BlockKind
    heading: str = ""
    page_idx: int | None = None


@dataclass(frozen=True, slots=True)
class Parsed:
    """A file made readable. Blocks are in order, do not overlap and may leave white space between them."""

    text: str
    blocks: tuple[Block, ...]
    title: str | None = None
    metadata: dict[str, Any] = field(default_factory=dict)
    media_type: str = "text/plain"

    @property
    def page_count(self) -> int | None:
        """How many pages bear text or come before one that does; None where the format has no pages."""
        return max((block.page_idx + 1 for block in self.blocks if block.page_idx is not None), default=None)


def storable(text: str) -> str:
    """Drop NULs and put U+FFFD in place of lone surrogates: neither can be stored as UTF-8 in PostgreSQL."""
    return without_surrogates(text.replace("\0", ""))


def unwrapped(text: str) -> str:
    """Turn white space into single spaces, and a line break between letters that are written without into nothing."""
    return _SPACE.sub(" ", _UNSPACED_BREAK.sub("", text))


class CanonicalText:
    """Canonical text being written block by block; it keeps the offsets and the heading path."""

    def __init__(self) -> None:
        self.page_idx: int | None = None
        self._written_page: int | None = None
        self._parts: list[str] = []
        self._length = 0
        self._blocks: list[Block] = []
        self._path: list[tuple[int, str]] = []
        self._highest: tuple[int, str] | None = None

    def add_heading(self, level: int, text: str) -> None:
        """Write a heading of a level from 1; what follows lies under it until one of the same level or above."""
        line = " ".join(storable(text).split())
        if line:
            self._path = [*((at, name) for at, name in self._path if at < level), (level, line)]
            self._highest = min(self._highest or (level, line), (level, line), key=lambda heading: heading[0])
            self.add("heading", line)

    def add(self, kind: BlockKind, text: str, *, tight: bool = False) -> None:
        """Write a block; ``tight`` puts it on the next line, else a blank line parts it from the one before.

        Blank text is left out. White space around it is dropped, of code only empty lines.
        """
        body = storable(text)
        body = re.sub(r"\A(?:[^\S\n]*\n)+", "", body).rstrip() if kind in ("code", "list_item") else body.strip()
        if not body.strip():
            return
        if self._blocks:
            self._write(PAGE_END if self._written_page != self.page_idx else "\n" if tight else "\n\n")
        self._written_page = self.page_idx
        start = self._length
        self._write(body)
        heading = " > ".join(name for _, name in self._path)
        self._blocks.append(Block(start, self._length, kind, heading, self.page_idx))

    def parsed(self, *, title: str | None = None, metadata: dict[str, Any] | None = None) -> Parsed:
        """Close the text. Without a title the first of its highest headings is it."""
        named = title or (self._highest[1] if self._highest else None)
        return Parsed("".join(self._parts), tuple(self._blocks), named, metadata or {})

    def _write(self, piece: str) -> None:
        self._parts.append(piece)
        self._length += len(piece)
