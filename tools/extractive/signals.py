"""What tells whether a question has its answer among the candidates at all: one row of numbers a question.

What a search found is judged with its scores. A selected page has none, since a person chose it, so pages are judged by
what stands in them alone, and by static embeddings where these know the language.
"""

from collections.abc import Sequence

import numpy as np

from tools.extractive.features import Evidence, Floats, log_odds
from tools.extractive.likeness import Likeness
from tools.extractive.wording import QuestionWording

FOUND_SIGNALS = (
    "search_odds",  # log odds of the best search score
    "small_grams",  # the best sentence's cover by small and by middle grams
    "middle_grams",
    "segment_grams",  # log of the best segment's cover by middle grams
    "question_terms",  # log of how many terms the question has
    "spread",  # entropy of the reader's choice among the candidates
)
PAGE_SIGNALS = (
    "small_grams",
    "segment_share",  # the largest share of the question's middle grams in one segment and its headings, unweighted
    "missing_terms",  # how many of the question's terms no candidate has
    "question_terms",
    "question_grams",  # log of how many middle grams the question has
    "spread",
    "likeness",  # cosine of the most similar sentence, and how far the embeddings know the language
    "coverage",
)
LEAST_COVER = 0.05


def found_signals(asked: QuestionWording, found: Evidence, scores: Floats, relevance: Sequence[float]) -> Floats:
    """Sum up what a search found, in the order of FOUND_SIGNALS; ``scores`` are the reader's."""
    values = {
        "search_odds": float(log_odds(np.asarray(relevance, dtype=np.float64)).max()),
        "small_grams": found.small_grams.max(),
        "middle_grams": found.middle_grams.max(),
        "segment_grams": np.log(found.segment_grams.max() + LEAST_COVER),
        "question_terms": np.log1p(len(asked.terms)),
        "spread": _entropy(scores),
    }
    return np.array([values[name] for name in FOUND_SIGNALS], dtype=np.float64)


def page_signals(asked: QuestionWording, found: Evidence, scores: Floats, alike: Likeness) -> Floats:
    """Sum up what stands in selected pages, in the order of PAGE_SIGNALS."""
    values = {
        "small_grams": found.small_grams.max(),
        "segment_share": found.segment_share.max(),
        "missing_terms": found.missing_terms,
        "question_terms": np.log1p(len(asked.terms)),
        "question_grams": np.log1p(len(asked.grams[1])),
        "spread": _entropy(scores),
        "likeness": alike.sentences.max(),
        "coverage": alike.coverage,
    }
    return np.array([values[name] for name in PAGE_SIGNALS], dtype=np.float64)


def _entropy(scores: Floats) -> float:
    share = np.exp(scores - scores.max())
    share = share / share.sum()
    return -float((share * np.log(share + 1e-12)).sum())
