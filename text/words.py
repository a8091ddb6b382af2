"""Words of a text: counting, splitting, stemming, comparing, and cutting text between words or graphemes.

Grapheme boundaries follow Unicode's extended grapheme clusters (UAX #29), derived from the categories that Python
knows: marks, joiners, emoji modifiers and tags stay with the character before them, flags stay in pairs, Hangul jamo
in syllables.
"""

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from text.language import CJK_STOP, language, stop_words
from text.late_patterns import late_pattern
from text.normal_forms import ascii_words, flatten, without_accents
from text.scripts import CJK, HAN_AND_KANA, INDEXED_BY_BIGRAMS, SOUTH_EAST_ASIAN, UNSPACED, VOWEL_SIGNS
from text.spellings import beside_numbers, fold_spelling, has_number

_LETTERS = rf"[^\W{UNSPACED}]+"
_COUNTED = late_pattern(rf"[{HAN_AND_KANA}]|[{SOUTH_EAST_ASIAN}]{{1,4}}|{_LETTERS}(?:['’\-]{_LETTERS})*")
_RUN = late_pattern(rf"[{CJK}]+|[^\W_{CJK}]+")
INDEXED_WORD = late_pattern(  # of the lexical index, in a folded text
    f"[{INDEXED_BY_BIGRAMS}]++|(?:[^\\W_{INDEXED_BY_BIGRAMS}]++|[{VOWEL_SIGNS}]++)++"
)
_IS_INDEXED_BY_BIGRAMS = late_pattern(f"[{INDEXED_BY_BIGRAMS}]")
_IS_UNSPACED = late_pattern(f"[{UNSPACED}]")


def count_words(texts: Sequence[str]) -> list[int]:
    """Count the words of each text.

    A run of letters and digits is a word. In scripts without spaces, each Han letter or kana counts as one, and so do
    four letters of Thai, Lao, Khmer or Burmese.
    """
    return [sum(1 for _ in _COUNTED.finditer(text)) for text in texts]


def word_runs(flat: str) -> list[str]:
    """Split a flattened text into words and runs of CJK."""
    return flat.split() if flat.isascii() else _RUN.findall(flat)


def is_bigrammed(word: str) -> bool:
    """Whether a run is compared by bigrams: it begins in CJK or a later Unicode block."""
    return word[:1] > "\u303f"


def indexed_words(folded: str) -> list[str]:
    """Split a case-folded text into the words of the lexical index; a run of an unspaced script is one word."""
    return ascii_words(folded) if folded.isascii() else INDEXED_WORD.findall(folded)


@lru_cache(maxsize=8)  # a segment is read for its terms, then for its words
def folded_words(text: str) -> tuple[str, list[str]]:
    """Return a text as the lexical index folds it, and its words there; the last few texts are cached."""
    folded = fold_spelling(text)
    return folded, indexed_words(folded)


def is_indexed_by_bigrams(word: str) -> bool:
    """Whether the lexical index stores a run as bigrams."""
    return _IS_INDEXED_BY_BIGRAMS.match(word) is not None


class ComparableText(NamedTuple):
    """A text as it is compared. ``flat`` is padded with spaces; ``terms`` are stems and CJK bigrams, repeats kept.

    ``spellings`` are the vocabulary, with letters and numbers both joined and apart: ROS2, ROS 2.
    """

    flat: str
    terms: tuple[str, ...]
    vocabulary: frozenset[str]
    spellings: frozenset[str]


@lru_cache(maxsize=512)  # some 1.8 KB each
def comparable_text(text: str, unaccented: bool = False) -> ComparableText:
    """Return the comparable form of a sentence, a title or a heading; the last few hundred are cached."""
    flat = without_accents(flatten(text)) if unaccented else flatten(text)
    terms = tuple(terms_of(flat))
    vocabulary = frozenset(terms)
    spellings = vocabulary.union(beside_numbers(flat.split())) if has_number(flat) else vocabulary
    return ComparableText(flat, terms, vocabulary, spellings)


def terms_of(flat: str) -> list[str]:
    """Return the stems of words and bigrams of CJK runs, in order; a lone CJK character is its own term."""
    if flat.isascii():
        return list(map(_STEMS.__getitem__, flat.split()))
    terms: list[str] = []
    for word in word_runs(flat):
        if is_bigrammed(word):
            terms += [word[i : i + 2] for i in range(len(word) - 1)] or [word]
        else:
            terms.append(stem(word))
    return terms


def stem(word: str) -> str:
    """Strip the commonest English endings; other words stay whole, and character grams relate their forms."""
    return _STEMS[word]


_MOST_STEMS = 16_384


class _Stems(dict[str, str]):
    """The stems of words met before; a cached function takes twice as long to answer, and each word is asked for."""

    def __missing__(self, word: str) -> str:
        if len(self) >= _MOST_STEMS:
            self.clear()
        found = self[word] = _without_ending(word)
        return found


_STEMS = _Stems()


def _without_ending(word: str) -> str:
    if len(word) < 4 or not word.isascii() or not word.isalpha():
        return word
    for ending, replacement in _ENDINGS.get(word[-1], ()):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word[: -len(ending)] + replacement
    return word


