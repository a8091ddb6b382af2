"""Normal forms in which texts are compared: folded notation, stems, bigrams, and the telling words of a question."""

import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache

from text.language import language
from text.stop_words import CJK_STOP, stop_words

_QUOTES = "\u2018\u2019\u201a\u201b\u2032\u00b4\u02bc"
_DOUBLE_QUOTES = "\u201c\u201d\u201e\u201f\u00ab\u00bb\u2033\u300c\u300d\u300e\u300f"
_DASHES = "\u2010\u2011\u2012\u2013\u2014\u2015\u2212\u2043\ufe58\ufe63\uff0d"
_NOTHING = "\u00ad\u200b\u200c\u200d\u2060\ufeff\ufe0e\ufe0f"
_DOTS = "\u30fb\u2022\u2027\u22c5\uff65"  # of transliterated names, beside the middle dot
_TABLE = str.maketrans(
    {
        **dict.fromkeys(_QUOTES, "'"),
        **dict.fromkeys(_DOUBLE_QUOTES, '"'),
        **dict.fromkeys(_DASHES, "-"),
        **dict.fromkeys(_NOTHING, ""),
        **dict.fromkeys(_DOTS, "\u00b7"),
    }
)
_REFERENCE_MARK = re.compile(
    r"\[(?:\^?\d{1,4}(?:[,;]\s?\d{1,4})*"
    r"|\^\w{1,20}|ref:\d{1,4}|note \d+|nb \d+|citation needed|cần dẫn nguồn|来源请求)\]"
)
_FRACTIONS = {"¼": ".25", "½": ".5", "¾": ".75"}
_FRACTION = re.compile(r"(\d?)([¼½¾])")
_TOKENISED_QUOTES = re.compile(r"``|''")


def fold(text: str) -> str:
    """Give a text composed (NFKC), with one kind of quote and dash, and without reference marks such as ``[3]``.

    Case is kept, since capitals show names. Offsets are not: a proof is found by its sentence, whose span is known.
    """
    if not text.isascii():
        text = _FRACTION.sub(lambda found: (found[1] or "0") + _FRACTIONS[found[2]], text)
        text = unicodedata.normalize("NFKC", text.translate(_TABLE)).translate(_TABLE)
    if "[" in text:
        text = _REFERENCE_MARK.sub(" ", text)
    return _TOKENISED_QUOTES.sub('"', text)


CJK = "\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff"
_BESIDE_CJK = re.compile(rf"(?<=[{CJK}])\s+|\s+(?=[{CJK}])")
_RUN = re.compile(rf"[{CJK}]+|[^\W_{CJK}]+")
_NOT_WORD = re.compile(r"[\W_]+")


@dataclass(frozen=True, slots=True)
class ComparableText:
    """A text made comparable. ``flat`` is padded with spaces; ``terms`` are stems and CJK bigrams, repeats kept."""

    flat: str
    terms: tuple[str, ...]
    vocabulary: frozenset[str]


def flatten(text: str) -> str:
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
def comparable_text(text: str, unaccented: bool = False) -> ComparableText:
    """Give the comparable form of a sentence; the last few thousand are remembered."""
    flat = without_accents(flatten(text)) if unaccented else flatten(text)
    terms = tuple(terms_of(flat))
    return ComparableText(flat, terms, frozenset(terms))


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
class QuestionTerms:
    """What of a question to look for: terms, and character grams in three sizes: 1-3 for CJK, 3-5 for other scripts."""

    terms: tuple[str, ...]
    grams: tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]


@lru_cache(maxsize=256)
def question_terms(question: str) -> QuestionTerms:
    """Strip a question of what frames it; a question of nothing else keeps all its words."""
    flat = flatten(question)
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
    return QuestionTerms(tuple(terms), (small, middle, large))


def telling_words(question: str) -> str:
    """Give a question folded and without the words that frame it; "" where it has no others."""
    phrases = _phrases(flatten(question), stop_words(language(question)))
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
