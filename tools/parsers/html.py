"""Parser of HTML: the main part of a page as blocks that name what they hang on.

Manuals by Sphinx, DocBook, texinfo, AsciiDoc or Docusaurus and plain pages are read from their own elements. What leads
elsewhere is left out: navigation, banners, footers, and links alone before or after the text. Tables of contents and
indexes are blocks of the kind ``contents``.
"""

import re
from dataclasses import replace
from typing import Any

from lxml import etree

from graph.errors import UnreadableDocument
from tools.parsers.canonical_text import CanonicalText, Parsed, storable, without_marks
from tools.parsers.html_blocks import Reader
from tools.parsers.html_formulas import Mark, formulas_of
from tools.parsers.html_frames import Draft
from tools.parsers.html_visible import Visibility
from tools.parsers.link_targets import LinkTargets
from tools.parsers.plain import decode

_CHARSET = re.compile(rb"""<meta[^>]{1,200}?charset\s*=\s*["']?\s*([\w:.-]{1,40})""", re.IGNORECASE)
_MOST_ATTRIBUTES = 1000
_LARGE = 100_000  # below, even a page of attributes alone is parsed within a tenth of a second
# A comment, the text of a script, or a start tag with its attributes, as the HTML standard cuts them.
_ATTRIBUTE = r"""[\s/]*+[^\s/>=][^\s/>=]*+(?:\s*+=\s*+(?:"[^"]*+"|'[^']*+'|[^\s>"']?[^\s>]*+))?+"""
_TAG = re.compile(
    rf"<!--.*?(?:-->|\Z)|<(script|style|textarea|title|xmp)\b.*?(?:</\1|\Z)|<[a-z]((?:{_ATTRIBUTE})*+)",
    re.IGNORECASE | re.DOTALL,
)
_NO_FRAMES = re.compile(r"</?(?:noframes|frameset|frame)\b[^<>]*>", re.IGNORECASE)
_EACH_ATTRIBUTE = re.compile(_ATTRIBUTE)
_SITE_WORDS = re.compile(r"\b(?:documentation|docs?|wiki|manual|handbook|help|guide|reference|blog)\b", re.IGNORECASE)


def read(data: bytes) -> Parsed:
    """Parse the main text of a page; the charset is that of the byte order mark, of its head, or UTF-8.

    Raises UnreadableDocument if it cannot be decoded, has no elements, nests deeper than 2,000 elements, or has a
    thousand attributes on one.
    """
    text = CanonicalText()
    drafts, title = read_drafts(data, text)
    write_drafts(text, drafts)
    return text.parsed(title=title or None)


def read_drafts(data: bytes, text: CanonicalText, *, in_book: bool = False) -> tuple[list[Draft], str]:
    """Return the blocks of a page before they are written to a text, and its title.

    A page ``in_book`` has no frame of a site around its text. Raises as ``read``.
    """
    html = _decoded(data)
    page = _tree(html)
    main = _main_of(page)
    links = LinkTargets(text.left_out, (link.get("href") or "" for link in page.iter("a")), _address(page))
    visibility = Visibility(page, in_main=in_book or main.tag != "body")
    reader = Reader(visibility, text.formula, links, formulas_of(page, html))
    reader.read(main)
    named = " ".join("".join(next((title.itertext() for title in page.iter("title")), iter(()))).split())
    heads = [draft.text for draft in reader.drafts if draft.kind == "heading" and draft.level == 1]
    title = " ".join(without_marks(heads[0]).split()) if len(heads) == 1 else _page_title(page, named)
    drafts = _without_outer_links(_indexed(reader.drafts))
    text.left_out["passage"] += reader.left_out
    return drafts, title


def read_fragment(html: str, mark: Mark, links: LinkTargets) -> tuple[list[Draft], int] | None:
    """Return the blocks of elements that stand in other markup, and how many passages were left out, if it is HTML."""
    try:
        page = _tree(html)
    except UnreadableDocument:
        return None
    reader = Reader(Visibility(page, in_main=True), mark, links, formulas_of(page, html))
    reader.read(page)
    return reader.drafts, reader.left_out


def read_tree(data: bytes) -> Any:
    """Return the root element of a page. Raises UnreadableDocument as ``read`` does."""
    return _tree(_decoded(data))


def _decoded(data: bytes) -> str:
    declared = _CHARSET.search(data[:2048])
    return storable(decode(data, declared=declared[1].decode("ascii") if declared else None))


