"""Proof that the library answers a question: it is asked, without a session or a model, before it is offered."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache

from langchain_core.runnables import RunnableConfig
from langgraph.graph.state import CompiledStateGraph

from graph.context import Context
from graph.errors import CitewellError
from graph.evidence import Citation, Identity
from graph.ports import Resources
from graph.state import InputState, State
from tools.guides.own_questions import Candidate
from tools.retrieval.segment_store import RUN_RESOURCES_KEY, resources_of_run
from tools.runs.completion import finished_message
from tools.settings import EXTRACTIVE

KeylessGraph = CompiledStateGraph[State, Context, InputState, State]
MOST_SECONDS = 5.0  # that one question may take
LEAST_ANSWERHOOD = 0.6  # below it the reader itself doubts that what it quotes is the answer


@dataclass(frozen=True, slots=True)
class Proven:
    """A question that the library answers, with the quote that it is answered by."""

    question: str
    document_id: str
    segment_id: str
    start: int
    end: int
    quote: str


def keyless(resources: Resources) -> Resources:
    """Return the resources with the extractive family alone, and with nothing beside the library to search."""
    families = resources.families
    return replace(
        resources,
        families=lambda model, *, thinking=False: replace(families(EXTRACTIVE), judge=None),
        web=None,
        mcp=None,
    )


class Prover:
    """Asks questions of the library by a graph over ``keyless`` resources, compiled for the first question."""

    def __init__(self, compiled: Callable[[], KeylessGraph], resources: Resources) -> None:
        self._graph = cache(compiled)
        self._resources = resources

    async def prove(self, candidate: Candidate, identity: Identity) -> Proven | None:
        """Return the proof that the library answers a question by a passage of its span; None where it does not.

        What the identity may not read is not searched.
        """
        resources = resources_of_run(self._resources)
        context = Context.of(
            identity,
            allowed_spaces=None if identity.spaces is None else list(identity.spaces),
            search="always",
            max_model_calls=0,
            max_seconds=MOST_SECONDS,
        )
        config: RunnableConfig = {"configurable": {RUN_RESOURCES_KEY: resources}}
        try:
            async with asyncio.timeout(MOST_SECONDS):
                values = await self._graph().ainvoke(InputState(question=candidate.question), config, context=context)
                state = State(**values)
                if state.outcome != "answered" or state.disagreements or state.about_library is not None:
                    return None
                message = await finished_message(state, resources.reader, identity, "extractive")
        except (CitewellError, TimeoutError):
            return None
        answerhood = message.get("assessment", {}).get("answerhood")
        if answerhood is not None and answerhood < LEAST_ANSWERHOOD:
            return None
        first = [each for each in message["citations"] if each["section_index"] == 0]
        return next((_proven(candidate, each) for each in first if _bears(each, candidate)), None)


def _bears(citation: Citation, candidate: Candidate) -> bool:
    """Whether a quote is proven, and is of the span that should answer the question."""
    return (
        citation["verdict"] == "supported"
        and citation["document_id"] == candidate.document_id
        and citation["start"] < candidate.end
        and candidate.start < citation["end"]
    )


def _proven(candidate: Candidate, citation: Citation) -> Proven:
    return Proven(
        question=candidate.question,
        document_id=candidate.document_id,
        segment_id=citation["segment_id"],
        start=citation["start"],
        end=citation["end"],
        quote=citation["quote"],
    )
