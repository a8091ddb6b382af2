"""Similarity of texts: shared units weighted by rarity, and cosines of the bundled embedding."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain, repeat
from operator import contains

import numpy as np
from numpy.typing import NDArray

from tools.embeddings.static_embedding import bundled_embedder, unit_vectors

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]


def presence(units: Sequence[str], texts: Sequence[str] | Sequence[frozenset[str]]) -> Bools:
    """Return whether each text contains each unit, shape (units, texts)."""
    held = chain.from_iterable(map(contains, texts, repeat(unit)) for unit in units)
    return np.fromiter(held, dtype=bool, count=len(units) * len(texts)).reshape(len(units), len(texts))


def nested_presence(sizes: Sequence[Sequence[str]], texts: Sequence[str]) -> list[Bools]:
    """Return the same for units of several sizes, each a character longer than the last.

    A longer unit is looked for only in the texts that contain the shorter one with which it begins, if any is.
    """
    tables: list[Bools] = []
    shorter: dict[str, list[int]] = {}
    everywhere = range(len(texts))
    for units in sizes:
        table = np.zeros((len(units), len(texts)), dtype=bool)
        found: dict[str, list[int]] = {}
        for row, unit in enumerate(units):
            found[unit] = [at for at in shorter.get(unit[:-1], everywhere) if unit in texts[at]]
            table[row, found[unit]] = True
        tables.append(table)
        shorter = found
    return tables


def idf(present: Bools, others: int = 0) -> Floats:
    """Return BM25's inverse document frequency of each row, with ``others`` extra columns that have none of them."""
    found = present.sum(axis=1)
    weight: Floats = np.log1p((present.shape[1] + others - found + 0.5) / (found + 0.5))
    return weight


def cover(weight: Floats, present: Bools) -> Floats:
    """Return the share of the total weight that each column has, 0 where there is no weight."""
    total = weight.sum()
    share: Floats = weight @ present / total if total > 0 else np.zeros(present.shape[1])
    return share


def cover_beyond(weight: Floats, present: Bools, known: Bools) -> Floats:
    """Return the share of the weight that each column has, counting only units that ``known`` lacks there."""
    open_units = ~known
    wanted = weight @ open_units
    held = weight @ (present & open_units)
    share: Floats = np.divide(held, wanted, out=np.zeros(present.shape[1]), where=wanted > 1e-9)
    return share


def log_odds(score: Floats) -> Floats:
    """Return the log odds of scores in [0, 1], clipped to [0.0001, 0.9999]."""
    kept = np.clip(score, 1e-4, 1 - 1e-4)
    return np.asarray(np.log(kept / (1 - kept)), dtype=np.float64)


@dataclass(frozen=True, slots=True)
class Similarity:
    """Cosines of a question with each sentence, times ``coverage``: how well the model covers the language, 0 to 1."""

    coverage: float
    sentences: Floats


def measure_similarity(question: str, sentences: Sequence[str]) -> Similarity:
    """Compare a question with one or more sentences.

    Takes about 0.02 ms for a sentence that is not cached.
    """
    coverage = _coverage(question)
    if coverage == 0.0:
        return Similarity(coverage, np.zeros(len(sentences)))
    return Similarity(coverage, coverage * _cosines(question, _SUMS.of(sentences)))


def measure_in_place(
    question: str, sentences: Sequence[str], openings: Sequence[str], of_sentence: NDArray[np.int_]
) -> tuple[Floats, Floats]:
    """Compare a question with sentences alone, and with each behind its opening and a space.

    ``of_sentence`` holds the index of each sentence's opening; an empty one opens nothing.
    """
    coverage = _coverage(question)
    if coverage == 0.0:
        return np.zeros(len(sentences)), np.zeros(len(sentences))
    summed = _SUMS.of(sentences)
    before = _SUMS.of(openings)
    behind = summed + before[of_sentence]
    return coverage * _cosines(question, summed), coverage * _cosines(question, behind)


def _cosines(question: str, summed: NDArray[np.float32]) -> Floats:
    """Return the cosine of a question with each row, which is scaled in place."""
    question_vector = unit_vectors(_SUMS.of([question]))[0]
    found: Floats = unit_vectors(summed).astype(np.float64) @ question_vector.astype(np.float64)
    return found


@lru_cache(maxsize=256)
def _coverage(question: str) -> float:
    return bundled_embedder().coverage(question)


_MOST_SUMS = 4096  # some 1.2 KB each


class _Sums:
    """The sums of the token vectors of texts, the last few thousand remembered. Safe to use in threads."""

    def __init__(self) -> None:
        self._known: dict[str, NDArray[np.float32]] = {}

    def of(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return the sum of each text, shape (texts, width); those that are not known are added up together."""
        known = self._known
        new = [text for text in dict.fromkeys(texts) if text not in known]
        if len(known) + len(new) > _MOST_SUMS:
            known, new = {}, list(dict.fromkeys(texts))
            self._known = known if len(new) <= _MOST_SUMS else {}
        if new:
            known.update(zip(new, bundled_embedder().summed(new), strict=True))
        return np.array([known[text] for text in texts])


_SUMS = _Sums()
