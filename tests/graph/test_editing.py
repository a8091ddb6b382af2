"""A state can be edited after any node, as Studio does: the run goes on from the edit, and rows are replaced."""

from itertools import pairwise

import pytest
from langgraph.checkpoint.memory import InMemorySaver

from graph.builder import build
from graph.context import Context
from graph.rows import ClaimRow, SourceRow
from tests.fakes import MemoryLibrary, MemoryWeb, ScriptedFamily, resources, segment
from tests.graph.asking import FOOD, LEAVE, PAY

CONTEXT = Context(web="also", max_rewrites=2)
ASKED = {"question": "annual leave", "page_ids": ["handbook"]}
BLOG = segment("blog", 0, "Annual leave is for resting.")


@pytest.fixture
def graph():
    library = MemoryLibrary([LEAVE, PAY, FOOD])
    web = MemoryWeb(library, [BLOG])
    return build(resources(library, ScriptedFamily(), web=web)).compile(checkpointer=InMemorySaver())


def thread(name: str = "one") -> dict:
    return {"configurable": {"thread_id": name}}


async def steps_to(graph, node: str):
    """Run until a node's checkpoint, and return its place."""
    await graph.ainvoke(ASKED, thread(), context=CONTEXT, interrupt_after=[node])
    return (await graph.aget_state(thread())).config


async def test_after_every_node_an_edit_leads_on_to_the_same_end(graph) -> None:
    final = await graph.ainvoke(ASKED, thread(), context=CONTEXT)
    history = [state async for state in graph.aget_state_history(thread())]
    ran = [name for state in reversed(history) for name in state.next]
    assert {"load_selected_pages", "search_segments", "search_web", "check_claims", "assess_quality"} < set(ran)
    for later, state in pairwise(history[:-1]):
        edited = await graph.aupdate_state(later.config, {"answer_from": "library"}, as_node=state.next[-1])
        again = await graph.ainvoke(None, edited, context=CONTEXT)
        assert (again["outcome"], again["sections"]) == (final["outcome"], final["sections"]), state.next


async def test_routing_after_an_edit_knows_what_the_run_may_do(graph) -> None:
    place = await steps_to(graph, "grade_segments")
    edited = await graph.aupdate_state(place, {"sources": [], "rounds": 1}, as_node="grade_segments")
    assert (await graph.aget_state(edited)).next == ("rewrite_query",)
    edited = await graph.aupdate_state(place, {"query": "leave"}, as_node="rewrite_query")
    assert set((await graph.aget_state(edited)).next) == {"search_segments", "search_web"}
    edited = await graph.aupdate_state(place, {"plan": [], "needs_retrieval": True}, as_node="decide_retrieval")
    assert (await graph.aget_state(edited)).next == ("answer_directly",)


async def test_edited_rows_replace_those_that_were_there(graph) -> None:
    place = await steps_to(graph, "check_claims")
    before = (await graph.aget_state(place)).values
    assert len(before["candidates"]) > 1
    kept = [SourceRow(**before["candidates"][0])]
    claims = [ClaimRow(**{**before["claims"][0], "verdict": "unverified"})]
    spent = {**before["spent"], "grade_segments": {"calls": 7, "tokens": 0, "ms": 0.0}}
    edits = {"candidates": kept, "claims": claims, "spent": spent, "exhausted": "tokens"}
    edited = await graph.aupdate_state(place, edits, as_node="check_claims")
    values = (await graph.aget_state(edited)).values
    assert {name: values[name] for name in edits} == edits
    cleared = await graph.aupdate_state(edited, {"exhausted": ""}, as_node="check_claims")
    assert (await graph.aget_state(cleared)).values["exhausted"] == ""
