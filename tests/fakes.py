"""Small real implementations of the ports, for tests of the graph without a database or a model."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from typing import get_args

from graph.errors import BudgetExhausted
from graph.evidence import (
    ExamFigure,
    Failure,
    Hit,
    Identity,
    Intent,
    ModelUse,
    Page,
    Proof,
    SearchMode,
    Segment,
    Verdict,
)
from graph.ports import (
    Catalogue,
    CheckedClaim,
    ClaimChecker,
    Draft,
    DraftClosed,
    DraftOpened,
    DraftText,
    Family,
    FaultySection,
    Grading,
    Judge,
    Judgement,
    LibraryLanguages,
    McpSearcher,
    McpSearchResult,
    OpenClaim,
    PassageFinder,
    Preparation,
    QualityAssessor,
    QueryRewriter,
    Resources,
    Revision,
    Rewriting,
    SearchQuery,
    SearchResult,
    ServerFailure,
    WebSearcher,
    WrittenSection,
)
from graph.rows import Places, PlaceSpan, Turn
from graph.usage import Meter
from text.normal_forms import flatten
from text.page_references import page_references
from text.words import word_runs
from tools.claims import code_checker
from tools.claims.cited_sources import Sources
from tools.claims.code_checker import CodeChecker


def segment(document: str, index: int, text: str, *, start: int = 0, title: str = "") -> Segment:
    """Make a segment of a document that holds nothing before ``start``."""
    return Segment(
        document, index, start, start + len(text), text, title=title or document, tokens=max(1, len(text) // 4)
    )


@dataclass
class MemoryLibrary:
    """Searcher and reader over segments in memory; a segment matches by the share of the query's words it holds."""

    segments: Sequence[Segment]
    queries: list[SearchQuery] = field(default_factory=list)
    failure: Exception | None = None

    async def search(self, query: SearchQuery) -> SearchResult:
        """Find segments by shared words."""
        self.queries.append(query)
        if self.failure is not None:
            raise self.failure
        wanted = set(query.text.lower().split())
        if not wanted:
            return SearchResult(())
        scored = [(len(wanted & set(s.text.lower().split())) / len(wanted), s) for s in self.segments]
        within = [(score, s) for score, s in scored if not query.document_ids or s.document_id in query.document_ids]
        ranked = sorted((pair for pair in within if pair[0] >= query.min_score), key=lambda pair: -pair[0])
        return SearchResult(tuple(Hit(s, score, own_score=score) for score, s in ranked[: query.top_k]))

    async def read_segments(self, segment_ids: Sequence[str], identity: Identity) -> list[Segment]:
        """Read by id."""
        by_id = {s.segment_id: s for s in self.segments}
        return [by_id[segment_id] for segment_id in segment_ids if segment_id in by_id]

    async def read_pages(self, document_ids: Sequence[str], identity: Identity) -> list[Page]:
        """Read whole documents."""
        pages = []
        for document_id in document_ids:
            own = tuple(s for s in self.segments if s.document_id == document_id)
            if own:
                pages.append(Page(document_id, own[0].title, own))
        return pages

    async def find(
        self, question: str, identity: Identity, *, spaces: Sequence[str] = (), document_ids: Sequence[str] = ()
    ) -> Places | None:
        """Find the pages that a question names."""
        numbers = [number - 1 for pages in page_references(question) for number in pages]
        spans = [
            PlaceSpan(document_id=s.document_id, start=s.start, end=s.end, first=s.segment_index, last=s.segment_index)
            for s in self.segments
            if s.page_idx in numbers and (not document_ids or s.document_id in document_ids)
        ]
        return Places(spans=spans, documents=[], whole=False, missing=None) if spans else None


