"""Score every candidate sentence against the question, and estimate whether the sources answer it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from graph.evidence import Hit, Segment
from text.words import question_terms
from tools.extractive.answerability import found_signals, page_signals
from tools.extractive.context_features import Columns
from tools.extractive.planted_instructions import speaks_to_machines
from tools.extractive.question_analysis import about_whole_page, asks_definition, defines
from tools.extractive.reader_weights import fitted_weights
from tools.extractive.sentence_features import FeatureTable, compute_features, measure_sentences, membership_features
from tools.extractive.similarity import Floats, measure_similarity
from tools.extractive.subquestions import split_question
from tools.rules.candidate_sentences import CandidateSentence, Shape, candidate_sentences

# Set by hand, since the data sets at hand hold hardly any code, planted instructions or definitions. Headings are
# never quoted.
SHAPE_PENALTY: Mapping[Shape, float] = {"prose": 0.0, "item": 0.0, "row": 0.0, "code": 1.5, "heading": 6.0}
INSTRUCTION_PENALTY = 4.0
DEFINITION_BONUS = 3.0


@dataclass(frozen=True, slots=True)
class RankedSentences:
    """The candidates of a question, best first with their scores in log odds, and how likely one answers it.

    ``members`` holds the chance that each belongs to what the selected pages say on the question, and is empty where
    most of what was read was found by a search.
    """

    candidates: tuple[CandidateSentence, ...]
    scores: tuple[float, ...]
    answerable: float
    members: tuple[float, ...] = ()

    @property
    def shares(self) -> list[float]:
        """The reader's belief in each candidate; together they are 1."""
        odds = np.exp(np.array(self.scores) - max(self.scores, default=0.0))
        return [float(share) for share in odds / odds.sum()] if self.scores else []


@dataclass(frozen=True, slots=True)
class ReaderInput:
    """What the models see of a question and some hits: the candidates, their features, each segment's relevance."""

    question: str
    pool: tuple[CandidateSentence, ...]
    found: FeatureTable
    relevance: tuple[float, ...]

    def found_signals(self, scores: Floats) -> Floats:
        """Sum up hits of a search; ``scores`` are the reader's."""
        return found_signals(self.question, question_terms(self.question), self.found, scores, self.relevance)

    def page_signals(self, scores: Floats) -> Floats:
        """Sum up selected pages."""
        alike = measure_similarity(self.question, [candidate.text for candidate in self.pool])
        return page_signals(question_terms(self.question), self.found, scores, alike)

    def membership(self, scores: Floats) -> Floats:
        """Return the features by which sentences of a page belong to an answer."""
        alike = measure_similarity(self.question, [candidate.text for candidate in self.pool])
        return membership_features(self.pool, self.found, scores, alike)


QUESTIONS_REMEMBERED = 4  # of one run: the parts of a question are three at most


class ReaderMemo:
    """What was measured of each sentence for a question, so that a run's writer has it from its grader.

    Kept by segment. How sentences compare is computed for those that are read together.
    """

    def __init__(self) -> None:
        self._measured: dict[str, dict[str, tuple[Segment, Columns]]] = {}

    def measure(self, question: str, segments: Sequence[Segment], pool: Sequence[CandidateSentence]) -> Columns:
        """Return what ``measure_sentences`` does, measuring only segments that are new for the question."""
        known = self._of_question(question)
        unread = [known.get(segment.segment_id, (None,))[0] != segment for segment in segments]
        new = [candidate for candidate in pool if unread[candidate.segment]]
        if new:
            measured = measure_sentences(question, segments, new)
            for index, place in _places(new).items():
                part = {name: column[..., place] for name, column in measured.items()}
                known[segments[index].segment_id] = segments[index], part
            if len(new) == len(pool):
                return measured
        parts = [known[segments[index].segment_id][1] for index in _places(pool)]
        return {name: np.concatenate([part[name] for part in parts], axis=-1) for name in parts[0]}

    def _of_question(self, question: str) -> dict[str, tuple[Segment, Columns]]:
        while question not in self._measured and len(self._measured) >= QUESTIONS_REMEMBERED:
            del self._measured[next(iter(self._measured))]
        return self._measured.setdefault(question, {})


