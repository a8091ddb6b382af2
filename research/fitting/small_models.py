"""A listwise softmax and a logistic regression, fitted by BFGS (Nocedal and Wright 2006, algorithm 6.1)."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def minimise(
    value_and_gradient: Callable[[Floats], tuple[float, Floats]],
    start: Floats,
    *,
    steps: int = 200,
    tolerance: float = 1e-4,
) -> Floats:
    """Give a point where the gradient is below ``tolerance``, or the best one after ``steps``."""
    point = start.astype(np.float64)
    value, gradient = value_and_gradient(point)
    inverse = np.eye(len(point)) / max(1.0, float(np.abs(gradient).max()))
    for _ in range(steps):
        if np.abs(gradient).max() < tolerance:
            break
        direction = -inverse @ gradient
        slope, stride = float(gradient @ direction), 1.0
        while True:
            candidate = point + stride * direction
            new_value, new_gradient = value_and_gradient(candidate)
            if new_value <= value + 1e-4 * stride * slope:
                break
            stride /= 2
            if stride < 1e-10:
                return point
        moved, turned = candidate - point, new_gradient - gradient
        curvature = float(moved @ turned)
        if curvature > 1e-12:
            rotate = np.eye(len(point)) - np.outer(moved, turned) / curvature
            inverse = rotate @ inverse @ rotate.T + np.outer(moved, moved) / curvature
        point, value, gradient = candidate, new_value, new_gradient
    return point


@dataclass(frozen=True, slots=True)
class CandidateList:
    """A question's candidates by their features, which of them are right, and how much the question weighs."""

    data_set: str
    group: str
    features: Floats
    right: NDArray[np.bool_]
    weight: float = 1.0


def fit_softmax(questions: Sequence[CandidateList], penalty: float) -> Floats:
    """Fit weights under which the right candidates of each question hold most of its softmax's mass.

    The loss is the negative log of that mass, times the question's weight, plus ``penalty`` / 2 times the squared
    weights of standardised features; questions without a right candidate teach nothing and are left out. The weights
    are for features as they are.
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

    fitted: Floats = minimise(loss, np.zeros(features.shape[1])) / spread
    return fitted


def evenly(labels: NDArray[np.bool_], data_sets: Sequence[str]) -> Floats:
    """Weigh rows so that every data set, and either label within it, weighs the same; the mean weight is 1."""
    cells = Counter(zip(data_sets, labels.tolist(), strict=True))
    weight = np.array([1.0 / cells[cell] for cell in zip(data_sets, labels.tolist(), strict=True)])
    return np.asarray(weight * len(labels) / weight.sum(), dtype=np.float64)


def fit_logistic(rows: Floats, labels: NDArray[np.bool_], weight: Floats, penalty: float) -> tuple[Floats, float]:
    """Fit a logistic regression over weighted rows; give its coefficients, for rows as they are, and its intercept."""
    centre, spread = rows.mean(axis=0), rows.std(axis=0) + 1e-9
    scaled = np.column_stack([(rows - centre) / spread, np.ones(len(rows))])
    wanted = labels.astype(np.float64)
    penalties = np.r_[np.full(rows.shape[1], penalty), 0.0]

    def loss(weights: Floats) -> tuple[float, Floats]:
        logits = scaled @ weights
        value = float(weight @ (np.logaddexp(0.0, logits) - wanted * logits) + weights @ (penalties * weights) / 2)
        return value, scaled.T @ (weight * (1.0 / (1.0 + np.exp(-logits)) - wanted)) + penalties * weights

    fitted = minimise(loss, np.zeros(scaled.shape[1]))
    coefficients = fitted[:-1] / spread
    return coefficients, float(fitted[-1] - coefficients @ centre)
