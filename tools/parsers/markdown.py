"""Parser of Markdown into its visible text: markup removed, structure kept as blocks.

GitHub's flavour, definition lists, footnotes, formulas, the signs of Obsidian, and the admonitions of GitHub,
Docusaurus and MkDocs. List items keep their marker, cells of table rows are joined by " | ", code stays verbatim, and
links, images and HTML keep their text; whole elements of HTML are read as those of a page.
A soft line break becomes a space, or nothing between letters of scripts without spaces. Text that is struck out or
hidden is left out, and said to be.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Literal

from markdown_it import MarkdownIt
from markdown_it.rules_core import StateCore
from markdown_it.token import Token
from mdit_py_plugins.admon import admon_plugin
from mdit_py_plugins.container import container_plugin
from mdit_py_plugins.deflist import deflist_plugin
from mdit_py_plugins.footnote import footnote_plugin

from graph.errors import UnreadableDocument
from graph.evidence import BlockKind
from tools.parsers.canonical_text import COLONS, CanonicalText, Parsed, storable, unwrapped
from tools.parsers.front_matter import front_matter
from tools.parsers.html import read_fragment
from tools.parsers.html_formulas import latex_formula
from tools.parsers.html_fragments import HtmlWords, comments_in, is_whole
from tools.parsers.html_visible import names_of
from tools.parsers.linear_formulas import set_apart
from tools.parsers.link_targets import LinkTargets
from tools.parsers.markdown_signs import use_signs
from tools.parsers.mdx import as_markdown, is_mdx
from tools.parsers.plain import decode
from tools.parsers.raised_text import lowered, raised

_UNLIMITED = 1_000_000  # markdown-it silently drops what nests deeper than its limit
_LINK_TAG = re.compile(r"</?a\b", re.IGNORECASE)
_SHIFT = re.compile(r"<(/?)(sup|sub)\b", re.IGNORECASE)
_DROPPED = "\0"  # stands where a passage was left out


def read(data: bytes, flavour: Literal["", "mdx"] = "") -> Parsed:
    """Parse Markdown; front matter becomes the metadata, and its ``title`` the title.

    MDX is read as prose, without imports, exports, tags of components and expressions.
    Raises UnreadableDocument if the text cannot be decoded.
    """
    front, body, warnings = front_matter(storable(decode(data)))
    reader = MarkdownReader()
    mdx = flavour == "mdx" or is_mdx(body)
    if mdx:
        body, reader.text.left_out["passage"] = as_markdown(body)
    reader.read_markdown(body, mdx=mdx)
    title = front.pop("title", None)
    parsed = reader.text.parsed(title=str(title).strip() if title else None, metadata=front)
    return replace(parsed, warnings=warnings)


_DEEP_LINE = re.compile(r"^([ ]{0,3})(?=(?:>[ \t]?|[-*+][ \t]++){50})", re.MULTILINE)
_CONTAINER = re.compile(r"\s*\{?([A-Za-z][\w-]*)\}?\s*(?:\[(.*)\]|\{.*?title=\"([^\"]*)\".*\}|(.*))")
_FENCE_LINE = re.compile(r"^[ ]{0,3}:::", re.MULTILINE)
_MOST_CONTAINERS = 300  # each that is not closed is looked through to its end; beyond, they are read as text


def _parser_for(markup: str, *, mdx: bool) -> MarkdownIt:
    """Return a parser of what a text may hold; what it has no sign of would be looked for at each of its lines."""
    signs = [sign for sign in _RULES if re.search(sign, markup)]
    if len(_FENCE_LINE.findall(markup)) > _MOST_CONTAINERS:
        signs.remove(_FENCE)
    return _parser(mdx, *signs)


_FENCE = ":::"
_RULES: dict[str, Callable[[MarkdownIt], MarkdownIt]] = {
    r"\|": lambda parser: parser.enable("table"),
    r"(?:^|[\s>:])[:~][ \t]": lambda parser: parser.use(deflist_plugin),
    r"\[\^": lambda parser: parser.use(footnote_plugin, inline=False, move_to_end=False),
    r"!!!|\?\?\?": lambda parser: parser.use(admon_plugin),
    _FENCE: lambda parser: parser.use(
        container_plugin, "admonition", validate=lambda params, markup: bool(_CONTAINER.match(params))
    ),
}


@cache
def _parser(mdx: bool, *signs: str) -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"maxNesting": _UNLIMITED}).enable("strikethrough")
    for sign in signs:
        _RULES[sign](parser)
    use_signs(parser)
    parser.core.ruler.at("inline", _read_inline)
    # In MDX indented lines are no code, and what is between tags is Markdown.
    return parser.disable(["code", "html_block"]) if mdx else parser


def _read_inline(state: StateCore) -> None:
    """Read the markup of each block's words; where it is nested too deeply, as a row of brackets is, they are plain."""
    for token in state.tokens:
        if token.type == "inline":
            token.children = []
            try:
                state.md.inline.parse(token.content, state.md, state.env, token.children)
            except RecursionError:
                token.children = list(_plain(token.content))


