"""A writer that cites, for what one source says, the source beside it."""

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, replace

from graph.evidence import Hit, Intent
from graph.ports import AnswerWriter, Draft, DraftClosed, FaultySection, Revision
from graph.spending import Meter
from graph.state import Turn


@dataclass(frozen=True, slots=True)
class MisquotingWriter:
    """Writes as it should and cites wrong ids; all of them were offered, so that none is dropped as unknown."""

    writer: AnswerWriter

    async def write(
        self, question: str, sources: Sequence[Hit], *, language: str, meter: Meter
    ) -> AsyncIterator[Draft]:
        """Write sections that cite the wrong sources."""
        beside = _beside(sources)
        async for draft in self.writer.write(question, sources, language=language, meter=meter):
            yield (
                replace(draft, source_ids=_wrong(draft.source_ids, beside)) if isinstance(draft, DraftClosed) else draft
            )

    async def revise(
        self, question: str, faulty: Sequence[FaultySection], sources: Sequence[Hit], *, language: str, meter: Meter
    ) -> list[Revision]:
        """Correct sections, and cite the wrong sources again."""
        beside = _beside(sources)
        revised = await self.writer.revise(question, faulty, sources, language=language, meter=meter)
        return [replace(each, source_ids=_wrong(each.source_ids, beside)) for each in revised]

    def converse(
        self, question: str, turns: Sequence[Turn], *, language: str, intent: Intent, meter: Meter
    ) -> AsyncIterator[Draft]:
        """Reply without the library, which leaves nothing to cite."""
        return self.writer.converse(question, turns, language=language, intent=intent, meter=meter)


def _beside(sources: Sequence[Hit]) -> dict[str, str]:
    ids = [hit.segment.segment_id for hit in sources]
    return dict(zip(ids, [*ids[1:], *ids[:1]], strict=True))


def _wrong(source_ids: Sequence[str], beside: Mapping[str, str]) -> tuple[str, ...]:
    return tuple(beside[segment_id] for segment_id in source_ids)
