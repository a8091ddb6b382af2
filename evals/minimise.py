"""Minimise a smooth function of a few dozen variables (BFGS, Nocedal and Wright 2006, algorithm 6.1)."""

from collections.abc import Callable

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
