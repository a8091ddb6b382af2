"""Features for estimating whether the candidates answer a question at all, one row of numbers per question."""

from collections.abc import Sequence

import numpy as np

from text.normal_forms import fold_case
from text.terms import code_names
from text.words import QuestionTerms
from tools.extractive.asked_kinds import asked_kinds
from tools.extractive.question_analysis import asked_quantity, names_in
from tools.extractive.sentence_features import FeatureTable
from tools.extractive.similarity import Floats, Similarity, log_odds

FOUND_SIGNALS = (
    "search_odds",  # log odds of the best search score
    "small_grams",  # the best sentence's cover by small and by middle grams
    "middle_grams",
    "segment_grams",  # log of the best segment's cover by middle grams
    "question_terms",  # log of the question's number of terms
    "spread",  # entropy of the reader's choice among the candidates
    "best_score",  # the reader's score of its best sentence, and that sentence's features
    "best_terms",
    "best_terms_in_place",
    "best_small_grams",
    "best_title",
    "best_numbers_missing",
    "best_names_missing",
    "best_search_odds",
    "best_block_terms",  # its words by its block, its section and its document
    "best_section_terms",
    "best_document_terms",
    "best_missing_rare",  # the rarest word of the question that stands neither in it nor around it
    "best_code_around",
    "nowhere",  # share of the question's terms that no candidate has
    "best_value_missing",  # whether a value is asked for and the best entry has none
    "best_kind_missing",  # share of the other kinds asked for of which it has no sign
    "best_type_missing",  # whether a quantity is asked for, such as a duration, and it has none
    "code_nowhere",  # share of the question's names of code that no candidate has, in it or around it
    "names_nowhere",  # share of its names, and of its numbers, that the candidate which has most of them lacks
    "numbers_nowhere",
    "rarest_missing",  # the least of what the five best candidates lack of the rarest words
    "titled",  # whether that sentence's title shares anything with the question
    "title",  # the best cover by any title
    "names",  # whether the question names anything
)
_OF_BEST = (
    "terms",
    "terms_in_place",
    "small_grams",
    "title",
    "numbers_missing",
    "names_missing",
    "block_terms",
    "section_terms",
    "document_terms",
    "missing_rare",
    "code_around",
)
_BEST_FEW = 5
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
    of_best = {f"best_{name}": float(found.column(name)[best]) for name in _OF_BEST}
    kinds = asked_kinds(question) - {"value"}
    code = max(float(found.column(name).max()) for name in ("code_here", "code_in_term", "code_around"))
    values = {
        **of_best,
        "best_value_missing": float("value" in asked_kinds(question) and not found.column("asks_value")[best]),
        "best_kind_missing": 1.0 - sum(found.column(f"asks_{kind}")[best] for kind in kinds) / len(kinds)
        if kinds
        else 0.0,
        "best_type_missing": float(asked_quantity(question) is not None and not found.column("asked_type")[best]),
        "code_nowhere": 1.0 - code if code_names(fold_case(question)) else 0.0,
        "names_nowhere": float(found.column("names_missing").min()),
        "numbers_nowhere": float(found.column("numbers_missing").min()),
        "best_score": float(scores[best]),
        "best_search_odds": float(odds[found.owner[best]]),
        "titled": float(of_best["best_title"] > 0),
        "title": found.column("title").max(),
        "names": float(bool(names_in(question))),
        "nowhere": found.missing_terms / max(1, len(question_words.terms)),
        "rarest_missing": float(found.column("missing_rare")[np.argsort(-scores)[:_BEST_FEW]].min()),
        "search_odds": float(odds.max()),
        "small_grams": found.small_grams.max(),
        "middle_grams": found.middle_grams.max(),
        "segment_grams": np.log(found.segment_grams.max() + LEAST_COVER),
        "question_terms": np.log1p(len(question_words.terms)),
        "spread": _entropy(scores),
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