@dataclass
class ScriptedFamily:
    """Preparer, grader and writer that do as told; every use is a model call on the meter."""

    drafts: Sequence[Sequence[Draft]] = ()
    revisions: Sequence[Sequence[Revision]] = ()
    small_talk: tuple[str, ...] = ("hello",)
    irrelevant: tuple[str, ...] = ()
    seen_turns: list[list[Turn]] = field(default_factory=list)
    graded: list[list[str]] = field(default_factory=list)
    faulty: list[list[FaultySection]] = field(default_factory=list)
    conversed: list[str] = field(default_factory=list)
    _next: int = 0

    async def prepare(
        self,
        question: str,
        turns: Sequence[Turn],
        *,
        search: SearchMode,
        has_pages: bool,
        general_knowledge: bool,
        search_languages: Sequence[str] = (),
        meter: Meter,
    ) -> Preparation:
        """Take the question as it stands, with or without a call left."""
        fallback = None
        try:
            meter.call()
        except BudgetExhausted as error:
            fallback = Failure(code=error.code, message="taken as it stands")
        self.seen_turns.append(list(turns))
        talk = question in self.small_talk
        return Preparation(question, not talk, "scripted", "small_talk" if talk else "content_query", "en", fallback)

    async def grade(self, question: str, candidates: Sequence[Hit], *, meter: Meter) -> Grading:
        """Keep all but the segments named irrelevant; without a call left, keep all."""
        fallback = None
        try:
            meter.call()
        except BudgetExhausted as error:
            fallback = Failure(code=error.code, message="kept by their search score")
        self.graded.append([hit.segment.segment_id for hit in candidates])
        kept = [(h.segment.segment_id, h.score) for h in candidates if h.segment.segment_id not in self.irrelevant]
        dropped = [(h.segment.segment_id, "scripted") for h in candidates if h.segment.segment_id in self.irrelevant]
        return Grading(tuple(kept), tuple(dropped), fallback)

    async def write(
        self, question: str, sources: Sequence[Hit], *, language: str, meter: Meter
    ) -> AsyncIterator[Draft]:
        """Give the next scripted drafts; with none scripted, quote the first segment whole."""
        meter.call()
        if self.drafts:
            drafts = self.drafts[self._next]
            self._next += 1
        else:
            drafts = quote(sources[0].segment.text, sources[0].segment.segment_id)
        for draft in drafts:
            yield draft

    async def revise(
        self, question: str, faulty: Sequence[FaultySection], sources: Sequence[Hit], *, language: str, meter: Meter
    ) -> list[Revision]:
        """Give the next scripted revisions; with none left, leave every section as it is."""
        meter.call()
        self.faulty.append(list(faulty))
        return list(self.revisions[len(self.faulty) - 1]) if len(self.faulty) <= len(self.revisions) else []

    async def converse(
        self,
        question: str,
        turns: Sequence[Turn],
        *,
        language: str,
        intent: Intent,
        own_knowledge: bool,
        meter: Meter,
    ) -> AsyncIterator[Draft]:
        """Greet, or answer a question where that is allowed."""
        meter.call()
        self.conversed.append(question)
        if own_knowledge:
            for draft in quote("As everybody knows."):
                yield draft
            return
        if intent == "small_talk":
            for draft in quote("Hello to you."):
                yield draft


def quote(text: str, *source_ids: str) -> list[Draft]:
    """Make the drafts of one section that comes in two deltas."""
    middle = len(text) // 2
    return [DraftOpened(), DraftText(text[:middle]), DraftText(text[middle:]), DraftClosed(text, source_ids)]


@dataclass
class ScriptedChecker:
    """ClaimChecker that takes a section for one claim and gives the verdict that its text begins with, in capitals."""

    otherwise: Verdict = "supported"
    seen: list[WrittenSection] = field(default_factory=list)

    def read_ahead(self, segments: Sequence[Segment]) -> None:
        """Read nothing; what is checked is scripted."""

    async def check(self, section: WrittenSection) -> Sequence[CheckedClaim]:
        """Prove a section by the whole of the first segment it cites."""
        self.seen.append(section)
        return [self._claim(section)]

    def _claim(self, section: WrittenSection) -> CheckedClaim:
        word = section.text.split()[0].lower()
        verdict = next((each for each in get_args(Verdict) if each == word), self.otherwise)
        proofs = [
            Proof(segment_id=s.segment_id, start=s.start, end=s.end, origin=section.origin)
            for s in section.segments[:1]
        ]
        shown = () if verdict == "unsupported" else tuple(proofs)
        return CheckedClaim(0, len(section.text), section.text, verdict, ("scripted",), shown)


@dataclass
class ScriptedJudge:
    """Judge that gives the first verdict whose word, such as ``(unsupported)``, its claim contains, else the default.

    A verdict of None is a part of the reply that can't be read; ``failures`` are raised first, one a request.
    """

    otherwise: Verdict | None = "supported"
    exam: ExamFigure | None = field(default_factory=lambda: ExamFigure(language="en", right=58, of=60))
    failures: list[Exception] = field(default_factory=list)
    asked: list[list[OpenClaim]] = field(default_factory=list)
    name: str = "judge"
    version: str = "1"

    async def judge(self, claims: Sequence[OpenClaim], *, meter: Meter) -> list[Judgement]:
        """Judge by the words in the claims."""
        meter.call()
        self.asked.append(list(claims))
        if self.failures:
            raise self.failures.pop(0)
        return [Judgement(self._verdict(each.claim), reason="scripted", exam=self.exam) for each in claims]

    def _verdict(self, claim: str) -> Verdict | None:
        return next((each for each in get_args(Verdict) if f"({each})" in claim), self.otherwise)


