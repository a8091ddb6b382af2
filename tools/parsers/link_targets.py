"""Where links lead: told behind their words, as in "the portal <https://example.org/leave>".

A link within a site leads to another document, which is read itself; a host that very many links lead to is the site.
Figures of an address would be taken for the document's own, which shows none of them: such an address is counted only.
"""

import re
from collections import Counter
from collections.abc import Iterable

from tools.parsers.canonical_text import LeftOut

_ADDRESS = re.compile(r"(?:https?://(?:www\.)?([^/?#\s<>]+)|(?:mailto|tel):)[^\s<>]*", re.IGNORECASE)
_MOST_TO_A_HOST = 10
_LONGEST = 200  # characters; what is longer is for programs


class LinkTargets:
    """The links of one document; the addresses that are not told are counted in ``left_out``."""

    def __init__(self, left_out: LeftOut, hrefs: Iterable[str] = (), own: str = "") -> None:
        """``own`` is the document's own address, where it says one."""
        self._left_out = left_out
        found = (_ADDRESS.match(href) for href in hrefs)
        hosts = Counter(address[1].lower() for address in found if address and address[1])
        self._own = {host for host, count in hosts.items() if count > _MOST_TO_A_HOST}
        if (address := _ADDRESS.match(own)) and address[1]:
            self._own.add(address[1].lower())

    def behind(self, words: str, href: str) -> str:
        """Return what is written behind a link's words: its address, if they do not say it and it leads elsewhere."""
        address = _ADDRESS.fullmatch(href.strip()) if len(href) < _LONGEST and words.strip() else None
        if address is None or (address[1] or "").lower() in self._own:
            return ""
        shown = address[0] if address[1] else re.split("[:?]", address[0])[1]
        said = "".join(words.lower().split())
        if (address[1] or shown).lower() in said or ("." in said and said in shown.lower()):
            return ""
        if any(map(str.isdigit, shown)):
            self._left_out["address of a link"] += _digits(shown) not in _digits(said)
            return ""
        return f" <{shown}>"


def _digits(words: str) -> str:
    return "".join(filter(str.isdigit, words))
