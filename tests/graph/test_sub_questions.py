"""Several questions in one: what `thorough` looks up apart, and that each part reaches the writer."""

import json
from dataclasses import replace

import pytest

from evals.scripted_replies import shown_segments
from graph.evidence import Effort, Identity
from graph.ports import LibraryLanguages, Resources
from tests.fakes import MemoryLibrary, segment
from tests.graph.asking import FOOD, LEAVE, PAY, Asked
from tests.graph.modelled import session
from tests.scripted_openai import ScriptedOpenAI, answer, say, scripted_openai
from tools.claims.code_checker import CodeChecker
from tools.extractive.extractive_family import ExtractiveWriter
from tools.llm.llm_family import llm_family
from tools.settings import ModelSettings

__all__ = ["scripted_openai"]

BOTH = "Which days of annual leave expire, and when are the salaries paid?"
PARTS = ["Which days of annual leave expire?", "When are the salaries paid?"]


def prepared(**fields: object) -> str:
    row = {"intent": "content_query", "standalone_question": BOTH, "needs_retrieval": True, "reason": "two facts"}
    return json.dumps(row | fields)


async def test_each_part_is_searched_for_beside_the_question(scripted_openai: ScriptedOpenAI) -> None:
    scripted_openai.script(say(prepared(sub_questions=PARTS)), to="decide_retrieval")
    asked = session(scripted_openai)
    state = await asked.ask(BOTH, effort="thorough")
    assert asked.told("retrieval_decided")[0].sub_questions == state.sub_questions == PARTS
    assert [found.query for found in asked.told("sources_found")] == state.tried == [BOTH, *PARTS]
    assert [request.prompt for request in scripted_openai.requests] == [
        "decide_retrieval",
        "grade_segments",
        "generate_answer",
    ]
    (request,) = scripted_openai.asked("generate_answer")
    assert {LEAVE.segment_id, PAY.segment_id} <= set(shown_segments(request.text))
    assert state.outcome == "answered"


@pytest.mark.parametrize("parts", [[], ["Which days of annual leave expire?"], ["", " "], None])
async def test_a_single_question_stays_single(scripted_openai: ScriptedOpenAI, parts: list[str] | None) -> None:
    scripted_openai.script(say(prepared(sub_questions=parts)), to="decide_retrieval")
    asked = session(scripted_openai)
    state = await asked.ask(BOTH, effort="thorough")
    assert asked.told("retrieval_decided")[0].sub_questions == state.sub_questions == []
    assert asked.told("sources_found")[0].query == BOTH
    assert asked.told("retrieval_decided")[0].fallback is None
    assert not set(parts or []) & {found.query for found in asked.told("sources_found")}


async def test_at_most_four_parts_are_searched_for(scripted_openai: ScriptedOpenAI) -> None:
    parts = [f"What does part {number} say?" for number in range(7)]
    scripted_openai.script(say(prepared(sub_questions=parts)), to="decide_retrieval")
    asked = session(scripted_openai)
    state = await asked.ask(BOTH, effort="thorough", min_score=0.0)
    assert state.sub_questions == parts[:4]
    assert len(asked.told("sources_found")) == 5


@pytest.mark.parametrize("effort", ["balanced", "thorough"])
async def test_only_thorough_effort_asks_for_parts(scripted_openai: ScriptedOpenAI, effort: Effort) -> None:
    scripted_openai.script(say(prepared(sub_questions=PARTS)), to="decide_retrieval", when="And when")
    asked = session(scripted_openai)
    await asked.ask("Which days of annual leave expire?", effort="fast")
    state = await asked.ask("And when are the salaries paid?", effort=effort)
    (request,) = scripted_openai.asked("decide_retrieval")
    wanted = effort == "thorough"
    assert ("sub_questions" in request.schema["properties"], state.sub_questions == PARTS) == (wanted, wanted)


async def test_the_next_question_of_a_session_has_none_of_the_parts(scripted_openai: ScriptedOpenAI) -> None:
    scripted_openai.script(say(prepared(sub_questions=PARTS)), to="decide_retrieval", when=BOTH)
    asked = session(scripted_openai)
    await asked.ask(BOTH, effort="thorough")
    state = await asked.ask("Which days of annual leave expire?", effort="fast")
    assert (state.sub_questions, state.beside) == ([], [])


async def test_parts_are_worded_in_the_librarys_other_languages_too(scripted_openai: ScriptedOpenAI) -> None:
    queries = {"vi": ["ngày phép hết hạn", "ngày trả lương"]}
    scripted_openai.script(say(prepared(sub_questions=PARTS, search_queries=queries)), to="decide_retrieval")
    asked = session(scripted_openai)
    assert asked.of is not None
    asked = Asked(library=asked.library, of=replace(asked.of, languages=_languages("en", "vi")))
    await asked.ask(BOTH, effort="thorough")
    assert [found.query for found in asked.told("sources_found")] == [BOTH, *PARTS, *queries["vi"]]


def _languages(*codes: str) -> LibraryLanguages:
    async def read(identity: Identity) -> tuple[str, ...]:
        return codes

    return read


LONG = "The crane of dock seven lifts a load. " * 30


async def test_no_part_loses_its_best_segment_for_want_of_room(scripted_openai: ScriptedOpenAI) -> None:
    cranes = [segment("cranes", 3 * at, f"{LONG} It lifts {at} tons.", title="Cranes") for at in range(9)]
    for each in cranes:
        object.__setattr__(each, "tokens", 300)
    library = MemoryLibrary([*cranes, LEAVE, FOOD])
    model = ModelSettings(name="m", base_url=scripted_openai.base_url, model="any", context_tokens=4096)
    family = llm_family(model, thinking=False, checker=CodeChecker(), fallback=ExtractiveWriter())
    asked = Asked(library=library, of=Resources(library, library, lambda name, *, thinking=False: family))
    question = "What load does the crane of dock seven lift, and which leave expires?"
    parts = ["What load does the crane of dock seven lift?", "Which days of annual leave do they want to have expired?"]
    scripted_openai.script(
        say(prepared(standalone_question=question, sub_questions=parts)), answer(), to="decide_retrieval"
    )
    state = await asked.ask(question, effort="thorough", min_score=0.0)
    (request,) = scripted_openai.asked("generate_answer")
    shown = shown_segments(request.text)
    assert LEAVE.segment_id in shown
    assert len(shown) < len(cranes)
    scores = [row["score"] for row in state.sources]
    assert scores == sorted(scores, reverse=True)
    assert len(shown) == len(state.sources)