def _plain(content: str) -> Iterator[Token]:
    for at, line in enumerate(content.split("\n")):
        if at:
            yield Token("softbreak", "br", 0)
        yield Token("text", "", 0, content=line)


_ALERT = re.compile(r"\[!(\w+)\][+-]?[ \t]*([^\n]*)(?:\n|\Z)")
_GIVEN_ANCHOR = re.compile(r"\{:?\s*#([\w.:-]++)[^{}]*+\}\s*\Z")
_BLOCK_ID = re.compile(r"(?:^|\s)(\^[A-Za-z][\w-]{2,})\Z")  # of Obsidian
_ADMONITIONS = names_of(
    "abstract attention bug caution check danger details error example failure faq hint important info note question "
    "quote seealso success summary tip tldr todo warning"
)


@dataclass(slots=True)
class _Around:
    """A block that holds others: what they hang on, and the paragraph that is directly before the next one."""

    hangs_on: tuple[int, ...] = ()
    quoted: bool = False
    lead: int | None = None
    marker: str = ""  # of the item that has no words yet
    label: str = ""  # of the footnote that has no words yet
    terms: tuple[int, ...] = ()
    defined: bool = False
    tight: bool = False
    alert: bool = False  # whether its first line may name an alert


class MarkdownReader:
    """A reader of a document, in one or several pieces, that tracks what is around the next block.

    ``text`` is what it has written.
    """

    def __init__(self) -> None:
        self.text = CanonicalText()
        self._around = [_Around()]
        self._level = 0
        self._lists = 0
        self._place = ""  # dt or title: what the next words are, if they are no paragraph
        self._cells: list[str] | None = None
        self._header: list[int | None] | None = None
        self._in_header = False
        self._left_out = self.text.left_out
        self._html = HtmlWords(self._left_out)
        self._links = LinkTargets(self._left_out)
        self._anchor = ""
        self._last_sign = ""  # of the block before
        self._slugs: Counter[str] = Counter()

    def read_markdown(self, markup: str, *, mdx: bool = False) -> None:
        """Read a piece. Raises UnreadableDocument if it is nested too deeply."""
        parser = _parser_for(markup, mdx=mdx)
        try:
            try:
                tokens = parser.parse(markup)
            except RecursionError:  # a line such as ">>>>>>>>" that goes on and on is no quote in quotes
                tokens = parser.parse(_DEEP_LINE.sub(r"\1\\", markup))
            parts = (part for token in tokens if token.children for part in token.children)
            hrefs = (str(part.attrs.get("href", "")) for part in parts if part.type == "link_open")
            self._links = LinkTargets(self._left_out, hrefs)
            self._read(tokens)
        except RecursionError as error:
            raise UnreadableDocument("The Markdown is nested too deeply.") from error

    def add_code(self, code: str) -> int | None:
        """Write code that stands between two pieces; return its index."""
        lead = self._around[-1].lead
        index = self._put("code", code, lead)
        self._around[-1].lead = lead
        return index

    def _read(self, tokens: Sequence[Token]) -> None:
        for token in tokens:
            handle = getattr(self, f"_{token.type}", None)
            if handle is not None:
                handle(token)

    def _open(self, *, lead: bool = True, quoted: bool = False) -> _Around:
        above = self._around[-1]
        hangs_on = (*above.hangs_on, *([above.lead] if lead and above.lead is not None else []))
        self._around.append(_Around(hangs_on, above.quoted or quoted))
        return self._around[-1]

    def _close(self, token: Token) -> None:
        self._around.pop()
        self._around[-1].lead = None

    def _heading_open(self, token: Token) -> None:
        self._level = int(token.tag[1])

    def _heading_close(self, token: Token) -> None:
        self._level = 0

    def _bullet_list_open(self, token: Token) -> None:
        self._open().tight = self._lists > 0
        self._lists += 1

    def _bullet_list_close(self, token: Token) -> None:
        self._lists -= 1
        self._close(token)

    _ordered_list_open = _bullet_list_open
    _ordered_list_close = _bullet_list_close

    def _list_item_open(self, token: Token) -> None:
        tight = self._around[-1].tight
        item = self._open(lead=False)
        item.marker = f"{token.info}{token.markup} " if token.info else "- "
        item.tight = tight

    def _list_item_close(self, token: Token) -> None:
        self._close(token)
        self._around[-1].tight = True

    def _blockquote_open(self, token: Token) -> None:
        self._open(lead=self._last_sign in COLONS, quoted=True).alert = True

    _blockquote_close = _close

    def _dl_open(self, token: Token) -> None:
        self._open(lead=self._last_sign in COLONS)

    _dl_close = _close

    def _dt_open(self, token: Token) -> None:
        terms = self._around[-1]
        if terms.defined:
            terms.terms, terms.defined = (), False
        self._place = "dt"

    def _leave_place(self, token: Token) -> None:
        self._place = ""

    _dt_close = _leave_place

    def _dd_open(self, token: Token) -> None:
        above = self._around[-1]
        above.defined = True
        inside = self._open(lead=False)
        inside.hangs_on += above.terms
        inside.tight = True

    _dd_close = _close

    def _footnote_reference_open(self, token: Token) -> None:
        self._open(lead=False).label = str(token.meta.get("label", ""))

    _footnote_reference_close = _close

    def _container_admonition_open(self, token: Token) -> None:
        found = _CONTAINER.match(token.info)
        name = found[1] if found else ""
        title = next((title for title in found.groups()[1:] if title), "") if found else ""
        self._open(lead=False)
        if title or name.lower() in _ADMONITIONS:
            self._label(self._words_of(title) or name.capitalize())

    _container_admonition_close = _close

    def _admonition_open(self, token: Token) -> None:
        self._open(lead=False)

    _admonition_close = _close

    def _admonition_title_open(self, token: Token) -> None:
        self._place = "title"

    _admonition_title_close = _leave_place

    def _label(self, words: str) -> None:
        """Write a label that what else is around hangs on."""
        inside = self._around[-1]
        label = self._put("label", words.strip())
        if label is not None:
            inside.hangs_on += (label,)
            inside.tight = True

    def _table_open(self, token: Token) -> None:
        self._open()
        self._header = []

    def _table_close(self, token: Token) -> None:
        self._header = None
        self._close(token)

    def _thead_open(self, token: Token) -> None:
        self._in_header = True

    def _thead_close(self, token: Token) -> None:
        self._in_header = False

    def _tr_open(self, token: Token) -> None:
        self._cells = []

    def _tr_close(self, token: Token) -> None:
        cells, self._cells = self._cells or [], None
        header = self._header if self._header is not None else []
        if any(cells):
            index = self._put("table_row", " | ".join(cells), *([] if self._in_header else header))
            self._around[-1].tight = True
            if self._in_header:
                header.append(index)

    def _inline(self, token: Token) -> None:
        words = self._inline_words(token.children or [])
        if "^" in words and (given := _BLOCK_ID.search(words)):
            words, self._html.anchor = words[: given.start()], given[1]
        inside = self._around[-1]
        if self._cells is not None:
            self._cells.append(" ".join(words.split()))
        elif self._level:
            self._heading(words)
        elif self._place == "title":
            self._label(words)
        elif self._place == "dt":
            term = self._put("term", words)
            inside.terms += (term,) if term is not None else ()
            inside.tight = True
        elif inside.alert and (alert := _ALERT.match(token.content)):
            inside.alert = inside.quoted = False
            inside.hangs_on = self._around[-2].hangs_on
            self._label(self._words_of(alert[2]) or alert[1].capitalize())
            rest = _after_first_line(token.children or [])
            self._paragraph(self._inline_words(rest))
        else:
            inside.alert = False
            self._paragraph(words)

    def _paragraph(self, words: str) -> None:
        inside = self._around[-1]
        if not words.strip():
            return
        if inside.marker:
            lead, inside.marker = "  " * (self._lists - 1) + inside.marker, ""
            index = self._put("list_item", lead + words.replace("\n", "\n" + " " * len(lead)))
        elif inside.label:
            index, inside.label = self._put("footnote", f"[{inside.label}] {words}"), ""
        else:
            inside.lead = self._put("quote" if inside.quoted else "paragraph", words)
            return
        if index is not None:
            inside.hangs_on += (index,)
            inside.tight = True

    def _heading(self, words: str) -> None:
        given = _GIVEN_ANCHOR.search(words)
        words = words[: given.start()].rstrip() if given else words
        slug = _slug(words)
        count = self._slugs[slug]
        self._slugs[slug] += 1
        self._anchor = given[1] if given else self._html.anchor or (f"{slug}-{count}" if count else slug)
        self._html.anchor = ""
        self.text.add_heading(self._level, words, anchor=self._anchor)
        self._around[-1].lead = None

    def _formula(self, token: Token) -> None:
        self._paragraph(latex_formula(token.content, self.text.formula))

    def _comment(self, token: Token) -> None:
        self._left_out["passage"] += 1

    def _fence(self, token: Token) -> None:
        if token.info.strip() == "math" and not self._html.hidden:
            self._formula(token)
            return
        inside = self._around[-1]
        if self._html.text(token.content):
            inside.marker = ""
            lead = inside.lead
            self._put("code", token.content, lead)
            inside.lead = lead  # further code may be introduced by the same sentence

    _code_block = _fence

    def _html_block(self, token: Token) -> None:
        html = token.content
        read = None if self._html.hidden or not is_whole(html) else read_fragment(html, self.text.formula, self._links)
        if read is None:
            self._paragraph(self._lines(self._html.words(html)))
            self._around[-1].lead = None
            return
        drafts, left_out = read
        self._left_out["passage"] += left_out + comments_in(html)
        written: list[int | None] = []
        for draft in drafts:
            self._html.anchor = draft.anchor or self._html.anchor
            if draft.kind == "heading" and not self._lists:
                self._level = draft.level
                self._heading(draft.text)
                self._level = 0
                written.append(None)
            elif draft.kind == "paragraph" and not draft.hangs_on:
                self._paragraph(draft.text)
                written.append(None)
            else:
                self._around[-1].tight |= draft.tight
                written.append(self._put(draft.kind, draft.text, *(written[above] for above in draft.hangs_on)))
        self._around[-1].lead = None

    def _put(self, kind: BlockKind, words: str, *hangs_on: int | None) -> int | None:
        inside = self._around[-1]
        if self._html.anchor:
            self._anchor, self._html.anchor = self._html.anchor, ""
        tight = inside.tight and kind != "code"
        index = self.text.add(kind, words, tight=tight, hangs_on=(*inside.hangs_on, *hangs_on), anchor=self._anchor)
        if index is not None:
            inside.tight, inside.lead = False, None
            self._last_sign = words.rstrip()[-1:]
        return index

    def _words_of(self, markup: str) -> str:
        """Return the words of a title, which is no token of its own."""
        tokens = _parser(False).parseInline(markup)
        return self._inline_words(tokens[0].children or []).strip() if tokens else ""

    def _inline_words(self, tokens: Sequence[Token]) -> str:
        was_hidden = self._html.hidden
        if len(tokens) == 1 and tokens[0].type == "text" and not was_hidden:
            return self._lines(tokens[0].content)
        line = _Line()
        struck = 0
        for at, token in enumerate(tokens):
            if token.type in ("text", "code_inline") and not struck:
                line.words.append(self._html.text(token.content))
            elif token.type in ("s_open", "s_close"):
                struck += 1 if token.type == "s_open" else -1
                self._left_out["passage"] += token.type == "s_open" and struck == 1
                line.words.append(_DROPPED)
            elif token.type == "html_inline":
                shown = self._html.words(token.content)
                if not line.cross_tag(token.content, _text_of(tokens, at + 1)):
                    line.words.append(shown if shown and not struck else _DROPPED)
            elif struck:
                continue
            elif token.type in ("link_open", "link_close"):
                line.cross_link(str(token.attrGet("href") or ""), None if self._level else self._links)
            else:
                line.words.append(self._html.text(self._one(token, line.words, tokens, at)))
                line.linked = len(line.words) if token.type == "image" else line.linked
        if self._html.hidden and not was_hidden:
            self._html.show()
        return self._lines("".join(line.words))

    def _one(self, token: Token, words: Sequence[str], tokens: Sequence[Token], at: int) -> str:
        if token.type == "softbreak":
            return _soft_break(words, tokens, at)
        if token.type == "text_special":
            return token.content
        if token.type == "image":
            return self._inline_words(token.children or [])
        if token.type == "hardbreak":
            return "\n"
        after = _text_of(tokens, at + 1)
        if token.type == "footnote_ref":
            return raised(_end(words), str(token.meta.get("label", "")), after=after, is_note=True)
        if token.type == "formula":
            return set_apart(_end(words), latex_formula(token.content, self.text.formula), after)
        if token.type == "comment":
            self._left_out["passage"] += 1
            return _DROPPED
        if token.type == "embedded":
            self._left_out["embedded file"] += not token.content
            return token.content or _DROPPED
        return ""

    @staticmethod
    def _lines(words: str) -> str:
        """Close the gaps where something was left out, and trim the lines."""
        if _DROPPED in words:
            words = re.sub(rf" {_DROPPED}[ {_DROPPED}]*+(?=[.,;:!?)]|$)", "", words)
            words = re.sub(rf" {_DROPPED}[ {_DROPPED}]*", " ", words).replace(_DROPPED, "")
        if "\n" not in words:
            return words.strip()
        lines = (line.strip() for line in words.split("\n"))
        return "\n".join(line for line in lines if line)


