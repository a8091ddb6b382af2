"""Parsers of files: any supported format into canonical text and blocks."""

from dataclasses import replace
from pathlib import PurePath

from graph.errors import UnreadableDocument
from graph.evidence import BlockKind
from tools.parsers.canonical_text import Block, CanonicalText, Parsed
from tools.parsers.parser_registry import Formats, Parser, formats

__all__ = ["Block", "BlockKind", "CanonicalText", "Parsed", "Parser", "formats", "parse"]


def parse(data: bytes, *, name: str, media_type: str | None = None) -> Parsed:
    """Parse a file into canonical text.

    The media type selects the parser. If it is absent or generic, the suffix of ``name`` does, then what the bytes are:
    PDF, or an office file; everything else is parsed as plain text. Raises UnreadableDocument with the reason: empty,
    binary, undecodable, broken, encrypted, or without text.
    """
    if not data.strip():
        raise UnreadableDocument("The file is empty.")
    known = formats()
    kind = _media_type(known, data, name, media_type)
    parsed = known.parsers[kind].read(data)
    if not parsed.text.strip():
        raise UnreadableDocument("The file holds no text.")
    return replace(parsed, media_type=kind)


def _media_type(known: Formats, data: bytes, name: str, media_type: str | None) -> str:
    kind = (media_type or "").partition(";")[0].strip().lower()
    by_suffix = known.suffixes.get(PurePath(name).suffix.lower())
    if kind not in known.parsers or (kind == "text/plain" and by_suffix):
        kind = by_suffix or _kind_of(known, data)
    return kind


def _kind_of(known: Formats, data: bytes) -> str:
    if data.startswith(b"%PDF-"):
        return "application/pdf"
    from tools.parsers.archives import OLE, ZIP, media_type_inside  # only here, for lxml takes a while to load

    if data.startswith(OLE):
        return "application/msword"  # which says what it is, and refuses it
    inside = media_type_inside(data) if data.startswith(ZIP) else None
    return inside if inside in known.parsers else "text/plain"
