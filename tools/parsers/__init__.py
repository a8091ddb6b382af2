"""Parsers of files: any supported format into canonical text and blocks."""

from dataclasses import replace
from pathlib import PurePath

from graph.errors import UnreadableDocument
from graph.evidence import BlockKind
from tools.parsers.canonical_text import Block, CanonicalText, Parsed, unreadable
from tools.parsers.encodings import guesses_heard, warnings_of
from tools.parsers.parser_registry import ARCHIVE, OLE, PACKAGE, ZIP, Formats, Parser, formats
from tools.parsers.recognition import Recognition, recognising
from tools.parsers.textless import is_textless

__all__ = [
    "Block",
    "BlockKind",
    "CanonicalText",
    "Parsed",
    "Parser",
    "Recognition",
    "formats",
    "is_zipped",
    "media_type_of",
    "parse",
]


def parse(data: bytes, *, name: str, media_type: str | None = None, recognition: Recognition | None = None) -> Parsed:
    """Parse a file into canonical text; with ``recognition``, also that of scanned pages.

    The media type selects the parser. If it is absent or generic, the suffix of ``name`` does, then what the bytes are:
    PDF, an office file, a book or an archive; everything else is parsed as plain text. An encoding that was guessed is
    ``encoding`` of the metadata, and a warning. Raises UnreadableDocument with the reason: empty, binary, undecodable,
    broken, encrypted, without text, or of letters that mostly can't be read.
    """
    if not data.strip():
        raise UnreadableDocument("The file is empty.", suggestion="Check that it is the right file, and was saved.")
    known = formats()
    kind = media_type_of(data, name=name, media_type=media_type)
    with guesses_heard() as heard, recognising(recognition):
        try:
            parsed = known.parsers[kind].read(data)
        except UnreadableDocument as error:
            if kind == "text/plain" and is_textless(name):
                raise UnreadableDocument(
                    "It cannot be read as text, and by its name is a picture, sound, font or program.",
                    suggestion="Open it in its program, and save what it says as PDF or text.",
                ) from error
            raise
    if not parsed.text.strip():
        raise UnreadableDocument("The file holds no text.")
    metadata = parsed.metadata | {"encoding": heard[0]} if heard else parsed.metadata
    warnings = (*parsed.warnings, *warnings_of(heard), *unreadable(parsed.text))
    return replace(parsed, media_type=kind, metadata=metadata, warnings=warnings)


def media_type_of(data: bytes, *, name: str, media_type: str | None = None) -> str:
    """Return the media type that ``parse`` would read a file as. One that ``is_zipped`` names is opened."""
    known = formats()
    kind, suffix = _named(known, name, media_type)
    if not kind:
        kind = _kind_of(known, data)
        if kind == ARCHIVE and suffix:
            return PACKAGE
    if kind != ARCHIVE:
        return kind
    found = _kind_of(known, data)
    is_named_archive = known.suffixes.get(suffix) == ARCHIVE and bool(data.strip())  # but is none: it is refused
    return ARCHIVE if found == "text/plain" and is_named_archive else found


def is_zipped(data: bytes, *, name: str, media_type: str | None = None) -> bool:
    """Whether a file has to be opened to tell its media type: it is said to be an archive, or may be any."""
    kind, _ = _named(formats(), name, media_type)
    return kind == ARCHIVE or (not kind and data.startswith(ZIP))


def _named(known: Formats, name: str, media_type: str | None) -> tuple[str, str]:
    """Return the media type that is said of a file, "" where nothing is, and its suffix."""
    kind = (media_type or "").partition(";")[0].strip().lower()
    suffix = PurePath(name.strip()).suffix.lower()
    by_suffix = known.suffixes.get(suffix, "")
    if kind not in known.parsers or (kind == "text/plain" and by_suffix):
        kind = by_suffix
    return (ARCHIVE if kind and known.parsers[kind] is known.parsers[ARCHIVE] else kind), suffix


def _kind_of(known: Formats, data: bytes) -> str:
    if data.startswith(b"%PDF-"):
        return "application/pdf"
    if data.startswith(OLE):
        return "application/msword"  # which says what it is, and refuses it
    if not data.startswith(ZIP):
        return "text/plain"
    from tools.parsers.archives import media_type_inside  # only here, for lxml takes a while to load

    inside = media_type_inside(data)
    return inside if inside in known.parsers else ARCHIVE
