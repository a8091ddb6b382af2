"""Features of the candidate sentences of a question, one row of numbers per sentence."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graph.evidence import Segment
from text.words import comparable_text, question_terms
from tools.extractive.context_features import CONTEXT_FEATURES, context_columns, context_features
from tools.extractive.entry_features import ENTRY_FEATURES, entry_features
from tools.extractive.similarity import Bools, Floats, cover, idf, log_odds, nested_presence, presence
from tools.rules.candidate_sentences import CandidateSentence

# Answerability must mean the same in a library of five sentences on one subject as in one of thousands: rarity is
# counted as if this many sentences on other subjects were among the candidates.
OTHER_SENTENCES = 20

WORDED = (
    "small_grams",  # share of the weight of the question's small and large character grams in the sentence
    "large_grams",
    "bm25",
    "after",  # middle gram cover of the sentence after it
    "with_context",  # middle gram cover added by the sentence before, the first one and the heading
    "search_score",  # the segment's search score by the best segment's
    "search_odds",  # the log of their odds ratio
    "search_rank",  # reciprocal of the segment's rank by that score
)
GRAM_SIZES = ("small", "middle", "large")
FEATURES = (*WORDED, *CONTEXT_FEATURES, *ENTRY_FEATURES)


@dataclass(frozen=True, slots=True)
class FeatureTable:
    """The features of one question's candidates, and the covers for estimating whether it has an answer."""

    features: Floats  # (candidates, FEATURES)
    owner: NDArray[np.int_]  # (candidates,) the segment of each
    small_grams: Floats  # (candidates,) cover by small and by middle grams, with OTHER_SENTENCES
    middle_grams: Floats
    segment_grams: Floats  # (segments,) cover by middle grams of whole segments, with OTHER_SENTENCES
    segment_share: Floats  # (segments,) share of the middle grams in whole segments and their headings, unweighted
    missing_terms: int  # number of the question's terms that no candidate has

    def column(self, name: str) -> Floats:
        """Return one feature of every candidate."""
        return np.asarray(self.features[:, FEATURES.index(name)])


def measure_sentences(
    question: str, segments: Sequence[Segment], pool: Sequence[CandidateSentence]
) -> dict[str, NDArray[Any]]:
    """Measure each candidate by itself: what it has of the question, and its context, a column for each."""
    question_words = question_terms(question)
    flats = [candidate.wording.flat for candidate in pool]
    terms = presence(question_words.terms, [candidate.wording.spellings for candidate in pool])
    return {
        "terms": terms,
        "counts": _counts(question_words.terms, terms, pool),
        "lengths": np.array([max(1, len(candidate.wording.terms)) for candidate in pool], dtype=np.float64),
        **dict(zip(GRAM_SIZES, nested_presence(question_words.grams, flats), strict=True)),
        **context_columns(question, question_words, segments, pool),
    }


def compute_features(
    question: str,
    segments: Sequence[Segment],
    relevance: Sequence[float],
    pool: Sequence[CandidateSentence],
) -> FeatureTable:
    """Compute the features of a question's candidates, of which there must be at least one.

    ``relevance`` holds the search score of each segment in [0, 1].
    """
    held = measure_sentences(question, segments, pool)
    question_words = question_terms(question)
    owner = np.array([candidate.segment for candidate in pool])
    terms, small, middle, large = (held[name] for name in ("terms", *GRAM_SIZES))
    term_weight, middle_weight = idf(terms), idf(middle)
    grams = cover(middle_weight, middle)
    follows = np.r_[False, owner[1:] == owner[:-1]]
    before = np.where(follows, np.roll(middle, 1, axis=1), False)
    after = np.where(np.r_[follows[1:], False], np.roll(middle, -1, axis=1), False)
    above = [comparable_text(f"{segment.title} {segment.heading}").flat for segment in segments]
    heads = presence(question_words.grams[1], above)
    context = middle | before | middle[:, np.searchsorted(owner, owner)] | heads[:, owner]
    score = np.asarray(relevance, dtype=np.float64)
    odds = log_odds(score)
    place = (score[None, :] > score[:, None]).sum(axis=1)
    columns: dict[str, Floats] = {
        "small_grams": cover(idf(small), small),
        "large_grams": cover(idf(large), large),
        "bm25": _bm25(held["counts"], term_weight, held["lengths"]),
        "after": cover(middle_weight, after),
        "with_context": cover(middle_weight, context) - grams,
        "search_score": (score / max(score.max(), 1e-9))[owner],
        "search_odds": (odds - odds.max())[owner],
        "search_rank": (1.0 / (1.0 + place))[owner],
        **context_features(question, segments, pool, held),
        **entry_features(question, question_words, segments, pool, terms, term_weight),
    }
    opens = np.flatnonzero(~follows)
    by_segment = np.zeros((len(middle), len(segments)), dtype=bool)
    by_segment[:, owner[opens]] = np.logical_or.reduceat(middle, opens, axis=1)
    steady = idf(middle, OTHER_SENTENCES)
    return FeatureTable(
        features=np.column_stack([columns[name] for name in FEATURES]),
        owner=owner,
        small_grams=cover(idf(small, OTHER_SENTENCES), small),
        middle_grams=cover(steady, middle),
        segment_grams=cover(steady, by_segment),
        segment_share=(by_segment | heads).mean(axis=0) if len(middle) else np.zeros(len(segments)),
        missing_terms=int((~terms.any(axis=1)).sum()),
    )


def _counts(terms: Sequence[str], held: Bools, pool: Sequence[CandidateSentence]) -> Floats:
    """Return the count of each term in each candidate, shape (terms, candidates)."""
    counts = np.zeros(held.shape)
    for term, candidate in np.argwhere(held).tolist():
        counts[term, candidate] = pool[candidate].wording.terms.count(terms[term])
    return counts


def _bm25(counts: Floats, weight: Floats, lengths: Floats) -> Floats:
    slack = 1.2 * (0.25 + 0.75 * lengths / lengths.mean())
    total = weight.sum()
    score: Floats = weight @ (counts * 2.2 / (counts + slack)) / total if total > 0 else np.zeros(counts.shape[1])
    return score