def _places(pool: Sequence[CandidateSentence]) -> dict[int, slice]:
    """Map each segment to the run of its candidates; those of a segment stand together."""
    places: dict[int, slice] = {}
    for index, candidate in enumerate(pool):
        first = places.get(candidate.segment, slice(index, index)).start
        places[candidate.segment] = slice(first, index + 1)
    return places


def reader_input(question: str, hits: Sequence[Hit], memo: ReaderMemo | None = None) -> ReaderInput | None:
    """Compute the features of every sentence of the hits; None where they hold none."""
    segments = [hit.segment for hit in hits]
    pool = candidate_sentences(segments, unaccented=question.isascii())
    if not pool:
        return None
    relevance = relevances(hits)
    held = (memo or ReaderMemo()).measure(question, segments, pool)
    found = compute_features(question, segments, relevance, pool, held)
    return ReaderInput(question, tuple(pool), found, tuple(relevance))


def relevances(hits: Sequence[Hit]) -> list[float]:
    """Return what the search says of each hit; a selected page counts as much as the best that was found beside it.

    A page comes with a score that stands for its having been chosen, so it may not outweigh what was measured.
    """
    best = max((hit.score for hit in hits if hit.kind != "page"), default=1.0)
    return [best if hit.kind == "page" else hit.score for hit in hits]


def rank_sentences(question: str, hits: Sequence[Hit], memo: ReaderMemo | None = None) -> RankedSentences:
    """Score every sentence of the hits against the question.

    About 2 ms for ten segments of 300 tokens that were read lately, 10 ms for others.
    """
    memo = memo or ReaderMemo()
    seen = reader_input(question, hits, memo)
    if seen is None:
        return RankedSentences((), (), 0.0)
    weights = fitted_weights()
    raw = seen.found.features @ weights.reader
    pages = [hit for hit in hits if hit.kind == "page"]
    penalty = np.array(_handicaps(question, seen.pool))
    members: Floats | None = None
    if 2 * len(pages) > len(hits):
        members = weights.membership.chance(seen.membership(raw), handicap=penalty)
    scores = raw - penalty
    order = np.argsort(-scores, kind="stable")
    return RankedSentences(
        candidates=tuple(seen.pool[i] for i in order),
        scores=tuple(float(scores[i]) for i in order),
        answerable=_answerable(seen, raw, hits, pages, memo),
        members=() if members is None else tuple(float(members[i]) for i in order),
    )


def _handicaps(question: str, pool: Sequence[CandidateSentence]) -> list[float]:
    """Return what each sentence loses for its form, and wins where it defines the thing that is asked for."""
    handicaps = [
        SHAPE_PENALTY[candidate.shape] + INSTRUCTION_PENALTY * speaks_to_machines(candidate.text) for candidate in pool
    ]
    if not asks_definition(question):
        return handicaps
    return [
        handicap - DEFINITION_BONUS * defines(question, candidate.text)
        for handicap, candidate in zip(handicaps, pool, strict=True)
    ]


def _answerable(
    seen: ReaderInput, scores: Floats, hits: Sequence[Hit], pages: Sequence[Hit], memo: ReaderMemo
) -> float:
    """Return the chance that the answer stands in the pages or in what was found, each judged by itself.

    A question about a page as a whole shares no word with it, and is answered by any page.
    """
    weights = fitted_weights()
    if pages and about_whole_page(seen.question):
        return 1.0
    if len(pages) == len(hits):
        return float(weights.page.chance(seen.page_signals(scores)))
    if not pages:
        return float(weights.found.chance(seen.found_signals(scores)))
    found = [hit for hit in hits if hit.kind != "page"]
    return max(rank_sentences(seen.question, part, memo).answerable for part in (pages, found))


def rank_by_part(question: str, hits: Sequence[Hit], memo: ReaderMemo | None = None) -> list[RankedSentences]:
    """Read for each thing that the question asks; for most questions that is one reading."""
    return [rank_sentences(part, hits, memo) for part in split_question(question)]
