"""What tells whether a question has its answer among the candidates at all: one row of numbers a question."""

from collections.abc import Sequence

import numpy as np

from tools.extractive.answer_types import asked_type
from tools.extractive.features import Evidence, Floats
from tools.extractive.wording import question_wording

SIGNALS = (
    "best_terms",
    "best_grams",
    "best_segment_terms",
    "best_segment_grams",
    "chosen_terms",
    "chosen_grams",
    "chosen_segment_grams",
    "chosen_type_near",
    "typed",
    "question_terms",
    "margin",
    "spread",
)


def signals(question: str, found: Evidence, scores: Floats, relevance: Sequence[float]) -> Floats:
    """Sum up a question's evidence in the order of SIGNALS; ``scores`` are the reader's."""
    chosen = int(np.argmax(scores))
    ordered = np.sort(scores)[::-1]
    odds = np.exp(scores - scores.max())
    share = odds / odds.sum()
    asked = question_wording(question)
    values = {
        "best_terms": found.terms.max(),
        "best_grams": found.grams.max(),
        "best_segment_terms": found.segment_terms.max(),
        "best_segment_grams": found.segment_grams.max(),
        "chosen_terms": found.terms[chosen],
        "chosen_grams": found.grams[chosen],
        "chosen_segment_grams": found.segment_grams[found.owner[chosen]],
        "chosen_type_near": found.type_near[chosen],
        "typed": float(asked_type(question) != "other"),
        "question_terms": np.log1p(len(asked.terms)),
        "margin": ordered[0] - ordered[min(3, len(ordered) - 1)],
        "spread": float(-(share * np.log(share + 1e-12)).sum()),
    }
    return np.array([values[name] for name in SIGNALS], dtype=np.float64)
