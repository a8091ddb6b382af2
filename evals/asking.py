"""Ask one question through the real graph, in a session of its own."""

import time
from dataclasses import dataclass

from graph.context import Context
from graph.entrypoint import Citewell
from graph.errors import CitewellError
from graph.events import QueryRewritten, RetrievalDecided, RunFailed, RunFinished
from graph.evidence import Citation
from tools.runs import RunRequest


@dataclass(frozen=True, slots=True)
class Reply:
    """How a run ended, the question as it was made standalone, the later queries, and how long the run took in ms."""

    end: RunFinished
    question: str
    rewritten: tuple[str, ...]
    ms: float

    @property
    def answered(self) -> bool:
        return self.end.outcome == "answered"

    @property
    def citations(self) -> list[Citation]:
        return self.end.message["citations"]


async def ask(citewell: Citewell, context: Context, question: str, page_ids: tuple[str, ...] = ()) -> Reply:
    """Run a question to its end. Raises CitewellError where the run fails."""
    session = await citewell.library.sessions.create(context.identity)
    began = time.perf_counter()
    run = await citewell.runner.start(session.session_id, RunRequest(question, context, page_ids))
    end = await run.finished()
    ms = (time.perf_counter() - began) * 1000
    if isinstance(end, RunFailed):
        raise CitewellError(f"A run failed: {end.message}")
    standalone = question
    rewritten: list[str] = []
    async for envelope in run.events():
        if isinstance(envelope.event, RetrievalDecided):
            standalone = envelope.event.standalone_question
        if isinstance(envelope.event, QueryRewritten):
            rewritten.append(envelope.event.query)
    return Reply(end, standalone, tuple(rewritten), ms)
