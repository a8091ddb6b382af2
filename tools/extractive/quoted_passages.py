"""What to quote: the passages of the sources that a reading believes in, each whole, and as many as pay."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, zip_longest

import numpy as np

from answers.entries import entries_of, passage_around
from answers.entry import Entry
from answers.stored_questions import with_answer
from graph.evidence import Hit, Segment
from text.shapes import is_numbered
from text.words import comparable_text
from tools.extractive.asked_kinds import asked_kinds
from tools.extractive.reader import RankedSentences
from tools.extractive.subquestions import named_things

MOST_QUOTES = 3
MOST_PAGE_QUOTES = 5
MOST_QUOTED = 300  # characters of a quote; ADR 0006 shows what other lengths find
MOST_LISTED = 1_500  # characters of a list that is quoted whole, since it is what was asked for
BESIDE = 4.0  # log odds that a neighbour may be behind the entry which it is quoted with; further ones are padding
PASSAGES_CONSIDERED = 8
NAMED_LOOKED_FOR = 24  # passages among which each thing that the question names is looked for
NAMED_BELIEF = 0.01  # of the best passage's belief: one with less is about the thing and about nothing asked
_TICKS = re.compile("`+")


@dataclass(frozen=True, slots=True)
class SelectedQuote:
    """Contiguous entries of one segment, as Markdown: code in a fence, all else as it stands in the source."""

    text: str
    segment_id: str


@dataclass(frozen=True, slots=True)
class QuotedPassage:
    """The entries of a segment to quote together, and the reader's belief that they answer."""

    segment: int
    title: str
    entries: tuple[Entry, ...]
    belief: float

    def overlaps(self, other: "QuotedPassage") -> bool:
        """Whether both quote some of the same text."""
        return self.segment == other.segment and (
            self.entries[0].start < other.entries[-1].end and other.entries[0].start < self.entries[-1].end
        )

    def is_about(self, thing: frozenset[str]) -> bool:
        """Whether its entries, what they hang on and its document's title have all words of a thing."""
        texts = (self.title, *(text for entry in self.entries for text in (entry.text, entry.surroundings)))
        return not thing - frozenset[str]().union(*(comparable_text(text).vocabulary for text in texts))


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


def _chosen(reading: RankedSentences, sources: Sequence[Hit]) -> list[QuotedPassage]:
    segments = [_ReadSegment(hit.segment) for hit in sources]
    return _belonging(reading, segments) if reading.members else _likely(reading, segments)


class _ReadSegment:
    """The entries of a segment, and their places by where they start."""

    def __init__(self, segment: Segment) -> None:
        self.title = segment.title
        self.entries = entries_of(segment)
        self._places = {entry.start: place for place, entry in enumerate(self.entries)}

    def place_of(self, entry: Entry) -> int:
        """Return the index of one of its entries."""
        return self._places[entry.start]

    def leading(self, at: int) -> int:
        """Return the index of the lead-in that an entry is or hangs on, or its own where it has none here."""
        entry = self.entries[at]
        if entry.kind != "list_item" or entry.leads:
            return at
        lead = next((each for each in reversed(entry.context) if each.role == "lead"), None)
        return self._places.get(lead.start, at) if lead is not None else at

    def led(self, at: int) -> range:
        """Return the indexes of a lead-in and all that directly follows and hangs on it."""
        last = at
        start = self.entries[at].start
        while last + 1 < len(self.entries) and any(each.start == start for each in self.entries[last + 1].context):
            last += 1
        return range(at, last + 1)

    def characters(self, places: range) -> int:
        """Return the length of contiguous entries."""
        return self.entries[places[-1]].end - self.entries[places[0]].start


def _likely(reading: RankedSentences, segments: Sequence[_ReadSegment]) -> list[QuotedPassage]:
    """Return the passages with the largest expected F1, best first, if the question has one place that answers.

    A question for a list or a comparison has at least two. Each thing that the question compares or names and that none
    of these is about gets the best passage that is about it.
    """
    found = _passages(reading, segments)
    passages = list(islice(found, PASSAGES_CONSIDERED))
    if not passages:
        return []
    places = 1 + bool(asked_kinds(reading.question) & {"list", "comparison"})
    held = np.cumsum([passage.belief for passage in passages[:MOST_QUOTES]])
    sizes = np.arange(1, len(held) + 1)
    chosen = passages[: int(np.argmax(held / (sizes + places))) + 1]
    least = NAMED_BELIEF * chosen[0].belief
    for thing in named_things(reading.question):
        if not any(passage.is_about(thing) for passage in chosen) and len(chosen) < MOST_QUOTES:
            passages += islice(found, NAMED_LOOKED_FOR - len(passages))
            chosen += [each for each in passages if each.belief >= least and each.is_about(thing)][:1]
    return chosen


