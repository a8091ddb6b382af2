"""Ask one case of a stored data set in a session by itself, and collect the events of its runs."""

import time
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace

from evals.cases import Case
from evals.dataset_store import StoredDataSet
from graph.context import Context
from graph.entrypoint import Citewell
from graph.errors import CitewellError
from graph.events import (
    AnyEvent,
    PagesLoaded,
    PageUse,
    QueryRewritten,
    RetrievalDecided,
    RunFailed,
    RunFinished,
    SectionChecked,
    SectionFinished,
    SectionRevised,
    SourcesDisagree,
    TextDelta,
)
from graph.evidence import Claim
from tools.runs.run_request import RunRequest
from tools.runs.runner import Runner


@dataclass(slots=True)
class WrittenSection:
    """A section as it stands: its text, the ids it cites, and how many it gave that were never offered.

    Of a section that was written again nobody tells how many ids were dropped, so that it counts none.
    """

    text: str
    source_ids: list[str]
    unknown_ids: int = 0


@dataclass(slots=True)
class Followed:
    """What a run told, in the order it told it. Sections and claims are kept by the index that events give them."""

    family: str = ""
    model: str = ""
    end: RunFinished | RunFailed | None = None
    standalone_question: str = ""
    queries: list[str] = field(default_factory=list)
    pages: list[PageUse] = field(default_factory=list)
    first_written: dict[int, WrittenSection] = field(default_factory=dict)
    first_checked: dict[int, list[Claim]] = field(default_factory=dict)
    standing: dict[int, WrittenSection] = field(default_factory=dict)
    disagreements: list[list[str]] = field(default_factory=list)
    ms: float = 0.0
    first_text_ms: float | None = None

    def hear(self, event: AnyEvent) -> None:
        """Take in one event."""
        match event:
            case RetrievalDecided():
                self.standalone_question = event.standalone_question
            case QueryRewritten():
                self.queries.append(event.query)
            case PagesLoaded():
                self.pages = [*event.used, *event.cut]
            case SourcesDisagree():
                self.disagreements.append(event.segment_ids)
            case SectionFinished():
                section = WrittenSection(event.text, event.source_ids, event.unknown_ids)
                self.first_written.setdefault(event.section_index, section)
                self.standing[event.section_index] = section
            case SectionChecked():
                self.first_checked.setdefault(event.section_index, event.claims)
            case SectionRevised():
                self.standing[event.section_index] = WrittenSection(event.text, event.source_ids)
            case RunFinished() | RunFailed():
                self.end = event
            case _:
                pass


async def follow(runner: Runner, session_id: str, request: RunRequest) -> Followed:
    """Ask a question in a session and follow its run to the end, be it an answer or a failure.

    Raises CitewellError where the run can't be started or its log can't be read.
    """
    began = time.perf_counter()
    run = await runner.start(session_id, request)
    followed = Followed(family=run.family, model=run.model, standalone_question=request.question)
    async for envelope in run.events():
        if followed.first_text_ms is None and isinstance(envelope.event, TextDelta):
            followed.first_text_ms = _ms_since(began)
        followed.hear(envelope.event)
    followed.ms = _ms_since(began)
    if followed.end is None:
        raise CitewellError("A run's log ended without its end.")
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
) -> Followed:
    """Ask a case, its earlier questions first, and follow its run to the end.

    ``under`` is what the case's own run is started within; the earlier ones are not. Raises CitewellError where a run
    can't be started or followed.
    """
    runner = citewell.runner
    session = await citewell.library.sessions.create(context.identity, ephemeral=True)
    for earlier in case.before:
        await follow(runner, session.session_id, RunRequest(earlier, context))
    pages = tuple(stored.ids[name] for name in case.pages)
    with under or nullcontext():
        return await follow(runner, session.session_id, RunRequest(case.question, context, pages))


def context_of(case: Case, context: Context) -> Context:
    """Give the knobs of a case's runs."""
    return replace(context, only_selected_pages=True) if case.only_selected_pages else context
