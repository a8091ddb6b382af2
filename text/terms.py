"""Weighted terms of the lexical index, from text of any language.

No language is configured: words are runs of letters and digits after NFKC and case folding, and other kinds of terms
add what a script needs beyond that. A prefix of the hashed key marks the kind, so that kinds never collide by
spelling: words (none), prefixes (``^``), pairs of adjacent words (``_``), accent-folded copies (``~``), dates (``@``),
and names of code as a whole (``!``), such as ``max_connections``, ``json.loads``, ``--leak-check`` and ``15.2``.
What is spelt in several ways is in the index in one form: see ``spellings``.
"""

import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import pairwise
from typing import TypeVar
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from text.dates import is_meant
from text.normal_forms import fold_case, without_marks
from text.spellings import (
    beside_numbers,
    fold_kana,
    fold_spelling,
    has_number,
    humps,
    joined_by_sign,
    signed_pieces,
    spellings_of,
)
from text.words import INDEXED_WORD, folded_words, is_indexed_by_bigrams

TERM_SPACE = 999_999_937  # the largest prime below 10^9, the dimension limit of pgvector's sparse vectors
UNSPACED_TERM = TERM_SPACE + 1  # in every segment with an unspaced script; their count sets the IDF of its bigrams
K1 = 1.2
B = 0.75
MEAN_LENGTH = 140.0  # a constant of the index: a running mean would change every stored weight
TITLE_COUNT = 2
# Two levels are enough to tell where common words weigh most; each further one, or a lower one, costs ingestion CPU.
IMPACT_LEVELS = 2  # that a high weight is rounded down to
LEAST_IMPACT = 1.45  # the weight of the lowest level, about that of a word said twice in a segment of usual length
IMPACT_STEP = 0.25
IMPACT_SPACE = 2**31 - 1  # keys are below zero
PREFIX_LETTERS = 5
MOST_WORDS = 1 << 14  # whose terms are remembered, in 7 MB: more of them would take memory and save no time
TERMS_VERSION = 2  # of these rules: a library whose terms were weighed by earlier ones is to be reindexed
SIDE_WEIGHT = 0.5  # of a question's prefixes, pairs and interrogatives
INNER_WEIGHT = 0.2  # of its words for which a date, version or number in one form stands
JOINED_WEIGHT = 2.0  # of two of its words that the library writes as one
ACROSS = 0.5  # the share expected in a good match of terms that may span two words

# An answer does not repeat these, so their bigrams are rare and would get the high IDF of a distinctive term.
_INTERROGATIVES = re.compile(
    fold_kana(
        "什么|什麼|甚麼|怎么|怎麼|怎样|怎樣|多少|哪|谁|誰|为何|為何|如何|何时|何時|何年|何人|何が|何を|几个|幾個"
        "|どこ|いつ|なぜ|どの|どう|どれ|いくつ|무엇|누구|어디|언제|어떻게|어느"
    )
)


_CODE_NAME = re.compile(
    r"(?<![\w-])--?[a-z]\w*+(?:[.:=-]++\w++)*+"  # an option with its dashes
    r"|(?<!\w)(?:[^\W\d_]\w*+(?:(?:\.|::|->|-)\w++)++|_*+[^\W_]++_\w++)|(?<![\w.])\d++(?:\.\d++)++"
)


def code_names(folded: str) -> list[str]:
    """Return the names of code in a case-folded text: what joins words by signs, options with dashes, versions."""
    return [name for piece in signed_pieces(folded) for name in _CODE_NAME.findall(piece)]


@dataclass(frozen=True, slots=True)
class TermVector:
    """Distinct term ids, ascending, int32 in 1..UNSPACED_TERM, with a float32 weight each."""

    ids: NDArray[np.int32]
    weights: NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class QueryTerms:
    """A question's terms, in the form of a TermVector, and how far each is ``expected`` in a good match, from 0 to 1.

    A word is expected. Of a run without spaces about half of the bigrams are: the others span two words, and so do
    pairs. Prefixes and folded copies add to a match, but their absence makes a question no less answered.
    ``unspaced`` marks the terms of a script without spaces.
    """

    ids: NDArray[np.int32]
    weights: NDArray[np.float32]
    expected: NDArray[np.float32]
    unspaced: NDArray[np.bool_]


def weigh_segment(text: str, *, title: str = "", heading: str = "", named: str = "", around: str = "") -> TermVector:
    """Weight each term of a segment by BM25 without the IDF, which the question contributes.

    Weights are in (0, K1 + 1). The title counts ``TITLE_COUNT`` times, the heading path once; so do ``named``, the
    terms that it defines, beside their place in the text, and ``around``, what it hangs on outside of itself.
    Term-frequency saturation and length normalisation after Robertson and Zaragoza, "The Probabilistic Relevance
    Framework" (2009), with a fixed mean length, so that stored weights never go stale.
    """
    counts: Counter[int] = Counter()
    length, unspaced = _count(text, counts)
    for beside in (named, around):
        if beside:
            length += _count(beside, counts)[0]
    if heading:
        ids, heading_length = _count_short(heading)
        length += heading_length
        counts.update(ids)
    if title:
        ids, title_length = _count_short(title)
        length += TITLE_COUNT * title_length
        for term in ids:
            counts[term] += TITLE_COUNT
    if unspaced:
        counts[UNSPACED_TERM] = 1
    size = len(counts)
    ids_array = np.fromiter(counts.keys(), np.int32, size)
    frequency = np.fromiter(counts.values(), np.float32, size)
    order = np.argsort(ids_array)
    frequency = frequency[order]
    norm = K1 * (1.0 - B + B * length / MEAN_LENGTH)
    return TermVector(ids_array[order], frequency * np.float32(K1 + 1) / (frequency + np.float32(norm)))


