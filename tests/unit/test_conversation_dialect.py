"""The conversation dialect over runs made by hand: documents numbered and listed, and ends that are no answer."""

import json
from collections.abc import Sequence
from typing import Any

from hypothesis import given

from api.dialects.conversation.encoder import ConversationEncoder
from graph.events import (
    AnyEvent,
    Envelope,
    QueryRewritten,
    RetrievalDecided,
    RunFailed,
    RunFinished,
    RunResumed,
    RunStarted,
    SectionChecked,
    SectionFinished,
    SectionStarted,
    SourcesGraded,
    StepStarted,
    ThinkingDelta,
)
from graph.evidence import Citation, Claim, Message, Section, SectionClaim, Source
from tests.api.reading import parse_frames
from tests.wire.runs import FAILURE, MESSAGE_ID, RUN_ID, cancelled_runs, is_revised, logged, runs
from tests.wire.texts import citation, claim, source
from tools.sessions.run_request import question_id

SOURCES = [source(1), source(2), source(3)]
STARTED = RunStarted(
    question="Why?", message_id=MESSAGE_ID, family="llm", model="m", budget={"model_calls": 8, "tokens": None}
)
DECIDED = RetrievalDecided(needs_retrieval=True, reason="", standalone_question="Why?", intent="content_query")


def same_document(of: Source, segment_index: int, *, score: float, page_idx: int | None = None, text: str) -> Source:
    """Make another segment of a source's document."""
    return {
        **of,
        "index": 10 + segment_index,
        "segment_id": f"{of['document_id']}:{segment_index}",
        "segment_index": segment_index,
        "page_idx": page_idx,
        "score": score,
        "excerpt": text,
    }


def section(index: int, text: str, *cited: Source) -> tuple[str, list[Claim]]:
    return text, [claim("", text, "supported", [citation(each, "supported", index) for each in cited])]


def answered(sources: list[Source], *sections: tuple[str, list[Claim]], outcome: Any = "answered") -> list[AnyEvent]:
    """Tell a run that answers in these sections."""
    events: list[AnyEvent] = [STARTED, DECIDED, SourcesGraded(sources=sources)]
    for index, (text, claims) in enumerate(sections):
        ids = [each["segment_id"] for one in claims for each in one["citations"]]
        events += [
            SectionStarted(section_index=index),
            SectionFinished(section_index=index, text=text, source_ids=ids),
            SectionChecked(section_index=index, claims=claims),
        ]
    message = Message(
        answer="\n\n".join(text for text, _ in sections),
        sections=[Section(text=text, source_ids=[]) for text, _ in sections],
        citations=[each for _, claims in sections for one in claims for each in one["citations"]],
        sources=sources,
        claims=[SectionClaim(**one, section_index=i) for i, (_, claims) in enumerate(sections) for one in claims],
    )
    return [*events, RunFinished(outcome=outcome, stop_reason="answer_complete", message=message, spent={})]


def heard(log: Sequence[Envelope], dialect: ConversationEncoder | None = None) -> list[dict[str, Any]]:
    dialect = dialect or ConversationEncoder()
    return [json.loads(frame["data"]) for frame in parse_frames(b"".join(map(dialect.encode, log)).decode())]


def spoken(events: Sequence[AnyEvent], dialect: ConversationEncoder | None = None) -> list[dict[str, Any]]:
    return heard(logged(events), dialect)


def test_documents_are_numbered_as_the_answer_first_cites_them() -> None:
    one, _, three = SOURCES
    *_, done = spoken(answered(SOURCES, section(0, "Third.", three), section(1, "First, third.", three, one)))
    assert done["formattedAnswer"] == "Third.[1]\n\nFirst, third.[1][2]"
    assert [each["documentId"] for each in done["sources"]] == [three["document_id"], one["document_id"]]


def test_two_segments_of_a_document_are_one_source_with_one_mark() -> None:
    one = SOURCES[0]
    more = same_document(one, 7, score=0.95, page_idx=4, text="More of it.")
    *_, done = spoken(answered([one, more], section(0, "Both.", one, more), section(1, "Again.", more)))
    assert done["formattedAnswer"] == "Both.[1]\n\nAgain.[1]"
    assert done["sources"] == [
        {
            "documentId": one["document_id"],
            "documentName": "Document 1",
            "pageNumber": 5,
            "relevanceScore": 0.95,
            "excerpt": "More of it.",
        }
    ]


def test_a_better_segment_that_is_not_cited_is_not_shown() -> None:
    one = SOURCES[0]
    better = same_document(one, 7, score=0.99, text="More of it.")
    *_, done = spoken(answered([one, better], section(0, "One.", one)))
    assert done["sources"][0]["relevanceScore"] == one["score"]


def test_an_excerpt_shows_what_is_cited_of_a_long_segment() -> None:
    long: Source = {**SOURCES[0], "excerpt": "How it begins..."}
    proof: Citation = {**citation(SOURCES[0], "supported", 0), "quote": "What stands\nfurther down."}
    text, claims = section(0, "Down.", SOURCES[0])
    claims[0]["citations"] = [proof, {**proof, "start": 400, "quote": "And further."}]
    *_, done = spoken(answered([long], (text, claims)))
    assert done["sources"][0]["excerpt"] == "What stands further down. ... And further."


