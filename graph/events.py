"""The closed, versioned set of events that a run emits, and the listener interface that receives them."""

from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Annotated, Any, ClassVar, Literal, NotRequired, Protocol, TypeVar

from pydantic import Field
from typing_extensions import TypedDict

from graph.evidence import Claim, Failure, FamilyName, Intent, Message, Source, SourceKind, Spent, Verdict

SCHEMA = 1
EMIT_KEY = "citewell_tell"  # in a run's configurable: who is told its events, in the place of LangGraph's own stream

T_co = TypeVar("T_co", covariant=True)


class Dropped(TypedDict):
    segment_id: str
    reason: str


class PageUse(TypedDict):
    """A selected page: how many of its segments were read, of how many."""

    document_id: str
    title: str
    segments: int
    of: int


class BudgetCaps(TypedDict):
    model_calls: int
    tokens: int | None
    seconds: NotRequired[float | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Queued:
    type: Literal["queued"] = "queued"
    position: int

    def tell(self, listener: "Listener[T_co]") -> T_co:
        return listener.queued(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class RunStarted:
    type: Literal["run_started"] = "run_started"
    question: str
    message_id: str
    family: FamilyName
    model: str
    budget: BudgetCaps

    def tell(self, listener: "Listener[T_co]") -> T_co:
        return listener.run_started(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class RunResumed:
    type: Literal["run_resumed"] = "run_resumed"
    attempt: int
    sections: list[int]

    def tell(self, listener: "Listener[T_co]") -> T_co:
        return listener.run_resumed(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class StepStarted:
    type: Literal["step_started"] = "step_started"
    step: str

    def tell(self, listener: "Listener[T_co]") -> T_co:
        return listener.step_started(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class StepFinished:
    type: Literal["step_finished"] = "step_finished"
    step: str
    ms: float

    def tell(self, listener: "Listener[T_co]") -> T_co:
        return listener.step_finished(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class RetrievalDecided:
    type: Literal["retrieval_decided"] = "retrieval_decided"
    needs_retrieval: bool
    reason: str
    standalone_question: str
    intent: Intent
    fallback: Failure | None = None

    def tell(self, listener: "Listener[T_co]") -> T_co:
        return listener.retrieval_decided(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class PagesLoaded:
    type: Literal["pages_loaded"] = "pages_loaded"
    used: list[PageUse]
    cut: list[PageUse]
    unused: list[str]

    def tell(self, listener: "Listener[T_co]") -> T_co:
        return listener.pages_loaded(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class SourcesFound:
    type: Literal["sources_found"] = "sources_found"
    kind: SourceKind
    query: str
    count: int
    degraded: str | None = None

    def tell(self, listener: "Listener[T_co]") -> T_co:
        return listener.sources_found(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchFailed:
    type: Literal["search_failed"] = "search_failed"
    kind: SourceKind
    code: str
    message: str

    def tell(self, listener: "Listener[T_co]") -> T_co:
        return listener.search_failed(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class SourcesGraded:
    """``sources`` is the whole list so far; indices are only ever appended to."""

    type: Literal["sources_graded"] = "sources_graded"
    sources: list[Source]
    dropped: list[Dropped] = field(default_factory=list)
    fallback: Failure | None = None

    def tell(self, listener: "Listener[T_co]") -> T_co:
        return listener.sources_graded(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class SourcesDisagree:
    type: Literal["sources_disagree"] = "sources_disagree"
    segment_ids: list[str]
    reason: str

    def tell(self, listener: "Listener[T_co]") -> T_co:
        return listener.sources_disagree(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryRewritten:
    type: Literal["query_rewritten"] = "query_rewritten"
    query: str
    reason: str
    attempt: int
    fallback: Failure | None = None

    def tell(self, listener: "Listener[T_co]") -> T_co:
        return listener.query_rewritten(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class ThinkingDelta:
    type: Literal["thinking_delta"] = "thinking_delta"
    delta: str

    def tell(self, listener: "Listener[T_co]") -> T_co:
        return listener.thinking_delta(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class SectionStarted:
    type: Literal["section_started"] = "section_started"
    section_index: int
    fallback: Failure | None = None

    def tell(self, listener: "Listener[T_co]") -> T_co:
        return listener.section_started(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class TextDelta:
    type: Literal["text_delta"] = "text_delta"
    section_index: int
    delta: str

    def tell(self, listener: "Listener[T_co]") -> T_co:
        return listener.text_delta(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class SectionFinished:
    """``unknown_ids`` counts the ids that the writer gave and this run never offered; they are dropped."""

    type: Literal["section_finished"] = "section_finished"
    section_index: int
    text: str
    source_ids: list[str]
    unknown_ids: int = 0

    def tell(self, listener: "Listener[T_co]") -> T_co:
        return listener.section_finished(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class SectionChecked:
    type: Literal["section_checked"] = "section_checked"
    section_index: int
    claims: list[Claim]
    fallback: Failure | None = None

    def tell(self, listener: "Listener[T_co]") -> T_co:
        return listener.section_checked(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class SectionRevised:
    """The section as it stands after repair; an empty text withdraws it."""

    type: Literal["section_revised"] = "section_revised"
    section_index: int
    text: str
    source_ids: list[str]
    claims: list[Claim]

    def tell(self, listener: "Listener[T_co]") -> T_co:
        return listener.section_revised(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class ContentRemoved:
    type: Literal["content_removed"] = "content_removed"
    section_index: int
    kind: str
    target: str

    def tell(self, listener: "Listener[T_co]") -> T_co:
        return listener.content_removed(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerAssessed:
    type: Literal["answer_assessed"] = "answer_assessed"
    supported: bool
    utility: float
    claims: dict[Verdict, int]
    reason: str = ""
    model_score: float | None = None
    fallback: Failure | None = None

    def tell(self, listener: "Listener[T_co]") -> T_co:
        return listener.answer_assessed(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class TitleChanged:
    type: Literal["title_changed"] = "title_changed"
    title: str

    def tell(self, listener: "Listener[T_co]") -> T_co:
        return listener.title_changed(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class RunFinished:
    type: Literal["run_finished"] = "run_finished"
    outcome: Literal["answered", "abstained", "cancelled"]
    stop_reason: str
    message: Message
    spent: dict[str, Spent]

    def tell(self, listener: "Listener[T_co]") -> T_co:
        return listener.run_finished(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class RunFailed:
    type: Literal["run_failed"] = "run_failed"
    code: str
    message: str
    suggestion: str
    retryable: bool

    def tell(self, listener: "Listener[T_co]") -> T_co:
        return listener.run_failed(self)


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
    | SectionChecked
    | SectionRevised
    | ContentRemoved
    | AnswerAssessed
    | TitleChanged
    | RunFinished
    | RunFailed
)
Event = Annotated[AnyEvent, Field(discriminator="type")]
TERMINAL: tuple[type[RunFinished], type[RunFailed]] = (RunFinished, RunFailed)


def timestamp(at: datetime) -> str:
    """Write a moment in ISO 8601, in UTC, with milliseconds and Z, as JavaScript does."""
    return at.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


@dataclass(frozen=True, slots=True)
class Envelope:
    """An event with its place in a run's log. ``seq`` counts from 1 without gaps; ``at`` is ISO 8601 in UTC.

    ``text`` is what is stored of it, where it was written out already.
    """

    schema: ClassVar[int] = SCHEMA
    run_id: str
    session_id: str
    seq: int
    at: str
    event: AnyEvent
    text: str = field(default="", compare=False, repr=False)

    @property
    def event_id(self) -> str:
        return f"{self.run_id}:{self.seq}"


class Listener(Protocol[T_co]):
    """Whoever hears a run: one method a kind of event."""

    def queued(self, event: Queued) -> T_co: ...
    def run_started(self, event: RunStarted) -> T_co: ...
    def run_resumed(self, event: RunResumed) -> T_co: ...
    def step_started(self, event: StepStarted) -> T_co: ...
    def step_finished(self, event: StepFinished) -> T_co: ...
    def retrieval_decided(self, event: RetrievalDecided) -> T_co: ...
    def pages_loaded(self, event: PagesLoaded) -> T_co: ...
    def sources_found(self, event: SourcesFound) -> T_co: ...
    def search_failed(self, event: SearchFailed) -> T_co: ...
    def sources_graded(self, event: SourcesGraded) -> T_co: ...
    def sources_disagree(self, event: SourcesDisagree) -> T_co: ...
    def query_rewritten(self, event: QueryRewritten) -> T_co: ...
    def thinking_delta(self, event: ThinkingDelta) -> T_co: ...
    def section_started(self, event: SectionStarted) -> T_co: ...
    def text_delta(self, event: TextDelta) -> T_co: ...
    def section_finished(self, event: SectionFinished) -> T_co: ...
    def section_checked(self, event: SectionChecked) -> T_co: ...
    def section_revised(self, event: SectionRevised) -> T_co: ...
    def content_removed(self, event: ContentRemoved) -> T_co: ...
    def answer_assessed(self, event: AnswerAssessed) -> T_co: ...
    def title_changed(self, event: TitleChanged) -> T_co: ...
    def run_finished(self, event: RunFinished) -> T_co: ...
    def run_failed(self, event: RunFailed) -> T_co: ...


def payload(envelope: Envelope) -> dict[str, Any]:
    """Lay an event out flat with its envelope, as the native dialect and the run log hold it."""
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
