"""One event of every kind, as a run that never happened: what each dialect is held to."""

from typing import get_args

from graph import events as told
from graph.events import AnyEvent, Envelope
from graph.evidence import (
    Assessment,
    Citation,
    CitationContext,
    Claim,
    Disagreement,
    Failure,
    Message,
    PageUse,
    Section,
    SectionClaim,
    Source,
    Space,
    Spent,
)

DOCUMENT = "7a9e0f3c-5a55-4b0e-9b0c-0d3f1f6d2a01"
SEGMENT = f"{DOCUMENT}:0"
CITATION = Citation(
    segment_id=SEGMENT,
    document_id=DOCUMENT,
    segment_index=0,
    page_idx=None,
    start=9,
    end=57,
    quote="Every employee gets 25 days of annual leave 🏖 中文.",
    origin="cited",
    verdict="supported",
    source_index=1,
    section_index=0,
    context=[CitationContext(role="lead", start=0, end=8, text="Leave 🏖:")],
)
SOURCE = Source(
    index=1,
    segment_id=SEGMENT,
    document_id=DOCUMENT,
    segment_index=0,
    page_idx=None,
    title="Staff handbook",
    heading="Leave",
    kind="search",
    source_type="document",
    slug="staff-handbook",
    space=Space(id="s1", slug="people"),
    url="https://wiki.example/handbook",
    score=0.91,
    excerpt="Every employee gets 25 days of annual leave 🏖 中文.",
    start=0,
    end=57,
    metadata={"team": "people"},
)
CLAIM = Claim(start=0, end=21, text="Employees get 25 days", verdict="supported", reasons=[], citations=[CITATION])
SECTION = Section(text="Employees get 25 days.\r\nThat is all.", source_ids=[SEGMENT])
PAGE = PageUse(document_id=DOCUMENT, title="Staff handbook", segments=2, of=3)
FALLBACK = Failure(code="budget_exhausted", message="The run's budget of model calls is used up.")
REASON = "the source says 25 days, the answer says 30 days"
DOUBTED = Claim(start=0, end=21, text="Employees get 30 days", verdict="contradicted", reasons=[REASON], citations=[])
ASSESSMENT = Assessment(
    supported=True,
    utility=0.9,
    claims={"supported": 1, "contradicted": 0, "unsupported": 0, "unverified": 0},
    reason="1 supported; 80% of the question's words are taken up",
    model_score=0.8,
)
MESSAGE = Message(
    answer=SECTION["text"],
    sections=[SECTION],
    citations=[CITATION],
    sources=[SOURCE],
    family="extractive",
    claims=[SectionClaim(**CLAIM, section_index=0)],
    assessment=ASSESSMENT,
    disagreements=[Disagreement(segment_ids=[SEGMENT, f"{DOCUMENT}:1"], reason="25 and 30 days")],
)
SCRIPT: list[AnyEvent] = [
    told.Queued(position=1),
    told.RunStarted(
        question="How much leave?",
        message_id="00000000-0000-4000-8000-000000000003",
        family="extractive",
        model="extractive",
        budget=told.BudgetCaps(model_calls=8, tokens=None, seconds=120.0),
    ),
    told.RunResumed(attempt=2, sections=[0]),
    told.StepStarted(step="decide_retrieval"),
    told.RetrievalDecided(
        needs_retrieval=True,
        reason="asks for a fact",
        standalone_question="How much annual leave do employees get?",
        intent="content_query",
        fallback=Failure(code="model_reply_invalid", message="The question is used as asked."),
    ),
    told.StepFinished(step="decide_retrieval", ms=1.25),
    told.PagesLoaded(used=[PAGE], cut=[PAGE], unused=["7a9e0f3c-5a55-4b0e-9b0c-0d3f1f6d2a09"]),
    told.SourcesFound(kind="search", query="annual leave", count=1, degraded="The words alone were searched for."),
    told.SearchFailed(kind="web", code="model_unavailable", message="No reply."),
    told.SourcesGraded(sources=[SOURCE], dropped=[told.Dropped(segment_id=f"{DOCUMENT}:1", reason="off the subject")]),
    told.SourcesDisagree(segment_ids=[SEGMENT, f"{DOCUMENT}:1"], reason="25 and 30 days"),
    told.QueryRewritten(query="holiday entitlement", reason="nothing relevant", attempt=1, fallback=FALLBACK),
    told.ThinkingDelta(delta="Let me see\n"),
    told.SectionStarted(section_index=0, fallback=FALLBACK),
    told.TextDelta(section_index=0, delta="Employees get 25 days.\r\nThat is all."),
    told.ClaimChecked(section_index=0, claim=CLAIM),
    told.SectionFinished(section_index=0, text=SECTION["text"], source_ids=[SEGMENT], unknown_ids=1),
    told.SectionChecked(section_index=0, claims=[CLAIM]),
    told.SectionChecked(section_index=1, claims=[DOUBTED], fallback=FALLBACK),
    told.SectionRevised(section_index=1, text=SECTION["text"], source_ids=[SEGMENT], claims=[DOUBTED]),
    told.SectionRevised(section_index=1, text="", source_ids=[], claims=[]),
    told.Correction(section_index=1, claims=[DOUBTED], text="Correction: employees get 25 days, not 30."),
    told.ContentRemoved(section_index=0, kind="link", target="https://evil.example/?q=secret"),
    told.AnswerAssessed(**ASSESSMENT, fallback=FALLBACK),
    told.TitleChanged(title="Annual leave"),
    told.RunFinished(
        outcome="answered",
        stop_reason="answer_complete",
        message=MESSAGE,
        spent={"generate_answer": Spent(calls=1, tokens=42, ms=3.5)},
    ),
    told.RunFailed(code="model_unavailable", message="No reply.", suggestion="Try again.", retryable=True),
]
assert {type(event) for event in SCRIPT} == set(get_args(AnyEvent))


def envelopes() -> list[Envelope]:
    """Give the script as a run's log."""
    run_id, session_id = "00000000-0000-4000-8000-000000000001", "00000000-0000-4000-8000-000000000002"
    at = "2026-11-21T12:00:00.000Z"
    return [Envelope(run_id, session_id, seq, at, event) for seq, event in enumerate(SCRIPT, start=1)]
