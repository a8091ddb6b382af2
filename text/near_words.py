"""The words that a mistyped one may be meant for: compared by trigrams, and told apart by how many letters differ."""

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import TypeVar

from text.normal_forms import without_marks
from text.words import folded_words, is_indexed_by_bigrams

LEAST_LETTERS = 3  # of a word that a library's vocabulary has
MOST_LETTERS = 32
CORRECTED_FROM = 6  # letters, of both; a shorter word is near too many others
TWICE_FROM, THRICE_FROM = 9, 11  # letters, of which two or three may be wrong
STEM = 5  # letters of a word that another only adds an article or ending to
ADDED = 2
LEAST_ALIKE = 0.4  # share of trigrams
COMPARED = 8  # words, the most alike, letter by letter
ENDING = 3  # letters
AS_ALIKE = 0.9  # of the nearest, which another that is taken too has at least
T = TypeVar("T")
_VOWELS = frozenset("aeiouyаеиоуыэюяіαεηιουω")


def vocabulary_of(text: str) -> set[str]:
    """Return the words of a text that a question may misspell: of scripts with spaces, without digits."""
    return set(filter(is_listed, folded_words(text)[1]))


@lru_cache(maxsize=1 << 14)
def is_listed(word: str) -> bool:
    """Whether a vocabulary has words of this kind."""
    return (
        LEAST_LETTERS <= len(word) <= MOST_LETTERS
        and not any(map(str.isdigit, word))
        and not is_indexed_by_bigrams(word)
    )


def ends_of(word: str) -> tuple[str, str]:
    """Return how a word begins and how it ends; one that is near begins or ends so too."""
    size = min(max(len(word) // 3, 2), 4)
    return word[:size], word[-size:]


def near_words(word: str, known: Iterable[str]) -> list[tuple[float, str]]:
    """Return which of the ``known`` words a word may be meant for, each with how alike they are, the nearest first."""
    ranked = sorted(((_alike(word, other), other) for other in known), reverse=True)[:COMPARED]
    return [(alike, other) for alike, other in ranked if alike >= LEAST_ALIKE and is_near(word, other)]


def nearest(near: Sequence[tuple[float, T]], most: int = 2) -> list[T]:
    """Return of what is near, with how alike it is, the nearest, at most so many."""
    return [other for alike, other in near if alike >= AS_ALIKE * near[0][0]][:most]


def is_near(word: str, other: str) -> bool:
    """Whether one is the other with a letter or two added, left out, changed or swapped, or with an ending.

    What stands before a word changes its meaning in scripts with capitals, as in "unpaid", and so does an ending with a
    vowel in the place of a consonant, as in "employer" and "employee".
    """
    word, other = without_marks(word), without_marks(other)
    shorter, longer = sorted((word, other), key=len)
    if len(shorter) >= STEM and len(longer) - len(shorter) <= ADDED and shorter in longer:
        return longer.startswith(shorter) or not _has_case(word)
    if len(shorter) < CORRECTED_FROM:
        return False
    wrong = 1 + (len(word) >= TWICE_FROM) + (len(word) >= THRICE_FROM)
    return word[0] == other[0] and _differ(word, other, wrong) <= wrong and not _end_otherwise(word, other)


def differ_at_end(word: str, other: str) -> bool:
    """Whether two words may be forms of one: they begin alike, and few letters at the end differ."""
    least = min(len(word), len(other))
    return _shared(word, other) >= max(STEM, least - ENDING)


def _end_otherwise(word: str, other: str) -> bool:
    """Whether a vowel stands for a consonant at the end of one of two words, and no letter was added or swapped."""
    at = _shared(word, other)
    left, right = word[at:], other[at:]
    return (
        differ_at_end(word, other)
        and not (left.endswith(right) or right.endswith(left) or sorted(left) == sorted(right))
        and any((one in _VOWELS) != (instead in _VOWELS) for one, instead in zip(left, right, strict=False))
    )


def _shared(word: str, other: str) -> int:
    """Return how many letters two words begin with alike."""
    least = min(len(word), len(other))
    return next((at for at in range(least) if word[at] != other[at]), least)


def _has_case(word: str) -> bool:
    return word.upper() != word.lower()


@lru_cache(maxsize=4096)
def _trigrams(word: str) -> frozenset[str]:
    padded = f"  {without_marks(word)} "
    return frozenset(padded[at : at + 3] for at in range(len(padded) - 2))


def _alike(word: str, other: str) -> float:
    """Return Dice's coefficient of the words' trigrams."""
    left, right = _trigrams(word), _trigrams(other)
    return 2 * len(left & right) / (len(left) + len(right))


def _differ(word: str, other: str, most: int) -> int:
    """Return the optimal string alignment distance of two words; above ``most`` any larger number."""
    if abs(len(word) - len(other)) > most:
        return most + 1
    before: list[int] = []
    row = list(range(len(other) + 1))
    for at, letter in enumerate(word, start=1):
        earlier, before, row = before, row, [at]
        for place, wanted in enumerate(other, start=1):
            cost = min(before[place] + 1, row[place - 1] + 1, before[place - 1] + (letter != wanted))
            if earlier and place > 1 and letter == other[place - 2] and word[at - 2] == wanted:
                cost = min(cost, earlier[place - 2] + 1)
            row.append(cost)
    return row[-1]
