"""The extractive family: grade segments and answer in quotes, without a model, a key or a network."""

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import zip_longest

from answers.answerhood import ANSWERS
from graph.evidence import Hit, Intent, NearPassage
from graph.ports import (
    ClaimChecker,
    DraftClosed,
    DraftOpened,
    Drafts,
    DraftText,
    Family,
    FaultySection,
    Grading,
    Revision,
    fixed_section,
)
from graph.reasons import Reason
from graph.rows import Turn
from graph.usage import Meter
from prompts import lines
from text.sentences import sentences
from text.words import comparable_text, is_bigrammed, terms_of, without_framing
from tools.extractive.quoted_passages import choose_passages
from tools.extractive.reader import RankedSentences, ReaderMemo, fitted_weights, rank_by_part, recall_by_part
from tools.rules.follow_ups import own_question
from tools.rules.question_rules import RulePreparer, RuleRewriter, RuleTitler
from tools.rules.requests import BEYOND_QUOTES, request_of, request_wordings
from tools.rules.small_talk_rules import small_talk, small_talk_phrases

# Below this probability of an answer, all candidates are dropped; ADR 0006 shows what other thresholds keep.
ANSWERABLE = 0.2
# A segment is dropped if its best sentence is this far behind the best of all, in the reader's log odds.
KEPT_WITHIN = 6.0
KEPT_AT_MOST = 5
# An entry that says what something is begins with it, behind an article.
SUBJECT_WORDS = 3
# What is left of the probability where the one thing asked about is only said in passing.
IN_PASSING = 0.2


class ExtractiveGrader:
    """A RelevanceGrader by the reader's scores, without a model."""

    def __init__(self, memo: ReaderMemo | None = None, *, refuse_below: float = ANSWERABLE) -> None:
        self._memo = memo
        self._refuse_below = refuse_below

    async def grade(self, question: str, candidates: Sequence[Hit], *, meter: Meter) -> Grading:
        """Grade all candidates together; the kept ones stay in the order of their search scores."""
        return await asyncio.to_thread(_grade, question, candidates, self._memo, self._refuse_below)


def _grade(question: str, hits: Sequence[Hit], memo: ReaderMemo | None, refuse_below: float) -> Grading:
    each_once = {hit.segment_id: hit for hit in reversed(hits)}.values()
    ranked = sorted(reversed(each_once), key=lambda hit: -hit.score)  # of equal ones as they came, in reading order
    readings = rank_by_part(question, ranked, memo)
    if _says_in_passing(question, readings, ranked):
        readings = [replace(reading, answerable=reading.answerable * IN_PASSING) for reading in readings]
    answerable = min((reading.answerable for reading in readings), default=0.0)
    asked = question.partition("\n\n")[0]  # without a passage that the reader selected
    request = request_of(own_question(asked) or asked)  # what a follow-up carries on is no request of its own
    uncertain = request is not None and request.kind == "open" and answerable < ANSWERS
    work = request is not None and request.kind == "work"
    fallback = BEYOND_QUOTES if uncertain else None  # of work it was told when the question was prepared
    answered = [reading for reading in readings if reading.answerable >= refuse_below]
    ids = [hit.segment.segment_id for hit in ranked]
    if not answered:
        reason = Reason("no_answer_in_it")
        dropped = tuple((segment_id, reason) for segment_id in ids)
        nearest = tuple(_nearest(readings, ranked))
        return Grading((), dropped, fallback, chose_in_pages=True, beyond_quotes=work or uncertain, nearest=nearest)
    keep: set[int] = set()
    for row in zip_longest(*(_leading(reading, ranked) for reading in answered)):
        keep.update(index for index in row if index is not None and len(keep) < KEPT_AT_MOST)
    return Grading(
        tuple((hit.segment.segment_id, hit.score) for index, hit in enumerate(ranked) if index in keep),
        tuple(
            (segment_id, Reason("others_answer_better")) for index, segment_id in enumerate(ids) if index not in keep
        ),
        fallback,
        chose_in_pages=True,
        answerable=0.0 if work else answerable,  # no quote is a summary
        beyond_quotes=work or uncertain,
    )


