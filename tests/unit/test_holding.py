"""Sections held back until they can't change, and the marks that are written behind their claims."""

import re
from collections.abc import Iterable

import pytest
from hypothesis import given, settings

from api.dialects.citation_marks import JOINER, bracket, footnote, marked_pieces, marked_text, reference, utf16
from api.dialects.section_buffer import FinalSection, Retracted, SectionBuffer, final_sections
from graph.events import (
    AnswerAssessed,
    AnyEvent,
    Envelope,
    RetrievalDecided,
    RunFailed,
    RunFinished,
    RunResumed,
    SectionChecked,
    SectionFinished,
    SectionRevised,
    SectionStarted,
)
from graph.evidence import Claim, Message, Section, Verdict
from tests.wire.runs import ASSESSED, FAILURE, broken_runs, cancelled_runs, runs
from tests.wire.texts import citation, claim, source

FAST = settings(max_examples=40, deadline=None)


def written(index: int, text: str, *source_ids: str) -> list[AnyEvent]:
    return [
        SectionStarted(section_index=index),
        SectionFinished(section_index=index, text=text, source_ids=list(source_ids)),
    ]


def judged(text: str, verdict: Verdict, *sources: int) -> list[Claim]:
    return [claim("", text, verdict, [citation(source(each), verdict, 0) for each in sources])]


def checked(index: int, text: str, verdict: Verdict, *sources: int) -> SectionChecked:
    return SectionChecked(section_index=index, claims=judged(text, verdict, *sources))


def revised(index: int, text: str, verdict: Verdict = "supported") -> SectionRevised:
    claims = judged(text, verdict, 1) if text else []
    return SectionRevised(section_index=index, text=text, source_ids=["d:1"] if text else [], claims=claims)


def finished(*texts: str) -> RunFinished:
    sections = [Section(text=text, source_ids=[]) for text in texts]
    message = Message(answer="\n\n".join(texts), sections=sections, citations=[], sources=[])
    return RunFinished(outcome="answered", stop_reason="answer_complete", message=message, spent={})


def decided(needs_retrieval: bool) -> RetrievalDecided:
    return RetrievalDecided(
        needs_retrieval=needs_retrieval, reason="", standalone_question="Why?", intent="content_query"
    )


def message_of(log: list[Envelope]) -> Message:
    end = log[-1].event
    assert isinstance(end, RunFinished)
    return end.message


def hear(held: SectionBuffer, events: Iterable[AnyEvent]) -> list[str]:
    return [told.text for event in events for told in held.feed(event)]


def test_a_section_waits_for_its_verdicts_and_for_those_before_it() -> None:
    held = SectionBuffer()
    assert hear(held, [decided(True), *written(0, "One."), *written(1, "Two.")]) == []
    assert hear(held, [checked(1, "Two.", "supported", 1)]) == []
    assert hear(held, [checked(0, "One.", "unverified")]) == ["One.", "Two."]
    assert hear(held, [ASSESSED, finished("One.", "Two.")]) == []


def test_without_a_search_a_section_is_told_when_it_is_finished() -> None:
    held = SectionBuffer()
    assert hear(held, [decided(False), *written(0, "Hello.")]) == ["Hello."]
    assert hear(held, [finished("Hello.")]) == []


@pytest.mark.parametrize("verdict", ["contradicted", "unsupported"])
def test_a_failed_section_is_not_told_before_repair_is_over(verdict: Verdict) -> None:
    held = SectionBuffer()
    assert hear(held, [*written(0, "Wrong."), checked(0, "Wrong.", verdict)]) == []
    assert hear(held, [revised(0, "Better.", verdict)]) == []
    assert hear(held, [ASSESSED]) == ["Better."]


def test_a_repaired_section_is_told_with_its_new_verdicts() -> None:
    held = SectionBuffer()
    hear(held, [*written(0, "Wrong."), checked(0, "Wrong.", "contradicted")])
    assert held.feed(revised(0, "Right.")) == [FinalSection(0, "Right.", ["d:1"], judged("Right.", "supported", 1))]


