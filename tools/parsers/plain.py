"""Parser of plain text, decoded by a byte order mark, a declared charset, or UTF-8; only else by a guess that is told.

The decoded text is the canonical text, and blocks only point into it: paragraphs end at blank lines, pages at form
feeds. Items of lists, and indented lines after a colon, hang on the paragraph before them; the turns of a dialogue are
blocks of their own.
"""

import codecs
import re
from collections.abc import Iterator
from dataclasses import replace

from graph.errors import UnreadableDocument
from tools.parsers.canonical_text import COLONS, LINE, Block, Parsed, composed, paragraphs
from tools.parsers.dialogues import dialogue
from tools.parsers.encodings import guessed

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

    Where the file names none and is not UTF-8, or is not in the charset that it names, it is guessed, but only within
    ``parse``, which tells of it. Raises UnreadableDocument if the bytes are binary, or read well in no encoding.
    """
    marked = next((name for mark, name in _MARKS if data.startswith(mark)), None)
    if marked is None and b"\x00" in data:
        if not declared and (text := guessed(data)):
            return text
        raise UnreadableDocument("The file is binary, not text.")
    encoding = marked or _WIDER.get((declared or "").lower(), declared) or "utf-8"
    try:
        if codecs.lookup(encoding).name.replace("_", "-") in _NO_CHARSETS:
            raise LookupError
        return data.decode(encoding)
    except UnicodeError as error:
        if marked in (None, "utf-8-sig") and (text := guessed(data)):
            return text
        raise UnreadableDocument(
            f"The text is not in {encoding.removesuffix('-sig').upper()}{_place(error, data)}.",
            suggestion="Save the file as UTF-8 and add it again.",
        ) from error
    except (LookupError, ValueError) as error:
        if text := guessed(data):
            return text
        raise UnreadableDocument(f"The file names an unknown charset: {encoding!r}.") from error


def _place(error: UnicodeError, data: bytes) -> str:
    if not isinstance(error, UnicodeDecodeError) or error.start >= len(data):
        return ""
    return f" (byte 0x{data[error.start]:02X} at offset {error.start})"


def read(data: bytes) -> Parsed:
    """Parse plain text. Raises UnreadableDocument if it is binary or cannot be decoded."""
    return read_text(decode(data))


def read_text(text: str) -> Parsed:
    """Parse the paragraphs and pages of a text. Pages are counted only if it contains a form feed.

    Its title is a first line that is underlined; other first lines may be anything.
    """
    canonical = composed(text)
    if turns := dialogue(canonical):
        return Parsed(canonical, turns)
    blocks = paragraphs(canonical, 0, len(canonical), 0 if "\f" in canonical else None)
    return Parsed(canonical, tuple(_structured(canonical, blocks)), _underlined(canonical))


_RULE = r"(?:={3,}|-{3,}|~{3,}|\*{3,}|#{3,})[ \t]*(?:\r\n|[\r\n]|\Z)"
_UNDERLINED = re.compile(rf"\s*+(?:{_RULE})?[ \t]*([^\s=~*#-][^\r\n\f]{{0,199}})(?:\r\n|[\r\n])[ \t]*{_RULE}")


def _underlined(text: str) -> str | None:
    found = _UNDERLINED.match(text)
    return found[1].strip() if found else None


_BULLET = re.compile(r"[ \t]*(?:[-*+\u2022\u2023\u2043\u25aa\u25cf\u25e6]|\(?\d{1,3}[.)]|\(?[a-z][.)])[ \t]+(?=\S)")
_CODE_INDENT = 4  # columns, more than the sentence that introduces it
_ENDS = re.compile(r"[.!?…。！？｡।॥؟۔][\"'”’»)\]」』]*\Z")
_TITLE = re.compile(r"(?=[^\r\n]*[^\W_])[^\r\n]{1,60}(?<![,;:，；：、])")


def _structured(text: str, blocks: list[Block]) -> Iterator[Block]:
    """Yield paragraphs, with lists and code among them as blocks that hang on what introduces them."""
    count = 0
    lead: tuple[int, str, int] | None = None  # index, last words and indent of the paragraph before
    items: list[tuple[int, int]] = []  # indent and index, of the items that the next one may be within
    titles: tuple[int, ...] = ()  # the paragraph before, where it is a line alone that may be a heading
    for block in blocks:
        within = bool(items) and _indent(text, block.start) > items[0][0]
        for start, end, is_item in list(_parts(text, block, within=within)):
            indent = _indent(text, start)
            part = replace(block, start=start, end=end)
            if is_item:
                while items and items[-1][0] >= indent:
                    items.pop()
                above = ((lead[0],) if lead else ()) + tuple(index for _, index in items)
                items.append((indent, count))
                yield replace(part, kind="list_item", hangs_on=above)
            elif lead and lead[1].endswith(COLONS) and indent >= lead[2] + _CODE_INDENT:
                yield replace(part, kind="code", hangs_on=(lead[0],))
            elif items and indent > items[0][0]:
                while len(items) > 1 and items[-1][0] >= indent:
                    items.pop()
                yield replace(part, hangs_on=((lead[0],) if lead else ()) + tuple(index for _, index in items))
            else:
                lead, items = (count, text[max(start, end - 1) : end], indent), []
                is_sentence = _ENDS.search(text, start, end) is not None
                yield replace(part, hangs_on=titles if is_sentence else ())
                titles = () if is_sentence or _TITLE.fullmatch(text, start, end) is None else (count,)
                count += 1
                continue
            titles = ()
            count += 1


def _parts(text: str, block: Block, *, within: bool) -> Iterator[tuple[int, int, bool]]:
    """Yield the spans of a paragraph, each with whether it is an item of a list.

    Items begin with the first line, with a line after a colon, or ``within`` a list that goes on; elsewhere a line may
    only look like one.
    """
    opened, closed, is_item, listed = block.start, block.start, False, within
    for line in LINE.finditer(text, block.start, block.end):
        words = line[0].rstrip()
        if not words.strip():
            continue
        begins = _BULLET.match(words) is not None
        if begins and (listed or line.start() == block.start or text[closed - 1] in COLONS):
            if line.start() > block.start:
                yield opened, closed, is_item
            opened, is_item, listed = line.start() + len(words) - len(words.lstrip()), True, True
        closed = line.start() + len(words)
    yield opened, closed, is_item


def _indent(text: str, start: int) -> int:
    """Return the column of a character that only white space stands before in its line."""
    line = start
    while line > 0 and text[line - 1] in " \t":
        line -= 1
    return len(text[line:start].expandtabs(4))
