"""Parser of HTML, with trafilatura separating the main text from boilerplate.

Trafilatura is made for articles and drops most of a short or unusual page. So its result is compared with the visible
text outside of navigation, footer and the like; if it keeps less than half of the letters or of the headings, the
visible text is used instead. Blocks are rendered from HTML elements and from the TEI that trafilatura returns.
"""

import logging
import re
from collections.abc import Iterator
from copy import deepcopy
from typing import Any

import trafilatura
from trafilatura.settings import Document, use_config

from graph.errors import UnreadableDocument
from tools.parsers.canonical_text import CanonicalText, Parsed, storable, unwrapped
from tools.parsers.plain import decode

_FRAME = "nav footer aside script style noscript template form button select svg canvas iframe object head title dialog"
_SKIPPED = frozenset(_FRAME.split())
_HEADINGS = {f"h{level}": level for level in range(1, 7)}
_LISTS = frozenset({"ul", "ol", "dl", "list", "menu"})
_ITEMS = frozenset({"li", "item", "dt", "dd"})
_ROWS = frozenset({"tr", "row"})
_QUOTES = frozenset({"blockquote", "quote"})
_INLINE_TAGS = (
    "a abbr acronym b bdi bdo big cite code data del dfn em font hi i img input ins kbd label lb mark q ref rp rt ruby "
    "s samp small span strike strong sub sup time tt u var wbr br"
)
_INLINE = frozenset(_INLINE_TAGS.split())


def render(root: Any) -> CanonicalText:
    """Render the visible text of a tree as blocks, without navigation, forms, scripts and hidden parts."""
    renderer = _Renderer()
    renderer.visit(root)
    renderer.flush()
    return renderer.text


class _Renderer:
    """A renderer of HTML elements, or of trafilatura's TEI, to blocks."""

    def __init__(self) -> None:
        self.text = CanonicalText()
        self._words: list[str] = []
        self._markers: list[str] = []
        self._pending: str | None = None
        self._quotes = 0
        self._tight = False

    def visit(self, root: Any) -> None:
        """Render a tree iteratively: a hostile page may nest deeper than Python's stack."""
        stack: list[tuple[str, Any]] = [("enter", root)]
        while stack:
            step, element = stack.pop()
            if step == "tail":
                self._words.append(unwrapped(element.tail or ""))
            elif step == "leave":
                self._leave(element)
            elif self._enter(element):
                stack.append(("leave", element))
                for child in reversed(element):
                    stack.append(("tail", child))
                    stack.append(("enter", child))

    def flush(self) -> None:
        """Write the collected words as a block: a list item, quote or paragraph."""
        words, self._words = _lines("".join(self._words)), []
        if not words:
            return
        if self._markers:
            indent = "  " * (len(self._markers) - 1)
            self.text.add("list_item", indent + (self._pending or "") + words, tight=self._tight)
            self._pending, self._tight = None, True
        else:
            self.text.add("quote" if self._quotes else "paragraph", words)

    def _enter(self, element: Any) -> bool:
        tag = element.tag
        if not isinstance(tag, str) or tag in _SKIPPED or _is_hidden(element):
            return False
        if tag in ("br", "lb"):
            self._words.append("\n")
        elif tag == "img":
            self._words.append(unwrapped(element.get("alt") or ""))
        elif tag in _INLINE and not (tag == "code" and _is_block(element)):
            self._words.append(unwrapped(element.text or ""))
        else:
            self.flush()
            return self._enter_block(tag, element)
        return True

    def _enter_block(self, tag: str, element: Any) -> bool:
        level = _HEADINGS.get(element.get("rend") or "" if tag == "head" else tag)
        if level is not None and not self._markers:
            self.text.add_heading(level, "".join(_strings(element)))
            return False
        if tag in ("pre", "code"):
            self.text.add("code", "".join(_strings(element)))
            return False
        if tag in _ROWS:
            self._row(element)
            return False
        if tag in _LISTS:
            self._tight = bool(self._markers)
            self._markers.append("1" if tag == "ol" or element.get("rend") == "ol" else "-")
        elif tag in _ITEMS and self._markers:
            kind = self._markers[-1]
            self._pending = "- " if kind == "-" else f"{kind}. "
            self._markers[-1] = kind if kind == "-" else str(int(kind) + 1)
        elif tag == "table":
            self._tight = False
        self._quotes += tag in _QUOTES
        self._words.append(unwrapped(element.text or ""))
        return True

    def _leave(self, element: Any) -> None:
        tag = element.tag
        if tag in _INLINE and not (tag == "code" and _is_block(element)):
            return
        self.flush()
        if tag in _LISTS:
            self._markers.pop()
            self._tight = bool(self._markers)
        self._quotes -= tag in _QUOTES

    def _row(self, row: Any) -> None:
        cells = [" ".join("".join(_strings(cell)).split()) for cell in row if isinstance(cell.tag, str)]
        if any(cells):
            self.text.add("table_row", " | ".join(cells), tight=self._tight)
            self._tight = True


