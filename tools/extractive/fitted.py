"""The models that ``evals/fit_reader.py`` fitted, as ``weights.json`` ships them, with where they come from."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np

from tools.extractive.arrays import Floats
from tools.extractive.features import FEATURES
from tools.extractive.membership import MEMBERSHIP
from tools.extractive.signals import FOUND_SIGNALS, PAGE_SIGNALS


@dataclass(frozen=True, slots=True)
class Logistic:
    """A logistic regression: one weight a column."""

    weights: Floats
    intercept: float

    def chance(self, rows: Floats, handicap: Floats | float = 0.0) -> Floats:
        """Give the chance in [0, 1] of one row, or of each row of a table, its log odds lowered by a handicap."""
        logits = np.clip(rows @ self.weights + self.intercept - handicap, -50.0, 50.0)
        chance: Floats = np.asarray(1.0 / (1.0 + np.exp(-logits)))
        return chance


@dataclass(frozen=True, slots=True)
class Weights:
    """The reader, whether an answer is there in what a search found and in pages, and what belongs to it on a page."""

    reader: Floats
    found: Logistic
    page: Logistic
    membership: Logistic


@cache
def fitted_weights() -> Weights:
    """Load the weights that the package ships. Raises ValueError where they were fitted for other features."""
    table = json.loads(files(__package__).joinpath("weights.json").read_text(encoding="utf-8"))
    return Weights(
        reader=_column(table["reader"], FEATURES),
        found=_logistic(table["answerable"]["found"], FOUND_SIGNALS),
        page=_logistic(table["answerable"]["page"], PAGE_SIGNALS),
        membership=_logistic(table["membership"], MEMBERSHIP),
    )


def _logistic(table: Mapping[str, Any], names: tuple[str, ...]) -> Logistic:
    return Logistic(_column(table, names), float(table["intercept"]))


def _column(table: Mapping[str, Any], names: tuple[str, ...]) -> Floats:
    if tuple(table["weights"]) != names:
        raise ValueError("weights.json was fitted for other features; run python -m evals.fit_reader")
    return np.array(list(table["weights"].values()), dtype=np.float64)
