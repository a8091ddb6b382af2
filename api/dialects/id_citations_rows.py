"""Questions and answers as rows of a conversation, each section of an answer with the segments that prove it."""

from collections.abc import Iterable, Sequence
from typing import Literal, NotRequired

from typing_extensions import TypedDict

from api.dialects.holding import Told
from graph.evidence import Citation, Claim, Freshness, Origin, Verdict
from graph.sources import excerpt
from tools.runs import question_id

PREVIEW_CHARACTERS = 200
Status = Literal["processing", "completed", "cancelled", "failed"]


class Quote(TypedDict):
    """A span of a document's canonical text, in code points, and what it proves."""

    start: int
    end: int
    quote: str
    origin: Origin
    verdict: Verdict


class SegmentCitation(TypedDict):
    """A segment as `raw-text` lists it, cited once a section, with all that is quoted from it there."""

    document_id: str
    segment_index: int
    page_idx: int | None
    snippet_preview: str
    quotes: list[Quote]
    freshness: NotRequired[Freshness]


class CitedSection(TypedDict):
    """A section of an answer, with the ids that its writer gave, and what is proven by them."""

    text: str
    source_ids: list[str]
    citations: list[SegmentCitation]


class Fault(TypedDict):
    """Why there is no answer."""

    code: str
    message: str
    suggestion: str
    retryable: bool


class AnswerMetadata(TypedDict, total=False):
    """What stands behind an answer; a question has none of it."""

    sections: list[CitedSection]
    citations: list[SegmentCitation]
    outcome: str
    stop_reason: str
    error: Fault


class Row(TypedDict):
    """A message of the conversation. ``status`` tells whether its content may still grow."""

    id: str
    run_id: str | None
    role: Literal["user", "assistant"]
    type: Literal["user", "ai"]
    content: str
    status: Status
    created_at: str
    metadata: AnswerMetadata


def question_row(run_id: str | None, message_id: str, question: str, at: str) -> Row:
    """Lay out the question that the answer ``message_id`` is given to."""
    return Row(
        id=question_id(message_id),
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
    """Lay out an answer with the sections that are final so far."""
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


def section_of(told: Told) -> CitedSection:
    """Lay out a section with each segment that it quotes, in the order of the text."""
    return CitedSection(text=told.text, source_ids=told.source_ids, citations=_by_segment(told.claims))


def _by_segment(claims: Iterable[Claim]) -> list[SegmentCitation]:
    """Gather what is quoted from each segment; what has become of a quote since parts it from others."""
    cited: dict[tuple[str, int, Freshness | None], SegmentCitation] = {}
    for claim in sorted(claims, key=lambda claim: claim["end"]):
        for citation in claim["citations"]:
            found = _segment(citation)
            key = (found["document_id"], found["segment_index"], found.get("freshness"))
            segment = cited.setdefault(key, found)
            segment["quotes"] += [quote for quote in found["quotes"] if quote not in segment["quotes"]]
    return list(cited.values())


def _segment(citation: Citation) -> SegmentCitation:
    """Cite the segment in which a quote stands, today's where it has moved since the answer was given."""
    place = citation.get("now") or citation
    quote = Quote(
        start=place["start"],
        end=place["end"],
        quote=citation["quote"],
        origin=citation["origin"],
        verdict=citation["verdict"],
    )
    found = SegmentCitation(
        document_id=citation["document_id"],
        segment_index=place["segment_index"],
        page_idx=place["page_idx"],
        snippet_preview=excerpt(citation["quote"], PREVIEW_CHARACTERS),
        quotes=[quote],
    )
    if "freshness" in citation:
        found["freshness"] = citation["freshness"]
    return found
