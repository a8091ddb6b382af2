"""Weights of the reader's models, fitted by ``research/fitting/fit_reader.py``; the file has their provenance."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np

from graph.evidence import Hit, Segment, without_outer_headings
from text.normal_forms import fold_case
from text.page_references import about_whole_page
from text.words import question_terms
from tools.extractive.answerability import FOUND_SIGNALS, PAGE_SIGNALS, found_signals, page_signals
from tools.extractive.question_analysis import identifiers_in
from tools.extractive.sentence_features import FEATURES, FeatureTable, compute_features
from tools.extractive.similarity import Floats, measure_similarity
from tools.extractive.subquestions import split_question
from tools.rules.candidate_sentences import CandidateSentence, candidate_sentences
from tools.rules.follow_ups import own_question


@dataclass(frozen=True, slots=True)
class LogisticModel:
    """A logistic regression with one weight per column."""

    weights: Floats
    intercept: float

    def chance(self, rows: Floats) -> Floats:
        """Return the probability in [0, 1] of one row, or of each row of a table."""
        logits = np.clip(rows @ self.weights + self.intercept, -50.0, 50.0)
        chance: Floats = np.asarray(1.0 / (1.0 + np.exp(-logits)))
        return chance


@dataclass(frozen=True, slots=True)
class ReaderWeights:
    """Weights of three models: the reader, and answerability by hits and by pages."""

    reader: Floats
    found: LogisticModel
    page: LogisticModel


@cache
def fitted_weights() -> ReaderWeights:
    """Load the bundled weights. Raises ValueError where they were fitted for other features."""
    table = json.loads(files(__package__).joinpath("weights.json").read_text(encoding="utf-8"))
    return ReaderWeights(
        reader=_column(table["reader"], FEATURES),
        found=_logistic(table["answerable"]["found"], FOUND_SIGNALS),
        page=_logistic(table["answerable"]["page"], PAGE_SIGNALS),
    )


def _logistic(table: Mapping[str, Any], names: tuple[str, ...]) -> LogisticModel:
    return LogisticModel(_column(table, names), float(table["intercept"]))


def _column(table: Mapping[str, Any], names: tuple[str, ...]) -> Floats:
    if tuple(table["weights"]) != names:
        raise ValueError("weights.json was fitted for other features; run python -m research.fitting.fit_reader")
    return np.array(list(table["weights"].values()), dtype=np.float64)


STEP = 0.1  # in log odds, from one entry of a document to the next where it is read in order
UNQUOTABLE = 30.0  # headings, terms and the like take no share of the belief


@dataclass(frozen=True, slots=True)
class RankedSentences:
    """The candidates of a question, best first with their scores in log odds.

    ``answerable`` is the probability that one of the passages shown for them answers. ``in_order``: the question asks
    for all of what is read, so that nothing in it is better than what stands before it.
    """

    candidates: tuple[CandidateSentence, ...]
    scores: tuple[float, ...]
    answerable: float
    question: str = ""
    in_order: bool = False

    @property
    def shares(self) -> list[float]:
        """The reader's belief in each candidate; they sum to 1."""
        odds = np.exp(np.array(self.scores) - max(self.scores, default=0.0))
        return [float(share) for share in odds / odds.sum()] if self.scores else []


@dataclass(frozen=True, slots=True)
class ReaderInput:
    """Input of the models for a question and some hits: candidates, their features, and each segment's relevance."""

    question: str
    pool: tuple[CandidateSentence, ...]
    found: FeatureTable
    relevance: tuple[float, ...]

    def scores(self, weights: Floats) -> Floats:
        """Return the score of each candidate in log odds; what is never quoted has no part in an answer."""
        unquotable = np.array([not candidate.entry.quotable for candidate in self.pool])
        return np.asarray(self.found.features @ weights - UNQUOTABLE * unquotable)

    def found_signals(self, scores: Floats) -> Floats:
        """Summarise the hits of a search; ``scores`` are the reader's."""
        return found_signals(self.question, question_terms(self.question), self.found, scores, self.relevance)

    def page_signals(self, scores: Floats) -> Floats:
        """Summarise selected pages; ``scores`` are the reader's."""
        alike = measure_similarity(self.question, [candidate.text for candidate in self.pool])
        return page_signals(question_terms(self.question), self.found, scores, alike)


