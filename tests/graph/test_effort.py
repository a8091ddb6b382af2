"""What each effort asks of a model before the first word, over real HTTP, and what becomes of selected pages."""

import json
from dataclasses import replace

import pytest

from graph.evidence import Effort, Segment
from graph.ports import Resources
from graph.reasons import Reason
from tests.fakes import MemoryLibrary, ScriptedFamily, WordJudge, segment
from tests.graph.asking import FOOD, LEAVE, PAY, Asked
from tests.graph.modelled import always, session
from tests.scripted_openai import ScriptedOpenAI, answer, say, scripted_openai
from tools.claims.code_checker import CodeChecker
from tools.extractive.extractive_family import ExtractiveWriter
from tools.llm.llm_family import llm_family
from tools.settings import ModelSettings

__all__ = ["scripted_openai"]

EFFORTS: tuple[Effort, ...] = ("fast", "balanced", "thorough")
PREPARE, GRADE = "decide_retrieval", "grade_segments"
FIRST = "Which days of annual leave expire?"


def before_the_first_word(server: ScriptedOpenAI) -> list[str | None]:
    """List the calls before the one that writes, which is the last."""
    prompts = [request.prompt for request in server.requests]
    server.requests.clear()
    assert prompts[-1] in ("generate_answer", "answer_directly")
    return prompts[:-1]


@pytest.mark.parametrize(
    ("effort", "first", "page", "follow_up"),
    [
        ("fast", [], [], []),
        ("balanced", [], [], [PREPARE]),
        ("thorough", [PREPARE, GRADE], [PREPARE], [PREPARE, GRADE]),
    ],
)
async def test_the_calls_before_the_first_word(
    scripted_openai: ScriptedOpenAI, effort: Effort, first: list[str], page: list[str], follow_up: list[str]
) -> None:
    asked = session(scripted_openai)
    state = await asked.ask(FIRST, effort=effort)
    assert (before_the_first_word(scripted_openai), state.outcome) == (first, "answered")
    await asked.ask("And when are the salaries paid?", effort=effort)
    assert before_the_first_word(scripted_openai) == follow_up
    await session(scripted_openai).ask(FIRST, pages=["handbook"], search="off", effort=effort)
    assert before_the_first_word(scripted_openai) == page


@pytest.mark.parametrize("effort", EFFORTS)
@pytest.mark.parametrize("said", ["Hello!", "Xin chào!", "你好！"])
async def test_small_talk_is_answered_at_once(scripted_openai: ScriptedOpenAI, effort: Effort, said: str) -> None:
    asked = session(scripted_openai)
    state = await asked.ask(said, effort=effort)
    assert (before_the_first_word(scripted_openai), state.stop_reason) == ([], "no_retrieval_needed")
    assert asked.told("retrieval_decided")[0].reason == "small talk: greeting"
    await asked.ask(FIRST, effort=effort)
    first_question = [PREPARE, GRADE] if effort == "thorough" else []
    assert before_the_first_word(scripted_openai) == first_question, "after a greeting it is still the first question"


async def test_what_the_conversation_holds_is_decided_in_the_call_of_a_follow_up(
    scripted_openai: ScriptedOpenAI,
) -> None:
    asked = session(scripted_openai)
    state = await asked.ask(FIRST)
    scripted_openai.requests.clear()
    reply = {"intent": "content_query", "standalone_question": "Say in French ...", "needs_retrieval": False}
    scripted_openai.script(say(json.dumps({**reply, "reason": "repeats the last answer"})), to=PREPARE)
    state = await asked.ask("Translate your last answer into French.")
    assert before_the_first_word(scripted_openai) == [PREPARE]
    assert (state.outcome, asked.told("retrieval_decided")[0].reason) == ("answered", "repeats the last answer")


@pytest.mark.parametrize(
    ("effort", "reason"),
    [
        ("fast", Reason("for_library")),
        ("balanced", Reason("for_library")),
        ("thorough", "scripted"),
    ],
)
async def test_the_reason_is_that_of_who_decided(scripted_openai: ScriptedOpenAI, effort: Effort, reason: str) -> None:
    asked = session(scripted_openai)
    await asked.ask(FIRST, effort=effort)
    assert asked.told("retrieval_decided")[0].reason == reason


async def test_a_first_question_keeps_its_lines_and_loses_its_greeting(scripted_openai: ScriptedOpenAI) -> None:
    asked = session(scripted_openai)
    state = await asked.ask("Hello! Which days of leave expire?\n\n    GET /leave\n    GET /pay")
    assert state.standalone_question == "Which days of leave expire?\n\n    GET /leave\n    GET /pay"


