"""What a run does without a part that failed or that its budget did not allow, and where it says so."""

from graph.errors import DatabaseUnavailable, ModelUnavailable
from graph.ports import SearchQuery, SearchResult
from tests.fakes import MemoryLibrary, ScriptedJudge, WordJudge, quote
from tests.graph.asking import LEAVE, PAY, Asked
from tests.graph.wrong_answers import GOOD, IN_PART, QUESTION, RIGHT, WRONG, Unreachable, writer


async def test_a_failing_model_leaves_the_answer_and_says_what_was_left_out() -> None:
    session = Asked(family=Unreachable(drafts=[[*GOOD, *quote(IN_PART, "handbook:1")]]), ports={"judge": WordJudge()})
    state = await session.ask(QUESTION)
    assert state.sections[1]["text"] == "Salaries are paid on the 28th."
    assert (state.outcome, state.stop_reason) == ("answered", "repairs_used_up")
    (assessed,) = session.told("answer_assessed")
    assert assessed.fallback["code"] == "model_unavailable"
    assert "left as they were" in assessed.fallback["message"]


async def test_a_refusal_after_a_failing_model_says_what_was_left_out() -> None:
    session = Asked(family=Unreachable(drafts=[WRONG]), ports={"judge": WordJudge()})
    state = await session.ask("salaries are paid")
    assert (state.outcome, state.stop_reason) == ("abstained", "claims_not_supported")
    assert [event.fallback and event.fallback["code"] for event in session.told("section_started")] == [
        None,
        "model_unavailable",
    ]


async def test_a_judge_that_could_not_be_asked_leaves_the_claims_and_says_so() -> None:
    judge = ScriptedJudge(failures=[ModelUnavailable("no reply")])
    session = Asked(family=writer([RIGHT]), ports={"judge": judge})
    state = await session.ask(QUESTION)
    assert [row["verdict"] for row in state.claims] == ["supported", "unverified"]
    assert session.told("answer_assessed")[0].fallback["code"] == "model_unavailable"


async def test_a_repair_whose_search_fails_works_with_the_sources_there_are() -> None:
    class Failing(MemoryLibrary):
        async def search(self, query: SearchQuery) -> SearchResult:
            self.failure = DatabaseUnavailable("gone") if self.queries else None
            return await super().search(query)

    session = Asked(Failing([LEAVE, PAY]), writer([RIGHT]), ports={"judge": WordJudge()})
    state = await session.ask(QUESTION)
    assert session.told("search_failed")[0].code == "database_unavailable"
    assert (state.outcome, state.sections[1]["text"]) == ("answered", RIGHT.text)


async def test_a_repair_that_the_budget_does_not_allow_is_not_begun() -> None:
    session = Asked(family=writer([RIGHT], wrong=IN_PART), ports={"judge": WordJudge()})
    state = await session.ask(QUESTION, max_model_calls=3)
    assert state.spent["generate_answer"]["calls"] == 1
    assert (state.outcome, state.stop_reason) == ("answered", "budget_model_calls")
    assert session.steps[-2:] == ["check_claims", "assess_quality"]
    assert "not written again" in session.told("answer_assessed")[0].fallback["message"]
