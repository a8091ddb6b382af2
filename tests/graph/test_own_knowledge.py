"""Answers from the model's own knowledge: when the graph asks for them, and that they are told apart."""

import pytest

import prompts
from graph.errors import WebUnavailable
from graph.ports import Resources
from graph.state import State
from tests.fakes import MemoryLibrary, MemoryWeb, ScriptedFamily, ScriptedRewriter, WordJudge, quote
from tests.graph.asking import FOOD, LEAVE, PAY, Asked
from tests.graph.modelled import session
from tests.scripted_openai import ScriptedOpenAI, say, scripted_openai
from tools.claims.code_checker import CodeChecker
from tools.extractive.extractive_family import extractive_family

__all__ = ["scripted_openai"]

UNKNOWN = "Who won in 1972?"
KNOWN = "As everybody knows."
SAID = prompts.lines("en")


def texts(state: State) -> list[str]:
    return [section["text"] for section in state.sections if section["text"]]


async def test_a_plain_chat_looks_nothing_up_and_says_what_its_text_is() -> None:
    asked = Asked()
    state = await asked.ask("annual leave days", pages=["handbook"], answer_from="model", web="also")
    assert asked.steps == ["decide_retrieval", "answer_directly"]
    assert (state.outcome, state.stop_reason) == ("answered", "no_retrieval_needed")
    assert state.sections == [{"text": KNOWN, "source_ids": [], "grounded": False}]
    assert [event.grounded for event in asked.told("section_started")] == [False]
    message = await asked.message(state)
    assert (message["sections"][0]["grounded"], message["sources"], message["citations"]) == (False, [], [])
    assert "assessment" not in message


async def test_the_library_answers_first_and_its_text_is_grounded() -> None:
    asked = Asked()
    state = await asked.ask("annual leave days", answer_from="library_then_model")
    assert state.stop_reason == "answer_complete"
    assert all("grounded" not in section for section in state.sections)
    assert asked.family.conversed == []


@pytest.mark.parametrize(
    ("family", "steps"),
    [
        (
            ScriptedFamily(),
            ["decide_retrieval", "search_segments", "grade_segments", "rewrite_query", "answer_directly"],
        ),
        (
            ScriptedFamily(drafts=[[]]),
            [
                "decide_retrieval",
                "search_segments",
                "grade_segments",
                "generate_answer",
                "rewrite_query",
                "answer_directly",
            ],
        ),
    ],
)
async def test_without_an_answer_in_the_library_the_model_answers(family: ScriptedFamily, steps: list[str]) -> None:
    asked = Asked(family=family)
    state = await asked.ask(UNKNOWN if not family.drafts else "annual leave days", answer_from="library_then_model")
    assert asked.steps == steps
    assert (state.outcome, state.stop_reason) == ("answered", "not_in_library")
    line, answer = texts(state)
    assert line.startswith(SAID.not_from_library)
    assert answer == KNOWN
    assert all(section["grounded"] is False for section in state.sections)
    assert (await asked.message(state))["sources"] == []


async def test_the_model_answers_where_no_claim_held() -> None:
    wrong = quote("Staff get 99 days of annual leave.", LEAVE.segment_id)
    asked = Asked(family=ScriptedFamily(drafts=[wrong]), ports={"judge": WordJudge()})
    state = await asked.ask("annual leave days", answer_from="library_then_model", max_repairs=0)
    assert asked.steps[-2:] == ["check_claims", "answer_directly"]
    assert state.sections[0]["text"] == ""
    assert [event.section_index for event in asked.told("section_started")] == [0, 1, 2]
    assert texts(state)[1:] == [KNOWN]
    message = await asked.message(state)
    assert (len(message["sections"]), message["claims"]) == (2, [])


async def test_small_talk_needs_no_line() -> None:
    state = await Asked().ask("hello", answer_from="library_then_model")
    assert state.sections == [{"text": "Hello to you.", "source_ids": []}]


async def test_each_run_decides_anew() -> None:
    asked = Asked()
    await asked.ask(UNKNOWN, answer_from="library_then_model")
    refused = await asked.ask(UNKNOWN)
    assert (refused.outcome, refused.stop_reason) == ("abstained", "nothing_relevant")


