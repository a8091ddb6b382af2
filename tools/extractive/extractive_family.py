"""The extractive family: grade segments and answer in quotes, without a model, a key or a network."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest

import numpy as np

from graph.evidence import Hit, Intent
from graph.ports import (
    ClaimChecker,
    Draft,
    DraftClosed,
    DraftOpened,
    DraftText,
    Family,
    FaultySection,
    Grading,
    Revision,
)
from graph.state import Turn
from graph.usage import Meter
from prompts import lines
from tools.extractive.reader import RankedSentences, ReaderMemo, fitted_weights, rank_by_part
from tools.rules.candidate_sentences import CandidateSentence
from tools.rules.question_rules import RulePreparer, RuleRewriter, RuleTitler
from tools.rules.small_talk_rules import small_talk, small_talk_phrases

MOST_QUOTES = 3
MOST_PAGE_QUOTES = 5
# Quoting stops when the quoted sentences hold this share of the reader's belief; see ADR 0006.
ENOUGH = 0.9998
# A sentence outside the best sentence's part of the document is quoted only if its belief is at least this fraction of
# the best one's: another document may say the same, while parts under other headings are about something else.
IN_DOCUMENT = 0.33
IN_ANOTHER = 0.03


@dataclass(frozen=True, slots=True)
class SelectedQuote:
    """A whole sentence of one segment."""

    text: str
    segment_id: str


def select_quotes(readings: Sequence[RankedSentences], sources: Sequence[Hit]) -> list[SelectedQuote]:
    """Return the sentences to quote, best first, without repeats or headings.

    A question of several parts gets the best sentence of each part first.
    """
    most = MOST_PAGE_QUOTES if any(reading.members for reading in readings) else MOST_QUOTES
    chosen: dict[str, SelectedQuote] = {}
    for row in zip_longest(*(_chosen(reading, sources) for reading in readings)):
        for candidate in row:
            if candidate is not None and len(chosen) < most:
                quote = SelectedQuote(candidate.text, sources[candidate.segment].segment.segment_id)
                chosen.setdefault(candidate.wording.flat, quote)
    return list(chosen.values())


def _chosen(reading: RankedSentences, sources: Sequence[Hit]) -> list[CandidateSentence]:
    return _belonging(reading) if reading.members else _likely(reading, sources)


def _likely(reading: RankedSentences, sources: Sequence[Hit]) -> list[CandidateSentence]:
    """Return a reading's sentences to quote, best first, until they hold enough of its belief."""
    likely: list[CandidateSentence] = []
    believed = 0.0
    shares = reading.shares
    for candidate, share in zip(reading.candidates, shares, strict=True):
        if believed >= ENOUGH:
            break
        believed += share
        wanted = _least_share(sources[reading.candidates[0].segment], sources[candidate.segment])
        if candidate.shape != "heading" and share >= wanted * shares[0]:
            likely.append(candidate)
    return likely


def _least_share(best: Hit, other: Hit) -> float:
    """Return the fraction of the best sentence's belief that another one needs to be quoted with it."""
    if best.segment.document_id != other.segment.document_id:
        return IN_ANOTHER
    same_part = (
        best.segment.segment_index == other.segment.segment_index or best.segment.heading == other.segment.heading
    )
    return 0.0 if same_part else IN_DOCUMENT


def _belonging(reading: RankedSentences) -> list[CandidateSentence]:
    """Return the sentences of pages to quote, in the reader's order."""
    quotable = [i for i, candidate in enumerate(reading.candidates) if candidate.shape != "heading"]
    best = best_set([reading.members[i] for i in quotable], MOST_PAGE_QUOTES)
    return [reading.candidates[quotable[i]] for i in sorted(best)]


def best_set(chances: Sequence[float], most: int) -> list[int]:
    """Return the indices of the set of items with the largest expected F1, most probable first.

    If the chances are independent, the best set of a size holds the most probable items (Lewis 1995), and its F1 is
    about twice the sum of their chances over its size plus the sum of all chances. Returns at most ``most`` items, and
    at least one where there is one.
    """
    ranked = sorted(range(len(chances)), key=lambda i: -chances[i])[:most]
    if not ranked:
        return []
    held = np.cumsum([chances[i] for i in ranked])
    sizes = np.arange(1, len(ranked) + 1)
    return ranked[: int(np.argmax(held / (sizes + sum(chances)))) + 1]


# Below this probability of an answer, all candidates are dropped; ADR 0006 shows what other thresholds keep.
ANSWERABLE = 0.5
# A segment is dropped if its best sentence is this far behind the best of all, in the reader's log odds.
KEPT_WITHIN = 6.0
KEPT_AT_MOST = 5


