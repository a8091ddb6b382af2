"""What kind of answer a question asks for, and the signs of that kind in an entry: a value, a command, a reason, ...

The words are those of English, Vietnamese and Chinese documentation; a question may ask for several kinds at once.
"""

import re
import tomllib
from functools import cache, lru_cache
from importlib.resources import files
from typing import Literal, NamedTuple

from text.late_patterns import LatePattern, any_of

AskedKind = Literal["value", "default", "command", "steps", "definition", "list", "comparison", "yesno", "reason"]
KINDS: tuple[AskedKind, ...] = (
    "value",
    "default",
    "command",
    "steps",
    "definition",
    "list",
    "comparison",
    "yesno",
    "reason",
)
_ASKS_OPEN = re.compile(r"\b(?:wh(?:at|ich|o|om|ose|y|en|ere)|how)\b", re.IGNORECASE)


class _Signs(NamedTuple):
    asks: LatePattern
    shows: LatePattern
    shows_in_ascii: LatePattern  # the same without the patterns of Vietnamese and Chinese letters


@cache
def _signs() -> dict[AskedKind, _Signs]:
    table = tomllib.loads(files(__package__).joinpath("asked_kinds.toml").read_text(encoding="utf-8"))

    def joined(kind: AskedKind, part: str, *, ascii_only: bool = False) -> LatePattern:
        patterns = [
            pattern
            for language, of_language in table[kind][part].items()
            for pattern in of_language
            if not ascii_only or language == "en" or pattern.isascii()
        ]
        # Commands are told by their capitals: HUP, camelCase.
        flags = re.NOFLAG if (kind, part) == ("command", "shows") else re.IGNORECASE
        return LatePattern(any_of(patterns), flags | re.ASCII if ascii_only else flags)

    return {
        kind: _Signs(joined(kind, "asks"), joined(kind, "shows"), joined(kind, "shows", ascii_only=True))
        for kind in KINDS
    }


@lru_cache(maxsize=256)
def asked_kinds(question: str) -> frozenset[AskedKind]:
    """Return the kinds that a question asks for; one that asks with no question word asks for yes or no."""
    found = {kind for kind, signs in _signs().items() if signs.asks.search(question)}
    if question.isascii() and question.rstrip().endswith("?") and not _ASKS_OPEN.search(question):
        found.add("yesno")
    return frozenset(found)


@lru_cache(maxsize=4096)
def shows(kind: AskedKind, text: str) -> bool:
    """Whether a text has the signs of a kind."""
    signs = _signs()[kind]
    return (signs.shows_in_ascii if text.isascii() else signs.shows).search(text) is not None
