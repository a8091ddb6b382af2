"""The Markdown of an answer as a tree whose texts are split at marks and highlights, for formats that are no Markdown.

HTML, character references and definitions of links are left as they are written, and of an image only its words are
left: what a document or a model wrote becomes no element but those named here.
"""

import re
from collections.abc import Iterator

from markdown_it import MarkdownIt
from markdown_it.tree import SyntaxTreeNode

from text.mark_places import follows_fence
from tools.exports.exported import ExportedSection, Mark, Span

# Brackets that stand for marks while Markdown is read: it takes them for punctuation, as it would "[1]".
_BRACKETS = (("⧼", "⧽"), ("⦑", "⦒"), ("⧘", "⧙"), ("⧚", "⧛"))
_SAFE_LINK = re.compile(r"(?:https?://|mailto:)", re.IGNORECASE)
_UNFIT = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]"
)  # of which XML and HTML have no way to speak

_BEGINS, _ENDS = "b", "e"  # of a highlight, between brackets as the number of a mark is
# What begins a line and is no text, so that a highlight begins behind it.
_LINE_BEGIN = re.compile(r"[ \t]*(?:(?:[-*+>|]|#{1,6}|\d{1,9}[.)])[ \t]+)*")


class Highlighted(str):
    """A piece of text that is highlighted."""


def _reader() -> MarkdownIt:
    reader = MarkdownIt("commonmark", {"html": False, "maxNesting": 40})
    reader.enable(["table", "strikethrough"])
    reader.disable(["code", "lheading", "html_block", "html_inline", "reference", "entity"])
    return reader


_READER = _reader()


def fit(text: str) -> str:
    """Return a text without what no file can hold."""
    return _UNFIT.sub("\ufffd", text.replace("\f", " "))


class MarkedTree:
    """The tree of a section, and its texts as plain strings and marks; they are to be read in order, each once."""

    def __init__(self, section: ExportedSection) -> None:
        text = fit(section.text)
        pair = next((pair for pair in _BRACKETS if not any(sign in text for sign in pair)), None)
        self._marks: list[Mark] = list(section.marks)
        self._split: re.Pattern[str] | None = None
        self._is_highlighted = False
        self.behind: list[Mark] = []  # marks that have no place in the text
        if pair is None:
            self.behind, self._marks = self._marks, []
        else:
            self._split = re.compile(f"{pair[0]}(\\d+|{_BEGINS}|{_ENDS}){pair[1]}")
            text = self._with_signs(text, *pair, section.highlight)
        self.root = SyntaxTreeNode(_READER.parse(text))

    def _with_signs(self, text: str, opening: str, closing: str, highlight: Span | None) -> str:
        signs = [(mark.at, 2, str(number)) for number, mark in enumerate(self._marks)]
        if highlight is not None:
            start, end = highlight
            line = _LINE_BEGIN.match(text, text.rfind("\n", 0, start) + 1)
            start = max(start, line.end() if line else start)
            signs += [(start, 0, _BEGINS), (end, 1, _ENDS)] if start < end else []
        written: list[str] = []
        done = 0
        for at, _, name in sorted(signs):
            sign = f"{opening}{name}{closing}"
            written += [text[done:at], f"\n{sign}\n" if name.isdigit() and follows_fence(text, at) else sign]
            done = at
        return "".join([*written, text[done:]])

    def pieces(self, content: str) -> Iterator[str | Mark]:
        """Yield the parts of a text of the tree: strings, of which some are highlighted, and marks where they stand."""
        if self._split is None:
            yield content
            return
        for at, part in enumerate(self._split.split(content)):
            if at % 2 == 0:
                if part:
                    yield Highlighted(part) if self._is_highlighted else part
            elif part.isdigit():
                yield self._marks[int(part)]
            else:
                self._is_highlighted = part == _BEGINS


def words_only(text: str) -> str:
    """Return what a piece of an answer says without the signs of Markdown."""
    found: list[str] = []
    for node in SyntaxTreeNode(_READER.parse(fit(text))).walk():
        if node.type in ("text", "code_inline", "fence"):
            found.append(node.content)
        elif node.type in ("softbreak", "hardbreak", "td", "paragraph"):
            found.append(" ")
    return " ".join("".join(found).split()) or text


def safe_target(node: SyntaxTreeNode) -> str:
    """Return where a link of the tree leads, "" for what is no address of the web or of mail."""
    target = str(node.attrs.get("href", ""))
    return target if _SAFE_LINK.match(target) else ""


def is_safe(url: str) -> bool:
    """Whether a URL is an address of the web or of mail."""
    return _SAFE_LINK.match(url) is not None