class ExtractiveGrader:
    """A RelevanceGrader by the reader's scores, without a model."""

    def __init__(self, memo: ReaderMemo | None = None, *, refuse_below: float = ANSWERABLE) -> None:
        self._memo = memo
        self._refuse_below = refuse_below

    async def grade(self, question: str, candidates: Sequence[Hit], *, meter: Meter) -> Grading:
        """Grade all candidates together; the kept ones stay in the order of their search scores."""
        return await asyncio.to_thread(_grade, question, candidates, self._memo, self._refuse_below)


def _grade(question: str, hits: Sequence[Hit], memo: ReaderMemo | None, refuse_below: float) -> Grading:
    ranked = sorted({hit.segment.segment_id: hit for hit in reversed(hits)}.values(), key=lambda hit: -hit.score)
    readings = rank_by_part(question, ranked, memo)
    answered = [reading for reading in readings if reading.answerable >= refuse_below]
    ids = [hit.segment.segment_id for hit in ranked]
    if not answered:
        reason = "no sentence in it answers the question"
        return Grading((), tuple((segment_id, reason) for segment_id in ids), chose_in_pages=True)
    keep: set[int] = set()
    for row in zip_longest(*(_leading(reading, ranked) for reading in answered)):
        keep.update(index for index in row if index is not None and len(keep) < KEPT_AT_MOST)
    return Grading(
        tuple((hit.segment.segment_id, hit.score) for index, hit in enumerate(ranked) if index in keep),
        tuple(
            (segment_id, "other segments answer the question better")
            for index, segment_id in enumerate(ids)
            if index not in keep
        ),
        chose_in_pages=True,
        answerable=min(reading.answerable for reading in readings),
    )


def _leading(reading: RankedSentences, ranked: Sequence[Hit]) -> list[int]:
    """Return the segments that have a sentence close to the best one, by search score, then by their best sentence."""
    best: dict[int, float] = {}
    for candidate, score in zip(reading.candidates, reading.scores, strict=True):
        best.setdefault(candidate.segment, score)
    within = [index for index in best if best[index] >= reading.scores[0] - KEPT_WITHIN]
    return sorted(within, key=lambda index: (-ranked[index].score, -best[index]))


class ExtractiveWriter:
    """An AnswerWriter that only quotes the sources."""

    def __init__(self, memo: ReaderMemo | None = None) -> None:
        self._memo = memo

    async def write(
        self, question: str, sources: Sequence[Hit], *, language: str, meter: Meter
    ) -> AsyncIterator[Draft]:
        """Quote up to three sentences, or five of selected pages; no section where there is nothing to quote."""
        readings = await asyncio.to_thread(rank_by_part, question, sources, self._memo)
        for quote in select_quotes(readings, sources):
            for draft in _section(quote.text, (quote.segment_id,)):
                yield draft

    async def revise(
        self, question: str, faulty: Sequence[FaultySection], sources: Sequence[Hit], *, language: str, meter: Meter
    ) -> list[Revision]:
        """Replace each faulty section with the next best quote that none of them has; withdraw the rest."""
        readings = await asyncio.to_thread(rank_by_part, question, sources, self._memo)
        fresh = [
            quote for quote in select_quotes(readings, sources) if all(quote.text not in each.text for each in faulty)
        ]
        return [
            Revision(section.section_index, quote.text if quote else "", (quote.segment_id,) if quote else ())
            for section, quote in zip_longest(faulty, fresh[: len(faulty)])
        ]

    async def converse(
        self,
        question: str,
        turns: Sequence[Turn],
        *,
        language: str,
        intent: Intent,
        own_knowledge: bool = False,
        meter: Meter,
    ) -> AsyncIterator[Draft]:
        """Reply to small talk with a fixed line; a question gets no reply, since only the library is quoted."""
        if intent == "small_talk":
            text: str = getattr(lines(language), small_talk(question) or "acknowledgement")
            for draft in _section(text, ()):
                yield draft


def _section(text: str, source_ids: tuple[str, ...]) -> tuple[Draft, ...]:
    return DraftOpened(source_ids=source_ids), DraftText(text), DraftClosed(text, source_ids)


MODEL = "extractive"


def extractive_family(*, checker: ClaimChecker, refuse_below: float = ANSWERABLE) -> Family:
    """Return the family of one run, whose grader and writer share their measurements, with a claim checker.

    A question is refused where the probability of an answer among the candidates is below ``refuse_below``, in [0, 1].
    Raises ValueError where the bundled weights were fitted for other features.
    """
    fitted_weights()
    small_talk_phrases()  # loaded now, so that no run waits for it
    memo = ReaderMemo()
    return Family(
        name="extractive",
        model=MODEL,
        preparer=RulePreparer(),
        grader=ExtractiveGrader(memo, refuse_below=refuse_below),
        writer=ExtractiveWriter(memo),
        checker=checker,
        rewriter=RuleRewriter(),
        titler=RuleTitler(),
    )
