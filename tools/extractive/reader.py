"""Order the sentences of a run's segments by how well they answer its question.

A linear model over the features of ``features.py``, fitted as a listwise softmax (Cao et al. 2007, ListNet's top-one
probability) by ``evals/fit_reader.py``, which writes the weights and where they come from into ``weights.json``.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

import numpy as np

from graph.evidence import Segment
from tools.extractive.candidates import Candidate, Shape, candidates
from tools.extractive.features import FEATURES, Floats, evidence
from tools.extractive.parts import parts
from tools.extractive.signals import SIGNALS, signals

# Set by hand, since no data set at hand holds such lines: prose wins where both say as much. Headings are never quoted.
SHAPE_PENALTY: Mapping[Shape, float] = {"prose": 0.0, "item": 0.2, "row": 0.5, "code": 1.5, "heading": 6.0}


@dataclass(frozen=True, slots=True)
class Weights:
    """The fitted models: one weight a feature, and a logistic model over a question's signals."""

    reader: Floats
    signals: Floats
    intercept: float


@dataclass(frozen=True, slots=True)
class Reading:
    """The candidates of a question, best first with their scores in log odds, and how likely one answers it."""

    candidates: tuple[Candidate, ...]
    scores: tuple[float, ...]
    answerable: float

    @property
    def shares(self) -> list[float]:
        """The reader's belief in each candidate; together they are 1."""
        odds = np.exp(np.array(self.scores) - max(self.scores, default=0.0))
        return [float(share) for share in odds / odds.sum()] if self.scores else []


@cache
def fitted_weights() -> Weights:
    """Load the weights that the package ships. Raises ValueError where they were fitted for other features."""
    table = json.loads(files(__package__).joinpath("weights.json").read_text(encoding="utf-8"))
    reader, answerable = table["reader"]["weights"], table["answerable"]["weights"]
    if tuple(reader) != FEATURES or tuple(answerable) != SIGNALS:
        raise ValueError("weights.json was fitted for other features; run python -m evals.fit_reader")
    return Weights(
        np.array(list(reader.values())), np.array(list(answerable.values())), float(table["answerable"]["intercept"])
    )


def read(question: str, segments: Sequence[Segment], relevance: Sequence[float]) -> Reading:
    """Score every sentence of the segments against the question.

    ``relevance`` holds the search score of each segment in [0, 1]. About 2 ms for ten segments of 300 tokens.
    """
    weights = fitted_weights()
    pool = candidates(segments)
    if not pool:
        return Reading((), (), 0.0)
    found = evidence(question, segments, relevance, pool)
    scores = found.features @ weights.reader
    logit = float(signals(question, found, scores, relevance) @ weights.signals) + weights.intercept
    scores = scores - np.array([SHAPE_PENALTY[candidate.shape] for candidate in pool])
    order = np.argsort(-scores, kind="stable")
    return Reading(
        tuple(pool[i] for i in order), tuple(float(scores[i]) for i in order), float(1.0 / (1.0 + np.exp(-logit)))
    )


def read_parts(question: str, segments: Sequence[Segment], relevance: Sequence[float]) -> list[Reading]:
    """Read for each thing that the question asks; for most questions that is one reading."""
    return [read(part, segments, relevance) for part in parts(question)]
