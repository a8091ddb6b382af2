"""Parser of source code and settings: the file's own text, in groups of lines between blank lines.

The line that names a function, class or table is a term, and what follows in it hangs on that. Comments on lines of
their own and docstrings are paragraphs, all else is code. Definitions are known by their first line alone, as no
language is parsed; what is not known stays code.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from graph.evidence import BlockKind
from tools.parsers.canonical_text import FILE_LINE, Block, Parsed, composed
from tools.parsers.plain import decode

_LONGEST = 400  # characters of a line that may name something
_NO_NAMES = r"(?!(?:if|for|while|switch|catch|return|new|else|typedef)\b)"
_NAME = r"([A-Za-z_$][\w$]{0,99})"
_WORDS = (
    r"(?:(?:public|private|protected|internal|static|final|abstract|virtual|override|async|export|default|open|data"
    r"|sealed|declare|pub|pub\(crate\)|unsafe|const|extern|inline|partial|readonly) )*"
)
_DEFINITIONS = {
    "python": (rf"(?:async )?(?:def|class) {_NAME}",),
    "javascript": (
        rf"{_WORDS}(?:function\*?|class|interface|enum|namespace) {_NAME}",
        rf"{_WORDS}(?:const|let|var|type) {_NAME}\b[^=]{{0,100}}= ?"
        r"(?:async )?(?:function|\([^()]{0,200}\)|[\w$]{1,50} =>|class\b)",
        rf"{_NO_NAMES}{_WORDS}{_NAME}\([^()]{{0,200}}\)[^;]{{0,80}}\{{$",
    ),
    "java": (
        rf"{_WORDS}(?:class|interface|enum|record|struct|object|trait|protocol|namespace|extension) {_NAME}",
        rf"{_WORDS}(?:fun|func|def) {_NAME}",
        rf"{_NO_NAMES}{_WORDS}[\w<>\[\],.? ]{{1,80}} {_NAME}\([^;]{{0,200}}$",
    ),
    "c": (
        rf"{_WORDS}(?:typedef )?(?:class|struct|enum|union|namespace) (?:class )?{_NAME}(?=[^;]{{0,200}}$)",
        rf"#define {_NAME}\(",
        rf"{_NO_NAMES}[A-Za-z_][\w:<>,*& ]{{0,120}}[\s*&:]{_NAME}\([^;]{{0,200}}$",
    ),
    "go": (rf"func (?:\([^()]{{0,100}}\) )?{_NAME}", rf"type {_NAME}"),
    "rust": (
        rf"{_WORDS}(?:fn|struct|enum|trait|mod|union|type) {_NAME}",
        r"impl(?:<[^<>]{0,80}>)? ([\w:<>, ]{1,100})",
        r"macro_rules! (\w{1,100})",
    ),
    "ruby": (r"(?:def|class|module) ([\w.?!:]{1,100})",),
    "php": (rf"{_WORDS}(?:function &?|class |interface |trait |enum |namespace ){_NAME}",),
    "shell": (r"(?:function )?([\w:-]{1,100}) ?\(\)", r"function ([\w:-]{1,100})"),
    "sql": (
        r"(?i:create (?:or replace )?(?:temp(?:orary)? )?(?:unique )?(?:materialized )?"
        r"(?:table|view|function|procedure|index|trigger|type|schema) (?:if not exists )?)([\w.\"`\[\]]{1,100})",
    ),
    "sections": (r"\[\[?([^\[\]]{1,200})\]",),
}
_PATTERNS = {language: re.compile("|".join(patterns)) for language, patterns in _DEFINITIONS.items()}
_LINE_COMMENTS = {
    "python": ("#",), "ruby": ("#",), "shell": ("#",), "sections": ("#", ";"), "sql": ("--",), "php": ("//", "#"),
    "rust": ("//",), "go": ("//",), "c": ("//",), "java": ("//",), "javascript": ("//",),
}  # fmt: skip
_BLOCK_COMMENTS = {
    **dict.fromkeys(("c", "java", "javascript", "go", "rust", "php", "sql"), (("/*", "*/"),)),
    "python": (('"""', '"""'), ("'''", "'''"), ('r"""', '"""')),
    "": (("<!--", "-->"), ("/*", "*/")),
}
_ACCESS = frozenset({"public:", "private:", "protected:"})
_MOST_AROUND = 6


def read(data: bytes, language: str = "") -> Parsed:
    """Parse source code of a language. Raises UnreadableDocument if it is binary or cannot be decoded."""
    text = composed(decode(data))
    return Parsed(text, tuple(_Reader(text, language).blocks()))


@dataclass(slots=True)
class _Run:
    kind: BlockKind
    start: int
    end: int


@dataclass(slots=True)
class _Definition:
    """A definition that is open: the indent of its first line, its name, and its block."""

    indent: int
    name: str
    index: int


class _Reader:
    """A reader of lines; a definition holds what is indented more than it is, or all up to the next one."""

    def __init__(self, text: str, language: str) -> None:
        self._text = text
        self._pattern = _PATTERNS.get(language)
        self._comments = _LINE_COMMENTS.get(language, ())
        self._longer = _BLOCK_COMMENTS.get(language, ())
        self._flat = language in ("sections", "sql")
        self._quotes = ('"""', "'''") if language == "python" else ()
        self._open: list[_Definition] = []
        self._closes = ""  # what ends the comment or text that is open, and its kind
        self._inside: BlockKind = "code"
        self._count = 0

    def blocks(self) -> Iterator[Block]:
        run: _Run | None = None
        for line in FILE_LINE.finditer(self._text):
            words = line[0].strip()
            if not words:
                if run is not None:
                    yield self._block(run)
                run = None
                continue
            indent = len(line[0]) - len(line[0].lstrip())
            kind, name = self._kind_of(words)
            kept = self._kept(kind, indent, words)
            if run is not None and (run.kind != kind or kind == "term" or kept < len(self._open)):
                apart = self._flat and kind == "term" and run.kind == "paragraph"  # a comment on what it stands above
                yield self._block(run, apart=apart)
                run = None
            del self._open[kept:]
            end = line.start() + indent + len(words)
            if run is not None:
                run.end = end
            else:
                run = _Run(kind, line.start() + (0 if kind == "code" else indent), end)
            if kind == "term":
                self._open.append(_Definition(indent, name, self._count))
                yield self._block(run)
                run = None
        if run is not None:
            yield self._block(run)

    def _block(self, run: _Run, *, apart: bool = False) -> Block:
        around = [] if apart else self._open[-_MOST_AROUND:]
        above = tuple(each.index for each in around if each.index != self._count)
        self._count += 1
        return Block(run.start, run.end, run.kind, " > ".join(each.name for each in around), hangs_on=above)

    def _kept(self, kind: BlockKind, indent: int, words: str) -> int:
        """Return how many of the open definitions a line is still in."""
        if self._flat:
            return 0 if kind == "term" else len(self._open)
        kept = len(self._open)
        if self._closes or words[0] in "{})]" or words in _ACCESS:
            return kept
        while kept and self._open[kept - 1].indent >= indent:
            kept -= 1
        return kept

    def _kind_of(self, words: str) -> tuple[BlockKind, str]:
        if self._closes:
            if self._closes in words:
                self._closes = ""
            return self._inside, ""
        for opens, ends in self._longer:
            if words.startswith(opens):
                self._closes = "" if ends in words[len(opens) :] else ends
                self._inside = "paragraph"
                return "paragraph", ""
        if self._comments and words.startswith(self._comments):
            return "paragraph", ""
        odd = next((quotes for quotes in self._quotes if words.count(quotes) % 2), "")
        if odd:
            self._closes, self._inside = odd, "code"
            return "code", ""
        found = self._pattern.match(words) if self._pattern and len(words) <= _LONGEST else None
        return ("term", next(filter(None, found.groups()), "")) if found else ("code", "")
