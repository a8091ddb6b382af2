"""The fold of a run's events: what holds after any beginning of any run, and at its end."""

from hypothesis import given
from hypothesis import strategies as st

from answers.standing import RunView, SectionView, view_run
from graph.events import (
    AnyEvent,
    Envelope,
    RunFinished,
    RunResumed,
    SectionChecked,
    SectionFinished,
    SectionRevised,
    SectionStarted,
    SourcesDisagree,
    SourcesGraded,
    TextDelta,
)
from graph.evidence import Claim, Disagreement, Section, Verdict
from tests.wire.runs import ASSESSED, FAILURE, broken_runs, cancelled_runs, rewritten_runs, runs
from tests.wire.texts import citation, claim, source


def finished(index: int, text: str, *source_ids: str) -> SectionFinished:
    return SectionFinished(section_index=index, text=text, source_ids=list(source_ids))


def judged(text: str, verdict: Verdict, *sources: int) -> list[Claim]:
    return [claim("", text, verdict, [citation(source(each), verdict, 0) for each in sources])]


def checked(index: int, text: str, verdict: Verdict, *sources: int) -> SectionChecked:
    return SectionChecked(section_index=index, claims=judged(text, verdict, *sources))


def revised(index: int, text: str, *source_ids: str) -> SectionRevised:
    claims = judged(text, "supported", 1) if text else []
    return SectionRevised(section_index=index, text=text, source_ids=list(source_ids), claims=claims)


def resumed(*kept: int) -> RunResumed:
    return RunResumed(attempt=2, sections=list(kept))


def events_of(log: list[Envelope]) -> list[AnyEvent]:
    return [envelope.event for envelope in log]


@given(runs() | rewritten_runs())
def test_before_the_end_the_sections_are_those_of_the_finished_message(log: list[Envelope]) -> None:
    *before, end = events_of(log)
    assert isinstance(end, RunFinished)
    view = view_run(before)
    assert [Section(text=each.text, source_ids=each.cited_ids) for each in view.written] == end.message["sections"]
    verdicts = [(at, one["text"], one["verdict"]) for at, each in enumerate(view.written) for one in each.claims]
    told = [(one["section_index"], one["text"], one["verdict"]) for one in end.message.get("claims", [])]
    assert verdicts == told
    assert view.sources == (end.message["sources"] or end.message.get("nearest", []))


@given(runs() | rewritten_runs() | cancelled_runs() | broken_runs(), st.data())
def test_what_holds_after_any_beginning_of_a_run(log: list[Envelope], data: st.DataObject) -> None:
    events = events_of(log)[: data.draw(st.integers(0, len(log)))]
    view = view_run(events)
    assert (view.end is None) == (len(events) < len(log))
    last_of = {
        event.section_index: event
        for event in events
        if isinstance(event, SectionStarted | TextDelta | SectionFinished | SectionRevised)
    }
    for index, section in view.sections.items():
        last = last_of[index]
        if isinstance(last, SectionFinished | SectionRevised):
            assert (section.text, list(section.source_ids)) == (last.text, last.source_ids)
        else:
            assert (section.stage, section.claims, section.settled) == ("drafted", (), False)
        assert not (section.has_failed and section.settled) or ASSESSED in events
    if any(isinstance(event, RunResumed) for event in events):
        at = max(at for at, event in enumerate(events) if isinstance(event, RunResumed))
        kept = events[at]
        assert isinstance(kept, RunResumed)
        began = {event.section_index for event in events[at:] if isinstance(event, SectionStarted | SectionRevised)}
        assert set(view.sections) <= {*kept.sections, *began}
    assert set(view.first) <= set(view.sections)
    assert all(first.stage in ("finished", "checked") for first in view.first.values())


@given(runs(), st.data())
def test_a_fold_goes_on_from_anywhere(log: list[Envelope], data: st.DataObject) -> None:
    events = events_of(log)
    cut = data.draw(st.integers(0, len(events)))
    view = view_run(events[:cut])
    for event in events[cut:]:
        view.feed(event)
    assert view == view_run(events)


def test_text_grows_until_its_section_is_finished() -> None:
    view = view_run(
        [SectionStarted(section_index=0), *(TextDelta(section_index=0, delta=each) for each in ("On", "e"))]
    )
    assert (view.sections[0].text, view.sections[0].stage, view.written) == ("One", "drafted", [])
    view.feed(finished(0, "One.", "d:1"))
    assert view.sections[0] == SectionView("One.", ["d:1"], (), "finished")


def test_a_section_without_ids_rests_on_what_matching_found() -> None:
    (section,) = view_run([finished(0, "One."), checked(0, "One.", "supported", 2, 1)]).written
    assert section.cited_ids == [source(2)["segment_id"], source(1)["segment_id"]]
    assert section.source_ids == []
    (section,) = view_run([finished(0, "One.", "d:9"), checked(0, "One.", "supported", 1)]).written
    assert section.cited_ids == ["d:9", source(1)["segment_id"]]


def test_a_failed_section_waits_for_its_revision_or_withdrawal() -> None:
    view = view_run([finished(0, "Wrong."), finished(1, "Bad."), checked(0, "Wrong.", "contradicted")])
    view.feed(checked(1, "Bad.", "unsupported"))
    assert [(each.has_failed, each.settled) for each in view.written] == [(True, False), (True, False)]
    view.feed(revised(0, "Right.", "d:1"))
    view.feed(revised(1, ""))
    assert [(each.text, each.has_failed, each.settled) for each in view.written] == [("Right.", False, True)]
    assert not view.sections[1].is_written
    assert [view.first[index].text for index in (0, 1)] == ["Wrong.", "Bad."]
    assert view.first[0].claims == judged("Wrong.", "contradicted")


def test_a_resumption_voids_the_sections_that_it_does_not_keep() -> None:
    before: list[AnyEvent] = [finished(0, "One."), checked(0, "One.", "supported", 1), finished(1, "Lost.")]
    view = view_run([*before, resumed(0)])
    assert [(each.text, each.settled) for each in view.written] == [("One.", False)]
    assert list(view.first) == [0]
    assert view_run([*before, resumed()]).sections == {}


def test_verdicts_on_a_section_that_is_void_are_ignored() -> None:
    assert view_run([finished(0, "One."), resumed(), checked(0, "One.", "supported", 1)]).sections == {}


def test_a_disagreement_that_is_reported_again_after_a_crash_counts_once() -> None:
    event = SourcesDisagree(segment_ids=["d:1", "e:1"], reason="25 and 30")
    disagreement = Disagreement(segment_ids=["d:1", "e:1"], reason="25 and 30")
    assert view_run([event, resumed(), event]).disagreements == [disagreement]


def test_sources_and_their_numbers_are_those_of_the_last_grading() -> None:
    view = view_run([SourcesGraded(sources=[source(1)]), SourcesGraded(sources=[source(1), source(2)])])
    assert view.numbers == {source(1)["segment_id"]: 1, source(2)["segment_id"]: 2}


def test_the_end_is_kept_as_it_was_given() -> None:
    assert RunView().end is None
    assert view_run([FAILURE]).end == FAILURE
