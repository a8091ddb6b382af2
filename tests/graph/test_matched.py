"""Sections with missing or wrong ids: none is withheld, and what bears them is found by copy or by judge."""

import pytest

from graph.evidence import ExamFigure
from graph.ports import Judge
from tests.fakes import ScriptedFamily, ScriptedJudge, WordJudge, quote
from tests.graph.asking import Asked
from tests.graph.wrong_answers import GOOD, QUESTION


async def test_an_uncited_section_that_a_source_says_word_for_word_is_cited_there() -> None:
    session = Asked(family=ScriptedFamily(drafts=[[*GOOD, *quote("Salaries are paid on the 28th.")]]))
    state = await session.ask(QUESTION)
    assert (state.repairs, state.sections[1]["source_ids"]) == (0, ["handbook:1"])
    assert [row["verdict"] for row in state.claims] == ["supported", "supported"]


async def test_an_answer_without_any_id_is_matched_and_says_so() -> None:
    session = Asked(family=ScriptedFamily(drafts=[quote("Salaries are paid on the 28th.")]))
    state = await session.ask("salaries are paid")
    (claim,) = state.claims
    assert [proof["origin"] for proof in claim["proofs"]] == ["matched"]
    assert state.sections[0]["source_ids"] == ["handbook:1"]


REWORDED = "It is the 28th on which pay arrives."
TITLE = "staff get days of annual leave and salaries are paid and the kitchen closes at nine"


def asked_of(judge: Judge | None, *ids: str, beside: bool = False) -> Asked:
    """Ask for an answer in other words than its source's, with these ids, with a judge."""
    drafts = [*(GOOD if beside else ()), *quote(REWORDED, *ids)]
    return Asked(family=ScriptedFamily(drafts=[drafts]), ports={"judge": judge})


@pytest.mark.parametrize("beside", [False, True])
async def test_without_a_judge_a_section_without_an_id_stands_without_a_mark(beside: bool) -> None:
    session = asked_of(None, beside=beside)
    state = await session.ask(TITLE, min_score=0.0)
    assert (state.outcome, state.repairs, state.sections[-1]) == ("answered", 0, {"text": REWORDED, "source_ids": []})
    claim = (await session.message(state))["claims"][-1]
    assert (claim["verdict"], claim["mark"]) == ("unverified", "withheld")


@pytest.mark.parametrize("exam", [None, {"language": "en", "right": 58, "of": 60}])
async def test_a_judge_finds_what_bears_a_section_without_an_id(exam: ExamFigure | None) -> None:
    judge = ScriptedJudge(exam=exam)
    session = asked_of(judge, beside=True)
    state = await session.ask(TITLE, min_score=0.0)
    claim = (await session.message(state))["claims"][-1]
    assert (claim["verdict"], claim["mark"]) == ("supported" if exam else "unverified", "shown")
    assert [(each["segment_id"], each["origin"]) for each in claim["citations"]] == [("handbook:1", "matched")]
    assert state.sections[-1]["source_ids"] == ["handbook:1"]
    assert [len(each) for each in judge.asked] == [1, 1]


@pytest.mark.parametrize("exam", [None, {"language": "en", "right": 58, "of": 60}])
async def test_an_id_that_a_judge_finds_wrong_is_put_right(exam: ExamFigure | None) -> None:
    judge = WordJudge(exam=exam, also="it is the on which pay arrives", otherwise="unsupported")
    session = asked_of(judge, "kitchen:0")
    state = await session.ask(TITLE, min_score=0.0)
    claim = (await session.message(state))["claims"][-1]
    assert (claim["verdict"], claim["mark"]) == ("supported" if exam else "unverified", "shown")
    assert [(each["segment_id"], each["origin"]) for each in claim["citations"]] == [("handbook:1", "matched")]
    assert (state.sections[-1]["source_ids"], state.repairs) == (["handbook:1"], 0)


async def test_a_section_over_two_sources_keeps_both() -> None:
    text = "Staff have 25 days of annual leave, and at nine the kitchen closes."
    session = Asked(
        family=ScriptedFamily(drafts=[quote(text, "handbook:0", "kitchen:0")]), ports={"judge": ScriptedJudge()}
    )
    state = await session.ask(TITLE, min_score=0.0)
    assert state.sections[0]["source_ids"] == ["handbook:0", "kitchen:0"]
    assert {proof["segment_id"] for row in state.claims for proof in row["proofs"]} == {"handbook:0", "kitchen:0"}


@pytest.mark.parametrize("text", ["The kitchen closes at nine.", "At nine the kitchen closes its doors."])
async def test_of_a_wrong_id_and_a_segment_that_bears_the_claim_the_latter_is_cited(text: str) -> None:
    """By copy, and by a judge that is shown both and approves."""
    family = ScriptedFamily(drafts=[quote(text, "handbook:0")])
    session = Asked(family=family, ports={"judge": ScriptedJudge()})
    state = await session.ask(TITLE, min_score=0.0)
    assert {proof["segment_id"] for row in state.claims for proof in row["proofs"]} == {"kitchen:0"}
    assert state.sections[0]["source_ids"] == ["kitchen:0"]
