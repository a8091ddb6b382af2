"""What an answer would make a reader's browser link to or fetch.

Found by rendering it with a Markdown renderer and an HTML parser, not by the guard under test.
"""

import re
from html import unescape
from html.parser import HTMLParser

from markdown_it import MarkdownIt

_BARE = re.compile(r"(?:[a-z][a-z0-9+.-]*://|(?<![\w.-])www\.)[^\s<>\"'`)\]|]+", re.IGNORECASE)
_LEADING = {"href", "src", "srcset", "action", "formaction", "poster", "background", "data", "style", "content", "ping"}


class _Targets(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found += [value for name, value in attrs if value and (name in _LEADING or name.startswith("on"))]


def targets_out(text: str) -> list[str]:
    """Give what a renderer of Markdown and HTML would link to or fetch, and addresses that stand bare."""
    parser = _Targets()
    parser.feed(MarkdownIt("commonmark", {"html": True}).render(text))
    parser.close()
    return [*parser.found, *(found.rstrip(".,;:!?*_~") for found in _BARE.findall(text))]


def stands_in(target: str, cited: str) -> bool:
    """Tell whether a text has a target, be it written a little otherwise."""
    shapes = {target, unescape(target), target.rstrip("/.,;:!?*_~"), re.sub(r"^(?:https?:)?//|^mailto:", "", target)}
    return any(shape in cited or shape in unescape(cited) for shape in shapes if shape)
