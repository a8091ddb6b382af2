"""The graph: the one place that knows the nodes, their edges and the ports they are bound to."""

import time
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import Any, Protocol

from langgraph.graph import END, START, StateGraph
from langgraph.runtime import Runtime
from langgraph.types import Overwrite

from graph.context import Context
from graph.events import StepFinished, StepStarted
from graph.evidence import Spent
from graph.ports import Family, Resources
from graph.routing import after_decide_retrieval, after_grade_segments, after_writing
from graph.spending import Meter
from graph.state import InputState, State
from nodes.abstain import abstain
from nodes.answer_directly import answer_directly
from nodes.decide_retrieval import decide_retrieval
from nodes.generate_answer import generate_answer
from nodes.grade_segments import grade_segments
from nodes.load_selected_pages import load_selected_pages
from nodes.search_segments import search_segments

Update = Mapping[str, Any]
CitewellGraph = StateGraph[State, Context, InputState, State]


class BoundNode(Protocol):
    """A node that has its ports and asks only for a meter."""

    def __call__(self, state: State, runtime: Runtime[Context], *, meter: Meter) -> Awaitable[Update]: ...


class StepNode(Protocol):
    """A node as LangGraph calls it."""

    def __call__(self, state: State, runtime: Runtime[Context]) -> Awaitable[Update]: ...


Binding = Callable[[Family], BoundNode]


def build(resources: Resources) -> CitewellGraph:
    """Wire the graph over live ports; the caller compiles it, with a checkpointer or without."""
    searcher, reader = resources.searcher, resources.reader
    bindings: dict[str, Binding] = {
        "decide_retrieval": lambda family: partial(decide_retrieval, preparer=family.preparer),
        "answer_directly": lambda family: partial(answer_directly, writer=family.writer),
        "load_selected_pages": lambda family: partial(load_selected_pages, reader=reader),
        "search_segments": lambda family: partial(search_segments, searcher=searcher),
        "grade_segments": lambda family: partial(grade_segments, grader=family.grader, reader=reader),
        "generate_answer": lambda family: partial(
            generate_answer, writer=family.writer, checker=family.checker, reader=reader
        ),
        "abstain": lambda family: partial(abstain, reader=reader),
    }
    graph = CitewellGraph(State, context_schema=Context, input_schema=InputState)
    for name, bind in bindings.items():
        graph.add_node(name, step(name, bind, resources))
    graph.add_edge(START, "decide_retrieval")
    graph.add_conditional_edges(
        "decide_retrieval", after_decide_retrieval, ["answer_directly", "load_selected_pages", "search_segments"]
    )
    graph.add_edge("load_selected_pages", "grade_segments")
    graph.add_edge("search_segments", "grade_segments")
    graph.add_conditional_edges("grade_segments", after_grade_segments, ["generate_answer", "abstain"])
    graph.add_conditional_edges("generate_answer", after_writing, ["abstain", END])
    graph.add_conditional_edges("answer_directly", after_writing, ["abstain", END])
    graph.add_edge("abstain", END)
    return graph


def step(name: str, bind: Binding, resources: Resources) -> StepNode:
    """Wrap a node so that its step is told, timed and charged to the run's budget, with the ports of its family."""

    async def run_step(state: State, runtime: Runtime[Context]) -> Update:
        if runtime.context is None:
            runtime = runtime.override(context=Context())
        context = runtime.context
        node = bind(resources.families(context.model, thinking=context.thinking))
        # decide_retrieval clears the last run's account, so nothing of it may count against this one.
        used = {} if name == "decide_retrieval" else state.spent
        meter = Meter(
            calls_left=context.max_model_calls - sum(spent["calls"] for spent in used.values()),
            tokens_left=context.max_tokens and context.max_tokens - sum(spent["tokens"] for spent in used.values()),
        )
        runtime.stream_writer(StepStarted(step=name))
        began = time.perf_counter()
        update = dict(await node(state, runtime, meter=meter))
        ms = round((time.perf_counter() - began) * 1000, 3)
        runtime.stream_writer(StepFinished(step=name, ms=ms))
        account = {name: Spent(calls=meter.calls, tokens=meter.tokens, ms=ms)}
        update["spent"] = Overwrite(account) if "spent" in update else account
        return update

    run_step.__name__ = name
    return run_step
