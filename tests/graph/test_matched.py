"""Sections without a usable id: matched where no section has one, repaired beside those that have."""

from tests.fakes import ScriptedFamily, quote
from tests.graph.asking import Asked
from tests.graph.wrong_answers import GOOD, QUESTION, RIGHT


async def test_an_uncited_section_that_a_source_says_word_for_word_is_cited_there() -> None:
    session = Asked(family=ScriptedFamily(drafts=[[*GOOD, *quote("Salaries are paid on the 28th.")]]))
    state = await session.ask(QUESTION)
    assert (state.repairs, state.sections[1]["source_ids"]) == (0, ["handbook:1"])
    assert [row["verdict"] for row in state.claims] == ["supported", "supported"]


async def test_an_uncited_section_next_to_cited_ones_is_not_matched_but_repaired() -> None:
    family = ScriptedFamily(drafts=[[*GOOD, *quote("The 28th is the day for salaries.")]], revisions=[[RIGHT]])
    session = Asked(family=family)
    state = await session.ask(QUESTION)
    assert session.told("section_checked")[1].claims[0]["verdict"] == "unsupported"
    assert state.sections[1]["source_ids"] == ["handbook:1"]


async def test_an_answer_without_any_id_is_matched_and_says_so() -> None:
    session = Asked(family=ScriptedFamily(drafts=[quote("Salaries are paid on the 28th.")]))
    state = await session.ask("salaries are paid")
    (claim,) = state.claims
    assert [proof["origin"] for proof in claim["proofs"]] == ["matched"]
    assert state.sections[0]["source_ids"] == ["handbook:1"]


async def test_an_answer_without_any_id_that_matches_nothing_is_cited_nowhere() -> None:
    session = Asked(family=ScriptedFamily(drafts=[quote("Press [Windows] then [Section] to open the penguin panel.")]))
    state = await session.ask("salaries are paid")
    assert state.outcome == "abstained"
    assert all(not claim["citations"] for event in session.told("section_checked") for claim in event.claims)
