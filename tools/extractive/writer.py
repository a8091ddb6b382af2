"""Answer in quotes: whole source sentences, word for word, a section each, the best first."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest

from graph.evidence import Hit, Intent, Segment
from graph.ports import Draft, DraftClosed, DraftOpened, DraftText, FaultySection, Revision
from graph.spending import Meter
from graph.state import Turn
from prompts import lines
from tools.extractive.candidates import Candidate
from tools.extractive.reader import Reading, read_parts
from tools.extractive.small_talk import small_talk

MOST_QUOTES = 3
# Quoting stops where the quoted sentences hold this much of the reader's belief; see ADR 0006.
ENOUGH = 0.998


@dataclass(frozen=True, slots=True)
class Quote:
    """A whole sentence of one segment."""

    text: str
    segment_id: str


class ExtractiveWriter:
    """AnswerWriter that adds no word of its own."""

    async def write(
        self, question: str, sources: Sequence[Hit], *, language: str, meter: Meter
    ) -> AsyncIterator[Draft]:
        """Quote up to three sentences; no section where the sources hold nothing to quote."""
        segments = [hit.segment for hit in sources]
        readings = await asyncio.to_thread(read_parts, question, segments, [hit.score for hit in sources])
        for quote in quotes(readings, segments):
            for draft in _section(quote.text, (quote.segment_id,)):
                yield draft

    async def revise(
        self, question: str, faulty: Sequence[FaultySection], sources: Sequence[Hit], *, language: str, meter: Meter
    ) -> list[Revision]:
        """Quote what answers best and stands in no faulty section yet, a quote a section; withdraw what is left."""
        segments = [hit.segment for hit in sources]
        readings = await asyncio.to_thread(read_parts, question, segments, [hit.score for hit in sources])
        fresh = [quote for quote in quotes(readings, segments) if all(quote.text not in each.text for each in faulty)]
        return [
            Revision(section.section_index, quote.text if quote else "", (quote.segment_id,) if quote else ())
            for section, quote in zip_longest(faulty, fresh[: len(faulty)])
        ]

    async def converse(
        self, question: str, turns: Sequence[Turn], *, language: str, intent: Intent, meter: Meter
    ) -> AsyncIterator[Draft]:
        """Reply to small talk with a fixed line; a question gets none, since only the library is quoted."""
        if intent == "small_talk":
            text: str = getattr(lines(language), small_talk(question) or "acknowledgement")
            for draft in _section(text, ()):
                yield draft


def quotes(readings: Sequence[Reading], segments: Sequence[Segment]) -> list[Quote]:
    """Choose what to quote: the most likely sentences until enough is said, none twice, headings never.

    A question of several parts gets the best sentence of each part first.
    """
    chosen: dict[str, Quote] = {}
    for row in zip_longest(*map(_likely, readings)):
        for candidate in row:
            if candidate is not None and len(chosen) < MOST_QUOTES:
                quote = Quote(candidate.text, segments[candidate.segment].segment_id)
                chosen.setdefault(candidate.wording.flat, quote)
    return list(chosen.values())


def _likely(reading: Reading) -> list[Candidate]:
    """List the sentences to quote of a reading, best first, until they hold enough of its belief."""
    likely: list[Candidate] = []
    believed = 0.0
    for candidate, share in zip(reading.candidates, reading.shares, strict=True):
        if believed >= ENOUGH:
            break
        believed += share
        if candidate.shape != "heading":
            likely.append(candidate)
    return likely


def _section(text: str, source_ids: tuple[str, ...]) -> tuple[Draft, ...]:
    return DraftOpened(), DraftText(text), DraftClosed(text, source_ids)