def _passages(reading: RankedSentences, segments: Sequence[_ReadSegment]) -> Iterator[QuotedPassage]:
    """Yield the passages of a reading, best first; of those that overlap the first, with the belief in its entries."""
    beliefs: list[dict[int, float]] = [{} for _ in segments]
    scores: list[dict[int, float]] = [{} for _ in segments]
    for one, share, score in zip(reading.candidates, reading.shares, reading.scores, strict=True):
        beliefs[one.segment][one.entry.start] = share
        scores[one.segment][one.entry.start] = score
    found: list[QuotedPassage] = []
    for candidate in reading.candidates:
        if not candidate.entry.quotable:
            continue
        segment = segments[candidate.segment]
        at = segment.place_of(candidate.entry)
        chosen = _told(segment, _around(segment, at, scores[candidate.segment], reading))
        if not chosen or chosen[-1].leads:
            continue  # a lead-in never stands alone
        known = beliefs[candidate.segment]
        belief = sum(known.get(entry.start, 0.0) for entry in chosen if entry.quotable)
        new = QuotedPassage(candidate.segment, segment.title, chosen, belief)
        if not any(new.overlaps(other) for other in found):
            found.append(new)
            yield new


def _around(segment: _ReadSegment, at: int, scores: Mapping[int, float], reading: RankedSentences) -> range:
    """Return the indexes of the entries to quote together for one of them: a list that was asked for is quoted whole.

    Steps are one too where they are numbered.
    """
    entries, kinds = segment.entries, asked_kinds(reading.question)
    lead = segment.leading(at)
    if entries[lead].leads and (
        "list" in kinds or ("steps" in kinds and lead + 1 < len(entries) and is_numbered(entries[lead + 1].text))
    ):
        whole = segment.led(lead)
        if at in whole and segment.characters(whole) <= MOST_LISTED:
            return whole
    if entries[at].asks:
        return with_answer(entries, at, MOST_QUOTED)
    around = passage_around(entries, at, MOST_QUOTED)
    return around if entries[at].leads else _worth_telling(entries, around, at, scores)


def _worth_telling(entries: Sequence[Entry], around: range, at: int, scores: Mapping[int, float]) -> range:
    """Return the part of a passage whose ends are not far less likely to answer than the entry it is quoted for."""
    least = scores[entries[at].start] - BESIDE

    def is_worth(index: int) -> bool:
        return not entries[index].quotable or scores.get(entries[index].start, least) >= least

    first = next((index for index in range(around[0], at) if is_worth(index)), at)
    last = next((index for index in range(around[-1], at, -1) if is_worth(index)), at)
    return range(first, last + 1)


def _told(segment: _ReadSegment, around: range) -> tuple[Entry, ...]:
    """Return the entries to quote together; a question never ends them."""
    told = [segment.entries[index] for index in around]
    while told and told[-1].asks:
        told.pop()
    return tuple(told)


def _belonging(reading: RankedSentences, segments: Sequence[_ReadSegment]) -> list[QuotedPassage]:
    """Return the sentences of pages to quote, in the reader's order."""
    quotable = [i for i, candidate in enumerate(reading.candidates) if candidate.entry.quotable]
    best = best_set([reading.members[i] for i in quotable], MOST_PAGE_QUOTES)
    passages: list[QuotedPassage] = []
    for one in (reading.candidates[quotable[i]] for i in sorted(best)):
        segment = segments[one.segment]
        at = segment.place_of(one.entry)
        around = with_answer(segment.entries, at, MOST_QUOTED) if one.entry.asks else range(at, at + 1)
        if told := _told(segment, around):
            new = QuotedPassage(one.segment, segment.title, told, 0.0)
            if not any(new.overlaps(each) for each in passages):
                passages.append(new)
    return passages


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
