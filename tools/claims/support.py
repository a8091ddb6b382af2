"""Estimate how far sources bear a claim, from the words they share with it.

A logistic model over a few features that mean the same in any script, fitted by ``evals/fit_support.py``, which
writes the weights and their held-out figures into ``support.json``. It orders claims; it proves none.
"""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

import numpy as np

from graph.evidence import Segment
from tools.claims.coverage import Coverage, Floats, coverage
from tools.claims.evidence import chosen_sentences
from tools.extractive.wording import flattened

FEATURES = (
    "evidence",  # share of the claim that the whole evidence holds
    "chosen",  # and that its evidence sentences hold
    "best",  # and that its best sentence holds
    "missing",  # log of how many terms the evidence sentences lack
    "names_missing",  # log of how many of its capitalised words the whole evidence lacks
    "numbers_missing",  # and how many of its numbers
    "sentences",  # log of how many sentences the evidence has: the more, the likelier that words are there by chance
)
SUPPORTED = 0.5  # where one must decide: either label weighs the same in the fit, so even odds
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_WORD = re.compile(r"[^\W\d_][\w'’-]*")


def features(claim: str, found: Coverage) -> Floats:
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
    return np.array([values[name] for name in FEATURES], dtype=np.float64)


def _numbers(text: str) -> set[str]:
    """Find numbers by their digits alone, since a point here is a comma there; signs and units are for verdicts."""
    return {re.sub("[.,]", "", found) for found in _NUMBER.findall(text)}


def _names(claim: str) -> set[str]:
    """Find capitalised words but the first, in the folded form of ``flattened``; scripts without case have none."""
    words = _WORD.findall(claim)[1:]
    return {part for word in words if word[0].isupper() for part in flattened(word).split()}


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
    if tuple(table["weights"]) != FEATURES:
        raise ValueError("support.json was fitted for other features; run python -m evals.fit_support")
    weights = np.array(list(table["weights"].values()))
    return SupportWeights(weights, float(table["intercept"]), str(table["provenance"]["claims"]))


def support(claim: str, segments: Sequence[Segment]) -> float:
    """Estimate in [0, 1] how likely the segments bear the claim; 0 where they hold none of its words."""
    return support_of(claim, coverage(claim, segments))


def support_of(claim: str, found: Coverage) -> float:
    """Estimate the same where the coverage is at hand."""
    if not found.held.any():
        return 0.0
    fitted = support_weights()
    return float(1.0 / (1.0 + np.exp(-(features(claim, found) @ fitted.weights + fitted.intercept))))
