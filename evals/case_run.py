"""Ask one case of a stored data set in its own session, and collect the events of its run."""

import time
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace

from answers.standing import RunView
from evals.cases import Case
from evals.dataset_store import StoredDataSet
from graph.context import Context
from graph.entrypoint import Citewell
from graph.errors import CitewellError
from graph.events import AnyEvent, PagesLoaded, QueryRewritten, RetrievalDecided, TextDelta
from graph.evidence import PageUse
from tools.runs.runner import Runner
from tools.sessions.run_request import RunRequest


@dataclass(slots=True)
class FollowedRun:
    """What evals record of a run's events; ``view`` is the state of the answer after all of them."""

    family: str = ""
    model: str = ""
    view: RunView = field(default_factory=RunView)
    standalone_question: str = ""
    queries: list[str] = field(default_factory=list)
    pages: list[PageUse] = field(default_factory=list)
    ms: float = 0.0
    first_text_ms: float | None = None

    def feed(self, event: AnyEvent) -> None:
        """Record the next event."""
        self.view.feed(event)
        match event:
            case RetrievalDecided():
                self.standalone_question = event.standalone_question
            case QueryRewritten():
                self.queries.append(event.query)
            case PagesLoaded():
                self.pages = [*event.used, *event.cut]
            case _:
                pass


async def follow(runner: Runner, session_id: str, request: RunRequest) -> FollowedRun:
    """Ask a question in a session and follow its run to the end, an answer or a failure.

    Raises CitewellError if the run can't be started or its log can't be read.
    """
    began = time.perf_counter()
    run = await runner.start(session_id, request)
    followed = FollowedRun(family=run.family, model=run.model, standalone_question=request.question)
    async for envelope in run.events():
        if followed.first_text_ms is None and isinstance(envelope.event, TextDelta):
            followed.first_text_ms = _ms_since(began)
        followed.feed(envelope.event)
    followed.ms = _ms_since(began)
    if followed.view.end is None:
        raise CitewellError("The run's log ended without a terminal event.")
    return followed


def _ms_since(began: float) -> float:
    return (time.perf_counter() - began) * 1000


async def ask_case(
    citewell: Citewell,
    stored: StoredDataSet,
    case: Case,
    context: Context,
    *,
    under: AbstractContextManager[None] | None = None,
) -> FollowedRun:
    """Ask a case, its earlier questions first, and follow its run to the end.

    ``under`` is a context manager around the case's own run, not around the earlier ones. Raises CitewellError if a
    run can't be started or followed.
    """
    runner = citewell.runner
    session = await citewell.library.sessions.create(context.identity, ephemeral=True)
    for earlier in case.before:
        await follow(runner, session.session_id, RunRequest(earlier, context))
    pages = tuple(stored.ids[name] for name in case.pages)
    with under or nullcontext():
        return await follow(runner, session.session_id, RunRequest(case.question, context, pages))


def context_of(case: Case, context: Context) -> Context:
    """Return the run context of a case."""
    return replace(context, only_selected_pages=case.only_selected_pages, spaces=list(case.spaces))
