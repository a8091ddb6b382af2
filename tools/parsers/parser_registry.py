"""Registry of file formats: the bundled ones, and those under the entry point ``citewell.parsers``."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib import import_module

from tools.parsers.canonical_text import Parsed
from tools.plugins.entry_points import PARSERS, Names, load_plugins

Read = Callable[[bytes], Parsed]


@dataclass(frozen=True, slots=True)
class Parser:
    """A file format: its media types and suffixes, in lower case, and the function that reads it.

    A suffix means the first media type. ``read`` raises UnreadableDocument with the reason.
    """

    media_types: tuple[str, ...]
    suffixes: tuple[str, ...]
    read: Read

    def __post_init__(self) -> None:
        if not callable(self.read):
            raise TypeError("a Parser needs a callable that reads bytes")
        if not self.media_types or any("/" not in name or name != name.lower() for name in self.media_types):
            raise ValueError("a Parser needs media types in lower case, such as 'text/x-rst'")
        if any(not suffix.startswith(".") or suffix != suffix.lower() for suffix in self.suffixes):
            raise ValueError("the suffixes of a Parser must be in lower case and begin with a dot, such as '.rst'")


@dataclass(frozen=True, slots=True)
class Formats:
    """The parsers by media type, and the media types by file suffix."""

    parsers: dict[str, Parser]
    suffixes: dict[str, str]

    def add(self, parser: Parser) -> None:
        """Register a parser under its media types and suffixes."""
        self.parsers.update(dict.fromkeys(parser.media_types, parser))
        self.suffixes.update(dict.fromkeys(parser.suffixes, parser.media_types[0]))


def _bundled(stem: str, function: str = "read", *more: str) -> Read:
    """Return a reader that imports its module of this package on first use; ``more`` are further arguments of it."""

    def read(data: bytes) -> Parsed:
        parsed: Parsed = getattr(import_module(f"tools.parsers.{stem}"), function)(data, *more)
        return parsed

    return read


_OOXML = "application/vnd.openxmlformats-officedocument"
_ODF = "application/vnd.oasis.opendocument"


def _with_macros(program: str, *kinds: str) -> tuple[str, ...]:
    """Return the media types of files that hold macros, in lower case. The macros are never read."""
    return tuple(f"application/vnd.ms-{program}.{kind}.macroenabled.12" for kind in kinds)


ZIP, OLE = b"PK\x03\x04", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"  # the first bytes of archives, and of Office 97 to 2003
ARCHIVE = "application/zip"  # of which each file is a document
PACKAGE = "application/x-package"  # an archive that a program has for one file of its own, under a suffix of its own
SOURCES = (  # language, media type, suffixes
    ("python", "text/x-python", (".py", ".pyi")),
    ("javascript", "text/javascript", (".js", ".mjs", ".cjs", ".jsx")),
    ("javascript", "text/x-typescript", (".ts", ".tsx")),
    ("java", "text/x-java", (".java", ".kt", ".cs", ".scala", ".swift")),
    ("c", "text/x-c", (".c", ".h", ".cc", ".cpp", ".cxx", ".hpp", ".hh")),
    ("go", "text/x-go", (".go",)),
    ("rust", "text/x-rust", (".rs",)),
    ("ruby", "text/x-ruby", (".rb",)),
    ("php", "text/x-php", (".php",)),
    ("shell", "text/x-shellscript", (".sh", ".bash", ".zsh")),
    ("sql", "application/sql", (".sql",)),
    ("sections", "application/toml", (".toml", ".ini", ".cfg", ".conf", ".properties")),
    ("", "application/xml", (".xml",)),
    ("", "text/xml", ()),
    ("", "text/css", (".css", ".scss")),
)

BUNDLED = (
    Parser(("text/markdown", "text/x-markdown"), (".md", ".markdown"), _bundled("markdown")),
    Parser(("text/mdx",), (".mdx",), _bundled("markdown", "read", "mdx")),
    Parser(("text/x-rst", "text/prs.fallenstein.rst"), (".rst", ".rest"), _bundled("restructured_text")),
    Parser(("text/csv",), (".csv",), _bundled("tabular")),
    Parser(("text/tab-separated-values",), (".tsv", ".tab"), _bundled("tabular", "read", "\t")),
    Parser(("text/plain",), (".txt", ".text"), _bundled("plain")),
    Parser(("text/html",), (".html", ".htm"), _bundled("html")),
    Parser(("application/xhtml+xml",), (".xhtml",), _bundled("html")),
    Parser(("application/pdf",), (".pdf",), _bundled("pdf")),
    Parser(
        (
            f"{_OOXML}.wordprocessingml.document",
            f"{_OOXML}.wordprocessingml.template",
            *_with_macros("word", "document"),
        ),
        (".docx", ".docm", ".dotx", ".dotm"),
        _bundled("docx"),
    ),
    Parser(
        (
            f"{_OOXML}.presentationml.presentation",
            f"{_OOXML}.presentationml.slideshow",
            *_with_macros("powerpoint", "presentation", "slideshow"),
        ),
        (".pptx", ".pptm", ".ppsx", ".ppsm"),
        _bundled("pptx"),
    ),
    Parser(
        (f"{_OOXML}.spreadsheetml.sheet", f"{_OOXML}.spreadsheetml.template", *_with_macros("excel", "sheet")),
        (".xlsx", ".xlsm", ".xltx", ".xltm"),
        _bundled("xlsx"),
    ),
    Parser((f"{_ODF}.text", f"{_ODF}.text-template"), (".odt", ".ott"), _bundled("odt")),
    Parser((f"{_ODF}.presentation", f"{_ODF}.presentation-template"), (".odp", ".otp"), _bundled("odt", "read_slides")),
    Parser((f"{_ODF}.spreadsheet", f"{_ODF}.spreadsheet-template"), (".ods", ".ots"), _bundled("ods")),
    Parser(("application/msword",), (".doc", ".dot"), _bundled("old_office")),
    Parser(("application/vnd.ms-excel",), (".xls", ".xlt"), _bundled("old_office")),
    Parser(("application/vnd.ms-powerpoint",), (".ppt", ".pps"), _bundled("old_office")),
    Parser(("application/json",), (".json",), _bundled("json_rows")),
    Parser(("application/jsonl", "application/x-ndjson"), (".jsonl", ".ndjson"), _bundled("json_rows", "read_lines")),
    Parser(
        ("application/yaml", "application/x-yaml", "text/yaml", "text/x-yaml"), (".yaml", ".yml"), _bundled("yaml_rows")
    ),
    Parser(("application/x-ipynb+json",), (".ipynb",), _bundled("notebook")),
    Parser(("message/rfc822",), (".eml",), _bundled("mail")),
    Parser(("application/mbox",), (".mbox",), _bundled("mail", "read_mailbox")),
    Parser(("text/asciidoc", "text/x-asciidoc"), (".adoc", ".asciidoc"), _bundled("asciidoc")),
    Parser(("text/x-org", "text/org"), (".org",), _bundled("org")),
    Parser(("text/x-tex", "application/x-tex", "application/x-latex"), (".tex", ".latex"), _bundled("tex")),
    Parser(("text/calendar",), (".ics", ".ical"), _bundled("content_lines")),
    Parser(("text/vcard", "text/x-vcard"), (".vcf", ".vcard"), _bundled("content_lines")),
    Parser(("application/x-subrip",), (".srt", ".sbv"), _bundled("subtitles")),
    Parser(("text/vtt",), (".vtt",), _bundled("subtitles")),
    Parser(("text/x-ssa",), (".ass", ".ssa"), _bundled("subtitles")),
    Parser(("application/epub+zip",), (".epub",), _bundled("epub")),
    Parser(("application/rtf", "text/rtf"), (".rtf",), _bundled("rich_text")),
    Parser((ARCHIVE, "application/x-zip-compressed"), (".zip",), _bundled("zipped")),
    Parser((PACKAGE,), (), _bundled("zipped", "refuse_package")),
    *(
        Parser((media_type,), suffixes, _bundled("source_code", "read", language))
        for language, media_type, suffixes in SOURCES
    ),
)


@cache
def formats() -> Formats:
    """Return all formats; those of other distributions are loaded at the first call.

    Raises ConfigurationError if one of those is broken or one of its names is taken.
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
