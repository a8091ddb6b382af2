"""HTML and SVG as values: text is escaped unless it was made here."""

from collections.abc import Iterable
from html import escape

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
