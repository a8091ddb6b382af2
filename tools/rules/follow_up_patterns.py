"""The patterns and word kinds of ``follow_ups.toml``, compiled once."""

import re
import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files

from text.normal_forms import fold_case


@cache
def _tables() -> Mapping[str, Mapping[str, str | list[str]]]:
    return tomllib.loads(files(__package__).joinpath("follow_ups.toml").read_text(encoding="utf-8"))


@cache
def any_language(key: str) -> str:
    """Return the patterns of every language under a key as one alternation."""
    found = (table[key] for language, table in _tables().items() if language != "kinds" and key in table)
    return "|".join(line for each in found for line in ([each] if isinstance(each, str) else each))


@cache
def pattern(key: str, language: str | None = None) -> re.Pattern[str]:
    """Return the pattern of a key, of one language or of all, which ignores case."""
    return re.compile(f"(?:{_tables()[language][key] if language else any_language(key)})", re.IGNORECASE)


@cache
def elliptical() -> tuple[re.Pattern[str], ...]:
    """Return the patterns of elliptical questions; the ``new`` group of each is what the question says."""
    tables = (table for language, table in _tables().items() if language != "kinds")
    return tuple(re.compile(line, re.IGNORECASE) for table in tables for line in table.get("elliptical", []))


@cache
def _kinds() -> Mapping[str, frozenset[str]]:
    kinds: dict[str, set[str]] = {}
    for name, words in _tables()["kinds"].items():
        for word in str(words).split():
            kinds.setdefault(word, set()).add(name)
    return {word: frozenset(names) for word, names in kinds.items()}


def kinds_of_words(text: str) -> frozenset[str]:
    """Return the kinds of a text's words, such as "direction" of "upwards"."""
    return frozenset(kind for word in fold_case(text).split() for kind in _kinds().get(word.strip("?.,"), ()))
