"""Estimate how far sources support a claim from the words they share with it, and select the sentences that do.

The weights are fitted by ``research/fitting/fit_support.py``, which writes them with their held-out figures into
``support.json``. The estimate orders claims; it proves none.
"""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

import numpy as np
from numpy.typing import NDArray

from graph.evidence import Segment
from text.normal_forms import flatten
from text.words import question_terms, terms_of
from tools.rules.candidate_sentences import CandidateSentence, candidate_sentences

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

DAMPING = 0.7  # rarity among a few sentences is a rough guide, and what they lack would outweigh what they hold


@dataclass(frozen=True, slots=True)
class Coverage:
    """The units of a claim, its terms before its grams, and where in the evidence each is found.

    ``weight`` sums to 1 where there is a unit; ``held`` is (units, sentences), ``above`` holds for each unit whether a
    title or heading of the evidence has it. The first ``terms`` units are terms.
    """

    sentences: tuple[CandidateSentence, ...]
    headings: str  # titles and headings, flattened
    terms: int
    weight: Floats
    held: Bools
    above: Bools

    def cover(self, sentences: Sequence[int]) -> float:
        """Return the share of the weight that some sentences hold between them."""
        return float(self.weight @ self.held[:, list(sentences)].any(axis=1))

    @property
    def whole(self) -> float:
        """The share of the weight that the whole evidence holds, titles and headings too."""
        return float(self.weight @ (self.held.any(axis=1) | self.above))


def measure_coverage(
    claim: str, segments: Sequence[Segment], pool: Sequence[CandidateSentence] | None = None
) -> Coverage:
    """Look for the units of a claim in every sentence of the segments, or only in a pool of them.

    About 5 ms for 120 sentences.
    """
    pool = tuple(candidate_sentences(segments) if pool is None else pool)
    headings = flatten("\n".join(dict.fromkeys(f"{each.title} {each.heading}" for each in segments)))
    wanted = question_terms(claim)  # the words that frame a question tell as little of a claim
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
    """Return which text holds which unit: (units, texts)."""
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


LEAST_GAIN = 0.1  # of the claim's weight
MOST_SENTENCES = 4
DENSITY = 0.3  # how much a sentence gains for being about little else than the claim
USUAL_LENGTH = 4.0  # in distinct terms


def chosen_sentences(found: Coverage) -> list[tuple[int, float]]:
    """Return the few sentences that hold most of a claim's wording, by index, with the share of it that each adds.

    There are none where no sentence holds enough of it.
    """
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
    """Return the cover of each sentence by the root of its length, as a cosine does; short ones count as one size."""
    lengths = np.array([max(USUAL_LENGTH, len(sentence.wording.vocabulary)) for sentence in found.sentences])
    dense: Floats = (found.weight @ found.held) * np.sqrt(USUAL_LENGTH / lengths)
    return dense


SUPPORT_FEATURES = (
    "evidence",  # share of the claim that the whole evidence holds
    "chosen",  # and that its evidence sentences hold
    "best",  # and that its best sentence holds
    "missing",  # log of how many terms the evidence sentences lack
    "names_missing",  # log of how many of its capitalised words the whole evidence lacks
    "numbers_missing",  # and how many of its numbers
    "sentences",  # log of how many sentences the evidence has: the more, the likelier that words are there by chance
)
SUPPORT_THRESHOLD = 0.5  # where one must decide: either label weighs the same in the fit, so even odds
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_WORD = re.compile(r"[^\W\d_][\w'’-]*")


def support_features(claim: str, found: Coverage) -> Floats:
    """Sum up a claim's coverage in the order of FEATURES."""
    chosen = [index for index, _ in chosen_sentences(found)]
    lacking = ~found.held[: found.terms, chosen].any(axis=1)
    values = {
        "evidence": found.whole,
        "chosen": found.cover(chosen),
        "best": float((found.weight @ found.held).max(initial=0.0)),
        "missing": np.log1p(lacking.sum()),
        "names_missing": np.log1p(len(_names(claim) - _words(found))),
        "numbers_missing": np.log1p(len(_numbers(claim) - _numbers(_text(found)))),
        "sentences": np.log1p(len(found.sentences)),
    }
    return np.array([values[name] for name in SUPPORT_FEATURES], dtype=np.float64)


def _numbers(text: str) -> set[str]:
    """Find numbers by their digits alone, since a point here is a comma there; signs and units are for verdicts."""
    return {re.sub("[.,]", "", found) for found in _NUMBER.findall(text)}


def _names(claim: str) -> set[str]:
    """Find capitalised words but the first, in the folded form of ``flattened``; scripts without case have none."""
    words = _WORD.findall(claim)[1:]
    return {part for word in words if word[0].isupper() for part in flatten(word).split()}


def _words(found: Coverage) -> set[str]:
    return {
        word for flat in (found.headings, *(each.wording.flat for each in found.sentences)) for word in flat.split()
    }


def _text(found: Coverage) -> str:
    return "\n".join((found.headings, *(each.text for each in found.sentences)))


@dataclass(frozen=True, slots=True)
class SupportWeights:
    """The fitted model, one weight a feature, and the name of the set of claims that it was fitted on."""

    weights: Floats
    intercept: float
    fitted_on: str


@cache
def support_weights() -> SupportWeights:
    """Load the weights that the package ships. Raises ValueError where they were fitted for other features."""
    table = json.loads(files(__package__).joinpath("support.json").read_text(encoding="utf-8"))
    if tuple(table["weights"]) != SUPPORT_FEATURES:
        raise ValueError("support.json was fitted for other features; run python -m research.fitting.fit_support")
    weights = np.array(list(table["weights"].values()))
    return SupportWeights(weights, float(table["intercept"]), str(table["provenance"]["claims"]))


def estimate_support(claim: str, segments: Sequence[Segment]) -> float:
    """Estimate in [0, 1] how likely the segments bear the claim; 0 where they hold none of its words."""
    found = measure_coverage(claim, segments)
    if not found.held.any():
        return 0.0
    fitted = support_weights()
    return float(1.0 / (1.0 + np.exp(-(support_features(claim, found) @ fitted.weights + fitted.intercept))))