def with_impacts(vector: TermVector) -> NDArray[np.int32]:
    """Return what the index holds of a segment: its term ids, ascending, and behind them its impact keys.

    A term of high weight has a second key that tells the level of its weight, so that of a common term those segments
    can be looked up that say most of it: an impact-ordered index after Anh and Moffat, "Pruned query evaluation using
    pre-computed impacts" (2006), within one inverted index. About every sixth term of a segment has one.
    """
    high = np.flatnonzero(vector.weights >= LEAST_IMPACT)
    levels = ((vector.weights[high] - LEAST_IMPACT) / IMPACT_STEP).astype(np.int64)
    keys = _impact_keys(vector.ids[high].astype(np.int64), np.minimum(levels, IMPACT_LEVELS - 1))
    return np.concatenate((vector.ids, keys.astype(np.int32)))


def impact_keys(term: int) -> list[int]:
    """Return the keys of a term's levels of weight, the lowest first."""
    return [_impact_keys(term, level) for level in range(IMPACT_LEVELS)]


_Integers = TypeVar("_Integers", int, NDArray[np.int64])


def _impact_keys(term: _Integers, level: _Integers | int) -> _Integers:
    # Negative, so never a term. Two may meet, as any hashes: a search then looks at a segment in vain.
    return -1 - (term * IMPACT_LEVELS + level) % IMPACT_SPACE


@dataclass(frozen=True, slots=True)
class Respelling:
    """How the words of a question are spelt in a library.

    ``instead`` has, for a word that the library does not know, those to look for as well, each with how far it is
    expected. ``joined`` are pairs of words that it knows as one. ``is_older``: its segments were weighed by an earlier
    release, and have no form of a date, version or number, nor one kana for the other.
    """

    instead: Mapping[str, Sequence[tuple[str, float]]] = field(default_factory=dict)
    joined: Collection[tuple[str, str]] = ()
    is_older: bool = False


AS_WRITTEN = Respelling()
_Weights = dict[int, tuple[float, float]]  # of a term, and how far it is expected


def weigh_question(question: str, respelling: Respelling = AS_WRITTEN) -> QueryTerms:
    """Weight the terms to look for: 1 for words, ``SIDE_WEIGHT`` for prefixes and pairs.

    Bigrams that touch an interrogative weigh ``SIDE_WEIGHT`` too. A date, version or long number is expected in the
    one form that all its spellings have, and the words that it is written in weigh little.

    Accent-folded copies are looked for only where the question has no accented letter at all, as when people type
    without accents; otherwise they would match words that the question does not mean.
    """
    folded = fold_case(question) if respelling.is_older else fold_spelling(question)
    matches = list(INDEXED_WORD.finditer(folded))
    if is_table_of_characters([word[0] for word in matches]):
        matches = [word for word in matches if len(word[0]) > 1]
    words = [word[0] for word in matches]
    forms = [] if respelling.is_older else spellings_of(folded)
    dated = (form for form in forms if form.key[0] == "@")
    unsure = [form for form in dated if not is_meant(form.key[1:], folded[form.start : form.end], question)]
    found: _Weights = {_hash(form.key): (1.0, 0.0 if form in unsure else ACROSS) for form in forms}
    inner = {at for form in forms if form not in unsure for at in range(form.start, form.end)}
    unspaced = _weigh_words(matches, inner, found)
    _respell(respelling, found)
    outer = ["" if word.start() in inner else word[0] for word in matches]
    for left, right in pairwise(outer):
        if left and right and not (left.isascii() and right.isascii()) and (pair := _pair(left, right)):
            found.setdefault(pair, (SIDE_WEIGHT, ACROSS))
    unaccented = all(_entry(word).folded is None for word in words)
    for word in words:
        entry = _entry(word)
        for term in entry.side:
            found.setdefault(term, (SIDE_WEIGHT, 0.0))
        if unaccented and not entry.unspaced:
            found.setdefault(_hash("~" + word), (1.0, 0.0))
    for key in (*beside_numbers(outer), *joined_by_sign(folded), *humps(question)):
        found.setdefault(_hash(key), (SIDE_WEIGHT, 0.0))
    for name in code_names(folded):
        if respelling.is_older or not name[0].isdigit():
            found.setdefault(_hash("!" + name), (1.0, 0.0))
    ids = sorted(found)
    return QueryTerms(
        np.array(ids, np.int32),
        np.array([found[term][0] for term in ids], np.float32),
        np.array([found[term][1] for term in ids], np.float32),
        np.array([term in unspaced for term in ids], np.bool_),
    )