def _says_in_passing(question: str, readings: Sequence[RankedSentences], ranked: Sequence[Hit]) -> bool:
    """Whether the one word that a question asks about stands in passing only: nothing begins with it or is under it.

    "What is the weather?" asks about no page on which robots are tried "across weather conditions". Pages that a person
    selected are what is asked about.
    """
    words = without_framing(question).split()
    if len(words) != 1 or is_bigrammed(words[0]) or any(hit.kind == "page" for hit in ranked):
        return False
    asked = set(terms_of(words[0]))
    for reading in readings:
        for candidate in reading.candidates:
            segment = ranked[candidate.segment].segment
            begins = " ".join(candidate.text.split()[:SUBJECT_WORDS])
            told = " ".join((segment.title, segment.heading, candidate.entry.surroundings, begins))
            if not asked.isdisjoint(comparable_text(told).spellings):
                return False
    return not any(_asks(hit.segment.text, question) for hit in ranked)


def _asks(text: str, question: str) -> bool:
    """Whether a sentence of a text has all words of a question, as a stored question with its answer does."""
    words = set(comparable_text(question).terms)
    return any(words <= comparable_text(text[start:end]).vocabulary for start, end in sentences(text))


def _nearest(readings: Sequence[RankedSentences], ranked: Sequence[Hit]) -> Iterator[NearPassage]:
    """Yield the passages to show where none is believed to answer, with the chance that each does."""
    answerable = max((reading.answerable for reading in readings), default=0.0)
    shown = choose_passages(readings, ranked)
    believed = sum(passage.belief for passage in shown) or 1.0
    for passage in shown:
        yield NearPassage(proof=passage.proof, answerhood=round(answerable * passage.belief / believed, 4))


def _leading(reading: RankedSentences, ranked: Sequence[Hit]) -> list[int]:
    """Return the segments that have a sentence close to the best one, by their best sentence."""
    best: dict[int, float] = {}
    for candidate, score in zip(reading.candidates, reading.scores, strict=True):
        best.setdefault(candidate.segment, score)
    within = [index for index in best if best[index] >= reading.scores[0] - KEPT_WITHIN]
    return sorted(within, key=lambda index: (-best[index], -ranked[index].score))


class ExtractiveWriter:
    """An AnswerWriter that only quotes the sources."""

    def __init__(self, memo: ReaderMemo | None = None) -> None:
        self._memo = memo

    async def write(self, question: str, sources: Sequence[Hit], *, language: str, meter: Meter) -> Drafts:
        """Show up to three passages, one a section; none where there is nothing to show."""
        readings = recall_by_part(question, sources, self._memo) if self._memo is not None else None
        if readings is None:
            readings = await asyncio.to_thread(rank_by_part, question, sources, self._memo)
        for passage in choose_passages(readings, sources):
            yield DraftOpened()
            yield DraftText(passage.text)
            yield DraftClosed(passage.text, (passage.segment_id,), passage=passage.proof)

    async def revise(
        self, question: str, faulty: Sequence[FaultySection], sources: Sequence[Hit], *, language: str, meter: Meter
    ) -> list[Revision]:
        """Withdraw the faulty sections: what was written by somebody else can only be quoted, not repaired."""
        return [Revision(section.section_index, "", ()) for section in faulty]

    async def converse(
        self,
        question: str,
        turns: Sequence[Turn],
        *,
        language: str,
        intent: Intent,
        own_knowledge: bool = False,
        meter: Meter,
    ) -> Drafts:
        """Reply to small talk with a fixed line; a question gets no reply, since only the library is quoted."""
        if intent == "small_talk":
            text: str = getattr(lines(language), small_talk(question) or "acknowledgement")
            for draft in fixed_section(text):
                yield draft


MODEL = "extractive"


def extractive_family(*, checker: ClaimChecker, refuse_below: float = ANSWERABLE) -> Family:
    """Return the family of one run, whose writer goes by what its grader has read, with a claim checker.

    A question is refused where the probability of an answer among the candidates is below ``refuse_below``, in [0, 1].
    Raises ValueError where the bundled weights were fitted for other features.
    """
    fitted_weights()
    small_talk_phrases()  # loaded now, so that no run waits for them
    request_wordings()
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
