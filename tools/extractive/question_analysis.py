"""What a question names: things, numbers, or code."""

import re
import unicodedata
from collections import defaultdict
from functools import lru_cache

from text.dates import dates_of, parts_of_date
from text.late_patterns import late_pattern
from text.normal_forms import flatten, fold_case
from text.scripts import CJK

_LETTER = rf"[^\W{CJK}]"
_NAME = re.compile(
    rf"(?<!^)(?<![.!?:;。！？]\s)(?<!\w)(?!I\b|I'|OK\b)"
    rf"(?:[A-ZÀ-ÝĐ](?:{_LETTER}|['’-])*|{_LETTER}*\d{_LETTER}*[A-Za-z]{_LETTER}*|[A-Za-z]+\d{_LETTER}*)"
    r"|[\"“《「`]([^\"”》」`]{1,40})[\"”》」`]"
)
_LATIN_IN_CJK = late_pattern(rf"[A-Za-z](?:{_LETTER}|[.-])*")
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_DIGIT = re.compile(r"\d")


@lru_cache(maxsize=256)
def names_in(question: str) -> frozenset[str]:
    """Return a question's names, flattened: capitalised words but the first, words with digits, and quoted text.

    Among Chinese or Japanese characters every Latin word is a name.
    """
    question = unicodedata.normalize("NFKC", question)
    found = {(match[1] or match[0]).removesuffix("'s").removesuffix("’s") for match in _NAME.finditer(question)}
    if re.search(f"[{CJK}]", question):
        found |= {match[0] for match in _LATIN_IN_CJK.finditer(question)}
    flat = {flatten(name).strip() for name in found}
    return frozenset(name for name in flat if name and not name.isdigit())


_IDENTIFIER = re.compile(r"(?<![\w-])--[a-z][\w-]+|(?<![\w-])[a-z0-9]+(?:_[a-z0-9]+)+(?!\w)")


@lru_cache(maxsize=256)
def identifiers_in(question: str) -> frozenset[str]:
    """Return the names that only code has: settings such as ``work_mem``, and long options, case-folded."""
    return frozenset(_IDENTIFIER.findall(fold_case(question)))


@lru_cache(maxsize=256)
def numbers_asked(question: str) -> frozenset[str]:
    """Return a question's numbers as written, with full-width digits as ASCII, and its dates in one form."""
    dates, numbers = _dates_and_numbers(question)
    return numbers.union(dates)


@lru_cache(maxsize=4096)
def numbers_in(text: str) -> frozenset[str]:
    """Return the same of a text that may answer, with the parts of its dates: their other digits are no numbers."""
    dates, numbers = _dates_and_numbers(text)
    return numbers.union(*map(parts_of_date, dates))


def _dates_and_numbers(text: str) -> tuple[list[str], frozenset[str]]:
    text = unicodedata.normalize("NFKC", text)
    if not _DIGIT.search(text):
        return [], frozenset()
    dates = list(dates_of(text))
    numbers = _NUMBER.finditer(text)
    return [date for date, _, _ in dates], frozenset(
        found[0] for found in numbers if not any(start <= found.start() < end for _, start, end in dates)
    )


@lru_cache(maxsize=1024)
def share_missing(wanted: frozenset[str], held: frozenset[str]) -> float:
    """Return the share of a question's names or numbers that is missing; 0 where it has none.

    Of similar ones, such as two years or "A3" and "A5", one is enough: the question compares them, and its answer is in
    two places.
    """
    kinds: dict[tuple[int, bool, str], list[str]] = defaultdict(list)
    for each in wanted:
        kinds[len(each), each.isdigit(), each[:1]].append(each)
    missing = sum(held.isdisjoint(alike) for alike in kinds.values())
    return missing / len(kinds) if kinds else 0.0