QUESTIONS_REMEMBERED = 6  # of one run: at most three parts of a question, each as it was asked too


class ReaderMemo:
    """The readings of a run's questions, so that its writer goes by what its grader has read."""

    def __init__(self) -> None:
        self._readings: dict[str, tuple[tuple[Segment, ...], RankedSentences]] = {}

    def remember(self, hits: Sequence[Hit], reading: RankedSentences) -> None:
        """Keep a reading of some hits."""
        while len(self._readings) >= QUESTIONS_REMEMBERED and reading.question not in self._readings:
            del self._readings[next(iter(self._readings))]
        self._readings[reading.question] = tuple(hit.segment for hit in hits), reading

    def recall(self, question: str, hits: Sequence[Hit]) -> RankedSentences | None:
        """Return the question's last reading as far as it is of the hits; None where it did not read them all.

        An entry's rank depends on what it was read with, so the writer goes by what the grader read.
        """
        known = self._readings.get(question)
        if known is None:
            return None
        segments, reading = known
        places = {segment.segment_id: index for index, segment in enumerate(segments)}
        now = {places.get(hit.segment_id): index for index, hit in enumerate(hits)}
        if None in now or any(segments[place or 0] != hits[index].segment for place, index in now.items()):
            return None
        kept = [index for index, one in enumerate(reading.candidates) if one.segment in now]
        return replace(
            reading,
            candidates=tuple(one.of_segment(now[one.segment]) for one in reading.candidates if one.segment in now),
            scores=tuple(reading.scores[index] for index in kept),
        )


def reader_input(question: str, hits: Sequence[Hit]) -> ReaderInput | None:
    """Compute the features of every sentence of the hits; None where they have no sentence."""
    segments = [hit.segment for hit in hits]
    pool = candidate_sentences(segments, unaccented=question.isascii())
    if not pool:
        return None
    relevance = relevances(hits)
    found = compute_features(question, segments, relevance, pool)
    return ReaderInput(question, tuple(pool), found, tuple(relevance))


def relevances(hits: Sequence[Hit]) -> list[float]:
    """Return the search score of each hit; a selected page counts as much as the best hit that is not one.

    A page's own score only says that it was selected, so it must not outweigh measured scores.
    """
    best = max((hit.score for hit in hits if hit.kind != "page"), default=1.0)
    return [best if hit.kind == "page" else hit.score for hit in hits]


def rank_sentences(question: str, hits: Sequence[Hit], memo: ReaderMemo | None = None) -> RankedSentences:
    """Score every sentence of the hits against the question, of a follow-up also against its own words alone.

    Takes about 2 ms for ten segments of 300 tokens that were read recently, 10 ms otherwise; a follow-up twice that.
    """
    memo = memo or ReaderMemo()
    known = memo.recall(question, hits)
    if known is not None:
        return known
    reading = _read(question, hits, memo)
    own = own_question(question)
    if own:
        reading = _in_context(_read(own, hits, memo), reading)
    memo.remember(hits, reading)
    return reading


def _in_context(own: RankedSentences, whole: RankedSentences) -> RankedSentences:
    """Join the readings of a follow-up's own words and of all of its words, which is how sentences are ranked.

    Whether there is an answer is told by its own words: those of the conversation chose where to look, and are found
    there whatever is asked. (Of 59 follow-ups and 32 without an answer, by several authors: .91 of pairs in order; by
    all of the words .81, by the mean .90.)
    """
    by_own = {one[:3]: score for one, score in zip(own.candidates, own.scores, strict=True)}
    scores = [(score + by_own[one[:3]]) / 2 for one, score in zip(whole.candidates, whole.scores, strict=True)]
    order = sorted(range(len(scores)), key=lambda index: -scores[index])
    return replace(
        whole,
        candidates=tuple(whole.candidates[index] for index in order),
        scores=tuple(scores[index] for index in order),
        answerable=own.answerable,
    )


