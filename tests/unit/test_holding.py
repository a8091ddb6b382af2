"""Sections held back until they can't change, and the marks that are written behind their claims."""

import re
from collections.abc import Callable, Iterable
from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import assume, given

from answers.links import without_marks
from answers.marks import mark_of
from api.dialects.citation_marks import JOINER, bracket, footnote, marked_pieces, marked_text, reference, utf16
from api.dialects.section_buffer import FinalSection, Retracted, SectionBuffer, final_sections
from graph.events import (
    AnyEvent,
    BudgetCaps,
    ClaimChecked,
    Correction,
    Envelope,
    RetrievalDecided,
    RunFailed,
    RunFinished,
    RunResumed,
    RunStarted,
    SectionChecked,
    SectionFinished,
    SectionRevised,
    SectionStarted,
    TextDelta,
)
from graph.evidence import Claim, Mark, Message, Release, Section, Verdict
from tests.wire.runs import ASSESSED, FAILURE, broken_runs, cancelled_runs, is_revised, runs
from tests.wire.texts import citation, claim, source
from text.mark_places import settled_end


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


def started(release: Release) -> RunStarted:
    caps = BudgetCaps(model_calls=8, tokens=None)
    return RunStarted(question="Why?", message_id="m", family="llm", model="any", budget=caps, release=release)


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
    assert held.feed(revised(0, "Right.")) == [
        FinalSection(0, "Right.", ["d:1", source(1)["segment_id"]], judged("Right.", "supported", 1))
    ]


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
        [revised(0, "Other."), finished("Other.")],
        [revised(0, ""), finished("Two.")],
        [finished("Other.")],
        [finished("Other.", "One.")],
    ],
    ids=["rewritten", "revised", "withdrawn", "left out", "moved"],
)
def test_what_was_told_can_not_be_taken_back(again: list[AnyEvent]) -> None:
    held = SectionBuffer()
    assert hear(held, [*written(0, "One."), checked(0, "One.", "supported", 1)]) == ["One."]
    with pytest.raises(Retracted):
        hear(held, again)


def test_a_claim_leaves_while_its_section_is_being_written() -> None:
    held, text = SectionBuffer(), "One. Two. Three."
    first, second = claim("", "One.", "supported", []), claim("One. ", "Two.", "unverified", [])
    assert hear(held, [SectionStarted(section_index=0), TextDelta(section_index=0, delta="One. Tw")]) == []
    assert hear(held, [ClaimChecked(section_index=0, claim=first)]) == ["One."]
    assert hear(held, [TextDelta(section_index=0, delta="o. Three.")]) == []
    [part] = held.feed(ClaimChecked(section_index=0, claim=second))
    assert (part.start, part.text, part.new_claims) == (4, "One. Two.", [second])
    assert hear(held, [SectionFinished(section_index=0, text=text, source_ids=[])]) == []
    third = claim("One. Two. ", "Three.", "supported", [])
    [rest] = held.feed(SectionChecked(section_index=0, claims=[first, second, third], judging=True))
    assert (rest.start, rest.text, rest.position) == (9, text, 0)


def test_nothing_follows_a_claim_before_the_judge_has_spoken_of_it() -> None:
    held, text = SectionBuffer(), "One. Two. Three."
    cited = [citation(source(1), "unverified", 0)]
    open_claims = [claim(text[: text.index(each)], each, "unverified", cited, mark="pending") for each in text.split()]
    hear(held, [SectionStarted(section_index=0), TextDelta(section_index=0, delta=text)])
    [first] = held.feed(ClaimChecked(section_index=0, claim=open_claims[0]))
    assert marked_pieces(first, bracket) == ["One."]
    finished_section = SectionFinished(section_index=0, text=text, source_ids=[])
    assert hear(held, [ClaimChecked(section_index=0, claim=open_claims[1]), finished_section]) == []
    assert hear(held, [SectionChecked(section_index=0, claims=open_claims, judging=True)]) == []
    assert hear(held, [*written(1, "Four."), checked(1, "Four.", "supported", 1)]) == []
    marks: list[Mark] = ["shown", "withheld", "shown"]
    spoken = [Claim(**{**each, "mark": mark}) for each, mark in zip(open_claims, marks, strict=True)]
    rest, following = held.feed(SectionChecked(section_index=0, claims=spoken))
    assert "".join(marked_pieces(rest, bracket)) == "[1] Two. Three.[1]"
    assert following.text == "Four."


