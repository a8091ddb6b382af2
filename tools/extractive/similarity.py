"""Similarity of texts: shared units weighted by rarity, and cosines of the bundled embedding."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import repeat

import numpy as np
from numpy.typing import NDArray

from tools.embeddings.static_embedding import bundled_embedder

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]


def presence(units: Sequence[str], texts: Sequence[str] | Sequence[frozenset[str]]) -> Bools:
    """Tell which text holds which unit: (units, texts)."""
    held = np.fromiter([unit in text for unit in units for text in texts], dtype=bool, count=len(units) * len(texts))
    return held.reshape(len(units), len(texts))


def idf(present: Bools, others: int = 0) -> Floats:
    """Weigh rows by their rarity among the columns and ``others`` that hold none of them, as BM25 does."""
    found = present.sum(axis=1)
    weight: Floats = np.log1p((present.shape[1] + others - found + 0.5) / (found + 0.5))
    return weight


def cover(weight: Floats, present: Bools) -> Floats:
    """Give the share of the weight that each column holds, 0 where there is no weight."""
    total = weight.sum()
    share: Floats = weight @ present / total if total > 0 else np.zeros(present.shape[1])
    return share


def cover_beyond(weight: Floats, present: Bools, told: Bools) -> Floats:
    """Give the share of the weight that each column holds of the units which ``told`` does not hold there already."""
    open_units = ~told
    wanted = weight @ open_units
    held = weight @ (present & open_units)
    share: Floats = np.divide(held, wanted, out=np.zeros(present.shape[1]), where=wanted > 1e-9)
    return share


def log_odds(score: Floats) -> Floats:
    """Stretch scores in [0, 1] over the real line; certainty counts as one in ten thousand."""
    kept = np.clip(score, 1e-4, 1 - 1e-4)
    return np.asarray(np.log(kept / (1 - kept)), dtype=np.float64)


@dataclass(frozen=True, slots=True)
class Similarity:
    """Cosines of a question with each sentence, times ``coverage``: how far the model knows the language, 0 to 1."""

    coverage: float
    sentences: Floats


def measure_similarity(question: str, sentences: Sequence[str], openings: Sequence[str] = ()) -> Similarity:
    """Compare a question with one sentence or more, each behind its opening and a space where there are openings.

    About 0.05 ms a sentence that was not seen lately.
    """
    coverage = _coverage(question)
    if coverage == 0.0:
        return Similarity(coverage, np.zeros(len(sentences)))
    vectors = np.array(list(map(_vector, sentences, openings or repeat(""))), dtype=np.float64)
    return Similarity(coverage, coverage * (vectors @ _vector(question, "").astype(np.float64)))


@lru_cache(maxsize=256)
def _coverage(question: str) -> float:
    return bundled_embedder().coverage(question)


@lru_cache(maxsize=8192)
def _vector(text: str, opening: str) -> NDArray[np.float32]:
    tokens = [*_tokens(opening), *_tokens(text)] if opening else _tokens(text)
    vector: NDArray[np.float32] = bundled_embedder().pooled_tokens([tokens])[0]
    return vector


@lru_cache(maxsize=8192)
def _tokens(text: str) -> list[int]:
    return bundled_embedder().tokens(text)