def test_a_preview_shows_each_document_once_when_it_is_first_kept() -> None:
    one, two, _ = SOURCES
    better = same_document(one, 7, score=0.95, text="More of it.")
    graded = [SourcesGraded(sources=[one, better]), SourcesGraded(sources=[one, better, two])]
    told = spoken([STARTED, *graded], ConversationEncoder(progress=True))
    previews = [each["source"] for each in told if each["type"] == "source_preview"]
    assert [each["documentId"] for each in previews] == [one["document_id"], two["document_id"]]
    assert previews[0]["excerpt"] == "More of it."


def test_progress_never_goes_back_and_names_no_step_twice() -> None:
    steps = ["decide_retrieval", "search_segments", "search_web", "grade_segments", "generate_answer", "check_claims"]
    again = ["rewrite_query", "search_segments", "grade_segments", "generate_answer", "check_claims", "a_later_step"]
    told = spoken([STARTED, *(StepStarted(step=step) for step in steps + again)], ConversationEncoder(progress=True))
    stages = [(each["stage"], each["percent"]) for each in told if each["type"] == "progress"]
    assert [stage for stage, _ in stages].count("retrieving") == 2
    percents = [percent for _, percent in stages]
    assert percents == sorted(percents)


def test_thinking_tells_how_long_it_has_taken() -> None:
    log = logged([STARTED, ThinkingDelta(delta="Hm"), ThinkingDelta(delta=".")])
    late = Envelope(RUN_ID, log[2].session_id, 3, "2026-11-21T12:00:01.500Z", log[2].event)
    _, first, second = heard([*log[:2], late], ConversationEncoder(thinking=True))
    assert (first["duration"], second["duration"]) == (0, 1500)
    assert len(heard(log)) == 1


def test_the_ids_of_question_and_answer_are_those_that_are_stored() -> None:
    *_, done = spoken(answered(SOURCES, section(0, "One.", SOURCES[0])))
    assert (done["userMessageId"], done["assistantMessageId"]) == (question_id(MESSAGE_ID), MESSAGE_ID)


def test_an_end_without_a_log_is_told_whole() -> None:
    end = answered(SOURCES, section(0, "One.", SOURCES[1]))[-1]
    connected, content, done = spoken([end], ConversationEncoder("c1", MESSAGE_ID))
    assert (connected["conversationId"], content["content"]) == ("c1", "One.[1]")
    assert (done["assistantMessageId"], len(done["sources"])) == (MESSAGE_ID, 1)


def test_an_answer_that_is_written_again_in_other_words_ends_with_an_error() -> None:
    before = answered(SOURCES, section(0, "One.", SOURCES[0]))[:-1]
    again = answered(SOURCES, section(0, "Other.", SOURCES[0]))[2:]
    told = spoken([*before, RunResumed(attempt=2, sections=[]), *again])
    assert [each["type"] for each in told] == ["connected", "content", "error"]
    assert (told[-1]["code"], told[-1]["retryable"]) == ("answer_rewritten", True)


def test_advice_for_whoever_runs_the_service_is_not_given_to_whoever_asks() -> None:
    advice = "Check that PostgreSQL runs and CITEWELL_DATABASE_URL points at it, then try again."
    failed = RunFailed(code="database_unavailable", message="No.", suggestion=advice, retryable=True)
    said = spoken([STARTED, failed])[-1]
    assert said["retryable"] is True
    assert "PostgreSQL" not in said["suggestion"]
    ours = RunFailed(code="internal", message="No.", suggestion=advice, retryable=False)
    assert "whoever runs" in spoken([STARTED, ours])[-1]["suggestion"]
    theirs = RunFailed(code="budget_exhausted", message="No.", suggestion="Ask a narrower question.", retryable=False)
    assert spoken([STARTED, theirs])[-1]["suggestion"] == "Ask a narrower question."


def test_of_the_frames_of_an_event_the_last_alone_has_an_id() -> None:
    end = answered(SOURCES, section(0, "data: one\n\ntwo", SOURCES[0]))[-1]
    frames = parse_frames(ConversationEncoder().encode(logged([end])[0]).decode())
    assert [frame.get("id") for frame in frames] == [None, None, f"{RUN_ID}:1"]


@given(runs())
def test_what_is_told_at_the_end_is_what_was_shown(log: list[Envelope]) -> None:
    told = heard(log)
    assert [each["type"] for each in told].count("connected") == 1
    if told[-1]["type"] == "done" and not is_revised(log):
        shown = "".join(each["content"] for each in told if each["type"] == "content")
        assert shown == told[-1]["formattedAnswer"]


@given(runs())
def test_a_reader_that_comes_back_anywhere_is_told_the_rest(log: list[Envelope]) -> None:
    whole = ConversationEncoder(progress=True, thinking=True)
    frames = [(envelope.seq, whole.encode(envelope)) for envelope in log]
    for left in (1, len(log) // 2, len(log) - 1):
        again = ConversationEncoder(progress=True, thinking=True)
        rest = [(envelope.seq, again.encode(envelope)) for envelope in log]
        assert [told for seq, told in rest if seq > left] == [told for seq, told in frames if seq > left]


@given(cancelled_runs())
def test_a_run_that_was_stopped_ends_with_an_error_and_nothing_unproven(log: list[Envelope]) -> None:
    told = heard(log)
    assert (told[-1]["type"], told[-1]["code"]) == ("error", "cancel_requested")
    assert not any(each["type"] == "done" for each in told)


def test_nothing_is_told_after_a_failure() -> None:
    dialect = ConversationEncoder()
    assert [each["type"] for each in spoken([STARTED, FAILURE], dialect)] == ["connected", "error"]
    assert dialect.encode(logged([QueryRewritten(query="", reason="", attempt=1)])[0]) == b""
