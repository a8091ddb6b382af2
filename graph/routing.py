"""Where a run goes next: pure functions of state and context, without I/O and without a model."""

from typing import Literal

from langgraph.runtime import Runtime

from graph.context import Context
from graph.state import State

Gathering = Literal["load_selected_pages", "search_segments"]


def after_decide_retrieval(state: State, runtime: Runtime[Context]) -> list[Gathering] | Literal["answer_directly"]:
    """Gather from everywhere asked for and allowed, side by side; with nothing to look for, reply directly."""
    if not state.needs_retrieval:
        return "answer_directly"
    gathering: list[Gathering] = []
    if state.page_ids:
        gathering.append("load_selected_pages")
    if runtime.context.search != "off":
        gathering.append("search_segments")
    return gathering


def after_grade_segments(state: State) -> Literal["generate_answer", "abstain"]:
    """Write from what was kept; with nothing kept, say so."""
    return "generate_answer" if state.sources else "abstain"


def after_writing(state: State) -> Literal["abstain", "__end__"]:
    """End with what was written; a writer that wrote nothing has found no answer."""
    return "__end__" if state.sections else "abstain"
