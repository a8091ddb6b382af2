"""Parser of plain text, decoded without guessing: by a byte order mark, a declared charset, or UTF-8.

The decoded text is the canonical text; paragraphs end at blank lines, pages at form feeds.
"""

import codecs
import re

from graph.errors import UnreadableDocument
from tools.parsers.canonical_text import Block, Parsed, storable

_MARKS = (  # UTF-32 first: its little-endian mark begins with that of UTF-16
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
# The encodings that browsers use for these names (WHATWG Encoding Standard).
_WIDER = {"iso-8859-1": "cp1252", "us-ascii": "cp1252", "gb2312": "gb18030", "gbk": "gb18030", "shift_jis": "cp932"}

# Python codecs that no file is written in; punycode takes quadratic time.
_NO_CHARSETS = frozenset({"punycode", "raw-unicode-escape", "undefined", "unicode-escape", "utf-7"})


def decode(data: bytes, *, declared: str | None = None) -> str:
    """Decode the text of a file; ``declared`` is the charset that the file itself names.

    Raises UnreadableDocument if the bytes are binary or not in that encoding: a guess could produce a quote that nobody
    wrote.
    """
    encoding = next((name for mark, name in _MARKS if data.startswith(mark)), None)
    if encoding is None and b"\x00" in data:
        raise UnreadableDocument("The file is binary, not text.")
    encoding = encoding or _WIDER.get((declared or "").lower(), declared) or "utf-8"
    try:
        if codecs.lookup(encoding).name.replace("_", "-") in _NO_CHARSETS:
            raise LookupError
        return data.decode(encoding)
    except UnicodeError as error:
        raise UnreadableDocument(
            f"The text is not in {encoding.removesuffix('-sig').upper()}{_place(error, data)}.",
            suggestion="Save the file as UTF-8 and ingest it again.",
        ) from error
    except LookupError as error:
        raise UnreadableDocument(f"The file names an unknown charset: {encoding!r}.") from error


def _place(error: UnicodeError, data: bytes) -> str:
    if not isinstance(error, UnicodeDecodeError) or error.start >= len(data):
        return ""
    return f" (byte 0x{data[error.start]:02X} at offset {error.start})"


_LINE = re.compile(r"[^\r\n\f]*(?:\r\n|[\r\n\f]|\Z)")


def read(data: bytes) -> Parsed:
    """Parse plain text. Raises UnreadableDocument if it is binary or cannot be decoded."""
    return read_text(decode(data))


def read_text(text: str) -> Parsed:
    """Parse the paragraphs and pages of a text. Pages are counted only if it contains a form feed."""
    canonical = storable(text)
    return Parsed(canonical, tuple(paragraphs(canonical, 0, len(canonical), 0 if "\f" in canonical else None)))


def paragraphs(text: str, start: int, end: int, page_idx: int | None) -> list[Block]:
    """Return the paragraphs within a span; a form feed ends a paragraph and its page."""
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
