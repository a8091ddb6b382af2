"""Select the sentences to quote, best first, without repeats or headings."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import zip_longest

import numpy as np

from graph.evidence import Hit
from tools.extractive.reader import RankedSentences
from tools.rules.candidate_sentences import CandidateSentence

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
