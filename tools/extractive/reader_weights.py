"""Weights of the reader's models, fitted by ``research/fitting/fit_reader.py``; the file has their provenance."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np

from tools.extractive.answerability import FOUND_SIGNALS, PAGE_SIGNALS
from tools.extractive.sentence_features import FEATURES, MEMBERSHIP_FEATURES
from tools.extractive.similarity import Floats


@dataclass(frozen=True, slots=True)
class LogisticModel:
    """A logistic regression with one weight per column."""

    weights: Floats
    intercept: float

    def chance(self, rows: Floats, handicap: Floats | float = 0.0) -> Floats:
        """Return the probability in [0, 1] of one row, or of each row of a table, with a handicap off its log odds."""
        logits = np.clip(rows @ self.weights + self.intercept - handicap, -50.0, 50.0)
        chance: Floats = np.asarray(1.0 / (1.0 + np.exp(-logits)))
        return chance


@dataclass(frozen=True, slots=True)
class ReaderWeights:
    """Weights of four models: the reader, answerability by hits and by pages, and membership of page sentences."""

    reader: Floats
    found: LogisticModel
    page: LogisticModel
    membership: LogisticModel


@cache
def fitted_weights() -> ReaderWeights:
    """Load the bundled weights. Raises ValueError where they were fitted for other features."""
    table = json.loads(files(__package__).joinpath("weights.json").read_text(encoding="utf-8"))
    return ReaderWeights(
        reader=_column(table["reader"], FEATURES),
        found=_logistic(table["answerable"]["found"], FOUND_SIGNALS),
        page=_logistic(table["answerable"]["page"], PAGE_SIGNALS),
        membership=_logistic(table["membership"], MEMBERSHIP_FEATURES),
    )


def _logistic(table: Mapping[str, Any], names: tuple[str, ...]) -> LogisticModel:
    return LogisticModel(_column(table, names), float(table["intercept"]))


def _column(table: Mapping[str, Any], names: tuple[str, ...]) -> Floats:
    if tuple(table["weights"]) != names:
        raise ValueError("weights.json was fitted for other features; run python -m research.fitting.fit_reader")
    return np.array(list(table["weights"].values()), dtype=np.float64)
