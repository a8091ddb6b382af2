"""Routing of a run: the plan of its gathering rounds, and the node after each node as a pure function of state."""

from collections.abc import Callable, Mapping, Sequence
from typing import Literal, NamedTuple, get_args

from graph.context import Context
from graph.rows import MOST_READ_WHOLE, Gathering
from graph.state import State

Without = Literal["answer_directly", "abstain"]


def gathering_rounds(state: State, context: Context) -> list[list[Gathering]]:
    """Return the gathering rounds of a run; each is used only if those before it kept nothing.

    With ``web: first`` the web is searched before the library, with ``fallback`` after it, with ``also`` in the same
    round; MCP servers that are configured are searched whenever the web is. A selected passage is loaded in the first
    round whatever the order; among too many pages to read the run only searches. A run limited to selected pages that
    selects none has no library. The list is empty where there is nowhere to search.
    """
    read_whole = 0 < len(state.page_ids) <= MOST_READ_WHOLE or state.selected_text
    pages: list[Gathering] = ["load_selected_pages"] if read_whole else []
    no_library = context.search == "off" or (context.only_selected_pages and not state.page_ids)
    library: list[Gathering] = [] if no_library else ["search_segments"]
    web: list[Gathering] = [*state.outside] if context.web != "off" and not context.only_selected_pages else []
    if context.web == "first":
        with_passage: list[Gathering] = pages if state.selected_text else []
        planned = [with_passage + web, library if with_passage else pages + library]
    elif context.web == "fallback":
        planned = [pages + library, web]
    else:
        planned = [pages + library + web]
    return [each for each in planned if each]


def search_nodes(state: State) -> list[Gathering]:
    """Return the nodes that accept another query; a page read whole has no more to find, nor a web that failed."""
    done = {"load_selected_pages", *failed_outside(state)}
    return [name for names in state.plan for name in names if name not in done]


def failed_outside(state: State) -> set[Gathering]:
    """Return the nodes that could not search outside of the library."""
    failed: dict[Gathering, bool] = {"search_web": state.web_failed, "search_mcp": state.mcp_failed}
    return {name for name, has_failed in failed.items() if has_failed}


def outside_failed(state: State) -> bool:
    """Whether nothing outside of the library could be searched."""
    return failed_outside(state) >= set(state.outside)


def without_answer(state: State) -> Without:
    """Return the node for a question that the sources don't answer: the model's own knowledge, or a refusal."""
    return "answer_directly" if state.answer_from == "library_then_model" else "abstain"


def after_decide_retrieval(state: State) -> list[Gathering] | Literal["answer_directly"]:
    """Start all nodes of the first gathering round in parallel; answer directly where no retrieval is needed."""
    if not (state.needs_retrieval and state.plan):
        return "answer_directly"
    return state.plan[0]


def after_grade_segments(state: State) -> list[Gathering] | Literal["generate_answer", "rewrite_query"] | Without:
    """Write from the kept sources; without a new one, try the next round, then another query, then do without."""
    if len(state.sources) > state.read:
        return "generate_answer"
    if state.rounds < len(state.plan):
        return state.plan[state.rounds]
    if state.rewrites < state.rewrites_allowed and search_nodes(state):
        return "rewrite_query"
    return without_answer(state)


def after_rewrite_query(state: State) -> list[Gathering] | Literal["generate_answer"] | Without:
    """Search again with all nodes in parallel; a repair with nowhere to search uses the existing sources.

    A repair searches by what the answer claims, which may be a document's own words: these never leave the library.
    Nor does a query in other words than those that found what does not answer.
    """
    nodes = search_nodes(state) if state.query else []
    if state.repairing or state.read:
        nodes = [name for name in nodes if name not in ("search_web", "search_mcp")]
    return nodes or ("generate_answer" if state.repairing else without_answer(state))


def after_generate_answer(state: State) -> Literal["check_claims", "rewrite_query"] | Without:
    """Check the sections; where the writer found no answer, search the library in other words, or do without."""
    if state.sections:
        return "check_claims"
    if state.rewrites < state.rewrites_allowed and "search_segments" in search_nodes(state):
        return "rewrite_query"
    return without_answer(state)


def after_check_claims(state: State) -> Literal["rewrite_query", "assess_quality"] | Without:
    """Repair failed sections while the run's limits allow it; do without where all were withdrawn."""
    if state.repairing:
        return "rewrite_query"
    return "assess_quality" if any(section["text"] for section in state.sections) else without_answer(state)


def after_answer_directly(state: State) -> Literal["abstain", "__end__"]:
    """End with the reply; abstain where the writer can't reply without the library."""
    return "__end__" if state.outcome else "abstain"


Router = Callable[[State], str | Sequence[str]]
GATHERING: tuple[str, ...] = get_args(Gathering)
WITHOUT: tuple[str, ...] = get_args(Without)
END = "__end__"


class Route(NamedTuple):
    """The choice behind a step, and the steps among which it chooses."""

    router: Router
    targets: tuple[str, ...]


ROUTES: Mapping[str, Route] = {
    "decide_retrieval": Route(after_decide_retrieval, ("answer_directly", *GATHERING)),
    "grade_segments": Route(after_grade_segments, ("generate_answer", "rewrite_query", *WITHOUT, *GATHERING)),
    "rewrite_query": Route(
        after_rewrite_query, ("search_segments", "search_web", "search_mcp", "generate_answer", *WITHOUT)
    ),
    "generate_answer": Route(after_generate_answer, ("check_claims", "rewrite_query", *WITHOUT)),
    "check_claims": Route(after_check_claims, ("rewrite_query", "assess_quality", *WITHOUT)),
    "answer_directly": Route(after_answer_directly, ("abstain", END)),
}
NEXT: Mapping[str, str] = {**dict.fromkeys(GATHERING, "grade_segments"), "assess_quality": END, "abstain": END}


def following(name: str, state: State) -> list[str]:
    """Return the steps that follow a step, several of them side by side; ``END`` alone where it is the last."""
    then = NEXT[name] if name in NEXT else ROUTES[name].router(state)
    return [then] if isinstance(then, str) else list(then)
