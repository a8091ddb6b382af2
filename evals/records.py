"""Records of asked questions: one JSON object a line of a run folder's ``results.jsonl``.

A record holds the gold evidence together with the outcome, so that every figure, report and comparison is made of
records alone, without the data set or the library.
"""

from collections.abc import Iterator, Sequence
from typing import Literal

from typing_extensions import TypedDict

from graph.errors import CitewellError
from graph.evidence import Failure, Origin, SourceKind, Spent, Verdict

Variant = Literal["asked", "removed"]  # with the whole library, or without the documents that the answer needs


class GoldSentence(TypedDict):
    """A sentence of the gold evidence. Offsets are into its document's canonical text."""

    document: str
    index: int
    start: int
    end: int
    text: str


class RetrievedSegment(TypedDict):
    """A segment that the run's first search brought, best first; ``document`` is the data set's own name."""

    segment_id: str
    document: str
    start: int
    end: int
    score: float


class SourceText(TypedDict):
    """A segment that grading kept, as the writer saw it."""

    segment_id: str
    document: str
    title: str
    text: str
    kind: SourceKind
    score: float


class CitationRecord(TypedDict):
    """A citation as it was shown.

    ``sentences`` are the places of the document's sentences that the quote holds, ``segment_sentences`` of those that
    the cited segment holds, none where it was never offered; ``exact`` whether the quote is the slice of canonical
    text that it names; ``offered`` whether its segment is among the run's sources.
    """

    segment_id: str
    document: str
    start: int
    end: int
    quote: str
    origin: Origin
    sentences: list[int]
    segment_sentences: list[int]
    exact: bool
    offered: bool


class ClaimRecord(TypedDict):
    """A claim with its verdict and its proofs. ``section`` is the place of its section in the list beside it."""

    section: int
    text: str
    verdict: Verdict
    reasons: list[str]
    citations: list[CitationRecord]


class SectionRecord(TypedDict):
    """A section with the ids it cites; ``unknown_ids`` counts those given that the run never offered.

    A section that was written again has 0 of them: what its new version invented is dropped untold.
    """

    text: str
    source_ids: list[str]
    unknown_ids: int


class PageRecord(TypedDict):
    """A selected page: how many of its segments were read, of how many."""

    document: str
    read: int
    of: int


class Record(TypedDict):
    """One question asked once.

    ``written`` and ``first_claims`` are the sections as first written and as first checked; ``sections`` and ``claims``
    what the finished answer shows. The last of them may be the run's own: one for each of ``disagreements``, or in
    ``written`` a refusal. ``retrieved`` is of the standalone question, ``retrieved_as_asked`` of the words
    asked where a follow-up was made standalone, else null. A failed run has ``error`` and neither text nor citations.
    ``ms`` is the whole run's time, ``first_text_ms`` that to the first text of the answer.
    """

    case_id: str
    variant: Variant
    question: str
    before: list[str]
    pages: list[str]
    tags: dict[str, str]
    expected: Literal["answered", "abstained"]
    answers: list[str]
    evidence: list[list[GoldSentence]]
    accepted: list[GoldSentence]

    outcome: Literal["answered", "abstained", "failed", "cancelled"]
    stop_reason: str
    error: Failure | None
    standalone_question: str
    queries: list[str]
    retrieved: list[RetrievedSegment]
    retrieved_as_asked: list[RetrievedSegment] | None
    pages_read: list[PageRecord]
    sources: list[SourceText]
    answer: str
    written: list[SectionRecord]
    first_claims: list[ClaimRecord]
    sections: list[SectionRecord]
    claims: list[ClaimRecord]
    disagreements: list[list[str]]
    family: str
    model: str
    ms: float
    first_text_ms: float | None
    spent: dict[str, Spent]


def record_key(record: Record) -> tuple[str, Variant]:
    """Return what tells a record apart from the others of its run."""
    return record["case_id"], record["variant"]


def citations_of(record: Record) -> list[CitationRecord]:
    """List the citations of the finished answer, in the order shown."""
    return [citation for claim in record["claims"] for citation in claim["citations"]]


def claims_by_writer(record: Record) -> list[ClaimRecord]:
    """List the claims of the finished answer without those in which the run says itself that sources disagree."""
    return _by_writer(record["claims"], len(record["sections"]), record)


def first_claims_by_writer(record: Record) -> list[ClaimRecord]:
    """List the claims of the answer as first checked, without those that the run makes itself."""
    return _by_writer(record["first_claims"], len(record["written"]), record)


def _by_writer(claims: Sequence[ClaimRecord], sections: int, record: Record) -> list[ClaimRecord]:
    by_run = range(sections - len(record["disagreements"]), sections)
    return [claim for claim in claims if claim["section"] not in by_run]


def may_pass(record: Record) -> bool:
    """Return whether a run failed for a reason that may have passed since, so that it is worth asking again."""
    return record["error"] is not None and record["error"]["code"] in _RETRYABLE


def _kinds(kind: type[CitewellError]) -> Iterator[type[CitewellError]]:
    yield kind
    for narrower in kind.__subclasses__():
        yield from _kinds(narrower)


_RETRYABLE = frozenset(kind.code for kind in _kinds(CitewellError) if kind.retryable)
