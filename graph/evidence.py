"""Types of what is stored, what is kept for an answer, and what proves it."""

from dataclasses import dataclass, field
from typing import Any, Literal, NotRequired

from typing_extensions import TypedDict

Verdict = Literal["supported", "contradicted", "unsupported", "unverified"]
Origin = Literal["cited", "matched"]
SourceKind = Literal["page", "search", "web"]
Outcome = Literal["answered", "abstained", "failed", "cancelled"]
FamilyName = Literal["extractive", "llm"]
Intent = Literal["content_query", "small_talk"]
SearchMode = Literal["auto", "always", "off"]
WebMode = Literal["off", "fallback", "also", "first"]
WhileRunning = Literal["reject", "enqueue", "interrupt"]
Freshness = Literal["fresh", "moved", "changed", "deleted"]
StopReason = Literal[
    "answer_complete",  # sections were written from sources
    "no_retrieval_needed",  # answered directly
    "nothing_found",  # no gathering node brought a candidate
    "nothing_relevant",  # candidates came, none bears on the question
    "library_not_allowed",  # the question needs the library and search was off
    "insufficient_evidence",  # sources were kept, but the writer found no answer in them
    "claims_not_supported",  # an answer was written, and nothing of it held against its sources
    "repairs_used_up",  # answered, with claims that failed and that no repair mended; their verdicts say so
    "budget_model_calls",  # answered or abstained with steps left out, since a cap was reached
    "budget_seconds",
    "budget_tokens",
    "cancel_requested",
    "client_disconnected",
    "interrupted",  # another question of the session was asked, to be answered instead
    "server_stopped",
    "error",
]


@dataclass(frozen=True, slots=True)
class Identity:
    """Who asks: the tenant and the person. Every read and write of stored rows happens within one."""

    workspace: str = "default"
    user: str = "local"


class Space(TypedDict):
    """A shelf of the host's wiki: its own id and the slug its URLs use."""

    id: str | None
    slug: str | None


@dataclass(frozen=True, slots=True)
class Segment:
    """A contiguous slice of canonical text, with what a reader needs to find its place.

    ``text == canonical_text[start:end]``. ``page_idx`` is 0-based, or None where the format has no pages; ``heading``
    is the path of headings above it, joined by " > ".
    """

    document_id: str
    segment_index: int
    start: int
    end: int
    text: str
    page_idx: int | None = None
    heading: str = ""
    tokens: int = 0
    title: str = ""
    source_type: str = "document"
    slug: str | None = None
    space: Space | None = None
    url: str | None = None
    metadata: dict[str, Any] = field(default_factory=dict)

    @property
    def segment_id(self) -> str:
        return f"{self.document_id}:{self.segment_index}"


@dataclass(frozen=True, slots=True)
class Page:
    """A document read whole: its segments in order; joined they are its canonical text."""

    document_id: str
    title: str
    segments: tuple[Segment, ...]


@dataclass(frozen=True, slots=True)
class Hit:
    """A segment that a search returned, with its calibrated relevance in [0, 1].

    ``own_score`` is the score that it was found with, 0 for a neighbour that came along with another hit.
    """

    segment: Segment
    score: float
    kind: SourceKind = "search"
    own_score: float = 0.0

    @property
    def segment_id(self) -> str:
        return self.segment.segment_id


class Section(TypedDict):
    """One paragraph of the answer and the segment ids it cites, in the order they were cited."""

    text: str
    source_ids: list[str]


class Source(TypedDict):
    """A segment kept for one answer, as clients see it. ``index`` is 1-based; ``excerpt`` at most 500 characters."""

    index: int
    segment_id: str
    document_id: str
    segment_index: int
    page_idx: int | None
    title: str
    heading: str
    kind: SourceKind
    source_type: str
    slug: str | None
    space: Space | None
    url: str | None
    score: float
    excerpt: str
    start: int
    end: int
    metadata: dict[str, Any]


class Place(TypedDict):
    """Where a quote stands in today's text. ``segment_id`` is the segment that it begins in."""

    segment_id: str
    segment_index: int
    page_idx: int | None
    start: int
    end: int


class Citation(TypedDict):
    """Proof for a claim. Exists only where ``canonical_text[start:end] == quote``.

    Where an old session is read, ``freshness`` tells what has become of the quote, and ``now`` where it stands today
    if that is another place or a segment of another number.
    """

    segment_id: str
    document_id: str
    segment_index: int
    page_idx: int | None
    start: int
    end: int
    quote: str
    origin: Origin
    verdict: Verdict
    source_index: int
    section_index: int
    freshness: NotRequired[Freshness]
    now: NotRequired[Place]


class Claim(TypedDict):
    """One sentence of a section, the unit that is checked. Offsets are into the section's text."""

    start: int
    end: int
    text: str
    verdict: Verdict
    reasons: list[str]
    citations: list[Citation]


class SectionClaim(Claim):
    """A claim with the section it stands in, as the finished message lists it."""

    section_index: int


class Disagreement(TypedDict):
    """Sources that contradict each other, with a reason a person can read."""

    segment_ids: list[str]
    reason: str


class Assessment(TypedDict):
    """What the verdicts say of the answer. ``supported``: no claim failed and at least one was proven.

    ``utility`` in [0, 1] is derived from verdicts, coverage of the question and outcome; ``model_score`` is a model's
    own opinion, where one was asked.
    """

    supported: bool
    utility: float
    claims: dict[Verdict, int]
    reason: str
    model_score: float | None


class Failure(TypedDict):
    """A fallback taken, said aloud: the code of what failed and a sentence about what was done instead."""

    code: str
    message: str
    suggestion: NotRequired[str]


class Spent(TypedDict):
    """What a node has used: model calls (retries count), tokens as the endpoint reports them, milliseconds."""

    calls: int
    tokens: int
    ms: float


class Message(TypedDict):
    """The finished answer as it is stored and sent. ``nearest`` is what an abstention shows instead of sources."""

    answer: str
    sections: list[Section]
    citations: list[Citation]
    sources: list[Source]
    nearest: NotRequired[list[Source]]
    family: NotRequired[FamilyName]
    claims: NotRequired[list[SectionClaim]]
    assessment: NotRequired[Assessment]
    disagreements: NotRequired[list[Disagreement]]
