"""HTML that stands in other markup: its visible words, tag by tag, and what of it is hidden.

Struck-out and hidden elements and comments are left out and counted. Each character is read a bounded number of
times; what is never closed is hidden to the end, as in a browser.
"""

import re
from collections.abc import Iterator
from html import unescape
from typing import NamedTuple

from tools.parsers.canonical_text import LeftOut
from tools.parsers.html_visible import declarations, is_concealed, names_of

_UNSEEN = frozenset({"script", "style", "template", "head"})  # hold no words
_STRUCK_OUT = frozenset({"del", "s", "strike"})
VOID = names_of("area base br col embed hr img input link meta source track wbr")
_MAY_STAY_OPEN = names_of("p li dt dd tr td th thead tbody tfoot colgroup")
_BREAKS = names_of(
    "address article blockquote br dd details div dl dt figcaption figure h1 h2 h3 h4 h5 h6 hr li ol p pre section "
    "summary table td th tr ul"
)
_TAG = re.compile(r"""<(/?)([a-zA-Z][^\s/<>]*+)((?:[^<>"']++|"[^"]*+"|'[^']*+')*+)>""")
_ATTRIBUTE = re.compile(r"""([^\s=/>"']++)(?:\s*+=\s*+("[^"]*+"|'[^']*+'|[^\s>"']++))?""")


class _Piece(NamedTuple):
    kind: str  # text, comment, open or close
    name: str
    rest: str


def _pieces(html: str) -> Iterator[_Piece]:
    at = 0
    while at < len(html):
        opened = html.find("<", at)
        if opened != at:
            yield _Piece("text", "", html[at : opened if opened >= 0 else len(html)])
            if opened < 0:
                return
        if html.startswith("<!--", opened):
            end = html.find("-->", opened + 4)
            yield _Piece("comment", "", html[opened + 4 : end if end >= 0 else len(html)])
            at = end + 3 if end >= 0 else len(html)
        elif html.startswith(("<!", "<?"), opened):
            end = html.find(">", opened)
            at = end + 1 if end >= 0 else len(html)
        elif tag := _TAG.match(html, opened):
            yield _Piece("close" if tag[1] else "open", tag[2].lower(), tag[3])
            at = tag.end()
        else:
            yield _Piece("text", "", "<")
            at = opened + 1


def is_whole(html: str) -> bool:
    """Whether HTML has words or pictures, and each element that it opens is closed in it, as far as it must be."""
    opened: dict[str, int] = {}
    has_words = False
    for piece in _pieces(html):
        if piece.kind in ("open", "close") and piece.name not in VOID | _MAY_STAY_OPEN and piece.rest[-1:] != "/":
            opened[piece.name] = opened.get(piece.name, 0) + (1 if piece.kind == "open" else -1)
        has_words = has_words or piece.name == "img" or (piece.kind == "text" and not piece.rest.isspace())
    return has_words and not any(opened.values())


def comments_in(html: str) -> int:
    """Return how many comments HTML holds."""
    return sum(piece.kind == "comment" and bool(piece.rest.strip()) for piece in _pieces(html))


class HtmlWords:
    """A reader of HTML in pieces, of which others may be plain words; it knows whether it is within a hidden part."""

    def __init__(self, left_out: LeftOut) -> None:
        self._left_out = left_out
        self.anchor = ""  # the last id or name; the caller takes it
        self._within = ""  # the element that hides or holds no words
        self._depth = 0
        self._counts = False

    @property
    def hidden(self) -> bool:
        """Whether what comes next is hidden."""
        return bool(self._within)

    def words(self, html: str) -> str:
        """Return the visible words of some HTML; block tags break the line."""
        words: list[str] = []
        for piece in _pieces(html):
            if piece.kind == "text":
                words.append(self.text(unescape(piece.rest)))
            elif piece.kind == "comment":
                self._left_out["passage"] += bool(piece.rest.strip())
            else:
                self._tag(piece)
                if piece.name in _BREAKS and not self._within:
                    words.append("\n")
        return "".join(words)

    def text(self, words: str) -> str:
        """Return words that stand between tags, or nothing if they are hidden."""
        if not self._within:
            return words
        if self._counts and words.strip():
            self._left_out["passage"] += 1
            self._counts = False
        return ""

    def show(self) -> None:
        """End a hidden part that was never closed."""
        self._within, self._depth = "", 0

    def _tag(self, piece: _Piece) -> None:
        name, attributes = piece.name, piece.rest
        closed = name in VOID or attributes.rstrip().endswith("/")
        if self._within:
            if name == self._within and not closed:
                self._depth += 1 if piece.kind == "open" else -1
                if self._depth == 0:
                    self._within = ""
        elif piece.kind == "open":
            given = {
                found[1].lower(): unescape((found[2] or "").strip("\"'")) for found in _ATTRIBUTE.finditer(attributes)
            }
            self.anchor = given.get("id") or (given.get("name") if name == "a" else "") or self.anchor
            if not closed and (name in _UNSEEN or is_hidden(name, given)):
                self._within, self._depth, self._counts = name, 1, name not in _UNSEEN


def is_hidden(name: str, attributes: dict[str, str]) -> bool:
    """Return whether an element is struck out or invisible by its own attributes."""
    style = declarations(attributes.get("style", ""))
    if name in _STRUCK_OUT or "hidden" in attributes or is_concealed(style):
        return True
    return "color" in style and style["color"] in (
        "transparent",
        style.get("background-color", style.get("background")),
    )
