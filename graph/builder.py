"""Build the graph: the only module that knows the nodes, their edges and the ports bound to them."""

import time
from collections.abc import Awaitable, Callable, Mapping
from functools import partial, wraps
from typing import Any, Protocol, get_args

from langgraph.config import get_config
from langgraph.graph import START, StateGraph
from langgraph.runtime import Runtime
from langgraph.types import Command, Overwrite

from graph.context import Context
from graph.events import EMIT_KEY, StepFinished, StepStarted
from graph.ports import Family, Resources
from graph.routing import END, NEXT, ROUTES, Router, following
from graph.rows import FIRST_STEP, Outside
from graph.state import ADVANCED_KEY, InputState, State, advanced, altered, spent_with, written_as
from graph.usage import ALLOWANCES, Allowance, Meter
from nodes.abstain import abstain
from nodes.answer_directly import answer_directly
from nodes.assess_quality import assess_quality
from nodes.check_claims import check_claims
from nodes.decide_retrieval import decide_retrieval
from nodes.generate_answer import generate_answer
from nodes.grade_segments import grade_segments
from nodes.load_selected_pages import load_selected_pages
from nodes.rewrite_query import rewrite_query
from nodes.search_mcp import search_mcp
from nodes.search_segments import search_segments
from nodes.search_web import search_web
from tools.retrieval.segment_store import RUN_RESOURCES_KEY, resources_of_run
from tools.telemetry.tracing import span

Update = Mapping[str, Any]
CitewellGraph = StateGraph[State, Context, InputState, State]


class BoundNode(Protocol):
    """A node whose ports are bound, so that it needs only a meter."""

    def __call__(self, state: State, runtime: Runtime[Context], *, meter: Meter) -> Awaitable[Update]: ...


class StepNode(Protocol):
    """A node as LangGraph calls it."""

    def __call__(self, state: State, runtime: Runtime[Context]) -> Awaitable[Update]: ...


class JoinedNode(Protocol):
    """A node that runs further steps, and says what follows them."""

    def __call__(self, state: State, runtime: Runtime[Context]) -> Awaitable[Command[str]]: ...


Binding = Callable[[Resources, Family], BoundNode]
Around = Callable[[str, StepNode], StepNode]


BINDINGS: Mapping[str, Binding] = {
    "decide_retrieval": lambda run, family: partial(
        decide_retrieval,
        preparer=family.preparer,
        catalogue=run.catalogue,
        places=run.places,
        languages=run.languages,
        outside=searched_outside(run),
        family=family.name,
    ),
    "answer_directly": lambda run, family: partial(
        answer_directly, writer=family.writer, catalogue=run.catalogue, reader=run.reader
    ),
    "load_selected_pages": lambda run, family: partial(
        load_selected_pages, reader=run.reader, searcher=run.searcher, passages=run.passages, room=family.room
    ),
    "search_segments": lambda run, family: partial(search_segments, searcher=run.searcher),
    "search_web": lambda run, family: partial(search_web, web=run.web),
    "search_mcp": lambda run, family: partial(search_mcp, mcp=run.mcp),
    "grade_segments": lambda run, family: partial(grade_segments, grader=family.grader, reader=run.reader),
    "rewrite_query": lambda run, family: partial(rewrite_query, rewriter=family.rewriter, languages=run.languages),
    "generate_answer": lambda run, family: partial(
        generate_answer, writer=family.writer, checker=family.checker, judge=family.judge, reader=run.reader
    ),
    "check_claims": lambda run, family: partial(
        check_claims, checker=family.checker, judge=family.judge, reader=run.reader
    ),
    "assess_quality": lambda run, family: partial(assess_quality, assessor=family.assessor, reader=run.reader),
    "abstain": lambda run, family: partial(
        abstain, reader=run.reader, languages=run.languages, catalogue=run.catalogue, family=family.name
    ),
}


def searched_outside(run: Resources) -> list[Outside]:
    """Return the nodes that search outside of the library; where nothing is configured, the web, which says so."""
    found: list[Outside] = ["search_web"] if run.web is not None or run.mcp is None else []
    return [*found, "search_mcp"] if run.mcp is not None else found


