"""Records of asked questions: the lines of a run folder's ``results.jsonl``, one JSON object each.

A record holds the gold evidence together with the outcome, so that every figure, report and comparison needs only
records, not the data set or the library.
"""

from collections.abc import Iterator, Sequence
from typing import Literal, NotRequired, cast

from typing_extensions import TypedDict

from answers.marks import mark_of
from graph.errors import CitewellError
from graph.evidence import CitationContext, Claim, Failure, Mark, Origin, SourceKind, Spent, Verdict

Variant = Literal["asked", "removed"]  # with the whole library, or without the documents that the answer needs


class GoldSentence(TypedDict):
    """A sentence of the gold evidence. Offsets are into its document's canonical text."""

    document: str
    index: int
    start: int
    end: int
    text: str


class GoldPassage(TypedDict):
    """A passage of the gold evidence; see ``evals.gold_passages``."""

    document: str
    text: str
    alternative: bool


class GoldTrap(TypedDict):
    """A text that must not be quoted without that which governs it; see ``evals.gold_passages``."""

    text: str
    governs: str


class PlantedRecord(TypedDict):
    """A sentence that the set plants in the answer, and whether the library bears it."""

    text: str
    faithful: bool


class RetrievedSegment(TypedDict):
    """A segment returned by the run's first search, best first; ``document`` is its name in the data set.

    ``gold`` says whether it holds evidence of the question; older records do not.
    """

    segment_id: str
    document: str
    start: int
    end: int
    score: float
    gold: NotRequired[bool]


class SourceText(TypedDict):
    """A segment that grading kept, as shown to the writer."""

    segment_id: str
    document: str
    title: str
    text: str
    kind: SourceKind
    score: float


class CitationRecord(TypedDict):
    """A citation of an answer.

    ``sentences`` are the indices of the document's sentences that the quote covers; ``segment_sentences`` those that
    the cited segment covers, empty if it is not among the run's sources; ``exact`` is whether the quote equals the
    canonical text at its offsets; ``offered`` whether its segment is among the run's sources. ``heading_path`` and
    ``context`` are what is shown around the quote, if anything.
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
    heading_path: NotRequired[list[str]]
    context: NotRequired[list[CitationContext]]


class NearestPassage(TypedDict):
    """What a refusal shows of a source that came nearest, in the form of a citation; ``answerhood`` is its own."""

    document: str
    start: int
    text: str
    answerhood: NotRequired[float]
    heading_path: NotRequired[list[str]]
    context: NotRequired[list[CitationContext]]


class ClaimRecord(TypedDict):
    """A claim with its verdict and citations. ``section`` is the index of its section in the record's matching list.

    ``mark`` is whether a reader sees one behind it; records of earlier releases lack it. ``faithful`` is whether a
    judge of the evaluation says that the passages bear the claim.
    """

    section: int
    text: str
    verdict: Verdict
    reasons: list[str]
    citations: list[CitationRecord]
    mark: NotRequired[Mark]
    faithful: NotRequired[bool]


class SectionRecord(TypedDict):
    """A section with the ids it cites; ``unknown_ids`` counts cited ids that are not among the run's sources.

    A section that was written again has 0 of them: ids invented by its new version are dropped without a report.
    """

    text: str
    source_ids: list[str]
    unknown_ids: int


class PageRecord(TypedDict):
    """A selected page: the number of its segments that were read, and the total."""

    document: str
    read: int
    of: int


class Record(TypedDict):
    """One question asked once.

    ``written`` and ``first_claims`` are the sections as first written and the claims as first checked; ``sections``
    and ``claims`` those of the finished answer. The last ones may come from the run itself: one for each of
    ``disagreements``, or in ``written`` a refusal. ``retrieved`` is the search for the standalone question. A failed
    run has ``error`` and neither text nor citations. ``all_of``, ``passages``, ``trap`` and ``planted`` are there
    where the case has them, ``nearest`` where the run refused and showed what came nearest.
    ``answerhood`` is the chance in [0, 1] that the run's assessment gives of having answered the question; None or not
    there where nobody estimated it. ``ms`` is the time of the whole run, ``first_text_ms`` the time to the first text
    of the answer.
    """

    case_id: str
    variant: Variant
    question: str
    before: list[str]
    pages: list[str]
    tags: dict[str, str]
    expected: Literal["answered", "abstained", "either"]
    answers: list[str]
    evidence: list[list[GoldSentence]]
    accepted: list[GoldSentence]
    all_of: NotRequired[list[list[str]]]
    passages: NotRequired[list[GoldPassage]]
    trap: NotRequired[GoldTrap]
    planted: NotRequired[list[PlantedRecord]]
    nearest: NotRequired[list[NearestPassage]]

    outcome: Literal["answered", "abstained", "failed", "cancelled"]
    stop_reason: str
    error: Failure | None
    standalone_question: str
    queries: list[str]
    retrieved: list[RetrievedSegment]
    pages_read: list[PageRecord]
    sources: list[SourceText]
    answer: str
    written: list[SectionRecord]
    first_claims: list[ClaimRecord]
    sections: list[SectionRecord]
    claims: list[ClaimRecord]
    disagreements: list[list[str]]
    answerhood: NotRequired[float | None]
    family: str
    model: str
    ms: float
    first_text_ms: float | None
    spent: dict[str, Spent]


def record_key(record: Record) -> tuple[str, Variant]:
    """Return the key that identifies a record within its run."""
    return record["case_id"], record["variant"]


def is_marked(claim: ClaimRecord) -> bool:
    """Return whether a reader sees a mark behind a claim."""
    return mark_of(cast(Claim, claim)) == "shown"


def citations_of(record: Record) -> list[CitationRecord]:
    """Return the citations that the finished answer shows behind its marks, in the order shown."""
    return [citation for claim in record["claims"] if is_marked(claim) for citation in claim["citations"]]


def all_citations(record: Record) -> list[CitationRecord]:
    """Return every citation of the finished answer, those of claims without a mark too."""
    return [citation for claim in record["claims"] for citation in claim["citations"]]


def claims_by_writer(record: Record) -> list[ClaimRecord]:
    """Return the claims of the finished answer, without the run's own statements that sources disagree."""
    return _by_writer(record["claims"], len(record["sections"]), record)


def first_claims_by_writer(record: Record) -> list[ClaimRecord]:
    """Return the claims of the answer as first checked, without the run's own statements."""
    return _by_writer(record["first_claims"], len(record["written"]), record)


def _by_writer(claims: Sequence[ClaimRecord], sections: int, record: Record) -> list[ClaimRecord]:
    by_run = range(sections - len(record["disagreements"]), sections)
    return [claim for claim in claims if claim["section"] not in by_run]


def may_pass(record: Record) -> bool:
    """Return whether a run failed for a temporary reason, so that asking again may succeed."""
    return record["error"] is not None and record["error"]["code"] in _RETRYABLE


def _kinds(kind: type[CitewellError]) -> Iterator[type[CitewellError]]:
    yield kind
    for narrower in kind.__subclasses__():
        yield from _kinds(narrower)


_RETRYABLE = frozenset(kind.code for kind in _kinds(CitewellError) if kind.retryable)
