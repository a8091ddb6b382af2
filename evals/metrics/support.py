"""Functions that tell whether a text supports a statement, each with how well people's labels bear it out.

A measure that asks such a function is worth what the function is, so its rating is shown beside every figure that rests
on it. Any function of two texts will do: a natural language inference model's, a language model's opinion, or ours.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import files
from pathlib import Path

import numpy as np
from typing_extensions import TypedDict

import tools.claims
from evals.datasets.wice import claims_digest, load_wice
from evals.discrimination import auc, balanced_accuracy
from graph.errors import InvalidRequest
from graph.evidence import Segment
from tools.claims.support import SUPPORTED, support, support_weights

Score = Callable[[str, str], float]  # of a premise and a statement: the larger, the likelier that it is supported


class Rating(TypedDict):
    """How well a function tells what people labelled supported from the rest; ``of`` says on what it was found."""

    claims: int
    auroc: float
    balanced_accuracy: float
    of: str


@dataclass(frozen=True, slots=True)
class SupportFunction:
    """A named function of a premise and a statement, which is supported where it scores ``threshold`` or more.

    ``rating`` is what is known of it beforehand. ``fitted_on`` is the digest of the claims that it was fitted on, if
    any: the rating has to be held out where those are asked about again.
    """

    name: str
    score: Score
    threshold: float
    rating: Rating | None = None
    fitted_on: str = ""

    def holds(self, premise: str, statement: str) -> bool:
        """Tell whether the premise supports the statement."""
        return self.score(premise, statement) >= self.threshold


class SupportDescription(TypedDict):
    """The function that figures rest on, with its rating; null where none is known."""

    name: str
    rating: Rating | None


def described(function: SupportFunction) -> SupportDescription:
    """Name a function with its rating, to stand beside figures that rest on it."""
    return SupportDescription(name=function.name, rating=function.rating)


def rated(function: SupportFunction, path: Path) -> Rating:
    """Rate a function on WiCE: each claim against the whole page it cites, supported ones against all others.

    A function that was fitted on these very claims keeps the rating it came with. Raises InvalidRequest where the file
    cannot be read, or lacks supported claims or others.
    """
    claims = load_wice(path)
    if function.rating is not None and claims_digest(claims) == function.fitted_on:
        return function.rating
    supported = np.array([claim.label == "supported" for claim in claims])
    if supported.all() or not supported.any():
        raise InvalidRequest(f"{path} needs both supported claims and others.")
    scores = np.array([function.score("\n\n".join(claim.lines), claim.text) for claim in claims])
    yes, no = scores[supported], scores[~supported]
    return Rating(
        claims=len(claims),
        auroc=auc(yes, no),
        balanced_accuracy=balanced_accuracy(yes, no, function.threshold),
        of="WiCE",
    )


@cache
def shipped() -> SupportFunction:
    """Give the estimator that the claim checker ships, with the figures of its fit on articles held out."""
    table = json.loads(files(tools.claims).joinpath("support.json").read_text(encoding="utf-8"))["cv"]
    rating = Rating(
        claims=int(table["claims"]),
        auroc=float(table["auroc"]),
        balanced_accuracy=float(table["balanced_accuracy"]),
        of="WiCE, articles held out",
    )
    return SupportFunction("word coverage", _estimated, SUPPORTED, rating, support_weights().fitted_on)


@lru_cache(maxsize=1 << 14)  # measures of a run, of its groups and of its answers' two sides ask the same again
def _estimated(premise: str, statement: str) -> float:
    return support(statement, [Segment("premise", 0, 0, len(premise), premise)])
