"""The page around a report: one file, and a policy that lets nothing but its own style and script run."""

import base64
import hashlib
from importlib.resources import files
from string import Template

from evals.report.markup import Markup, element, joined


def document(title: str, *body: Markup) -> str:
    """Give a whole page: its title, the package's style and script, and a content security policy of their hashes."""
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
