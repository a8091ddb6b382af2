"""HTML and SVG as strings, escaped unless built here, and the page around a report.

The page is one file whose content security policy allows only its own style and script.
"""

import base64
import hashlib
from collections.abc import Iterable, Mapping
from html import escape
from importlib.resources import files
from string import Template

from evals.metrics import Unit

_WITHOUT_CONTENT = {"br", "circle", "input", "line", "meta", "rect"}


class Markup(str):
    """HTML built by ``element``, which needs no more escaping."""

    __slots__ = ()


def element(name: str, /, *children: str | None, **attributes: str | int | float | bool | None) -> Markup:
    """Build an element. Children that are not ``Markup`` are escaped as text, and so are attributes.

    An attribute's underscores become hyphens (``aria_label``); a trailing one is dropped (``class_``). None and False
    omit an attribute, True adds one without a value. Children that are None are omitted.
    """
    opening = name + "".join(_attribute(key, value) for key, value in attributes.items())
    if name in _WITHOUT_CONTENT:
        return Markup(f"<{opening}/>")
    return Markup(f"<{opening}>{joined(children)}</{name}>")


def joined(children: Iterable[str | None]) -> Markup:
    """Join markup and escaped texts."""
    return Markup("".join(_child(child) for child in children if child is not None))


def _child(child: str) -> str:
    return child if isinstance(child, Markup) else escape(_printable(child))


def _attribute(name: str, value: str | int | float | bool | None) -> str:
    if value is None or value is False:
        return ""
    shown = name.rstrip("_").replace("_", "-")
    return f" {shown}" if value is True else f' {shown}="{escape(_printable(str(value)))}"'


def _printable(text: str) -> str:
    """Replace control characters with their Unicode pictures; a browser would drop them or worse."""
    return "".join(chr(0x2400 + ord(c)) if c < " " and c not in "\n\t" else c for c in text)


def shown(value: float, unit: Unit) -> str:
    """Format a figure: shares with three decimals, counts with at most two, times in milliseconds or seconds."""
    if unit == "share":
        return f"{value:.3f}"
    if unit == "count":
        return f"{value:.2f}" if value < 100 else f"{value:,.0f}"
    return f"{value / 1000:.2f} s" if value >= 1000 else f"{value:.0f} ms"


def signed(value: float, unit: Unit) -> str:
    """Format a difference with its sign; one that rounds to zero has none."""
    text = shown(abs(value), unit)
    if not any(digit in text for digit in "123456789"):
        return text
    return f"{'+' if value > 0 else '−'}{text}"


def counted(number: int, noun: str) -> str:
    """Format a number with its noun, in the plural unless the number is 1."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def navigation(links: Mapping[str, str]) -> Markup:
    """Build links to sections by their ids."""
    items = [element("li", element("a", title, href=f"#{id_}")) for id_, title in links.items()]
    return element("nav", element("ul", *items), aria_label="Sections")


def document(title: str, *body: Markup) -> str:
    """Return a whole page with the package's style and script, and a content security policy of their hashes."""
    style, script = _text("style.css"), _text("filter.js")
    policy = (
        f"default-src 'none'; style-src '{_hash(style)}'; script-src '{_hash(script)}'; base-uri 'none'; "
        "form-action 'none'"
    )
    return Template(_text("page.html")).substitute(
        policy=policy, title=joined([title]), style=style, script=script, body=joined(body)
    )


def section(title: str, *content: str | None, id_: str, lead: str | None = None) -> Markup:
    """Build a section with a second-level heading and an optional line on how to read it."""
    heading = element("h2", title, id=f"{id_}-title")
    return element(
        "section",
        heading,
        element("p", lead, class_="lead") if lead else None,
        *content,
        id=id_,
        aria_labelledby=f"{id_}-title",
    )


def folded(title: str, *content: str | None, class_: str | None = None) -> Markup:
    """Build a part that opens on a click."""
    return element("details", element("summary", title), *content, class_=class_)


def table(
    caption: str, columns: list[str], rows: list[list[str]], *, class_: str | None = None, numbers: tuple[int, ...] = ()
) -> Markup:
    """Build a table whose first column holds the row headers; ``numbers`` are the numeric columns."""

    def cell(place: int, content: str) -> Markup:
        kind = "number" if place in numbers else None
        return element("td", content, class_=kind) if place else element("th", content, scope="row")

    head = [
        element("th", name, scope="col", class_="number" if place in numbers else None)
        for place, name in enumerate(columns)
    ]
    body = [element("tr", *(cell(place, content) for place, content in enumerate(row))) for row in rows]
    whole = element(
        "table",
        element("caption", caption),
        element("thead", element("tr", *head)),
        element("tbody", *body),
        class_=class_,
    )
    return element("div", whole, class_="scrolls", tabindex=0, role="region", aria_label=caption)


def _text(name: str) -> str:
    return files(__package__).joinpath(name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
