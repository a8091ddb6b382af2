"""The extractive family: grade segments and answer in quotes, without a model, a key or a network."""

import asyncio
import re
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest

import numpy as np

from answers.entries import Entry, entries_of, passage_around
from answers.quoting import quoted_spans, stands
from graph.evidence import Hit, Intent, Segment
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
from text.words import comparable_text
from tools.extractive.asked_kinds import asked_kinds
from tools.extractive.reader import RankedSentences, ReaderMemo, fitted_weights, rank_by_part
from tools.rules.candidate_sentences import CandidateSentence
from tools.rules.question_rules import RulePreparer, RuleRewriter, RuleTitler
from tools.rules.small_talk_rules import small_talk, small_talk_phrases

MOST_QUOTES = 3
MOST_PAGE_QUOTES = 5
MOST_QUOTED = 300  # characters of a quote; ADR 0006 shows what other lengths find
BESIDE = 4.0  # log odds that a neighbour may be behind the entry which it is quoted with; further ones are padding
PASSAGES_CONSIDERED = 8
_TICKS = re.compile("`+")


@dataclass(frozen=True, slots=True)
class SelectedQuote:
    """Contiguous entries of one segment, as Markdown: code in a fence, all else as it stands in the source."""

    text: str
    segment_id: str


@dataclass(frozen=True, slots=True)
class Passage:
    """The entries of a segment to quote together, and the reader's belief that they answer."""

    segment: int
    entries: tuple[Entry, ...]
    belief: float

    def overlaps(self, other: "Passage") -> bool:
        """Whether both quote some of the same text."""
        return self.segment == other.segment and (
            self.entries[0].start < other.entries[-1].end and other.entries[0].start < self.entries[-1].end
        )


def select_quotes(readings: Sequence[RankedSentences], sources: Sequence[Hit]) -> list[SelectedQuote]:
    """Return what to quote, best first, without repeats or headings.

    A question of several parts gets the best passage of each part first.
    """
    most = MOST_PAGE_QUOTES if any(reading.members for reading in readings) else MOST_QUOTES
    chosen: dict[str, SelectedQuote] = {}
    for row in zip_longest(*(_chosen(reading, sources) for reading in readings)):
        for passage in row:
            if passage is not None and len(chosen) < most:
                segment = sources[passage.segment].segment
                quote = SelectedQuote(as_markdown(segment, passage.entries), segment.segment_id)
                chosen.setdefault(comparable_text(quote.text).flat, quote)
    return list(chosen.values())


def as_markdown(segment: Segment, entries: Sequence[Entry]) -> str:
    """Return contiguous entries as they stand in their segment, with a fence around code."""
    parts: list[str] = []
    for at, entry in enumerate(entries):
        if at:
            between = segment.text[entries[at - 1].end - segment.start : entry.start - segment.start]
            parts.append("\n\n" if "code" in (entry.kind, entries[at - 1].kind) else between)
        parts.append(_fenced(entry.text) if entry.kind == "code" else entry.text)
    return "".join(parts)


def _fenced(code: str) -> str:
    """Return code in a fence that nothing in it closes."""
    fence = "`" * max(3, 1 + max(map(len, _TICKS.findall(code)), default=0))
    return f"{fence}\n{code}\n{fence}"


def _chosen(reading: RankedSentences, sources: Sequence[Hit]) -> list[Passage]:
    return _belonging(reading, sources) if reading.members else _likely(reading, sources)


def _likely(reading: RankedSentences, sources: Sequence[Hit]) -> list[Passage]:
    """Return the passages with the largest expected F1, best first, if the question has one place that answers.

    A question for a list or a comparison has at least two.
    """
    passages = _passages(reading, sources)
    if not passages:
        return []
    places = 1 + bool(asked_kinds(reading.question) & {"list", "comparison"})
    held = np.cumsum([passage.belief for passage in passages[:MOST_QUOTES]])
    sizes = np.arange(1, len(held) + 1)
    return passages[: int(np.argmax(held / (sizes + places))) + 1]


