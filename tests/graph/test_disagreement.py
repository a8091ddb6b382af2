"""Sources that contradict each other on what an answer says: noticed, quoted both, and told in order."""

from graph.ports import Revision
from tests.fakes import MemoryLibrary, ScriptedFamily, quote, segment
from tests.graph.asking import FOOD, LEAVE, Asked
from tests.graph.wrong_answers import GOOD

MEMO = segment("memo", 0, "Staff get 30 days of annual leave.", title="Memo")
KITCHEN = quote("The kitchen closes at nine.", "kitchen:0")
OPEN = "All staff get the 25 days of annual leave."
QUESTION = "staff get days of annual leave"


async def test_an_answer_that_another_source_contradicts_says_so_and_quotes_both() -> None:
    session = Asked(MemoryLibrary([LEAVE, MEMO, FOOD]), ScriptedFamily(drafts=[GOOD]))
    state = await session.ask(QUESTION, min_score=0.5)
    (told,) = session.told("sources_disagree")
    assert told.segment_ids == ["handbook:0", "memo:0"]
    assert "25" in told.reason
    assert "30" in told.reason
    message = await session.message(state)
    assert message["disagreements"] == [{"segment_ids": told.segment_ids, "reason": told.reason}]
    first, last = message["sections"]
    assert first["text"] == "Staff get 25 days of annual leave."
    assert "“Staff get 25 days of annual leave.”" in last["text"]
    assert "“Staff get 30 days of annual leave.” (Memo)" in last["text"]
    quotes = [citation["quote"] for citation in message["citations"] if citation["section_index"] == 1]
    assert quotes == ["Staff get 25 days of annual leave.", "Staff get 30 days of annual leave."]


async def test_saying_so_proves_nothing_of_the_answer() -> None:
    session = Asked(MemoryLibrary([LEAVE, MEMO, FOOD]), ScriptedFamily(drafts=[quote(OPEN, "handbook:0")]))
    state = await session.ask(QUESTION, min_score=0.5)
    assert len(state.disagreements) == 1
    assert [row["verdict"] for row in state.claims] == ["unverified", "supported"]
    (assessed,) = session.told("answer_assessed")
    assert (assessed.supported, assessed.claims["supported"], assessed.claims["unverified"]) == (False, 0, 1)
    assert assessed.utility <= 0.5


async def test_it_is_told_after_the_answer_was_checked_and_as_a_section_of_its_own() -> None:
    session = Asked(MemoryLibrary([LEAVE, MEMO, FOOD]), ScriptedFamily(drafts=[GOOD]))
    await session.ask(QUESTION, min_score=0.5)
    within = session.steps.index("check_claims")
    kinds = [event.type for event in session.events]
    begun = [at for at, event in enumerate(session.events) if event.type == "step_started"][within]
    assert kinds[begun : kinds.index("answer_assessed") - 1] == [
        "step_started",
        "sources_disagree",
        "section_started",
        "text_delta",
        "section_finished",
        "section_checked",
        "step_finished",
    ]


async def test_what_a_withdrawn_section_cited_is_in_no_disagreement() -> None:
    family = ScriptedFamily(drafts=[[*quote("Staff get 20 days of annual leave.", "handbook:0"), *KITCHEN]])
    session = Asked(MemoryLibrary([LEAVE, MEMO, FOOD]), family)
    state = await session.ask(f"{QUESTION} kitchen closes", min_score=0.1)
    assert state.sections[0]["text"] == ""
    assert session.told("sources_disagree") == []
    assert (state.disputes, state.disagreements) == ([], [])


async def test_a_disagreement_waits_for_the_repair() -> None:
    family = ScriptedFamily(
        drafts=[quote("Staff get 20 days of annual leave.", "handbook:0")],
        revisions=[[Revision(0, "Staff get 25 days of annual leave.", ("handbook:0",))]],
    )
    session = Asked(MemoryLibrary([LEAVE, MEMO, FOOD]), family)
    state = await session.ask(QUESTION, min_score=0.5)
    told = [event.type for event in session.events if event.type in ("section_revised", "sources_disagree")]
    assert told == ["section_revised", "sources_disagree"]
    assert len(state.disagreements) == 1


async def test_a_title_that_is_a_link_goes_out_of_the_section_and_is_reported() -> None:
    linked = segment("memo", 0, MEMO.text, title="![x](https://evil.example/?q=1)")
    session = Asked(MemoryLibrary([LEAVE, linked, FOOD]), ScriptedFamily(drafts=[GOOD]))
    state = await session.ask(QUESTION, min_score=0.5)
    assert "evil.example" not in state.sections[1]["text"]
    (removed,) = session.told("content_removed")
    assert (removed.section_index, removed.kind) == (1, "image")
