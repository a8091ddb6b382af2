"""Lexicon of phrases that mean the same, are opposites, or bound a quantity."""

import tomllib
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from tools.claims.quantities import UNITS
from tools.claims.sentence_parsing import parse_sentence

_FOLDER = Path(__file__).parent
_AFFIXES = ("un", "in", "im", "ir", "il", "dis", "non", "mis", "anti", "de")
_NO_ADVERBS = frozenset(("hardly", "lately", "nearly", "shortly", "barely", "scarcely", "only", "early"))
_ENDINGS = (("less", "ful"), ("less", ""))
_SHORTENED = (("'s", "is"), ("'s", "has"), ("'d", "would"), ("'d", "had"))
_CLOSED = frozenset(
    (
        "quantity",
        "frequency",
        "obligation",
        "amount",
        "superlative",
        "time",
        "both",
        "order",
        "scale",
        "compass",
        "multiple",
    )
)
_COUNTING = frozenset(("quantity", "frequency", "superlative"))
_NEIGHBOURS = 2  # tokens on either side that may belong to a phrase of which a diff shows only a part
_SPELLINGS = (
    ("our", "or"),
    ("ise", "ize"),
    ("isation", "ization"),
    ("yse", "yze"),
    ("re", "er"),
    ("ogue", "og"),
    ("ll", "l"),
)

Phrase = tuple[str, ...]


@cache
def _lexicon() -> tuple[Mapping[Phrase, frozenset[int]], Mapping[Phrase, frozenset[tuple[str, int]]], int]:
    """Read the lexicon: the groups of a phrase, its fields with its group in each, and the longest phrase."""
    content = _file("cues.toml")
    groups: dict[Phrase, set[int]] = defaultdict(set)
    fields: dict[Phrase, set[tuple[str, int]]] = defaultdict(set)
    for number, phrases in enumerate(content["same"]):
        for phrase in phrases:
            groups[_stems(parse_sentence(phrase).keys)].add(number)
    for number, (short, whole) in enumerate(_SHORTENED):
        groups[(short,)].add(-1 - number)
        groups[(whole,)].add(-1 - number)
    for name, rivals in content["fields"].items():
        for number, phrases in enumerate(rivals):
            for phrase in phrases:
                fields[_stems(parse_sentence(phrase).keys)].add((name, number))
    for name, number, phrase in _opposites():
        fields[phrase].add((name, number))
    longest = max(map(len, (*groups, *fields)))
    return (
        {phrase: frozenset(found) for phrase, found in groups.items()},
        {phrase: frozenset(found) for phrase, found in fields.items()},
        longest,
    )


def read_lists() -> None:
    """Read the lists of phrases, which takes a quarter of a second the first time."""
    _lexicon()
    _kindred()


def _file(name: str) -> dict[str, Any]:
    return tomllib.loads((_FOLDER / name).read_text(encoding="utf-8"))


@cache
def _opposites() -> tuple[tuple[str, int, Phrase], ...]:
    return tuple(_read_opposites())


def _read_opposites() -> Iterator[tuple[str, int, Phrase]]:
    """Give field, side and phrase of each opposite, with the adverb of an English adjective."""
    for tongue, lines in _file("opposites.toml").items():
        for number, line in enumerate(lines.strip().splitlines()):
            for side, phrases in enumerate(line.split(" / ")):
                for phrase in phrases.split(", "):
                    yield f"{tongue} {number}", side, _phrase(phrase)
                    if tongue == "en" and phrase.isalpha() and _adverb(phrase) not in _NO_ADVERBS:
                        yield f"{tongue} {number}", side, _phrase(_adverb(phrase))


@lru_cache(maxsize=32768)
def _phrase(text: str) -> Phrase:
    if text.isascii() and text.isalpha():
        return (stem(text.casefold()),)
    return _stems(parse_sentence(text).keys)


def _adverb(word: str) -> str:
    for ending, put in (("ic", "ically"), ("le", "ly"), ("y", "ily")):
        if word.endswith(ending):
            return word.removesuffix(ending) + put
    return word + "ly"


@cache
def _kindred() -> Mapping[Phrase, frozenset[str]]:
    """Read which words are near in meaning: those of a line of synonyms, and of one side of an opposite."""
    found: dict[Phrase, set[str]] = defaultdict(set)
    for tongue, lines in _file("synonyms.toml").items():
        for number, line in enumerate(lines.strip().splitlines()):
            for phrase in line.split(", "):
                found[_phrase(phrase)].add(f"{tongue} {number}")
    for name, side, phrase in _opposites():
        found[phrase].add(f"{name} {side}")
    return {phrase: frozenset(groups) for phrase, groups in found.items()}


@lru_cache(maxsize=16384)
def stem(word: str) -> str:
    """Cut the endings of English inflection; other words come back as they are."""
    if not word.isascii() or not word.isalpha() or len(word) < 4:
        return word
    for ending, put in (("ies", "y"), ("ied", "y"), ("ing", ""), ("ed", ""), ("es", ""), ("s", "")):
        if word.endswith(ending) and len(word) - len(ending) >= 3 - len(put):
            if ending == "s" and word[-2] in "sui":
                break
            if ending == "es" and word[-3] not in "sxzh":
                word = word[:-1]
                break
            word = word[: -len(ending)] + put
            if not put and len(word) > 3 and word[-1] == word[-2] and word[-1] not in "lsz":
                word = word[:-1]
            break
    return word[:-1] if word.endswith("e") and len(word) > 3 else word