def build(resources: Resources, *, around: Around | None = None, joined: bool = False) -> CitewellGraph:
    """Build the graph on the given resources; the caller compiles it, with or without a checkpointer.

    ``around`` wraps each step, by its name, in what a host of the graph does before and after it. ``joined`` builds the
    same graph, drawn the same, whose steps run in the super-step of the step before them (see ``join``).
    """
    graph = CitewellGraph(State, context_schema=Context, input_schema=InputState)
    steps = {name: step(name, bind, resources) for name, bind in BINDINGS.items()}
    if around is not None:
        steps = {name: around(name, node) for name, node in steps.items()}
    for name, node in steps.items():
        if joined and name in ROUTES:
            graph.add_node(name, join(name, steps), destinations=ROUTES[name].targets)
        else:
            graph.add_node(name, node)
            if name in ROUTES:
                graph.add_conditional_edges(name, inline(ROUTES[name].router), [*ROUTES[name].targets])
    graph.add_edge(START, FIRST_STEP)
    for name, target in NEXT.items():
        graph.add_edge(name, target)
    return graph


def inline(router: Router) -> Callable[[State], Awaitable[Any]]:
    """Return a router that runs on the event loop: LangGraph sends a plain function to a thread, which takes longer."""

    @wraps(router)
    async def route(state: State) -> Any:
        return router(state)

    return route


APART = frozenset({*get_args(Outside), END})  # what a search outside has found is kept before anything else is done


def join(name: str, steps: Mapping[str, StepNode]) -> JoinedNode:
    """Return a step that goes on to those behind it in its own super-step, which costs more than most of them do.

    It ends before a search outside, before several steps side by side, and behind one that called a model, whose
    checkpoint must not wait: all before it can be done again for nothing. Whoever passes ``ADVANCED_KEY`` in the run's
    configurable is told the state behind each step.
    """

    async def run_joined(state: State, runtime: Runtime[Context]) -> Command[str]:
        tell = get_config().get("configurable", {}).get(ADVANCED_KEY)
        at, written, then = "", set[str](), [name]
        while len(then) == 1 and then[0] not in APART and not (at and state.spent[at]["calls"]):
            at = then[0]
            update = await steps[at](state, runtime)
            written |= update.keys()
            state = advanced(state, update)
            del update  # or it would be held while the next step waits
            then = following(at, state)
            if tell is not None:
                tell(state)
        return Command(update=written_as(state, written), goto=then)

    run_joined.__name__ = name
    return run_joined


def step(name: str, bind: Binding, resources: Resources) -> StepNode:
    """Wrap a node to bind its family's ports, emit its step events, time it and charge it to the run's budget.

    A runner passes the resources of its run. Elsewhere, as in Studio, each step has its own, and reads what it needs.
    """

    async def run_step(state: State, runtime: Runtime[Context]) -> Update:
        if runtime.context is None:
            runtime = runtime.override(context=Context())
        configurable = get_config().get("configurable", {})
        # Emitted at once, a step's events are known before it ends, and can be stored before its checkpoint.
        if (emit := configurable.get(EMIT_KEY)) is not None:
            runtime = runtime.override(stream_writer=emit)
        run = configurable.get(RUN_RESOURCES_KEY) or resources_of_run(resources)
        context = runtime.context
        family = run.families(context.model, thinking=context.thinking).at(context.effort)
        node = bind(run, family)
        meter = meter_for(name, state, context)
        if meter.account is not None:
            await meter.account.refresh()
        runtime.stream_writer(StepStarted(step=name))
        began = time.perf_counter()
        with span(name, {"citewell.step": name}) as recorded:
            update = dict(await node(state, runtime, meter=meter))
            recorded.set_attributes({"citewell.step.model_calls": meter.calls, "citewell.step.tokens": meter.tokens})
        ms = round((time.perf_counter() - began) * 1000, 3)
        runtime.stream_writer(StepFinished(step=name, ms=ms))
        used = partial(spent_with, node=name, now=meter.spent(ms))
        if name == FIRST_STEP:
            return {**altered(state, update), "spent": Overwrite({name: used({})}), "exhausted": meter.exhausted or ""}
        cap = update.pop("exhausted", None) or meter.exhausted
        reached = {"exhausted": cap} if cap and not state.exhausted else {}
        return {**update, **reached, "spent": {name: used(state.spent)}}

    run_step.__name__ = name
    return run_step


def meter_for(name: str, state: State, context: Context) -> Meter:
    """Return a node's meter: what the run has left, minus what is reserved for more important steps."""
    allowance = ALLOWANCES.get(name, Allowance())
    # The first node clears the last run's account, so none of it may count against this run.
    used = [] if name == FIRST_STEP else list(state.spent.values())
    seconds = context.max_seconds
    if seconds is not None and name != FIRST_STEP:
        seconds -= time.time() - state.started_at
    tokens = context.max_tokens
    return Meter(
        calls_left=context.max_model_calls - sum(spent["calls"] for spent in used) - allowance.reserved,
        tokens_left=None if tokens is None else tokens - sum(spent["tokens"] for spent in used),
        seconds_left=None if seconds is None else seconds * allowance.share,
    )
