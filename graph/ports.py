"""Protocols for what the graph needs from outside, and the resources that bind live implementations to nodes."""

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from graph.evidence import Failure, FamilyName, Hit, Identity, Intent, Origin, Page, SearchMode, Segment, Verdict
from graph.state import Turn
from graph.usage import Meter


@dataclass(frozen=True, slots=True)
class Preparation:
    """A question made ready: standalone, and with the decision whether the library is needed."""

    standalone_question: str
    needs_retrieval: bool
    reason: str
    intent: Intent
    language: str  # ISO 639-1 of the question
    fallback: Failure | None = None


class QuestionPreparer(Protocol):
    async def prepare(
        self, question: str, turns: Sequence[Turn], *, search: SearchMode, has_pages: bool, meter: Meter
    ) -> Preparation:
        """Make the question standalone and decide on retrieval, in at most one model call.

        A reply that cannot be read falls back to retrieving for the question as asked, and says so in ``fallback``.
        """
        ...


@dataclass(frozen=True, slots=True)
class SearchQuery:
    """What to look for and where. ``document_ids`` and ``spaces`` (ids or slugs) are empty for everywhere."""

    text: str
    identity: Identity
    top_k: int = 10
    min_score: float = 0.3
    spaces: tuple[str, ...] = ()
    document_ids: tuple[str, ...] = ()
    expand: int = 1


@dataclass(frozen=True, slots=True)
class SearchResult:
    """Hits, best first. ``degraded`` says in one sentence why a leg did not answer, or is None."""

    hits: tuple[Hit, ...]
    degraded: str | None = None


class SegmentSearcher(Protocol):
    async def search(self, query: SearchQuery) -> SearchResult:
        """Find the segments that bear on a query, among what its identity may read.

        Scores are calibrated to [0, 1], fall along the hits, and none is below ``min_score``. At most ``top_k``
        segments are found by score; each may bring ``expand`` neighbours of its document on either side.
        """
        ...


class SegmentReader(Protocol):
    async def read_segments(self, segment_ids: Sequence[str], identity: Identity) -> list[Segment]:
        """Read segments by id, in the order asked; ids out of the identity's reach are left out."""
        ...

    async def read_pages(self, document_ids: Sequence[str], identity: Identity) -> list[Page]:
        """Read whole documents in the order asked; ids out of the identity's reach are left out."""
        ...


class WebSearcher(Protocol):
    async def search_web(
        self, query: str, identity: Identity, *, top_k: int, min_score: float, seconds: float | None
    ) -> SearchResult:
        """Search the web and store what it brought, so that what is cited of it stays provable for a time.

        Hits are segments of the stored web documents with ``kind="web"``, best first. ``seconds`` is what the run has
        left, None for no cap. Raises WebUnavailable where the search itself fails; a result page that can't be read
        is left out and named in ``degraded``.
        """
        ...


class PassageFinder(Protocol):
    async def find_passage(self, text: str, document_ids: Sequence[str], identity: Identity) -> list[Segment]:
        """Return the segments that hold a passage which a reader marked, in reading order, so that it can be cited.

        It is looked for in the documents named, white space aside; where it stands in none of them it is stored as a
        document of its own, of that user, with a time limit.
        """
        ...


@dataclass(frozen=True, slots=True)
class Grading:
    """Which candidates bear on the question, best first with their score, and why the others do not."""

    kept: tuple[tuple[str, float], ...]
    dropped: tuple[tuple[str, str], ...] = ()
    fallback: Failure | None = None


class RelevanceGrader(Protocol):
    async def grade(self, question: str, candidates: Sequence[Hit], *, meter: Meter) -> Grading:
        """Keep the candidates that bear on the question, judging them as one batch.

        Every candidate is kept or dropped, none twice, and no id is added. A reply that cannot be read keeps the
        candidates by their search score and says so in ``fallback``.
        """
        ...


@dataclass(frozen=True, slots=True)
class Rewriting:
    """Another search query for a question, and why it may find more; an empty query means there is none."""

    query: str
    reason: str
    fallback: Failure | None = None


class QueryRewriter(Protocol):
    async def rewrite(self, question: str, tried: Sequence[str], *, language: str, meter: Meter) -> Rewriting:
        """Word the question as another search query than those tried.

        A reply that can't be read, or repeats a query, falls back to rewriting by rule and says so in ``fallback``.
        """
        ...


@dataclass(frozen=True, slots=True)
class DraftOpened:
    """A section begins. ``fallback`` says why something simpler than the family's writer writes it."""

    fallback: Failure | None = None


@dataclass(frozen=True, slots=True)
class DraftText:
    """More text of the open section."""

    delta: str


@dataclass(frozen=True, slots=True)
class DraftClosed:
    """The open section ends. Joined deltas equal ``text``; ``source_ids`` hold only offered ids, none twice."""

    text: str
    source_ids: tuple[str, ...]
    unknown_ids: int = 0


@dataclass(frozen=True, slots=True)
class DraftThinking:
    """Thinking of a reasoning model; never part of the answer."""

    delta: str


Draft = DraftOpened | DraftText | DraftClosed | DraftThinking


