"""Gold passages: evidence as an exact text of a file, traps beside it, and the rules by which a quote hits one.

A passage need not be whole sentences: it may be a row, an item or a heading with what stands below it. It is compared
as words are read, since a parser sets its own spaces: notation, width, case, entities and white space are folded.
"""

import re
from collections import Counter
from dataclasses import dataclass
from functools import lru_cache
from html import unescape

from text.normal_forms import fold_case, unify_signs
from text.scripts import HAN_AND_KANA

MOST = 0.5  # a quote inside a passage hits if it is more than this share of it
ENOUGH_WORDS = 0.75
_UNIT = re.compile(rf"[{HAN_AND_KANA}]+|[^\W{HAN_AND_KANA}]+")
_HAN = re.compile(rf"[{HAN_AND_KANA}]")
_REFERENCE_MARK = re.compile(
    r"\[(?:\^?\d{1,4}(?:[,;]\s?\d{1,4})*"
    r"|\^\w{1,20}|ref:\d{1,4}|note \d+|nb \d+|citation needed|cần dẫn nguồn|来源请求)\]"
)


@dataclass(frozen=True, order=True, slots=True)
class Passage:
    """A text of a document that bears an answer; an ``alternative`` one may be cited in place of another."""

    document: str
    text: str
    alternative: bool = False


@dataclass(frozen=True, order=True, slots=True)
class Trap:
    """A text that answers by its words and is not so: ``governs`` denies, limits or replaces it.

    ``governs`` is empty where the text was struck out or hidden, so that no quote of it is right.
    """

    text: str
    governs: str


def _folded(text: str) -> str:
    return _REFERENCE_MARK.sub(" ", fold_case(unify_signs(unescape(text))))


@lru_cache(maxsize=4096)
def plain(text: str) -> str:
    """Return a text without white space, with notation, width, case and entities folded."""
    return "".join(_folded(text).split())


@lru_cache(maxsize=4096)
def units(text: str) -> Counter[str]:
    """Count a text's words; a run of Chinese or Japanese characters counts by its pairs, a single one by itself."""
    counted: Counter[str] = Counter()
    for found in _UNIT.findall(_folded(text)):
        paired = len(found) > 1 and _HAN.match(found) is not None
        counted.update([found[at : at + 2] for at in range(len(found) - 1)] if paired else [found])
    return counted


def holds_most(text: str, passage: str) -> bool:
    """Return whether a text holds a passage, or is most of it."""
    shown, wanted = plain(text), plain(passage)
    if not shown or not wanted:
        return False
    return wanted in shown or (shown in wanted and len(shown) > MOST * len(wanted))


def quote_hits(quote: str, passage: str) -> bool:
    """Return whether a quote of the passage's file holds it, is most of it, or holds three quarters of its words."""
    if holds_most(quote, passage):
        return True
    words = units(passage)
    return words.total() > 0 and (units(quote) & words).total() >= ENOUGH_WORDS * words.total()
