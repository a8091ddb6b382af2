"""Steps in the super-step of the step before them: who asks, reads or draws the graph can't tell."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.runtime import Runtime

from graph.builder import StepNode, build
from graph.context import Context
from graph.events import AnyEvent, StepFinished
from graph.evidence import Effort, Spent
from graph.ports import Resources
from graph.state import ADVANCED_KEY, State
from tests.fakes import MemoryLibrary, MemoryMcp, MemoryWeb, ScriptedFamily, resources, segment
from tests.graph.asking import FOOD, LEAVE, PAY, Asked
from tests.graph.modelled import session
from tests.graph.wrong_answers import QUESTION, RIGHT, writer
from tests.scripted_openai import ScriptedOpenAI, scripted_openai
from tools.claims.code_checker import CodeChecker
from tools.extractive.extractive_family import extractive_family

__all__ = ["scripted_openai"]

BLOG = segment("blog", 0, "The sauna opens at seven.")
ENTRY = "How many days of annual leave do the staff get?"


def keyless() -> Asked:
    library, family = MemoryLibrary([LEAVE, PAY, FOOD]), extractive_family(checker=CodeChecker())
    ports = Resources(
        searcher=library,
        reader=library,
        families=lambda model, *, thinking=False: family,
    )
    return Asked(library=library, of=ports)


def outside() -> Asked:
    library = MemoryLibrary([LEAVE, PAY])
    return Asked(library=library, ports={"web": MemoryWeb(library, [BLOG]), "mcp": MemoryMcp(library, [BLOG])})


# What is asked, one question after the other, of which session and with which knobs.
CASES: dict[str, tuple[Callable[[], Asked], list[str], dict[str, Any]]] = {
    "answered": (keyless, [ENTRY, "And when are salaries paid?"], {}),
    "refused": (keyless, ["Who won the regatta of 1987?", ENTRY], {}),
    "small talk": (keyless, ["Hello!", ENTRY], {}),
    "selected pages": (keyless, [ENTRY], {"pages": ["handbook"]}),
    "repaired": (lambda: Asked(family=writer([RIGHT])), [QUESTION], {}),
    "side by side": (outside, ["annual leave sauna", "annual leave"], {"web": "also"}),
    "in two rounds": (outside, ["sauna at seven"], {"web": "fallback"}),
}


def same(event: AnyEvent) -> AnyEvent:
    """Return an event without the time that its step took."""
    return replace(event, ms=0.0) if isinstance(event, StepFinished) else event


def settled(state: State) -> State:
    """Return a state without times."""
    return replace(state, started_at=0.0, spent={name: _timeless(used) for name, used in state.spent.items()})


def _timeless(used: Spent) -> Spent:
    return Spent(**{**used, "ms": 0.0})


@pytest.mark.parametrize("case", CASES)
async def test_what_is_told_and_what_is_left_are_the_same(case: str) -> None:
    make, questions, knobs = CASES[case]
    alone, joined = replace(make(), joined=False), make()
    for question in questions:
        states = [await each.ask(question, **knobs) for each in (alone, joined)]
        assert list(map(same, joined.events)) == list(map(same, alone.events))
        assert settled(states[1]) == settled(states[0])


def test_it_is_drawn_the_same() -> None:
    ports = resources(MemoryLibrary([]), ScriptedFamily())
    alone, joined = (build(ports, joined=each).compile().get_graph() for each in (False, True))
    assert joined.nodes.keys() == alone.nodes.keys()
    assert set(joined.edges) == set(alone.edges)


STEPS = ["decide_retrieval", "search_segments", "grade_segments", "generate_answer", "check_claims", "assess_quality"]


async def test_without_a_model_an_answer_takes_one() -> None:
    asked = keyless()
    await asked.ask(ENTRY)
    assert asked.super_steps == [[], STEPS]


async def test_who_runs_it_is_told_the_state_behind_each_step() -> None:
    told: list[State] = []
    place: RunnableConfig = {"configurable": {ADVANCED_KEY: told.append}}
    graph = build(keyless().of, joined=True).compile()
    state = State(**await graph.ainvoke({"question": ENTRY}, place, context=Context()))
    assert [[*each.spent] for each in told] == [STEPS[:count] for count in range(1, 7)]
    assert told[-1] == state


@pytest.mark.parametrize(
    ("effort", "apart"),
    [
        ("balanced", [["decide_retrieval", "search_segments", "grade_segments", "generate_answer"]]),
        ("thorough", [["decide_retrieval"], ["search_segments"], ["grade_segments"], ["generate_answer"]]),
    ],
)
async def test_a_step_that_called_a_model_ends_one(
    scripted_openai: ScriptedOpenAI, effort: Effort, apart: list[list[str]]
) -> None:
    asked = session(scripted_openai)
    await asked.ask("Which days of annual leave expire?", effort=effort)
    assert asked.super_steps == [[], *apart, ["check_claims", "assess_quality"]]


async def test_a_run_that_broke_off_between_steps_goes_on_with_them_joined() -> None:
    ports = resources(MemoryLibrary([LEAVE, PAY]), ScriptedFamily())
    saver = InMemorySaver()
    place: RunnableConfig = {"configurable": {"thread_id": "one"}}
    alone, joined = (build(ports, joined=each).compile(checkpointer=saver) for each in (False, True))
    await alone.ainvoke({"question": ENTRY}, place, context=Context(), interrupt_before=["search_segments"])
    assert (await joined.aget_state(place)).next == ("search_segments",)
    state = State(**await joined.ainvoke(None, place, context=Context()))
    assert (state.outcome, [row["segment_id"] for row in state.sources]) == ("answered", [LEAVE.segment_id])


async def test_what_a_host_does_around_steps_is_done_around_joined_ones() -> None:
    begun: list[str] = []

    def around(name: str, node: StepNode) -> StepNode:
        async def noted(state: State, runtime: Runtime[Context]) -> Any:
            begun.append(name)
            return await node(state, runtime)

        return noted

    ports = resources(MemoryLibrary([LEAVE, PAY]), ScriptedFamily())
    await build(ports, around=around, joined=True).compile().ainvoke({"question": ENTRY}, context=Context())
    assert begun == STEPS
