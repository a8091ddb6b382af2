"""Parser of Markdown into its visible text: markup removed, structure kept as blocks.

List items keep their marker, cells of table rows are joined by " | ", code stays verbatim, and links, images and HTML
fragments keep their text. A soft line break becomes a space, or nothing between letters of scripts without spaces.
"""

import re
from collections.abc import Sequence
from datetime import date
from html.parser import HTMLParser
from typing import Any

import yaml
from frontmatter.default_handlers import YAMLHandler
from markdown_it import MarkdownIt
from markdown_it.token import Token

from graph.errors import UnreadableDocument
from graph.evidence import BlockKind
from tools.parsers.canonical_text import CanonicalText, Parsed, storable, unwrapped
from tools.parsers.plain import decode

_HIDDEN = frozenset({"script", "style", "template", "head"})
_BREAKS = frozenset({"br", "p", "div", "li", "tr", "summary", "details", "h1", "h2", "h3", "h4", "h5", "h6", "hr"})


class _Words(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.words: list[str] = []
        self._hidden = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._hidden += tag in _HIDDEN
        if tag in _BREAKS:
            self.words.append("\n")

    def handle_endtag(self, tag: str) -> None:
        self._hidden -= tag in _HIDDEN and self._hidden > 0
        if tag in _BREAKS:
            self.words.append("\n")

    def handle_data(self, data: str) -> None:
        if not self._hidden:
            self.words.append(data)


def words_of(html: str) -> str:
    """Return the text of an HTML fragment, without comments, scripts and styles; block tags break the line."""
    parser = _Words()
    parser.feed(html)
    parser.close()
    lines = (" ".join(line.split()) for line in "".join(parser.words).splitlines())
    return "\n".join(line for line in lines if line)


_MOST_FRONT_MATTER = 10_000
_UNLIMITED = 1_000_000  # markdown-it silently drops what nests deeper than its limit


def read(data: bytes) -> Parsed:
    """Parse Markdown; front matter becomes the metadata, and its ``title`` the title.

    Raises UnreadableDocument if the text cannot be decoded or its front matter is not YAML.
    """
    front, body = _front_matter(storable(decode(data)))
    parser = MarkdownIt("commonmark", {"maxNesting": _UNLIMITED}).enable(["table", "strikethrough"])
    reader = _Reader()
    try:
        reader.read(parser.parse(body))
    except RecursionError as error:
        raise UnreadableDocument("The Markdown is nested too deeply.") from error
    title = front.pop("title", None)
    return reader.text.parsed(title=str(title).strip() if title else None, metadata=front)


class _Reader:
    """A reader of a document's tokens that tracks the current list, item, quote and table row."""

    def __init__(self) -> None:
        self.text = CanonicalText()
        self._level = 0
        self._lists = 0
        self._quotes = 0
        self._marker: str | None = None
        self._cells: list[str] | None = None
        self._tight = False

    def read(self, tokens: Sequence[Token]) -> None:
        for token in tokens:
            handle = getattr(self, f"_{token.type}", None)
            if handle is not None:
                handle(token)

    def _heading_open(self, token: Token) -> None:
        self._level = int(token.tag[1])

    def _heading_close(self, token: Token) -> None:
        self._level = 0
        self._tight = False

    def _bullet_list_open(self, token: Token) -> None:
        self._tight = self._lists > 0
        self._lists += 1

    def _bullet_list_close(self, token: Token) -> None:
        self._lists -= 1

    _ordered_list_open = _bullet_list_open
    _ordered_list_close = _bullet_list_close

    def _list_item_open(self, token: Token) -> None:
        self._marker = f"{token.info}{token.markup} " if token.info else "- "

    def _list_item_close(self, token: Token) -> None:
        self._marker = None
        self._tight = True

    def _blockquote_open(self, token: Token) -> None:
        self._quotes += 1

    def _blockquote_close(self, token: Token) -> None:
        self._quotes -= 1

    def _table_open(self, token: Token) -> None:
        self._tight = False

    def _tr_open(self, token: Token) -> None:
        self._cells = []

    def _tr_close(self, token: Token) -> None:
        cells, self._cells = self._cells or [], None
        if any(cells):
            self._put("table_row", " | ".join(cells))
            self._tight = True

    def _inline(self, token: Token) -> None:
        words = _inline_words(token.children or [])
        if self._cells is not None:
            self._cells.append(" ".join(words.split()))
        elif self._level:
            self.text.add_heading(self._level, words)
        elif self._lists:
            indent = "  " * (self._lists - 1)
            lead = indent + (self._marker or "")
            self._put("list_item", lead + words.replace("\n", "\n" + " " * len(lead)))
        else:
            self._put("quote" if self._quotes else "paragraph", words)

    def _fence(self, token: Token) -> None:
        self._put("code", token.content)

    _code_block = _fence

    def _html_block(self, token: Token) -> None:
        self._put("paragraph", words_of(token.content))

    def _put(self, kind: BlockKind, words: str) -> None:
        self.text.add(kind, words, tight=self._tight and kind in ("list_item", "table_row"))
        self._marker = None
        self._tight = kind == "list_item" and self._lists > 0


def _inline_words(tokens: Sequence[Token]) -> str:
    words: list[str] = []
    for position, token in enumerate(tokens):
        if token.type in ("text", "code_inline", "text_special"):
            words.append(token.content)
        elif token.type == "image":
            words.append(_inline_words(token.children or []))
        elif token.type == "hardbreak" or (token.type == "html_inline" and token.content.lower().startswith("<br")):
            words.append("\n")
        elif token.type == "softbreak":
            before = words[-1][-1:] if words else ""
            after = tokens[position + 1].content[:1] if position + 1 < len(tokens) else ""
            words.append(unwrapped(f"{before}\n{after}")[len(before) :].removesuffix(after))
    return re.sub(r"[ \t]*\n[ \t]*", "\n", "".join(words))


def _front_matter(text: str) -> tuple[dict[str, Any], str]:
    handler = YAMLHandler()
    if not handler.detect(text):
        return {}, text
    try:
        raw, body = handler.split(text)
    except ValueError:  # never closed: the text begins with a thematic break
        return {}, text
    try:
        front = handler.load(raw)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        place = f", line {mark.line + 1}" if mark else ""
        raise UnreadableDocument(f"The front matter is not valid YAML{place}.") from error
    if not isinstance(front, dict):
        return {}, text
    return _Plain().mapping(front), body


class _Plain:
    """A converter of YAML to JSON values with a size limit: anchors can expand a few lines without bound."""

    def __init__(self) -> None:
        self._left = _MOST_FRONT_MATTER

    def mapping(self, value: dict[Any, Any]) -> dict[str, Any]:
        return {str(key): self.value(inner) for key, inner in value.items()}

    def value(self, value: Any) -> Any:
        self._left -= 1
        if self._left < 0:
            raise UnreadableDocument("The front matter is too large.")
        if isinstance(value, dict):
            return self.mapping(value)
        if isinstance(value, (list, tuple, set)):
            return [self.value(inner) for inner in value]
        if isinstance(value, date):
            return value.isoformat()
        return value if value is None or isinstance(value, (bool, int, float, str)) else str(value)
