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
from tools.claims.coverage import Coverage, Floats, Units, coverage
from tools.claims.evidence import chosen_sentences
from tools.extractive.wording import flattened

FEATURES = (
    "terms",  # share of the claim's term weight in the whole evidence
    "grams",  # the same of its character grams
    "chosen_terms",  # and of both in the evidence sentences
    "chosen_grams",
    "best",  # cover by the best single sentence
    "pairs",  # share of neighbouring terms that stand in one evidence sentence, too
    "numbers",  # share of its numbers in the evidence sentences, 1 where it has none
    "numbers_anywhere",
    "names",  # share of its capitalised words in the evidence sentences, 1 where it has none
    "names_anywhere",
    "rarest_missing",  # weight of the heaviest term that no evidence sentence has
    "missing",  # log of how many terms the evidence sentences lack
    "claim_terms",  # log of how many terms the claim has
    "sentences",  # log of how many sentences the evidence has
    "chosen",  # how many sentences are needed
)
# What counts as supported where one must decide: the labels weigh the same in the fit, so even odds.
SUPPORTED = 0.5
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_WORD = re.compile(r"[^\W\d_][\w'’-]*")


def features(claim: str, found: Coverage) -> Floats:
    """Sum up a claim's coverage in the order of FEATURES; all zeros where there is no sentence."""
    if not found.sentences:
        return np.zeros(len(FEATURES))
    chosen = [index for index, _ in chosen_sentences(found)]
    everything = range(len(found.sentences))
    terms, grams = found.terms, found.grams
    lacking = ~terms.held[:, chosen].any(axis=1)
    near = " ".join(found.sentences[index].text for index in chosen)
    anywhere = " ".join(sentence.text for sentence in found.sentences)
    numbers, names = set(_NUMBER.findall(claim)), _names(claim)
    values = {
        "terms": terms.together(everything),
        "grams": grams.together(everything),
        "chosen_terms": terms.together(chosen),
        "chosen_grams": grams.together(chosen),
        "best": float(((terms.cover + grams.cover) / 2).max()),
        "pairs": _pairs(terms, chosen),
        "numbers": _share(numbers, set(_NUMBER.findall(near))),
        "numbers_anywhere": _share(numbers, set(_NUMBER.findall(anywhere))),
        "names": _share(names, set(flattened(near).split())),
        "names_anywhere": _share(names, set(flattened(anywhere).split())),
        "rarest_missing": float(terms.weight[lacking].max(initial=0.0)),
        "missing": float(np.log1p(lacking.sum())),
        "claim_terms": float(np.log1p(len(terms.names))),
        "sentences": float(np.log1p(len(found.sentences))),
        "chosen": float(len(chosen)),
    }
    return np.array([values[name] for name in FEATURES])


def _share(wanted: set[str], there: set[str]) -> float:
    return len(wanted & there) / len(wanted) if wanted else 1.0


def _names(claim: str) -> set[str]:
    words = _WORD.findall(claim)[1:]
    return {part for word in words if word[0].isupper() for part in flattened(word).split()}


def _pairs(terms: Units, chosen: Sequence[int]) -> float:
    if len(terms.names) < 2:
        return terms.together(chosen)
    both = (terms.held[:-1] & terms.held[1:])[:, list(chosen)].any(axis=1)
    weight = terms.weight[:-1] + terms.weight[1:]
    return float(weight @ both / weight.sum()) if weight.sum() > 0 else 0.0


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
    found = coverage(claim, segments)
    row = features(claim, found)
    if not found.terms.held.any() and not found.grams.held.any():
        return 0.0
    fitted = support_weights()
    return float(1.0 / (1.0 + np.exp(-(row @ fitted.weights + fitted.intercept))))