def _weigh_words(matches: Sequence[re.Match[str]], inner: Collection[int], found: _Weights) -> set[int]:
    """Weigh the words of a question, less those at ``inner`` places; return the terms of scripts without spaces."""
    unspaced: set[int] = set()
    for match in matches:
        word, entry = match[0], _entry(match[0])
        if not entry.unspaced:
            weight = (INNER_WEIGHT, 0.0) if match.start() in inner else (1.0, 1.0)
            found[entry.main[0]] = max(found.get(entry.main[0], weight), weight)
            continue
        unspaced.update(entry.main)
        asking = {at for each in _INTERROGATIVES.finditer(word) for at in range(each.start() - 1, each.end())}
        for at, term in enumerate(entry.main):
            is_inner = match.start() + at in inner
            weight = INNER_WEIGHT if is_inner else SIDE_WEIGHT if at in asking else 1.0, 0.0 if is_inner else ACROSS
            found[term] = max(found.get(term, weight), weight if len(word) > 1 or is_inner else (weight[0], 1.0))
    return unspaced


def _respell(respelling: Respelling, found: _Weights) -> None:
    for word, others in respelling.instead.items():
        found[_hash(word)] = (1.0, ACROSS)
        for other, expected in others:
            found.setdefault(_hash(other), (1.0, expected))
    for left, right in respelling.joined:
        found.update({_hash(word): (1.0, ACROSS) for word in (left, right)})
        found[_hash(left + right)] = (JOINED_WEIGHT, ACROSS)


def term_of(word: str) -> int:
    """Return the id of a folded word of a script with spaces."""
    return _hash(word)


def split_words(text: str) -> Sequence[str]:
    """Split text into folded words; a run of an unspaced script counts as one word."""
    return folded_words(text)[1]


LEAST_CHARACTERS = 20  # of a table of them


def is_table_of_characters(words: Sequence[str]) -> bool:
    """Whether most words are a single letter or digit, as in a table of characters, where they tell nothing."""
    return len(words) >= LEAST_CHARACTERS and 2 * sum(map((1).__eq__, map(len, words))) > len(words)


@dataclass(frozen=True, slots=True)
class _Entry:
    """The terms of one word: ``main`` terms, which count as its length, ``side`` terms and its folded copy."""

    main: tuple[int, ...]
    side: tuple[int, ...]
    folded: int | None
    unspaced: bool
    all: tuple[int, ...]


def _hash(key: str) -> int:
    return crc32(key.encode()) % TERM_SPACE + 1


@lru_cache(maxsize=MOST_WORDS)
def _entry(word: str) -> _Entry:
    if is_indexed_by_bigrams(word):
        grams = [word] if len(word) == 1 else [a + b for a, b in pairwise(word)]
        main = tuple(map(_hash, grams))
        return _Entry(main, (), None, True, main)
    main = (_hash(word),)
    side = (_hash("^" + word[:PREFIX_LETTERS]),) if len(word) > PREFIX_LETTERS and word.isalpha() else ()
    folded = None
    if not word.isascii():
        plain = without_marks(word)
        folded = _hash("~" + plain) if plain and plain != word else None
    return _Entry(main, side, folded, False, (*main, *side, *(() if folded is None else (folded,))))


@lru_cache(maxsize=MOST_WORDS)
def _pair(left: str, right: str) -> int:
    """Hash two adjacent words; 0 where either is of an unspaced script, whose bigrams already join words."""
    if is_indexed_by_bigrams(left) or is_indexed_by_bigrams(right):
        return 0
    return _hash(f"{left}_{right}")


def _count(text: str, counts: Counter[int]) -> tuple[int, bool]:
    """Count a text's terms into ``counts``; return its length and whether any of it is of an unspaced script."""
    folded, words = folded_words(text)
    if is_table_of_characters(words):
        words = [word for word in words if len(word) > 1]
    entries = [_entry(word) for word in words]
    counts.update([term for entry in entries for term in entry.all])
    names = [f"!{name}" for name in code_names(folded)]
    names += [key for form in spellings_of(folded) for key in form.keys if key not in names]
    beside = beside_numbers(words) if has_number(folded) else ()
    counts.update([_hash(key) for key in (*names, *beside, *joined_by_sign(folded), *humps(text))])
    if not "".join(words).isascii():
        pairs = [_pair(a, b) for a, b in pairwise(words) if not (a.isascii() and b.isascii())]
        counts.update([pair for pair in pairs if pair])
    if not any([entry.unspaced for entry in entries]):
        return len(entries), False  # each has one main term
    return sum([len(entry.main) for entry in entries]), True


@lru_cache(maxsize=1024)
def _count_short(text: str) -> tuple[tuple[int, ...], int]:
    counts: Counter[int] = Counter()
    length, _ = _count(text, counts)
    return tuple(counts.elements()), length
