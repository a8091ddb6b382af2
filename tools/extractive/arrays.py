"""The small arithmetic that the reader's features share: which text holds which unit, and how much that weighs."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

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