def _passages(reading: RankedSentences, sources: Sequence[Hit]) -> list[Passage]:
    """Return the best passages of a reading; of those that overlap the first, with the belief in all its entries."""
    beliefs: dict[tuple[int, int], float] = {
        (candidate.segment, candidate.entry.start): share
        for candidate, share in zip(reading.candidates, reading.shares, strict=True)
    }
    scores = {
        (candidate.segment, candidate.entry.start): score
        for candidate, score in zip(reading.candidates, reading.scores, strict=True)
    }
    found: list[Passage] = []
    for candidate in reading.candidates:
        if len(found) == PASSAGES_CONSIDERED:
            break
        if not candidate.entry.quotable:
            continue
        place = candidate.segment
        entries = entries_of(sources[place].segment)
        at = next(index for index, entry in enumerate(entries) if entry.start == candidate.entry.start)
        around = passage_around(entries, at, MOST_QUOTED)
        if not entries[at].leads:
            around = _worth_telling(entries, around, at, {key[1]: s for key, s in scores.items() if key[0] == place})
        chosen = _told(entries, around, at, reading.question)
        if not chosen or chosen[-1].leads:
            continue  # a lead-in never stands alone
        belief = sum(beliefs.get((candidate.segment, entry.start), 0.0) for entry in chosen if entry.quotable)
        new = Passage(candidate.segment, chosen, belief)
        if not any(new.overlaps(other) for other in found):
            found.append(new)
    return found


def _worth_telling(entries: Sequence[Entry], around: range, at: int, scores: Mapping[int, float]) -> range:
    """Return the part of a passage whose ends are not far less likely to answer than the entry it is quoted for."""
    least = scores[entries[at].start] - BESIDE

    def is_worth(index: int) -> bool:
        return not entries[index].quotable or scores.get(entries[index].start, least) >= least

    first = next((index for index in range(around[0], at) if is_worth(index)), at)
    last = next((index for index in range(around[-1], at, -1) if is_worth(index)), at)
    return range(first, last + 1)


def _told(entries: Sequence[Entry], around: range, at: int, question: str) -> tuple[Entry, ...]:
    """Return the entries to quote for one of them, none of which is torn from what governs it; none where that is far.

    An entry that its context denies, conditions or replaces is quoted together with that, as one contiguous passage.
    """
    if not stands(entries[at], question):
        spans = quoted_spans(entries[at])
        alone = (entries[at].start, entries[at].end)  # about another thing, which nothing beside it can tell
        if len(spans) > 1 or spans[0] == alone or spans[0][0] < entries[0].start or spans[0][1] > entries[-1].end:
            return ()
        [(start, end)] = spans
        return tuple(entry for entry in entries if entry.end > start and entry.start < end)
    first = last = at
    while first > around[0] and _may_stand(entries[first - 1], question):
        first -= 1
    while last < around[-1] and _may_stand(entries[last + 1], question):
        last += 1
    return tuple(entries[first : last + 1])


def _may_stand(entry: Entry, question: str) -> bool:
    return not entry.quotable or stands(entry, question)


def _belonging(reading: RankedSentences, sources: Sequence[Hit]) -> list[Passage]:
    """Return the sentences of pages to quote, in the reader's order."""
    quotable = [i for i, candidate in enumerate(reading.candidates) if candidate.entry.quotable]
    best = best_set([reading.members[i] for i in quotable], MOST_PAGE_QUOTES)
    chosen = [reading.candidates[quotable[i]] for i in sorted(best)]
    told = [(one.segment, _told_alone(one, sources, reading.question)) for one in chosen]
    return [Passage(segment, entries, 0.0) for segment, entries in told if entries]


def _told_alone(one: CandidateSentence, sources: Sequence[Hit], question: str) -> tuple[Entry, ...]:
    entries = entries_of(sources[one.segment].segment)
    at = next(index for index, entry in enumerate(entries) if entry.start == one.entry.start)
    return _told(entries, range(at, at + 1), at, question)


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
ANSWERABLE = 0.35
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
