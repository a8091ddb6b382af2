"""What tells whether a question has its answer among the candidates at all: one row of numbers a question."""

from collections.abc import Sequence

import numpy as np

from tools.extractive.features import Evidence, Floats, log_odds
from tools.extractive.wording import question_wording

SIGNALS = (
    "search_odds",  # log odds of the best search score
    "small_grams",  # the best sentence's cover by small and by middle grams
    "middle_grams",
    "segment_grams",  # log of the best segment's cover by middle grams
    "question_terms",  # log of how many terms the question has
    "spread",  # entropy of the reader's choice among the candidates
)
LEAST_COVER = 0.05


def signals(question: str, found: Evidence, scores: Floats, relevance: Sequence[float]) -> Floats:
    """Sum up a question's evidence in the order of SIGNALS; ``scores`` are the reader's."""
    share = np.exp(scores - scores.max())
    share = share / share.sum()
    values = {
        "search_odds": float(log_odds(np.asarray(relevance, dtype=np.float64)).max()),
        "small_grams": found.small_grams.max(),
        "middle_grams": found.middle_grams.max(),
        "segment_grams": np.log(found.segment_grams.max() + LEAST_COVER),
        "question_terms": np.log1p(len(question_wording(question).terms)),
        "spread": -float((share * np.log(share + 1e-12)).sum()),
    }
    return np.array([values[name] for name in SIGNALS], dtype=np.float64)
