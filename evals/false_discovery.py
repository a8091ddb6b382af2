"""P-values corrected for how many were taken at once."""

from collections.abc import Sequence


def false_discovery_adjusted(p_values: Sequence[float]) -> list[float]:
    """Correct p-values by the step-up procedure of Benjamini and Hochberg, in the order given; none exceeds 1."""
    count, smallest = len(p_values), 1.0
    adjusted = [0.0] * count
    for rank, place in sorted(enumerate(sorted(range(count), key=lambda i: p_values[i]), 1), reverse=True):
        smallest = min(smallest, p_values[place] * count / rank)
        adjusted[place] = round(smallest, 4)
    return adjusted
