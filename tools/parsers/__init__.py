"""Parse a file of any supported format into canonical text and blocks.

A format is a module with ``read(data) -> Parsed``; it is imported when a file first needs it.
"""

from dataclasses import replace
from importlib import import_module
from pathlib import PurePath

from graph.errors import UnreadableDocument
from tools.parsers.canonical_text import Block, BlockKind, Parsed

__all__ = ["MEDIA_TYPES", "SUFFIXES", "Block", "BlockKind", "Parsed", "parse"]

MEDIA_TYPES = {
    "text/markdown": "markdown",
    "text/x-markdown": "markdown",
    "text/plain": "plain",
    "text/html": "html",
    "application/xhtml+xml": "html",
    "application/pdf": "pdf",
    "application/json": "document_ai",
}
SUFFIXES = {
    ".md": "text/markdown",
    ".markdown": "text/markdown",
    ".mdx": "text/markdown",
    ".txt": "text/plain",
    ".text": "text/plain",
    ".html": "text/html",
    ".htm": "text/html",
    ".xhtml": "application/xhtml+xml",
    ".pdf": "application/pdf",
    ".json": "application/json",
}


def parse(data: bytes, *, name: str, media_type: str | None = None) -> Parsed:
    """Read a file into canonical text.

    The media type decides; where it is absent or generic the suffix of ``name`` does, then a PDF's first bytes, and
    what is left is read as plain text. Raises UnreadableDocument with the reason: empty, binary, undecodable, broken,
    encrypted, or without text.
    """
    if not data.strip():
        raise UnreadableDocument("The file is empty.")
    kind = _media_type(data, name, media_type)
    parsed: Parsed = import_module(f"tools.parsers.{MEDIA_TYPES[kind]}").read(data)
    if not parsed.text.strip():
        raise UnreadableDocument("The file holds no text.")
    return replace(parsed, media_type=kind)


def _media_type(data: bytes, name: str, media_type: str | None) -> str:
    kind = (media_type or "").partition(";")[0].strip().lower()
    by_suffix = SUFFIXES.get(PurePath(name).suffix.lower())
    if kind not in MEDIA_TYPES or (kind == "text/plain" and by_suffix):
        kind = by_suffix or ("application/pdf" if data.startswith(b"%PDF-") else "text/plain")
    return kind
