"""HTML through trafilatura, which tells a page's text from the frame around it.

Its extraction is made for articles and drops most of a short or unusual page. So what it keeps is held against what a
reader sees outside of navigation, footer and the like; where less than half of the letters or of the headings are
left, that is read instead.
"""

import logging
import re
from copy import deepcopy
from typing import Any

import trafilatura
from trafilatura.settings import Document, use_config

from graph.errors import UnreadableDocument
from tools.parsers.elements import render
from tools.parsers.encoding import decode
from tools.parsers.parsed import CanonicalText, Parsed, storable

# It warns of every page that it finds nothing in; here that is a case as any other.
logging.getLogger("trafilatura").setLevel(logging.CRITICAL)

_LEAST_KEPT = 0.5
_WHOLE = re.compile(r"<(?:html|body|head)[\s>]", re.IGNORECASE)
_CHARSET = re.compile(rb"""<meta[^>]{1,200}?charset\s*=\s*["']?\s*([\w:.-]{1,40})""", re.IGNORECASE)


def read(data: bytes) -> Parsed:
    """Read the main text of a page; the charset is the byte order mark's, the one its head names, or UTF-8.

    Raises UnreadableDocument where it is not decodable or holds no element.
    """
    declared = _CHARSET.search(data[:2048])
    html = storable(decode(data, declared=declared[1].decode("ascii") if declared else None))
    html = re.sub(r"\A\s*<\?xml[^>]*\?>", "", html)
    tree = trafilatura.load_html(html if _WHOLE.search(html, 0, 4096) else f"<html><body>{html}</body></html>")
    if tree is None:
        raise UnreadableDocument("The HTML holds no element that can be read.")
    title = " ".join((tree.findtext(".//title") or "").split()) or None
    seen = render(_main_of(tree))
    kept = _extracted(tree)
    return (seen if kept is None or _lossy(kept, seen) else kept).parsed(title=title)


def _lossy(kept: CanonicalText, seen: CanonicalText) -> bool:
    (letters, headings), (all_letters, all_headings) = _measure(kept), _measure(seen)
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
