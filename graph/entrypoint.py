"""Entry points that open and close Citewell for a process."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import cache

from graph.builder import build
from graph.ports import Resources
from tools.guides.guide_store import GuideStore
from tools.guides.guides import Guides
from tools.guides.proving import Prover, keyless
from tools.process.engines import carriers_of
from tools.process.library import Library, open_library
from tools.runs.executor import Durability, Graph
from tools.runs.runner import Runner
from tools.sessions.titles import SessionTitler
from tools.settings import Settings
from tools.studies.asking import Asker
from tools.studies.comparisons import Comparisons
from tools.studies.flashcards import CardMaker


@dataclass(frozen=True, slots=True)
class Citewell:
    """A library, the graph over it, the runner that answers questions with that graph, and the library's guides."""

    library: Library
    runner: Runner
    graph: Graph
    guides: Guides
    comparisons: Comparisons
    cards: CardMaker


@asynccontextmanager
async def open_citewell(settings: Settings, *, durability: Durability | None = None) -> AsyncIterator[Citewell]:
    """Open the library and the graph over it; runs still active at close are left for another process to resume."""
    async with open_library(settings) as library, open_runner(library, settings, durability=durability) as citewell:
        yield citewell


@asynccontextmanager
async def open_runner(
    library: Library,
    settings: Settings,
    *,
    durability: Durability | None = None,
    resources: Resources | None = None,
) -> AsyncIterator[Citewell]:
    """Open the graph over an open library, and the runner; ``resources`` replace the library's ports."""
    resources = resources or library.resources
    graph = build(resources, joined=True).compile()
    titling = SessionTitler(library.database, resources.families) if settings.auto_title else None
    runner = Runner(
        graph,
        resources,
        library.database,
        library.workspaces,
        settings.runs,
        durability=durability,
        titling=titling,
        spending=library.spending,
        carriers=carriers_of(settings.runs),
    )
    library.job_worker.give_way_to(lambda: runner.is_answering)
    alone = keyless(resources)
    graph_alone = cache(lambda: build(alone, joined=True).compile())  # without a model
    guides = _guides(library, resources, Prover(graph_alone, alone))
    asker = Asker(resources, graph, alone, graph_alone)
    comparisons, cards = Comparisons(asker, library.spending), CardMaker(asker, library.spending)
    try:
        yield Citewell(library, runner, graph, guides, comparisons, cards)
    finally:
        await guides.close()
        await runner.close()


def _guides(library: Library, resources: Resources, prover: Prover) -> Guides:
    """Return the guides to a library, whose questions are proven without a model."""
    return Guides(
        GuideStore(library.database, library.workspaces, library.settings.suggestions),
        library.reader,
        library.sessions,
        prover,
        resources.families,
        library.spending,
        by=library.settings.suggestions,
    )
