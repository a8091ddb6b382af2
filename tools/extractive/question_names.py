"""The names and numbers of a question: what an answer's surroundings must have, or it is about something else."""

import re
import unicodedata
from collections import defaultdict
from functools import lru_cache

from tools.extractive.wording import CJK, flattened

_LETTER = rf"[^\W{CJK}]"
_NAME = re.compile(
    rf"(?<!^)(?<![.!?:;。！？]\s)(?<!\w)(?!I\b|I'|OK\b)"
    rf"(?:[A-ZÀ-ÝĐ](?:{_LETTER}|['’-])*|{_LETTER}*\d{_LETTER}*[A-Za-z]{_LETTER}*|[A-Za-z]+\d{_LETTER}*)"
    r"|[\"“《「`]([^\"”》」`]{1,40})[\"”》」`]"
)
_LATIN_IN_CJK = re.compile(rf"[A-Za-z](?:{_LETTER}|[.-])*")
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")


@lru_cache(maxsize=256)
def names_in(question: str) -> frozenset[str]:
    """List the names of a question, flattened: capitalised words but the first, words with digits, and quoted ones.

    Among Chinese or Japanese characters every Latin word is a name.
    """
    question = unicodedata.normalize("NFKC", question)
    found = {(match[1] or match[0]).removesuffix("'s").removesuffix("’s") for match in _NAME.finditer(question)}
    if re.search(f"[{CJK}]", question):
        found |= {match[0] for match in _LATIN_IN_CJK.finditer(question)}
    flat = {flattened(name).strip() for name in found}
    return frozenset(name for name in flat if name and not name.isdigit())


@lru_cache(maxsize=4096)
def numbers_in(text: str) -> frozenset[str]:
    """List the numbers of a text as they are written, full-width digits as others."""
    return frozenset(_NUMBER.findall(unicodedata.normalize("NFKC", text)))


@lru_cache(maxsize=1024)
def share_missing(wanted: frozenset[str], held: frozenset[str]) -> float:
    """Give the share of what a question names that is missing; 0 where it names nothing.

    What looks alike, such as two years or "A3" and "A5", is compared by the question, and one of them is enough: its
    answer stands in two places.
    """
    kinds: dict[tuple[int, bool, str], list[str]] = defaultdict(list)
    for each in wanted:
        kinds[len(each), each.isdigit(), each[:1]].append(each)
    missing = sum(held.isdisjoint(alike) for alike in kinds.values())
    return missing / len(kinds) if kinds else 0.0