def test_a_mark_that_alone_is_left_of_a_section_leaves_when_it_is_decided() -> None:
    held = SectionBuffer()
    [open_claim] = judged("One.", "unverified", 1)
    pending = SectionChecked(section_index=0, claims=[Claim(**open_claim, mark="pending")], judging=True)
    assert hear(held, [*written(0, "One."), pending]) == ["One."]
    [part] = held.feed(SectionChecked(section_index=0, claims=[open_claim]))
    assert marked_pieces(part, bracket) == ["[1]"]


def test_where_the_judge_is_waited_for_nothing_leaves_before_its_word() -> None:
    held = SectionBuffer()
    claims = judged("One.", "unverified")
    hear(held, [started("judged"), *written(0, "One.")])
    assert hear(held, [ClaimChecked(section_index=0, claim=claims[0])]) == []
    assert hear(held, [SectionChecked(section_index=0, claims=claims, judging=True)]) == []
    assert hear(held, [SectionChecked(section_index=0, claims=claims)]) == ["One."]


def test_from_a_failed_claim_on_a_section_waits() -> None:
    held, text = SectionBuffer(), "Right. Wrong. Right again."
    claims = [
        claim("", "Right.", "supported", []),
        claim("Right. ", "Wrong.", "contradicted", []),
        claim("Right. Wrong. ", "Right again.", "supported", []),
    ]
    assert hear(held, [*written(0, text), SectionChecked(section_index=0, claims=claims)]) == ["Right."]
    kept = [claims[0], claim("Right. ", "Right again.", "supported", [])]
    cut = SectionRevised(section_index=0, text="Right. Right again.", source_ids=[], claims=kept)
    assert hear(held, [cut]) == ["Right. Right again."]
    untold = Correction(section_index=0, claims=[claims[1]], text="“Wrong.” does not hold.")
    assert hear(held, [untold, finished("Right. Right again.")]) == []  # nobody has read it


def test_a_run_that_is_stopped_corrects_what_has_failed_since_it_left() -> None:
    held = SectionBuffer()
    open_claims, failed = judged("Wrong.", "unverified"), judged("Wrong.", "unsupported")
    hear(held, [*written(0, "Wrong."), SectionChecked(section_index=0, claims=open_claims, judging=True)])
    hear(held, [SectionChecked(section_index=0, claims=failed)])
    [told] = held.feed(replace(finished(), outcome="cancelled", stop_reason="cancel_requested"))
    assert (told.position, "Wrong." in told.text, told.text != "Wrong.") == (1, True, True)


def test_the_same_words_of_two_sections_have_the_worse_verdict() -> None:
    held = SectionBuffer()
    open_claims = judged("It lasts 10 years.", "unverified")
    hear(held, [*written(0, "It lasts 10 years."), SectionChecked(section_index=0, claims=open_claims)])
    hear(held, [*written(1, "It lasts 10 years."), checked(1, "It lasts 10 years.", "supported", 1)])
    assert held.latest(open_claims[0])["verdict"] == "unverified"


def test_what_has_left_and_fails_is_followed_by_a_correction() -> None:
    held = SectionBuffer()
    open_claims, failed = judged("Wrong.", "unverified"), judged("Wrong.", "unsupported")
    assert hear(held, [*written(0, "Wrong."), SectionChecked(section_index=0, claims=open_claims, judging=True)]) == [
        "Wrong."
    ]
    assert hear(held, [SectionChecked(section_index=0, claims=failed), revised(0, "")]) == []
    [told] = held.feed(Correction(section_index=0, claims=failed, text="Correction: that does not hold."))
    assert (told.position, told.text) == (1, "Correction: that does not hold.")
    assert [each.position for each in held.feed(finished("Two."))] == [2]


@given(runs())
def test_every_section_of_every_run_is_told_once_and_in_order(log: list[Envelope]) -> None:
    held = SectionBuffer()
    parts = [part for envelope in log for part in held.feed(envelope.event)]
    message = message_of(log)
    assume(not is_revised(log))
    whole = {part.position: part for part in parts}
    assert [part.text for part in whole.values()] == [each["text"] for each in message["sections"]]
    assert [part.position for part in parts] == sorted(part.position for part in parts)
    for one, next_one in pairwise(parts):
        assert next_one.start == (len(one.text) if next_one.position == one.position else 0)
    end = log[-1].event
    # What the catalogue answers leaves before the ids of its section are known.
    if not isinstance(end, RunFinished) or end.stop_reason != "answered_from_catalogue":
        assert [part.source_ids for part in whole.values()] == [each["source_ids"] for each in message["sections"]]
    assert "".join(piece for part in parts for piece in marked_pieces(part, footnote)) == marked_text(message, footnote)


