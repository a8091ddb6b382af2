"""How much of a claim's wording each sentence of its evidence holds.

A claim is looked for as stems (pairs of characters where a script puts no spaces) and as character grams, which
bridge the forms of a word; either kind makes up half of it. A unit weighs by its rarity among the sentences of the
evidence itself, so that the same claim and evidence mean the same in any library.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from graph.evidence import Segment
from tools.extractive.candidates import Candidate, candidates
from tools.extractive.wording import flattened, question_wording, terms_of

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

DAMPING = 0.7  # rarity among a few sentences is a rough guide, and what they lack would outweigh what they hold


@dataclass(frozen=True, slots=True)
class Coverage:
    """The units of a claim, its terms before its grams, and where in the evidence each is found.

    ``weight`` sums to 1 where there is a unit; ``held`` is (units, sentences), ``above`` tells for each unit whether a
    title or heading of the evidence has it. The first ``terms`` units are terms.
    """

    sentences: tuple[Candidate, ...]
    headings: str  # titles and headings, flattened
    terms: int
    weight: Floats
    held: Bools
    above: Bools

    def cover(self, sentences: Sequence[int]) -> float:
        """Give the share of the weight that some sentences hold between them."""
        return float(self.weight @ self.held[:, list(sentences)].any(axis=1))

    @property
    def whole(self) -> float:
        """The share of the weight that the whole evidence holds, titles and headings too."""
        return float(self.weight @ (self.held.any(axis=1) | self.above))


def coverage(claim: str, segments: Sequence[Segment]) -> Coverage:
    """Look for the units of a claim in every sentence of the segments. About 5 ms for 120 sentences."""
    pool = tuple(candidates(segments))
    headings = flattened("\n".join(dict.fromkeys(f"{each.title} {each.heading}" for each in segments)))
    wanted = question_wording(claim)  # the words that frame a question tell as little of a claim
    grams = wanted.grams[1]
    terms = _held(wanted.terms, [sentence.wording.vocabulary for sentence in pool])
    grams_held = _held(grams, [sentence.wording.flat for sentence in pool])
    return Coverage(
        sentences=pool,
        headings=headings,
        terms=len(wanted.terms),
        weight=_halves(_weight(terms), _weight(grams_held)),
        held=np.vstack([terms, grams_held]),
        above=np.vstack([_held(wanted.terms, [frozenset(terms_of(headings))]), _held(grams, [headings])])[:, 0],
    )


def _held(units: Sequence[str], texts: Sequence[str] | Sequence[frozenset[str]]) -> Bools:
    """Tell which text holds which unit: (units, texts)."""
    held = np.array([[unit in text for text in texts] for unit in units], dtype=bool)
    return held.reshape(len(units), len(texts))


def _weight(held: Bools) -> Floats:
    """Weigh units by rarity, as BM25 does but damped; they sum to 1 where there is one."""
    found = held.sum(axis=1)
    weight = np.log1p((held.shape[1] - found + 0.5) / (found + 0.5)) ** DAMPING
    return np.asarray(weight / weight.sum() if weight.size else weight, dtype=np.float64)


def _halves(terms: Floats, grams: Floats) -> Floats:
    both = np.concatenate([terms, grams])
    return np.asarray(both / both.sum() if both.size else both, dtype=np.float64)
