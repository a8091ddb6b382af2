"""The words of questions and sentences, as the reader compares them: folded and stemmed."""

import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache

from tools.extractive.stop_words import CJK_STOP, stop_words
from tools.languages import language

CJK = "\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff"
_BESIDE_CJK = re.compile(rf"(?<=[{CJK}])\s+|\s+(?=[{CJK}])")
_RUN = re.compile(rf"[{CJK}]+|[^\W_{CJK}]+")
_NOT_WORD = re.compile(r"[\W_]+")


@dataclass(frozen=True, slots=True)
class Wording:
    """A text made comparable. ``flat`` is padded with spaces; ``terms`` are stems and CJK bigrams, repeats kept."""

    flat: str
    terms: tuple[str, ...]
    vocabulary: frozenset[str]


def flattened(text: str) -> str:
    """Fold width, case and punctuation away, and the spaces beside CJK characters."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    return f" {_BESIDE_CJK.sub('', _NOT_WORD.sub(' ', folded)).strip()} "


def without_accents(flat: str) -> str:
    """Give a flattened text as somebody types it who leaves accents out."""
    if flat.isascii():
        return flat
    bare = "".join(mark for mark in unicodedata.normalize("NFD", flat) if not unicodedata.combining(mark))
    return unicodedata.normalize("NFC", bare).replace("đ", "d")


@lru_cache(maxsize=8192)
def worded(text: str, unaccented: bool = False) -> Wording:
    """Give the comparable form of a sentence; the last few thousand are remembered."""
    flat = without_accents(flattened(text)) if unaccented else flattened(text)
    terms = tuple(terms_of(flat))
    return Wording(flat, terms, frozenset(terms))


def terms_of(flat: str) -> list[str]:
    """List stems of words and bigrams of CJK runs, in order; a lone CJK character stands for itself."""
    terms: list[str] = []
    for run in _RUN.finditer(flat):
        word = run[0]
        if word[0] > "\u303f":
            terms += [word[i : i + 2] for i in range(len(word) - 1)] or [word]
        else:
            terms.append(stem(word))
    return terms


@lru_cache(maxsize=32768)
def stem(word: str) -> str:
    """Cut the commonest English endings; other words stay whole, and character grams bridge their forms."""
    if len(word) < 4 or not word.isascii() or not word.isalpha():
        return word
    for ending, instead in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word[: -len(ending)] + instead
    return word


_ENDINGS = (
    ("ies", "y"),
    ("sses", "ss"),
    ("ing", ""),
    ("ed", ""),
    ("es", ""),
    ("ss", "ss"),
    ("s", ""),
    ("ly", ""),
    ("e", ""),
)


@dataclass(frozen=True, slots=True)
class QuestionWording:
    """What of a question to look for: terms, and character grams in three sizes: 1-3 for CJK, 3-5 for other scripts."""

    terms: tuple[str, ...]
    grams: tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]


@lru_cache(maxsize=256)
def question_wording(question: str) -> QuestionWording:
    """Strip a question of what frames it; a question of nothing else keeps all its words."""
    flat = flattened(question)
    phrases = _phrases(flat, stop_words(language(question))) or [flat]
    terms: dict[str, None] = {}
    sizes: tuple[dict[str, None], ...] = ({}, {}, {})
    for phrase in phrases:
        terms.update(dict.fromkeys(terms_of(phrase)))
        cjk = phrase.strip()[:1] > "\u303f"
        for size, grams in enumerate(sizes):
            length = size + 1 if cjk else size + 3
            grams.update(dict.fromkeys(phrase[i : i + length] for i in range(len(phrase) - length + 1)))
    small, middle, large = (tuple(gram for gram in grams if gram.strip()) for grams in sizes)
    return QuestionWording(tuple(terms), (small, middle, large))


def telling_words(question: str) -> str:
    """Give a question folded and without the words that frame it; "" where it has no others."""
    phrases = _phrases(flattened(question), stop_words(language(question)))
    return " ".join(phrase.strip() for phrase in phrases)


def _phrases(flat: str, framing: frozenset[str]) -> list[str]:
    """Split a flattened question at its function words; phrases of spaced scripts keep a space at both ends."""
    phrases: list[str] = []
    words: list[str] = []
    for run in _RUN.finditer(flat):
        word = run[0]
        if word[0] > "\u303f":
            phrases += [piece for piece in CJK_STOP.split(word) if piece]
        elif word not in framing:
            words.append(word)
            continue
        if words:
            phrases.append(f" {' '.join(words)} ")
            words = []
    return [*phrases, f" {' '.join(words)} "] if words else phrases
