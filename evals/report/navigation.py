"""The list of a page's sections."""

from collections.abc import Mapping

from evals.report.markup import Markup, element


def navigation(links: Mapping[str, str]) -> Markup:
    """Link to sections by their ids."""
    items = [element("li", element("a", title, href=f"#{id_}")) for id_, title in links.items()]
    return element("nav", element("ul", *items), aria_label="Sections")
