"""The Self-RAG chat's dialect over runs made by hand: when sources are told, and what their marks count."""

import json
import re
from collections.abc import Sequence
from typing import Any

from hypothesis import given

from api.dialects.self_rag.encoder import SelfRagEncoder
from graph.events import (
    AnyEvent,
    ClaimChecked,
    Envelope,
    RetrievalDecided,
    RunResumed,
    SectionChecked,
    SectionFinished,
    SectionRevised,
    SectionStarted,
    SourcesGraded,
    StepStarted,
    TextDelta,
)
from graph.evidence import Claim, Source, Verdict
from tests.api.reading import parse_frames
from tests.wire.runs import ASSESSED, abstained, answered, cancelled_runs, direct, logged, runs
from tests.wire.texts import citation, claim, source

ORDER = re.compile(r"decision(( retrieval)?( content| retrieval)*( assessment)?( done| error))?")
DECIDED = RetrievalDecided(needs_retrieval=True, reason="", standalone_question="Why?", intent="content_query")
WRITING = StepStarted(step="generate_answer")

Told = list[tuple[str, dict[str, Any]]]


def heard(log: Sequence[Envelope]) -> Told:
    dialect = SelfRagEncoder()
    frames = parse_frames(b"".join(map(dialect.encode, log)).decode())
    return [(frame["event"], json.loads(frame["data"])) for frame in frames]


def spoken(events: Sequence[AnyEvent]) -> Told:
    return heard(logged(events))


def claims(text: str, of: Source, verdict: Verdict = "supported") -> list[Claim]:
    return [claim("", text, verdict, [citation(of, verdict, 0)])]


def written(index: int, text: str, of: Source, verdict: Verdict = "supported") -> list[AnyEvent]:
    return [
        SectionStarted(section_index=index),
        SectionFinished(section_index=index, text=text, source_ids=[of["segment_id"]]),
        SectionChecked(section_index=index, claims=claims(text, of, verdict)),
    ]


def totals(told: Told) -> list[int]:
    return [data["total"] for event, data in told if event == "retrieval"]


def test_what_several_rounds_kept_is_told_once_when_writing_begins() -> None:
    one, two = source(1), source(2)
    told = spoken([DECIDED, SourcesGraded(sources=[one]), SourcesGraded(sources=[one, two])])
    assert totals(told) == []
    told = spoken([DECIDED, SourcesGraded(sources=[one]), SourcesGraded(sources=[one, two]), WRITING, WRITING])
    assert totals(told) == [2]


def test_what_a_repair_found_is_told_where_it_is_cited() -> None:
    one, two = source(1), source(2)
    begun = [DECIDED, SourcesGraded(sources=[one]), WRITING, *written(0, "Wrong.", one, "contradicted")]
    repair = [*begun, SourcesGraded(sources=[one, two]), WRITING]
    mended = SectionRevised(section_index=0, text="Right.", source_ids=[], claims=claims("Right.", two))
    told = spoken([*repair, mended])
    assert [event for event, _ in told] == ["decision", "retrieval", "retrieval", "content"]
    assert totals(told) == [1, 2]
    assert told[-1][1] == {"delta": "Right.[ref:2]"}
    assert totals(spoken([*repair, ASSESSED])) == [1]


def test_each_statement_has_a_mark_also_where_several_repeat_one_passage() -> None:
    one = source(1)
    cited = [citation(one, "supported", 0)]
    text = "Staff get 25 days. Unused leave lapses."
    passage = [
        claim(before, said, "supported", cited, repeated=True)
        for before, said in (("", text[:18]), (text[:19], text[19:]))
    ]
    writing: list[AnyEvent] = [SectionStarted(section_index=0), TextDelta(section_index=0, delta=text)]
    checked = [ClaimChecked(section_index=0, claim=each) for each in passage]
    closed = SectionChecked(section_index=0, claims=passage)
    told = spoken([DECIDED, SourcesGraded(sources=[one]), WRITING, *writing, *checked, closed])
    deltas = [data["delta"] for event, data in told if event == "content"]
    assert deltas == ["Staff get 25 days.[ref:1]", " Unused leave lapses.[ref:1]"]


def test_marks_count_the_list_also_where_a_source_has_gone_from_the_library() -> None:
    one, three = source(1), source(3)
    told = spoken([DECIDED, SourcesGraded(sources=[one, three]), WRITING, *written(0, "Third.", three)])
    assert [each["index"] for each in told[1][1]["sources"]] == [1, 2]
    assert told[-1][1] == {"delta": "Third.[ref:2]"}


def test_what_only_looks_like_a_reference_is_none_to_the_clients_parser() -> None:
    one = source(1)
    told = spoken([DECIDED, SourcesGraded(sources=[one]), WRITING, *written(0, "See [ref:1] there.", one)])
    shown = "".join(data["delta"] for event, data in told if event == "content")
    assert re.findall(r"\[ref:\d+\]", shown) == ["[ref:1]"]
    assert shown.endswith(" there.[ref:1]")


def test_a_decision_is_told_once_though_a_crash_has_it_made_again() -> None:
    assert len(spoken([DECIDED, RunResumed(attempt=2, sections=[]), DECIDED])) == 1


def test_an_answer_that_is_written_again_in_other_words_ends_with_an_error() -> None:
    one = source(1)
    first = [DECIDED, SourcesGraded(sources=[one]), WRITING, *written(0, "One.", one)]
    told = spoken([*first, RunResumed(attempt=2, sections=[]), WRITING, *written(0, "Other.", one), ASSESSED])
    assert [event for event, _ in told] == ["decision", "retrieval", "content", "error"]
    assert set(told[-1][1]) == {"message"}


@given(runs())
def test_every_run_is_told_in_order_and_every_mark_is_in_the_list_before_it(log: list[Envelope]) -> None:
    told = heard(log)
    assert ORDER.fullmatch(" ".join(event for event, _ in told))
    listed = 0
    for event, data in told:
        if event == "retrieval":
            assert [each["index"] for each in data["sources"]] == list(range(1, data["total"] + 1))
            listed = data["total"]
        if event == "content":
            assert all(1 <= int(number) <= listed for number in re.findall(r"\[ref:(\d+)\]", data["delta"]))
            assert not re.search(r"\[ref:?\d*$", data["delta"])


@given(runs(abstained, direct))
def test_nothing_is_assessed_where_nothing_was_claimed(log: list[Envelope]) -> None:
    assert "assessment" not in [event for event, _ in heard(log)]


@given(runs(answered))
def test_a_retrieval_comes_before_the_text_that_rests_on_it(log: list[Envelope]) -> None:
    events = [event for event, _ in heard(log)]
    assert events[1] == "retrieval"


@given(cancelled_runs())
def test_a_run_that_was_stopped_is_not_called_completed(log: list[Envelope]) -> None:
    assert heard(log)[-1][0] == "error"
