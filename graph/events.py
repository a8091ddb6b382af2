"""The closed, versioned set of events that a run emits: plain data that readers match by class.

To add an event, write its class and add it to ``AnyEvent``; a reader without a case for it ignores it.
Nodes write events with ``runtime.stream_writer``, and the run layer numbers them. Fields and kinds are only ever added.
"""

from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Annotated, Any, ClassVar, Literal, NotRequired, get_args

from pydantic import Field
from typing_extensions import TypedDict

from graph.evidence import (
    Claim,
    Cost,
    DisagreementCode,
    Failure,
    FamilyName,
    Intent,
    Message,
    PageUse,
    Position,
    Release,
    SectionClaim,
    Source,
    SourceKind,
    Spent,
    Verdict,
)
from graph.reasons import Why, why

SCHEMA = 1
EMIT_KEY = "citewell_emit"  # key in a run's configurable of the callback that replaces LangGraph's event stream


class Dropped(TypedDict):
    segment_id: str
    reason: str
    why: NotRequired[list[Why]]


def dropped(segment_id: str, reason: str) -> Dropped:
    """Return a segment that was dropped, with the reason and its code."""
    return Dropped(segment_id=segment_id, reason=str(reason), why=why(reason))


class BudgetCaps(TypedDict):
    model_calls: int
    tokens: int | None
    seconds: NotRequired[float | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Queued:
    type: Literal["queued"] = "queued"
    position: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RunStarted:
    type: Literal["run_started"] = "run_started"
    question: str
    message_id: str
    family: FamilyName
    model: str
    budget: BudgetCaps
    release: Release = "checked"
    fallback: Failure | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RunResumed:
    type: Literal["run_resumed"] = "run_resumed"
    attempt: int
    sections: list[int]


@dataclass(frozen=True, slots=True, kw_only=True)
class StepStarted:
    type: Literal["step_started"] = "step_started"
    step: str


@dataclass(frozen=True, slots=True, kw_only=True)
class StepFinished:
    type: Literal["step_finished"] = "step_finished"
    step: str
    ms: float


@dataclass(frozen=True, slots=True, kw_only=True)
class RetrievalDecided:
    """The question as it was understood. ``sub_questions`` are searched for too, where it joins several."""

    type: Literal["retrieval_decided"] = "retrieval_decided"
    needs_retrieval: bool
    reason: str
    standalone_question: str
    intent: Intent
    why: list[Why] = field(default_factory=list)
    fallback: Failure | None = None
    sub_questions: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True, kw_only=True)
class PagesLoaded:
    type: Literal["pages_loaded"] = "pages_loaded"
    used: list[PageUse]
    cut: list[PageUse]
    unused: list[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class SourcesFound:
    """Segments that a search found. ``servers`` are the MCP servers that were searched, none where it was the web.

    ``also_searched`` are words of the library that were searched for since it does not know one of the query's.
    """

    type: Literal["sources_found"] = "sources_found"
    kind: SourceKind
    query: str
    count: int
    degraded: str | None = None
    why: list[Why] = field(default_factory=list)
    servers: list[str] = field(default_factory=list)
    also_searched: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchFailed:
    """A search that failed, of the MCP server in ``servers`` where it was none of the web or the library."""

    type: Literal["search_failed"] = "search_failed"
    kind: SourceKind
    code: str
    message: str
    servers: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True, kw_only=True)
class SourcesGraded:
    """``sources`` is the whole list so far; it only ever grows, so that indices never change."""

    type: Literal["sources_graded"] = "sources_graded"
    sources: list[Source]
    dropped: list[Dropped] = field(default_factory=list)
    fallback: Failure | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SourcesDisagree:
    type: Literal["sources_disagree"] = "sources_disagree"
    segment_ids: list[str]
    reason: str
    code: DisagreementCode | None = None
    parts: list[str] = field(default_factory=list)
    positions: list[Position] = field(default_factory=list)


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryRewritten:
    type: Literal["query_rewritten"] = "query_rewritten"
    query: str
    reason: str
    attempt: int
    why: list[Why] = field(default_factory=list)
    fallback: Failure | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ThinkingDelta:
    type: Literal["thinking_delta"] = "thinking_delta"
    delta: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SectionStarted:
    """The start of a section; ``grounded`` is False for one from the model's own knowledge."""

    type: Literal["section_started"] = "section_started"
    section_index: int
    fallback: Failure | None = None
    grounded: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class TextDelta:
    type: Literal["text_delta"] = "text_delta"
    section_index: int
    delta: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SectionFinished:
    """``unknown_ids`` counts the ids dropped because the writer cited them but this run never offered them."""

    type: Literal["section_finished"] = "section_finished"
    section_index: int
    text: str
    source_ids: list[str]
    unknown_ids: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimChecked:
    """A claim of a section that is still being written, checked by code as soon as its sentence ends.

    The claims of a section come in order; ``section_checked`` repeats them when the section is finished.
    """

    type: Literal["claim_checked"] = "claim_checked"
    section_index: int
    claim: Claim