def test_a_withdrawn_section_is_never_told_and_leaves_no_gap() -> None:
    held = SectionBuffer()
    hear(held, [*written(0, "Wrong."), *written(1, "Right."), checked(0, "Wrong.", "unsupported")])
    assert hear(held, [checked(1, "Right.", "supported", 1)]) == []
    [told] = held.feed(revised(0, ""))
    assert (told.position, told.text) == (0, "Right.")


def test_where_all_was_withdrawn_the_refusal_is_told() -> None:
    held = SectionBuffer()
    hear(held, [*written(0, "Wrong."), checked(0, "Wrong.", "unsupported"), revised(0, "")])
    assert hear(held, [*written(1, "There is no answer."), finished("There is no answer.")]) == ["There is no answer."]


def test_a_section_that_cites_nothing_has_the_sources_that_matching_found() -> None:
    held = SectionBuffer()
    hear(held, written(0, "One."))
    [told] = held.feed(checked(0, "One.", "supported", 2, 1))
    assert told.source_ids == [source(2)["segment_id"], source(1)["segment_id"]]


def test_what_a_crash_made_void_is_told_as_it_was_written_again() -> None:
    held = SectionBuffer()
    assert hear(held, [*written(0, "Lost."), *written(1, "Gone."), RunResumed(attempt=2, sections=[])]) == []
    assert hear(held, [*written(0, "Kept."), checked(0, "Kept.", "supported", 1), finished("Kept.")]) == ["Kept."]


def test_what_was_told_before_a_crash_is_not_told_twice() -> None:
    held = SectionBuffer()
    first: list[AnyEvent] = [*written(0, "One."), checked(0, "One.", "supported", 1)]
    assert hear(held, first) == ["One."]
    assert hear(held, [RunResumed(attempt=2, sections=[]), *first, ASSESSED, finished("One.", "Two.")]) == ["Two."]


def test_a_verdict_of_the_step_that_was_interrupted_does_not_count() -> None:
    held = SectionBuffer()
    hear(held, [*written(0, "One."), *written(1, "Two."), checked(1, "Two.", "supported", 1)])
    hear(held, [RunResumed(attempt=2, sections=[0, 1]), checked(1, "Two.", "contradicted", 1)])
    assert hear(held, [checked(0, "One.", "supported", 1)]) == ["One."]
    assert hear(held, [revised(1, "Other."), finished("One.", "Other.")]) == ["Other."]


def test_a_withdrawal_that_is_done_again_after_a_crash_says_nothing() -> None:
    held = SectionBuffer()
    check: list[AnyEvent] = [checked(0, "Wrong.", "contradicted", 1), revised(0, "")]
    hear(held, [*written(0, "Wrong."), *check, RunResumed(attempt=2, sections=[0]), *check])
    assert hear(held, [*written(1, "No."), finished("No.")]) == ["No."]


@pytest.mark.parametrize(
    "again",
    [
        [RunResumed(attempt=2, sections=[]), *written(0, "Other.")],
        [RunResumed(attempt=2, sections=[0]), revised(0, "Other.")],
        [RunResumed(attempt=2, sections=[0]), checked(0, "One.", "supported", 2)],
        [revised(0, "")],
        [finished("Other.")],
        [finished("Other.", "One.")],
    ],
    ids=["rewritten", "revised", "proven otherwise", "withdrawn", "left out", "moved"],
)
def test_what_was_told_can_not_be_taken_back(again: list[AnyEvent]) -> None:
    held = SectionBuffer()
    assert hear(held, [*written(0, "One."), checked(0, "One.", "supported", 1)]) == ["One."]
    with pytest.raises(Retracted):
        hear(held, again)


@FAST
@given(runs())
def test_every_section_of_every_run_is_told_once_and_in_order(log: list[Envelope]) -> None:
    held = SectionBuffer()
    given_out = [section for envelope in log for section in held.feed(envelope.event)]
    message = message_of(log)
    assert [section.text for section in given_out] == [each["text"] for each in message["sections"]]
    assert [section.position for section in given_out] == list(range(len(given_out)))
    assert [section.source_ids for section in given_out] == [each["source_ids"] for each in message["sections"]]
    assert "".join(piece for section in given_out for piece in marked_pieces(section, footnote)) == marked_text(
        message, footnote
    )


