"""Features for estimating whether the candidates answer a question at all, one row of numbers per question."""

from collections.abc import Sequence

import numpy as np

from text.normal_forms import fold_case
from text.terms import code_names
from text.words import QuestionTerms
from tools.extractive.sentence_features import FeatureTable
from tools.extractive.similarity import Floats, Similarity, log_odds

FOUND_SIGNALS = (
    "search_odds",  # log odds of the best search score
    "small_grams",  # the best sentence's cover by small and by middle grams
    "middle_grams",
    "segment_grams",  # log of the best segment's cover by middle grams
    "question_terms",  # log of the question's number of terms
    "spread",  # entropy of the reader's choice among the candidates
    "best_score",  # the reader's score of its best sentence, its words by what it hangs on, and its search score
    "best_terms_in_place",
    "best_search_odds",
    "nowhere",  # share of the question's terms that no candidate has
    "code_nowhere",  # share of the question's names of code that no candidate has, in it or around it
    "names_nowhere",  # share of its names, and of its numbers, that the candidate which has most of them lacks
    "numbers_nowhere",
)
PAGE_SIGNALS = (
    "small_grams",
    "segment_share",  # the largest share of the question's middle grams in one segment and its headings, unweighted
    "missing_terms",  # number of the question's terms that no candidate has
    "question_terms",
    "question_grams",  # log of the question's number of middle grams
    "spread",
    "likeness",  # cosine of the most similar sentence, and how well the embeddings cover the language
    "coverage",
)
LEAST_COVER = 0.05


def found_signals(
    question: str, question_words: QuestionTerms, found: FeatureTable, scores: Floats, relevance: Sequence[float]
) -> Floats:
    """Summarise the hits of a search as a row in the order of FOUND_SIGNALS; ``scores`` are the reader's."""
    best = int(np.argmax(scores))
    odds = log_odds(np.asarray(relevance, dtype=np.float64))
    code = max(float(found.column(name).max()) for name in ("code_here", "code_in_term", "code_around"))
    values = {
        "search_odds": float(odds.max()),
        "small_grams": found.small_grams.max(),
        "middle_grams": found.middle_grams.max(),
        "segment_grams": np.log(found.segment_grams.max() + LEAST_COVER),
        "question_terms": np.log1p(len(question_words.terms)),
        "spread": _entropy(scores),
        "best_score": float(scores[best]),
        "best_terms_in_place": float(found.column("terms_in_place")[best]),
        "best_search_odds": float(odds[found.owner[best]]),
        "nowhere": found.missing_terms / max(1, len(question_words.terms)),
        "code_nowhere": 1.0 - code if code_names(fold_case(question)) else 0.0,
        "names_nowhere": float(found.column("names_missing").min()),
        "numbers_nowhere": float(found.column("numbers_missing").min()),
    }
    return np.array([values[name] for name in FOUND_SIGNALS], dtype=np.float64)


def page_signals(question_words: QuestionTerms, found: FeatureTable, scores: Floats, alike: Similarity) -> Floats:
    """Summarise selected pages as a row in the order of PAGE_SIGNALS; ``scores`` are the reader's."""
    values = {
        "small_grams": found.small_grams.max(),
        "segment_share": found.segment_share.max(),
        "missing_terms": found.missing_terms,
        "question_terms": np.log1p(len(question_words.terms)),
        "question_grams": np.log1p(len(question_words.grams[1])),
        "spread": _entropy(scores),
        "likeness": alike.sentences.max(),
        "coverage": alike.coverage,
    }
    return np.array([values[name] for name in PAGE_SIGNALS], dtype=np.float64)


def _entropy(scores: Floats) -> float:
    share = np.exp(scores - scores.max())
    share = share / share.sum()
    return -float((share * np.log(share + 1e-12)).sum())