@dataclass(frozen=True, slots=True, kw_only=True)
class SectionChecked:
    """The claims of a finished section: first as code decides them, and again once a judge has decided open ones.

    ``judging`` is True where a judge's decision is to follow.
    """

    type: Literal["section_checked"] = "section_checked"
    section_index: int
    claims: list[Claim]
    judging: bool = False
    fallback: Failure | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SectionRevised:
    """A section after repair; an empty text withdraws it.

    ``moved`` is True where nothing was wrong with it: another source contradicts what it quoted, and the section that
    says so quotes both.
    """

    type: Literal["section_revised"] = "section_revised"
    section_index: int
    text: str
    source_ids: list[str]
    claims: list[Claim]
    moved: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Correction:
    """What readers of a format that can't retract must be told: claims of a section that no longer stand.

    ``claims`` are those of the section as it was shown. ``text`` says it in the answer's language, in Markdown.
    """

    type: Literal["correction"] = "correction"
    section_index: int
    claims: list[Claim]
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ContentRemoved:
    type: Literal["content_removed"] = "content_removed"
    section_index: int
    kind: str
    target: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerAssessed:
    type: Literal["answer_assessed"] = "answer_assessed"
    supported: bool
    utility: float
    claims: dict[Verdict, int]
    reason: str = ""
    model_score: float | None = None
    answerhood: float | None = None
    why: list[Why] = field(default_factory=list)
    fallback: Failure | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TitleChanged:
    type: Literal["title_changed"] = "title_changed"
    title: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RunFinished:
    """The end of a run that did not fail. ``cost`` is None where no model was asked, or none that has a price."""

    type: Literal["run_finished"] = "run_finished"
    outcome: Literal["answered", "abstained", "cancelled"]
    stop_reason: str
    message: Message
    spent: dict[str, Spent]
    cost: Cost | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RunFailed:
    type: Literal["run_failed"] = "run_failed"
    code: str
    message: str
    suggestion: str
    retryable: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class VerdictsUpgraded:
    """An event of a session, not of a run: the exam of a judge is over that had judged an answer before it.

    ``claims`` are all of that message, as they stand now.
    """

    type: Literal["verdicts_upgraded"] = "verdicts_upgraded"
    session_id: str
    message_id: str
    at: str
    claims: list[SectionClaim]


AnyEvent = (
    Queued
    | RunStarted
    | RunResumed
    | StepStarted
    | StepFinished
    | RetrievalDecided
    | PagesLoaded
    | SourcesFound
    | SearchFailed
    | SourcesGraded
    | SourcesDisagree
    | QueryRewritten
    | ThinkingDelta
    | SectionStarted
    | TextDelta
    | SectionFinished
    | ClaimChecked
    | SectionChecked
    | SectionRevised
    | Correction
    | ContentRemoved
    | AnswerAssessed
    | TitleChanged
    | RunFinished
    | RunFailed
)
Event = Annotated[AnyEvent, Field(discriminator="type")]
EVENTS: frozenset[type[AnyEvent]] = frozenset(get_args(AnyEvent))
TERMINAL: tuple[type[RunFinished], type[RunFailed]] = (RunFinished, RunFailed)


def timestamp(at: datetime) -> str:
    """Format a time as ISO 8601 in UTC, with milliseconds and Z, as JavaScript does."""
    return at.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


@dataclass(frozen=True, slots=True)
class Envelope:
    """An event with its position in a run's log. ``seq`` counts from 1 without gaps; ``at`` is ISO 8601 in UTC.

    ``text`` is its JSON as the log stores it, or empty where it is not serialised yet. One that is not ``logged``
    stands in no log: only the reader of one stream is told it, as the last of that stream.
    """

    schema: ClassVar[int] = SCHEMA
    run_id: str
    session_id: str
    seq: int
    at: str
    event: AnyEvent
    text: str = field(default="", compare=False, repr=False)
    logged: bool = True

    @property
    def event_id(self) -> str | None:
        """What a reader sends to go on behind the event; None for one that is not logged, which moves nobody on."""
        return f"{self.run_id}:{self.seq}" if self.logged else None


def payload(envelope: Envelope) -> dict[str, Any]:
    """Return an event merged with its envelope, as the native dialect and the run log represent it."""
    event = envelope.event
    body = {name: getattr(event, name) for name in type(event).__dataclass_fields__}
    return {
        "schema": SCHEMA,
        "type": body.pop("type"),
        "run_id": envelope.run_id,
        "session_id": envelope.session_id,
        "seq": envelope.seq,
        "at": envelope.at,
        **body,
    }