_ENDINGS = {  # by the last letter
    "s": (("ies", "y"), ("sses", "ss"), ("es", ""), ("ss", "ss"), ("s", "")),
    "g": (("ing", ""),),
    "d": (("ed", ""),),
    "y": (("ly", ""),),
    "e": (("e", ""),),
}


@dataclass(frozen=True, slots=True)
class QuestionTerms:
    """The terms of a question, and its character grams in three sizes: 1-3 for CJK, 3-5 for other scripts."""

    terms: tuple[str, ...]
    grams: tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]


@lru_cache(maxsize=256)
def question_terms(question: str) -> QuestionTerms:
    """Return a question's terms without its framing; a question that is all framing keeps all its words."""
    flat = flatten(question)
    phrases = _phrases(flat, stop_words(language(question))) or [flat]
    terms: dict[str, None] = {}
    sizes: tuple[dict[str, None], ...] = ({}, {}, {})
    for phrase in phrases:
        terms.update(dict.fromkeys(terms_of(phrase)))
        cjk = is_bigrammed(phrase.strip())
        for size, grams in enumerate(sizes):
            length = size + 1 if cjk else size + 3
            grams.update(dict.fromkeys(phrase[i : i + length] for i in range(len(phrase) - length + 1)))
    small, middle, large = (tuple(gram for gram in grams if gram.strip()) for grams in sizes)
    return QuestionTerms(tuple(terms), (small, middle, large))


def without_framing(question: str) -> str:
    """Return a question flattened and without its framing words; "" where it has no other words."""
    phrases = _phrases(flatten(question), stop_words(language(question)))
    return " ".join(phrase.strip() for phrase in phrases)


def _phrases(flat: str, framing: frozenset[str]) -> list[str]:
    """Split a flattened question at its function words; phrases of spaced scripts keep a space at both ends."""
    phrases: list[str] = []
    words: list[str] = []
    for word in word_runs(flat):
        if is_bigrammed(word):
            phrases += [piece for piece in CJK_STOP.split(word) if piece]
        elif word not in framing:
            words.append(word)
            continue
        if words:
            phrases.append(f" {' '.join(words)} ")
            words = []
    return [*phrases, f" {' '.join(words)} "] if words else phrases


def cuts_word(text: str, offset: int) -> bool:
    """Whether an offset lies inside a word or number: "25" is no passage of "250" or "2.25"."""
    if not 0 < offset < len(text):
        return False
    before, after = text[offset - 1], text[offset]
    if unicodedata.combining(after):
        return True
    if before.isalnum() and after.isalnum():
        return not (_IS_UNSPACED.match(before) or _IS_UNSPACED.match(after))
    if after.isdigit() and before in ".,":
        return offset > 1 and text[offset - 2].isdigit()
    return before.isdigit() and after in ".," and text[offset + 1 : offset + 2].isdigit()


def is_whole(text: str, start: int, end: int) -> bool:
    """Whether a passage begins and ends at word boundaries."""
    return not cuts_word(text, start) and not cuts_word(text, end)


_JOINER = "\u200d"
_EXTEND = ("Mn", "Mc", "Me")


def cut_near(text: str, offset: int, floor: int = 0) -> int:
    """Return the last grapheme boundary from ``floor`` + 1 to ``offset``, else the first one after.

    ``floor`` itself must be a boundary.
    """
    for at in range(min(offset, len(text)), floor, -1):
        if is_boundary(text, at, floor):
            return at
    at = offset + 1
    while not is_boundary(text, at, floor):
        at += 1
    return at


def is_boundary(text: str, offset: int, floor: int = 0) -> bool:
    """Whether an offset is a grapheme boundary; both ends of the text are boundaries, and so is ``floor``."""
    if offset <= 0 or offset >= len(text):
        return True
    before, after = text[offset - 1], text[offset]
    if before.isascii() and after.isascii():
        return not (before == "\r" and after == "\n")
    if before in "\r\n" or unicodedata.category(before) == "Cc":
        return True
    return not (
        _extends(after) or before == _JOINER or _is_flag_pair(text, offset, floor) or _in_syllable(before, after)
    )


def _extends(letter: str) -> bool:
    if letter == _JOINER or letter == "\u200c" or "\U0001f3fb" <= letter <= "\U0001f3ff":
        return True
    return "\U000e0020" <= letter <= "\U000e007f" or unicodedata.category(letter) in _EXTEND or letter in "\u0e33\u0eb3"


def _is_regional(letter: str) -> bool:
    return "\U0001f1e6" <= letter <= "\U0001f1ff"


def _is_flag_pair(text: str, offset: int, floor: int) -> bool:
    """Whether the regional indicators around an offset form one flag; a run is paired from its start."""
    if not (_is_regional(text[offset - 1]) and _is_regional(text[offset])):
        return False
    first = offset - 1
    while first > floor and _is_regional(text[first - 1]):
        first -= 1
    return (offset - first) % 2 == 1


def _in_syllable(before: str, after: str) -> bool:
    if not "\u1100" <= after <= "\u11ff":
        return False
    leads = "\u1100" <= before <= "\u115f"
    if after <= "\u115f":
        return leads
    syllable = "\uac00" <= before <= "\ud7a3"
    open_syllable = syllable and (ord(before) - 0xAC00) % 28 == 0
    if after <= "\u11a7":
        return leads or "\u1160" <= before <= "\u11a7" or open_syllable
    return syllable or "\u1160" <= before <= "\u11ff"
