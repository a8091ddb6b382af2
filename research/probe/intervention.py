"""Interventions on one run, by ports put between the graph and the live ones.

The library itself is left alone: what is not withheld or altered is found, scored and read as ever. A run is told
apart from concurrent ones by a context variable, which its tasks inherit from the task that starts them.
"""

from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace

from answers.support import question_coverage
from evals.case_run import FollowedRun, ask_case, context_of
from evals.cases import Case
from evals.dataset_store import StoredDataSet
from graph.context import Context
from graph.entrypoint import Citewell
from graph.errors import CitewellError
from graph.events import RunFinished
from graph.evidence import Claim, Hit, Identity, Intent, Page, Segment, Verdict
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
        """Return the segments as the run is to read them."""
        return [self._altered(segment) for segment in segments if segment.segment_id not in self.withheld]

    def _altered(self, segment: Segment) -> Segment:
        text = self.altered.get(segment.segment_id)
        return segment if text is None else replace(segment, text=text, end=segment.start + len(text))

    def ordered(self, question: str, hits: Sequence[Hit]) -> Sequence[Hit]:
        """Return the hits in the order in which they are to be read: where shuffled, another stands first."""
        if not self.shuffled:
            return hits
        order = list(hits)
        chance(question, *(hit.segment.segment_id for hit in hits)).shuffle(order)
        return order if order[:1] != [*hits[:1]] else [*order[1:], *order[:1]]

    def cited(self, draft: Draft, sources: Sequence[Hit]) -> Draft:
        """Return what the writer wrote with the ids that it is to cite."""
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


@dataclass(frozen=True, slots=True)
class ReplyQuote:
    """Source text that proves a claim. Offsets are into the canonical text that the run read."""

    segment_id: str
    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class RepliedClaim:
    """A claim of a section with its verdict and its proofs."""

    section: int
    text: str
    verdict: Verdict
    quotes: tuple[ReplyQuote, ...]


@dataclass(frozen=True, slots=True)
class Reply:
    """What came of one run.

    ``failure`` says why the run failed, "" where it did not. ``cited`` holds for each section the ids that the model
    gave it, ``claims`` what it wrote, with the verdicts of the first check; ``shown`` are the claims of the finished
    answer. Where the run says itself that sources disagree, that is none of the model's words and is in neither. A
    refusal has none of them.
    """

    failure: str = ""
    cited: tuple[tuple[str, ...], ...] = ()
    claims: tuple[RepliedClaim, ...] = ()
    shown: tuple[RepliedClaim, ...] = ()


class Asker:
    """Asks cases of a stored data set, each time in a session of its own."""

    def __init__(self, citewell: Citewell, stored: StoredDataSet, context: Context) -> None:
        self._citewell = citewell
        self._stored = stored
        self._context = context

    async def ask(self, case: Case, intervention: Intervention | None = None) -> Reply:
        """Ask a case, its earlier questions first and as ever. A run that fails is a reply that says so."""
        context, changed = context_of(case, self._context), intervening(intervention or Intervention())
        try:
            followed = await ask_case(self._citewell, self._stored, case, context, under=changed)
        except CitewellError as error:
            return Reply(failure=error.message)
        return _reply(followed)

    async def segments(self, segment_ids: Sequence[str]) -> dict[str, Segment]:
        """Read segments as the library holds them, by id."""
        found = await self._citewell.library.reader.read_segments(segment_ids, self._context.identity)
        return {segment.segment_id: segment for segment in found}


def _reply(followed: FollowedRun) -> Reply:
    view, end = followed.view, followed.view.end
    if not isinstance(end, RunFinished):
        return Reply(failure="" if end is None else end.message)
    disagreements = len(view.disagreements)
    written = [each for _, each in sorted(view.first.items()) if each.stage == "checked"]
    written = written[: len(written) - disagreements]
    standing = len(end.message["sections"]) - disagreements
    shown = [claim for claim in end.message.get("claims", []) if claim["section_index"] < standing]
    return Reply(
        cited=tuple(tuple(section.source_ids) for section in written),
        claims=tuple(_said(position, claim) for position, section in enumerate(written) for claim in section.claims),
        shown=tuple(_said(claim["section_index"], claim) for claim in shown) if end.outcome == "answered" else (),
    )


def _said(section: int, claim: Claim) -> RepliedClaim:
    quotes = (ReplyQuote(each["segment_id"], each["start"], each["end"], each["quote"]) for each in claim["citations"])
    return RepliedClaim(section, claim["text"], claim["verdict"], tuple(quotes))
