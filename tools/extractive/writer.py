"""Answer in quotes: whole source sentences, word for word, a section each, the best first."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from itertools import zip_longest

from graph.evidence import Hit, Intent
from graph.ports import Draft, DraftClosed, DraftOpened, DraftText, FaultySection, Revision
from graph.spending import Meter
from graph.state import Turn
from prompts import lines
from tools.extractive.quoting import quotes
from tools.extractive.reader import read_parts
from tools.extractive.small_talk import small_talk


class ExtractiveWriter:
    """AnswerWriter that adds no word of its own."""

    async def write(
        self, question: str, sources: Sequence[Hit], *, language: str, meter: Meter
    ) -> AsyncIterator[Draft]:
        """Quote up to three sentences, five of selected pages; no section where there is nothing to quote."""
        readings = await asyncio.to_thread(read_parts, question, sources)
        for quote in quotes(readings, sources):
            for draft in _section(quote.text, (quote.segment_id,)):
                yield draft

    async def revise(
        self, question: str, faulty: Sequence[FaultySection], sources: Sequence[Hit], *, language: str, meter: Meter
    ) -> list[Revision]:
        """Quote what answers best and stands in no faulty section yet, a quote a section; withdraw what is left."""
        readings = await asyncio.to_thread(read_parts, question, sources)
        fresh = [quote for quote in quotes(readings, sources) if all(quote.text not in each.text for each in faulty)]
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


def _section(text: str, source_ids: tuple[str, ...]) -> tuple[Draft, ...]:
    return DraftOpened(), DraftText(text), DraftClosed(text, source_ids)