def _text_of(tokens: Sequence[Token], at: int) -> str:
    return tokens[at].content[:20] if at < len(tokens) and tokens[at].type == "text" else ""


def _end(words: Sequence[str]) -> str:
    return "".join(words[-8:]).replace(_DROPPED, "")[-40:]


@dataclass(slots=True)
class _Line:
    """The words of a block as they are read, with where its open link and raised or lowered text begin."""

    words: list[str] = field(default_factory=list)
    shifted: int | None = None
    linked: int = 0
    href: str = ""
    is_note: bool = False

    def cross_link(self, href: str, targets: LinkTargets | None) -> None:
        if not href and targets is not None:
            self.words.append(targets.behind("".join(self.words[self.linked :]), self.href))
        self.linked, self.href = len(self.words), href
        self.is_note = self.is_note or "#" in href

    def cross_tag(self, tag: str, after: str) -> bool:
        """Return whether a tag begins or ends raised or lowered text, which is then set apart from what is before."""
        if _LINK_TAG.match(tag):
            self.cross_link(tag if "#" in tag else "", None)
        shift = _SHIFT.match(tag)
        if shift is None:
            return False
        if shift[1] and self.shifted is not None:
            mark, before = "".join(self.words[self.shifted :]), _end(self.words[: self.shifted])
            raises = shift[2].lower() == "sup"
            said = (
                raised(before, mark, after=after, is_note=self.is_note)
                if raises
                else lowered(before, mark, after=after)
            )
            self.words[self.shifted :] = [said]
        self.shifted = None if shift[1] else len(self.words)
        self.is_note = "#" in self.href
        return True


def _soft_break(words: Sequence[str], tokens: Sequence[Token], at: int) -> str:
    before = words[-1][-1:] if words else ""
    after = tokens[at + 1].content[:1] if at + 1 < len(tokens) else ""
    if before.isascii() and not before.isspace() and not after.isspace():
        return " "
    return unwrapped(f"{before}\n{after}")[len(before) :].removesuffix(after)


def _after_first_line(tokens: Sequence[Token]) -> Sequence[Token]:
    breaks = (at for at, token in enumerate(tokens) if token.type in ("softbreak", "hardbreak"))
    return tokens[next(breaks, len(tokens)) + 1 :]


def _slug(words: str) -> str:
    """Return the anchor that GitHub gives to a heading."""
    return re.sub(r"[^\w\- ]", "", words.strip().lower()).replace(" ", "-")
