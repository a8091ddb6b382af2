"""Questions asked beside any session: proof, without a model, that the library answers one before it is offered."""

import asyncio
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.graph.state import CompiledStateGraph

from graph.context import Context
from graph.errors import CitewellError
from graph.evidence import Citation, FamilyName, Identity, Message
from graph.ports import Resources
from graph.state import InputState, State
from tools.guides.own_questions import Candidate
from tools.retrieval.segment_store import RUN_RESOURCES_KEY, resources_of_run
from tools.runs.completion import finished_message
from tools.settings import EXTRACTIVE

QuestionGraph = CompiledStateGraph[State, Context, InputState, State]
MOST_SECONDS = 5.0  # that one question may take
LEAST_ANSWERHOOD = 0.6  # below it the reader itself doubts that what it quotes is the answer


def keyless(resources: Resources) -> Resources:
    """Return the resources with the extractive family alone, and with nothing beside the library to search."""
    families = resources.families
    return replace(
        resources,
        families=lambda model, *, thinking=False: replace(families(EXTRACTIVE), judge=None),
        web=None,
        mcp=None,
    )


async def ask_once(
    graph: QuestionGraph,
    resources: Resources,
    asked: InputState,
    identity: Identity,
    family: FamilyName,
    *,
    seconds: float,
    **knobs: Any,
) -> tuple[State, Message]:
    """Ask a question beside any session, within what an identity may read; ``knobs`` are further fields of a Context.

    Raises what a run does, and TimeoutError after so many seconds.
    """
    resources = resources_of_run(resources)
    context = Context.of(
        identity,
        allowed_spaces=None if identity.spaces is None else list(identity.spaces),
        search="always",
        max_seconds=seconds,
        **knobs,
    )
    config: RunnableConfig = {"configurable": {RUN_RESOURCES_KEY: resources}}
    async with asyncio.timeout(seconds):
        state = State(**await graph.ainvoke(asked, config, context=context))
        return state, await finished_message(state, resources.reader, identity, family)


class Prover:
    """Asks questions of the library by a graph over ``keyless`` resources, compiled for the first question."""

    def __init__(self, compiled: Callable[[], QuestionGraph], resources: Resources) -> None:
        self._graph = cache(compiled)
        self._resources = resources

    async def prove(self, candidate: Candidate, identity: Identity) -> Citation | None:
        """Return the quote of its span by which the library answers a question; None where it does not."""
        asked = InputState(question=candidate.question)
        try:
            state, message = await ask_once(
                self._graph(), self._resources, asked, identity, "extractive", seconds=MOST_SECONDS, max_model_calls=0
            )
        except (CitewellError, TimeoutError):
            return None
        if state.outcome != "answered" or state.disagreements or state.about_library is not None:
            return None
        answerhood = message.get("assessment", {}).get("answerhood")
        if answerhood is not None and answerhood < LEAST_ANSWERHOOD:
            return None
        first = [each for each in message["citations"] if each["section_index"] == 0]
        return next((each for each in first if _bears(each, candidate)), None)


def _bears(citation: Citation, candidate: Candidate) -> bool:
    """Whether a quote is proven, and is of the span that should answer the question."""
    return (
        citation["verdict"] == "supported"
        and citation["document_id"] == candidate.document_id
        and citation["start"] < candidate.end
        and candidate.start < citation["end"]
    )