async def test_no_grader_drops_a_selected_page(scripted_openai: ScriptedOpenAI) -> None:
    always(scripted_openai, GRADE, say('{"relevant": []}'))
    asked = session(scripted_openai)
    state = await asked.ask("days of annual leave", pages=["kitchen"], effort="thorough")
    assert [(row["index"], row["segment_id"], row["kind"]) for row in state.sources] == [(1, "kitchen:0", "page")]
    assert [row["segment_id"] for row in asked.told("sources_graded")[0].dropped] == ["handbook:0", "handbook:1"]
    fakes = Asked(family=ScriptedFamily(irrelevant=("handbook:0", "handbook:1", "kitchen:0")))
    state = await fakes.ask("days of annual leave at the kitchen", pages=["handbook"])
    assert [row["segment_id"] for row in state.sources] == ["handbook:0", "handbook:1"]
    assert [row["segment_id"] for row in fakes.told("sources_graded")[0].dropped] == ["kitchen:0"]


PARTS = [f"Part {index} of the manual tells of the wheel number {index}. " * 12 for index in range(40)]


def manual() -> list[Segment]:
    segments: list[Segment] = []
    for index, text in enumerate(PARTS):
        start = segments[-1].end if segments else 0
        segments.append(replace(segment("manual", index, text, start=start), tokens=1))  # as another tokenizer counts
    return segments


def with_context(server: ScriptedOpenAI, context_tokens: int) -> Asked:
    """Ask of a library that holds a long page, through a model of that context."""
    model = ModelSettings(name="m", base_url=server.base_url, model="any", context_tokens=context_tokens)
    family = llm_family(model, thinking=False, checker=CodeChecker(), fallback=ExtractiveWriter())
    library = MemoryLibrary([*manual(), LEAVE, PAY, FOOD])
    return Asked(
        library,
        of=Resources(library, library, lambda name, *, thinking=False: family, lambda question, texts: 1.0),
    )


@pytest.mark.parametrize("effort", EFFORTS)
async def test_a_summary_has_the_whole_page_in_reading_order(scripted_openai: ScriptedOpenAI, effort: Effort) -> None:
    asked = with_context(scripted_openai, 32_000)
    await asked.ask("Summarize this page", pages=["manual"], effort=effort, page_tokens=None)
    (loaded,) = asked.told("pages_loaded")
    assert [(use["segments"], use["of"]) for use in loaded.used] == [(40, 40)]
    (written,) = scripted_openai.asked("generate_answer")
    shown = [written.text.find(f"[SEG=manual:{index}] ") for index in range(40)]
    assert -1 not in shown
    assert shown == sorted(shown)


async def test_a_page_is_cut_where_the_models_context_ends_and_all_that_is_told_is_shown(
    scripted_openai: ScriptedOpenAI,
) -> None:
    asked = with_context(scripted_openai, 4096)
    state = await asked.ask("Summarize this page", pages=["manual"], search="off")
    (loaded,) = asked.told("pages_loaded")
    ((cut, of),) = [(use["segments"], use["of"]) for use in loaded.cut]
    assert (loaded.used, of) == ([], 40)
    assert 5 < cut < 40
    (written,) = scripted_openai.asked("generate_answer")
    shown = [row["segment_id"] for row in state.sources if f"[SEG={row['segment_id']}] " in written.text]
    assert len(shown) == len(state.sources) == cut


async def test_a_deployments_cap_on_pages_holds_where_it_is_the_smaller_one(scripted_openai: ScriptedOpenAI) -> None:
    asked = with_context(scripted_openai, 32_000)
    await asked.ask("Summarize this page", pages=["manual"], search="off", page_tokens=1000)
    assert 0 < asked.told("pages_loaded")[0].cut[0]["segments"] < 10


async def test_a_repair_begins_like_the_request_that_wrote(scripted_openai: ScriptedOpenAI) -> None:
    wrong = {"source_ids": ["handbook:0"], "text": "Staff get 30 days of annual leave."}
    scripted_openai.script(answer(wrong), to="generate_answer")
    await session(scripted_openai, WordJudge()).ask("days of annual leave and when salaries are paid")
    (written,), (revised,) = scripted_openai.asked("generate_answer"), scripted_openai.asked("revise_sections")
    begun, _, task = written.text.rpartition("\n\n")
    assert revised.text.startswith(begun)
    assert task == "Answer in English, as JSON:"
