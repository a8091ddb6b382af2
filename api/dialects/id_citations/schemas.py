"""Requests of the id_citations dialect, and the rows that it replies with."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, NotRequired, cast

from pydantic import BaseModel, Field
from typing_extensions import TypedDict

from answers.citations import excerpt_around, segments_of
from answers.highlighting import in_quote
from answers.marks import marked_citations
from api.dialects.section_buffer import FinalSection, final_sections
from api.fields import AnswerFromField, ChatOptions, ExactTypes, ModelName, PageIds, Question
from api.problems import error_kind
from graph.events import timestamp
from graph.evidence import (
    Assessment,
    Citation,
    CitationContext,
    Claim,
    Copy,
    DatedBy,
    Freshness,
    Identity,
    JudgeMark,
    Message,
    Origin,
    Place,
    Source,
    Span,
    Verdict,
    VerdictSource,
)
from tools.sessions.run_request import RunRequest, question_id
from tools.sessions.session_store import RunStatus, StoredMessage


class NewMessage(ExactTypes):
    """A question to a workspace; unknown fields are ignored."""

    content: Question
    document_ids: PageIds = Field(default=[], description="Answer only from these documents; empty for all.")
    model: ModelName = ""
    thinking: bool = Field(default=False, description="Use the model's thinking model.")
    answer_from: AnswerFromField = None
    stream: bool = Field(default=False, description="Stream the answer, like `Accept: text/event-stream`.")

    def to_run_request(self, identity: Identity, knobs: Mapping[str, Any]) -> RunRequest:
        """Return the requested run, which waits for the runs before it; ``knobs`` are the deployment's settings."""
        options = ChatOptions(
            page_ids=self.document_ids,
            only_selected_pages=bool(self.document_ids),
            model=self.model,
            thinking=self.thinking,
            answer_from=self.answer_from,
        )
        return options.to_run_request(self.content, identity, knobs, while_running="enqueue")


PREVIEW_CHARACTERS = 200
Status = Literal["processing", "completed", "cancelled", "failed"]


class Quote(TypedDict):
    """A quoted span of a document's canonical text, in code points, with the verdict on its claim.

    Of a passage ``highlight`` is the entry that bears the claim, and ``heading_path`` has the headings above it.
    ``context`` is what the quote hangs on, such as the term that it defines, the outermost first; ``anchor`` the id of
    its place in the page at the document's url. ``copies`` are other documents with a copy of the quote, and ``date``
    is then that of its own, "" where their dates tell nothing.
    """

    start: int
    end: int
    quote: str
    origin: Origin
    verdict: Verdict
    highlight: NotRequired[Span]
    heading_path: NotRequired[list[str]]
    context: NotRequired[list[CitationContext]]
    anchor: NotRequired[str]
    date: NotRequired[str]
    dated_by: NotRequired[DatedBy]
    copies: NotRequired[list[Copy]]
    by: NotRequired[VerdictSource]
    judge: NotRequired[JudgeMark]


class SegmentCitation(TypedDict):
    """A segment as in `raw-text`, cited once per section, with all its quotes there."""

    document_id: str
    segment_index: int
    page_idx: int | None
    snippet_preview: str
    quotes: list[Quote]
    freshness: NotRequired[Freshness]


class CitedSection(TypedDict):
    """A section of an answer, with the source ids that its writer cited, and the citations of its marked sentences.

    ``grounded`` is there, and false, where the text is from the model's own knowledge.
    """

    text: str
    source_ids: list[str]
    citations: list[SegmentCitation]
    grounded: NotRequired[bool]


class AnswerError(TypedDict):
    """The reason why there is no answer."""

    code: str
    message: str
    suggestion: str
    retryable: bool


class AnswerMetadata(TypedDict, total=False):
    """The sections, citations, outcome and assessment of an answer; empty for a question."""

    sections: list[CitedSection]
    citations: list[SegmentCitation]
    outcome: str
    stop_reason: str
    assessment: Assessment
    error: AnswerError


class Row(TypedDict):
    """A message of the conversation. Its content may still grow while ``status`` is `processing`."""

    id: str
    run_id: str | None
    role: Literal["user", "assistant"]
    type: Literal["user", "ai"]
    content: str
    status: Status
    created_at: str
    metadata: AnswerMetadata


def question_row(run_id: str | None, message_id: str, question: str, at: str) -> Row:
    """Return the row of a question."""
    return Row(
        id=message_id,
        run_id=run_id,
        role="user",
        type="user",
        content=question,
        status="completed",
        created_at=at,
        metadata={},
    )


def answer_row(
    run_id: str | None,
    message_id: str,
    status: Status,
    at: str,
    sections: Sequence[CitedSection],
    more: AnswerMetadata | None = None,
) -> Row:
    """Return the row of an answer with the sections that are final so far."""
    proven = AnswerMetadata(
        sections=list(sections), citations=[citation for section in sections for citation in section["citations"]]
    )
    return Row(
        id=message_id,
        run_id=run_id,
        role="assistant",
        type="ai",
        content="\n\n".join(section["text"] for section in sections),
        status=status,
        created_at=at,
        metadata={**proven, **(more or {})},
    )


def cited_section(section: FinalSection, sources: Mapping[int, Source]) -> CitedSection:
    """Convert a section, with the segments that its marked claims quote, in order. ``sources`` are by index."""
    citations = _by_segment(section.claims, sources)
    cited = CitedSection(text=section.text, source_ids=section.source_ids, citations=citations)
    return cited if section.grounded else CitedSection(**cited, grounded=False)


