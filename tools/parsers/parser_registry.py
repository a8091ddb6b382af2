"""The formats that files are read in: ours, and those under the entry point ``citewell.parsers``."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib import import_module

from tools.parsers.canonical_text import Parsed
from tools.plugins.entry_points import PARSERS, Names, load_plugins

Read = Callable[[bytes], Parsed]


@dataclass(frozen=True, slots=True)
class Parser:
    """A format: the media types and file suffixes that name it, in small letters, and what reads it.

    A suffix means the first media type. ``read`` raises UnreadableDocument with the reason where it can't.
    """

    media_types: tuple[str, ...]
    suffixes: tuple[str, ...]
    read: Read

    def __post_init__(self) -> None:
        if not callable(self.read):
            raise TypeError("a Parser needs a callable that reads bytes")
        if not self.media_types or any("/" not in name or name != name.lower() for name in self.media_types):
            raise ValueError("a Parser needs media types in small letters, such as 'text/x-rst'")
        if any(not suffix.startswith(".") or suffix != suffix.lower() for suffix in self.suffixes):
            raise ValueError("the suffixes of a Parser are in small letters and begin with a dot, such as '.rst'")


@dataclass(frozen=True, slots=True)
class Formats:
    """Every parser by the media types that it reads, and the media type that each suffix means."""

    parsers: dict[str, Parser]
    suffixes: dict[str, str]

    def add(self, parser: Parser) -> None:
        """Add a parser under its names."""
        self.parsers.update(dict.fromkeys(parser.media_types, parser))
        self.suffixes.update(dict.fromkeys(parser.suffixes, parser.media_types[0]))


def _bundled(stem: str) -> Read:
    """Make a function that imports a module of this package when a file first needs it, and reads with it."""

    def read(data: bytes) -> Parsed:
        parsed: Parsed = import_module(f"tools.parsers.{stem}").read(data)
        return parsed

    return read


BUNDLED = (
    Parser(("text/markdown", "text/x-markdown"), (".md", ".markdown", ".mdx"), _bundled("markdown")),
    Parser(("text/plain",), (".txt", ".text"), _bundled("plain")),
    Parser(("text/html",), (".html", ".htm"), _bundled("html")),
    Parser(("application/xhtml+xml",), (".xhtml",), _bundled("html")),
    Parser(("application/pdf",), (".pdf",), _bundled("pdf")),
    Parser(("application/json",), (".json",), _bundled("document_ai")),
)


@cache
def formats() -> Formats:
    """Return the formats of this process, those of other distributions loaded at the first call.

    Raises ConfigurationError where one of those is broken, or a name of it is taken.
    """
    known = Formats({}, {})
    for parser in BUNDLED:
        known.add(parser)
    media_types, suffixes = Names("media type", known.parsers), Names("suffix", known.suffixes)
    for plugin in load_plugins(PARSERS, Parser):
        for media_type in plugin.value.media_types:
            media_types.take(media_type, plugin)
        for suffix in plugin.value.suffixes:
            suffixes.take(suffix, plugin)
        known.add(plugin.value)
    return known
