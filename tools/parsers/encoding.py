"""Bytes to text without guessing: a byte order mark, a declared charset, or UTF-8."""

import codecs

from graph.errors import UnreadableDocument

_MARKS = (  # the longer marks first: that of UTF-32 begins with that of UTF-16
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
# What browsers read for these names: the WHATWG Encoding Standard.
_WIDER = {"iso-8859-1": "cp1252", "us-ascii": "cp1252", "gb2312": "gb18030", "gbk": "gb18030", "shift_jis": "cp932"}

# Codecs of Python that no file is written in; punycode takes time by the square of the length.
_NO_CHARSETS = frozenset({"punycode", "raw-unicode-escape", "undefined", "unicode-escape", "utf-7"})


def decode(data: bytes, *, declared: str | None = None) -> str:
    """Decode text of a file; ``declared`` is the charset that the file itself names.

    Raises UnreadableDocument where the bytes are binary or not in that encoding: a guess could make a quote that
    nobody wrote.
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
        raise UnreadableDocument(f"The file names a charset that is not known: {encoding!r}.") from error


def _place(error: UnicodeError, data: bytes) -> str:
    if not isinstance(error, UnicodeDecodeError) or error.start >= len(data):
        return ""
    return f" (byte 0x{data[error.start]:02X} at offset {error.start})"
