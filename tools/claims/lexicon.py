"""Word lists of the claim checks: fields of words that exclude each other, and words of denial."""

import re
import tomllib
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from tools.claims.claim_tokens import UNSPACED
from tools.claims.sentence_parsing import parse_sentence

_NEIGHBOURS = 2  # tokens on either side that may belong to a phrase of which a difference shows only a part

Phrase = tuple[str, ...]


@cache
def lists() -> Mapping[str, Any]:
    """Return the word lists that the package ships."""
    return tomllib.loads(Path(__file__).with_name("lexicon.toml").read_text(encoding="utf-8"))


def denials_in(flat: str) -> frozenset[str]:
    """Return the names of the lists of denials of which a text, its words between spaces, has a phrase."""
    phrases, letters = _denials()
    found = {name for word in flat.split() for phrase, name in phrases.get(word, ()) if phrase in flat}
    if not flat.isascii():
        found.update(name for name, pattern in letters.items() if pattern.search(flat))
    return frozenset(found)


@cache
def _denials() -> tuple[Mapping[str, Sequence[tuple[str, str]]], Mapping[str, re.Pattern[str]]]:
    """Return the phrases between spaces with their lists, by their longest words, and a pattern of each list's letters.

    Letters are phrases of scripts without spaces.
    """
    phrases: dict[str, list[tuple[str, str]]] = defaultdict(list)
    letters: dict[str, re.Pattern[str]] = {}
    for name, listed in lists()["denials"].items():
        all_ = listed.strip().split(", ")
        unspaced = [phrase for phrase in all_ if re.match(f"[{UNSPACED}]", phrase)]
        letters[name] = re.compile("|".join(unspaced))
        for phrase in set(all_).difference(unspaced):
            phrases[max(phrase.split(), key=len)].append((f" {phrase} ", name))
    return dict(phrases), letters


@cache
def _fields() -> tuple[Mapping[Phrase, frozenset[tuple[str, int]]], int]:
    """Return the field and group of each phrase, and the length of the longest phrase."""
    found: dict[Phrase, set[tuple[str, int]]] = defaultdict(set)
    for name, groups in lists()["fields"].items():
        for number, group in enumerate(groups.strip().splitlines()):
            for phrase in group.split(", "):
                found[_stems(parse_sentence(phrase).keys)].add((name, number))
    return {phrase: frozenset(places) for phrase, places in found.items()}, max(map(len, found))


@lru_cache(maxsize=4096)
def stem(word: str) -> str:
    """Cut the endings of English inflection; return other words as they are."""
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


Groups = frozenset[tuple[str, int]]

# Closed classes, in which another word is another fact. Of these, a weaker word follows from a stronger one: what holds
# of all holds of some, and what never happens happens rarely. The number is that of the last group on the upper side.
CLOSED = frozenset(("quantity", "frequency", "scale", "order", "compass", "time"))
_WEAKENED = {"quantity": 4, "frequency": 2}


def exclude_each_other(one: Sequence[str], other: Sequence[str], run: tuple[int, int, int, int]) -> bool:
    """Whether a run of one sentence and the run of another in its place are of one field and of no common group.

    ``run`` holds the bounds of both. A phrase may include the tokens next to the runs, which are equal.
    """
    return any(_disjoint(left, right) for left, right in _phrases(one, other, run))


def is_stronger(source: Sequence[str], claim: Sequence[str], run: tuple[int, int, int, int]) -> bool:
    """Whether a run of a claim has a word of a closed class that does not follow from the one in its source's place."""
    for left, right in _phrases(source, claim, run):
        closed = [frozenset(place for place in side if place[0] in CLOSED) for side in (left, right)]
        if _disjoint(*closed):
            return not any(_follows(field, a, b) for field, a in closed[0] for name, b in closed[1] if name == field)
    return False


def _follows(field: str, source: int, claim: int) -> bool:
    last = _WEAKENED.get(field)
    if last is None:
        return False
    return source < claim <= last or last < claim < source


def _phrases(
    one: Sequence[str], other: Sequence[str], run: tuple[int, int, int, int]
) -> Iterator[tuple[Groups, Groups]]:
    """Yield the groups of the phrases that two runs make with their equal neighbours."""
    first, last, from_, to = run
    fields, longest = _fields()
    for before in range(_NEIGHBOURS + 1):
        for after in range(_NEIGHBOURS + 1):
            if first - before < 0 or from_ - before < 0 or last + after > len(one) or to + after > len(other):
                continue
            a, b = one[first - before : last + after], other[from_ - before : to + after]
            if not a or not b or max(len(a), len(b)) > longest:
                continue
            if tuple(a[:before]) == tuple(b[:before]) and (not after or tuple(a[-after:]) == tuple(b[-after:])):
                yield fields.get(_stems(a), frozenset()), fields.get(_stems(b), frozenset())


def _disjoint(left: Groups, right: Groups) -> bool:
    shared = {name for name, _ in left} & {name for name, _ in right}
    return any(
        {group for field, group in left if field == name}.isdisjoint(group for field, group in right if field == name)
        for name in shared
    )
