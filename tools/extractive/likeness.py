"""How alike a question and sentences are by the bundled static embeddings, as far as these know the language."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from tools.extractive.arrays import Floats
from tools.static_embedding import bundled_embedder


@dataclass(frozen=True, slots=True)
class Likeness:
    """Cosines of a question with each sentence, times ``coverage``: how far the model knows the language, 0 to 1."""

    coverage: float
    sentences: Floats


def likeness(question: str, sentences: Sequence[str]) -> Likeness:
    """Compare a question with sentences. About 0.1 ms a sentence that was not seen lately."""
    coverage = bundled_embedder().coverage(question)
    asked = _vector(question)
    return Likeness(coverage, np.array([coverage * float(_vector(sentence) @ asked) for sentence in sentences]))


@lru_cache(maxsize=4096)
def _vector(text: str) -> Floats:
    vector: Floats = bundled_embedder().pooled([text])[0].astype(np.float64)
    return vector