def _tree(html: str) -> Any:
    if len(html) > _LARGE:  # libxml2 takes quadratic time over the attributes of one element
        for tag in _TAG.finditer(html):
            attributes = tag[2] or ""
            if len(attributes) > 2 * _MOST_ATTRIBUTES and len(_EACH_ATTRIBUTE.findall(attributes)) > _MOST_ATTRIBUTES:
                raise UnreadableDocument("An element of the HTML has more than a thousand attributes.")
    html = re.sub(r"\A\s*<\?xml[^>]*\?>", "", html)
    if "noframes" in html or "NOFRAMES" in html:  # its words are what a page of frames says without them
        html = _NO_FRAMES.sub("", html)
    parser = etree.HTMLParser(
        encoding="utf-8", remove_comments=True, remove_pis=True, collect_ids=False, huge_tree=True
    )
    try:
        tree = etree.fromstring(html.encode(), parser=parser)
    except etree.XMLSyntaxError:
        tree = None
    if tree is None:
        raise UnreadableDocument("The HTML has no readable elements.")
    if any(fault.type_name == "ERR_RESOURCE_LIMIT" for fault in parser.error_log):
        raise UnreadableDocument("The HTML is nested too deeply.")  # the rest of it would be missing
    return tree


def _main_of(page: Any) -> Any:
    body = page.find(".//body")
    body = page if body is None else body
    for path in ("//main | //*[@role='main']", "//article"):
        found = page.xpath(path)
        if len(found) == 1 and 4 * _letters(found[0]) > _letters(body):
            return found[0]
    return body


def _letters(element: Any) -> int:
    return sum(
        len(words.strip()) for part in element.iter("p", "li", "pre", "td", "dd", "dt", "div") if (words := part.text)
    )


def _address(page: Any) -> str:
    for part in page.iter("link", "base", "meta"):
        if part.tag == "base" or part.get("rel") == "canonical" or part.get("property") == "og:url":
            return part.get("href") or part.get("content") or ""
    return ""


def _page_title(page: Any, named: str) -> str:
    """Return the title of the page's head without the name of its site."""
    site = next((meta.get("content") or "" for meta in page.iter("meta") if meta.get("property") == "og:site_name"), "")
    named = re.sub(r"\A[\w .]{1,60}: Documentation: [\w.]{1,20}: (?=\S)", "", named)
    found = re.fullmatch(r"(.{1,500}\S) (—|–|\||·|::|-|»|«) (.{1,200}?)", named)
    if found and (found[2] in "|·«" or found[3] == site or _SITE_WORDS.search(found[3])):
        return found[1]
    return named


def _indexed(drafts: list[Draft]) -> list[Draft]:
    """Make all blocks of an index or a page of links ``contents``."""
    letters = sum(len(draft.text) for draft in drafts if draft.kind != "heading")
    linked = [draft for draft in drafts if draft.kind != "heading" and (draft.linked or draft.kind == "contents")]
    share = sum(len(draft.text) for draft in linked) / letters if letters else 0.0
    if share < 0.9 or len(linked) < 10:
        return drafts
    return [draft if draft.kind in ("heading", "code") else replace(draft, kind="contents") for draft in drafts]


def _without_outer_links(drafts: list[Draft]) -> list[Draft]:
    """Leave out the links alone that come before the text and, outside of its elements and unnamed, after it."""

    def leads(draft: Draft) -> bool:
        return draft.linked and draft.kind not in ("heading", "contents", "code", "term")

    first, last = 0, len(drafts)
    while first < last and leads(drafts[first]):
        first += 1
    while last > first and leads(drafts[last - 1]):
        last -= 1
    beside = {at for draft in drafts[first:last] if not draft.linked for at in (draft.element, draft.within)}
    named = last and (
        drafts[last - 1].kind in ("heading", "label", "caption", "term")
        or (drafts[last - 1].kind == "paragraph" and _is_title(drafts[last - 1].text))
        or any(draft.within in beside or any(above < last for above in draft.hangs_on) for draft in drafts[last:])
    )
    if first == last:
        return drafts
    kept = drafts[first : None if named else last]
    for draft in kept if first else ():
        draft.hangs_on = tuple(above - first for above in draft.hangs_on if above >= first)
    return kept


def _is_title(text: str) -> bool:
    """Whether a paragraph is a title such as "Related topics" rather than a sentence."""
    return len(text) < 60 and text[-1] not in ".!?。！？)）"


def write_drafts(text: CanonicalText, drafts: list[Draft], *, deeper: int = 0, file: str = "") -> None:
    """Write the blocks of a page, its headings so many levels ``deeper``; anchors of a part of a book name its file."""
    indexes: list[int | None] = []
    for draft in drafts:
        anchor = f"{file}#{draft.anchor}" if file and draft.anchor else file or draft.anchor
        if draft.kind == "heading":
            indexes.append(None)
            text.add_heading(max(1, draft.level + deeper), draft.text, anchor=anchor)
        else:
            above = [indexes[index] for index in draft.hangs_on]
            linked = draft.linked
            indexes.append(
                text.add(draft.kind, draft.text, tight=draft.tight, hangs_on=above, anchor=anchor, linked=linked)
            )
