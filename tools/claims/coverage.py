"""How much of a claim's wording each sentence of its evidence holds.

A claim is looked for as stems (pairs of characters where a script puts no spaces) and as character grams, which
bridge the forms of a word. A unit weighs by its rarity among the sentences of the evidence itself, so that the same
claim and evidence mean the same in any library.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from graph.evidence import Segment
from tools.extractive.candidates import Candidate, candidates
from tools.extractive.wording import question_wording

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Units:
    """Units of a claim by their weights, which sum to 1, and which sentence holds which: (units, sentences)."""

    names: tuple[str, ...]
    weight: Floats
    held: Bools

    @property
    def cover(self) -> Floats:
        """The share of the weight that each sentence holds: (sentences,)."""
        covered: Floats = self.weight @ self.held
        return covered

    def together(self, sentences: Sequence[int]) -> float:
        """Give the share of the weight that some sentences hold between them."""
        return float(self.weight @ self.held[:, list(sentences)].any(axis=1))


@dataclass(frozen=True, slots=True)
class Coverage:
    """The sentences of the evidence, in order, and what each holds of the claim."""

    sentences: tuple[Candidate, ...]
    terms: Units
    grams: Units


def coverage(claim: str, segments: Sequence[Segment]) -> Coverage:
    """Look for the units of a claim in every sentence of the segments. About 5 ms for 120 sentences."""
    pool = tuple(candidates(segments))
    wanted = question_wording(claim)  # the words that frame a question tell as little of a claim
    vocabularies = [sentence.wording.vocabulary for sentence in pool]
    flats = [sentence.wording.flat for sentence in pool]
    return Coverage(pool, _units(wanted.terms, vocabularies), _units(wanted.grams[1], flats))


def _units(names: tuple[str, ...], texts: Sequence[str] | Sequence[frozenset[str]]) -> Units:
    held = np.array([[name in text for text in texts] for name in names], dtype=bool).reshape(len(names), len(texts))
    found = held.sum(axis=1)
    weight = np.log1p((held.shape[1] - found + 0.5) / (found + 0.5))  # as BM25 weighs
    total = weight.sum()
    return Units(names, weight / total if total > 0 else weight, held)
