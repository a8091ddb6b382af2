"""Which steps ask the model at each cap on calls, as a table: the order of graph/usage.py, over real HTTP."""

from typing import Any

import pytest

from graph.evidence import Verdict
from tests.fakes import WordJudge
from tests.graph.modelled import always, session
from tests.scripted_openai import ScriptedOpenAI, answer, say, scripted_openai

__all__ = ["scripted_openai"]

PREPARE, GRADE, WRITE, REWRITE = "decide_retrieval", "grade_segments", "generate_answer", "rewrite_query"
REPAIR, OPINION = "revise_sections", "assess_quality"
OPEN = {"text": "Staff days of annual leave expire in March.", "source_ids": ["handbook:0"]}
FALSE = {"text": "Staff get 30 days of annual leave.", "source_ids": ["handbook:0"]}
EVERYTHING: dict[str, Any] = {"effort": "thorough", "assess_with_model": True}


def failures(events: list[Any]) -> list[tuple[str, str]]:
    """List the events that say what was left out, each with the code of why."""
    return [(event.type, event.fallback["code"]) for event in events if getattr(event, "fallback", None)]


@pytest.mark.parametrize(
    ("cap", "asked", "told"),
    [
        (0, [], ["retrieval_decided", "sources_graded", "section_started", "answer_assessed"]),
        (1, [WRITE], ["retrieval_decided", "sources_graded", "answer_assessed"]),
        (2, [PREPARE, WRITE], ["sources_graded", "answer_assessed"]),
        (3, [PREPARE, GRADE, WRITE], ["answer_assessed"]),
        (4, [PREPARE, GRADE, WRITE, REPAIR], ["answer_assessed"]),
        (5, [PREPARE, GRADE, WRITE, REPAIR, OPINION], []),
        (8, [PREPARE, GRADE, WRITE, REPAIR, OPINION], []),
    ],
)
async def test_an_answer_that_is_repaired(
    scripted_openai: ScriptedOpenAI, cap: int, asked: list[str], told: list[str]
) -> None:
    always(scripted_openai, WRITE, answer(OPEN, FALSE))
    run = session(scripted_openai, WordJudge())
    state = await run.ask("days of annual leave", max_model_calls=cap, **EVERYTHING)
    assert [exchange.prompt for exchange in scripted_openai.requests] == asked
    assert failures(run.events) == [(event, "budget_exhausted") for event in told]
    reason = "answer_complete" if cap >= 5 else "budget_model_calls"
    assert (state.outcome, state.stop_reason) == ("answered", reason)
    assert sum(row["calls"] for row in state.spent.values()) == len(asked)


@pytest.mark.parametrize(
    ("cap", "asked", "outcome"),
    [
        (0, [], "answered"),
        (1, [WRITE], "abstained"),
        (2, [PREPARE, WRITE], "abstained"),
        (3, [PREPARE, GRADE], "abstained"),
        (4, [PREPARE, GRADE, REWRITE, WRITE], "abstained"),
        (5, [PREPARE, GRADE, REWRITE, GRADE, WRITE], "abstained"),
        (6, [PREPARE, GRADE, REWRITE, GRADE, WRITE, REPAIR], "answered"),
        (7, [PREPARE, GRADE, REWRITE, GRADE, WRITE, REPAIR, OPINION], "answered"),
        (8, [PREPARE, GRADE, REWRITE, GRADE, WRITE, REPAIR, OPINION], "answered"),
    ],
)
async def test_a_question_that_needs_another_query_first(
    scripted_openai: ScriptedOpenAI, cap: int, asked: list[str], outcome: str
) -> None:
    scripted_openai.script(say('{"relevant": []}'), to=GRADE)
    scripted_openai.script(say('{"query": "salaries are paid"}'), to=REWRITE)
    always(scripted_openai, WRITE, answer({"text": "Salaries are paid on the 21st.", "source_ids": ["handbook:1"]}))
    state = await session(scripted_openai, WordJudge()).ask("days of annual leave", max_model_calls=cap, **EVERYTHING)
    assert [exchange.prompt for exchange in scripted_openai.requests] == asked
    assert (state.outcome, state.stop_reason) == (outcome, "answer_complete" if cap >= 7 else "budget_model_calls")


@pytest.mark.parametrize(
    ("cap", "asked", "verdict"),
    [
        (3, [PREPARE, GRADE, WRITE], "unverified"),
        (4, [PREPARE, GRADE, WRITE, OPINION], "unverified"),
    ],
)
async def test_an_opinion_is_asked_for_with_the_last_call(
    scripted_openai: ScriptedOpenAI, cap: int, asked: list[str], verdict: Verdict
) -> None:
    always(scripted_openai, WRITE, answer(OPEN))
    state = await session(scripted_openai).ask("days of annual leave", max_model_calls=cap, **EVERYTHING)
    assert [exchange.prompt for exchange in scripted_openai.requests] == asked
    assert [claim["verdict"] for claim in state.claims] == [verdict]


async def test_small_talk_without_a_call_says_its_fixed_line_and_why(scripted_openai: ScriptedOpenAI) -> None:
    run = session(scripted_openai)
    state = await run.ask("Hello!", max_model_calls=0)
    assert scripted_openai.requests == []
    assert (state.outcome, state.stop_reason) == ("answered", "budget_model_calls")
    assert failures(run.events)[-1] == ("section_started", "budget_exhausted")
