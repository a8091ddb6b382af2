"""Interventions on one run, by ports that wrap the live ones.

The library itself does not change: text that is neither withheld nor altered is found, scored and read as usual. A
context variable separates concurrent runs, since a run's tasks inherit it from the task that starts them.
"""

from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace

from answers.checking import question_coverage
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
from graph.rows import Turn
from graph.usage import Meter
from research.mutations.swaps import chance


@dataclass(frozen=True, slots=True)
class Intervention:
    """The changes to what a run reads from the library; by default none.

    ``withheld`` segments are neither found nor read. ``altered`` maps segment ids to other texts. With ``shuffled`` the
    grader and the writer get the segments in another order; with ``swapped`` the ids that a section cites are replaced
    by that of the uncited segment which covers least of it.
    """

    withheld: frozenset[str] = frozenset()
    altered: Mapping[str, str] = field(default_factory=dict)
    shuffled: bool = False
    swapped: bool = False

    def applied(self, segments: Iterable[Segment]) -> list[Segment]:
        """Return the segments as the run reads them."""
        return [self._altered(segment) for segment in segments if segment.segment_id not in self.withheld]

    def _altered(self, segment: Segment) -> Segment:
        text = self.altered.get(segment.segment_id)
        return segment if text is None else replace(segment, text=text, end=segment.start + len(text))

    def ordered(self, question: str, hits: Sequence[Hit]) -> Sequence[Hit]:
        """Return the hits in reading order; if shuffled, the first one always differs."""
        if not self.shuffled:
            return hits
        order = list(hits)
        chance(question, *(hit.segment.segment_id for hit in hits)).shuffle(order)
        return order if order[:1] != [*hits[:1]] else [*order[1:], *order[:1]]

    def cited(self, draft: Draft, sources: Sequence[Hit]) -> Draft:
        """Return a draft with the ids that it should cite."""
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
    """Apply an intervention to the runs that are started within the context."""
    token = _CURRENT.set(intervention)
    try:
        yield
    finally:
        _CURRENT.reset(token)


def intervened(resources: Resources) -> Resources:
    """Wrap the live ports in those that apply the current intervention."""
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
        self,
        question: str,
        turns: Sequence[Turn],
        *,
        language: str,
        intent: Intent,
        own_knowledge: bool,
        meter: Meter,
    ) -> AsyncIterator[Draft]:
        return self.live.converse(
            question, turns, language=language, intent=intent, own_knowledge=own_knowledge, meter=meter
        )


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
    """The result of one run.

    ``failure`` is why the run failed, "" where it did not. ``cited`` has the ids that the model cited in each section,
    ``claims`` its claims as first written, with the verdicts of the first check; ``shown`` are the claims of the
    finished answer. Sections in which the run reports a disagreement are not the model's and are left out. A refusal
    has none of them.
    """

    failure: str = ""
    cited: tuple[tuple[str, ...], ...] = ()
    claims: tuple[RepliedClaim, ...] = ()
    shown: tuple[RepliedClaim, ...] = ()


class Asker:
    """A client that asks cases of a stored data set, each in a new session."""

    def __init__(self, citewell: Citewell, stored: StoredDataSet, context: Context) -> None:
        self._citewell = citewell
        self._stored = stored
        self._context = context

    async def ask(self, case: Case, intervention: Intervention | None = None) -> Reply:
        """Ask a case, after its earlier questions without the intervention; a failed run returns a failure."""
        context, changed = context_of(case, self._context), intervening(intervention or Intervention())
        try:
            followed = await ask_case(self._citewell, self._stored, case, context, under=changed)
        except CitewellError as error:
            return Reply(failure=error.message)
        return _reply(followed)

    async def segments(self, segment_ids: Sequence[str]) -> dict[str, Segment]:
        """Return segments as the library stores them, by id."""
        found = await self._citewell.library.reader.read_segments(segment_ids, self._context.identity)
        return {segment.segment_id: segment for segment in found}


def _reply(followed: FollowedRun) -> Reply:
    view, end = followed.view, followed.view.end
    if not isinstance(end, RunFinished):
        return Reply(failure="" if end is None else end.message)
    disagreements = len(view.disagreements)
    written = [each for _, each in sorted(view.first.items()) if each.stage == "checked"]
    written = written[: len(written) - disagreements]
    by_model = len(end.message["sections"]) - disagreements
    shown = [claim for claim in end.message.get("claims", []) if claim["section_index"] < by_model]
    return Reply(
        cited=tuple(tuple(section.source_ids) for section in written),
        claims=tuple(_claim(position, claim) for position, section in enumerate(written) for claim in section.claims),
        shown=tuple(_claim(claim["section_index"], claim) for claim in shown) if end.outcome == "answered" else (),
    )


def _claim(section: int, claim: Claim) -> RepliedClaim:
    quotes = (ReplyQuote(each["segment_id"], each["start"], each["end"], each["quote"]) for each in claim["citations"])
    return RepliedClaim(section, claim["text"], claim["verdict"], tuple(quotes))