@dataclass(frozen=True, slots=True)
class FaultyClaim:
    """A claim that did not hold, with the reasons of its verdict."""

    text: str
    verdict: Verdict
    reasons: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FaultySection:
    """A section to be written again."""

    section_index: int
    text: str
    claims: tuple[FaultyClaim, ...]


@dataclass(frozen=True, slots=True)
class Revision:
    """A faulty section as written again; an empty text withdraws it. ``source_ids`` hold only offered ids."""

    section_index: int
    text: str
    source_ids: tuple[str, ...]
    unknown_ids: int = 0


class AnswerWriter(Protocol):
    def write(self, question: str, sources: Sequence[Hit], *, language: str, meter: Meter) -> AsyncIterator[Draft]:
        """Write the answer in sections that cite the sources given; no section at all is an honest no.

        Raises ModelReplyInvalid where the reply ends without a readable section.
        """
        ...

    async def revise(
        self, question: str, faulty: Sequence[FaultySection], sources: Sequence[Hit], *, language: str, meter: Meter
    ) -> list[Revision]:
        """Write faulty sections again from the sources, all of them in at most one model call.

        A section that is left out of the result stays as it is. Raises ModelReplyInvalid where nothing can be read.
        """
        ...

    def converse(
        self, question: str, turns: Sequence[Turn], *, language: str, intent: Intent, meter: Meter
    ) -> AsyncIterator[Draft]:
        """Reply without the library, as to small talk: sections without sources."""
        ...


@dataclass(frozen=True, slots=True)
class Proof:
    """A span of a cited segment, whole source sentences, in offsets of its document's canonical text."""

    segment_id: str
    start: int
    end: int
    origin: Origin = "cited"


@dataclass(frozen=True, slots=True)
class Dispute:
    """A span of another source of the run that contradicts a claim which its own sources support."""

    segment_id: str
    start: int
    end: int
    reason: str


@dataclass(frozen=True, slots=True)
class CheckedClaim:
    """One sentence of a section with what its sources prove of it. Offsets are into the section's text.

    ``support`` in [0, 1] estimates how far the sources bear the claim; the verdict rules, the estimate only orders.
    """

    start: int
    end: int
    text: str
    verdict: Verdict
    reasons: tuple[str, ...] = ()
    proofs: tuple[Proof, ...] = ()
    support: float = 0.0
    disputes: tuple[Dispute, ...] = ()


@dataclass(frozen=True, slots=True)
class WrittenSection:
    """A section to be checked: its text, the segments it cites, and the other sources of the run.

    With origin ``matched`` the section cites nothing usable, and ``segments`` are all that its writer was shown: a
    claim then has a proof only where text matching finds one above its fixed threshold.
    """

    text: str
    segments: tuple[Segment, ...]
    others: tuple[Segment, ...] = ()
    origin: Origin = "cited"


@dataclass(frozen=True, slots=True)
class CheckResult:
    """The claims of each section, in the order given. ``fallback`` says why a model's part was left out."""

    sections: tuple[tuple[CheckedClaim, ...], ...]
    fallback: Failure | None = None


class ClaimChecker(Protocol):
    async def check(self, sections: Sequence[WrittenSection], *, meter: Meter) -> CheckResult:
        """Split sections into claims and find for each the best supporting span, in at most one model call for all.

        Claims come in order and do not overlap; a claim that no span supports has no proof.
        """
        ...


class QuestionCoverage(Protocol):
    def __call__(self, question: str, texts: Sequence[str]) -> float:
        """Return the share of a question's telling words that stand in the texts together, in [0, 1]."""
        ...


class QualityAssessor(Protocol):
    async def assess(self, question: str, answer: str, *, meter: Meter) -> float:
        """Score the answer's use to the asker in [0, 1]; secondary to what verdicts say."""
        ...


class Titler(Protocol):
    async def title(self, question: str, *, language: str, meter: Meter) -> str:
        """Title a conversation after its first question, in at most one model call, in the question's language.

        1 to 60 characters without line breaks and quotation marks. Nothing that a model does makes it fail: where none
        can be asked, or its reply can't be read, the title is of the question's own words.
        """
        ...


@dataclass(frozen=True, slots=True)
class Family:
    """The ports of one family as a run uses them: a model that reads and writes, or the extractive reader.

    ``checker`` decides by code alone. ``settler`` also asks a model what code left open, and ``assessor`` a model for
    its opinion of the answer; both are used only where a run asks for them, and None where there is no model.
    ``titler`` is None for a family that leaves sessions untitled.
    """

    name: FamilyName
    model: str
    preparer: QuestionPreparer
    grader: RelevanceGrader
    writer: AnswerWriter
    checker: ClaimChecker
    rewriter: QueryRewriter
    settler: ClaimChecker | None = None
    assessor: QualityAssessor | None = None
    titler: Titler | None = None


class Families(Protocol):
    def __call__(self, model: str, *, thinking: bool = False) -> Family:
        """Return the family that a request's model name means; "" is the deployment's default.

        Raises UnknownModel.
        """
        ...


@dataclass(frozen=True, slots=True)
class Resources:
    """The live ports of a process, opened once and bound to nodes by the builder."""

    searcher: SegmentSearcher
    reader: SegmentReader
    families: Families
    coverage: QuestionCoverage
    passages: PassageFinder | None = None
    web: WebSearcher | None = None
