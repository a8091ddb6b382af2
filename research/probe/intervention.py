"""Interventions on one run, by ports put between the graph and the live ones.

The library itself is left alone: what is not withheld or altered is found, scored and read as ever. A run is told
apart from concurrent ones by a context variable, which its tasks inherit from the task that starts them.
"""

from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace

from answers.support import question_coverage
from graph.evidence import Hit, Identity, Intent, Page, Segment
from graph.ports import (
    AnswerWriter,
    Draft,
    DraftClosed,
    Families,
    Family,
    FaultySection,
    Grading,
    RelevanceGrader,
    Resources,
    Revision,
    SearchQuery,
    SearchResult,
    SegmentReader,
    SegmentSearcher,
)
from graph.state import Turn
from graph.usage import Meter
from research.mutations.swaps import chance


@dataclass(frozen=True, slots=True)
class Intervention:
    """What a run reads otherwise than the library holds it; as it stands, nothing.

    Segments ``withheld`` are neither found nor read. ``altered`` gives segments another text. With ``shuffled`` the
    grader and the writer get the segments in another order; with ``swapped`` the ids that the writer gives a section
    are replaced by that of the segment which holds least of it.
    """

    withheld: frozenset[str] = frozenset()
    altered: Mapping[str, str] = field(default_factory=dict)
    shuffled: bool = False
    swapped: bool = False

    def applied(self, segments: Iterable[Segment]) -> list[Segment]:
        """Give the segments as the run is to read them."""
        return [self._altered(segment) for segment in segments if segment.segment_id not in self.withheld]

    def _altered(self, segment: Segment) -> Segment:
        text = self.altered.get(segment.segment_id)
        return segment if text is None else replace(segment, text=text, end=segment.start + len(text))

    def ordered(self, question: str, hits: Sequence[Hit]) -> Sequence[Hit]:
        """Give the hits in the order in which they are to be read: where shuffled, another stands first."""
        if not self.shuffled:
            return hits
        order = list(hits)
        chance(question, *(hit.segment.segment_id for hit in hits)).shuffle(order)
        return order if order[:1] != [*hits[:1]] else [*order[1:], *order[:1]]

    def cited(self, draft: Draft, sources: Sequence[Hit]) -> Draft:
        """Give what the writer wrote with the ids that it is to cite."""
        if not self.swapped or not isinstance(draft, DraftClosed) or not draft.source_ids:
            return draft
        others = [hit.segment for hit in sources if hit.segment.segment_id not in draft.source_ids]
        if not others:
            return draft
        foil = min(others, key=lambda segment: question_coverage(draft.text, [segment.text]))
        return replace(draft, source_ids=(foil.segment_id,))


_CURRENT: ContextVar[Intervention] = ContextVar("intervention", default=Intervention())  # noqa: B039 (it is frozen)


@contextmanager
def intervening(intervention: Intervention) -> Iterator[None]:
    """Have the runs that are started within it read what the intervention makes of the library."""
    token = _CURRENT.set(intervention)
    try:
        yield
    finally:
        _CURRENT.reset(token)


def intervened(resources: Resources) -> Resources:
    """Put the ports of the current intervention before the live ones."""
    return replace(
        resources,
        searcher=_Searcher(resources.searcher),
        reader=_Reader(resources.reader),
        families=_families(resources.families),
    )


@dataclass(frozen=True, slots=True)
class _Searcher:
    live: SegmentSearcher

    async def search(self, query: SearchQuery) -> SearchResult:
        result = await self.live.search(query)
        current = _CURRENT.get()
        return replace(
            result,
            hits=tuple(
                replace(hit, segment=segment) for hit in result.hits for segment in current.applied([hit.segment])
            ),
        )


@dataclass(frozen=True, slots=True)
class _Reader:
    live: SegmentReader

    async def read_segments(self, segment_ids: Sequence[str], identity: Identity) -> list[Segment]:
        return _CURRENT.get().applied(await self.live.read_segments(segment_ids, identity))

    async def read_pages(self, document_ids: Sequence[str], identity: Identity) -> list[Page]:
        pages = await self.live.read_pages(document_ids, identity)
        return [replace(page, segments=tuple(_CURRENT.get().applied(page.segments))) for page in pages]


@dataclass(frozen=True, slots=True)
class _Grader:
    live: RelevanceGrader

    async def grade(self, question: str, candidates: Sequence[Hit], *, meter: Meter) -> Grading:
        return await self.live.grade(question, _CURRENT.get().ordered(question, candidates), meter=meter)


@dataclass(frozen=True, slots=True)
class _Writer:
    live: AnswerWriter

    async def write(
        self, question: str, sources: Sequence[Hit], *, language: str, meter: Meter
    ) -> AsyncIterator[Draft]:
        current = _CURRENT.get()
        ordered = current.ordered(question, sources)
        async for draft in self.live.write(question, ordered, language=language, meter=meter):
            yield current.cited(draft, sources)

    async def revise(
        self, question: str, faulty: Sequence[FaultySection], sources: Sequence[Hit], *, language: str, meter: Meter
    ) -> list[Revision]:
        ordered = _CURRENT.get().ordered(question, sources)
        return await self.live.revise(question, faulty, ordered, language=language, meter=meter)

    def converse(
        self, question: str, turns: Sequence[Turn], *, language: str, intent: Intent, meter: Meter
    ) -> AsyncIterator[Draft]:
        return self.live.converse(question, turns, language=language, intent=intent, meter=meter)


def _families(live: Families) -> Families:
    def families(model: str, *, thinking: bool = False) -> Family:
        family = live(model, thinking=thinking)
        return replace(family, grader=_Grader(family.grader), writer=_Writer(family.writer))

    return families
