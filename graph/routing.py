"""Where a run goes next: pure functions of state and context, without I/O and without a model."""

from typing import Literal

from langgraph.runtime import Runtime

from graph.context import Context
from graph.gathering import Gathering, rounds, searching
from graph.state import State


def after_decide_retrieval(state: State, runtime: Runtime[Context]) -> list[Gathering] | Literal["answer_directly"]:
    """Gather from everywhere that the first round asks for, side by side; with nothing to look for, reply directly."""
    if not state.needs_retrieval:
        return "answer_directly"
    return rounds(state, runtime.context)[0]


def after_grade_segments(
    state: State, runtime: Runtime[Context]
) -> list[Gathering] | Literal["generate_answer", "rewrite_query", "abstain"]:
    """Write from what was kept; with nothing kept, take the next round, then another query, then say no."""
    context = runtime.context
    if state.sources:
        return "generate_answer"
    planned = rounds(state, context)
    if state.rounds < len(planned):
        return planned[state.rounds]
    if state.rewrites < context.max_rewrites and searching(state, context):
        return "rewrite_query"
    return "abstain"


def after_rewrite_query(
    state: State, runtime: Runtime[Context]
) -> list[Gathering] | Literal["generate_answer", "abstain"]:
    """Search anew, everywhere at once; a repair with nowhere to search works with the sources there are.

    A repair searches by what the answer claims, which may be a document's own words: these never go to the web.
    """
    nodes = searching(state, runtime.context) if state.query else []
    if state.repairing:
        return [name for name in nodes if name != "search_web"] or "generate_answer"
    return nodes or "abstain"


def after_generate_answer(state: State) -> Literal["check_claims", "abstain"]:
    """Check what was written; a writer that wrote nothing has found no answer."""
    return "check_claims" if state.sections else "abstain"


def after_check_claims(state: State) -> Literal["rewrite_query", "assess_quality", "abstain"]:
    """Repair what failed while the run's bounds allow it; where all was withdrawn, say no."""
    if state.repairing:
        return "rewrite_query"
    return "assess_quality" if any(section["text"] for section in state.sections) else "abstain"


def after_answer_directly(state: State) -> Literal["abstain", "__end__"]:
    """End with what was said; a writer that has nothing to say without the library refuses."""
    return "__end__" if state.sections else "abstain"
