"""The names and numbers of a question: what an answer's surroundings must have, or it is about something else."""

import re
from functools import lru_cache

from tools.extractive.wording import CJK, flattened

_NAME = re.compile(
    r"(?<!^)(?<![.!?:;。！？]\s)(?<!\w)(?!I\b|I'|OK\b)(?:[A-ZÀ-ÝĐ][\w'’-]*|\w*\d\w*[A-Za-z]\w*|[A-Za-z]+\d\w*)"
    r"|[\"“《「`]([^\"”》」`]{1,40})[\"”》」`]"
)
_LATIN_IN_CJK = re.compile(r"[A-Za-z][\w.-]*")
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")


@lru_cache(maxsize=256)
def names_in(question: str) -> frozenset[str]:
    """List the names of a question, flattened: capitalised words but the first, words with digits, and quoted ones.

    Among Chinese or Japanese characters every Latin word is a name.
    """
    found = {(match[1] or match[0]).removesuffix("'s").removesuffix("’s") for match in _NAME.finditer(question)}
    if re.search(f"[{CJK}]", question):
        found |= {match[0] for match in _LATIN_IN_CJK.finditer(question)}
    flat = {flattened(name).strip() for name in found}
    return frozenset(name for name in flat if name and not name.isdigit())


@lru_cache(maxsize=4096)
def numbers_in(text: str) -> frozenset[str]:
    """List the numbers of a text as they are written."""
    return frozenset(_NUMBER.findall(text))
