"""HTML and SVG as values, escaped unless made here, and the page around a report.

The page is one file whose policy lets only its own style and script run.
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
    """HTML that was made by ``element``: nothing of it needs escaping any more."""

    __slots__ = ()


def element(name: str, /, *children: str | None, **attributes: str | int | float | bool | None) -> Markup:
    """Make an element. Children that are no ``Markup`` are text and get escaped, and so do attributes.

    An attribute's underscores become hyphens (``aria_label``) and one at its end goes (``class_``). None and False
    leave an attribute out, True gives one without a value. Children that are None are left out.
    """
    opening = name + "".join(_attribute(key, value) for key, value in attributes.items())
    if name in _WITHOUT_CONTENT:
        return Markup(f"<{opening}/>")
    return Markup(f"<{opening}>{joined(children)}</{name}>")


def joined(children: Iterable[str | None]) -> Markup:
    """Put markup and texts one after another."""
    return Markup("".join(_child(child) for child in children if child is not None))


def _child(child: str) -> str:
    return child if isinstance(child, Markup) else escape(_printable(child))


def _attribute(name: str, value: str | int | float | bool | None) -> str:
    if value is None or value is False:
        return ""
    shown = name.rstrip("_").replace("_", "-")
    return f" {shown}" if value is True else f' {shown}="{escape(_printable(str(value)))}"'


def _printable(text: str) -> str:
    """Show control characters by their pictures, as a browser would drop them or worse."""
    return "".join(chr(0x2400 + ord(c)) if c < " " and c not in "\n\t" else c for c in text)


def shown(value: float, unit: Unit) -> str:
    """Write a figure: shares with three decimals, counts with two at most, times in milliseconds or seconds."""
    if unit == "share":
        return f"{value:.3f}"
    if unit == "count":
        return f"{value:.2f}" if value < 100 else f"{value:,.0f}"
    return f"{value / 1000:.2f} s" if value >= 1000 else f"{value:.0f} ms"


def signed(value: float, unit: Unit) -> str:
    """Write a difference with its sign; one that rounds to nothing has none."""
    text = shown(abs(value), unit)
    if not any(digit in text for digit in "123456789"):
        return text
    return f"{'+' if value > 0 else '−'}{text}"


def counted(number: int, noun: str) -> str:
    """Write a number with its noun, in the plural where it is not one."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def navigation(links: Mapping[str, str]) -> Markup:
    """Link to sections by their ids."""
    items = [element("li", element("a", title, href=f"#{id_}")) for id_, title in links.items()]
    return element("nav", element("ul", *items), aria_label="Sections")


def document(title: str, *body: Markup) -> str:
    """Return a whole page: its title, the package's style and script, and a content security policy of their hashes."""
    style, script = _text("style.css"), _text("filter.js")
    policy = (
        f"default-src 'none'; style-src '{_hash(style)}'; script-src '{_hash(script)}'; base-uri 'none'; "
        "form-action 'none'"
    )
    return Template(_text("page.html")).substitute(
        policy=policy, title=joined([title]), style=style, script=script, body=joined(body)
    )


def section(title: str, *content: str | None, id_: str, lead: str | None = None) -> Markup:
    """Make a section under a heading of the second level, with a line that says how to read it."""
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
    """Make a part that opens at a click."""
    return element("details", element("summary", title), *content, class_=class_)


def table(
    caption: str, columns: list[str], rows: list[list[str]], *, class_: str | None = None, numbers: tuple[int, ...] = ()
) -> Markup:
    """Make a table whose first column heads its rows; ``numbers`` are the columns of figures."""

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
