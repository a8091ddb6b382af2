"""Plain text as it is: its own text is the canonical text, paragraphs end at blank lines, pages at form feeds."""

import re

from tools.parsers.encoding import decode
from tools.parsers.parsed import Block, Parsed, storable

_LINE = re.compile(r"[^\r\n\f]*(?:\r\n|[\r\n\f]|\Z)")


def read(data: bytes) -> Parsed:
    """Read plain text; raises UnreadableDocument where it is binary or not decodable."""
    return read_text(decode(data))


def read_text(text: str) -> Parsed:
    """Find the paragraphs and pages of a text. Pages are counted only where a form feed ends one."""
    canonical = storable(text)
    return Parsed(canonical, tuple(paragraphs(canonical, 0, len(canonical), 0 if "\f" in canonical else None)))


def paragraphs(text: str, start: int, end: int, page_idx: int | None) -> list[Block]:
    """Give the paragraphs within a span; a form feed ends one and turns the page."""
    blocks: list[Block] = []
    opened: int | None = None
    closed = start
    for line in _LINE.finditer(text, start, end):
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
