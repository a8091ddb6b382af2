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


def decode(data: bytes, *, declared: str | None = None) -> str:
    """Decode text of a file; ``declared`` is the charset that the file itself names.

    Raises UnreadableDocument where the bytes are binary or not in that encoding: a guess could make a quote that
    nobody wrote.
    """
    encoding = next((name for mark, name in _MARKS if data.startswith(mark)), None)
    if encoding is None and b"\x00" in data:
        raise UnreadableDocument("The file is binary, not text.")
    encoding = encoding or declared or "utf-8"
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as error:
        fault = f"byte 0x{data[error.start]:02X} at offset {error.start}" if error.start < len(data) else "cut short"
        raise UnreadableDocument(
            f"The text is not in {encoding.removesuffix('-sig').upper()} ({fault}).",
            suggestion="Save the file as UTF-8 and ingest it again.",
        ) from error
    except LookupError as error:
        raise UnreadableDocument(f"The file names a charset that is not known: {encoding!r}.") from error
