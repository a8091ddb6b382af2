"""Choose the sentences that bear a claim: each must add words of the claim that those before it lack.

Greedy choice by marginal gain, as maximal coverage is approximated (Nemhauser, Wolsey and Fisher 1978): a second
sentence that repeats what the first says adds nothing, however similar it is to the claim.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from graph.evidence import Segment
from tools.claims.coverage import Coverage, Floats, coverage

LEAST_GAIN = 0.1  # of the claim's weight
MOST_SENTENCES = 4
DENSITY = 0.3  # how much a sentence gains for being about little else than the claim
USUAL_LENGTH = 4.0  # in distinct terms


@dataclass(frozen=True, slots=True)
class EvidenceSentence:
    """A sentence of one segment, in offsets of its text, and the share of the claim that it adds to those before."""

    segment: int
    start: int
    end: int
    gain: float


@dataclass(frozen=True, slots=True)
class Evidence:
    """The sentences that bear a claim, in the order chosen, and the share of it in [0, 1] that they hold together."""

    sentences: tuple[EvidenceSentence, ...]
    cover: float


def evidence(claim: str, segments: Sequence[Segment]) -> Evidence:
    """Find the few sentences of the segments that hold most of a claim's wording; none where no sentence does."""
    return evidence_of(coverage(claim, segments))


def evidence_of(found: Coverage) -> Evidence:
    """Find the same where the coverage is at hand."""
    chosen = chosen_sentences(found)
    sentences = tuple(
        EvidenceSentence(found.sentences[i].segment, found.sentences[i].start, found.sentences[i].end, gain)
        for i, gain in chosen
    )
    return Evidence(sentences, sum(gain for _, gain in chosen))


def chosen_sentences(found: Coverage) -> list[tuple[int, float]]:
    """Choose sentences of a coverage, by index, with what each adds."""
    weight = found.weight
    bonus = DENSITY * _density(found)
    chosen: list[tuple[int, float]] = []
    while len(chosen) < min(MOST_SENTENCES, len(found.sentences)):
        gain = weight @ found.held
        worth = np.where(gain >= LEAST_GAIN, gain + bonus, -1.0)
        best = int(worth.argmax())
        if worth[best] < 0:
            break
        chosen.append((best, float(gain[best])))
        weight = np.where(found.held[:, best], 0.0, weight)
    return chosen


def _density(found: Coverage) -> Floats:
    """Give the cover of each sentence by the root of its length, as a cosine does; short ones count as of one size."""
    lengths = np.array([max(USUAL_LENGTH, len(sentence.wording.vocabulary)) for sentence in found.sentences])
    dense: Floats = (found.weight @ found.held) * np.sqrt(USUAL_LENGTH / lengths)
    return dense