def _by_segment(claims: Iterable[Claim], sources: Mapping[int, Source]) -> list[SegmentCitation]:
    """Group citations by segment and freshness, without duplicate quotes."""
    cited: dict[tuple[str, int, Freshness | None], SegmentCitation] = {}
    for claim in sorted(claims, key=lambda claim: claim["end"]):
        for citation in marked_citations(claim):
            found = _segment(_within_segment(citation, sources.get(citation["source_index"])), claim)
            key = (found["document_id"], found["segment_index"], found.get("freshness"))
            segment = cited.setdefault(key, found)
            segment["quotes"] += [quote for quote in found["quotes"] if quote not in segment["quotes"]]
    return list(cited.values())


def _within_segment(citation: Citation, source: Source | None) -> Citation:
    """Return a citation with what its quote has of its own segment, since a bubble opens no other.

    A passage may go beyond it. Where it has moved, so has this part.
    """
    if source is None or not citation["quote"]:
        return citation
    own = segments_of(source).get(citation["segment_id"], source)
    start, end = max(citation["start"], own["start"]), min(citation["end"], own["end"])
    if start >= end or (start, end) == (citation["start"], citation["end"]):
        return citation
    quote = citation["quote"][start - citation["start"] : end - citation["start"]]
    start, quote = end - len(quote.lstrip()), quote.strip()
    end = start + len(quote)
    before, behind = start - citation["start"], citation["end"] - end
    within = Citation(**{**citation, "start": start, "end": end, "quote": quote})
    if "now" in citation:
        now = citation["now"]
        within["now"] = Place(**{**now, "start": now["start"] + before, "end": now["end"] - behind})
    if highlight := within.pop("highlight", None):
        span = Span(start=max(start, highlight["start"]), end=min(end, highlight["end"]))
        if span["start"] < span["end"]:
            within["highlight"] = span
    return within


_ALSO_TOLD = ("heading_path", "context", "anchor", "date", "dated_by", "copies", "by", "judge")


def _segment(citation: Citation, claim: Claim) -> SegmentCitation:
    """Convert a citation; a quote that has moved since the answer refers to its current segment."""
    place = citation.get("now") or citation
    quote = Quote(
        start=place["start"],
        end=place["end"],
        quote=citation["quote"],
        origin=citation["origin"],
        verdict=citation["verdict"],
    )
    if "highlight" in citation:
        span, moved = citation["highlight"], place["start"] - citation["start"]
        quote["highlight"] = Span(start=span["start"] + moved, end=span["end"] + moved)
    told: Mapping[str, Any] = {**citation, **{name: value for name, value in claim.items() if name in ("by", "judge")}}
    quote |= cast(Quote, {name: told[name] for name in _ALSO_TOLD if name in told})
    found = SegmentCitation(
        document_id=citation["document_id"],
        segment_index=place["segment_index"],
        page_idx=place["page_idx"],
        snippet_preview=excerpt_around(citation["quote"], *(in_quote(citation) or (0, 0)), PREVIEW_CHARACTERS),
        quotes=[quote],
    )
    if "freshness" in citation:
        found["freshness"] = citation["freshness"]
    return found


class ChangedMessages(BaseModel):
    """Rows that are new or have changed; each replaces the one with the same id."""

    messages: list[Row]


class MessagePage(ChangedMessages):
    """The newest rows of a workspace's conversation, in chronological order."""

    next_cursor: str | None = Field(description="Send it as `cursor` for earlier messages; null at the beginning.")


def in_progress(run: RunStatus, message_id: str) -> list[Row]:
    """Return the rows of an active or waiting run: its question, and its answer without content."""
    at = timestamp(run.created_at)
    return [
        question_row(run.run_id, question_id(message_id), run.question, at),
        answer_row(run.run_id, message_id, "processing", at, []),
    ]


def stored_row(stored: StoredMessage) -> Row:
    """Return the row of a stored message; an answer's citations have the freshness of their quotes."""
    at = timestamp(stored.created_at)
    if stored.role == "user":
        return question_row(stored.run_id, stored.message_id, stored.content, at)
    message = Message(
        answer=stored.content,
        sections=stored.body.get("sections", []),
        citations=[],
        sources=[],
        claims=stored.body.get("claims", []),
    )
    status: Status = "cancelled" if stored.outcome == "cancelled" else "completed"
    ended = AnswerMetadata(outcome=stored.outcome or "", stop_reason=stored.stop_reason or "")
    if assessment := stored.body.get("assessment"):
        ended["assessment"] = assessment
    sources = {source["index"]: source for source in stored.body.get("sources", [])}
    sections = [cited_section(section, sources) for section in final_sections(message)]
    return answer_row(stored.run_id, stored.message_id, status, at, sections, ended)


def failed_row(run: RunStatus, message_id: str) -> Row:
    """Return the row of an answer whose run failed."""
    kind = error_kind(run.stop_reason or "")
    code = run.stop_reason or kind.code
    fault = AnswerError(code=code, message=kind.meaning, suggestion=kind.suggestion, retryable=kind.retryable)
    ended = AnswerMetadata(outcome="failed", stop_reason=code, error=fault)
    return answer_row(run.run_id, message_id, "failed", timestamp(run.finished_at or run.created_at), [], ended)