def _stems(keys: Sequence[str]) -> Phrase:
    return tuple(stem(key) for key in keys)


def same(one: Sequence[str], other: Sequence[str], start: tuple[int, int, int, int]) -> bool:
    """Tell whether a run of one sentence and the run of another that stands for it mean the same.

    ``one`` and ``other`` are whole sentences, ``start`` the bounds of both runs. A phrase may reach over the tokens
    around the runs, which are equal.
    """
    groups = _lexicon()[0]
    return any(
        groups.get(a, frozenset()) & groups.get(b, frozenset()) or _respelled(a, b)
        for a, b in _widened(one, other, start)
    )


def opposed(one: Sequence[str], other: Sequence[str], start: tuple[int, int, int, int]) -> bool:
    """Tell whether a run of one sentence and the run of another that stands for it exclude each other."""
    fields = _lexicon()[1]
    for a, b in _widened(one, other, start):
        left, right = fields.get(a), fields.get(b)
        if left and right:
            for name in {field for field, _ in left} & {field for field, _ in right}:
                if not {group for field, group in left if field == name} & {
                    group for field, group in right if field == name
                }:
                    return True
        measures = UNITS.get(a), UNITS.get(b)
        if all(measures) and measures[0] != measures[1]:
            return True
        if len(a) == len(b) == 1 and _negated(a[0], b[0]):
            return True
    return False


def opposed_within(one: Sequence[str], other: Sequence[str]) -> bool:
    """Tell whether two runs hold, but for other words, phrases of a closed class that exclude each other."""
    left, right = _closed_within(one), _closed_within(other)
    names = {name for name, _ in left} & {name for name, _ in right}
    return any({g for n, g in left if n == name}.isdisjoint(g for n, g in right if n == name) for name in names)


def _closed_within(keys: Sequence[str]) -> set[tuple[str, int]]:
    fields, stems = _lexicon()[1], _stems(keys)
    found: set[tuple[str, int]] = set()
    for start in range(len(stems)):
        for end in range(len(stems), start, -1):
            phrase = stems[start:end]
            if end - start == 1 and not phrase[0].isascii():
                break  # a single syllable or letter is more often a part of a word
            if closed := {place for place in fields.get(phrase, ()) if place[0] in _COUNTING}:
                found |= closed
                break
    return found


def bound(keys: Sequence[str]) -> frozenset[int]:
    """Say whether a phrase bounds a quantity from below (0) or from above (1); empty where it does neither."""
    found = _lexicon()[1].get(_stems(keys), frozenset())
    return frozenset(side for name, side in found if name == "amount" and side < 2)


def akin(one: Sequence[str], other: Sequence[str], start: tuple[int, int, int, int]) -> bool:
    """Tell whether two such runs are at least near in meaning: no proof, but no conflict."""
    kindred = _kindred()
    return any(kindred.get(a, frozenset()) & kindred.get(b, frozenset()) for a, b in _widened(one, other, start))


def decides(one: Sequence[str]) -> bool:
    """Tell whether a run is a word of a closed class (quantity, order, comparison): few others mean the same."""
    return any(name in _CLOSED for name, _ in _lexicon()[1].get(_stems(one), frozenset()))


def is_cue(keys: Sequence[str]) -> bool:
    """Tell whether a run is a phrase of the lexicon."""
    groups, fields, _ = _lexicon()
    phrase = _stems(keys)
    return phrase in groups or phrase in fields


def _widened(one: Sequence[str], other: Sequence[str], run: tuple[int, int, int, int]) -> list[tuple[Phrase, Phrase]]:
    first, last, from_, to = run
    longest = _lexicon()[2]
    pairs: list[tuple[Phrase, Phrase]] = []
    for before in range(_NEIGHBOURS + 1):
        for after in range(_NEIGHBOURS + 1):
            if first - before < 0 or from_ - before < 0 or last + after > len(one) or to + after > len(other):
                continue
            if last - first + before + after > longest or to - from_ + before + after > longest:
                continue
            a, b = one[first - before : last + after], other[from_ - before : to + after]
            if a and b and a[:before] == b[:before] and (not after or a[-after:] == b[-after:]):
                pairs.append((_stems(a), _stems(b)))
    return pairs


def _respelled(a: Phrase, b: Phrase) -> bool:
    """Tell British from American spelling of one word."""
    if len(a) != 1 or len(b) != 1 or min(len(a[0]), len(b[0])) < 4:
        return False
    return any(
        a[0].replace(british, american) == b[0].replace(british, american)
        for british, american in _SPELLINGS
        if british in a[0] or british in b[0]
    )


def _negated(a: str, b: str) -> bool:
    """Tell a word from the same word turned over: "legal" and "illegal", "careful" and "careless"."""
    short, long = sorted((a, b), key=len)
    if (len(short) > 3 and any(long == affix + short for affix in _AFFIXES)) or long == "un" + short != "unit":
        return True
    return any(
        a.endswith(one) and b.endswith(other) and a.removesuffix(one) == b.removesuffix(other) and len(a) > 6
        for pair in _ENDINGS
        for one, other in (pair, pair[::-1])
    )