async def test_a_family_that_only_quotes_says_that_it_knows_nothing() -> None:
    library, family = MemoryLibrary([LEAVE, PAY, FOOD]), extractive_family(checker=CodeChecker())
    ports = Resources(library, library, lambda model, *, thinking=False: family)
    asked = Asked(of=ports)
    state = await asked.ask("How many days of annual leave do staff get?", answer_from="model")
    assert (state.outcome, state.answer_from) == ("answered", "library")
    assert asked.told("retrieval_decided")[0].fallback["code"] == "no_own_knowledge"


async def test_the_model_writes_as_much_markdown_as_it_likes(scripted_openai: ScriptedOpenAI) -> None:
    plan = "\n".join(["## Plan", "", *(f"{n}. Step {n} is done with care." for n in range(1, 11))])
    scripted_openai.script(say(plan[:40], plan[40:90], plan[90:]), to="own_knowledge")
    asked = session(scripted_openai)
    state = await asked.ask("Make me a plan in ten steps.", answer_from="model")
    assert texts(state) == [plan]
    assert len(asked.told("text_delta")) >= 3
    assert [request.prompt for request in scripted_openai.requests] == ["own_knowledge"]
    sent = scripted_openai.requests[0].text
    assert "document library" not in sent
    assert "four sentences" not in sent


async def test_the_line_is_in_the_language_of_the_question(scripted_openai: ScriptedOpenAI) -> None:
    scripted_openai.script(say("Bốn."), to="own_knowledge")
    state = await session(scripted_openai).ask("Hai cộng hai bằng mấy?", answer_from="library_then_model")
    assert texts(state)[0].startswith(prompts.lines("vi").not_from_library)


class TestFailedWeb:
    async def test_it_is_said_and_not_asked_again(self) -> None:
        library = MemoryLibrary([])
        web = MemoryWeb(library, failure=WebUnavailable("no credit"))
        rewriter = ScriptedRewriter(queries=["other words"])
        asked = Asked(library=library, ports={"web": web, "rewriter": rewriter})
        state = await asked.ask(UNKNOWN, search="off", web="first")
        assert asked.steps == ["decide_retrieval", "search_web", "grade_segments", "abstain"]
        assert (state.outcome, state.stop_reason) == ("abstained", "search_failed")
        assert texts(state) == [SAID.web_failed]
        assert (len(web.queries), rewriter.asked) == (1, 0)

    async def test_the_library_is_still_searched_in_other_words(self) -> None:
        library = MemoryLibrary([])
        web = MemoryWeb(library, failure=WebUnavailable("no credit"))
        asked = Asked(library=library, ports={"web": web, "rewriter": ScriptedRewriter(queries=["other words"])})
        state = await asked.ask(UNKNOWN, web="also")
        assert len(web.queries) == 1
        assert [query.text for query in library.queries] == [UNKNOWN, "other words"]
        assert state.stop_reason == "search_failed"
        assert texts(state)[0].startswith(SAID.nothing_found)
        assert texts(state)[0].endswith(SAID.web_failed)

    async def test_a_web_that_is_not_configured_has_failed_too(self) -> None:
        state = await Asked(library=MemoryLibrary([])).ask(UNKNOWN, search="off", web="first")
        assert (state.stop_reason, texts(state)) == ("search_failed", [SAID.web_failed])

    async def test_the_model_goes_on_and_the_reader_learns_both(self) -> None:
        library = MemoryLibrary([])
        asked = Asked(library=library, ports={"web": MemoryWeb(library, failure=WebUnavailable("no credit"))})
        state = await asked.ask(UNKNOWN, search="off", web="first", answer_from="library_then_model")
        assert asked.steps[-1] == "answer_directly"
        assert texts(state)[0].startswith(f"{SAID.web_failed} {SAID.not_from_library}")

    async def test_a_web_that_found_nothing_has_not_failed(self) -> None:
        library = MemoryLibrary([])
        state = await Asked(library=library, ports={"web": MemoryWeb(library)}).ask(UNKNOWN, search="off", web="first")
        assert state.stop_reason == "nothing_found"
        assert texts(state)[0].startswith(SAID.nothing_on_web)
