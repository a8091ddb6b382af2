"""Answer in quotes: whole source sentences, word for word, a section each, the best first."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass

from graph.evidence import Intent, Segment
from graph.ports import Draft, DraftClosed, DraftOpened, DraftText
from graph.spending import Meter
from graph.state import Turn
from prompts import lines
from tools.extractive.reader import Reading, Relevance, read
from tools.extractive.small_talk import small_talk

MOST_QUOTES = 3
# Quoting stops where the quoted sentences hold this much of the reader's belief; see ADR 0006.
ENOUGH = 0.995


@dataclass(frozen=True, slots=True)
class Quote:
    """A whole sentence of one segment."""

    text: str
    segment_id: str


class ExtractiveWriter:
    """AnswerWriter that adds no word of its own."""

    def __init__(self, relevance: Relevance) -> None:
        self._relevance = relevance

    async def write(
        self, question: str, segments: Sequence[Segment], *, language: str, meter: Meter
    ) -> AsyncIterator[Draft]:
        """Quote up to three sentences; no section where the segments hold nothing to quote."""
        relevance = self._relevance.of(question, segments)
        reading = await asyncio.to_thread(read, question, segments, relevance)
        for quote in quotes(reading, segments):
            for draft in _section(quote.text, (quote.segment_id,)):
                yield draft

    async def converse(
        self, question: str, turns: Sequence[Turn], *, language: str, intent: Intent, meter: Meter
    ) -> AsyncIterator[Draft]:
        """Reply to small talk with a fixed line; say of any other question that only the library is quoted."""
        said = lines(language)
        kind = small_talk(question) if intent == "small_talk" else None
        text = said.only_library if intent == "content_query" else getattr(said, kind or "acknowledgement")
        for draft in _section(text, ()):
            yield draft


def quotes(reading: Reading, segments: Sequence[Segment]) -> list[Quote]:
    """Choose what to quote: the most likely sentences until enough is said, none twice, headings never."""
    chosen: dict[str, Quote] = {}
    believed = 0.0
    for candidate, share in zip(reading.candidates, reading.shares, strict=True):
        if len(chosen) == MOST_QUOTES or believed >= ENOUGH:
            break
        believed += share
        if candidate.shape != "heading":
            quote = Quote(candidate.text, segments[candidate.segment].segment_id)
            chosen.setdefault(candidate.wording.flat, quote)
    return list(chosen.values())


def _section(text: str, source_ids: tuple[str, ...]) -> tuple[Draft, ...]:
    return DraftOpened(), DraftText(text), DraftClosed(text, source_ids)