def _read(question: str, hits: Sequence[Hit], memo: ReaderMemo) -> RankedSentences:
    seen = reader_input(question, hits)
    if seen is None:
        return RankedSentences((), (), 0.0)
    weights = fitted_weights()
    scores = seen.scores(weights.reader)
    in_order = _asks_for_all(question, hits)
    if in_order:
        scores = _reading_order(seen.pool, hits)
    order = np.argsort(-scores, kind="stable")
    return RankedSentences(
        candidates=tuple(seen.pool[i] for i in order),
        scores=tuple(float(scores[i]) for i in order),
        answerable=_answerable(seen, scores, hits, memo),
        question=question,
        in_order=in_order,
    )


def _asks_for_all(question: str, hits: Sequence[Hit]) -> bool:
    """Whether a question is about selected pages or named places as a whole: it need share no word with them."""
    pages = [hit for hit in hits if hit.kind == "page"]
    return bool(pages) and (all(hit.whole for hit in pages) or about_whole_page(question))


def _reading_order(pool: Sequence[CandidateSentence], hits: Sequence[Hit]) -> Floats:
    """Return scores that fall from the beginning of each document on; what is never quoted has no part in an answer."""
    read: Counter[str] = Counter()
    scores = []
    for one in pool:
        document_id = hits[one.segment].segment.document_id
        scores.append(-STEP * read[document_id] - UNQUOTABLE * (not one.entry.quotable))
        read[document_id] += 1
    return np.array(scores)


def _answerable(seen: ReaderInput, scores: Floats, hits: Sequence[Hit], memo: ReaderMemo) -> float:
    """Return the probability that what is shown of the pages or of the search hits answers: the larger of the two.

    A question about a whole page shares no word with it, and is answered by any page. One that names a setting or an
    option which stands nowhere in what was found is about another one.
    """
    weights = fitted_weights()
    pages = [hit for hit in hits if hit.kind == "page"]
    if _asks_for_all(seen.question, hits):
        return 1.0
    if _names_nothing_found(seen.question, hits):
        return 0.0
    if len(pages) == len(hits):
        return float(weights.page.chance(seen.page_signals(scores)))
    if not pages:
        return float(weights.found.chance(seen.found_signals(scores)))
    found = [hit for hit in hits if hit.kind != "page"]
    return max(rank_sentences(seen.question, part, memo).answerable for part in (pages, found))


def _names_nothing_found(question: str, hits: Sequence[Hit]) -> bool:
    """Whether a question names code, and none of it stands in any hit, its title or what its blocks hang on."""
    names = identifiers_in(question)
    if not names:
        return False
    return not any(name in fold_case(text) for text in _texts(hits) for name in names)


def _texts(hits: Sequence[Hit]) -> Iterator[str]:
    """Yield what was found: the texts of the hits, their titles, headings, and what their blocks hang on."""
    for segment in (hit.segment for hit in hits):
        yield from (segment.text, segment.title, segment.heading, *_around(segment))


def _around(segment: Segment) -> set[str]:
    return {each.text for block in segment.blocks for each in without_outer_headings(block.context)}


def rank_by_part(question: str, hits: Sequence[Hit], memo: ReaderMemo | None = None) -> list[RankedSentences]:
    """Rank the sentences for each part of a question; most questions have one part."""
    return [rank_sentences(part, hits, memo) for part in split_question(question)]


def recall_by_part(question: str, hits: Sequence[Hit], memo: ReaderMemo) -> list[RankedSentences] | None:
    """Return what ``rank_by_part`` returns where all of it was read already; None where something is left to read."""
    known = [memo.recall(part, hits) for part in split_question(question)]
    return None if None in known else [reading for reading in known if reading is not None]
