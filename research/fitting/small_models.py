"""A listwise softmax and a logistic regression, fitted by SciPy's L-BFGS-B."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import expit

Floats = NDArray[np.float64]
Loss = Callable[[Floats], tuple[float, Floats]]  # the value at a point, and its gradient there
Place = tuple[str, int, int]  # a document, and the offsets of a passage of it

STEPS = 150


@dataclass(frozen=True, slots=True)
class CandidateList:
    """A question's candidates by their features, which of them are right, and the question's weight.

    ``places`` are the passages that are shown for them, ``right_places`` those that hold the evidence.
    """

    data_set: str
    group: str
    features: Floats
    right: NDArray[np.bool_]
    weight: float = 1.0
    places: tuple[Place, ...] = ()
    right_places: frozenset[Place] = frozenset()


def fit_softmax(questions: Sequence[CandidateList], penalty: float) -> Floats:
    """Fit weights that give the right candidates of each question most of its softmax mass.

    The loss is the negative log of that mass, times the question's weight, plus ``penalty`` / 2 times the squared
    weights of standardised features; questions without a right candidate carry no information and are left out. The
    returned weights are for unscaled features.
    """
    lists = [question for question in questions if question.right.any()]
    features = np.concatenate([question.features for question in lists])
    spread = features.std(axis=0) + 1e-9
    scaled = (features - features.mean(axis=0)) / spread
    right = np.concatenate([question.right for question in lists]).astype(np.float64)
    sizes = [len(question.right) for question in lists]
    starts = np.r_[0, np.cumsum(sizes)[:-1]]
    owner = np.repeat(np.arange(len(sizes)), sizes)
    weight = np.array([question.weight for question in lists])

    def loss(weights: Floats) -> tuple[float, Floats]:
        scores = scaled @ weights
        mass = np.exp(scores - np.maximum.reduceat(scores, starts)[owner])
        total, held = np.add.reduceat(mass, starts), np.add.reduceat(mass * right, starts) + 1e-300
        value = float(weight @ (np.log(total) - np.log(held)) + penalty * (weights @ weights) / 2)
        slope = weight[owner] * (mass / total[owner] - mass * right / held[owner])
        return value, scaled.T @ slope + penalty * weights

    fitted: Floats = _minimum(loss, features.shape[1]) / spread
    return fitted


def evenly(labels: NDArray[np.bool_], data_sets: Sequence[str]) -> Floats:
    """Return row weights that give every data set, and both labels within it, the same weight; their mean is 1."""
    cells = Counter(zip(data_sets, labels.tolist(), strict=True))
    weight = np.array([1.0 / cells[cell] for cell in zip(data_sets, labels.tolist(), strict=True)])
    return np.asarray(weight * len(labels) / weight.sum(), dtype=np.float64)


def fit_logistic(rows: Floats, labels: NDArray[np.bool_], weight: Floats, penalty: float) -> tuple[Floats, float]:
    """Fit a logistic regression over weighted rows; return coefficients for unscaled rows, and the intercept."""
    centre, spread = rows.mean(axis=0), rows.std(axis=0) + 1e-9
    scaled = np.column_stack([(rows - centre) / spread, np.ones(len(rows))])
    targets = labels.astype(np.float64)
    penalties = np.r_[np.full(rows.shape[1], penalty), 0.0]

    def loss(weights: Floats) -> tuple[float, Floats]:
        logits = scaled @ weights
        value = float(weight @ (np.logaddexp(0.0, logits) - targets * logits) + weights @ (penalties * weights) / 2)
        return value, scaled.T @ (weight * (expit(logits) - targets)) + penalties * weights

    fitted = _minimum(loss, scaled.shape[1])
    coefficients = fitted[:-1] / spread
    return coefficients, float(fitted[-1] - coefficients @ centre)


def _minimum(loss: Loss, dimensions: int) -> Floats:
    found = minimize(loss, np.zeros(dimensions), jac=True, method="L-BFGS-B", options={"maxiter": STEPS})
    return np.asarray(found.x, dtype=np.float64)