@dataclass
class WordJudge:
    """Judge that bears out what holds no word but those of its entries and ``also``, and costs no model call.

    Of anything else it says ``otherwise``.
    """

    also: str = ""
    otherwise: Verdict = "contradicted"
    exam: ExamFigure | None = field(default_factory=lambda: ExamFigure(language="en", right=58, of=60))
    asked: list[OpenClaim] = field(default_factory=list)
    name: str = "words"
    version: str = "1"

    async def judge(self, claims: Sequence[OpenClaim], *, meter: Meter) -> list[Judgement]:
        """Judge by the words of the claims and their entries."""
        self.asked += claims
        return [self._judgement(claim) for claim in claims]

    def _judgement(self, claim: OpenClaim) -> Judgement:
        shown = [text for each in claim.entries for text in (each.text, *each.context)]
        known = word_runs(flatten(" ".join([self.also, *shown])))
        unsaid = [word for word in word_runs(flatten(claim.claim)) if word not in known]
        return Judgement(self.otherwise if unsaid else "supported", reason=" ".join(unsaid), exam=self.exam)


@dataclass
class ScriptedRewriter:
    """QueryRewriter that gives its queries in order, then an empty one."""

    queries: Sequence[str] = ()
    asked: int = 0

    async def rewrite(
        self, question: str, tried: Sequence[str], *, languages: Sequence[str], meter: Meter
    ) -> Rewriting:
        """Give the next query."""
        meter.call()
        self.asked += 1
        return Rewriting(self.queries[self.asked - 1] if self.asked <= len(self.queries) else "", "scripted")


@dataclass
class MemoryWeb:
    """WebSearcher over the web segments of a library in memory."""

    library: MemoryLibrary
    found: Sequence[Segment] = ()
    failure: Exception | None = None
    queries: list[str] = field(default_factory=list)

    async def search_web(
        self, query: str, identity: Identity, *, top_k: int, min_score: float, seconds: float | None
    ) -> SearchResult:
        """Find all there is."""
        self.queries.append(query)
        if self.failure is not None:
            raise self.failure
        self.library.segments = [*self.library.segments, *self.found]
        return SearchResult(tuple(Hit(each, 0.8, "web") for each in self.found[:top_k]))


@dataclass
class MemoryMcp:
    """McpSearcher over the segments of one server, of a library in memory; with a failure, that server fails."""

    library: MemoryLibrary
    found: Sequence[Segment] = ()
    failure: ServerFailure | None = None
    queries: list[str] = field(default_factory=list)
    servers: tuple[str, ...] = ("wiki",)

    async def search_mcp(
        self, query: str, identity: Identity, *, top_k: int, min_score: float, seconds: float | None
    ) -> McpSearchResult:
        """Find all there is."""
        self.queries.append(query)
        if self.failure is not None:
            return McpSearchResult((), failures=(self.failure,))
        self.library.segments = [*self.library.segments, *self.found]
        return McpSearchResult(tuple(Hit(each, 0.7, "web") for each in self.found[:top_k]), servers=self.servers)


def resources(
    library: MemoryLibrary,
    family: ScriptedFamily,
    *,
    checker: ClaimChecker | None = None,
    rewriter: QueryRewriter | None = None,
    judge: Judge | None = None,
    assessor: QualityAssessor | None = None,
    passages: PassageFinder | None = None,
    web: WebSearcher | None = None,
    mcp: McpSearcher | None = None,
    catalogue: Catalogue | None = None,
    languages: LibraryLanguages | None = None,
) -> Resources:
    """Bind fakes as the graph's ports, for every model name; claims are checked by code unless a checker is given."""
    ports = Family(
        "llm",
        "scripted",
        family,
        family,
        family,
        checker or CodeChecker(),
        rewriter or ScriptedRewriter(),
        judge=judge,
        assessor=assessor,
    )
    return Resources(
        searcher=library,
        reader=library,
        families=lambda model, *, thinking=False: ports,
        passages=passages,
        places=library,
        web=web,
        mcp=mcp,
        catalogue=catalogue,
        languages=languages,
    )


@dataclass
class HeldFamily(ScriptedFamily):
    """A family whose writer waits after its first section until it is released, and knows whether it was stopped."""

    writing: asyncio.Event = field(default_factory=asyncio.Event)
    released: asyncio.Event = field(default_factory=asyncio.Event)
    stopped: bool = False

    async def write(
        self, question: str, sources: Sequence[Hit], *, language: str, meter: Meter
    ) -> AsyncIterator[Draft]:
        """Quote the first segment, wait, and quote it again."""
        for draft in quote(sources[0].segment.text, sources[0].segment.segment_id):
            yield draft
        self.writing.set()
        try:
            await self.released.wait()
        except asyncio.CancelledError:
            self.stopped = True
            raise
        for draft in quote(sources[0].segment.text, sources[0].segment.segment_id):
            yield draft


def spend_tokens(meter: Meter, tokens: int) -> None:
    """Count the tokens of a model, all of a prompt."""
    meter.add_use(
        "scripted", ModelUse(calls=1, input_tokens=tokens, cached_tokens=0, output_tokens=0, estimated_calls=0)
    )


def check_section(section: WrittenSection) -> tuple[CheckedClaim, ...]:
    """Split a section into claims and decide on each by code, in order."""
    return code_checker.check_section(section, Sources(section.segments), Sources(section.others))