@given(runs())
def test_no_claim_leaves_before_code_has_passed_it(log: list[Envelope]) -> None:
    held, checked_sections, over = SectionBuffer(), set[int](), False
    searched, texts = True, dict[int, str]()
    for envelope in log:
        match envelope.event:
            case RetrievalDecided() as event:
                searched = event.needs_retrieval
            case SectionFinished() as event:
                texts[event.section_index] = event.text
                checked_sections.discard(event.section_index)
            case SectionChecked() as event:
                checked_sections.add(event.section_index)
            case SectionRevised() as event:
                texts[event.section_index] = event.text
            case RunFinished():
                over = True
        for part in held.feed(envelope.event):
            assert not any(map(_failed, part.new_claims))
            assert all(mark_of(each) != "pending" or each["end"] == len(part.text) for each in part.claims)
            told = over or not searched or isinstance(envelope.event, Correction)
            assert told or any(texts[index].startswith(part.text) for index in checked_sections)


@given(broken_runs())
def test_a_run_that_fails_tells_nothing_more(log: list[Envelope]) -> None:
    held = SectionBuffer()
    for envelope in log[:-1]:
        held.feed(envelope.event)
    assert isinstance(log[-1].event, RunFailed)
    assert held.feed(FAILURE) == []


@given(cancelled_runs())
def test_a_cancelled_run_tells_what_was_finished(log: list[Envelope]) -> None:
    assume(not is_revised(log) and not fails_late(log))
    held = SectionBuffer()
    texts = {part.position: part.text for envelope in log for part in held.feed(envelope.event)}
    assert list(texts.values()) == [each["text"] for each in message_of(log)["sections"]]


def fails_late(log: list[Envelope]) -> bool:
    """Whether a claim that may have left fails afterwards, of which a correction tells."""
    checks = [envelope.event for envelope in log if isinstance(envelope.event, SectionChecked)]
    passed = {(each.section_index, one["text"]) for each in checks for one in each.claims if not _failed(one)}
    return any(_failed(one) and (each.section_index, one["text"]) in passed for each in checks for one in each.claims)


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
    assert marked_pieces(told("See [a], [b, 2] and [x^2]."), bracket) == ["See [a], [b, 2] and [x^2]."]


DISGUISES = [
    *(
        "[ 1 ]",
        "[１]",
        "［1］",
        "【1】",
        "〔1〕",
        "⟦1⟧",
        "[¹]",
        "[1\u200b]",
        "[\u200b1]",
        "[\u20601]",
        "\\[1\\]",
        "[\\^1]",
    ),
    *(
        "&#91;1&#93;",
        "&#x5b;1&#x5D;",
        "&lbrack;1&rbrack;",
        "&lsqb;1&rsqb;",
        "[&#49;]",
        "[&#8203;1]",
        "[^ 1]",
        "[ref：1]",
    ),
    *("[1,2]", "[1, 2]", "[1; 2]", "[^1,^2]", "[1–3]", "【1、2】", "{1}", "{ 1, 2 }", "⁽¹⁾", "⁽¹², ³⁾"),
    *("<sup>1</sup>", "<sup>[1]</sup>", '<sup class="cite">1, 2</sup>', "<cite>1</cite>", "<SUP> 1 </SUP>"),
]
NO_MARKS = [
    *("10<sup>3</sup>", "5 m<sup>2</sup>", "9 cm<sup>3</sup>", "x<sup>2</sup>", "5 m² and 10³", "E=mc²"),
    *("$\\frac{1}{2}$", "x_{1}", "a^{2}", "${1}", "{1}{2}".replace("{1}", "f{1}"), "{a}", "<sup>th</sup>", "[a, 1]"),
]


@pytest.mark.parametrize("mark", DISGUISES)
@pytest.mark.parametrize("written", [bracket, footnote, reference])
def test_a_mark_in_disguise_is_told_apart(mark: str, written: Callable[[int], str]) -> None:
    """Six of 23 forms could not be told from a mark in any dialect of text."""
    text = f"As {mark} says."
    pieces = marked_pieces(told(text, claim("", text, "supported", [citation(source(7), "supported", 0)])), written)
    assert "".join(pieces).endswith(f"says.{written(7)}")
    opening = re.match(r"\\?[\[［【〔⟦{⁽<]|&#?\w+;", mark)
    assert opening is not None
    assert "".join(pieces).startswith(f"As {opening[0]}{JOINER}{mark[opening.end() :]} says.")
    assert settled_end(f"As {mark[:-1]}") <= len("As ")


@pytest.mark.parametrize("text", NO_MARKS)
def test_an_exponent_a_formula_and_a_list_of_other_things_are_no_marks(text: str) -> None:
    assert without_marks(f"As {text} says.") == f"As {text} says."


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
