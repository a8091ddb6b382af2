"""Similarity of texts: shared units weighted by rarity, and cosines of the bundled embedding."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain, repeat
from operator import contains

import numpy as np
from numpy.typing import NDArray

from tools.embeddings.static_embedding import WIDTH, bundled_embedder, unit_vectors

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]


def presence(units: Sequence[str], texts: Sequence[str] | Sequence[frozenset[str]]) -> Bools:
    """Return whether each text contains each unit, shape (units, texts)."""
    held = chain.from_iterable(map(contains, texts, repeat(unit)) for unit in units)
    return np.fromiter(held, dtype=bool, count=len(units) * len(texts)).reshape(len(units), len(texts))


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


def measure_similarity(question: str, sentences: Sequence[str], openings: Sequence[str] = ()) -> Similarity:
    """Compare a question with one or more sentences, each preceded by its opening and a space where there are openings.

    Takes about 0.05 ms for a sentence that is not cached.
    """
    coverage = _coverage(question)
    if coverage == 0.0:
        return Similarity(coverage, np.zeros(len(sentences)))
    summed = np.array([_summed(sentence) for sentence in sentences])
    if openings:
        summed += np.array([_summed(opening) if opening else _NOTHING for opening in openings])
    question_vector = unit_vectors(_summed(question)[None, :].copy())[0]
    return Similarity(
        coverage, coverage * (unit_vectors(summed).astype(np.float64) @ question_vector.astype(np.float64))
    )


@lru_cache(maxsize=256)
def _coverage(question: str) -> float:
    return bundled_embedder().coverage(question)


_NOTHING = np.zeros(WIDTH, np.float32)


@lru_cache(maxsize=8192)
def _summed(text: str) -> NDArray[np.float32]:
    """Return the sum of a text's token vectors, so that the vector of two joined texts is the sum of theirs."""
    return bundled_embedder().summed_tokens(bundled_embedder().tokens(text))