def _strings(element: Any) -> Iterator[str]:
    """Yield the strings below an element, without skipped tags such as scripts."""
    stack: list[tuple[bool, Any]] = [(True, element)]
    while stack:
        entering, part = stack.pop()
        if not entering:
            yield part.tail or ""
            continue
        if not isinstance(part.tag, str) or part.tag in _SKIPPED:
            continue
        yield "\n" if part.tag in ("br", "lb") else part.text or ""
        for child in reversed(part):
            stack.append((False, child))
            stack.append((True, child))


def _is_block(element: Any) -> bool:
    """Whether code is a block, as trafilatura marks it, rather than part of a sentence."""
    parent = element.getparent()
    return (parent is not None and parent.tag == "body") or "\n" in "".join(_strings(element)).strip()


def _is_hidden(element: Any) -> bool:
    style = (element.get("style") or "").replace(" ", "").lower()
    return "hidden" in element.attrib or element.get("aria-hidden") == "true" or "display:none" in style


def _lines(words: str) -> str:
    lines = (" ".join(line.split()) for line in words.split("\n"))
    return "\n".join(line for line in lines if line)


# It warns about every page without extracted text, which is a normal case here.
logging.getLogger("trafilatura").setLevel(logging.CRITICAL)

_LEAST_KEPT = 0.5
_WHOLE = re.compile(r"<(?:html|body|head)[\s>]", re.IGNORECASE)
_CHARSET = re.compile(rb"""<meta[^>]{1,200}?charset\s*=\s*["']?\s*([\w:.-]{1,40})""", re.IGNORECASE)


def read(data: bytes) -> Parsed:
    """Parse the main text of a page; the charset is that of the byte order mark, of its head, or UTF-8.

    Raises UnreadableDocument if it cannot be decoded or has no elements.
    """
    declared = _CHARSET.search(data[:2048])
    html = storable(decode(data, declared=declared[1].decode("ascii") if declared else None))
    html = re.sub(r"\A\s*<\?xml[^>]*\?>", "", html)
    tree = trafilatura.load_html(html if _WHOLE.search(html, 0, 4096) else f"<html><body>{html}</body></html>")
    if tree is None:
        raise UnreadableDocument("The HTML has no readable elements.")
    title = " ".join((tree.findtext(".//title") or "").split()) or None
    visible = render(_main_of(tree))
    extracted = _extracted(tree)
    return (visible if extracted is None or _lossy(extracted, visible) else extracted).parsed(title=title)


def _lossy(extracted: CanonicalText, visible: CanonicalText) -> bool:
    (letters, headings), (all_letters, all_headings) = _measure(extracted), _measure(visible)
    return letters < _LEAST_KEPT * all_letters or headings < _LEAST_KEPT * all_headings


def _measure(text: CanonicalText) -> tuple[int, int]:
    parsed = text.parsed()
    return len("".join(parsed.text.split())), sum(1 for block in parsed.blocks if block.kind == "heading")


def _main_of(tree: Any) -> Any:
    found = tree.xpath("//main | //article | //*[@role='main']")
    if len(found) == 1:
        return found[0]
    body = tree.find(".//body")
    return tree if body is None else body


def _extracted(tree: Any) -> CanonicalText | None:
    config = use_config()
    for size in ("MIN_EXTRACTED_SIZE", "MIN_OUTPUT_SIZE"):
        config.set("DEFAULT", size, "1")
    found = trafilatura.bare_extraction(
        deepcopy(tree), favor_recall=True, include_comments=False, include_tables=True, config=config
    )
    return render(found.body) if isinstance(found, Document) else None