@FAST
@given(runs())
def test_no_section_is_told_before_its_verdict(log: list[Envelope]) -> None:
    held = SectionBuffer()
    searched, over = True, False
    texts, passed = dict[int, str](), set[int]()
    for envelope in log:
        match envelope.event:
            case RetrievalDecided() as event:
                searched = event.needs_retrieval
            case SectionFinished() as event:
                texts[event.section_index] = event.text
                passed.discard(event.section_index)
            case SectionChecked() as event:
                (passed.discard if any(map(_failed, event.claims)) else passed.add)(event.section_index)
            case SectionRevised() as event:
                texts[event.section_index] = event.text
                (passed.discard if any(map(_failed, event.claims)) else passed.add)(event.section_index)
            case AnswerAssessed() | RunFinished():
                over = True
        for section in held.feed(envelope.event):
            assert over or not searched or any(texts[index] == section.text for index in passed)


@FAST
@given(broken_runs())
def test_a_run_that_fails_tells_nothing_more(log: list[Envelope]) -> None:
    held = SectionBuffer()
    for envelope in log[:-1]:
        held.feed(envelope.event)
    assert isinstance(log[-1].event, RunFailed)
    assert held.feed(FAILURE) == []


@FAST
@given(cancelled_runs())
def test_a_cancelled_run_tells_what_was_finished(log: list[Envelope]) -> None:
    held = SectionBuffer()
    texts = [section.text for envelope in log for section in held.feed(envelope.event)]
    assert texts == [each["text"] for each in message_of(log)["sections"]]


def _failed(one: Claim) -> bool:
    return one["verdict"] in ("contradicted", "unsupported")


def told(text: str, *claims: Claim, place: int = 0) -> FinalSection:
    return FinalSection(place, text, [], list(claims))


def test_marks_stand_behind_their_claims_in_the_order_of_sources() -> None:
    one = claim("", "One.", "supported", [citation(source(each), "supported", 0) for each in (3, 1, 3)])
    two = claim("One. ", "Two.", "unsupported", [])
    section = told("One. Two. (aside)", two, one)
    assert marked_pieces(section, bracket) == ["One.[1][3]", " Two.", " (aside)"]
    assert "".join(marked_pieces(section, reference)) == "One.[ref:1][ref:3] Two. (aside)"
    assert marked_pieces(told("More.", place=1), bracket) == ["\n\nMore."]


@pytest.mark.parametrize("mark", ["[1]", "[^12]", "[ref:3]", "[REF:3]"])
def test_what_only_looks_like_a_mark_is_told_apart(mark: str) -> None:
    text = f"As {mark} says."
    [piece] = marked_pieces(told(text, claim("", text, "supported", [])), bracket)
    assert piece == f"As [{JOINER}{mark[1:]} says."
    assert marked_pieces(told("See [a], [1, 2] and [x^2]."), bracket) == ["See [a], [1, 2] and [x^2]."]


def test_a_mark_that_a_claim_ends_in_the_middle_of_is_told_apart() -> None:
    text = "One [1] two."
    parted = told(text, claim("", "One [", "supported", [citation(source(1), "supported", 0)]))
    assert "".join(marked_pieces(parted, bracket)) == f"One [{JOINER}[1]1] two."


def test_a_parenthesis_behind_a_mark_makes_no_link_of_it() -> None:
    one = claim("", "One.", "supported", [citation(source(1), "supported", 0)])
    assert (
        "".join(marked_pieces(told("One.(https://evil.example)", one), bracket))
        == f"One.[1]{JOINER}(https://evil.example)"
    )


@FAST
@given(runs())
def test_the_answer_without_marks_is_the_answer(log: list[Envelope]) -> None:
    message = message_of(log)
    for mark, pattern in ((footnote, r"\[\^\d+\]"), (reference, r"\[ref:\d+\]"), (bracket, r"\[\d+\]")):
        assert re.sub(pattern, "", marked_text(message, mark)).replace(JOINER, "") == message["answer"]
        for section in final_sections(message):
            for piece in marked_pieces(section, mark):
                assert piece.strip()
                assert len(re.findall(pattern, piece)) <= 3


def test_offsets_in_utf16_count_as_javascript_does() -> None:
    assert [utf16("a🏖中é", offset) for offset in range(5)] == [0, 1, 3, 4, 5]
